//! Hunks: lines that stay, are removed and are added, and the diff's hints about their position.

use super::lines::{Ending, dominant};

/// Changes of one file, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PatchHunks(pub(super) Vec<PatchHunk>);

impl PatchHunks {
    /// Returns the number of hunks.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// Returns the ending of the new lines in the diff.
    pub(super) fn ending(&self) -> Option<Ending> {
        let lines = self.0.iter().flat_map(|hunk| &hunk.lines);
        dominant(
            lines
                .filter(|line| line.mark == Mark::Add && line.tail == TailHint::Unsaid)
                .map(|line| line.ending),
        )
    }
}

/// Group of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PatchHunk {
    pub(super) anchor: Anchor,
    pub(super) lines: Vec<PatchLine>,
}

/// Hints of the diff about the position of a hunk, apart from its lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Anchor {
    /// `@@ -n`: index of the first old line, or of the line before which new lines go.
    pub(super) index: Option<usize>,
    /// Lines before the hunk, from `@@ line`, outer ones first.
    pub(super) contexts: Vec<String>,
    /// Text after the numbers, in `@@ -1,2 +1,2 @@ heading`; only a hint.
    pub(super) heading: Option<String>,
    /// `*** End of File`: the old lines are the last ones.
    pub(super) at_end: bool,
}

/// Role of a line in a hunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Keep,
    Remove,
    Add,
}

/// Hint of the diff that this line is the last and has no ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TailHint {
    Unsaid,
    Open,
}

/// Line of a hunk, without its mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PatchLine {
    pub(super) mark: Mark,
    pub(super) text: String,
    pub(super) ending: Ending,
    pub(super) tail: TailHint,
}

impl PatchHunk {
    /// Returns the lines of the file before the change.
    pub(super) fn old(&self) -> Vec<&str> {
        self.texts(Mark::Add)
    }

    /// Returns the lines of the file after the change.
    pub(super) fn new_lines(&self) -> Vec<&str> {
        self.texts(Mark::Remove)
    }

    fn texts(&self, without: Mark) -> Vec<&str> {
        self.lines
            .iter()
            .filter(|line| line.mark != without)
            .map(|line| line.text.as_str())
            .collect()
    }

    /// Returns the number of blank old lines at the end that stay: a text that ends in `\n` has no such line, but
    /// models often see one.
    pub(super) fn blank_tail(&self) -> usize {
        let blank = |line: &&PatchLine| line.mark == Mark::Keep && line.text.trim().is_empty();
        self.lines.iter().rev().take_while(blank).count()
    }

    pub(super) fn adds(&self) -> bool {
        self.lines.iter().any(|line| line.mark == Mark::Add)
    }

    /// Returns the first line at which a later hunk may begin, if this one begins at `start`: context may be shared.
    pub(super) fn reach(&self, start: usize) -> usize {
        self.changes(start).last().map_or(start, |change| change.at + change.removed)
    }

    /// Returns the changes, if the first old line is at `start`.
    pub(super) fn changes(&self, start: usize) -> Vec<LineChange<'_>> {
        let mut changes: Vec<LineChange<'_>> = Vec::new();
        let mut at = start;
        let mut open = false;
        for line in &self.lines {
            if line.mark == Mark::Keep {
                at += 1;
                open = false;
                continue;
            }
            if !open {
                changes.push(LineChange { at, removed: 0, added: Vec::new() });
                open = true;
            }
            let Some(change) = changes.last_mut() else { continue };
            if line.mark == Mark::Remove {
                change.removed += 1;
                at += 1;
            } else {
                change.added.push(line.text.as_str());
            }
        }
        changes
    }

    /// Returns the end of the new text according to the diff, if its last line is one that this hunk adds.
    pub(super) fn new_tail(&self) -> Option<TailHint> {
        let open = |marks: [Mark; 2]| {
            self.lines.iter().any(|line| line.tail == TailHint::Open && marks.contains(&line.mark))
        };
        if open([Mark::Keep, Mark::Add]) {
            Some(TailHint::Open)
        } else if open([Mark::Keep, Mark::Remove]) {
            Some(TailHint::Unsaid)
        } else {
            None
        }
    }
}

/// Adjacent lines that are removed, and the lines that replace them.
pub(super) struct LineChange<'p> {
    pub(super) at: usize,
    pub(super) removed: usize,
    pub(super) added: Vec<&'p str>,
}
