//! Faults of arguments, for the model that wrote them.

use crewagent_format::text::LineIndex;
use crewagent_format::wording::quoted;

use super::Repair;

/// Number of characters shown on each side of a fault.
const AROUND: usize = 20;

/// Mistake that cannot be repaired.
#[derive(Clone, Debug)]
pub(super) struct JsonFault {
    pub(super) at: usize,
    pub(super) what: String,
}

/// Something that is still open at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum MissingEnd {
    /// A text has no end.
    Text,
    Marks {
        braces: usize,
        brackets: usize,
    },
}

impl MissingEnd {
    /// Describes the missing part, such as `2 × "}" missing`.
    fn describe(self) -> String {
        let Self::Marks { braces, brackets } = self else { return "a string is open".to_owned() };
        let count = |count: usize, mark: &str| (count > 0).then(|| format!("{count} × \"{mark}\""));
        let marks: Vec<String> =
            [count(brackets, "]"), count(braces, "}")].into_iter().flatten().collect();
        format!("{} missing", marks.join(", "))
    }
}

/// Text that cannot be read, with all its faults.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BrokenJson {
    /// Faults with their positions, as parts of a sentence.
    pub faults: Vec<String>,
    /// Part that is missing at the end, in words.
    pub unclosed: Option<String>,
}

impl BrokenJson {
    pub(super) fn new(
        text: &str,
        mut faults: Vec<JsonFault>,
        repairs: &[(Repair, usize)],
        missing: Option<MissingEnd>,
    ) -> Self {
        let advice = |(repair, at): &(Repair, usize)| {
            Some(JsonFault { at: *at, what: advice(*repair)?.to_owned() })
        };
        faults.extend(repairs.iter().filter_map(advice));
        faults.sort_by_key(|fault| fault.at);
        let lines = LineIndex::new(text);
        let faults = faults.iter().map(|fault| fault.describe(text, &lines)).collect();
        Self { faults, unclosed: missing.map(MissingEnd::describe) }
    }

    /// Makes a fault without a position.
    pub fn of(what: impl Into<String>) -> Self {
        Self { faults: vec![what.into()], unclosed: None }
    }

    /// Says of the faults that they are in the text of a string.
    pub fn inside(mut self) -> Self {
        if let Some(first) = self.faults.first_mut() {
            first.insert_str(0, "inside the string that they are, ");
        }
        self
    }
}

impl JsonFault {
    fn describe(&self, text: &str, lines: &LineIndex) -> String {
        let position = lines.position(text, self.at);
        let before: Vec<char> = text[..self.at].chars().rev().take(AROUND).collect();
        let near: String =
            before.into_iter().rev().chain(text[self.at..].chars().take(AROUND)).collect();
        let (line, column, near) = (position.line, position.column, quoted(near.trim()));
        format!("at line {line}, column {column}, near {near}: {}", self.what)
    }
}

/// Returns what to write instead of something that would have been repaired alone.
fn advice(repair: Repair) -> Option<&'static str> {
    match repair {
        Repair::ByteOrderMark | Repair::Wrapper | Repair::RepeatedKey => None,
        Repair::CodeFence => Some("there is a code fence; send the object without one"),
        Repair::TrailingComma => Some("there is a comma after the last item; remove it"),
        Repair::ControlCharacter => Some(
            "a line break or another control character stands in a text; write \\n for a line break and \\t for a tab",
        ),
        Repair::SingleQuotes => Some("texts stand in double quotes"),
        Repair::PythonWord => Some("true, false and null are written small"),
        Repair::BareKey => Some("a key must stand in double quotes"),
        Repair::UnknownEscape => {
            Some("this is not an escape that JSON knows; a backslash itself is written as \\\\")
        }
        Repair::ClosingMark => Some("there is a closing mark too many"),
    }
}
