//! Texts in quotes: escapes, control characters, and quotes that do not end the text.

use super::fault::MissingEnd;
use super::{BLANKS, LenientReader, Repair, bare_key};

/// Place of a text, which decides what may follow it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TextRole {
    /// The text is the whole value.
    Whole,
    Key,
    /// Value of a key.
    Value,
    /// Item of a list.
    Item,
}

impl LenientReader<'_> {
    /// Reads a text that begins here with this quote. None if it never ends.
    pub(super) fn quoted(&mut self, quote: u8, role: TextRole) -> Option<String> {
        self.check_quote(quote);
        self.at += 1;
        let (mut text, mut has_inner_quote) = (String::new(), false);
        loop {
            let rest = self.rest();
            let is_special = |byte: &u8| *byte == quote || *byte == b'\\' || *byte < b' ';
            let Some(length) = rest.bytes().position(|byte| is_special(&byte)) else {
                // Behind an inner quote, a text that ends like an object is not cut.
                if !(has_inner_quote && rest.ends_with('}')) {
                    self.missing = Some(MissingEnd::Text);
                }
                self.is_lost = true;
                return None;
            };
            text.push_str(&rest[..length]);
            self.at += length;
            match rest.as_bytes()[length] {
                b'\\' => self.escape(quote, &mut text),
                byte if byte == quote => {
                    let at = self.at;
                    self.at += 1;
                    if self.is_end(role, has_inner_quote) {
                        return Some(text);
                    }
                    if !has_inner_quote {
                        self.fault(at, inner_quote(quote));
                        has_inner_quote = true;
                    }
                    text.push(char::from(quote));
                    if self.is_lost {
                        return None;
                    }
                }
                control => {
                    self.repair(Repair::ControlCharacter, self.at);
                    text.push(char::from(control));
                    self.at += 1;
                }
            }
        }
    }

    /// Accepts one kind of quote in the whole text.
    fn check_quote(&mut self, quote: u8) {
        let at = self.at;
        match self.quote {
            None => self.quote = Some(quote),
            Some(first) if first != quote => {
                let is_known = self.faults.iter().any(|fault| fault.what == MIXED);
                if !is_known {
                    self.fault(at, MIXED);
                }
            }
            Some(_) => {}
        }
        if quote == b'\'' {
            self.repair(Repair::SingleQuotes, at);
        }
    }

    /// Returns true if the quote before this offset ends its text: something follows that may follow it, or that
    /// belongs to the next value. Behind a quote that did not end it, a comma counts only before another part.
    fn is_end(&self, role: TextRole, has_inner_quote: bool) -> bool {
        let rest = self.rest();
        let next = rest.trim_start_matches(BLANKS);
        let Some(first) = next.chars().next() else { return true };
        let is_apart = next.len() < rest.len();
        match (role, first) {
            (TextRole::Whole | TextRole::Key, _) | (_, '}' | ']') => true,
            (_, ',') if has_inner_quote => {
                let next = next[1..].trim_start_matches(BLANKS);
                next.starts_with(['"', '\'', '{', '[', '}', ']']) || bare_key(next).is_some()
            }
            (_, ',') => true,
            // A comma is missing.
            (TextRole::Value, '"' | '\'') => begins_with_key(next, first),
            (TextRole::Value, _) => is_apart && bare_key(next).is_some(),
            (TextRole::Item, '"' | '\'' | '{' | '[') => is_apart,
            (TextRole::Item, _) => false,
        }
    }

    /// Reads an escape. A backslash before anything that JSON does not escape stands for itself.
    fn escape(&mut self, quote: u8, text: &mut String) {
        let at = self.at;
        let known = match self.text.as_bytes()[..self.end].get(at + 1) {
            Some(b'"') => Some('"'),
            Some(b'\\') => Some('\\'),
            Some(b'/') => Some('/'),
            Some(b'b') => Some('\u{8}'),
            Some(b'f') => Some('\u{c}'),
            Some(b'n') => Some('\n'),
            Some(b'r') => Some('\r'),
            Some(b't') => Some('\t'),
            Some(b'\'') if quote == b'\'' => Some('\''),
            Some(b'u') => match self.code_unit(at) {
                Some(unit) => return self.unicode(unit, text),
                None => None,
            },
            _ => None,
        };
        match known {
            Some(known) => {
                text.push(known);
                self.at += 2;
            }
            None => {
                self.repair(Repair::UnknownEscape, at);
                text.push('\\');
                self.at += 1;
            }
        }
    }

    /// Reads `\uXXXX`, and its second half where it needs one.
    fn unicode(&mut self, unit: u16, text: &mut String) {
        let at = self.at;
        let pair = [unit, self.code_unit(at + 6).unwrap_or_default()];
        let decoded = char::decode_utf16(pair).next();
        match decoded {
            Some(Ok(decoded)) => {
                text.push(decoded);
                self.at += 6 * decoded.len_utf16();
            }
            Some(Err(_)) | None => {
                self.fault(at, "this escape does not make a character");
                self.at += 6;
            }
        }
    }

    /// Returns the number of the escape `\uXXXX` at an offset.
    fn code_unit(&self, at: usize) -> Option<u16> {
        let digits = self.text.as_bytes()[..self.end].get(at..at + 6)?.strip_prefix(b"\\u")?;
        let digits = std::str::from_utf8(digits).ok()?;
        let is_hex = digits.bytes().all(|byte| byte.is_ascii_hexdigit());
        is_hex.then(|| u16::from_str_radix(digits, 16).ok())?
    }
}

const MIXED: &str = "single and double quotes are mixed; write all texts in double quotes";

fn inner_quote(quote: u8) -> &'static str {
    match quote {
        b'"' => "a double quote stands inside a text; write \\\" for it",
        _ => {
            "a single quote stands inside a text in single quotes; write all texts in double quotes"
        }
    }
}

/// Returns true if a text begins with a key in quotes and its colon.
fn begins_with_key(text: &str, quote: char) -> bool {
    let inside = &text[quote.len_utf8()..];
    let Some((key, rest)) = inside.split_once(quote) else { return false };
    !key.contains(['\n', '\\']) && rest.trim_start_matches(BLANKS).starts_with(':')
}
