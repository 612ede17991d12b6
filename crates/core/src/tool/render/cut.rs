//! Answers that were shortened because they do not fit the context: the beginning of their JSON.

use super::{Fields, rendered};

/// Returns the beginning of a shortened answer in the form of its tool, and the note about the cut.
pub(super) fn render(tool: &str, arguments: &str, answer: Fields<'_>) -> Option<String> {
    let note = answer.text("note")?;
    let Some(head) = answer.text("head").filter(|head| !head.is_empty()) else {
        return Some(note.to_owned());
    };
    let whole = closed(head).and_then(|json| rendered(tool, arguments, &json));
    Some(format!("{}\n{note}", whole.as_deref().unwrap_or(head)))
}

/// Completes the beginning of a JSON text. The last text stays as far as it goes, other values that are cut go.
fn closed(head: &str) -> Option<String> {
    let mut open = OpenJson::default();
    for (at, byte) in head.bytes().enumerate() {
        if open.string.is_some() {
            open.read_string(at, byte);
        } else {
            open.read(at, byte)?;
        }
    }
    let (end, quote) = match open.string {
        Some(StringRole::Value) => (open.escape.unwrap_or(head.len()), "\""),
        Some(StringRole::Key) | None => (open.complete, ""),
    };
    let mut json = head.get(..end)?.to_owned();
    json.push_str(quote);
    json.extend(open.closers.iter().rev());
    Some(json)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum StringRole {
    Key,
    Value,
}

/// Position in a JSON text.
#[derive(Default)]
struct OpenJson {
    /// Marks that close the open lists and objects.
    closers: Vec<char>,
    /// String that is open.
    string: Option<StringRole>,
    /// Offset of an escape that is not complete, and the bytes that it still lacks.
    escape: Option<usize>,
    missing: usize,
    /// True if the next string is a key.
    is_key: bool,
    /// Offset behind the last complete value or open mark.
    complete: usize,
}

impl OpenJson {
    fn read_string(&mut self, at: usize, byte: u8) {
        match (self.escape, byte) {
            (Some(start), b'u') if at == start + 1 => self.missing = 4,
            (Some(_), _) => {
                self.missing = self.missing.saturating_sub(1);
                if self.missing == 0 {
                    self.escape = None;
                }
            }
            (None, b'\\') => self.escape = Some(at),
            (None, b'"') => {
                if self.string.take() == Some(StringRole::Value) {
                    self.complete = at + 1;
                }
            }
            (None, _) => {}
        }
    }

    /// Reads a byte outside of strings; `None` if the text is no JSON.
    fn read(&mut self, at: usize, byte: u8) -> Option<()> {
        match byte {
            b'"' => {
                self.string = Some(if self.is_key { StringRole::Key } else { StringRole::Value });
                self.is_key = false;
            }
            b'{' | b'[' => {
                self.closers.push(if byte == b'{' { '}' } else { ']' });
                self.is_key = byte == b'{';
                self.complete = at + 1;
            }
            b'}' | b']' => {
                self.closers.pop()?;
                self.is_key = false;
                self.complete = at + 1;
            }
            b',' => {
                self.is_key = self.closers.last() == Some(&'}');
                self.complete = at;
            }
            _ => {}
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_closed(head: &str, expected: &str) {
        assert_eq!(closed(head).as_deref(), Some(expected), "{head}");
        assert!(serde_json::from_str::<serde_json::Value>(expected).is_ok());
    }

    #[test]
    fn the_beginning_of_an_object_becomes_an_object() {
        check_closed(r#"{"a":1,"b":[{"c":"x"#, r#"{"a":1,"b":[{"c":"x"}]}"#);
        check_closed(r#"{"a":1,"b":[{"c":"x"},{"d"#, r#"{"a":1,"b":[{"c":"x"},{}]}"#);
        check_closed(r#"{"a":1,"b""#, r#"{"a":1}"#);
        check_closed(r#"{"a":1,"b":"#, r#"{"a":1}"#);
        check_closed(r#"{"a":1,"b":tr"#, r#"{"a":1}"#);
        check_closed(r#"{"a":["x","y"#, r#"{"a":["x","y"]}"#);
        check_closed(r#"{"a":[1,2"#, r#"{"a":[1]}"#);
        check_closed("{", "{}");
        check_closed(r#"{"a":"#, "{}");
        check_closed(r#"{"a":"x"}"#, r#"{"a":"x"}"#);
    }

    #[test]
    fn an_escape_that_is_cut_goes() {
        check_closed(r#"{"a":"x\"#, r#"{"a":"x"}"#);
        check_closed(r#"{"a":"x\n"#, r#"{"a":"x\n"}"#);
        check_closed(r#"{"a":"x\\"#, r#"{"a":"x\\"}"#);
        check_closed(r#"{"a":"x\u00"#, r#"{"a":"x"}"#);
        check_closed(r#"{"a":"x\u001b"#, r#"{"a":"x\u001b"}"#);
        check_closed(r#"{"a":"x\u001"#, r#"{"a":"x"}"#);
        check_closed(r#"{"a":"\"b\":中"#, r#"{"a":"\"b\":中"}"#);
    }

    #[test]
    fn what_is_no_json_stays() {
        assert_eq!(closed("}"), None);
        assert_eq!(closed("]]"), None);
    }
}
