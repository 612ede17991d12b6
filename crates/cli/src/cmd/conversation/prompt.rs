//! The prompt of a conversation and its commands.

use std::collections::HashSet;
use std::io::IsTerminal as _;
use std::path::PathBuf;

use crewagent_core::menu;
use crewagent_engine::conversation::{COMMANDS, Conversation};
use crewagent_engine::store::Store;
use crewagent_format::package::Package;
use crewagent_format::package::agents::Surface;

use crate::cmd::run_driver::{AnswerSource, HISTORY};
use crate::language::text;
use crate::terminal::commands::{Commands, PromptCommand};
use crate::terminal::prompt::{Blank, CommandPrompt};

/// The action of a command at the prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ConversationCommand {
    /// A command of the conversation, by name.
    Conversation(&'static str),
    /// Shows the last tool call in full.
    Last,
}

/// Opens the prompt of a conversation, if stdin and stdout are a terminal.
pub(super) fn open_prompt(
    answers: AnswerSource,
    conversation: &Conversation<'_>,
    home: Option<PathBuf>,
) -> anyhow::Result<Option<CommandPrompt<ConversationCommand>>> {
    let is_possible = std::io::stdin().is_terminal() && std::io::stdout().is_terminal();
    if answers == AnswerSource::None || !is_possible {
        return Ok(None);
    }
    let history = home.map_or_else(Store::default_home, Ok)?.join(HISTORY);
    let project = Some(conversation.own_run().project_folder().to_owned());
    let words = conversation.package().map(words).unwrap_or_default();
    let prompt = CommandPrompt::open(Commands::new(table()), Some(&history), words, project)?;
    Ok(Some(prompt.with(Blank::IsInput)))
}

fn table() -> impl Iterator<Item = PromptCommand<ConversationCommand>> {
    let last = PromptCommand {
        name: "/last",
        takes: "",
        help: text!("the last call of a tool, in full", "最近一次工具调用的完整内容"),
        action: ConversationCommand::Last,
    };
    let row = |(call, help): &(&'static str, &'static str)| {
        let (name, takes) = call.split_once(' ').unwrap_or((call, ""));
        PromptCommand { name, takes, help, action: ConversationCommand::Conversation(name) }
    };
    COMMANDS.iter().map(row).chain([last])
}

/// Returns the menu triggers of a package, each once.
fn words(package: &Package) -> Vec<String> {
    let mut seen = HashSet::new();
    let words = package.agents().iter().flat_map(|agent| menu::words(agent, Surface::Ide));
    words.filter(|word| seen.insert(word.clone())).collect()
}
