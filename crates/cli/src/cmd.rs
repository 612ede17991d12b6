//! One module for each command. A command gets its arguments and the console, and says how it ended.

mod demo;
mod package;

use crate::args::{Args, Command};
use crate::console::Console;
use crate::outcome::Outcome;

pub(crate) fn run(args: Args, console: &mut Console) -> anyhow::Result<Outcome> {
    match args.command {
        Command::Demo => demo::run(console),
        Command::Package(command) => package::run(command, args.home, console),
    }
}
