//! The changed lines of a file, cut to a few.

use std::time::Duration;

use anstyle::{AnsiColor, Style};
use similar::{ChangeTag, TextDiff};

use crate::paint::{self, QUIET};

const REMOVED: Style = AnsiColor::Red.on_default();
const ADDED: Style = AnsiColor::Green.on_default();
/// Unchanged lines around a change.
const CONTEXT: usize = 2;
/// Time limit for finding the shortest difference.
const TIME: Duration = Duration::from_millis(100);

/// The maximum size of a shown difference.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct DiffBounds {
    pub(crate) lines: usize,
    pub(crate) columns: usize,
}

/// Formats the changed lines with their numbers and context.
pub(crate) fn diff(before: &str, after: &str, bounds: DiffBounds) -> String {
    let diff = TextDiff::configure().timeout(TIME).diff_lines(before, after);
    let mut out = String::new();
    let (mut shown, mut left) = (0, 0);
    for (number, group) in diff.grouped_ops(CONTEXT).iter().enumerate() {
        if number > 0 && left == 0 {
            out.push_str(&format!("    {}\n", paint::styled(QUIET, "⋮")));
        }
        for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
            let is_change = change.tag() != ChangeTag::Equal;
            if shown == bounds.lines {
                left += usize::from(is_change);
                continue;
            }
            shown += usize::from(is_change);
            let at = change.new_index().or(change.old_index()).map_or(0, |at| at + 1);
            out.push_str(&line(change.tag(), at, change.value(), bounds.columns));
        }
    }
    if left > 0 {
        let more = format!("… {}", paint::counted(left, ("more line", "行未显示")));
        out.push_str(&format!("    {}\n", paint::styled(QUIET, more)));
    }
    out
}

fn line(tag: ChangeTag, at: usize, text: &str, columns: usize) -> String {
    let (mark, style) = match tag {
        ChangeTag::Delete => ("-", REMOVED),
        ChangeTag::Insert => ("+", ADDED),
        ChangeTag::Equal => (" ", QUIET),
    };
    let text = paint::printable(&text.trim_end_matches(['\n', '\r']).replace('\t', "    "));
    let text = paint::fitted(&text, columns.saturating_sub(12).max(20));
    let words = format!("{mark} {text}");
    let number = paint::styled(QUIET, format_args!("{at:>4}"));
    format!("    {number} {}\n", paint::styled(style, words.trim_end()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_diff(before: &str, after: &str, lines: usize, expected: &str) {
        let text = diff(before, after, DiffBounds { lines, columns: 40 });
        assert_eq!(anstream::adapter::strip_str(&text).to_string(), expected);
    }

    #[test]
    fn a_change_stands_between_its_neighbours() {
        let expected =
            "       2   b\n       3   c\n       4 - d\n       4 + D\n       5   e\n       6   f\n";
        check_diff("a\nb\nc\nd\ne\nf\ng\n", "a\nb\nc\nD\ne\nf\ng\n", 20, expected);
        check_diff("a\n", "a\n", 20, "");
    }

    #[test]
    fn changes_that_are_far_apart_are_divided() {
        let before: String = (1..=20).map(|n| format!("{n}\n")).collect();
        let after = before.replace("2\n3\n", "2\nthree\n").replace("19\n", "");
        let text = diff(&before, &after, DiffBounds { lines: 20, columns: 40 });
        assert!(text.contains('⋮') && text.contains("+ three") && text.contains("- 19"), "{text}");
    }

    #[test]
    fn a_long_difference_is_cut() {
        check_diff("", "一\n二\n三\n四\n", 2, "       1 + 一\n       2 + 二\n    … 2 more lines\n");
    }

    #[test]
    fn a_file_cannot_steer_the_terminal() {
        check_diff("", "a\u{1b}[2J\tb\r\n", 9, "       1 + a\u{fffd}[2J    b\n");
        let wide = "x".repeat(100);
        let text = diff("", &wide, DiffBounds { lines: 9, columns: 40 });
        assert!(anstream::adapter::strip_str(&text).to_string().trim_end().ends_with('…'));
    }
}
