//! Arguments that are almost JSON: what has one meaning only is repaired, everything else is named.
//!
//! Only read when strict JSON fails. Nothing that is unclosed, no unescaped quote, no missing comma or colon, and no key
//! with two values is ever guessed. Reads the text once, without recursion.

mod fault;
mod quoted;
#[cfg(test)]
mod tests;

use crewagent_format::syntax::json::{MAX_DEPTH, MAX_VALUES};
use serde_json::{Map, Number, Value as Json};

pub use self::fault::BrokenJson;
use self::fault::{JsonFault, MissingEnd};
use self::quoted::TextRole;

/// Number of faults after which the rest of a text is not read.
const MOST_FAULTS: usize = 8;
/// Fence of a block of code.
const FENCE: &str = "```";
/// Characters that JSON allows between its parts.
const BLANKS: [char; 4] = [' ', '\t', '\n', '\r'];

/// Kind of repair.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Repair {
    ByteOrderMark,
    CodeFence,
    /// The object was the only value of `arguments` or `parameters`, or stood in a string.
    Wrapper,
    TrailingComma,
    ControlCharacter,
    SingleQuotes,
    /// `True`, `False` or `None`.
    PythonWord,
    BareKey,
    UnknownEscape,
    /// More marks at the end than there was to close.
    ClosingMark,
    /// A key that stood there twice with the same value.
    RepeatedKey,
}

impl Repair {
    /// Returns the name in events.
    pub fn name(self) -> &'static str {
        match self {
            Self::ByteOrderMark => "byte-order-mark",
            Self::CodeFence => "code-fence",
            Self::Wrapper => "wrapper",
            Self::TrailingComma => "trailing-comma",
            Self::ControlCharacter => "control-character",
            Self::SingleQuotes => "single-quotes",
            Self::PythonWord => "python-word",
            Self::BareKey => "bare-key",
            Self::UnknownEscape => "unknown-escape",
            Self::ClosingMark => "closing-mark",
            Self::RepeatedKey => "repeated-key",
        }
    }
}

/// Reads a text that is not strict JSON. Returns its value and the kinds of repairs, each once.
pub fn read(text: &str) -> Result<(Json, Vec<Repair>), BrokenJson> {
    let mut reader = LenientReader::new(text);
    let value = reader.document();
    match value {
        Some(value) if reader.faults.is_empty() && reader.missing.is_none() => {
            Ok((value, reader.repairs.into_iter().map(|(repair, _)| repair).collect()))
        }
        Some(_) | None => {
            Err(BrokenJson::new(text, reader.faults, &reader.repairs, reader.missing))
        }
    }
}

/// Part of the grammar that comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ExpectedPart {
    Value,
    /// The first part of an object or a list, or its end.
    First,
    /// The part after a comma; the end here makes it a trailing comma.
    Further,
    Comma,
    Colon,
    /// The value is complete.
    End,
}

/// Object or list that is open.
enum OpenPart {
    List(Vec<Json>),
    Object { entries: Map<String, Json>, key: Option<String>, key_at: usize },
}

impl OpenPart {
    /// Returns the mark that closes it.
    fn mark(&self) -> u8 {
        match self {
            Self::List(_) => b']',
            Self::Object { .. } => b'}',
        }
    }
}

struct LenientReader<'t> {
    text: &'t str,
    /// Current offset.
    at: usize,
    /// Offset at which the value must end.
    end: usize,
    next: ExpectedPart,
    parts: Vec<OpenPart>,
    whole: Option<Json>,
    values: usize,
    /// Kind of quote that texts stand in.
    quote: Option<u8>,
    /// Kinds of repairs, each with its first offset.
    repairs: Vec<(Repair, usize)>,
    faults: Vec<JsonFault>,
    missing: Option<MissingEnd>,
    /// True if the rest has no structure that could be followed.
    is_lost: bool,
}

impl<'t> LenientReader<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            end: text.len(),
            next: ExpectedPart::Value,
            parts: Vec::new(),
            whole: None,
            values: 0,
            quote: None,
            repairs: Vec::new(),
            faults: Vec::new(),
            missing: None,
            is_lost: false,
        }
    }

    fn repair(&mut self, repair: Repair, at: usize) {
        if self.repairs.iter().all(|(known, _)| *known != repair) {
            self.repairs.push((repair, at));
        }
    }

    fn fault(&mut self, at: usize, what: impl Into<String>) {
        self.faults.push(JsonFault { at, what: what.into() });
        self.is_lost |= self.faults.len() >= MOST_FAULTS;
    }

    /// Records a fault behind which nothing can be followed.
    fn lose(&mut self, at: usize, what: impl Into<String>) {
        self.fault(at, what);
        self.is_lost = true;
    }

    fn peek(&self) -> Option<u8> {
        self.text.as_bytes()[..self.end].get(self.at).copied()
    }

    fn rest(&self) -> &'t str {
        &self.text[self.at..self.end]
    }

    fn skip_blanks(&mut self) {
        self.at = self.end - self.rest().trim_start_matches(BLANKS).len();
    }

    /// Reads the whole text. The value has a meaning only if there is no fault.
    fn document(&mut self) -> Option<Json> {
        self.skip_wrapping();
        while !self.is_lost {
            self.skip_blanks();
            let Some(byte) = self.peek() else { break };
            match self.next {
                ExpectedPart::Value => self.value(byte),
                ExpectedPart::First | ExpectedPart::Further => self.part(byte),
                ExpectedPart::Comma => self.comma(byte),
                ExpectedPart::Colon => self.colon(byte),
                ExpectedPart::End => self.ending(),
            }
        }
        if !self.is_lost && self.next != ExpectedPart::End {
            match self.parts.is_empty() {
                true => self.fault(self.at, "there is no object"),
                false => self.missing = Some(self.marks()),
            }
        }
        self.whole.take()
    }

    /// Skips blanks, a byte order mark and a code fence around the value.
    fn skip_wrapping(&mut self) {
        self.end = self.text.trim_end_matches(BLANKS).len();
        self.skip_blanks();
        if self.rest().starts_with('\u{feff}') {
            self.repair(Repair::ByteOrderMark, self.at);
            self.at += '\u{feff}'.len_utf8();
            self.skip_blanks();
        }
        if !self.rest().starts_with(FENCE) {
            return;
        }
        let ticks = self.rest().len() - self.rest().trim_start_matches('`').len();
        let (start, fence) = (self.at, &self.rest()[..ticks]);
        self.at += ticks;
        // The language, such as `json`.
        let inside = self.rest().trim_start_matches(|c: char| c.is_ascii_alphanumeric());
        self.at = self.end - inside.len();
        match inside.strip_suffix(fence) {
            Some(inside) => {
                self.repair(Repair::CodeFence, start);
                self.end = self.at + inside.trim_end_matches(BLANKS).len();
            }
            None => self.fault(start, "a code fence is open; send the object without one"),
        }
    }

    /// Returns the closing marks that are missing at the end of the text.
    fn marks(&self) -> MissingEnd {
        let count = |mark| self.parts.iter().filter(|part| part.mark() == mark).count();
        MissingEnd::Marks { braces: count(b'}'), brackets: count(b']') }
    }

    /// Reads a value.
    fn value(&mut self, byte: u8) {
        let at = self.at;
        match byte {
            b'{' => self.open(OpenPart::Object { entries: Map::new(), key: None, key_at: at }),
            b'[' => self.open(OpenPart::List(Vec::new())),
            b'"' | b'\'' => {
                let role = match self.parts.last() {
                    None => TextRole::Whole,
                    Some(OpenPart::List(_)) => TextRole::Item,
                    Some(OpenPart::Object { .. }) => TextRole::Value,
                };
                if let Some(text) = self.quoted(byte, role) {
                    self.put(Json::String(text));
                }
            }
            _ if self.parts.is_empty() => {
                self.lose(at, "they must be one JSON object, and begin with `{`");
            }
            b',' | b'}' | b']' => {
                self.fault(at, "a value is missing here");
                self.put(Json::Null);
            }
            _ => self.word(),
        }
    }

    /// Reads a number or a word without quotes.
    fn word(&mut self) {
        let at = self.at;
        let is_end = |c: char| c.is_whitespace() || ",:{}[]\"'".contains(c);
        let length = self.rest().find(is_end).unwrap_or(self.rest().len());
        let word = &self.rest()[..length];
        self.at += length;
        let value = match word {
            "true" => Json::Bool(true),
            "false" => Json::Bool(false),
            "null" => Json::Null,
            "True" | "False" | "None" => {
                self.repair(Repair::PythonWord, at);
                if word == "None" { Json::Null } else { Json::Bool(word == "True") }
            }
            "" => return self.lose(at, "this cannot be read as JSON"),
            word => match serde_json::from_str::<Number>(word) {
                Ok(number) => Json::Number(number),
                Err(_) if word.starts_with(|c: char| c.is_ascii_digit() || "+-.".contains(c)) => {
                    self.fault(at, "this is not a number as JSON writes it");
                    Json::Null
                }
                Err(_) => {
                    self.fault(at, "this word is not a value; texts stand in double quotes");
                    Json::Null
                }
            },
        };
        self.put(value);
    }

    /// Reads the next key of an object or item of a list, or the end of either.
    fn part(&mut self, byte: u8) {
        let is_list = matches!(self.parts.last(), Some(OpenPart::List(_)));
        match byte {
            b'}' | b']' => self.close(byte),
            b',' => {
                self.fault(self.at, "there is a comma too many");
                self.at += 1;
            }
            _ if is_list => self.value(byte),
            _ => self.key(byte),
        }
    }

    fn key(&mut self, byte: u8) {
        let at = self.at;
        let name = if matches!(byte, b'"' | b'\'') {
            self.quoted(byte, TextRole::Key)
        } else {
            let key = bare_key(self.rest());
            if key.is_some() {
                self.repair(Repair::BareKey, at);
            } else {
                self.lose(at, "a key in double quotes is expected here");
            }
            self.at += key.map_or(0, str::len);
            key.map(str::to_owned)
        };
        if let (Some(name), Some(OpenPart::Object { key, key_at, .. })) =
            (name, self.parts.last_mut())
        {
            (*key, *key_at) = (Some(name), at);
            self.next = ExpectedPart::Colon;
        }
    }

    fn colon(&mut self, byte: u8) {
        if byte == b':' {
            self.at += 1;
        } else {
            self.fault(self.at, "a colon is missing after the key");
        }
        self.next = ExpectedPart::Value;
    }

    fn comma(&mut self, byte: u8) {
        match byte {
            b',' => {
                self.at += 1;
                self.next = ExpectedPart::Further;
            }
            b'}' | b']' => self.close(byte),
            _ => {
                self.fault(self.at, "a comma is missing here");
                self.next = ExpectedPart::First;
            }
        }
    }

    fn open(&mut self, part: OpenPart) {
        if self.parts.len() >= MAX_DEPTH {
            self.lose(self.at, format!("they are nested more than {MAX_DEPTH} levels deep"));
        }
        self.parts.push(part);
        self.next = ExpectedPart::First;
        self.at += 1;
    }

    fn close(&mut self, mark: u8) {
        let at = self.at;
        if !self.parts.iter().any(|part| part.mark() == mark) {
            self.at += 1;
            let mark = char::from(mark);
            return self.fault(at, format!("this `{mark}` closes nothing"));
        }
        if self.next == ExpectedPart::Further {
            self.repair(Repair::TrailingComma, at);
        }
        while let Some(part) = self.parts.pop() {
            let is_match = part.mark() == mark;
            if !is_match {
                let (missing, mark) = (char::from(part.mark()), char::from(mark));
                self.fault(at, format!("a `{missing}` is missing before this `{mark}`"));
            }
            self.put(match part {
                OpenPart::List(items) => Json::Array(items),
                OpenPart::Object { entries, .. } => Json::Object(entries),
            });
            if is_match {
                break;
            }
        }
        self.at += 1;
    }

    /// Puts a complete value to its place.
    fn put(&mut self, value: Json) {
        self.values += 1;
        if self.values > MAX_VALUES {
            self.lose(self.at, format!("they have more than {MAX_VALUES} values"));
        }
        self.next = ExpectedPart::Comma;
        match self.parts.last_mut() {
            None => {
                self.whole = Some(value);
                self.next = ExpectedPart::End;
            }
            Some(OpenPart::List(items)) => items.push(value),
            Some(OpenPart::Object { entries, key, key_at }) => {
                let (key, at) = (key.take().unwrap_or_default(), *key_at);
                match entries.get(&key) {
                    None => {
                        entries.insert(key, value);
                    }
                    Some(before) if *before == value => self.repair(Repair::RepeatedKey, at),
                    Some(_) => {
                        let key = crewagent_format::wording::cut(&key, 60);
                        self.fault(at, format!("the key `{key}` is there twice, with two values"));
                    }
                }
            }
        }
    }

    /// Reads what follows the whole value.
    fn ending(&mut self) {
        let at = self.at;
        let rest = self.rest();
        if !rest.chars().all(|c| BLANKS.contains(&c) || "}],".contains(c)) {
            return self.lose(at, "something follows the object; send exactly one");
        }
        if rest.contains(['}', ']']) {
            self.repair(Repair::ClosingMark, at);
        }
        if rest.contains(',') {
            self.repair(Repair::TrailingComma, at);
        }
        self.at = self.end;
    }
}

/// Returns the key without quotes that a text begins with, if a colon follows it.
fn bare_key(text: &str) -> Option<&str> {
    const LONGEST: usize = 128;
    let is_key = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '-' | '.');
    let head = &text[..text.floor_char_boundary(LONGEST)];
    let key = &head[..head.find(|c: char| !is_key(c)).unwrap_or(head.len())];
    let is_key = !key.is_empty() && text[key.len()..].trim_start_matches(BLANKS).starts_with(':');
    is_key.then_some(key)
}
