//! Markdown with YAML frontmatter: splits it, reads it with positions, and edits it without touching any other byte.

mod edit;
mod splice;

use std::sync::Arc;

pub use edit::{Edit, EditError};

use crate::code::Code;
use crate::syntax::{Entry, SyntaxError, Tree, Value, yaml};
use crate::text::Span;

/// Maximum size of frontmatter; larger ones are refused before parsing.
pub const MAX_BYTES: usize = 256 * 1024;

/// Markdown document with parsed frontmatter. It keeps the author's bytes unchanged.
#[derive(Clone, Debug)]
pub struct Frontmatter {
    text: Arc<str>,
    yaml: Span,
    body: Span,
    tree: Tree,
}

impl Frontmatter {
    /// Splits and parses a document.
    pub fn parse(text: impl Into<Arc<str>>) -> Result<Self, Vec<SyntaxError>> {
        let text = text.into();
        let (yaml, body) = split(&text).map_err(|error| vec![error])?;
        let inside = text.get(yaml.start..yaml.end).unwrap_or_default();
        if inside.len() > MAX_BYTES {
            return Err(vec![SyntaxError {
                code: Code::YamlLimit,
                span: Span::new(yaml.start, yaml.start),
                message: format!(
                    "this frontmatter has {} bytes; the limit is {MAX_BYTES}",
                    inside.len()
                ),
                help: Some("move long text into the body, below the closing `---`".into()),
            }]);
        }
        let mut tree = yaml::parse(inside).map_err(|errors| moved(errors, yaml.start))?;
        shift(&mut tree, yaml.start);
        if tree.as_map().is_none() {
            return Err(vec![SyntaxError {
                code: Code::FrontmatterNotMap,
                span: tree.span.head(&text),
                message: format!(
                    "frontmatter must be a map of keys and values, but this is {}",
                    tree.kind()
                ),
                help: Some("write lines of the form `key: value`".into()),
            }]);
        }
        Ok(Self { text, yaml, body, tree })
    }

    /// Returns the whole document.
    pub fn text(&self) -> &Arc<str> {
        &self.text
    }

    /// Returns the text below the closing `---`.
    pub fn body(&self) -> &str {
        self.text.get(self.body.start..self.body.end).unwrap_or_default()
    }

    /// Returns the span of the body in the document.
    pub fn body_span(&self) -> Span {
        self.body
    }

    /// Returns the frontmatter as a tree with positions in the whole document. It is always a map.
    pub fn tree(&self) -> &Tree {
        &self.tree
    }

    /// Converts the document into the tree of its frontmatter.
    pub fn into_tree(self) -> Tree {
        self.tree
    }

    /// Returns the entries of the frontmatter.
    pub fn entries(&self) -> &[Entry] {
        self.tree.as_map().unwrap_or_default()
    }

    /// Returns true if both hold the same values, in any order and layout.
    pub fn says_the_same(&self, other: &Self) -> bool {
        is_same(&self.tree, &other.tree)
    }

    fn inside(&self) -> &str {
        self.text.get(self.yaml.start..self.yaml.end).unwrap_or_default()
    }
}

fn is_same(one: &Tree, other: &Tree) -> bool {
    match (&one.value, &other.value) {
        (Value::List(one), Value::List(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Map(one), Value::Map(entries)) => {
            // Most keys have the same index in both, so look there first.
            let twin = |at: usize, key: &str| {
                entries.get(at).filter(|entry| entry.key == key).or_else(|| other.get(key))
            };
            one.len() == entries.len()
                && one.iter().enumerate().all(|(at, entry)| {
                    twin(at, &entry.key).is_some_and(|twin| is_same(&entry.tree, &twin.tree))
                })
        }
        (one, other) => one == other,
    }
}

/// Finds the YAML between the fences and the body after them.
fn split(text: &str) -> Result<(Span, Span), SyntaxError> {
    let start = if text.starts_with('\u{feff}') { '\u{feff}'.len_utf8() } else { 0 };
    let rest = text.get(start..).unwrap_or_default();
    let opening = rest.split_inclusive('\n').next().unwrap_or_default();
    if !is_fence(opening) {
        return Err(no_frontmatter(rest, start));
    }
    let yaml_start = start + opening.len();
    let mut at = yaml_start;
    for line in text.get(yaml_start..).unwrap_or_default().split_inclusive('\n') {
        if is_fence(line) {
            return Ok((Span::new(yaml_start, at), Span::new(at + line.len(), text.len())));
        }
        at += line.len();
    }
    Err(SyntaxError {
        code: Code::UnclosedFrontmatter,
        span: Span::new(start, start + opening.trim_end().len()),
        message: "this frontmatter is opened here but never closed".into(),
        help: Some("put a line with only `---` between the frontmatter and the text".into()),
    })
}

fn is_fence(line: &str) -> bool {
    line.strip_prefix("---")
        .is_some_and(|blanks| blanks.chars().all(|c| matches!(c, ' ' | '\t' | '\r' | '\n')))
}

fn no_frontmatter(rest: &str, start: usize) -> SyntaxError {
    let later = rest.split_inclusive('\n').take(50).any(is_fence);
    let (message, help) = if rest.trim().is_empty() {
        (
            "the file is empty; it needs frontmatter",
            "begin the file with `---`, the keys, and a closing `---`",
        )
    } else if later {
        ("something stands before the frontmatter", "move the opening `---` to the very first line")
    } else {
        (
            "the file does not begin with frontmatter",
            "begin the file with `---`, the keys, and a closing `---`",
        )
    };
    let line = rest.lines().next().unwrap_or_default();
    SyntaxError {
        code: Code::NoFrontmatter,
        span: Span::new(start, start + line.len()),
        message: message.into(),
        help: Some(help.into()),
    }
}

fn moved(mut errors: Vec<SyntaxError>, offset: usize) -> Vec<SyntaxError> {
    for error in &mut errors {
        error.span = error.span.shifted(offset);
    }
    errors
}

fn shift(tree: &mut Tree, offset: usize) {
    tree.span = tree.span.shifted(offset);
    match &mut tree.value {
        Value::List(items) => items.iter_mut().for_each(|item| shift(item, offset)),
        Value::Map(entries) => {
            for entry in entries {
                entry.key_span = entry.key_span.shifted(offset);
                shift(&mut entry.tree, offset);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_error(text: &str, code: Code, line: &str) {
        let error = Frontmatter::parse(text).unwrap_err().remove(0);
        assert_eq!(error.code, code, "{error:?}");
        let rest = &text[error.span.start..];
        assert!(rest.starts_with(line), "{error:?} points at {rest:?}");
    }

    #[test]
    fn fences_may_have_blanks_a_bom_and_either_line_ending() {
        for text in [
            "---\na: 1\n---\nbody",
            "\u{feff}--- \r\na: 1\r\n---\t\r\nbody",
            "---\na: 1\n---  \nbody",
        ] {
            let document = Frontmatter::parse(text).unwrap();
            assert_eq!(document.body(), "body");
            assert_eq!(document.entries().len(), 1);
        }
        assert_eq!(Frontmatter::parse("---\n---").unwrap().body(), "");
        assert!(Frontmatter::parse("---\n# only a comment\n---\n").unwrap().entries().is_empty());
    }

    #[test]
    fn places_are_those_of_the_whole_file() {
        let text = "---\n# note\nfirst: é\nsecond: [x, \"y z\"]\n---\n";
        let document = Frontmatter::parse(text).unwrap();
        let second = document.tree().get("second").unwrap();
        assert_eq!(&text[second.key_span.start..second.key_span.end], "second");
        let item = second.tree.item(1).unwrap().span;
        assert_eq!(&text[item.start..item.end], "\"y z\"");
    }

    fn check_same(one: &str, other: &str, expected: bool) {
        let [one, other] =
            [one, other].map(|text| Frontmatter::parse(format!("---\n{text}\n---\n")).unwrap());
        assert_eq!(one.says_the_same(&other), expected, "{} {}", one.text(), other.text());
        assert_eq!(other.says_the_same(&one), expected, "{} {}", other.text(), one.text());
        assert_eq!(one.tree().to_json() == other.tree().to_json(), expected);
    }

    #[test]
    fn what_is_said_does_not_depend_on_its_place() {
        check_same("a: 1\nb: [x, {c: d}]", "# note\nb:\n- x\n- c: 'd'\na: 1", true);
        check_same("a: 1\nb: 2", "a: 1", false);
        check_same("a: 1\nb: 2", "a: 1\nc: 2", false);
        check_same("a: [1, 2]", "a: [2, 1]", false);
        check_same("a: [1, 2]", "a: [1]", false);
        check_same("a: 1", "a: '1'", false);
        check_same("a: {b: 1, c: 2}", "a: {c: 2, b: 1}", true);
        check_same("a: {b: 1, c: 2}", "a: {c: 1, b: 2}", false);
    }

    #[test]
    fn broken_frontmatter_is_named_and_placed() {
        check_error("", Code::NoFrontmatter, "");
        check_error("# Title\n", Code::NoFrontmatter, "# Title");
        check_error("\n---\na: 1\n---\n", Code::NoFrontmatter, "\n");
        check_error("---\na: 1\n", Code::UnclosedFrontmatter, "---");
        check_error("---\n- a\n---\n", Code::FrontmatterNotMap, "- a");
        check_error("---\njust text\n---\n", Code::FrontmatterNotMap, "just text");
        check_error("---\na: [1\n---\n", Code::YamlSyntax, "");
        check_error("---\nx: 0\na: 1\na: 2\n---\n", Code::DuplicateKey, "a: 2");
        check_error("---\na: b: c\n---\n", Code::YamlSyntax, "");
        check_error("---\na: *nowhere\n---\n", Code::YamlSyntax, "");
    }

    #[test]
    fn bombs_are_refused_quickly() {
        let laughs =
            (1..10).fold("a0: &a0 [x, x, x, x, x, x, x, x, x]\n".to_owned(), |text, level| {
                let list = vec![format!("*a{}", level - 1); 9].join(", ");
                format!("{text}a{level}: &a{level} [{list}]\n")
            });
        check_error(&format!("---\n{laughs}---\n"), Code::YamlLimit, "");
        check_error(&format!("---\na: {}\n---\n", "[".repeat(20_000)), Code::TooDeep, "");
        let block =
            (0..3000).fold(String::new(), |text, depth| format!("{text}{}k:\n", " ".repeat(depth)));
        check_error(&format!("---\n{}\n---\n", &block[..200_000]), Code::TooDeep, "");
        let large = format!("---\na: {}\n---\n", "x".repeat(MAX_BYTES));
        check_error(&large, Code::YamlLimit, "");
    }

    #[test]
    fn words_are_not_booleans_and_dates_stay_text() {
        let document =
            Frontmatter::parse("---\na: no\nb: yes\nc: 2026-01-02\nd: true\ne: 1.1\nf:\n---\n")
                .unwrap();
        let json = document.tree().to_json();
        assert_eq!(
            json,
            serde_json::json!({"a": "no", "b": "yes", "c": "2026-01-02", "d": true, "e": 1.1, "f": null})
        );
    }
}
