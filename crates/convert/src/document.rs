//! Markdown files of a source: frontmatter, however broken, and a body that stays as it is.

use std::sync::Arc;

use crewagent_format::code::Code;
use crewagent_format::frontmatter::Frontmatter;
use crewagent_format::syntax::Value;
use serde_json::Value as Json;

/// Most keys that are read from frontmatter.
const MAX_KEYS: usize = 1000;

/// A Markdown file that was read.
#[derive(Clone, Debug)]
pub(crate) struct SourceDocument {
    text: Arc<str>,
    /// Keys of the frontmatter in the order of the file.
    pub(crate) keys: Vec<DocumentKey>,
    /// Reason why the frontmatter is no YAML, and its line. The keys were then read line by line.
    pub(crate) unreadable: Option<(u32, String)>,
    body_start: usize,
    /// Line, counted from 1, at which the body begins.
    pub(crate) body_line: u32,
}

/// Key of frontmatter.
#[derive(Clone, Debug)]
pub(crate) struct DocumentKey {
    pub(crate) name: String,
    pub(crate) value: Json,
    /// Line of the key, counted from 1.
    pub(crate) line: u32,
}

impl DocumentKey {
    /// Returns the value as text, if it is a scalar.
    pub(crate) fn scalar(&self) -> Option<String> {
        match &self.value {
            Json::String(text) => Some(text.clone()),
            Json::Number(number) => Some(number.to_string()),
            Json::Bool(value) => Some(value.to_string()),
            Json::Null | Json::Array(_) | Json::Object(_) => None,
        }
    }
}

impl SourceDocument {
    /// Reads a text. Without frontmatter the whole text is the body.
    pub(crate) fn read(text: &Arc<str>) -> Self {
        match Frontmatter::parse(Arc::clone(text)) {
            Ok(front) => {
                let mut lines = LineCounter::default();
                let keys = front.entries().iter().map(|entry| DocumentKey {
                    name: entry.key.clone(),
                    value: if let Value::Null = entry.tree.value {
                        Json::Null
                    } else {
                        entry.tree.to_json()
                    },
                    line: lines.line_of(text, entry.key_span.start),
                });
                let keys = keys.collect();
                Self::with_body(text, keys, None, front.body_span().start)
            }
            Err(errors) => match fences(text) {
                None => Self::with_body(text, Vec::new(), None, 0),
                Some((start, end, body)) => {
                    let doubles = errors.iter().all(|error| error.code == Code::DuplicateKey);
                    let line = errors
                        .first()
                        .map_or(1, |error| LineCounter::default().line_of(text, error.span.start));
                    let reason = errors.into_iter().next().map(|error| error.message);
                    let keys = keys_by_line(text.get(start..end).unwrap_or_default());
                    // A key that stands twice does not make the rest unreadable.
                    let unreadable = (!doubles).then(|| (line, reason.unwrap_or_default()));
                    Self::with_body(text, keys, unreadable, body)
                }
            },
        }
    }

    fn with_body(
        text: &Arc<str>,
        keys: Vec<DocumentKey>,
        unreadable: Option<(u32, String)>,
        body_start: usize,
    ) -> Self {
        let body_line = LineCounter::default().line_of(text, body_start);
        Self { text: Arc::clone(text), keys, unreadable, body_start, body_line }
    }

    /// Returns the text below the frontmatter.
    pub(crate) fn body(&self) -> &str {
        self.text.get(self.body_start..).unwrap_or_default()
    }

    /// Returns a key of the frontmatter.
    pub(crate) fn get(&self, name: &str) -> Option<&DocumentKey> {
        self.keys.iter().find(|key| key.name == name)
    }

    /// Returns a value of the frontmatter as text, if it is a scalar that is not blank.
    pub(crate) fn scalar(&self, name: &str) -> Option<String> {
        self.get(name)?.scalar().filter(|text| !text.trim().is_empty())
    }
}

/// Counts lines while offsets ascend.
#[derive(Default)]
struct LineCounter {
    offset: usize,
    newlines: u32,
}

impl LineCounter {
    fn line_of(&mut self, text: &str, offset: usize) -> u32 {
        if offset < self.offset {
            *self = Self::default();
        }
        let between = text.as_bytes().get(self.offset..offset).unwrap_or_default();
        self.newlines += between.iter().filter(|byte| **byte == b'\n').count() as u32;
        self.offset = offset;
        self.newlines + 1
    }
}

/// Finds fenced frontmatter whatever is in it: start and end of its text, and start of the body.
fn fences(text: &str) -> Option<(usize, usize, usize)> {
    let mut at = 0;
    let mut start = None;
    for line in text.split_inclusive('\n') {
        let fence = line.trim_end() == "---";
        match start {
            None if fence => start = Some(at + line.len()),
            None => return None,
            Some(start) if fence => return Some((start, at, at + line.len())),
            Some(_) => {}
        }
        at += line.len();
    }
    None
}

/// Reads `key: value` lines that begin at the margin.
fn keys_by_line(front: &str) -> Vec<DocumentKey> {
    let mut keys: Vec<DocumentKey> = Vec::new();
    for (index, line) in front.lines().enumerate() {
        let Some((name, value)) = line.split_once(':') else { continue };
        let plain = !name.is_empty()
            && name.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '-' | '.'));
        if !plain || keys.len() >= MAX_KEYS || keys.iter().any(|key| key.name == name) {
            continue;
        }
        let value = unquoted(value.trim());
        let value = if value.is_empty() { Json::Null } else { Json::String(value.to_owned()) };
        keys.push(DocumentKey { name: name.to_owned(), value, line: index as u32 + 2 });
    }
    keys
}

/// Returns a value without the quotes around it.
fn unquoted(value: &str) -> &str {
    ['"', '\'']
        .into_iter()
        .find_map(|quote| value.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frontmatter_that_is_no_yaml_is_read_line_by_line() {
        let text: Arc<str> = "---\nname: 'a'\nbad: b: c\n  inner: x\n---\n\nBody\n".into();
        let document = SourceDocument::read(&text);
        assert_eq!(document.scalar("name").as_deref(), Some("a"));
        assert_eq!(document.scalar("bad").as_deref(), Some("b: c"));
        assert!(document.get("inner").is_none());
        assert_eq!(document.unreadable.as_ref().map(|(line, _)| *line), Some(3));
        assert_eq!((document.body(), document.body_line), ("\nBody\n", 6));
    }

    #[test]
    fn a_text_without_frontmatter_is_all_body() {
        for text in ["# Title\n", "", "---\nnever closed\n"] {
            let document = SourceDocument::read(&text.into());
            assert_eq!(document.body(), text);
            assert!(document.keys.is_empty() && document.unreadable.is_none());
        }
    }

    #[test]
    fn carriage_returns_do_not_disturb() {
        let document = SourceDocument::read(&"---\r\na: 1\r\nb: x\r\n---\r\nBody\r\n".into());
        assert_eq!(document.scalar("a").as_deref(), Some("1"));
        assert_eq!(document.get("b").map(|key| key.line), Some(3));
        assert_eq!((document.body(), document.body_line), ("Body\r\n", 5));
    }
}
