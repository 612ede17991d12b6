//! Reads values out of a tree and records every mistake with its line. A reader that returns `None` has recorded one.

use crewagent_format::syntax::{Entry, Tree, Value};
use crewagent_format::text::{LineIndex, Span};
use crewagent_format::wording::{nearest, ticked};

use super::error::ScriptProblem;
use super::template::ReplyTemplate;

/// File that is being read.
pub(super) struct ScriptReader<'t> {
    text: &'t str,
    lines: LineIndex,
    problems: Vec<ScriptProblem>,
}

impl<'t> ScriptReader<'t> {
    pub(super) fn new(text: &'t str) -> Self {
        Self { text, lines: LineIndex::new(text), problems: Vec::new() }
    }

    /// Returns the value, if there were no mistakes.
    pub(super) fn finish<T>(mut self, value: Option<T>) -> Result<T, Vec<ScriptProblem>> {
        self.problems.sort_by_key(|problem| problem.line);
        match value {
            Some(value) if self.problems.is_empty() => Ok(value),
            Some(_) | None => Err(self.problems),
        }
    }

    pub(super) fn line(&self, span: Span) -> usize {
        self.lines.position(self.text, span.start).line
    }

    pub(super) fn wrong<T>(&mut self, span: Span, message: impl Into<String>) -> Option<T> {
        self.problems.push(ScriptProblem { line: self.line(span), message: message.into() });
        None
    }

    fn wrong_kind<T>(&mut self, tree: &Tree, what: &str, wanted: &str) -> Option<T> {
        self.wrong(tree.span, format!("{what} must be {wanted}, but this is {}", tree.kind()))
    }

    /// Returns the entries of a map with known keys. Others are recorded as mistakes, and left out by the caller.
    pub(super) fn map<'v>(
        &mut self,
        tree: &'v Tree,
        what: &str,
        known: &[&str],
    ) -> Option<&'v [Entry]> {
        let entries = self.any_map(tree, what)?;
        for entry in entries.iter().filter(|entry| !known.contains(&entry.key.as_str())) {
            let near = nearest(&entry.key, known.iter().copied());
            let advice = match near {
                Some(key) => format!("did you mean `{key}`?"),
                None => format!("known are {}", ticked(known)),
            };
            self.wrong::<()>(
                entry.key_span,
                format!("{what} has no key `{}`; {advice}", entry.key),
            );
        }
        Some(entries)
    }

    /// Returns the entries of a map with any keys.
    pub(super) fn any_map<'v>(&mut self, tree: &'v Tree, what: &str) -> Option<&'v [Entry]> {
        match tree.as_map() {
            Some(entries) => Some(entries),
            None => self.wrong_kind(tree, what, "a map"),
        }
    }

    pub(super) fn list<'v>(&mut self, tree: &'v Tree, what: &str) -> Option<&'v [Tree]> {
        match tree.as_list() {
            Some(items) => Some(items),
            None => self.wrong_kind(tree, what, "a list"),
        }
    }

    pub(super) fn text<'v>(&mut self, tree: &'v Tree, what: &str) -> Option<&'v str> {
        match tree.as_str() {
            Some(text) => Some(text),
            None => self.wrong_kind(tree, what, "a text"),
        }
    }

    pub(super) fn template(&mut self, tree: &Tree, what: &str) -> Option<ReplyTemplate> {
        let text = self.text(tree, what)?;
        match ReplyTemplate::parse(text) {
            Ok(template) => Some(template),
            Err(why) => self.wrong(tree.span, format!("{what}: {why}")),
        }
    }

    pub(super) fn number(&mut self, tree: &Tree, what: &str) -> Option<u64> {
        let number = match &tree.value {
            Value::Number(number) => number.as_u64(),
            Value::Null | Value::Bool(_) | Value::String(_) | Value::List(_) | Value::Map(_) => {
                None
            }
        };
        match number {
            Some(number) => Some(number),
            None => self.wrong(tree.span, format!("{what} must be a whole number from 0")),
        }
    }

    /// Reads a number of repetitions.
    pub(super) fn times(&mut self, tree: &Tree, what: &str) -> Option<u64> {
        const MOST: u64 = 10_000;
        match self.number(tree, what)? {
            number @ 1..=MOST => Some(number),
            _ => self.wrong(tree.span, format!("{what} must be from 1 to {MOST}")),
        }
    }

    /// Reads one of a few words.
    pub(super) fn word<T: Copy>(
        &mut self,
        tree: &Tree,
        what: &str,
        words: &[(&str, T)],
    ) -> Option<T> {
        let text = self.text(tree, what)?;
        match words.iter().find(|(word, _)| *word == text) {
            Some((_, value)) => Some(*value),
            None => {
                let known: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
                self.wrong(tree.span, format!("{what} must be one of {}", ticked(known)))
            }
        }
    }
}
