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
        let help = text!(*help, help_of(name));
        PromptCommand { name, takes, help, action: ConversationCommand::Conversation(name) }
    };
    COMMANDS.iter().map(row).chain([last])
}

/// Returns what a command of the conversation does, in Chinese.
pub(super) fn help_of(name: &str) -> &'static str {
    match name {
        "/menu" => "显示智能体的菜单；运行停在原处",
        "/agent" => "与包中的另一个智能体对话",
        "/resume" => "继续最近离开的运行",
        "/pause" => "离开运行，让它停在原处",
        "/stop" => "立即离开运行，让它停在原处",
        "/dismiss" => "请智能体离开，继续直接与模型对话",
        "/status" => "显示各自的位置和费用",
        "/help" => "显示现在可以做什么",
        _ => "",
    }
}

/// Returns the menu triggers of a package, each once.
fn words(package: &Package) -> Vec<String> {
    let mut seen = HashSet::new();
    let words = package.agents().iter().flat_map(|agent| menu::words(agent, Surface::Ide));
    words.filter(|word| seen.insert(word.clone())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_command_of_a_conversation_is_explained_in_chinese() {
        let names = COMMANDS.iter().map(|(call, _)| call.split(' ').next().unwrap_or_default());
        for name in names {
            assert_ne!(help_of(name), "", "{name}");
        }
    }
}
