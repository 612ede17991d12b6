//! Wraps styled text into lines.

use anstyle::Style;
use crewagent_format::text::is_unsafe_char;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr};

use crate::paint;
use crate::render::flow::{is_joined, is_opening, is_wide};

/// A text in one style.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct StyledText {
    pub(super) text: String,
    pub(super) style: Style,
}

/// The treatment of a word that is wider than a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Long {
    /// Keeps it whole, so that an address can be copied; the terminal breaks it.
    Keep,
    /// Breaks it at the end of the line, so that table columns stay aligned.
    Break,
}

/// A sequence of characters that no line break divides.
#[derive(Debug, Default)]
struct Word {
    letters: Vec<(char, Style)>,
    /// The blanks before the word, each with its style.
    blanks: Vec<Style>,
}

impl Word {
    fn width(&self) -> usize {
        self.letters.iter().map(|(c, _)| *c).collect::<String>().width()
    }
}

/// Wraps the spans; a newline in the text ends a line. Returns at least one line.
pub(super) fn wrapped(spans: &[StyledText], columns: usize, long: Long) -> Vec<String> {
    let mut lines = vec![OutputLine::default()];
    for paragraph in words(spans) {
        for word in paragraph {
            let (used, width) = (lines.last().map_or(0, |line| line.used), word.width());
            if used > 0 && used + word.blanks.len() + width > columns {
                lines.push(OutputLine::default());
            }
            if let Some(line) = lines.last_mut() {
                // Blanks at the start of a wrapped line are dropped.
                if line.used > 0 || used == 0 {
                    word.blanks.iter().for_each(|style| line.put(' ', *style));
                }
            }
            for (c, style) in word.letters {
                let used = lines.last().map_or(0, |line| line.used);
                if long == Long::Break && used > 0 && used + c.width().unwrap_or(0) > columns {
                    lines.push(OutputLine::default());
                }
                lines.iter_mut().next_back().into_iter().for_each(|line| line.put(c, style));
            }
        }
        lines.push(OutputLine::default());
    }
    if lines.len() > 1 {
        lines.pop();
    }
    lines.into_iter().map(OutputLine::finish).collect()
}

/// Returns the width of the widest unwrapped line.
pub(super) fn width(spans: &[StyledText]) -> usize {
    let text: String = spans.iter().flat_map(|span| span.text.chars()).map(harmless).collect();
    text.lines().map(UnicodeWidthStr::width).max().unwrap_or(0)
}

/// Splits each line of the text into words.
fn words(spans: &[StyledText]) -> Vec<Vec<Word>> {
    let mut lines = vec![Vec::new()];
    let mut word = Word::default();
    let end = |word: &mut Word, lines: &mut Vec<Vec<Word>>| {
        if !word.letters.is_empty()
            && let Some(line) = lines.last_mut()
        {
            line.push(std::mem::take(word));
        }
    };
    for (c, style) in spans.iter().flat_map(|it| it.text.chars().map(|c| (c, it.style))) {
        match c {
            '\n' => {
                end(&mut word, &mut lines);
                word = Word::default();
                lines.push(Vec::new());
            }
            ' ' | '\t' => {
                end(&mut word, &mut lines);
                word.blanks.push(style);
            }
            c => {
                let c = harmless(c);
                let last = word.letters.last().map(|(c, _)| *c);
                let joins = is_joined(c) || last.is_some_and(is_opening);
                if !joins && (is_wide(c) || last.is_some_and(is_wide)) {
                    end(&mut word, &mut lines);
                }
                word.letters.push((c, style));
            }
        }
    }
    end(&mut word, &mut lines);
    lines
}

fn harmless(c: char) -> char {
    if c != '\n' && is_unsafe_char(c) { '\u{fffd}' } else { c }
}

#[derive(Debug, Default)]
struct OutputLine {
    text: String,
    /// Characters in the style of the last one, not painted yet.
    run: String,
    style: Style,
    used: usize,
}

impl OutputLine {
    fn put(&mut self, c: char, style: Style) {
        if style != self.style {
            self.paint();
            self.style = style;
        }
        self.run.push(c);
        self.used += c.width().unwrap_or(0);
    }

    fn paint(&mut self) {
        let run = std::mem::take(&mut self.run);
        if self.style == Style::new() || run.is_empty() {
            self.text.push_str(&run);
        } else {
            self.text.push_str(&paint::styled(self.style, run));
        }
    }

    fn finish(mut self) -> String {
        self.paint();
        self.text
    }
}
