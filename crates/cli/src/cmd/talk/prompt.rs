//! The prompt of a conversation and its commands.

use std::collections::HashSet;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use crewagent_core::menu::{self, Surface};
use crewagent_core::package::Package;
use crewagent_engine::session::{COMMANDS, Session};
use crewagent_engine::store::Store;

use crate::cmd::session::{Answers, HISTORY};
use crate::terminal::commands::{Command, Commands};
use crate::terminal::desk::{Blank, Desk};

/// The action of a command at the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TalkCommand {
    /// A command of the conversation, by name.
    Session(&'static str),
    /// Shows the last tool call in full.
    Last,
}

/// Opens the prompt of a conversation, if stdin and stdout are a terminal.
pub(super) fn desk(
    answers: Answers,
    session: &Session<'_>,
    home: Option<PathBuf>,
) -> anyhow::Result<Option<Desk<TalkCommand>>> {
    let is_possible = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if answers == Answers::Nobody || !is_possible {
        return Ok(None);
    }
    let history = home.map_or_else(Store::default_home, Ok)?.join(HISTORY);
    let project = Some(session.talk().project_folder().to_owned());
    let words = session.package().map(words).unwrap_or_default();
    let desk = Desk::open(Commands::new(table()), Some(&history), words, project)?;
    Ok(Some(desk.with(Blank::IsSaid)))
}

fn table() -> impl Iterator<Item = Command<TalkCommand>> {
    let last = Command {
        name: "/last",
        takes: "",
        help: "the last call of a tool, in full",
        act: TalkCommand::Last,
    };
    let row = |(call, help): &(&'static str, &'static str)| {
        let (name, takes) = call.split_once(' ').unwrap_or((call, ""));
        Command { name, takes, help, act: TalkCommand::Session(name) }
    };
    COMMANDS.iter().map(row).chain([last])
}

/// Returns the menu triggers of a package, each once.
fn words(package: &Package) -> Vec<String> {
    let mut seen = HashSet::new();
    let words = package.agents().iter().flat_map(|agent| menu::words(agent, Surface::Ide));
    words.filter(|word| seen.insert(word.clone())).collect()
}
