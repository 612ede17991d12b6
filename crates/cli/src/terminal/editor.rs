//! The line editor. This is the only module that knows rustyline.

mod history;
mod keys;

use std::borrow::Cow;
use std::cell::Cell;
use std::path::Path;

use anyhow::Context as _;
use rustyline::completion::Completer;
use rustyline::config::BellStyle;
use rustyline::error::ReadlineError;
use rustyline::highlight::{CmdKind, Highlighter};
use rustyline::hint::Hinter;
use rustyline::history::{History as _, MemHistory};
use rustyline::validate::{ValidationContext, ValidationResult, Validator};
use rustyline::{CompletionType, Config, Context, Helper};

use self::history::{InputHistory, KEPT};
use super::completion::Vocabulary;
use crate::ask::TypedInput;
use crate::language::text;
use crate::paint::{self, ACCENT, QUIET};

/// Milliseconds that tell Esc alone from the beginning of another key.
const ESCAPE: u16 = 100;

/// Returns the reason why an input is invalid.
type InputCheck = Box<dyn Fn(&str) -> Result<(), String>>;

/// A line editor with history, several lines, completion and hints.
pub(crate) struct Editor {
    line: rustyline::Editor<Assistant, MemHistory>,
    history: InputHistory,
}

impl Editor {
    /// Opens an editor that completes from `vocabulary` and stores its history in `history`; without a file the history
    /// ends with the process.
    pub(crate) fn open(history: Option<&Path>, vocabulary: Vocabulary) -> anyhow::Result<Self> {
        let config = Config::builder()
            .max_history_size(KEPT)
            .and_then(|config| config.history_ignore_dups(true))?
            .completion_type(CompletionType::List)
            .completion_show_all_if_ambiguous(true)
            .bell_style(BellStyle::None)
            .keyseq_timeout(Some(ESCAPE))
            .bracketed_paste(true)
            .build();
        let mut memory = MemHistory::with_config(&config);
        let (history, inputs) = InputHistory::open(history);
        for input in &inputs {
            memory.add(input)?;
        }
        let mut line = rustyline::Editor::with_history(config, memory).context(text!(
            "cannot ask in this terminal; answer with --input",
            "此终端无法询问；请用 --input 作答",
        ))?;
        let check: InputCheck = Box::new(|_| Ok(()));
        line.set_helper(Some(Assistant { vocabulary, check, complains: Cell::new(false) }));
        keys::bind(&mut line);
        Ok(Self { line, history })
    }

    /// Asks until an input passes the check. An invalid input stays on the line, with the reason below it.
    pub(crate) fn ask(
        &mut self,
        prompt: &str,
        check: impl Fn(&str) -> Result<(), String> + 'static,
    ) -> anyhow::Result<TypedInput> {
        if let Some(assistant) = self.line.helper_mut() {
            assistant.check = Box::new(check);
        }
        let styled = paint::styled(ACCENT, prompt);
        let raw = format!("{prompt} ");
        let painted = if super::is_live() { format!("{styled} ") } else { raw.clone() };
        match self.line.readline(&(raw, painted)) {
            Ok(words) => {
                self.line.history_mut().add(&words)?;
                // A full disk must not lose the user's input.
                let _ = self.history.add(&words);
                Ok(TypedInput::Text(words))
            }
            Err(ReadlineError::Eof) => Ok(TypedInput::Leave),
            Err(ReadlineError::Interrupted) => Ok(TypedInput::Interrupt),
            Err(error) => Err(error).context(text!(
                "cannot ask in this terminal; answer with --input",
                "此终端无法询问；请用 --input 作答",
            )),
        }
    }
}

/// The callbacks of rustyline.
struct Assistant {
    vocabulary: Vocabulary,
    check: InputCheck,
    /// True while an error is shown below the line.
    complains: Cell<bool>,
}

impl Helper for Assistant {}

impl Completer for Assistant {
    type Candidate = String;

    fn complete(
        &self,
        line: &str,
        cursor: usize,
        _: &Context<'_>,
    ) -> rustyline::Result<(usize, Vec<String>)> {
        if keys::is_continued(line, cursor) {
            return Ok((cursor - 1, vec!["\n".to_owned()]));
        }
        let found = self.vocabulary.completions(line, cursor);
        Ok((found.start, found.offers))
    }
}

impl Hinter for Assistant {
    type Hint = String;

    fn hint(&self, line: &str, cursor: usize, _: &Context<'_>) -> Option<String> {
        self.vocabulary.hint(line, cursor)
    }
}

impl Validator for Assistant {
    fn validate(&self, context: &mut ValidationContext<'_>) -> rustyline::Result<ValidationResult> {
        Ok(match (self.check)(context.input()) {
            Ok(()) => ValidationResult::Valid(None),
            Err(problem) => {
                self.complains.set(true);
                ValidationResult::Invalid(Some(format!("\n  {}", paint::printable(&problem))))
            }
        })
    }
}

impl Highlighter for Assistant {
    fn highlight_hint<'h>(&self, hint: &'h str) -> Cow<'h, str> {
        if super::is_live() { Cow::Owned(paint::styled(QUIET, hint)) } else { Cow::Borrowed(hint) }
    }

    /// Redraws the line to remove an error below it.
    fn highlight_char(&self, _: &str, _: usize, kind: CmdKind) -> bool {
        kind != CmdKind::MoveCursor && self.complains.take()
    }
}
