//! Asks the user at the terminal.

use std::io::IsTerminal as _;

use anyhow::Context as _;
use crewagent_core::question::{Question, QuestionKind};
use inquire::validator::Validation;
use inquire::{Confirm, InquireError, Text};

/// The result of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Words(String),
    /// The user leaves the run waiting.
    Leave,
    /// The user pressed Ctrl-C.
    Interrupt,
}

/// Returns true if a user sits at the terminal.
pub(crate) fn is_possible() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// Asks for text; with a question, for a valid answer.
pub(crate) fn words(question: Option<&Question>) -> anyhow::Result<Heard> {
    // Whether a confirmation needs a yes depends on the asker, so the run checks it.
    let own = question.filter(|question| question.kind != QuestionKind::Confirm).cloned();
    let check = move |words: &str| {
        let problem = own.as_ref().and_then(|question| question.answer(words).err());
        Ok(problem.map_or(Validation::Valid, |problem| Validation::Invalid(problem.into())))
    };
    let prompt = if question.is_some() { "Your answer:" } else { "You:" };
    let asked = Text::new(prompt)
        .with_help_message("Enter sends it, Esc leaves the run waiting")
        .with_validator(check)
        .prompt();
    heard(asked).map(|heard| match heard {
        Heard::Words(words) if words.trim().is_empty() => Heard::Leave,
        other @ (Heard::Words(_) | Heard::Leave | Heard::Interrupt) => other,
    })
}

/// Asks for a yes; no answer is a no.
pub(crate) fn agreed(question: &str) -> anyhow::Result<bool> {
    match Confirm::new(question).with_default(false).prompt() {
        Ok(agreed) => Ok(agreed),
        Err(InquireError::OperationCanceled | InquireError::OperationInterrupted) => Ok(false),
        Err(error) => Err(error).context("cannot ask in this terminal; add --yes"),
    }
}

fn heard(asked: Result<String, InquireError>) -> anyhow::Result<Heard> {
    match asked {
        Ok(words) => Ok(Heard::Words(words)),
        Err(InquireError::OperationCanceled) => Ok(Heard::Leave),
        Err(InquireError::OperationInterrupted) => Ok(Heard::Interrupt),
        Err(error) => Err(error).context("cannot ask in this terminal; answer with --input"),
    }
}
