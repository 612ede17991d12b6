//! Places in a text: byte spans, and the line and column a person sees.

use serde::Serialize;

/// A half-open range of bytes in one file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

impl Span {
    /// The range from `start` up to `end`, never backwards.
    pub fn new(start: usize, end: usize) -> Self {
        Self { start, end: end.max(start) }
    }

    /// The same range in a text that stands `offset` bytes further on.
    pub fn shifted(self, offset: usize) -> Self {
        Self { start: self.start + offset, end: self.end + offset }
    }

    /// The first character of this range, for findings about something that is missing inside it.
    pub fn head(self, text: &str) -> Self {
        let width =
            text.get(self.start..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8);
        Self { start: self.start, end: (self.start + width).min(self.end.max(self.start)) }
    }
}

impl Span {
    /// From here to the end of the line.
    pub fn first_line(self, text: &str) -> Self {
        let rest = text.get(self.start..).unwrap_or_default();
        let line = rest.lines().next().unwrap_or_default();
        Self::new(self.start, self.start + line.len())
    }
}

/// A line and a column, both counted from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column in characters, from 1.
    pub column: usize,
}

/// Where the lines of a text begin, so that many positions cost one pass.
#[derive(Clone, Debug)]
pub struct LineIndex {
    starts: Vec<usize>,
}

impl LineIndex {
    /// Reads `text` once.
    pub fn new(text: &str) -> Self {
        let starts = std::iter::once(0)
            .chain(
                text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1),
            )
            .collect();
        Self { starts }
    }

    /// The position of byte `offset` in the same text. An offset past the end counts as the end.
    pub fn position(&self, text: &str, offset: usize) -> Position {
        let offset = offset.min(text.len());
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts.get(line - 1).copied().unwrap_or(0);
        let before = text.as_bytes().get(start..offset).unwrap_or_default();
        // A column counts characters: every byte that does not continue one begins one.
        let column = before.iter().filter(|byte| (**byte & 0xC0) != 0x80).count() + 1;
        Position { line, column }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_position(text: &str, offset: usize, line: usize, column: usize) {
        assert_eq!(LineIndex::new(text).position(text, offset), Position { line, column });
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
    fn the_head_of_a_span_is_its_first_character() {
        assert_eq!(Span::new(0, 9).head("中文文"), Span::new(0, 3));
        assert_eq!(Span::new(2, 2).head("ab"), Span::new(2, 2));
    }
}
