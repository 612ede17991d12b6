//! Changes of a text that are made whole or not at all.
//!
//! A change is either exact strings ([`Replacement`]) or a diff ([`FilePatch`]), which is a unified diff or the
//! `*** Begin Patch` form that models know. The steps of a diff: `wrapping` (code fences, heredocs) → `unified` or
//! `envelope` (sections) → `hunk_text` (hunks) → `place` (the position of a hunk, by the `ladder`) → `weave` (the new
//! text).
//!
//! - A line that the patch does not touch keeps its bytes, its ending too. A new line gets the ending that most lines
//!   of the text have. A byte order mark stays. A new last line ends as the old last line did, unless the diff says
//!   `\ No newline at end of file`.
//! - `E_INVALID_ARGS` means that the patch is wrong whatever the text holds; `E_PRECONDITION_FAILED` means that it does
//!   not fit this text, so that reading the text again helps; `E_WRITE_LIMIT` means that it is too much.

mod changed;
mod envelope;
mod header;
mod hunk;
mod hunk_text;
mod ladder;
#[cfg(test)]
mod laws;
mod lines;
mod nearest;
mod place;
mod refused;
mod replace;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod tests_format;
#[cfg(test)]
mod tests_replace;
mod unified;
mod weave;
mod wrapping;

use crewagent_format::wording::quoted;
use serde::Deserialize;

use crate::refusal::{Refusal, RefusalCode};
use crate::vpath::VPath;

pub use changed::{ChangedLines, changed_lines};
pub use hunk::PatchHunks;

/// Maximum size of a patched text, in bytes.
const MAX_TEXT: usize = 16 * 1024 * 1024;
/// Maximum number of lines of a text patched by a diff.
const MAX_LINES: usize = 500_000;
/// Maximum size of a diff, in bytes.
const MAX_DIFF: usize = 4 * 1024 * 1024;
/// Maximum number of hunks for one file.
const MAX_HUNKS: usize = 1000;

/// Change of one text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TextPatch {
    /// Exact strings, replaced in order.
    Replace(Vec<Replacement>),
    Diff(FilePatch),
}

/// Replacement of one string by another.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replacement {
    /// Exact text to find; only line endings may differ.
    pub old: String,
    pub new: String,
    /// True to replace every occurrence; otherwise there must be exactly one.
    #[serde(default)]
    pub all: bool,
}

/// Part of a diff about one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilePatch {
    /// Path in the diff, without git's `a/` and `b/`. A diff may name none.
    pub path: Option<String>,
    pub change: FileChangeKind,
}

/// Kind of change to a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileChangeKind {
    /// Creates the file, which must not exist, with this text.
    Add(String),
    Delete,
    Update(PatchHunks),
    /// Moves the file, and may change some of its lines.
    Move {
        to: String,
        /// Changes, possibly none.
        hunks: PatchHunks,
    },
}

/// Returns the text after the patch. It always differs: a patch that changes nothing is refused.
///
/// A diff that adds a file needs an empty `text`; one that deletes or moves the file is refused, because one text
/// cannot show it.
pub fn apply(text: &str, patch: &TextPatch) -> Result<String, Refusal> {
    if text.len() > MAX_TEXT {
        return Err(too_large(&format!("The file has more than {MAX_TEXT} bytes")));
    }
    let changed = match patch {
        TextPatch::Replace(edits) => replace::apply(text, edits)?,
        TextPatch::Diff(file) => file.change.apply(text)?,
    };
    if changed == text {
        return Err(invalid("The patch changes nothing: the text after it is the text before it.")
            .hint("Leave it out, or say what shall be different."));
    }
    Ok(changed)
}

impl FilePatch {
    /// Parses a diff about one file.
    pub fn parse(diff: &str) -> Result<Self, Refusal> {
        <[Self; 1]>::try_from(Self::parse_all(diff)?).map(|[file]| file).map_err(|files| {
            let named = |file: &Self| quoted(file.path.as_deref().unwrap_or("?"));
            let names: Vec<_> = files.iter().take(8).map(named).collect();
            let message = format!("The diff is about several files: {}.", names.join(", "));
            invalid(message).hint("Send one call for each file, with that file's `path`.")
        })
    }

    /// Parses a diff about one or more files.
    pub fn parse_all(diff: &str) -> Result<Vec<Self>, Refusal> {
        if diff.len() > MAX_DIFF {
            return Err(too_large(&format!("The diff has more than {MAX_DIFF} bytes")));
        }
        let lines = wrapping::unwrap(diff);
        let files = if envelope::is_envelope(&lines) {
            envelope::parse(&lines)?
        } else {
            unified::parse(&lines)?
        };
        let files = merge(files);
        let most = files.iter().filter_map(FilePatch::hunks).map(PatchHunks::count).max();
        if most > Some(MAX_HUNKS) {
            let message = format!("The diff has more than {MAX_HUNKS} hunks for one file.");
            return Err(invalid(message).hint("Send it in several calls."));
        }
        Ok(files)
    }

    /// Refuses a diff that names another file than the call does.
    pub fn check_target(&self, target: &VPath) -> Result<(), Refusal> {
        let Some(named) = &self.path else { return Ok(()) };
        let same = VPath::parse(named).is_ok_and(|path| path == *target)
            || named.strip_prefix("./").unwrap_or(named) == target.relative();
        if same {
            return Ok(());
        }
        let shown = quoted(named);
        Err(invalid(format!("The diff is about {shown}, but the call's path is `{target}`."))
            .hint("Name the same file in both, or leave the file's name out of the diff."))
    }

    fn hunks(&self) -> Option<&PatchHunks> {
        match &self.change {
            FileChangeKind::Update(hunks) | FileChangeKind::Move { hunks, .. } => Some(hunks),
            FileChangeKind::Add(_) | FileChangeKind::Delete => None,
        }
    }
}

impl FileChangeKind {
    fn apply(&self, text: &str) -> Result<String, Refusal> {
        match self {
            Self::Update(hunks) => hunks.apply(text),
            Self::Add(new) if text.is_empty() => Ok(new.clone()),
            Self::Add(_) => Err(Refusal::new(
                RefusalCode::Precondition,
                "The diff adds a file that already exists and is not empty.",
            )
            .hint(
                "Change it with `*** Update File:` and hunks, or replace all of it with fs.write.",
            )),
            Self::Delete => {
                Err(invalid("The diff deletes the file; a patch only changes its text.")
                    .hint("Send hunks that change lines."))
            }
            Self::Move { .. } => Err(invalid(
                "The diff moves the file; a patch only changes its text.",
            )
            .hint("Leave the new name out; write the other file with fs.write if it is needed.")),
        }
    }
}

impl PatchHunks {
    /// Returns the text after these changes, possibly the same text.
    pub fn apply(&self, text: &str) -> Result<String, Refusal> {
        let lines = lines::Lines::new(text);
        if lines.all.len() > MAX_LINES {
            return Err(too_large(&format!("The file has more than {MAX_LINES} lines")));
        }
        let starts = place::place(&lines, self)?;
        Ok(weave::weave(&lines, self, &starts))
    }
}

/// Merges consecutive sections about the same file, because models like to repeat the name.
fn merge(files: Vec<FilePatch>) -> Vec<FilePatch> {
    let mut merged: Vec<FilePatch> = Vec::new();
    for file in files {
        match (merged.last_mut(), file) {
            (
                Some(FilePatch { path: before, change: FileChangeKind::Update(hunks) }),
                FilePatch { path, change: FileChangeKind::Update(more) },
            ) if *before == path => hunks.extend(more),
            (_, file) => merged.push(file),
        }
    }
    merged
}

fn invalid(message: impl Into<String>) -> Refusal {
    Refusal::new(RefusalCode::InvalidArguments, message)
}

fn too_large(what: &str) -> Refusal {
    Refusal::new(RefusalCode::WriteLimit, format!("{what}, which is too much for a patch."))
        .hint("Make the change in smaller pieces.")
}
