//! Reads JSON into a [`Tree`]. `serde_json` parses; its raw values tell the position of each part.

mod count;
mod words;

use std::fmt;

use serde::Deserializer as _;
use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

pub use self::count::ValueCounter;
use super::{Entry, Keys, SyntaxError, Tree, Value};
use crate::code::Code;
use crate::text::Span;

/// Maximum nesting of objects and lists.
pub const MAX_DEPTH: usize = 64;

/// Maximum values of a document: twenty times the graph of a workflow with a thousand nodes.
pub const MAX_VALUES: usize = 500_000;

/// Parses a whole JSON text. A byte order mark is skipped. Every duplicate key is reported, not only the first.
pub fn parse(text: &str) -> Result<Tree, Vec<SyntaxError>> {
    let body = text.strip_prefix('\u{feff}').unwrap_or(text);
    let raw: &RawValue =
        serde_json::from_str(body).map_err(|error| vec![syntax_error(text, body, &error)])?;
    let mut reader = JsonReader { text, values: 0, duplicates: Vec::new() };
    let tree = reader.tree(raw, 0).map_err(|error| vec![error])?;
    if reader.duplicates.is_empty() { Ok(tree) } else { Err(reader.duplicates) }
}

struct JsonReader<'t> {
    text: &'t str,
    values: usize,
    duplicates: Vec<SyntaxError>,
}

impl<'t> JsonReader<'t> {
    fn span(&self, raw: &'t RawValue) -> Span {
        // A raw value borrows from the text, so the distance of the two addresses is its offset.
        let start = raw.get().as_ptr().addr().saturating_sub(self.text.as_ptr().addr());
        Span::new(start, start + raw.get().len())
    }

    fn tree(&mut self, raw: &'t RawValue, depth: usize) -> Result<Tree, SyntaxError> {
        let span = self.span(raw);
        if depth > MAX_DEPTH {
            return Err(SyntaxError {
                code: Code::TooDeep,
                span: span.head(self.text),
                message: format!("this JSON is nested more than {MAX_DEPTH} levels deep"),
                help: Some("no part of a package needs such depth; flatten the value".into()),
            });
        }
        self.values += 1;
        let value = match raw.get().as_bytes().first() {
            Some(b'{') => self.map(raw, depth)?,
            Some(b'[') => {
                let items = serde_json::Deserializer::from_str(raw.get())
                    .deserialize_seq(Items { room: self.room() })
                    .map_err(|error| broken(span, &error))?;
                self.check_room(items.len(), span)?;
                Value::List(
                    items
                        .into_iter()
                        .map(|item| self.tree(item, depth + 1))
                        .collect::<Result<_, _>>()?,
                )
            }
            Some(b'"') => Value::String(read(raw, span)?),
            Some(b'n') => Value::Null,
            Some(b't' | b'f') => Value::Bool(read(raw, span)?),
            _ => Value::Number(read(raw, span)?),
        };
        Ok(Tree { span, value })
    }

    fn map(&mut self, raw: &'t RawValue, depth: usize) -> Result<Value, SyntaxError> {
        let pairs = serde_json::Deserializer::from_str(raw.get())
            .deserialize_map(ObjectPairs { room: self.room() })
            .map_err(|error| broken(self.span(raw), &error))?;
        self.check_room(pairs.len(), self.span(raw))?;
        let mut entries: Vec<Entry> = Vec::with_capacity(pairs.len());
        let mut keys = Keys::default();
        for (key, value) in pairs {
            let key_span = self.span(key);
            let key: String = read(key, key_span)?;
            let tree = self.tree(value, depth + 1)?;
            if keys.is_new(&key, &entries) {
                entries.push(Entry { key, key_span, tree });
            } else {
                self.duplicates.push(duplicate_key(&key, key_span));
            }
        }
        Ok(Value::Map(entries))
    }
}

impl JsonReader<'_> {
    /// Returns the number of values left in the budget.
    fn room(&self) -> usize {
        MAX_VALUES.saturating_sub(self.values)
    }

    fn check_room(&self, wanted: usize, span: Span) -> Result<(), SyntaxError> {
        if wanted <= self.room() {
            return Ok(());
        }
        Err(SyntaxError {
            code: Code::DocumentTooLarge,
            span: span.head(self.text),
            message: format!("this document has more than {MAX_VALUES} values"),
            help: Some("keep bulk data in a file under `assets/`, which steps can read".into()),
        })
    }
}

/// Collects the keys and values of one object without looking inside the values, at most one more than the budget.
struct ObjectPairs {
    room: usize,
}

impl<'de> Visitor<'de> for ObjectPairs {
    type Value = Vec<(&'de RawValue, &'de RawValue)>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut pairs = Vec::new();
        while pairs.len() <= self.room
            && let Some(pair) = map.next_entry()?
        {
            pairs.push(pair);
        }
        while map.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(pairs)
    }
}

/// Collects the items of one list in the same way.
struct Items {
    room: usize,
}

impl<'de> Visitor<'de> for Items {
    type Value = Vec<&'de RawValue>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a list")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while items.len() <= self.room
            && let Some(item) = list.next_element()?
        {
            items.push(item);
        }
        while list.next_element::<IgnoredAny>()?.is_some() {}
        Ok(items)
    }
}

fn read<'t, T: serde::Deserialize<'t>>(raw: &'t RawValue, span: Span) -> Result<T, SyntaxError> {
    serde_json::from_str(raw.get()).map_err(|error| broken(span, &error))
}

fn broken(span: Span, error: &serde_json::Error) -> SyntaxError {
    let (message, help) = words::explain(&bare(error));
    SyntaxError { code: Code::JsonSyntax, span, message, help: Some(help) }
}

pub(super) fn duplicate_key(key: &str, span: Span) -> SyntaxError {
    SyntaxError {
        code: Code::DuplicateKey,
        span,
        message: format!("the key `{key}` appears twice in this object"),
        help: Some("keep one of the two; which one a reader would take is not defined".into()),
    }
}

/// Returns the library's message without its position, which we print ourselves.
fn bare(error: &serde_json::Error) -> String {
    let text = error.to_string();
    let place = format!(" at line {} column {}", error.line(), error.column());
    text.strip_suffix(&place).unwrap_or(&text).to_owned()
}

fn syntax_error(text: &str, body: &str, error: &serde_json::Error) -> SyntaxError {
    let skipped = text.len() - body.len();
    let line_start: usize =
        body.split_inclusive('\n').take(error.line().saturating_sub(1)).map(str::len).sum();
    let mut start = (line_start + error.column().saturating_sub(1)).min(body.len());
    if error.is_eof() {
        // Point to the last written character.
        start = body.trim_end().len().saturating_sub(1);
    }
    while !body.is_char_boundary(start) {
        start -= 1;
    }
    let (message, help) = words::explain_at(&bare(error), body, start);
    start = words::comma_too_much(body, start).unwrap_or(start);
    let end = body
        .get(start..)
        .and_then(|rest| rest.chars().next())
        .map_or(start, |next| start + next.len_utf8());
    SyntaxError {
        code: Code::JsonSyntax,
        span: Span::new(start, end).shifted(skipped),
        message,
        help: Some(help),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spanned(text: &str, path: &[&str]) -> String {
        let tree = parse(text).unwrap();
        let mut at = &tree;
        for part in path {
            at = match part.parse::<usize>() {
                Ok(index) => at.item(index).unwrap(),
                Err(_) => &at.get(part).unwrap().tree,
            };
        }
        text[at.span.start..at.span.end].to_owned()
    }

    fn check_error(text: &str, code: Code, at: &str, message: &str) {
        let errors = parse(text).unwrap_err();
        let error = &errors[0];
        assert_eq!(error.code, code, "{error:?}");
        assert_eq!(text.get(error.span.start..error.span.end), Some(at), "{error:?}");
        let all = format!("{} {}", error.message, error.help.as_deref().unwrap_or_default());
        assert!(all.contains(message), "{all:?} does not say {message:?}");
    }

    #[test]
    fn every_value_knows_its_bytes() {
        let text = "\u{feff}{\"a\" : [1, {\"b\\n\": \"中\"}, null] , \"c\":true}";
        assert_eq!(spanned(text, &["a", "0"]), "1");
        assert_eq!(spanned(text, &["a", "1", "b\n"]), "\"中\"");
        assert_eq!(spanned(text, &["a", "2"]), "null");
        assert_eq!(spanned(text, &["c"]), "true");
        let tree = parse(text).unwrap();
        let key = tree.get("c").unwrap().key_span;
        assert_eq!(&text[key.start..key.end], "\"c\"");
    }

    #[test]
    fn mistakes_are_explained_where_they_are() {
        check_error("", Code::JsonSyntax, "", "empty");
        check_error("{\"a\": 1,}", Code::JsonSyntax, ",", "comma after the last");
        check_error("[1,\n  ]", Code::JsonSyntax, ",", "comma after the last");
        check_error("{\n  // note\n}", Code::JsonSyntax, "/", "no comments");
        check_error("{'a': 1}", Code::JsonSyntax, "'", "double quotes");
        check_error("{\"a\": 1 \"b\": 2}", Code::JsonSyntax, "\"", "comma or `}`");
        check_error("{\"a\": \"b\" \"c\": 2}", Code::JsonSyntax, "\"", "comma is missing");
        check_error("{\"中\": \"文", Code::JsonSyntax, "文", "ends inside a string");
        check_error("{} x", Code::JsonSyntax, "x", "follows the end");
        check_error("{\"a\": [1, 2\n", Code::JsonSyntax, "2", "not closed");
        check_error("{\"a\": tru}", Code::JsonSyntax, "}", "not a value");
        check_error("{a: 1}", Code::JsonSyntax, "a", "double quotes");
        check_error("{\"a\": \"\\ud800\"}", Code::JsonSyntax, "\"\\ud800\"", "character");
    }

    #[test]
    fn all_duplicate_keys_are_reported() {
        let errors = parse(r#"{"a":1,"a":2,"b":{"c":1,"c":2}}"#).unwrap_err();
        assert_eq!(
            errors.iter().map(|error| error.code).collect::<Vec<_>>(),
            [Code::DuplicateKey, Code::DuplicateKey]
        );
    }

    #[test]
    fn the_number_of_values_is_bounded_before_the_memory_is() {
        for text in [
            format!("[{}0]", "0,".repeat(MAX_VALUES)),
            format!("{{\"x\":[{}0]}}", "[0],".repeat(MAX_VALUES / 2)),
        ] {
            assert_eq!(parse(&text).unwrap_err()[0].code, Code::DocumentTooLarge);
        }
        assert!(parse(&format!("[{}0]", "0,".repeat(1000))).is_ok());
    }

    #[test]
    fn depth_is_bounded_before_the_stack_is() {
        let deep = "[".repeat(100_000) + &"]".repeat(100_000);
        assert_eq!(parse(&deep).unwrap_err()[0].code, Code::TooDeep);
        let fine = "[".repeat(MAX_DEPTH) + &"]".repeat(MAX_DEPTH);
        assert!(parse(&fine).is_ok());
    }
}
