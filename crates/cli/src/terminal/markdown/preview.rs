//! A block on the screen before it is complete: plain, and counted in rows so that it can be taken away again.

use unicode_width::UnicodeWidthChar as _;

use super::Window;
use crate::render::flow::{Flow, Width};

/// So many rows of the window are never counted on.
const SPARE: usize = 2;

/// What stands on the screen of a block.
#[derive(Debug, Default)]
pub(super) struct Preview {
    flow: Option<Flow>,
    shown: String,
    /// How much of the block was taken in.
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

    /// Shows what is new in a block. It does not where the block would leave the window.
    pub(super) fn push(
        &mut self,
        block: &str,
        margin: &'static str,
        window: Window,
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

    /// Puts other lines in its place.
    pub(super) fn replace(&mut self, lines: &str, window: Window, out: &mut String) {
        // What looks the same stays, and what is missing is added.
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

    /// The word that was held back, when the rest stays as it is.
    pub(super) fn leave(&mut self) -> String {
        self.flow.as_mut().map(Flow::finish).unwrap_or_default()
    }

    /// How many rows are above the cursor.
    fn rows(&self, window: Window) -> usize {
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

/// A text without form, broken to fit.
pub(super) fn plain(text: &str, margin: &'static str, window: Window) -> String {
    let mut flow = Flow::new(Width::Columns(window.text), margin);
    flow.push(text.trim_end()) + &flow.finish()
}
