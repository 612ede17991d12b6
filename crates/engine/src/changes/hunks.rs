//! Hunks of a changed file: the differences between its content before the run and now.

use std::time::Duration;

use crewagent_format::integrity::Digest;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use similar::{ChangeTag, DiffOp, TextDiff};

use super::{ChangesError, RunChanges, place};

/// Limit in bytes; longer files are not compared.
const MOST_COMPARED: usize = 1 << 20;
/// Lines of context around a difference.
const AROUND: usize = 3;
/// Time after which the diff settles for one that is not the shortest.
const TIME: Duration = Duration::from_millis(500);

/// Differences of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Hunks {
    /// The digest of the file now.
    #[cfg_attr(feature = "ts", ts(type = "string"))]
    pub now: Digest,
    /// True if the run created the file.
    pub created: bool,
    /// True if the file is as the run left it.
    pub is_current: bool,
    /// The hunks, from the top.
    pub hunks: Vec<Hunk>,
}

/// Lines that differ, with those around them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Hunk {
    /// Its range. Together with the digest of the file this names the hunk.
    #[serde(flatten)]
    pub range: HunkRange,
    /// The lines.
    pub lines: Vec<HunkLine>,
}

/// Lines of both texts, counted from 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct HunkRange {
    /// The first line before.
    #[schemars(with = "u32")]
    pub old_start: usize,
    /// Number of lines before.
    #[schemars(with = "u32")]
    pub old_lines: usize,
    /// The first line now.
    #[schemars(with = "u32")]
    pub new_start: usize,
    /// Number of lines after.
    #[schemars(with = "u32")]
    pub new_lines: usize,
}

/// A line of a hunk, without its end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct HunkLine {
    /// Side of the comparison.
    pub side: HunkSide,
    /// Text of the line.
    pub text: String,
}

/// Side of the comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum HunkSide {
    /// In both texts.
    Both,
    /// Only in the text before.
    Before,
    /// Only in the text now.
    Now,
}

/// The texts of a file before the run and now.
struct FileTexts {
    before: String,
    now: String,
    sha256: Digest,
}

impl RunChanges {
    /// Returns the differences between a file before the run and now, including changes from outside of the run.
    pub fn hunks(&self, path: &str) -> Result<Hunks, ChangesError> {
        let (first, last) = self.span(path, None)?;
        let FileTexts { before, now, sha256 } = self.texts(path)?;
        let hunks = grouped(&before, &now);
        let (created, is_current) = (first.before.is_none(), last.after == Some(sha256));
        Ok(Hunks { now: sha256, created, is_current, hunks })
    }

    /// Reverts one hunk. The file must have this digest now, and the hunk must be one of its hunks.
    pub fn revert_hunk(
        &self,
        path: &str,
        now: Digest,
        hunk: HunkRange,
    ) -> Result<(), ChangesError> {
        let texts = self.texts(path)?;
        let all = grouped(&texts.before, &texts.now);
        if texts.sha256 != now || all.iter().all(|one| one.range != hunk) {
            return Err(ChangesError::Stale(path.to_owned()));
        }
        let before = self.span(path, None)?.0.before;
        if before.is_none() && all.len() == 1 {
            // The only hunk of a file that the run created is the whole file.
            return self.put_back(path, None, Some(now));
        }
        self.write(path, without(&texts, hunk).as_bytes(), Some(now))
    }

    fn texts(&self, path: &str) -> Result<FileTexts, ChangesError> {
        let not_text = || ChangesError::NotText(path.to_owned());
        let text = |bytes: Vec<u8>| String::from_utf8(bytes).map_err(|_| not_text());
        let content = self.mounts.read(&place(path)?, MOST_COMPARED)??;
        if !content.is_whole() {
            return Err(not_text());
        }
        let before = match self.span(path, None)?.0.before {
            None => String::new(),
            Some(digest) => text(self.image(path, digest, MOST_COMPARED)?.ok_or_else(not_text)?)?,
        };
        Ok(FileTexts { before, now: text(content.bytes)?, sha256: content.sha256 })
    }
}

fn grouped(before: &str, now: &str) -> Vec<Hunk> {
    let diff = TextDiff::configure().timeout(TIME).diff_lines(before, now);
    let hunk = |ops: &Vec<DiffOp>| {
        let changes = ops.iter().flat_map(|op| diff.iter_changes(op));
        let lines = changes.map(|change| HunkLine {
            side: match change.tag() {
                ChangeTag::Equal => HunkSide::Both,
                ChangeTag::Delete => HunkSide::Before,
                ChangeTag::Insert => HunkSide::Now,
            },
            text: change.value().trim_end_matches(['\n', '\r']).to_owned(),
        });
        Some(Hunk { range: range(ops)?, lines: lines.collect() })
    };
    diff.grouped_ops(AROUND).iter().filter_map(hunk).collect()
}

fn range(ops: &[DiffOp]) -> Option<HunkRange> {
    let (first, last) = (ops.first()?, ops.last()?);
    let (old_start, new_start) = (first.old_range().start, first.new_range().start);
    let old_lines = last.old_range().end - old_start;
    let new_lines = last.new_range().end - new_start;
    Some(HunkRange { old_start, old_lines, new_start, new_lines })
}

/// Returns the current text with one hunk replaced by its old lines, which keep their line endings.
fn without(texts: &FileTexts, hunk: HunkRange) -> String {
    // Split lines as the diff does: a carriage return ends one, too.
    let diff = TextDiff::configure().timeout(Duration::ZERO).diff_lines(&texts.before, &texts.now);
    let (old, new) = (diff.old_slices(), diff.new_slices());
    let HunkRange { old_start, old_lines, new_start, new_lines } = hunk;
    let head = new.iter().take(new_start);
    let back = old.iter().skip(old_start).take(old_lines);
    let tail = new.iter().skip(new_start + new_lines);
    head.chain(back).chain(tail).copied().collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check_without(before: &str, now: &str, at: usize, expected: &str) {
        let hunk = grouped(before, now)[at].range;
        let sha256 = Digest::of(now.as_bytes());
        let texts = FileTexts { before: before.to_owned(), now: now.to_owned(), sha256 };
        assert_eq!(without(&texts, hunk), expected);
    }

    #[test]
    fn one_hunk_goes_and_the_others_stay() {
        let before = "1\n2\n3\n4\n5\n6\n7\n8\n9\n10\n";
        let now = "one\n2\n3\n4\n5\n6\n7\n8\n9\nten\n";
        check_without(before, now, 0, "1\n2\n3\n4\n5\n6\n7\n8\n9\nten\n");
        check_without(before, now, 1, "one\n2\n3\n4\n5\n6\n7\n8\n9\n10\n");
    }

    #[test]
    fn ends_of_lines_are_those_of_the_lines() {
        check_without("a\r\nb", "a\r\nc\n", 0, "a\r\nb");
        check_without("a\n", "a\nb", 0, "a\n");
    }

    proptest! {
        #[test]
        fn when_all_hunks_are_taken_back_the_text_is_as_before(
            before in "([ab]\r?\n){0,12}[ab]?", now in "([ab]\r?\n){0,12}[ab]?"
        ) {
            let mut text = now;
            for _ in 0..100 {
                let Some(hunk) = grouped(&before, &text).pop() else { break };
                let sha256 = Digest::of(text.as_bytes());
                let texts = FileTexts { before: before.clone(), now: text, sha256 };
                text = without(&texts, hunk.range);
            }
            prop_assert_eq!(text, before);
        }
    }
}
