//! Wraps streaming text between words. Code and tables stay as they are.

use crewagent_format::text::is_unsafe_char;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Width of a tab.
const TAB: usize = 4;
/// A longer beginning does not help to classify the line.
const HEAD: usize = 8;

/// The width of a text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Width {
    Columns(usize),
    /// Unlimited: the text goes into a file or a program.
    Endless,
}

/// A text that is wrapped while it streams.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    width: Width,
    /// The prefix of every line.
    margin: &'static str,
    /// The incomplete last word.
    word: String,
    /// Blanks before that word.
    blanks: usize,
    /// Used columns of the current line without the margin; none if the line has not begun.
    column: Option<usize>,
    /// The beginning of the source line, which tells code and tables.
    head: String,
    /// The indentation of the lines that this source line wraps into.
    hanging: usize,
    block: BlockKind,
}

/// The kind of block that the lines belong to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum BlockKind {
    Prose,
    Code,
}

impl Flow {
    pub(crate) fn new(width: Width, margin: &'static str) -> Self {
        let width = match width {
            // A narrower text is not readable anyway.
            Width::Columns(columns) => {
                Width::Columns(columns.saturating_sub(margin.width()).max(20))
            }
            Width::Endless => Width::Endless,
        };
        Self {
            width,
            margin,
            word: String::new(),
            blanks: 0,
            column: None,
            head: String::new(),
            hanging: 0,
            block: BlockKind::Prose,
        }
    }

    /// Adds a piece and returns what can be printed.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for c in piece.chars() {
            match c {
                '\n' => self.end_line(&mut out),
                '\r' => {}
                ' ' => self.blank(1, &mut out),
                '\t' => self.blank(TAB, &mut out),
                c => self.letter(if is_unsafe_char(c) { '\u{fffd}' } else { c }, &mut out),
            }
        }
        out
    }

    /// Returns the rest, and ends the last line if it has begun.
    pub(crate) fn finish(&mut self) -> String {
        let mut out = String::new();
        self.put_word(&mut out);
        if self.column.take().is_some() {
            out.push('\n');
        }
        self.start_line();
        self.block = BlockKind::Prose;
        out
    }

    fn letter(&mut self, c: char, out: &mut String) {
        if self.head.len() < HEAD {
            self.head.push(c);
        }
        let last = self.word.chars().next_back();
        let joins = is_joined(c) || last.is_some_and(is_opening);
        if !joins && (is_wide(c) || last.is_some_and(is_wide)) {
            self.put_word(out);
        }
        self.word.push(c);
    }

    fn blank(&mut self, count: usize, out: &mut String) {
        if !self.word.is_empty() {
            self.put_word(out);
            self.note_hanging();
        }
        self.blanks += count;
    }

    fn end_line(&mut self, out: &mut String) {
        self.put_word(out);
        out.push('\n');
        if self.head.starts_with("```") || self.head.starts_with("~~~") {
            self.block = match self.block {
                BlockKind::Prose => BlockKind::Code,
                BlockKind::Code => BlockKind::Prose,
            };
        }
        self.column = None;
        self.start_line();
    }

    fn start_line(&mut self) {
        self.blanks = 0;
        self.hanging = 0;
        self.head.clear();
    }

    /// Indents the other lines of a list item below its text.
    fn note_hanging(&mut self) {
        let mark = self.head.trim_end();
        let number = mark.trim_end_matches(['.', ')']);
        let is_number = number.len() < mark.len() && number.bytes().all(|b| b.is_ascii_digit());
        if self.hanging == 0
            && (matches!(mark, "-" | "*" | "+" | "•") || is_number && !number.is_empty())
        {
            self.hanging = self.column.unwrap_or(0) + 1;
        }
    }

    fn put_word(&mut self, out: &mut String) {
        if self.word.is_empty() {
            return;
        }
        let word = std::mem::take(&mut self.word);
        let blanks = std::mem::take(&mut self.blanks);
        let columns = word.width();
        match self.column {
            None => {
                out.push_str(self.margin);
                out.push_str(&" ".repeat(blanks));
                self.column = Some(blanks + columns);
                self.hanging = 0;
            }
            Some(used) if self.has_room(used + blanks + columns) => {
                out.push_str(&" ".repeat(blanks));
                self.column = Some(used + blanks + columns);
            }
            Some(_) => {
                out.push('\n');
                out.push_str(self.margin);
                out.push_str(&" ".repeat(self.hanging));
                self.column = Some(self.hanging + columns);
            }
        }
        out.push_str(&word);
    }

    fn has_room(&self, columns: usize) -> bool {
        match self.width {
            Width::Endless => true,
            Width::Columns(width) => self.is_whole_line() || columns <= width,
        }
    }

    /// Returns true if the line is code or a table, which wrapping would change.
    fn is_whole_line(&self) -> bool {
        self.block == BlockKind::Code || self.head.starts_with('|') || self.head.starts_with("```")
    }
}

/// Wraps a whole text to fit behind this many columns, and indents the lines after the first by them.
pub(crate) fn indented(text: &str, columns: usize, width: Width) -> String {
    let width = match width {
        Width::Columns(all) => Width::Columns(all.saturating_sub(columns)),
        Width::Endless => Width::Endless,
    };
    let mut flow = Flow::new(width, "");
    let lines = flow.push(text.trim_end()) + &flow.finish();
    lines.trim_end().replace('\n', &format!("\n{}", " ".repeat(columns)))
}

/// Returns true for wide characters: between them a line may break anywhere, except at some marks.
pub(crate) fn is_wide(c: char) -> bool {
    c.width() == Some(2)
}

/// Returns true if no line may break before the character.
pub(crate) fn is_joined(c: char) -> bool {
    c.width() == Some(0)
        || matches!(c, '\u{1f3fb}'..='\u{1f3ff}')
        || "，。、；：？！）」』】》〉〕］｝％…‥ー々".contains(c)
}

/// Returns true if no line may break after the character.
pub(crate) fn is_opening(c: char) -> bool {
    "（「『【《〈〔［｛".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Checks that the output does not depend on how the text is cut into pieces.
    fn check_flow(width: usize, text: &str, expected: &str) {
        let whole = || Flow::new(Width::Columns(width), "  ");
        let mut flow = whole();
        let mut at_once = flow.push(text);
        at_once.push_str(&flow.finish());
        assert_eq!(at_once, expected, "{text:?}");
        let mut flow = whole();
        let mut pieces: String = text.chars().map(|c| flow.push(&c.to_string())).collect();
        pieces.push_str(&flow.finish());
        assert_eq!(pieces, expected, "in pieces: {text:?}");
    }

    #[test]
    fn lines_break_between_words() {
        check_flow(24, "one two three four five six", "  one two three four\n  five six\n");
        check_flow(24, "", "");
        check_flow(24, "one\n\ntwo\n", "  one\n\n  two\n");
        check_flow(24, "averyveryverylongwordindeed x", "  averyveryverylongwordindeed\n  x\n");
    }

    #[test]
    fn wide_letters_count_twice_and_break_anywhere_but_before_a_full_stop() {
        check_flow(24, "一二三四五六七八九十一二三", "  一二三四五六七八九十一\n  二三\n");
        check_flow(24, "一二三四五六七八九十一。二", "  一二三四五六七八九十\n  一。二\n");
        check_flow(24, "一二三四五六七八九十（一）", "  一二三四五六七八九十\n  （一）\n");
        check_flow(24, "🏃🏃🏃🏃🏃🏃🏃🏃🏃🏃🏃🏃", "  🏃🏃🏃🏃🏃🏃🏃🏃🏃🏃🏃\n  🏃\n");
    }

    #[test]
    fn items_of_a_list_hang_under_their_words() {
        check_flow(24, "- one two three four five", "  - one two three four\n    five\n");
        check_flow(24, "10. one two three four five", "  10. one two three four\n      five\n");
        check_flow(24, "  - one two three four five", "    - one two three four\n      five\n");
    }

    #[test]
    fn code_and_tables_are_not_broken() {
        let code = "```\nlet x = a_long_line_of_code + another_one;\n```\n";
        check_flow(24, code, "  ```\n  let x = a_long_line_of_code + another_one;\n  ```\n");
        check_flow(24, "| a | b | c | d | e | f | g |\n", "  | a | b | c | d | e | f | g |\n");
    }

    #[test]
    fn a_text_cannot_steer_the_terminal() {
        check_flow(40, "a\u{1b}[31m\u{202e}b\r\n\tc", "  a\u{fffd}[31m\u{fffd}b\n      c\n");
    }

    #[test]
    fn a_message_stands_behind_its_mark() {
        let text = indented("one two three four five six\nseven", 4, Width::Columns(24));
        assert_eq!(text, "one two three four\n    five six\n    seven");
    }

    #[test]
    fn into_a_file_lines_stay_whole() {
        let mut flow = Flow::new(Width::Endless, "  ");
        let text = "word ".repeat(100);
        assert_eq!((flow.push(&text) + &flow.finish()).lines().count(), 1);
    }
}
