//! Repository chores: `cargo xtask test` is what CI runs, `cargo xtask tidy` keeps the promises of the architecture.
#![allow(
    clippy::disallowed_methods,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a tool for developers starts programs and talks to its terminal"
)]

mod accept;
mod args;
mod fuzz;
mod mcp;
mod python;
mod real_models;
mod repo;
mod shell;
mod steps;
mod tidy;
mod web;

use std::path::Path;
use std::process::ExitCode;

use args::Command;

fn main() -> ExitCode {
    let command = match Command::parse(std::env::args().skip(1)) {
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

fn run(command: Command, root: &Path) -> anyhow::Result<()> {
    match command {
        Command::Help => {
            println!("{}", args::USAGE);
            Ok(())
        }
        Command::Test(selection) => steps::run(root, &selection),
        Command::Accept(suites) => accept::run(root, &suites),
        Command::Tidy(mode) => tidy::run(root, &mode),
        Command::Fuzz(plan) => fuzz::run(root, &plan),
        Command::RealModels(words) => real_models::run(root, &words),
        Command::Advisories => steps::advisories(root),
    }
}
