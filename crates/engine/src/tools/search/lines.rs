//! Matching lines of one file with their context, cut to a size that can be shown.

use std::collections::VecDeque;
use std::io;

use grep_matcher::Matcher;
use grep_regex::RegexMatcher;
use grep_searcher::{Searcher, Sink, SinkContext, SinkFinish, SinkMatch};

/// Limit of shown characters of a line.
const SHOWN: usize = 500;
/// Characters shown before a match in a line that is cut.
const LEAD: usize = 100;

/// A matching line.
#[derive(Debug)]
pub(super) struct MatchLine {
    pub(super) number: u64,
    /// In characters, from 1.
    pub(super) column: usize,
    pub(super) text: String,
    pub(super) before: Vec<String>,
    pub(super) after: Vec<String>,
}

impl MatchLine {
    /// Returns the size of its text and context in bytes.
    pub(super) fn bytes(&self) -> usize {
        let around = self.before.iter().chain(&self.after);
        self.text.len() + around.map(String::len).sum::<usize>()
    }
}

/// A sink that collects the matches of one file.
pub(super) struct MatchCollector<'m> {
    matcher: &'m RegexMatcher,
    before: usize,
    after: usize,
    max: usize,
    pub(super) found: Vec<MatchLine>,
    /// The last `before` lines, with their numbers.
    recent: VecDeque<(u64, String)>,
    /// Index of the first match that may still lack lines after it.
    open: usize,
}

impl<'m> MatchCollector<'m> {
    pub(super) fn new(matcher: &'m RegexMatcher, before: usize, after: usize, max: usize) -> Self {
        Self { matcher, before, after, max, found: Vec::new(), recent: VecDeque::new(), open: 0 }
    }

    /// Adds a line to the context of the matches before and after it.
    fn pass(&mut self, number: u64, text: String) {
        let after = self.after as u64;
        while self.found.get(self.open).is_some_and(|line| line.number + after < number) {
            self.open += 1;
        }
        for line in &mut self.found[self.open..] {
            if line.number < number {
                line.after.push(text.clone());
            }
        }
        if self.before > 0 {
            if self.recent.len() == self.before {
                self.recent.pop_front();
            }
            self.recent.push_back((number, text));
        }
    }
}

impl Sink for MatchCollector<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        let line = without_end(found.bytes());
        let at = self.matcher.find(line)?.map_or(0, |found| found.start());
        let number = found.line_number().unwrap_or_default();
        let text = cut(line, at);
        let first = number.saturating_sub(self.before as u64);
        let before = self.recent.iter().filter(|(number, _)| *number >= first);
        let before = before.map(|(_, text)| text.clone()).collect();
        if self.after > 0 || self.before > 0 {
            self.pass(number, text.clone());
        }
        if self.found.len() < self.max {
            let column = characters(&line[..at]) + 1;
            self.found.push(MatchLine { number, column, text, before, after: Vec::new() });
        }
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let text = cut(without_end(context.bytes()), 0);
        self.pass(context.line_number().unwrap_or_default(), text);
        Ok(true)
    }

    fn finish(&mut self, _: &Searcher, finish: &SinkFinish) -> io::Result<()> {
        // A file with a NUL byte is binary, even if the byte comes after the first matches.
        if finish.binary_byte_offset().is_some() {
            self.found.clear();
        }
        Ok(())
    }
}

fn without_end(line: &[u8]) -> &[u8] {
    let line = line.strip_suffix(b"\n").unwrap_or(line);
    line.strip_suffix(b"\r").unwrap_or(line)
}

fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| !is_inside(**byte)).count()
}

/// Returns true if a byte continues a UTF-8 character.
fn is_inside(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// Returns the line, or the part around a match with marks where text is left out.
fn cut(line: &[u8], at: usize) -> String {
    // A character has at most four bytes, so nothing outside of this window is shown.
    let mut from = at.saturating_sub(LEAD * 4);
    let mut to = line.len().min(at.saturating_add(SHOWN * 4));
    // Move to the boundary of a character, at most three bytes away; otherwise the bytes are no text.
    for _ in 0..3 {
        if from > 0 && line.get(from).copied().is_some_and(is_inside) {
            from -= 1;
        }
        if to > at && line.get(to).copied().is_some_and(is_inside) {
            to -= 1;
        }
    }
    let head = String::from_utf8_lossy(&line[from..at]);
    let tail = String::from_utf8_lossy(&line[at..to]);
    let heads = head.chars().count();
    if from == 0 && to == line.len() && heads + tail.chars().count() <= SHOWN {
        return format!("{head}{tail}");
    }
    let dropped = heads.saturating_sub(LEAD);
    let start = if from > 0 || dropped > 0 { "…" } else { "" };
    let head: String = head.chars().skip(dropped).collect();
    let room = SHOWN - (heads - dropped);
    let shown: String = tail.chars().take(room).collect();
    let end = if to < line.len() || shown.len() < tail.len() { "…" } else { "" };
    format!("{start}{head}{shown}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_cut(line: &str, at: usize, expected: &str) {
        assert_eq!(cut(line.as_bytes(), at), expected);
    }

    #[test]
    fn a_long_line_is_cut_around_the_match() {
        check_cut("short", 2, "short");
        check_cut("", 0, "");
        let exact = "x".repeat(SHOWN);
        check_cut(&exact, 0, &exact);
        check_cut(&"x".repeat(SHOWN + 1), 0, &format!("{exact}…"));
        let long = format!("{}HIT{}", "a".repeat(100_000), "b".repeat(100_000));
        let expected = format!("…{}HIT{}…", "a".repeat(LEAD), "b".repeat(SHOWN - LEAD - 3));
        check_cut(&long, 100_000, &expected);
        let wide = format!("{}HIT{}", "文".repeat(1000), "字".repeat(1000));
        let expected = format!("…{}HIT{}…", "文".repeat(LEAD), "字".repeat(SHOWN - LEAD - 3));
        check_cut(&wide, 3000, &expected);
        let end = format!("{}HIT", "a".repeat(1000));
        check_cut(&end, 1000, &format!("…{}HIT", "a".repeat(LEAD)));
    }

    #[test]
    fn bytes_that_are_no_text_are_shown_as_such() {
        assert_eq!(cut(b"a\xffb", 0), "a\u{fffd}b");
        assert_eq!(cut(&[0x80; 5000], 2500).chars().count(), SHOWN + 2);
    }
}
