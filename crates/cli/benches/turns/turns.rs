//! Benchmark of 200 turns of one tool call each, with a history that grows to 250 KB: overhead beside the model.

use std::fmt::Write as _;
use std::ops::RangeInclusive;
use std::time::Duration;

use crewagent_testkit::loopback::{AnswerPlan, ModelAnswer};
use crewagent_testkit::package::generated;
use crewagent_testkit::report;
use serde_json::json;

use super::fixture::{BenchFixture, find};
use super::floor::Floor;
use super::play::{HOLD, Output, Played, play};
use super::{Failure, tape};

const TURNS: usize = 200;
const ROUNDS: usize = 9;
const STARTS: usize = 21;
/// Lines of about 60 bytes in each file, so that the history has 250 KB at the end.
const LINES: usize = 13;

/// Turns around the mark, so that one slow turn does not decide.
const EARLY: RangeInclusive<usize> = 6..=14;
const MIDDLE: RangeInclusive<usize> = 46..=54;
const LATE: RangeInclusive<usize> = 192..=200;

const START: Duration = Duration::from_millis(20);
const OVER_FLOOR: f64 = 1.6;
const OVER_EARLY: f64 = 1.1;
const TIME: Duration = Duration::from_millis(4);
/// Maximum memory, in KiB.
const MEMORY: u64 = 40 * 1000 * 1000 / 1024;

/// Row of the table.
#[derive(Debug, Default)]
struct Row {
    played: Vec<Played>,
    starts: Vec<Duration>,
}

impl Row {
    fn push(&mut self, played: Played) {
        self.starts.push(played.start);
        self.played.push(played);
    }

    fn start(&self) -> Duration {
        report::median(&mut self.starts.clone())
    }

    /// Returns the median over these turns of all rounds. Turn n ends with request n + 1.
    fn overhead(&self, turns: RangeInclusive<usize>) -> Duration {
        let of = |played: &Played| played.overheads[turns.start() - 1..*turns.end()].to_vec();
        let mut times: Vec<Duration> = self.played.iter().flat_map(of).collect();
        report::median(&mut times)
    }

    fn time(&self) -> Duration {
        let mut times: Vec<_> = self.played.iter().map(|played| played.time).collect();
        report::median(&mut times) / u32::try_from(TURNS).unwrap_or(u32::MAX)
    }

    fn memory(&self) -> u64 {
        self.played.iter().map(|played| played.memory).max().unwrap_or_default()
    }

    fn print(&self, name: &str, table: &mut String) {
        let times = [EARLY, MIDDLE, LATE].map(|turns| millis(self.overhead(turns)));
        // Writing into a string cannot fail.
        let _ = writeln!(
            table,
            "| {name} | {} | {} | {} | {:.1} MB |",
            millis(self.start()),
            times.join(" | "),
            millis(self.time()),
            megabytes(self.memory()),
        );
    }
}

/// Measures, publishes the table, and returns the missed goals.
pub(crate) fn run() -> Result<Vec<String>, Failure> {
    let fixture = BenchFixture::new()?;
    fixture.import(&generated(2, 1))?;
    let tape = fixture.scratch.path().join("tape");
    reference(&fixture, &tape)?;
    let (mut own, mut bare, mut durable) = (Row::default(), Row::default(), Row::default());
    for round in 0..ROUNDS {
        let name = |what: &str| format!("{what}-{round}");
        own.push(turns(&fixture, &name("own"), plan())?);
        for (floor, row) in [(Floor::Bare, &mut bare), (Floor::Durable, &mut durable)] {
            let folder = fixture.folder(&name(&format!("{floor:?}")))?;
            let command = floor.command(fixture.server.port(), &tape, &folder)?;
            row.push(play(&fixture, &plan(), command, Output::Dropped)?);
        }
    }
    for start in 0..STARTS {
        let plan = AnswerPlan::burst(vec![ModelAnswer::words("What shall I do?")]);
        own.starts.push(turns(&fixture, &format!("start-{start}"), plan)?.start);
    }
    let history = own.played.iter().flat_map(|played| &played.records.requests);
    let bytes = history.map(|request| request.bytes).max().unwrap_or_default();
    Ok(publish(&own, &bare, &durable, bytes))
}

fn publish(own: &Row, bare: &Row, durable: &Row, bytes: usize) -> Vec<String> {
    let floor = ratio(own.overhead(EARLY), durable.overhead(EARLY));
    let early = ratio(own.overhead(LATE), own.overhead(EARLY));
    let mut table = format!(
        "| {TURNS} turns, a last request of {} KB | start | turn 10 | turn 50 | turn 200 | CPU per turn | memory |\n\
         |---|--:|--:|--:|--:|--:|--:|\n",
        bytes / 1000
    );
    bare.print("bare HTTP loop", &mut table);
    durable.print("the same with our durable writes", &mut table);
    own.print("`crewagent run`", &mut table);
    let _ = writeln!(
        table,
        "| goal | ≤ {} | ≤ {OVER_FLOOR} × the durable loop | | ≤ {OVER_EARLY} × its turn 10 | ≤ {} | ≤ 40 MB |\n\
         | reached | {} | **{floor:.2}** | | **{early:.2}** | {} | {:.1} MB |",
        millis(START),
        millis(TIME),
        millis(own.start()),
        millis(own.time()),
        megabytes(own.memory()),
    );
    report::publish("turns", &table);
    let goals = [
        (own.start() <= START, "start to first request"),
        (floor <= OVER_FLOOR, "turn 10 against the durable loop"),
        (early <= OVER_EARLY, "turn 200 against turn 10"),
        (own.time() <= TIME, "processor time of a turn"),
        (own.memory() <= MEMORY, "memory"),
    ];
    goals.into_iter().filter(|(holds, _)| !holds).map(|(_, goal)| goal.to_owned()).collect()
}

/// Records a run whose requests and records become the tape of the floors.
fn reference(fixture: &BenchFixture, tape: &std::path::Path) -> Result<(), Failure> {
    let bodies = fixture.folder("bodies")?;
    turns(fixture, "reference", AnswerPlan { keep: Some(bodies.clone()), ..plan() })?;
    let journals = find(&fixture.scratch.path().join("home"), "execution.jsonl")?;
    let [journal] = &journals[..] else { return Err("there is more than one run".into()) };
    let taped = tape::record(&bodies, journal, tape)?;
    if taped != TURNS + 1 {
        return Err(format!("the journal has {taped} requests").into());
    }
    Ok(())
}

/// Runs the real program on a new project.
fn turns(fixture: &BenchFixture, name: &str, plan: AnswerPlan) -> Result<Played, Failure> {
    let project = fixture.folder(&format!("projects/{name}"))?;
    let mut command = fixture.run("generated", &project);
    command.args(["--model", "loopback"]);
    play(fixture, &plan, command, Output::Dropped)
}

/// Returns a plan: a new file each turn, and text at the end.
fn plan() -> AnswerPlan {
    let line = "A line of a chapter, as people write them, with some words.";
    let write = |turn: usize| {
        let content = format!("# Chapter {turn}\n\n{}", format!("{line}\n").repeat(LINES));
        let path = format!("@project/chapters/chapter-{turn:03}.md");
        ModelAnswer::call("fs_write", json!({ "path": path, "content": content }))
    };
    let mut answers: Vec<ModelAnswer> = (1..=TURNS).map(write).collect();
    answers.push(ModelAnswer {
        hold: HOLD,
        ..ModelAnswer::words("All chapters are written. Is that all?")
    });
    AnswerPlan::burst(answers)
}

fn ratio(time: Duration, floor: Duration) -> f64 {
    time.as_secs_f64() / floor.as_secs_f64()
}

fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1000.0)
}

fn megabytes(kib: u64) -> f64 {
    (kib * 1024) as f64 / 1e6
}
