//! Positions in a text (byte spans, and the line and column that users see), and its characters.

use serde::Serialize;
use unicode_normalization::UnicodeNormalization as _;

/// Half-open range of bytes in one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    /// Makes the range from `start` up to `end`, never backwards.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// Shifts the range by `offset` bytes.
    pub fn shifted(self, offset: usize) -> Self {
        Self { start: self.start + offset, end: self.end + offset }
    }

    /// Returns the first character of this range, for findings about something missing inside it.
    pub fn head(self, text: &str) -> Self {
        let width =
            text.get(self.start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        Self { start: self.start, end: (self.start + width).min(self.end.max(self.start)) }
    }

    /// Returns the range from its start to the end of the line.
    pub fn first_line(self, text: &str) -> Self {
        let rest = text.get(self.start..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        Self::new(self.start, self.start + line.len())
    }
}

/// Folds a text: equal results differ at most in case and in the spelling of accents.
pub fn folded(text: &str) -> String {
    if text.is_ascii() {
        return text.to_ascii_lowercase();
    }
    // Upper and then lower case folds what one of the two would miss, such as `ß` and `SS`, or the two small sigmas.
    let decomposed: String = text.nfd().collect();
    decomposed.to_uppercase().to_lowercase().nfc().collect()
}

/// Returns true for characters that must be escaped in a terminal, a name or a log: they move the cursor, are
/// invisible, or change how their neighbours read.
pub fn is_unsafe_char(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{206f}')
        || matches!(c, '\u{feff}' | '\u{e0000}'..='\u{e007f}')
}

/// Returns true for characters that must not be in a name, because two names could look the same: those of
/// [`is_unsafe_char`], all that Unicode calls `Default_Ignorable_Code_Point`, and the blank of Braille.
pub fn is_invisible_char(c: char) -> bool {
    is_unsafe_char(c)
        || matches!(c, '\u{ad}' | '\u{34f}' | '\u{115f}'..='\u{1160}' | '\u{17b4}'..='\u{17b5}')
        || matches!(c, '\u{180b}'..='\u{180f}' | '\u{2800}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}')
        || matches!(c, '\u{ffa0}' | '\u{fff0}'..='\u{fff8}' | '\u{1bca0}'..='\u{1bca3}')
        || matches!(c, '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}')
}

/// Line and column, both counted from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct LineColumn {
    pub line: usize,
    pub column: usize,
}

/// Offsets of a text's lines, so that many positions cost one pass.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
    /// Characters that begin before every [`BLOCK`]-th byte, so that a column on a long line needs no scan.
    blocks: Vec<usize>,
}

/// Bytes between two counts of a [`LineIndex`].
const BLOCK: usize = 1024;

impl LineIndex {
    /// Indexes `text` in one pass.
    pub fn new(text: &str) -> Self {
        let starts = std::iter::once(0)
            .chain(
                text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1),
            )
            .collect();
        let mut before = 0;
        let blocks = text
            .as_bytes()
            .chunks(BLOCK)
            .map(|block| {
                let here = before;
                before += characters(block);
                here
            })
            .collect();
        Self { starts, blocks }
    }

    /// Returns the position of byte `offset` in the same text. An offset past the end counts as the end.
    pub fn position(&self, text: &str, offset: usize) -> LineColumn {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let column = self.characters_before(text, offset) - self.characters_before(text, start) + 1;
        // A byte order mark is invisible, so it has no column of its own.
        let mark = usize::from(line == 1 && offset > 0 && text.starts_with('\u{feff}'));
        LineColumn { line, column: column - mark }
    }

    fn characters_before(&self, text: &str, offset: usize) -> usize {
        let block = (offset / BLOCK).min(self.blocks.len().saturating_sub(1));
        let rest = text.as_bytes().get(block * BLOCK..offset).unwrap_or_default();
        self.blocks.get(block).copied().unwrap_or(0) + characters(rest)
    }
}

/// Counts the characters that begin in these bytes: every byte that is no continuation byte begins one.
fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| (**byte & 0xC0) != 0x80).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_position(text: &str, offset: usize, line: usize, column: usize) {
        assert_eq!(LineIndex::new(text).position(text, offset), LineColumn { line, column });
    }

    #[test]
    fn a_position_counts_lines_and_characters_from_one() {
        check_position("", 0, 1, 1);
        check_position("ab\ncd", 1, 1, 2);
        check_position("ab\ncd", 3, 2, 1);
        check_position("ab\r\ncd", 4, 2, 1);
        check_position("é中x", 5, 1, 3);
        check_position("ab\n", 99, 2, 1);
    }

    #[test]
    fn a_byte_order_mark_has_no_column() {
        check_position("\u{feff}ab\ncd", 0, 1, 1);
        check_position("\u{feff}ab\ncd", 3, 1, 1);
        check_position("\u{feff}ab\ncd", 4, 1, 2);
        check_position("\u{feff}ab\ncd", 6, 2, 1);
    }

    #[test]
    fn columns_on_a_long_line_are_counted_from_its_beginning() {
        let text = format!("x\n{}", "aé中".repeat(2000));
        let index = LineIndex::new(&text);
        for (column, (offset, _)) in text.char_indices().skip(2).enumerate() {
            assert_eq!(index.position(&text, offset), LineColumn { line: 2, column: column + 1 });
        }
        assert_eq!(index.position(&text, text.len()), LineColumn { line: 2, column: 6001 });
    }

    #[test]
    fn a_name_has_no_character_that_cannot_be_seen() {
        let invisible = "\u{ad}\u{34f}\u{61c}\u{115f}\u{1160}\u{17b4}\u{180b}\u{180e}\u{200b}\u{202e}\u{2060}\u{2800}\u{3164}\u{fe00}\u{fe0f}\u{feff}\u{ffa0}\u{fff0}\u{1bca0}\u{1d173}\u{e0001}\u{e0100}\u{e01ef}\u{e0fff}";
        assert!(invisible.chars().all(is_invisible_char));
        // These take room on the screen.
        assert!(!"aé中 \u{a0}\u{3000}\u{202f}–💡".chars().any(is_invisible_char));
    }

    #[test]
    fn the_head_of_a_span_is_its_first_character() {
        assert_eq!(Span::new(0, 9).head("中文文"), Span::new(0, 3));
        assert_eq!(Span::new(2, 2).head("ab"), Span::new(2, 2));
    }
}
