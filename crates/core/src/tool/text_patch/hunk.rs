//! Hunks: lines that stay, go and come, and what the diff says about their place.

use super::lines::{Ending, dominant};

/// The changes of one file, in its order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Hunks(pub(super) Vec<Hunk>);

impl Hunks {
    /// How many there are.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    pub(super) fn extend(&mut self, more: Self) {
        self.0.extend(more.0);
    }

    /// The ending of the new lines as the diff has it.
    pub(super) fn ending(&self) -> Option<Ending> {
        let lines = self.0.iter().flat_map(|hunk| &hunk.lines);
        dominant(
            lines
                .filter(|line| line.mark == Mark::Add && line.tail == Tail::Unsaid)
                .map(|line| line.ending),
        )
    }
}

/// One group of lines.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    pub(super) anchor: Anchor,
    pub(super) lines: Vec<HunkLine>,
}

/// What the diff says about the place of a hunk, apart from its lines.
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

/// What a line of a hunk is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mark {
    Keep,
    Remove,
    Add,
}

/// Whether the diff says that this line is the last and has no ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tail {
    Unsaid,
    Open,
}

/// A line of a hunk, without its mark.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct HunkLine {
    pub(super) mark: Mark,
    pub(super) text: String,
    pub(super) ending: Ending,
    pub(super) tail: Tail,
}

impl Hunk {
    /// The lines that the file holds before.
    pub(super) fn old(&self) -> Vec<&str> {
        self.texts(Mark::Add)
    }

    /// The lines that the file holds afterwards.
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

    /// How many of the old lines are blank ones at the end that stay: a text that ends in `\n` has no such line, but
    /// models often see one.
    pub(super) fn blank_tail(&self) -> usize {
        let blank = |line: &&HunkLine| line.mark == Mark::Keep && line.text.trim().is_empty();
        self.lines.iter().rev().take_while(blank).count()
    }

    pub(super) fn adds(&self) -> bool {
        self.lines.iter().any(|line| line.mark == Mark::Add)
    }

    /// The first line that no later hunk may come before, when this one begins at `start`: context may be shared.
    pub(super) fn reach(&self, start: usize) -> usize {
        self.changes(start).last().map_or(start, |change| change.at + change.removed)
    }

    /// What changes, when the first old line stands at `start`.
    pub(super) fn changes(&self, start: usize) -> Vec<Change<'_>> {
        let mut changes: Vec<Change<'_>> = Vec::new();
        let mut at = start;
        let mut open = false;
        for line in &self.lines {
            if line.mark == Mark::Keep {
                at += 1;
                open = false;
                continue;
            }
            if !open {
                changes.push(Change { at, removed: 0, added: Vec::new() });
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

    /// How the diff says that the new text ends, when the last line of it is one that this hunk adds.
    pub(super) fn new_tail(&self) -> Option<Tail> {
        let open = |marks: [Mark; 2]| {
            self.lines.iter().any(|line| line.tail == Tail::Open && marks.contains(&line.mark))
        };
        if open([Mark::Keep, Mark::Add]) {
            Some(Tail::Open)
        } else if open([Mark::Keep, Mark::Remove]) {
            Some(Tail::Unsaid)
        } else {
            None
        }
    }
}

/// Neighbouring lines that go and the lines that come in their place.
pub(super) struct Change<'p> {
    pub(super) at: usize,
    pub(super) removed: usize,
    pub(super) added: Vec<&'p str>,
}
