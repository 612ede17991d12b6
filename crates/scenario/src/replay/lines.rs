//! The lines in which two texts differ, with the lines before them.

use std::fmt::Write as _;

/// Lines shown before the difference.
const CONTEXT: usize = 2;
/// Lines shown of either text.
const SHOWN: usize = 5;
/// Characters shown of a line.
const WIDTH: usize = 160;

/// Describes the difference of the texts: `-` is the first one, `+` the second.
pub(super) fn difference(old: &str, new: &str) -> String {
    let (before, after): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    let same = before.iter().zip(&after).take_while(|(one, two)| one == two).count();
    let (before_end, after_end) = unequal_ends(&before, &after, same);
    if same == before.len() && same == after.len() {
        return "the line breaks differ, or how the text ends".to_owned();
    }
    let mut text = format!("line {} differs (- recorded, + now):", same + 1);
    for line in before.iter().take(same).skip(same.saturating_sub(CONTEXT)) {
        push(&mut text, ' ', line, 0);
    }
    let old_lines = before.get(same..before_end).unwrap_or_default();
    let new_lines = after.get(same..after_end).unwrap_or_default();
    let from = match (old_lines.first(), new_lines.first()) {
        (Some(one), Some(two)) => first_differing(one, two),
        (_, _) => 0,
    };
    block(&mut text, '-', old_lines, from);
    block(&mut text, '+', new_lines, from);
    text
}

/// Returns the end of the differing lines in each text.
fn unequal_ends(before: &[&str], after: &[&str], same: usize) -> (usize, usize) {
    let most = before.len().min(after.len()) - same;
    let pairs = before.iter().rev().zip(after.iter().rev());
    let tail = pairs.take_while(|(one, two)| one == two).count().min(most);
    (before.len() - tail, after.len() - tail)
}

fn block(text: &mut String, mark: char, lines: &[&str], from: usize) {
    for (at, line) in lines.iter().take(SHOWN).enumerate() {
        push(text, mark, line, if at == 0 { from } else { 0 });
    }
    if let Some(more) = lines.len().checked_sub(SHOWN + 1) {
        let _ = write!(text, "\n  {mark} … and {} more lines", more + 1);
    }
}

/// Appends a line, cut for a screen, around the first differing character.
fn push(text: &mut String, mark: char, line: &str, from: usize) {
    let start = from.saturating_sub(WIDTH / 4);
    let start = if line.chars().count() <= WIDTH { 0 } else { start };
    let cut: String = line.chars().skip(start).take(WIDTH).collect();
    let head = if start > 0 { "…" } else { "" };
    let tail = if line.chars().count() > start + WIDTH { "…" } else { "" };
    let _ = write!(text, "\n  {mark} {head}{cut}{tail}");
}

/// Returns the number of equal characters at the start of two lines.
fn first_differing(one: &str, two: &str) -> usize {
    one.chars().zip(two.chars()).take_while(|(a, b)| a == b).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str, expected: &str) {
        assert_eq!(difference(old, new), expected);
    }

    #[test]
    fn the_first_differing_lines_stand_with_their_context() {
        check(
            "a\nb\nc\nd\ne",
            "a\nb\nc\nX\ne",
            "line 4 differs (- recorded, + now):\n    b\n    c\n  - d\n  + X",
        );
        check("a", "b", "line 1 differs (- recorded, + now):\n  - a\n  + b");
    }

    #[test]
    fn added_and_removed_lines_stand_alone() {
        check("a\nc", "a\nb\nc", "line 2 differs (- recorded, + now):\n    a\n  + b");
        check("a\nb\nc", "a\nc", "line 2 differs (- recorded, + now):\n    a\n  - b");
        check("a\na", "a", "line 2 differs (- recorded, + now):\n    a\n  - a");
        check("", "b", "line 1 differs (- recorded, + now):\n  + b");
    }

    #[test]
    fn a_long_line_is_cut_around_the_difference() {
        let (old, new) = (format!("{}A{}", "x".repeat(500), "y".repeat(500)), "x".repeat(1001));
        let text = difference(&old, &new);
        assert!(text.contains(&format!("- …{}A", "x".repeat(40))), "{text}");
        assert!(text.lines().all(|line| line.chars().count() < 200), "{text}");
    }

    #[test]
    fn many_lines_are_counted_not_shown() {
        let old: String = (0..20).map(|n| format!("old {n}\n")).collect();
        let text = difference(&old, "new");
        assert!(text.contains("- … and 15 more lines"), "{text}");
    }

    #[test]
    fn texts_that_differ_only_in_their_end_are_told_apart() {
        check("a\n", "a", "the line breaks differ, or how the text ends");
    }
}
