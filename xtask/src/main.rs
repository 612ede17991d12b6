//! Repository chores: `cargo xtask test` is what CI runs, `cargo xtask tidy` checks the rules of the architecture.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for developers starts programs and talks to its terminal"
)]

mod accept;
mod args;
mod bmad;
mod file_tests;
mod fuzz;
mod mcp;
mod needs;
mod python;
mod real_models;
mod repo;
mod shell;
mod steps;
mod tidy;
mod web;

use std::path::Path;
use std::process::ExitCode;

use args::XtaskCommand;
use steps::CiStep;

fn main() -> ExitCode {
    let command = match XtaskCommand::parse(std::env::args().skip(1)) {
        Ok(command) => command,
        Err(error) => {
            eprintln!("error: {error}\n\n{}", args::USAGE);
            return ExitCode::from(2);
        }
    };
    match run(command, &shell::repo_root()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: XtaskCommand, root: &Path) -> anyhow::Result<()> {
    match command {
        XtaskCommand::Help => {
            println!("{}", args::USAGE);
            Ok(())
        }
        XtaskCommand::Steps(selection) => steps::run(root, &selection),
        XtaskCommand::Accept(suites) => accept::run(root, &suites),
        XtaskCommand::Tidy(mode) => tidy::run(root, &mode),
        XtaskCommand::Fuzz(plan) => fuzz::run(root, &plan),
        XtaskCommand::Bmad => {
            needs::ensure(&[CiStep::Bmad])?;
            bmad::run(root)
        }
        XtaskCommand::RealModels(words) => {
            needs::ensure(&[CiStep::RealModels])?;
            real_models::run(root, &words)
        }
    }
}
