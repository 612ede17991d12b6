//! Refusals of a patch that does not fit: the nearest match, and what to send instead.

use std::fmt;

use crewagent_format::wording::quoted;
use serde_json::json;

use super::invalid;
use super::ladder::Index;
use super::lines::Lines;
use super::nearest::{excerpt, nearest};
use crate::refusal::{Refusal, RefusalCode};

/// Maximum number of listed line numbers.
pub(super) const MAX_LISTED: usize = 10;

/// Part of a patch.
#[derive(Clone, Copy, Debug)]
pub(super) enum PatchSubject {
    Hunk { number: usize, total: usize },
    Edit { number: usize, total: usize },
}

impl fmt::Display for PatchSubject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Hunk { total: 1, .. } => write!(f, "The hunk"),
            Self::Hunk { number, total } => write!(f, "Hunk {number} of {total}"),
            Self::Edit { total: 1, .. } => write!(f, "`old`"),
            Self::Edit { number, total } => write!(f, "`old` of edit {number} of {total}"),
        }
    }
}

/// Refuses a part that matches at several positions.
pub(super) fn ambiguous(subject: PatchSubject, found: &[usize]) -> Refusal {
    let hint = match subject {
        PatchSubject::Hunk { .. } => {
            "Add more unchanged lines around the change, put a line above it that occurs once behind `@@`, or give \
             the right number in `@@ -line`."
        }
        PatchSubject::Edit { .. } => {
            "Add more of the text around it, so that it occurs once, or set `all` to true to change every one."
        }
    };
    let (listed, lines) = list(found);
    unfit(format!("{subject} matches at more than one place: {listed}."), hint)
        .detail("matches", json!(lines))
}

/// Refuses a part that matches only above an earlier change.
pub(super) fn out_of_order(subject: PatchSubject, found: usize) -> Refusal {
    let line = found + 1;
    let message = format!("{subject} belongs at line {line}, above the end of the hunk before it.");
    let hint = "Put the hunks in the order of the file, and join those that overlap.";
    unfit(message, hint).detail("matches", json!([line]))
}

/// Refuses a part that matches, but not after its `@@` line.
pub(super) fn elsewhere(subject: PatchSubject, found: usize, context: &str) -> Refusal {
    let line = found + 1;
    let shown = quoted(context);
    let message = format!("{subject} matches at line {line}, but not after its `@@` line {shown}.");
    unfit(message, "Name a line above the change behind `@@`, or nothing.")
        .detail("matches", json!([line]))
}

/// Returns true if lines are long enough that a match is hardly chance.
pub(super) fn is_telling(lines: &[&str]) -> bool {
    lines.iter().map(|line| line.trim().len()).sum::<usize>() >= 8
}

/// Refuses a part whose result is already in the file.
pub(super) fn already(subject: PatchSubject, found: usize) -> Refusal {
    let line = found + 1;
    let message =
        format!("{subject} does not match, but the file holds its result at line {line}.");
    unfit(message, "The change seems to be made already; leave it out.")
        .detail("matches", json!([line]))
}

/// Refuses a part that only adds lines, past the end.
pub(super) fn past_end(subject: PatchSubject, at: usize, end: usize) -> Refusal {
    let line = at + 1;
    let message = format!("{subject} only adds, at line {line}, but the file has {end} lines.");
    unfit(message, "Add an unchanged line that stands above the new ones.")
}

/// Refuses a part that only adds lines, after a line that is missing.
pub(super) fn lost(
    subject: PatchSubject,
    context: &str,
    lines: &Lines<'_>,
    index: &Index<'_>,
) -> Refusal {
    let shown = quoted(context);
    let message =
        format!("{subject} only adds, after the `@@` line {shown}, which is not in the file.");
    near(subject, message, lines, index, &[context])
}

/// Refuses a part that matches nowhere.
pub(super) fn nowhere(
    subject: PatchSubject,
    lines: &Lines<'_>,
    index: &Index<'_>,
    wanted: &[&str],
    lost: Option<&str>,
) -> Refusal {
    let context =
        lost.map(|line| format!(", nor does its `@@` line {}", quoted(line))).unwrap_or_default();
    near(subject, format!("{subject} matches nowhere in the file{context}."), lines, index, wanted)
}

/// Refuses a patch that needs too many comparisons.
pub(super) fn too_much() -> Refusal {
    invalid("The file repeats its lines so often that so many hunks cannot be placed. Nothing was changed.")
        .hint("Send fewer hunks in a call, or `replace` with exact strings.")
}

/// Returns a refusal with the most similar lines of the file, and the place of the first difference. The lines are in
/// the details alone, so that a model reads them once.
fn near(
    subject: PatchSubject,
    message: String,
    lines: &Lines<'_>,
    index: &Index<'_>,
    wanted: &[&str],
) -> Refusal {
    if lines.all.is_empty() {
        return match subject {
            PatchSubject::Hunk { .. } => {
                unfit(message, "The file is empty: send only lines with `+`.")
            }
            PatchSubject::Edit { .. } => {
                unfit(message, "The file is empty: write it with fs.write.")
            }
        };
    }
    let Some(start) = nearest(lines, index, wanted) else {
        return unfit(message, "No lines of the file are like it; read the file again.");
    };
    let differs = |offset: usize, line: &str| {
        let Some(there) = lines.text(start + offset) else { return true };
        // A string may begin and end inside a line.
        let (first, last) = (offset == 0, offset + 1 == wanted.len());
        match subject {
            PatchSubject::Edit { .. } if first && last => !there.contains(line),
            PatchSubject::Edit { .. } if first => !there.ends_with(line),
            PatchSubject::Edit { .. } if last => !there.starts_with(line),
            PatchSubject::Hunk { .. } | PatchSubject::Edit { .. } => there != line,
        }
    };
    let first = wanted.iter().enumerate().find(|(offset, line)| differs(*offset, line));
    let difference = first.map(|(offset, line)| {
        let at = start + offset;
        match (lines.text(at), subject) {
            // The string may begin anywhere in this line.
            (Some(_), PatchSubject::Edit { .. }) if offset == 0 => ", which differs".to_owned(),
            (Some(there), PatchSubject::Edit { .. } | PatchSubject::Hunk { .. }) => {
                let column = common(there, line) + 1;
                format!(", but line {} differs from column {column} on", at + 1)
            }
            (None, PatchSubject::Edit { .. } | PatchSubject::Hunk { .. }) => {
                format!(", but the file ends after line {at}")
            }
        }
    });
    let difference = difference.unwrap_or_default();
    let message = format!("{message} The nearest place is line {}{difference}.", start + 1);
    unfit(message, "Copy the lines exactly as they stand in the file.")
        .detail("nearest", excerpt(lines, start, wanted.len()))
}

/// Returns the number of equal characters at the start of two lines.
fn common(first: &str, second: &str) -> usize {
    first.chars().zip(second.chars()).take_while(|(first, second)| first == second).count()
}

/// Returns `lines 3, 5 and 9`, and the numbers.
fn list(found: &[usize]) -> (String, Vec<usize>) {
    let lines: Vec<_> = found.iter().take(MAX_LISTED).map(|at| at + 1).collect();
    let words: Vec<_> = lines.iter().map(usize::to_string).collect();
    let more = if found.len() > MAX_LISTED { " and more" } else { "" };
    (format!("lines {}{more}", words.join(", ")), lines)
}

fn unfit(message: String, hint: &str) -> Refusal {
    Refusal::new(RefusalCode::Precondition, message).hint(format!("Nothing was changed. {hint}"))
}
