//! JSON as servers write it, with escapes that are half a character, and with a budget of values.

use std::fmt;

use crewagent_format::syntax::json::ValueCounter;
use serde::de::{Deserialize, Deserializer, Error as _, IgnoredAny, MapAccess, Visitor};
use serde_json::{Map, Value as Json};

/// Fields that every piece of a stream repeats and that are not used.
const REPEATED: &[&str] = &["id", "created", "model", "system_fingerprint", "service_tier"];

/// Parses a piece of a stream, like [`parse`], without the repeated fields.
pub(super) fn parse_piece(text: &str) -> serde_json::Result<Json> {
    check_values(text)?;
    match serde_json::from_str(text) {
        Ok(Slim(object)) => Ok(Json::Object(object)),
        Err(_) => parse(text),
    }
}

/// Object without the repeated fields.
struct Slim(Map<String, Json>);

impl<'de> Deserialize<'de> for Slim {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct FieldsVisitor;

        impl<'de> Visitor<'de> for FieldsVisitor {
            type Value = Slim;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut fields: A) -> Result<Slim, A::Error> {
                let mut object = Map::new();
                // A name with escapes cannot be borrowed, so it is an error here, and `parse` handles it.
                while let Some(name) = fields.next_key::<&str>()? {
                    if REPEATED.contains(&name) {
                        fields.next_value::<IgnoredAny>()?;
                    } else {
                        object.insert(name.to_owned(), fields.next_value()?);
                    }
                }
                Ok(Slim(object))
            }
        }

        deserializer.deserialize_map(FieldsVisitor)
    }
}

/// Parses JSON. An escaped surrogate without its other half, which no Rust text can hold, becomes U+FFFD.
pub(super) fn parse(text: &str) -> serde_json::Result<Json> {
    check_values(text)?;
    match serde_json::from_str(text) {
        Err(error) if !error.is_eof() && text.contains("\\u") => match whole_characters(text) {
            Some(text) => serde_json::from_str(&text),
            None => Err(error),
        },
        read => read,
    }
}

/// Refuses a text with more values than a document may have.
fn check_values(text: &str) -> serde_json::Result<()> {
    if ValueCounter::is_too_much(text) {
        return Err(serde_json::Error::custom("too many values"));
    }
    Ok(())
}

/// Returns true if a text was refused because it has too many values. A text that is no JSON has an error of its syntax.
pub(super) fn has_too_much(error: &serde_json::Error) -> bool {
    error.is_data()
}

/// Returns the text with lone surrogates replaced, if there are any.
pub(super) fn whole_characters(text: &str) -> Option<String> {
    let mut out = String::new();
    let mut copied = 0;
    let mut at = 0;
    let bytes = text.as_bytes();
    while let Some(offset) =
        bytes.get(at..).unwrap_or_default().iter().position(|byte| *byte == b'\\')
    {
        at += offset;
        let Some(unit) = escaped(bytes, at) else {
            // Another escape: the character after the backslash belongs to it.
            at += 2;
            continue;
        };
        let next = escaped(bytes, at + 6);
        match (unit, next) {
            (0xD800..=0xDBFF, Some(0xDC00..=0xDFFF)) => at += 12,
            (0xD800..=0xDFFF, _) => {
                out.push_str(&text[copied..at]);
                out.push_str("\\ufffd");
                at += 6;
                copied = at;
            }
            _ => at += 6,
        }
    }
    if copied == 0 {
        return None;
    }
    out.push_str(&text[copied..]);
    Some(out)
}

/// Returns the code unit of an escape `\uXXXX` at this offset.
fn escaped(bytes: &[u8], at: usize) -> Option<u32> {
    let escape = bytes.get(at..at + 6)?;
    let digits = escape.strip_prefix(b"\\u")?;
    digits.iter().try_fold(0, |unit, byte| Some(unit * 16 + char::from(*byte).to_digit(16)?))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check_text(json: &str, expected: &str) {
        assert_eq!(parse(json).unwrap(), Json::from(expected), "{json}");
    }

    #[test]
    fn half_characters_are_replaced_and_whole_ones_stay() {
        check_text(r#""a\ud83d\ude00b""#, "a😀b");
        check_text(r#""a\ud83db""#, "a\u{fffd}b");
        check_text(r#""\ud83d""#, "\u{fffd}");
        check_text(r#""\ude00\ud83d""#, "\u{fffd}\u{fffd}");
        check_text(r#""\ud83d\ud83d\ude00""#, "\u{fffd}😀");
        check_text(r#""\ud83d\n\ude00é""#, "\u{fffd}\n\u{fffd}é");
        check_text(r#""\\ud83d\ud83d""#, "\\ud83d\u{fffd}");
        check_text(r#""\uD83D\u0041""#, "\u{fffd}A");
    }

    #[test]
    fn a_piece_is_read_without_what_is_repeated() {
        let read = |text: &str| parse_piece(text).unwrap();
        let piece =
            r#"{"id":"a","created":1,"model":{"x":[]},"choices":[{"id":"b"}],"object":"c"}"#;
        assert_eq!(read(piece), json!({"choices": [{"id": "b"}], "object": "c"}));
        assert_eq!(read(r#"{"\u0069d":"a","b":"\ud83d"}"#), json!({"id": "a", "b": "\u{fffd}"}));
        assert_eq!(read("[1]"), json!([1]));
        assert!(parse_piece(r#"{"id":"a"#).unwrap_err().is_eof());
    }

    #[test]
    fn a_text_has_a_budget_of_values() {
        let list = |values: usize| format!("[{}1]", "1,".repeat(values - 2));
        for read in [parse, parse_piece] {
            assert!(read(&list(500_000)).is_ok());
            assert!(has_too_much(&read(&list(500_001)).unwrap_err()));
        }
        assert!(!has_too_much(&parse("[1,").unwrap_err()));
        assert!(!has_too_much(&parse("[1,]").unwrap_err()));
    }

    #[test]
    fn what_is_not_json_stays_an_error() {
        for text in [
            "",
            "{",
            r#""\u12"#,
            r#""\ud83d"#,
            r#""\uZZZZ""#,
            r#"{"a":"\ud83d",}"#,
            "\\",
            "\\u",
            r"\ud83d",
        ] {
            assert!(parse(text).is_err(), "{text}");
        }
        for cut in
            [r#"{"a":"\ud83d","#, r#""\ud83d"#, r#""\ud83d\"#, r#""\ud83da\"#, r#""\ud83d\ude"#]
        {
            assert!(parse(cut).unwrap_err().is_eof(), "{cut}");
        }
    }
}
