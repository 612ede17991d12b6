//! The lines of a text that a change made, with one line around them, at a bounded cost and size.

use std::collections::HashMap;
use std::ops::Range;

use crewagent_format::wording::cut;
use serde::Serialize;

use super::lines::split;

/// Maximum number of lines that are shown.
const MAX_SHOWN: usize = 40;
/// Maximum number of characters shown of a line.
const MAX_WIDTH: usize = 500;
/// Number of lines shown before and after a changed one.
const AROUND: usize = 1;

/// Neighbouring lines of a changed text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangedLines {
    /// Number of the first line, from 1.
    pub start_line: usize,
    /// Lines without their endings.
    pub lines: Vec<String>,
}

/// Returns the lines of the new text that differ from the old one, and the number of such lines that are left out.
pub fn changed_lines(before: &str, after: &str) -> (Vec<ChangedLines>, usize) {
    let old: Vec<&str> = split(before).map(|line| line.text).collect();
    let new: Vec<&str> = split(after).map(|line| line.text).collect();
    let mut parts: Vec<Range<usize>> = Vec::new();
    for range in differences(&old, &new) {
        let shown = range.start.saturating_sub(AROUND)..(range.end + AROUND).min(new.len());
        match parts.last_mut() {
            Some(last) if shown.start <= last.end => last.end = last.end.max(shown.end),
            Some(_) | None => parts.push(shown),
        }
    }
    let (mut changed, mut room, mut more) = (Vec::new(), MAX_SHOWN, 0);
    for part in parts {
        let shown = part.len().min(room);
        room -= shown;
        more += part.len() - shown;
        if shown > 0 {
            let lines = new[part.start..part.start + shown].iter();
            let lines = lines.map(|line| cut(line, MAX_WIDTH)).collect();
            changed.push(ChangedLines { start_line: part.start + 1, lines });
        }
    }
    (changed, more)
}

/// Returns the ranges of new lines that differ, in order; where lines only went away, the range is empty.
fn differences(old: &[&str], new: &[&str]) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut old_at, mut new_at) = (0, 0);
    let ends = [(old.len(), new.len())];
    for (old_end, new_end) in anchors(old, new).into_iter().chain(ends) {
        let (first, second) = (&old[old_at..old_end], &new[new_at..new_end]);
        let front = common(first.iter().zip(second));
        let (first, second) = (&first[front..], &second[front..]);
        let back = common(first.iter().rev().zip(second.iter().rev()));
        if first.len() > back || second.len() > back {
            ranges.push(new_at + front..new_end - back);
        }
        // The anchor itself is the first line of the next part.
        (old_at, new_at) = (old_end, new_end);
    }
    ranges
}

/// Returns the positions of lines that both texts have once, as far as their order is the same in both.
fn anchors(old: &[&str], new: &[&str]) -> Vec<(usize, usize)> {
    let front = common(old.iter().zip(new));
    let back = common(old[front..].iter().rev().zip(new[front..].iter().rev()));
    let inner = |lines: &[&str]| front..lines.len() - back;
    let mut seen: HashMap<&str, LineCount> = HashMap::new();
    for (at, line) in old.iter().enumerate().take(inner(old).end).skip(front) {
        let count = seen.entry(line).or_default();
        count.old += 1;
        count.old_at = at;
    }
    for line in &new[inner(new)] {
        if let Some(count) = seen.get_mut(line) {
            count.new += 1;
        }
    }
    let once = new.iter().enumerate().take(inner(new).end).skip(front);
    let pairs = once.filter_map(|(at, line)| {
        let count = seen.get(line).filter(|count| (count.old, count.new) == (1, 1))?;
        Some((count.old_at, at))
    });
    longest_rising(&pairs.collect::<Vec<_>>())
}

#[derive(Default)]
struct LineCount {
    old: usize,
    new: usize,
    old_at: usize,
}

/// Returns the longest subsequence of pairs whose first positions rise, too.
fn longest_rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    // For each length, the pair with the lowest first position that ends such a subsequence.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (at, (position, _)) in pairs.iter().enumerate() {
        let length = ends.partition_point(|end| pairs[*end].0 < *position);
        before.push(length.checked_sub(1).map(|shorter| ends[shorter]));
        match ends.get_mut(length) {
            Some(end) => *end = at,
            None => ends.push(at),
        }
    }
    let mut rising = Vec::with_capacity(ends.len());
    let mut next = ends.last().copied();
    while let Some(at) = next {
        rising.push(pairs[at]);
        next = before[at];
    }
    rising.reverse();
    rising
}

fn common<'l>(pairs: impl Iterator<Item = (&'l &'l str, &'l &'l str)>) -> usize {
    pairs.take_while(|(first, second)| first == second).count()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use proptest::test_runner::{Config as ProptestConfig, RngSeed};

    use super::*;

    fn shown(before: &str, after: &str) -> String {
        let (parts, more) = changed_lines(before, after);
        let part = |part: &ChangedLines| format!("{}:{}", part.start_line, part.lines.join("/"));
        let parts: Vec<String> = parts.iter().map(part).collect();
        format!("{} +{more}", parts.join(" "))
    }

    #[track_caller]
    fn check_changed(before: &str, after: &str, expected: &str) {
        assert_eq!(shown(before, after), expected, "{before:?} -> {after:?}");
    }

    #[test]
    fn a_changed_line_is_shown_with_its_neighbours() {
        check_changed("a\nb\nc\nd\n", "a\nb\nX\nd\n", "2:b/X/d +0");
        check_changed("a\nb\nc\n", "X\nb\nc\n", "1:X/b +0");
        check_changed("a\nb\nc\n", "a\nb\nX\n", "2:b/X +0");
        check_changed("a\nb", "a\nb\nc", "2:b/c +0");
        check_changed("a\r\nb\r\n", "a\r\nX\r\n", "1:a/X +0");
        check_changed("", "a\n", "1:a +0");
    }

    #[test]
    fn lines_that_went_away_show_what_is_left_around_them() {
        check_changed("a\nb\nc\nd\n", "a\nd\n", "1:a/d +0");
        check_changed("a\nb\n", "b\n", "1:b +0");
        check_changed("a\n", "", " +0");
    }

    #[test]
    fn changes_that_do_not_touch_are_apart() {
        let before = "a\nb\nc\nd\ne\nf\ng\nh\n";
        check_changed(before, "a\nX\nc\nd\ne\nf\nY\nh\n", "1:a/X/c 6:f/Y/h +0");
        check_changed(before, "a\nX\nc\nY\ne\nf\ng\nh\n", "1:a/X/c/Y/e +0");
        check_changed(before, "a\nX\nc\nd\nY\nf\ng\nh\n", "1:a/X/c/d/Y/f +0");
    }

    #[test]
    fn many_and_long_lines_are_cut() {
        let after: String = (0..100).map(|line| format!("{line}\n")).collect();
        let (parts, more) = changed_lines("", &after);
        assert_eq!((parts[0].lines.len(), parts.len(), more), (40, 1, 60));
        let (parts, _) = changed_lines("", &"é".repeat(10_000));
        assert!(parts[0].lines[0].chars().count() <= 501);
    }

    #[test]
    fn large_texts_are_compared_in_a_moment() {
        let lines = |text: &str| text.repeat(400_000);
        let (parts, more) = changed_lines(&lines("a\n"), &lines("b\n"));
        assert_eq!((parts.len(), more), (1, 399_960));
        let (parts, _) = changed_lines(&lines("a\nb\n"), &lines("b\na\n"));
        assert_eq!(parts[0].start_line, 1);
    }

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(1),
            failure_persistence: None,
            ..ProptestConfig::default()
        })]

        #[test]
        fn every_new_line_is_shown_where_it_stands(
            before in "([a-f]\n){0,12}", after in "([a-h]\n){0,12}",
        ) {
            let new: Vec<&str> = after.lines().collect();
            let (parts, more) = changed_lines(&before, &after);
            prop_assert_eq!(more, 0);
            let mut is_shown = vec![false; new.len()];
            for part in &parts {
                for (at, line) in (part.start_line - 1..).zip(&part.lines) {
                    prop_assert_eq!(line, new[at]);
                    prop_assert!(!is_shown[at]);
                    is_shown[at] = true;
                }
            }
            let old: Vec<&str> = before.lines().collect();
            // A line that the old text does not have is always shown.
            for (at, line) in new.iter().enumerate() {
                prop_assert!(is_shown[at] || old.contains(line), "{} of {:?}", at, parts);
            }
            prop_assert_eq!(parts.is_empty(), before == after || after.is_empty());
        }
    }
}
