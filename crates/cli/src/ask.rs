//! Asks the user at the terminal.

use std::io::IsTerminal as _;

use anyhow::Context as _;
use crewagent_core::question::{Question, QuestionKind};
use inquire::validator::Validation;
use inquire::{Confirm, InquireError, Text};

use crate::language::text;

/// The result of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum TypedInput {
    Text(String),
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
pub(crate) fn text(question: Option<&Question>) -> anyhow::Result<TypedInput> {
    // Whether a confirmation needs a yes depends on the asker, so the run checks it.
    let own = question.filter(|question| question.kind != QuestionKind::Confirm).cloned();
    let check = move |words: &str| {
        let problem = own.as_ref().and_then(|question| question.answer(words).err());
        Ok(problem.map_or(Validation::Valid, |problem| Validation::Invalid(problem.into())))
    };
    let prompt = if question.is_some() {
        text!("Your answer:", "你的回答：")
    } else {
        text!("You:", "你：")
    };
    let asked = Text::new(prompt)
        .with_help_message(text!(
            "Enter sends it, Esc leaves the run waiting",
            "回车发送，Esc 让运行继续等待",
        ))
        .with_validator(check)
        .prompt();
    to_input(asked).map(|input| match input {
        TypedInput::Text(words) if words.trim().is_empty() => TypedInput::Leave,
        other @ (TypedInput::Text(_) | TypedInput::Leave | TypedInput::Interrupt) => other,
    })
}

/// Asks for a yes; no answer is a no.
pub(crate) fn confirm(question: &str) -> anyhow::Result<bool> {
    match Confirm::new(question).with_default(false).prompt() {
        Ok(agreed) => Ok(agreed),
        Err(InquireError::OperationCanceled | InquireError::OperationInterrupted) => Ok(false),
        Err(error) => Err(error).context(text!(
            "cannot ask in this terminal; add --yes",
            "此终端无法询问；请加上 --yes",
        )),
    }
}

fn to_input(asked: Result<String, InquireError>) -> anyhow::Result<TypedInput> {
    match asked {
        Ok(words) => Ok(TypedInput::Text(words)),
        Err(InquireError::OperationCanceled) => Ok(TypedInput::Leave),
        Err(InquireError::OperationInterrupted) => Ok(TypedInput::Interrupt),
        Err(error) => Err(error).context(text!(
            "cannot ask in this terminal; answer with --input",
            "此终端无法询问；请用 --input 作答",
        )),
    }
}
