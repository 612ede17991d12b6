//! The binary `crewagent`: reads the command line, runs one command, and turns its result into an exit code.

mod args;
mod ask;
mod cmd;
mod console;
mod interrupt;
mod model;
mod outcome;
mod paint;
mod render;
mod resume_hint;
mod shell;
mod terminal;
mod when;

use std::process::ExitCode;

use clap::Parser;

use crate::args::Args;
use crate::console::Console;
use crate::outcome::Outcome;

fn main() -> ExitCode {
    let args = Args::parse();
    let mut console = Console::new();
    let outcome = cmd::run(args, &mut console)
        .unwrap_or_else(|error| Outcome::of_error(&error, &mut console));
    match console.flush() {
        Ok(()) => outcome.exit_code(),
        // The reader closed the pipe, as in `crewagent package list | head -1`; the outcome stands.
        Err(error) if error.kind() == std::io::ErrorKind::BrokenPipe => outcome.exit_code(),
        Err(error) => {
            console.error(format_args!("error: cannot write to standard output: {error}"));
            ExitCode::FAILURE
        }
    }
}
