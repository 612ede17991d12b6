//! The new text: the file's own lines unchanged, with the new lines between them.

use super::hunk::{PatchHunks, TailHint};
use super::lines::{Ending, Line, Lines};

/// Applies each hunk at its line and returns the text. The starts must be those of `place`.
pub(super) fn weave(lines: &Lines<'_>, hunks: &PatchHunks, starts: &[usize]) -> String {
    let ending = lines.ending().or(hunks.ending()).unwrap_or(Ending::Lf);
    let mut made: Vec<Line<'_>> = Vec::with_capacity(lines.all.len());
    let mut next = 0;
    let mut last_is_new = false;
    for (hunk, start) in hunks.0.iter().zip(starts) {
        for change in hunk.changes(*start) {
            made.extend(lines.all.get(next..change.at).unwrap_or_default());
            made.extend(change.added.iter().map(|text| Line { text, ending }));
            next = change.at + change.removed;
            last_is_new = !change.added.is_empty();
        }
    }
    let rest = lines.all.get(next..).unwrap_or_default();
    made.extend(rest);
    last_is_new &= rest.is_empty();

    let was_open = lines.all.last().is_some_and(|line| line.ending == Ending::Open);
    let tail = hunks.0.last().and_then(|hunk| hunk.new_tail());
    let opens = match tail {
        Some(tail) => tail == TailHint::Open,
        None => was_open,
    };
    render(lines.bom, &made, ending, last_is_new && opens)
}

/// Renders the lines. Only the last one may be open.
fn render(bom: &str, made: &[Line<'_>], ending: Ending, opens: bool) -> String {
    let bytes: usize = made.iter().map(|line| line.text.len() + 2).sum();
    let mut text = String::with_capacity(bom.len() + bytes);
    text.push_str(bom);
    for (at, line) in made.iter().enumerate() {
        let is_last = at + 1 == made.len();
        text.push_str(line.text);
        let own = match line.ending {
            Ending::Open if !is_last => ending,
            Ending::Open | Ending::Lf | Ending::CrLf => line.ending,
        };
        if !(is_last && opens) {
            text.push_str(own.as_str());
        }
    }
    text
}
