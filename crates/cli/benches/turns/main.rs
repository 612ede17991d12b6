//! Benchmark of the binary with a model on the loopback: overhead per turn, and tokens per workflow.
//!
//! `cargo bench -p crewagent-cli --bench turns` prints two tables and fails when a goal is missed;
//! `cargo xtask accept docs` also writes them into `docs/performance.md`. `-- turns` or `-- economy` runs one of them.
//!
//! This binary plays three programs: the benchmark, the model (`--loopback`) and the floors (`--floor`).
#![allow(clippy::disallowed_methods, reason = "the benchmark starts programs")]
#![allow(clippy::print_stderr, reason = "a benchmark says what it missed")]

mod economy;
mod fixture;
mod floor;
mod peers;
mod play;
mod tape;
mod turns;

use std::error::Error;
use std::process::ExitCode;

use crewagent_testkit::loopback;

type Failure = Box<dyn Error>;

fn main() -> ExitCode {
    if let Some(code) = loopback::serve_if_asked().or_else(floor::run_if_asked) {
        return code;
    }
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // `cargo test --all-targets` runs this without the flag; there is nothing to test.
    if !arguments.iter().any(|argument| argument == "--bench") {
        return ExitCode::SUCCESS;
    }
    let is_wanted = |name: &str| {
        let mut names = arguments.iter().filter(|argument| !argument.starts_with('-')).peekable();
        names.peek().is_none() || names.any(|argument| argument == name)
    };
    let mut missed = Vec::new();
    for (name, run) in [("turns", turns::run as fn() -> _), ("economy", economy::run)] {
        if !is_wanted(name) {
            continue;
        }
        match run() {
            Ok(goals) => missed.extend(goals),
            Err(error) => {
                eprintln!("{name} cannot run: {error}");
                return ExitCode::FAILURE;
            }
        }
    }
    missed.iter().for_each(|goal: &String| eprintln!("missed: {goal}"));
    if missed.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}
