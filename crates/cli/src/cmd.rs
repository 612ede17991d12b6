//! One module for each command. A command takes its arguments and the console, and returns its outcome.

mod agent;
mod chat;
mod chats;
mod completions;
mod config;
mod conversation;
mod demo;
mod doctor;
mod mcp;
mod models;
mod package;
mod projects;
mod record;
pub(crate) mod removal;
mod resume;
mod run;
mod run_driver;
mod runs;
mod tools;
mod ui;

use std::path::PathBuf;

use crate::args::{Args, CliCommand};
use crate::console::Console;
use crate::outcome::Outcome;

pub(crate) fn run(args: Args, console: &mut Console) -> anyhow::Result<Outcome> {
    let home = args.home.or_else(environment_home);
    match args.command.unwrap_or_default() {
        CliCommand::Ui(args) => ui::run(&args, home, console),
        CliCommand::Demo(args) => demo::run(&args, console),
        CliCommand::Run(args) => run::run(*args, home, console),
        CliCommand::Resume(args) => resume::run(*args, home, console),
        CliCommand::Agent(args) => agent::run(*args, home, console),
        CliCommand::Chat(args) => chat::run(*args, home, console),
        CliCommand::Chats(args) => chats::run(args, home, console),
        CliCommand::Runs(args) => runs::run(args, home, console),
        CliCommand::Projects(args) => projects::run(args, home, console),
        CliCommand::Package(args) => package::run(args, home, console),
        CliCommand::Models(args) => models::run(args, home, console),
        CliCommand::Mcp(args) => mcp::run(args, home, console),
        CliCommand::Tools(args) => tools::run(args, home, console),
        CliCommand::Config(args) => config::run(args, home, console),
        CliCommand::Doctor(args) => doctor::run(&args, home, console),
        CliCommand::Completions(args) => completions::run(&args, console),
    }
}

/// Returns the folder of the store that the environment names. The library would name an option of the environment in every
/// usage line, as if it were required, so it is read here.
pub(crate) fn environment_home() -> Option<PathBuf> {
    std::env::var_os("CREWAGENT_HOME").filter(|home| !home.is_empty()).map(PathBuf::from)
}
