//! Formats the model's Markdown while it streams. The current block is shown as plain text; when it is complete, its
//! formatted lines replace the preview. Lines that scrolled out of the window are never replaced.

mod format;
mod lines;
mod preview;
mod table;
mod wrap;

use self::format::{CODE, INSET, formatted, harmless};
use self::lines::{Fence, indent, info, is_heading, is_item, is_table_rule};
use self::preview::Preview;
use crate::paint::{self, QUIET};

/// The size of the window, read again for each block.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TerminalWindow {
    /// The width of text.
    pub(crate) text: usize,
    /// The width of the window.
    pub(crate) columns: usize,
    pub(crate) rows: usize,
}

/// A streamed text on a screen whose lines can be replaced.
#[derive(Debug)]
pub(crate) struct Markdown {
    window: fn() -> TerminalWindow,
    margin: &'static str,
    /// The source of the current block.
    block: String,
    /// The start of its last line.
    line: usize,
    state: ParserState,
    preview: Preview,
    /// The blank line before the next block.
    gap: Gap,
}

/// The state of the block parser.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ParserState {
    Between,
    /// In a block that ends with a blank line.
    Block,
    /// In a list; a blank line ends it only if the next line is not indented.
    List,
    /// In a list, behind a blank line.
    Paused,
    /// In code, where each line is final.
    Code(Fence),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Gap {
    Start,
    None,
    Blank,
}

impl Markdown {
    pub(crate) fn new(window: fn() -> TerminalWindow, margin: &'static str) -> Self {
        Self {
            window,
            margin,
            block: String::new(),
            line: 0,
            state: ParserState::Between,
            preview: Preview::default(),
            gap: Gap::Start,
        }
    }

    /// Adds a piece and returns what to print.
    pub(crate) fn push(&mut self, piece: &str) -> String {
        let mut out = String::new();
        for part in piece.split_inclusive('\n') {
            self.block.extend(part.chars().filter(|c| *c != '\r'));
            if part.ends_with('\n') {
                self.end_line(&mut out);
            }
        }
        self.show(&mut out);
        out
    }

    /// Ends the text and returns the rest to print.
    pub(crate) fn finish(&mut self) -> String {
        let mut out = String::new();
        if !self.block.is_empty() && !self.block.ends_with('\n') {
            self.block.push('\n');
            self.end_line(&mut out);
        }
        if !matches!(self.state, ParserState::Code(_)) {
            self.close(self.block.len(), &mut out);
        }
        *self = Self::new(self.window, self.margin);
        out
    }

    /// Ends the preview because something else was printed below: the shown part stays, the text continues behind it.
    pub(crate) fn leave(&mut self) -> String {
        let rest = self.preview.leave();
        let inset = match self.state {
            ParserState::Code(fence) if self.preview.taken() > 0 => {
                self.block.len() - fence.inner(&self.block).len()
            }
            ParserState::Code(_)
            | ParserState::Between
            | ParserState::Block
            | ParserState::List
            | ParserState::Paused => 0,
        };
        let end = inset + self.preview.taken();
        self.block.drain(..end);
        self.line = self.line.saturating_sub(end);
        self.preview = Preview::default();
        rest
    }

    /// Handles a complete line.
    fn end_line(&mut self, out: &mut String) {
        let start = self.line;
        let line = self.block.get(start..).unwrap_or_default().trim_end_matches('\n').to_owned();
        self.line = self.block.len();
        let is_blank = line.trim().is_empty();
        match self.state {
            ParserState::Code(fence) => return self.code_line(fence, &line, out),
            ParserState::Block if is_blank => return self.close(self.block.len(), out),
            ParserState::List if is_blank => return self.state = ParserState::Paused,
            ParserState::Paused if is_blank => return,
            ParserState::Paused if indent(&line) >= 2 => self.state = ParserState::List,
            // An indented line stays part of the list.
            ParserState::List if indent(&line) >= 2 => {}
            ParserState::Paused => self.close(start, out),
            ParserState::Block | ParserState::List => {
                if is_heading(&line) || Fence::opened_by(&line).is_some() {
                    self.close(start, out);
                } else if is_item(&line) {
                    self.state = ParserState::List;
                }
            }
            ParserState::Between => {}
        }
        if self.state == ParserState::Between {
            self.open(&line, out);
        }
    }

    /// Opens the block that this line begins, if any.
    fn open(&mut self, line: &str, out: &mut String) {
        if line.trim().is_empty() {
            self.close(self.block.len(), out);
        } else if let Some(fence) = Fence::opened_by(line) {
            self.erase(out);
            let language = info(line);
            if !language.is_empty() {
                let language = paint::styled(QUIET, harmless(language));
                out.push_str(&format!("{}{INSET}{language}\n", self.margin));
            }
            self.begin_again(self.block.len());
            self.state = ParserState::Code(fence);
        } else if is_heading(line) {
            self.close(self.block.len(), out);
        } else {
            self.state = if is_item(line) { ParserState::List } else { ParserState::Block };
        }
    }

    fn code_line(&mut self, fence: Fence, line: &str, out: &mut String) {
        if fence.is_closed_by(line) {
            self.state = ParserState::Between;
        } else {
            self.show_code(fence, line, out);
            out.push('\n');
        }
        self.begin_again(self.block.len());
    }

    /// Prints the new part of a line of code.
    fn show_code(&mut self, fence: Fence, line: &str, out: &mut String) {
        let line = fence.inner(line);
        let new = line.get(self.preview.taken()..).unwrap_or_default();
        if new.is_empty() {
            return;
        }
        self.separate(out);
        if self.preview.taken() == 0 {
            out.push_str(&format!("{}{INSET}", self.margin));
        }
        out.push_str(&paint::styled(CODE, harmless(new)));
        self.preview.take_to(line.len());
    }

    /// Closes the block at `end`: replaces its preview with the formatted lines.
    fn close(&mut self, end: usize, out: &mut String) {
        let text = self.block.get(..end).unwrap_or_default().to_owned();
        if text.trim().is_empty() {
            if self.preview.is_begun() {
                // The blank line before it stays.
                self.preview.replace("", (self.window)(), out);
            } else if self.gap != Gap::Start {
                self.gap = Gap::Blank;
            }
        } else {
            let window = (self.window)();
            let lines = formatted(&text, self.margin, window.text)
                .unwrap_or_else(|| preview::plain(&text, self.margin, window));
            if !self.preview.is_begun() {
                self.separate(out);
            }
            self.preview.replace(&lines, window, out);
            let ends = text.get(text.trim_end().len()..).unwrap_or_default();
            if ends.matches('\n').count() > 1 {
                self.gap = Gap::Blank;
            }
        }
        self.begin_again(end);
    }

    /// Drops the source up to `end` and starts the next block.
    fn begin_again(&mut self, end: usize) {
        self.block.drain(..end);
        self.line = self.line.saturating_sub(end);
        self.preview = Preview::default();
        if !matches!(self.state, ParserState::Code(_)) {
            self.state = ParserState::Between;
        }
    }

    fn erase(&mut self, out: &mut String) {
        if self.preview.is_begun() {
            self.preview.replace("", (self.window)(), out);
        } else {
            self.separate(out);
        }
    }

    /// Prints the blank line before a block.
    fn separate(&mut self, out: &mut String) {
        if std::mem::replace(&mut self.gap, Gap::None) == Gap::Blank {
            out.push('\n');
        }
    }

    /// Shows the new part of the current block.
    fn show(&mut self, out: &mut String) {
        if let ParserState::Code(fence) = self.state {
            let line = self.block.clone();
            if !fence.may_be_closed_by(&line) {
                self.show_code(fence, &line, out);
            }
            return;
        }
        if self.block.trim().is_empty() {
            return;
        }
        let window = (self.window)();
        loop {
            if !self.preview.is_begun() {
                self.separate(out);
            }
            if self.preview.push(&self.block, self.margin, window, out) {
                return;
            }
            // The block is about to scroll out of the window, so the part so far becomes final.
            let Some(end) = split(&self.block) else { return };
            let head = table_head(&self.block);
            let state = self.state;
            self.close(end, out);
            if let Some(head) = head {
                self.block.insert_str(0, &head);
                self.line += head.len();
            }
            // An incomplete line may be the first of another block.
            if self.line > 0 {
                self.state = state;
            }
        }
    }
}

/// Returns where to divide a block that is too tall: before its last line that is not indented, else before its last
/// line, else before its last word.
fn split(block: &str) -> Option<usize> {
    let starts = || block.match_indices('\n').map(|(at, _)| at + 1).filter(|at| *at < block.len());
    let outer = |at: &usize| block.get(*at..).is_some_and(|rest| indent(rest) == 0);
    let words = || block.rfind(' ').map(|at| at + 1).filter(|at| *at < block.len());
    let end = starts().rfind(outer).or_else(|| starts().next_back()).or_else(words)?;
    // A table head alone is no useful part.
    let head = table_head(block).map_or(0, |head| head.len());
    (end > head).then_some(end)
}

/// Returns the head of a table, which is repeated where the table continues.
fn table_head(block: &str) -> Option<String> {
    let mut lines = block.split_inclusive('\n');
    let (first, second) = (lines.next()?, lines.next()?);
    (first.contains('|') && is_table_rule(second)).then(|| format!("{first}{second}"))
}

#[cfg(test)]
mod tests;
