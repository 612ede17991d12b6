//! The text of one hunk. Counts are used if they are right, because then no line is ambiguous; otherwise the marks at
//! the beginning of the lines decide.

use super::header::{self, Header, HunkExtent};
use super::hunk::{Anchor, Mark, PatchHunk, PatchLine, TailHint};
use super::lines::{Ending, Line};

/// Reads the hunk at `at`, which may begin with `@@` lines, up to a line where `stops` is true. Returns the index of
/// the first line after it.
pub(super) fn read(
    lines: &[Line<'_>],
    at: usize,
    stops: impl Fn(usize) -> bool,
) -> (PatchHunk, usize) {
    let mut anchor = Anchor::default();
    let mut counts = None;
    let mut next = at;
    while let Some(line) = lines.get(next).filter(|line| line.text.starts_with("@@")) {
        match header::parse(line.text) {
            Header::Numbered { old, new, heading } => {
                anchor.index = Some(old.index());
                anchor.heading = heading;
                counts = new.map(|new| (old, new));
            }
            Header::Context(context) => anchor.contexts.push(context),
            Header::Bare => {}
        }
        next += 1;
    }
    let counted = counts.and_then(|(old, new)| counted(lines, next, old, new, &stops));
    let (body, next) = counted.unwrap_or_else(|| marked(lines, next, &stops));
    (PatchHunk { anchor, lines: body }, next)
}

/// Reads the body, if the counts of the header fit it.
fn counted(
    lines: &[Line<'_>],
    at: usize,
    old: HunkExtent,
    new: HunkExtent,
    stops: &impl Fn(usize) -> bool,
) -> Option<(Vec<PatchLine>, usize)> {
    let (mut old, mut new) = (old.count, new.count);
    let mut body: Vec<PatchLine> = Vec::new();
    let mut next = at;
    while let Some(line) = lines.get(next) {
        if is_tail(line.text) {
            body.last_mut()?.tail = TailHint::Open;
        } else if old == 0 && new == 0 {
            break;
        } else {
            let line = hunk_line(line)?;
            old = old.checked_sub(usize::from(line.mark != Mark::Add))?;
            new = new.checked_sub(usize::from(line.mark != Mark::Remove))?;
            body.push(line);
        }
        next += 1;
    }
    let mut end = next;
    while lines.get(end).is_some_and(|line| line.text.is_empty()) {
        end += 1;
    }
    // `git format-patch` signs with `-- ` and a version.
    let signed = lines.get(end).is_some_and(|line| line.text == "-- ") && end + 2 >= lines.len();
    let fits = old == 0
        && new == 0
        && (end >= lines.len() || signed || stops(end) || is_header(lines, end));
    fits.then_some((body, if signed { lines.len() } else { end }))
}

/// Reads the body by the marks.
fn marked(
    lines: &[Line<'_>],
    at: usize,
    stops: &impl Fn(usize) -> bool,
) -> (Vec<PatchLine>, usize) {
    let mut body: Vec<PatchLine> = Vec::new();
    // Number of lines at the end without mark and text: rather space between hunks than lines of the file.
    let mut empty = 0;
    let mut next = at;
    while let Some(line) = lines.get(next).filter(|_| !stops(next) && !is_header(lines, next)) {
        if !is_tail(line.text) {
            empty = if line.text.is_empty() { empty + 1 } else { 0 };
            body.push(hunk_line(line).unwrap_or_else(|| unmarked(line)));
        } else if let Some(last) = body.last_mut() {
            last.tail = TailHint::Open;
        }
        next += 1;
    }
    body.truncate(body.len() - empty);
    (body, next)
}

fn is_header(lines: &[Line<'_>], at: usize) -> bool {
    lines.get(at).is_some_and(|line| line.text.starts_with("@@"))
}

/// Returns true for `\ No newline at end of file`.
pub(super) fn is_tail(line: &str) -> bool {
    line.starts_with("\\ ")
}

/// Reads a line with its mark; an empty line is a blank one that stays.
fn hunk_line(line: &Line<'_>) -> Option<PatchLine> {
    let mark = match line.text.chars().next() {
        None | Some(' ') => Mark::Keep,
        Some('-') => Mark::Remove,
        Some('+') => Mark::Add,
        Some(_) => return None,
    };
    Some(made(mark, line.text.get(1..).unwrap_or_default(), line.ending))
}

/// Reads a line without a mark, because models forget the blank before a line that stays.
fn unmarked(line: &Line<'_>) -> PatchLine {
    made(Mark::Keep, line.text, line.ending)
}

fn made(mark: Mark, text: &str, ending: Ending) -> PatchLine {
    // The byte order mark is not part of a file's first line.
    let text = text.strip_prefix('\u{feff}').unwrap_or(text).to_owned();
    PatchLine { mark, text, ending, tail: TailHint::Unsaid }
}
