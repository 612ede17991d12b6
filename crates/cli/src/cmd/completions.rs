//! `crewagent completions`: prints a shell completion script.

use clap::CommandFactory as _;

use crate::args::{Args, CompletionsArgs};
use crate::console::Console;
use crate::outcome::Outcome;

pub(crate) fn run(args: &CompletionsArgs, console: &mut Console) -> anyhow::Result<Outcome> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Args::command(), "crewagent", &mut script);
    console.text(&String::from_utf8(script)?);
    Ok(Outcome::Done)
}
