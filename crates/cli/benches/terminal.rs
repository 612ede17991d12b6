//! Benchmark of a model that streams into a terminal: the cost of displaying its text, and the delay until a token is
//! on the screen.
//!
//! `cargo bench -p crewagent-cli --bench terminal` prints a table and fails when a goal is missed;
//! `cargo xtask accept docs` also writes it into `docs/performance.md`. This binary plays three programs: the
//! benchmark, the model (`--loopback`), and the program in the terminal.
#![allow(clippy::disallowed_methods, reason = "the benchmark starts programs")]
#![allow(clippy::print_stderr, reason = "a benchmark says what it missed")]

#[cfg(unix)]
#[allow(dead_code, reason = "shared with the benchmark of turns")]
#[path = "turns/fixture.rs"]
mod fixture;

use std::process::ExitCode;

type Failure = Box<dyn std::error::Error>;

#[cfg(not(unix))]
fn main() -> ExitCode {
    ExitCode::SUCCESS
}

#[cfg(unix)]
fn main() -> ExitCode {
    crewagent_testkit::pty::become_program_if_asked();
    if let Some(code) = crewagent_testkit::loopback::serve_if_asked() {
        return code;
    }
    // `cargo test --all-targets` runs this without the flag; there is nothing to test.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    match terminal::run() {
        Ok(missed) => {
            missed.iter().for_each(|goal| eprintln!("missed: {goal}"));
            if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("terminal cannot run: {error}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(unix)]
mod terminal {
    use std::process::Command;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use crewagent_testkit::loopback::{AnswerPace, AnswerPlan, ExchangeRecord, ModelAnswer};
    use crewagent_testkit::package::generated;
    use crewagent_testkit::pty::{PtyRead, Terminal};
    use crewagent_testkit::report::{median, millis, publish};

    use super::Failure;
    use super::fixture::BenchFixture;

    const TOKENS: usize = 10_000;
    /// Letters in a token.
    const LETTERS: usize = 7;
    const RATE: u32 = 1_000;
    const ROUNDS: usize = 5;
    const ROWS: u16 = 50;
    const COLUMNS: u16 = 100;
    const PAUSE: Duration = Duration::from_millis(100);
    /// Time limit of every program.
    const TIMEOUT: Duration = Duration::from_secs(120);

    /// Bytes that a terminal received, and the time at which each token first appeared.
    struct Shown {
        began: Duration,
        ended: Duration,
        seen: Vec<Option<Duration>>,
        bytes: Vec<u8>,
    }

    /// Measures, publishes the table, and returns the missed goals.
    pub(super) fn run() -> Result<Vec<String>, Failure> {
        let fixture = BenchFixture::new()?;
        fixture.import(&generated(2, 1))?;
        let answers = || {
            vec![ModelAnswer::words((0..TOKENS).map(token).chain(["?".into()]).collect::<String>())]
        };
        let burst = AnswerPlan { piece: LETTERS, ..AnswerPlan::burst(answers()) };
        let paced = AnswerPlan { pace: AnswerPace::EventsPerSecond(RATE), ..burst.clone() };
        let (mut own, mut floor) = (Vec::new(), Vec::new());
        for round in 0..ROUNDS {
            let (shown, request) = play(&fixture, &burst, &format!("burst-{round}"))?;
            own.push(shown.ended.saturating_sub(Duration::from_nanos(request.arrived)));
            let file = fixture.scratch.path().join("shown");
            std::fs::write(&file, &shown.bytes)?;
            let mut cat = Command::new("/bin/cat");
            cat.arg(file);
            let cat = watch(&cat)?;
            floor.push(cat.ended.saturating_sub(cat.began));
        }
        let (shown, request) = play(&fixture, &paced, "paced")?;
        let mut delays = delays(&shown, Duration::from_nanos(request.answered))?;
        let longest = delays.iter().max().copied().unwrap_or_default();
        let (own, floor, middle) = (median(&mut own), median(&mut floor), median(&mut delays));
        let table = format!(
            "| {TOKENS} tokens in a window of {ROWS} × {COLUMNS} | | goal |\n|---|--:|--:|\n\
             | all at once: `cat` of the same bytes | {} | |\n\
             | all at once: `crewagent run` | {} | |\n\
             | {RATE} per second: from the model to the screen, median | {} | |\n\
             | {RATE} per second: from the model to the screen, maximum | **{}** | ≤ {} |\n",
            millis(floor),
            millis(own),
            millis(middle),
            millis(longest),
            millis(PAUSE),
        );
        publish("terminal", &table);
        Ok(if longest <= PAUSE { Vec::new() } else { vec!["the longest pause".to_owned()] })
    }

    /// Returns a token of prose or lists, with markup. Every token has the same length and its own number.
    fn token(number: usize) -> String {
        let place = number % 120;
        match place {
            59 | 119 => format!("{number:04}a\n\n"),
            60.. if place.is_multiple_of(5) => format!("- {number:04} "),
            60.. if place % 5 == 4 => format!("{number:04}ab\n"),
            _ if number.is_multiple_of(17) => format!("*{number:04}* "),
            _ if number.is_multiple_of(23) => format!("`{number:04}` "),
            _ => format!("{number:04}ab "),
        }
    }

    /// Runs in a terminal. Returns its output, and the model's record of the request.
    fn play(
        fixture: &BenchFixture,
        plan: &AnswerPlan,
        name: &str,
    ) -> Result<(Shown, ExchangeRecord), Failure> {
        fixture.server.play(plan)?;
        let project = fixture.folder(&format!("projects/{name}"))?;
        let mut command = fixture.run("generated", &project);
        command.args(["--model", "loopback"]).env("TERM", "xterm-256color");
        let shown = watch(&command)?;
        let records = fixture.server.records()?;
        let request = *records.requests.first().ok_or("no request came")?;
        if let Some(number) = shown.seen.iter().position(Option::is_none) {
            let said = String::from_utf8_lossy(&shown.bytes).into_owned();
            return Err(format!("token {number} was not shown:\n{said}").into());
        }
        Ok((shown, request))
    }

    fn watch(command: &Command) -> Result<Shown, Failure> {
        let began = now()?;
        let mut terminal = Terminal::start(command, &[], ROWS, COLUMNS)?;
        let mut seen = vec![None; TOKENS];
        let mut ended = began;
        let (mut number, mut digits, mut read) = (0, 0, 0);
        while now()? < began + TIMEOUT {
            match terminal.read(TIMEOUT)? {
                PtyRead::Bytes(_) => ended = now()?,
                PtyRead::Nothing => {}
                PtyRead::End => break,
            }
            for byte in &terminal.written[read..] {
                if !byte.is_ascii_digit() {
                    (number, digits) = (0, 0);
                    continue;
                }
                number = number * 10 + usize::from(byte - b'0');
                digits += 1;
                if digits == 4 && seen[number].is_none() {
                    seen[number] = Some(ended);
                }
            }
            read = terminal.written.len();
        }
        Ok(Shown { began, ended, seen, bytes: std::mem::take(&mut terminal.written) })
    }

    /// Returns the delay of each token between the model and the screen. The end of the answer leaves the model one
    /// step after the last token.
    fn delays(shown: &Shown, answered: Duration) -> Result<Vec<Duration>, Failure> {
        let step = Duration::from_secs(1) / RATE;
        let seen: Option<Vec<Duration>> = shown.seen.iter().copied().collect();
        let left = (1..).map(|steps: u32| answered.saturating_sub(step * steps));
        let delays = seen.ok_or("a token was not shown")?.into_iter().rev().zip(left);
        Ok(delays.map(|(seen, left)| seen.saturating_sub(left)).collect())
    }

    fn now() -> Result<Duration, Failure> {
        Ok(SystemTime::now().duration_since(UNIX_EPOCH)?)
    }
}
