//! The marks of drafts in a text that arrives in pieces: users see the drafts, but not their marks.

use super::marks::{CLOSING, MARK_BYTES, OPENING, mark_of};

/// Takes lines that are marks out of a stream of text. A line that may become one is held back.
#[derive(Clone, Debug, Default)]
pub struct MarkFilter {
    /// The held part of the current line.
    held: String,
    /// True if the current line is no mark.
    is_text: bool,
}

impl MarkFilter {
    /// Takes a piece of the text, and returns what can be shown of it.
    pub fn take(&mut self, piece: &str) -> String {
        let mut shown = String::with_capacity(piece.len());
        for part in piece.split_inclusive('\n') {
            if self.is_text {
                shown.push_str(part);
            } else {
                self.held.push_str(part);
                if self.held.ends_with('\n') {
                    shown.push_str(&self.release());
                } else if !may_become_mark(&self.held) {
                    self.is_text = true;
                    shown.push_str(&std::mem::take(&mut self.held));
                }
            }
            if part.ends_with('\n') {
                self.is_text = false;
            }
        }
        shown
    }

    /// Returns what is held back at the end of the text.
    pub fn finish(&mut self) -> String {
        self.is_text = false;
        self.release()
    }

    fn release(&mut self) -> String {
        let line = std::mem::take(&mut self.held);
        if mark_of(&line).is_some() { String::new() } else { line }
    }
}

/// Returns true if the beginning of a line may be that of a mark.
fn may_become_mark(held: &str) -> bool {
    let line = held.trim_start();
    let begins = |mark: &str| mark.starts_with(line) || line.starts_with(mark);
    held.len() <= MARK_BYTES && (begins(OPENING) || begins(CLOSING))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::draft::read_marks;

    #[test]
    fn a_stream_shows_what_is_recorded() {
        let texts = [
            "Here.\n<draft name=\"a\">\n# A\n\n<b>x</b>\n</draft>\nDone <draft> it.\n".to_owned(),
            "<draft name=\"a\">\nnot closed".to_owned(),
            "  </draft>".to_owned(),
            "<".to_owned(),
            format!("<draft name=\"{}\">\nx\n", "y".repeat(300)),
            String::new(),
        ];
        for text in texts {
            let expected = read_marks(&text, false).text;
            for size in [1, 2, 3, 7, 64, 1000] {
                let chars: Vec<char> = text.chars().collect();
                let mut filter = MarkFilter::default();
                let mut shown = String::new();
                for piece in chars.chunks(size) {
                    shown.push_str(&filter.take(&piece.iter().collect::<String>()));
                }
                shown.push_str(&filter.finish());
                assert_eq!(shown, expected, "{size}");
            }
        }
    }

    #[test]
    fn other_lines_are_shown_at_once() {
        let mut filter = MarkFilter::default();
        assert_eq!(filter.take("Hel"), "Hel");
        assert_eq!(filter.take("lo <dra"), "lo <dra");
        assert_eq!(filter.take("\n<dra"), "\n");
        assert_eq!(filter.take("wing"), "<drawing");
    }
}
