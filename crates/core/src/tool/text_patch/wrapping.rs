//! Wrappings that models put around a diff: code fences, heredocs, a byte order mark.

use super::lines::{Line, split, split_bom};

/// Returns the lines of a diff without its wrapping.
pub(super) fn unwrap(diff: &str) -> Vec<Line<'_>> {
    let (_, diff) = split_bom(diff);
    let lines: Vec<_> = split(diff).collect();
    let mut inner = trimmed(&lines);
    // A heredoc in a fence, or a fence in a heredoc.
    for _ in 0..3 {
        let Some(first) = inner.first() else { break };
        let Some(closing) = closing(first.text) else { break };
        let rest = inner.get(1..).unwrap_or_default();
        let till = match trimmed(rest).split_last() {
            Some((last, before)) if closing.closes(last.text) => before,
            _ => trimmed(rest),
        };
        inner = trimmed(till);
    }
    inner.to_vec()
}

/// Trims empty lines. At the end, a line with a blank may be a line of the file.
fn trimmed<'l, 't>(lines: &'l [Line<'t>]) -> &'l [Line<'t>] {
    let start = lines.iter().take_while(|line| line.text.trim().is_empty()).count();
    let end = lines.iter().rposition(|line| !line.text.is_empty()).map_or(0, |at| at + 1);
    lines.get(start..end).unwrap_or_default()
}

/// End of a wrapper.
enum Closing<'t> {
    Fence(&'t str),
    Word(&'t str),
}

impl Closing<'_> {
    fn closes(&self, line: &str) -> bool {
        match self {
            Self::Fence(fence) => line
                .trim_end()
                .strip_prefix(fence)
                .is_some_and(|rest| rest.chars().all(|c| fence.starts_with(c))),
            Self::Word(word) => line.trim().trim_end_matches(['"', '\'', ')']) == *word,
        }
    }
}

/// Returns the end of the wrapper that this line opens.
fn closing(line: &str) -> Option<Closing<'_>> {
    for mark in ['`', '~'] {
        let width = line.len() - line.trim_start_matches(mark).len();
        if width >= 3 {
            return Some(Closing::Fence(&line[..width]));
        }
    }
    let is_diff = line.starts_with([' ', '+', '-', '@', '*']) || line.starts_with("diff ");
    let (_, after) = line.split_once("<<").filter(|_| !is_diff)?;
    let word = after.trim_start_matches(['-', ' ', '\'', '"', '\\']);
    let end = word.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(word.len());
    (end > 0).then(|| Closing::Word(&word[..end]))
}
