//! Benchmark of composing the next request after a tool's result: at turn 200 it takes no longer than at turn 10.
//!
//! `cargo bench --bench compose` prints the table and fails when the goal is missed; `cargo xtask accept docs` also
//! writes the table into `docs/performance.md`.
#![allow(
    clippy::unwrap_used,
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "a benchmark reads the clock and stops at the first surprise"
)]

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crewagent_core::call::schema;
use crewagent_core::context::tools_digest;
use crewagent_core::event::{Answer, Reply};
use crewagent_core::message::ToolCall;
use crewagent_core::run::machine::{Input, Machine, Subject};
use crewagent_core::settings::{Limits, RunSettings};
use crewagent_core::state::run_state::RunState;
use crewagent_format::integrity::Digest;
use crewagent_format::package::check;
use crewagent_testkit::package::MemoryFiles;
use crewagent_testkit::report;
use jiff::Timestamp;

/// Maximum ratio of the last turn's time to the early one's.
const GOAL: f64 = 1.1;
const EARLY: usize = 10;
const LATE: usize = 200;
/// Bytes of one result, so that the history has 256 KB at the end.
const ANSWER: usize = 1_200;
const RUNS: usize = 301;

fn main() -> ExitCode {
    let (mut early, mut late) = (Vec::new(), Vec::new());
    let mut bytes = 0;
    for _ in 0..RUNS {
        let mut machine = machine();
        let digest = tools_digest(&schema::tools(&machine.policy()));
        for turn in 1..=LATE + 2 {
            let took = one_turn(&mut machine, turn, digest);
            // Three turns around the mark, so that one slow turn does not decide.
            if turn.abs_diff(EARLY) < 2 {
                early.push(took);
            } else if turn.abs_diff(LATE) < 2 {
                late.push(took);
            }
        }
        bytes = machine.context().bytes();
    }
    let (early, late) = (report::median(&mut early), report::median(&mut late));
    let ratio = late.as_secs_f64() / early.as_secs_f64();
    let micros = |time: Duration| format!("{:.1} µs", time.as_secs_f64() * 1e6);
    let mut table = String::from(
        "| tool answer → next request ready | median | ratio | goal |\n|---|--:|--:|--:|\n",
    );
    let _ = writeln!(table, "| turn {EARLY} | {} | 1 | |", micros(early));
    let _ = writeln!(
        table,
        "| turn {LATE}, {} KiB of history | {} | **{ratio:.2}** | ≤ {GOAL} |",
        bytes / 1024,
        micros(late)
    );
    report::publish("compose", &table);
    if ratio <= GOAL { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

fn machine() -> Machine {
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../../spec/examples/create-story-micro");
    let files = MemoryFiles::from_folder(&folder).unwrap();
    let package = Arc::new(check(&files, &semver::Version::new(0, 1, 0)).package.unwrap());
    let run_state =
        RunState { current_node_id: "step-01-select-story".to_owned(), ..RunState::default() };
    let settings = RunSettings {
        limits: Limits { turns: 1_000, ..Limits::default() },
        ..RunSettings::default()
    };
    let agent = package.agents()[0].id.clone();
    let mut machine = Machine::new(
        Subject::Workflow { package, workflow: 0, agent, data: None, bindings: Arc::default() },
        settings,
        run_state,
    );
    machine.step(Input::Start, Timestamp::UNIX_EPOCH);
    machine
}

/// Runs one turn: the model calls a tool, and the tool answers. Returns the time after the answer.
fn one_turn(machine: &mut Machine, turn: usize, tools: Digest) -> Duration {
    let call = ToolCall {
        id: format!("call_{turn}"),
        name: "fs.read".to_owned(),
        arguments: format!(r#"{{"path":"@project/docs/chapter-{turn}.md"}}"#).into(),
        extra: serde_json::Map::new(),
    };
    let reply = Reply { tool_calls: vec![call], ..Reply::default() };
    machine.step(Input::Replied(reply), Timestamp::UNIX_EPOCH);
    let answer = Answer { result: "x".repeat(ANSWER).into(), ..Answer::default() };
    let start = Instant::now();
    machine.step(Input::Answered { answer, state: None }, Timestamp::UNIX_EPOCH);
    machine.context_mut().check().unwrap();
    let request = (machine.context().messages(), machine.context().sha256(tools));
    let took = start.elapsed();
    std::hint::black_box(request);
    took
}
