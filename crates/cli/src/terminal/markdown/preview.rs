//! The plain preview of an incomplete block; it counts its rows so that it can be erased.

use unicode_width::UnicodeWidthChar as _;

use super::TerminalWindow;
use crate::render::flow::{Flow, Width};

/// Rows of the window that a preview never uses.
const SPARE: usize = 2;

/// The part of a block that is on the screen.
#[derive(Debug, Default)]
pub(super) struct Preview {
    flow: Option<Flow>,
    shown: String,
    /// Bytes of the block that were consumed.
    taken: usize,
}

impl Preview {
    pub(super) fn is_begun(&self) -> bool {
        !self.shown.is_empty()
    }

    pub(super) fn taken(&self) -> usize {
        self.taken
    }

    pub(super) fn take_to(&mut self, end: usize) {
        self.taken = end;
    }

    /// Shows the new part of a block. Returns false, and shows nothing, if the block would scroll out of the window.
    pub(super) fn push(
        &mut self,
        block: &str,
        margin: &'static str,
        window: TerminalWindow,
        out: &mut String,
    ) -> bool {
        let begin = || Flow::new(Width::Columns(window.text), margin);
        let mut ahead = self.flow.clone().unwrap_or_else(begin);
        let new = ahead.push(block.get(self.taken..).unwrap_or_default());
        let length = self.shown.len();
        self.shown.push_str(&new);
        if self.rows(window) + SPARE >= window.rows {
            self.shown.truncate(length);
            return false;
        }
        self.flow = Some(ahead);
        self.taken = block.len();
        out.push_str(&new);
        true
    }

    /// Replaces the preview with other lines.
    pub(super) fn replace(&mut self, lines: &str, window: TerminalWindow, out: &mut String) {
        // An unchanged beginning stays; only the rest is printed.
        match lines.strip_prefix(self.shown.as_str()) {
            Some(rest) => out.push_str(rest),
            None => {
                match self.rows(window) {
                    0 => out.push_str("\r\u{1b}[J"),
                    up => out.push_str(&format!("\r\u{1b}[{up}A\u{1b}[J")),
                }
                out.push_str(lines);
            }
        }
        *self = Self::default();
    }

    /// Returns the buffered word; the preview becomes final.
    pub(super) fn leave(&mut self) -> String {
        self.flow.as_mut().map(Flow::finish).unwrap_or_default()
    }

    /// Returns the number of rows above the cursor.
    fn rows(&self, window: TerminalWindow) -> usize {
        let (mut rows, mut column) = (0, 0);
        for c in self.shown.chars() {
            let width = c.width().unwrap_or(0);
            if c == '\n' {
                (rows, column) = (rows + 1, 0);
            } else if column + width > window.columns {
                (rows, column) = (rows + 1, width);
            } else {
                column += width;
            }
        }
        rows
    }
}

/// Wraps a text without formatting it.
pub(super) fn plain(text: &str, margin: &'static str, window: TerminalWindow) -> String {
    let mut flow = Flow::new(Width::Columns(window.text), margin);
    flow.push(text.trim_end()) + &flow.finish()
}
