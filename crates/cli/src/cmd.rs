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
mod resume;
mod run;
mod run_driver;
mod runs;
mod tools;
mod ui;

use crate::args::{Args, Command};
use crate::console::Console;
use crate::outcome::Outcome;

pub(crate) fn run(args: Args, console: &mut Console) -> anyhow::Result<Outcome> {
    let home = args.home;
    match args.command.unwrap_or_default() {
        Command::Ui(args) => ui::run(&args, home, console),
        Command::Demo(args) => demo::run(&args, console),
        Command::Run(args) => run::run(*args, home, console),
        Command::Resume(args) => resume::run(*args, home, console),
        Command::Agent(args) => agent::run(*args, home, console),
        Command::Chat(args) => chat::run(*args, home, console),
        Command::Chats(args) => chats::run(args, home, console),
        Command::Runs(args) => runs::run(args, home, console),
        Command::Projects(args) => projects::run(args, home, console),
        Command::Package(command) => package::run(command, home, console),
        Command::Models(args) => models::run(args, home, console),
        Command::Mcp(args) => mcp::run(args, home, console),
        Command::Tools(command) => tools::run(command, home, console),
        Command::Config(args) => config::run(args, home, console),
        Command::Doctor(args) => doctor::run(&args, home, console),
        Command::Completions(args) => completions::run(&args, console),
    }
}
