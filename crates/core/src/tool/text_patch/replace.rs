//! Exact replacements of strings, one edit after the other.

use std::borrow::Cow;

use super::ladder::{Ladder, Rung};
use super::lines::{Ending, Lines, dominant, split, split_bom};
use super::refused::{self, MAX_LISTED, PatchSubject};
use super::{MAX_LINES, MAX_TEXT, Replacement, invalid, too_large};
use crate::refusal::{Refusal, RefusalCode};

/// Maximum number of edits of a call.
const MAX_EDITS: usize = 200;
/// Maximum number of bytes that all edits of a call may scan together.
const MAX_LOOKED_AT: usize = 512 * 1024 * 1024;

/// Returns the text after all edits. Each sees the result of the previous ones.
pub(super) fn apply(text: &str, edits: &[Replacement]) -> Result<String, Refusal> {
    if edits.is_empty() {
        return Err(invalid("There is no edit.").hint("Give at least one `{old, new}` in `edits`."));
    }
    if edits.len() > MAX_EDITS {
        return Err(invalid(format!("There are more than {MAX_EDITS} edits."))
            .hint("Send them in several calls."));
    }
    let (bom, original) = split_bom(text);
    let ending = dominant(split(original).map(|line| line.ending));
    let mut now = Cow::Borrowed(original);
    let mut looked_at = 0;
    for (number, edit) in (1..).zip(edits) {
        looked_at += now.len();
        if looked_at > MAX_LOOKED_AT {
            return Err(too_large("All edits together look at too many bytes"));
        }
        let subject = PatchSubject::Edit { number, total: edits.len() };
        let prepared =
            PreparedEdit::new(edit, bom, ending).ok_or_else(|| pointless(subject, edit))?;
        let bare = unnumbered(edit).filter(|_| !prepared.is_in(&now));
        let bare = bare.as_ref().and_then(|edit| PreparedEdit::new(edit, bom, ending));
        now = bare.unwrap_or(prepared).apply(&now, original, subject)?.into();
    }
    Ok(format!("{bom}{now}"))
}

/// Returns an edit without the numbers `12|` in front of its lines, as `fs.read` shows them; `None` unless every line of
/// `old` has one.
fn unnumbered(edit: &Replacement) -> Option<Replacement> {
    let bare = |line: &str| -> Option<String> {
        let (number, text) = line.split_once('|')?;
        let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| text.to_owned())
    };
    let old: Option<String> = edit.old.split_inclusive('\n').map(bare).collect();
    let new =
        edit.new.split_inclusive('\n').map(|line| bare(line).unwrap_or_else(|| line.to_owned()));
    Some(Replacement { old: old?, new: new.collect(), all: edit.all })
}

/// Prepared edit: line endings are `\n` in the searched text.
struct PreparedEdit<'e> {
    old: Cow<'e, str>,
    new: Cow<'e, str>,
    /// Number of equal bytes at the start and end of both texts; the file's own bytes stay there.
    same: (usize, usize),
    /// Text between them, with the line endings of the file.
    inserted: String,
    all: bool,
}

impl<'e> PreparedEdit<'e> {
    /// Prepares an edit; `None` if it cannot change anything.
    fn new(edit: &'e Replacement, bom: &str, ending: Option<Ending>) -> Option<Self> {
        let bare = |text: &'e str| if bom.is_empty() { text } else { split_bom(text).1 };
        let (old, new) = (flat(bare(&edit.old)), flat(bare(&edit.new)));
        if old.is_empty() || old == new {
            return None;
        }
        let before = common(old.chars().zip(new.chars()));
        let after = common(old[before..].chars().rev().zip(new[before..].chars().rev()));
        let ending = ending.or_else(|| dominant(split(&edit.new).map(|line| line.ending)));
        let middle = &new[before..new.len() - after];
        let inserted = match ending {
            Some(Ending::CrLf) => middle.replace('\n', "\r\n"),
            Some(Ending::Lf | Ending::Open) | None => middle.to_owned(),
        };
        Some(Self { same: (before, after), inserted, all: edit.all, old, new })
    }

    fn is_in(&self, text: &str) -> bool {
        flat(text).contains(self.old.as_ref())
    }

    fn apply(&self, text: &str, original: &str, subject: PatchSubject) -> Result<String, Refusal> {
        let flat = Flat::new(text);
        let old = self.old.as_ref();
        let Some(first) = flat.text.find(old) else {
            return Err(self.missing(&flat.text, original, subject));
        };
        if !self.all {
            let found = places(&flat.text, old, first);
            if found.len() > 1 {
                return Err(refused::ambiguous(subject, &found));
            }
        }
        let count = flat.text.matches(old).count();
        if text.len().saturating_add(count.saturating_mul(self.inserted.len())) > MAX_TEXT {
            return Err(too_large(&format!("The text would have more than {MAX_TEXT} bytes")));
        }
        let mut made = String::with_capacity(text.len() + count * self.inserted.len());
        let mut done = 0;
        for (at, _) in flat.text.match_indices(old) {
            let from = flat.offset(at + self.same.0);
            made.push_str(&text[done..from]);
            made.push_str(&self.inserted);
            done = flat.offset(at + old.len() - self.same.1);
        }
        made.push_str(&text[done..]);
        Ok(made)
    }

    /// Explains why `old` is missing.
    fn missing(&self, text: &str, original: &str, subject: PatchSubject) -> Refusal {
        if flat(original).contains(self.old.as_ref()) {
            let message = format!(
                "{subject} is no longer there: an edit before it in this call changed that text."
            );
            return Refusal::new(RefusalCode::Precondition, message).hint(
                "Nothing was changed. Write it as the edits before leave it, or join the edits.",
            );
        }
        let mut results = text.match_indices(self.new.as_ref()).map(|(at, _)| at);
        if refused::is_telling(&[&self.new])
            && let (Some(at), None) = (results.next(), results.next())
        {
            return refused::already(subject, line_of(text, at));
        }
        let lines = Lines::new(text);
        if lines.all.len() > MAX_LINES {
            let message = format!("{subject} is not in the file.");
            return Refusal::new(RefusalCode::Precondition, message).hint("Nothing was changed.");
        }
        let ladder = Ladder::new(&lines);
        let wanted: Vec<_> = split(&self.old).map(|line| line.text).collect();
        refused::nowhere(subject, &lines, ladder.index(Rung::Punctuation), &wanted, None)
    }
}

/// Explains why an edit cannot change anything.
fn pointless(subject: PatchSubject, edit: &Replacement) -> Refusal {
    if edit.old.is_empty() || edit.old == "\u{feff}" {
        return invalid(format!("{subject} is empty, so that it stands nowhere and everywhere."))
            .hint("Give the text to change; to add, repeat a line and put the new text beside it in `new`; to write a \
                   whole file, use fs.write.");
    }
    if edit.old == edit.new {
        return invalid(format!(
            "{subject} and its `new` are the same, so that nothing would change."
        ))
        .hint("Leave the edit out, or say what shall be different.");
    }
    invalid(format!(
        "{subject} and its `new` differ only in line endings, which stay as they are in the file."
    ))
    .hint("To change line endings, write the whole file with fs.write.")
}

/// Returns the indices of the lines that contain a string, overlapping ones too.
fn places(text: &str, wanted: &str, first: usize) -> Vec<usize> {
    let step = wanted.chars().next().map_or(1, char::len_utf8);
    let mut lines = vec![line_of(text, first)];
    let mut at = first;
    while lines.len() <= MAX_LISTED
        && let Some(next) = text[at + step..].find(wanted)
    {
        let line = lines.last().copied().unwrap_or_default() + line_of(&text[at..], step + next);
        at += step + next;
        lines.push(line);
    }
    lines
}

fn line_of(text: &str, at: usize) -> usize {
    text.bytes().take(at).filter(|byte| *byte == b'\n').count()
}

/// Returns the number of equal bytes.
fn common(pairs: impl Iterator<Item = (char, char)>) -> usize {
    pairs.take_while(|(first, second)| first == second).map(|(same, _)| same.len_utf8()).sum()
}

fn flat(text: &str) -> Cow<'_, str> {
    if text.contains("\r\n") { text.replace("\r\n", "\n").into() } else { text.into() }
}

/// Text whose lines all end in `\n`, with a mapping to the original.
struct Flat<'t> {
    text: Cow<'t, str>,
    /// Offsets of each `\n` that was `\r\n`.
    shortened: Vec<usize>,
}

impl<'t> Flat<'t> {
    fn new(text: &'t str) -> Self {
        let pairs = text.match_indices("\r\n").map(|(at, _)| at);
        let shortened = pairs.enumerate().map(|(before, at)| at - before).collect();
        Self { text: flat(text), shortened }
    }

    /// Returns the offset in the original text of an offset in the flat one.
    fn offset(&self, at: usize) -> usize {
        at + self.shortened.partition_point(|place| *place < at)
    }
}
