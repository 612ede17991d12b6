//! Benchmark: a thousand concurrent runs in one process, and a hundred in sequence.
//!
//! `cargo bench -p crewagent-adapters --bench crowd` prints the table and fails when a goal is missed;
//! `cargo xtask accept docs` also writes the table into `docs/performance.md`. The model is a separate process on the
//! loopback that streams 50 tokens a second to each run (see `crewagent_testkit::loopback`).
#![allow(clippy::disallowed_methods, reason = "the benchmark starts programs")]
#![allow(clippy::print_stderr, reason = "a benchmark says what it missed")]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crewagent_adapters::chat::{Chat, Client};
use crewagent_core::event::{Event, Phase};
use crewagent_core::settings::RunSettings;
use crewagent_dialect::profile::Profile;
use crewagent_engine::control::Control;
use crewagent_engine::model::Model;
use crewagent_engine::model::{Endpoint, Timeouts};
use crewagent_engine::runtime::{Run, Runtime, SettingsChange, StartRun};
use crewagent_engine::store::{Installed, RunId, Store};
use crewagent_engine::tool_server::ToolServers;
use crewagent_testkit::loopback::{self, AnswerPlan, Loopback, ModelAnswer};
use crewagent_testkit::package::generated;
use crewagent_testkit::{process, report};
use serde_json::{Map, json};

const RUNS: usize = 1_000;
const TURNS: usize = 10;
const TOKENS_PER_SECOND: u32 = 50;
/// Text of the model in each turn, which listeners receive as deltas.
const WORDS: &str =
    "The chapter before is done, so I write the next one now and look at it again later.";
/// Characters of the text that each turn writes, so that an answer has about a hundred tokens: two seconds.
const TEXT: usize = 240;
/// Time over which the runs start, one answer's duration, as with independent users.
const BEGIN_WITHIN: Duration = Duration::from_secs(2);
/// Stack of an active run's thread, which needs little.
const STACK: usize = 512 * 1024;
/// Number of threads that create the folders of the runs before the measurement.
const STARTERS: usize = 8;

const MEMORY: u64 = 1024 * 1024;
const OVERHEAD: Duration = Duration::from_millis(50);
const STEPS: f64 = 500.0;

const SOAK: usize = 100;
/// Number of runs before memory is measured: buffers and pools have their final size then.
const WARM: usize = 20;
/// Maximum growth of memory in KiB, about the allocator's inaccuracy.
const GROWTH: u64 = 2 * 1024;

type Failure = Box<dyn Error + Send + Sync>;

fn main() -> ExitCode {
    if let Some(code) = loopback::serve_if_asked() {
        return code;
    }
    // `cargo test --all-targets` runs this without the flag; there is nothing to test.
    if !std::env::args().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    with_descriptors();
    let measured = CrowdFixture::new().and_then(|fixture| {
        let soak = soak(&fixture)?;
        Ok(publish(&crowd(&fixture)?, &soak))
    });
    match measured {
        Ok(missed) => {
            missed.iter().for_each(|goal| eprintln!("missed: {goal}"));
            if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
        }
        Err(error) => {
            eprintln!("the benchmark cannot run: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Restarts this program with the system's maximum number of descriptors, because a run has about ten. Returns if that
/// is done already or impossible.
fn with_descriptors() {
    #[cfg(unix)]
    {
        use std::os::unix::process::CommandExt as _;
        const AGAIN: &str = "CROWD_HAS_DESCRIPTORS";
        if std::env::var_os(AGAIN).is_none() {
            let script = r#"ulimit -n "$(ulimit -Hn)"; exec "$0" "$@""#;
            let mut again = std::process::Command::new("sh");
            let error = again.args(["-c", script]).args(std::env::args_os()).env(AGAIN, "1").exec();
            eprintln!("the limit of descriptors stays as it is: {error}");
        }
    }
}

/// Store with a package, a folder for projects, a model server and the connection to it.
struct CrowdFixture {
    scratch: tempfile::TempDir,
    store: Store,
    package: Installed,
    server: Loopback,
    model: Box<dyn Model>,
    /// Number of recorded results.
    steps: AtomicU64,
}

impl CrowdFixture {
    fn new() -> Result<Self, Failure> {
        let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
        let store = Store::open(Some(scratch.path().join("home")))?;
        let folder = scratch.path().join("package");
        for (name, content) in generated(2, 1) {
            let path = folder.join(name);
            fs::create_dir_all(path.parent().ok_or("a file has a folder")?)?;
            fs::write(path, content)?;
        }
        let package = store.packages().import(&folder, &mut || ())?.installed;
        let server = Loopback::start()?;
        let model = model(&server)?;
        Ok(Self { scratch, store, package, server, model, steps: AtomicU64::new(0) })
    }

    fn project(&self, name: &str) -> PathBuf {
        self.scratch.path().join("projects").join(name)
    }

    /// Starts a run in its own project.
    fn start(&self, name: &str) -> Result<Run, Failure> {
        let project = self.project(name);
        fs::create_dir_all(&project)?;
        let run = Runtime::new(&self.store, ToolServers::none()).start(&StartRun {
            package: self.package.clone(),
            workflow: None,
            agent: None,
            project,
            variables: Map::new(),
            settings: RunSettings::default(),
            user_name: String::new(),
            id: None,
            conversation: None,
            data: None,
            earlier: Vec::new(),
            adopt: crewagent_engine::runtime::Adopt::default(),
        })?;
        Ok(run)
    }

    /// Drives a run until it waits for the user.
    fn drive(&self, run: &mut Run) -> Result<(), Failure> {
        let rest = run.drive(&*self.model, &Control::default(), &mut |event: &Event| {
            self.steps.fetch_add(u64::from(event.key.is_some()), Ordering::Relaxed);
        })?;
        if rest.phase == Phase::WaitingUser {
            return Ok(());
        }
        Err(format!("a run rests in {:?}: {:?}", rest.phase, rest.message).into())
    }
}

/// Resources of this process.
#[derive(Clone, Copy, Debug)]
struct Load {
    memory: u64,
    threads: u64,
    descriptors: usize,
    sockets: usize,
}

impl Load {
    fn files(&self) -> usize {
        self.descriptors - self.sockets
    }

    fn now() -> Self {
        let descriptors = process::descriptors();
        Self {
            memory: process::memory("self"),
            threads: process::threads("self"),
            descriptors: descriptors.all,
            sockets: descriptors.sockets,
        }
    }
}

/// Measurements of a thousand concurrent runs.
struct Crowd {
    before: Load,
    busy: Load,
    /// Measured when all runs wait for the user.
    waiting: Load,
    peak: u64,
    took: Duration,
    time: Duration,
    steps: u64,
    /// Sorted.
    overheads: Vec<u64>,
}

impl Crowd {
    fn overhead(&self, percent: usize) -> Duration {
        let at = (self.overheads.len() * percent / 100).min(self.overheads.len().saturating_sub(1));
        Duration::from_nanos(self.overheads.get(at).copied().unwrap_or_default())
    }

    fn per_second(&self, count: f64) -> f64 {
        count / self.took.as_secs_f64()
    }
}

fn crowd(fixture: &CrowdFixture) -> Result<Crowd, Failure> {
    fixture.server.play(&AnswerPlan::crowd(answers(TURNS), TOKENS_PER_SECOND))?;
    let runs = started(fixture)?;
    let ids = runs.iter().map(|run| RunId::parse(run.id())).collect::<Result<Vec<_>, _>>()?;
    fixture.steps.store(0, Ordering::Relaxed);
    let (before, time, began) = (Load::now(), process::time(), Instant::now());
    let busy = thread::scope(|scope| -> Result<Load, Failure> {
        let mut threads = Vec::new();
        for (at, mut run) in runs.into_iter().enumerate() {
            let begin = BEGIN_WITHIN * u32::try_from(at)? / u32::try_from(RUNS)?;
            thread::sleep(begin.saturating_sub(began.elapsed()));
            let builder = thread::Builder::new().stack_size(STACK);
            // The run is dropped with its thread: a waiting run is only its folder.
            threads.push(builder.spawn_scoped(scope, move || fixture.drive(&mut run))?);
        }
        let busy = Load::now();
        for thread in threads {
            thread.join().map_err(|_| "a run panicked")??;
        }
        Ok(busy)
    })?;
    let took = began.elapsed();
    let records = fixture.server.records()?;
    let mut overheads: Vec<u64> = records.overheads().into_iter().flatten().collect();
    overheads.sort_unstable();
    if overheads.len() != RUNS * TURNS {
        return Err(format!("{} turns instead of {}", overheads.len(), RUNS * TURNS).into());
    }
    let crowd = Crowd {
        before,
        busy,
        waiting: Load::now(),
        peak: process::peak_memory("self"),
        took,
        time: process::time().saturating_sub(time),
        steps: fixture.steps.load(Ordering::Relaxed),
        overheads,
    };
    go_on(fixture, &ids)?;
    Ok(crowd)
}

/// Starts the runs. None has sent a request yet.
fn started(fixture: &CrowdFixture) -> Result<Vec<Run>, Failure> {
    let starters = (0..STARTERS).map(|starter| {
        move || -> Result<Vec<Run>, Failure> {
            (starter..RUNS)
                .step_by(STARTERS)
                .map(|at| fixture.start(&format!("run-{at}")))
                .collect()
        }
    });
    thread::scope(|scope| {
        let threads: Vec<_> = starters.map(|starter| scope.spawn(starter)).collect();
        let mut runs = Vec::new();
        for thread in threads {
            runs.extend(thread.join().map_err(|_| "a start panicked")??);
        }
        Ok(runs)
    })
}

/// Resumes some of the waiting runs from their folders and answers them.
fn go_on(fixture: &CrowdFixture, ids: &[RunId]) -> Result<(), Failure> {
    for id in ids.iter().step_by(RUNS / 10) {
        let mut run = Runtime::new(&fixture.store, ToolServers::none())
            .resume(id, &SettingsChange::default())?;
        run.say("Go on.", &mut |_| ())?;
        fixture.drive(&mut run)?;
    }
    Ok(())
}

/// Growth of resources over a hundred runs.
struct Soak {
    warm: Load,
    end: Load,
}

fn soak(fixture: &CrowdFixture) -> Result<Soak, Failure> {
    let mut plan = AnswerPlan::crowd(answers(TURNS), 10_000);
    // No pacing.
    plan.pace = loopback::AnswerPace::Burst;
    fixture.server.play(&plan)?;
    let mut warm = None;
    for number in 0..SOAK {
        if number == WARM {
            warm = Some(Load::now());
        }
        let mut run = fixture.start(&format!("soak-{number}"))?;
        fixture.drive(&mut run)?;
        run.say("Go on.", &mut |_| ())?;
        fixture.drive(&mut run)?;
    }
    let end = Load::now();
    Ok(Soak { warm: warm.unwrap_or(end), end })
}

/// Returns the replies of the model: a file each turn, then a question to the user, then one in words.
fn answers(turns: usize) -> Vec<ModelAnswer> {
    let write = |turn: usize| {
        // The answers differ in length, so that the runs do not proceed in lockstep.
        let content: String = "word ".repeat(TEXT / 5 + turn % 5 * 8);
        let path = format!("@project/chapter-{turn}.md");
        let call = ModelAnswer::call("fs_write", json!({ "path": path, "content": content }));
        ModelAnswer { content: Some(WORDS.to_owned()), ..call }
    };
    let mut answers: Vec<ModelAnswer> = (0..turns).map(write).collect();
    let question = json!({ "question": "What shall come next?", "kind": "text" });
    answers.push(ModelAnswer::call("ui_ask_user", question));
    answers.push(ModelAnswer::words("Is that all?"));
    answers
}

fn publish(crowd: &Crowd, soak: &Soak) -> Vec<String> {
    let Crowd { before, busy, waiting, .. } = crowd;
    let mib = |kib: u64| format!("{:.1} MiB", kib as f64 / 1024.0);
    let (steps, p99) = (crowd.per_second(crowd.steps as f64), crowd.overhead(99));
    let turns = crowd.per_second(crowd.overheads.len() as f64);
    let cores = crowd.per_second(crowd.time.as_secs_f64());
    let grown = soak.end.memory.saturating_sub(soak.warm.memory);
    let mut table = format!(
        "| {RUNS} runs at once, {TURNS} turns each, {TOKENS_PER_SECOND} tokens/s | | goal |\n|---|--:|--:|\n\
         | peak memory | **{}** | ≤ {} |\n\
         | overhead of a turn, p50 | {} | |\n\
         | overhead of a turn, p99 | **{}** | ≤ {} |\n\
         | durable steps | **{steps:.0}/s** ({turns:.0} turns/s) | ≥ {STEPS:.0}/s |\n\
         | processor | {cores:.2} cores | |\n\
         | {SOAK} runs one after the other: memory after {WARM} and after all | {}, **{}** | flat |\n\
         | open files and sockets after {WARM} and after all | {}, **{}** | flat |\n\n\
         | this process | before | while all run | while all wait | goal |\n|---|--:|--:|--:|--:|\n",
        mib(crowd.peak),
        mib(MEMORY),
        report::millis(crowd.overhead(50)),
        report::millis(p99),
        report::millis(OVERHEAD),
        mib(soak.warm.memory),
        mib(soak.end.memory),
        soak.warm.descriptors,
        soak.end.descriptors,
    );
    let loads = [before, busy, waiting];
    let rows = [
        ("threads", loads.map(|load| load.threads.to_string()), "as before"),
        ("open files", loads.map(|load| load.files().to_string()), "not more than before"),
        ("sockets, kept by the pool", loads.map(|load| load.sockets.to_string()), ""),
        ("memory", loads.map(|load| mib(load.memory)), ""),
    ];
    for (name, [before, busy, waiting], goal) in rows {
        // Writing into a string cannot fail.
        let _ = writeln!(table, "| {name} | {before} | {busy} | **{waiting}** | {goal} |");
    }
    report::publish("crowd", &table);
    let goals = [
        (crowd.peak <= MEMORY, "memory"),
        (p99 <= OVERHEAD, "p99 overhead"),
        (steps >= STEPS, "durable steps a second"),
        (waiting.threads <= before.threads, "a waiting run holds no thread"),
        (waiting.files() <= before.files(), "a waiting run holds no file"),
        (grown <= GROWTH, "memory stays flat"),
        (soak.end.descriptors <= soak.warm.descriptors, "descriptors stay flat"),
    ];
    goals.into_iter().filter(|(holds, _)| !holds).map(|(_, goal)| goal.to_owned()).collect()
}

/// Connects to the model on the loopback.
fn model(server: &Loopback) -> Result<Box<dyn Model>, Failure> {
    let endpoint = Endpoint {
        name: "loopback".to_owned(),
        base_url: server.url(),
        model: "loopback".to_owned(),
        profile_name: "generic".to_owned(),
        profile: Profile::default(),
        key: None,
        headers: Vec::new(),
        max_output: None,
        temperature: None,
        window: None,
        price: None,
        timeouts: Timeouts::default(),
    };
    Ok(Box::new(Chat::new(endpoint, &Client::new()?)?))
}
