//! Where a person works: the line they type on, and the commands they may give.

use std::path::{Path, PathBuf};

use crewagent_core::question::{Question, QuestionKind};

use super::commands::{Commands, Meant};
use super::completion::Vocabulary;
use super::editor::Editor;
use crate::ask::Heard;

/// What came of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Said<A> {
    /// Words for the run.
    Words(String),
    /// A command, and what stands behind it.
    Command(A, String),
    /// They leave it for now.
    Leave,
    /// They pressed Ctrl-C.
    Interrupt,
}

/// A prompt with commands.
pub(crate) struct Desk<A> {
    editor: Editor,
    commands: Commands<A>,
    blank: Blank,
}

/// What an empty line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blank {
    /// A slip.
    IsSlip,
    /// Something to say: show the menu, or try again.
    IsSaid,
}

impl<A: Copy + 'static> Desk<A> {
    /// A desk that remembers in `history`, completes these words besides its commands, and paths of this project.
    pub(crate) fn open(
        commands: Commands<A>,
        history: Option<&Path>,
        words: Vec<String>,
        project: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let names = commands.names().map(str::to_owned);
        let vocabulary = Vocabulary::new(names.chain(words).collect(), project);
        Ok(Self { editor: Editor::open(history, vocabulary)?, commands, blank: Blank::IsSlip })
    }

    /// The same, with another meaning of an empty line.
    pub(crate) fn with(self, blank: Blank) -> Self {
        Self { blank, ..self }
    }

    /// Asks for words; with a question, for words that answer it. A command is always taken.
    pub(crate) fn ask(&mut self, question: Option<&Question>) -> anyhow::Result<Said<A>> {
        let prompt = if question.is_some() { "Your answer:" } else { "You:" };
        // Whether a yes or something else is wanted depends on who asks; the run says so itself.
        let own = question.filter(|question| question.kind != QuestionKind::Confirm).cloned();
        let (commands, blank) = (self.commands.clone(), self.blank);
        let check = move |words: &str| match commands.meant(words) {
            Meant::Command(..) => Ok(()),
            Meant::Unknown(name) if own.is_none() => Err(format!(
                "There is no command {name}; /help lists them. With a blank in front it is sent as words."
            )),
            Meant::Words(words) | Meant::Unknown(words) => match &own {
                Some(question) => question.answer(words).map(drop),
                None if words.trim().is_empty() && blank == Blank::IsSlip => {
                    Err("Write something, or leave with Ctrl-D.".to_owned())
                }
                None => Ok(()),
            },
        };
        Ok(match self.editor.ask(prompt, check)? {
            Heard::Words(words) => match self.commands.meant(&words) {
                Meant::Command(act, rest) => Said::Command(act, rest.to_owned()),
                Meant::Unknown(_) | Meant::Words(_) => Said::Words(words),
            },
            Heard::Leave => Said::Leave,
            Heard::Interrupt => Said::Interrupt,
        })
    }

    /// What works now.
    pub(crate) fn help(&self) -> String {
        self.commands.help()
    }
}
