//! The screen of a terminal after some bytes, as text.

use std::num::NonZeroU16;

/// Lines that left the window and can still be read.
const SCROLLED: usize = 20_000;

/// A window.
pub struct TerminalScreen {
    parser: vt100::Parser,
}

impl std::fmt::Debug for TerminalScreen {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

impl TerminalScreen {
    /// Makes an empty window.
    pub fn new(rows: u16, columns: u16) -> Self {
        let parser = vt100::Parser::new(size(rows), size(columns), SCROLLED);
        Self { parser }
    }

    /// Feeds the output of a program to the terminal.
    pub fn write(&mut self, bytes: &[u8]) {
        self.parser.process(bytes);
    }

    /// Feeds output that did not pass a terminal, where a line feed alone begins a line.
    pub fn write_lines(&mut self, text: &str) {
        self.write(text.replace('\n', "\r\n").as_bytes());
    }

    /// Sets the size of the window.
    pub fn resize(&mut self, rows: u16, columns: u16) {
        self.parser.set_size(size(rows), size(columns));
    }

    /// Returns the visible text, without blanks at the ends of lines.
    pub fn text(&self) -> String {
        lines(self.parser.screen().contents())
    }

    /// Returns the visible text, and the text that has scrolled away.
    pub fn all(&mut self) -> String {
        let screen = self.parser.screen_mut();
        screen.set_scrollback(usize::MAX);
        let (scrolled, rows) = (screen.scrollback(), usize::from(screen.size().0.get()));
        let mut all = Vec::new();
        let mut left = scrolled;
        while left > 0 {
            screen.set_scrollback(left);
            let width = screen.size().1.get();
            all.extend(screen.rows(0, width).take(left.min(rows)));
            left = left.saturating_sub(rows);
        }
        screen.set_scrollback(0);
        all.push(screen.contents());
        lines(all.join("\n"))
    }

    /// Returns the row and the column of the cursor, from 0.
    pub fn cursor(&self) -> (u16, u16) {
        self.parser.screen().cursor_position()
    }

    /// Returns true if the letter at this position is bold.
    pub fn is_bold(&self, row: u16, column: u16) -> bool {
        self.parser.screen().cell(row, column).is_some_and(vt100::Cell::bold)
    }
}

fn size(number: u16) -> NonZeroU16 {
    NonZeroU16::new(number).unwrap_or(NonZeroU16::MIN)
}

fn lines(text: String) -> String {
    text.lines().map(str::trim_end).collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_shows_what_was_written_last() {
        let mut screen = TerminalScreen::new(2, 10);
        screen.write_lines("one\ntwo\nthree \u{1b}[1m四\u{1b}[0m");
        assert_eq!(screen.text(), "two\nthree 四");
        assert_eq!(screen.cursor(), (1, 8));
        assert!(screen.is_bold(1, 6));
        assert_eq!(screen.all(), "one\ntwo\nthree 四");
        screen.write(b"\r\x1b[A\x1b[J2");
        assert_eq!(screen.all(), "one\n2");
    }
}
