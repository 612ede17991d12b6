//! The prompt: the input line and its commands.

use std::path::{Path, PathBuf};

use crewagent_core::question::form::{Field, Form};
use crewagent_core::question::{Question, QuestionKind};
use serde_json::{Map, Value as Json};

use super::commands::{Commands, LineKind};
use super::completion::Vocabulary;
use super::editor::Editor;
use crate::ask::TypedInput;
use crate::console::Console;
use crate::language::{say, text};
use crate::paint;
use crate::render::question;

/// The result of asking.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum PromptInput<A> {
    /// Text for the run.
    Text(String),
    /// A command and its argument.
    Command(A, String),
    /// The user leaves the run waiting.
    Leave,
    /// The user pressed Ctrl-C.
    Interrupt,
}

/// A prompt with commands.
pub(crate) struct CommandPrompt<A> {
    editor: Editor,
    commands: Commands<A>,
    blank: Blank,
    /// The unfinished form that a command interrupted.
    draft: Option<FormDraft>,
}

/// A partly filled form.
struct FormDraft {
    form: Form,
    /// The answered fields, in their order.
    answers: Vec<Option<Json>>,
}

impl FormDraft {
    /// Returns the answers as a JSON object.
    fn object(self) -> Json {
        let names = self.form.fields().iter().map(|field| field.name.clone());
        let given = names.zip(self.answers).filter_map(|(name, value)| Some((name, value?)));
        Json::Object(given.collect::<Map<_, _>>())
    }
}

/// The meaning of an empty line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Blank {
    /// A slip; the prompt asks again.
    IsSlip,
    /// An input: shows the menu, or tries again.
    IsInput,
}

impl<A: Copy + 'static> CommandPrompt<A> {
    /// Opens a prompt with this history file; it completes its commands, these words, and project paths.
    pub(crate) fn open(
        commands: Commands<A>,
        history: Option<&Path>,
        words: Vec<String>,
        project: Option<PathBuf>,
    ) -> anyhow::Result<Self> {
        let names = commands.names().map(str::to_owned);
        let vocabulary = Vocabulary::new(names.chain(words).collect(), project);
        let editor = Editor::open(history, vocabulary)?;
        Ok(Self { editor, commands, blank: Blank::IsSlip, draft: None })
    }

    /// Sets the meaning of an empty line.
    pub(crate) fn with(self, blank: Blank) -> Self {
        Self { blank, ..self }
    }

    /// Asks for text; with a question, for a valid answer; with a form, for one field after the other. A command is
    /// always accepted.
    pub(crate) fn ask(
        &mut self,
        question: Option<&Question>,
        console: &mut Console,
    ) -> anyhow::Result<PromptInput<A>> {
        match question.and_then(|question| question.schema.as_ref()) {
            Some(form) => self.fill_in(form, console),
            None => self.ask_text(question),
        }
    }

    /// Asks for the fields of a form. After a command it continues at the same field.
    fn fill_in(&mut self, form: &Form, console: &mut Console) -> anyhow::Result<PromptInput<A>> {
        let draft = self.draft.take().filter(|draft| draft.form == *form);
        let mut draft =
            draft.unwrap_or_else(|| FormDraft { form: form.clone(), answers: Vec::new() });
        while let Some(field) = form.fields().get(draft.answers.len()) {
            console.text(&question::field(form, draft.answers.len(), paint::text_width()));
            console.line("");
            console.show();
            match self.ask_field(field)? {
                PromptInput::Text(words) => {
                    draft.answers.push(field.hear(&words).unwrap_or_default())
                }
                PromptInput::Command(action, rest) => {
                    self.draft = Some(draft);
                    return Ok(PromptInput::Command(action, rest));
                }
                left @ (PromptInput::Leave | PromptInput::Interrupt) => return Ok(left),
            }
            console.line("");
        }
        Ok(PromptInput::Text(draft.object().to_string()))
    }

    fn ask_field(&mut self, field: &Field) -> anyhow::Result<PromptInput<A>> {
        let (commands, own) = (self.commands.clone(), field.clone());
        let check = move |words: &str| match commands.parse(words) {
            LineKind::Command(..) => Ok(()),
            LineKind::Text(words) | LineKind::Unknown(words) => own.hear(words).map(drop),
        };
        let input = self.editor.ask(text!("Your answer:", "你的回答："), check)?;
        Ok(self.interpret(input))
    }

    fn ask_text(&mut self, question: Option<&Question>) -> anyhow::Result<PromptInput<A>> {
        let prompt = if question.is_some() {
            text!("Your answer:", "你的回答：")
        } else {
            text!("You:", "你：")
        };
        // Whether a confirmation needs a yes depends on the asker, so the run checks it.
        let own = question.filter(|question| question.kind != QuestionKind::Confirm).cloned();
        let (commands, blank) = (self.commands.clone(), self.blank);
        let check = move |words: &str| match commands.parse(words) {
            LineKind::Command(..) => Ok(()),
            LineKind::Unknown(name) if own.is_none() => Err(say!(
                "There is no command {name}; /help lists them. With a blank in front it is sent as words.",
                "没有命令 {name}；/help 列出所有命令。在前面加一个空格就会作为文字发送。"
            )),
            LineKind::Text(words) | LineKind::Unknown(words) => match &own {
                Some(question) => question.answer(words).map(drop),
                None if words.trim().is_empty() && blank == Blank::IsSlip => Err(text!(
                    "Write something, or leave with Ctrl-D.",
                    "请写点什么，或按 Ctrl-D 离开。",
                )
                .to_owned()),
                None => Ok(()),
            },
        };
        let input = self.editor.ask(prompt, check)?;
        Ok(self.interpret(input))
    }

    fn interpret(&self, input: TypedInput) -> PromptInput<A> {
        match input {
            TypedInput::Text(words) => match self.commands.parse(&words) {
                LineKind::Command(action, rest) => PromptInput::Command(action, rest.to_owned()),
                LineKind::Unknown(_) | LineKind::Text(_) => PromptInput::Text(words),
            },
            TypedInput::Leave => PromptInput::Leave,
            TypedInput::Interrupt => PromptInput::Interrupt,
        }
    }

    /// Returns the text of `/help`.
    pub(crate) fn help(&self) -> String {
        self.commands.help()
    }
}
