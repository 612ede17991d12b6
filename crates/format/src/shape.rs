//! Reads typed values out of a [`Tree`] and reports everything that does not fit, with its location.
//!
//! A field reader returns `None` when it has reported something; callers continue, so that one check finds all
//! mistakes.

use crate::diagnostic::{Code, Diagnostic, Findings, Location};
use crate::id;
use crate::path::{PackagePath, PathError};
use crate::syntax::{Entry, Tree, Value};
use crate::text::Span;
use crate::wording::{nearest, quoted, ticked};

/// Reader of one file, with the list for its findings.
pub(crate) struct ShapeReader<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
    pub(crate) findings: &'a mut Findings,
    pub(crate) tolerance: Tolerance,
    trail: Vec<Segment>,
}

/// Tolerance of a document kind for blank values. Shipped templates need it in frontmatter.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Tolerance {
    /// JSON: no blank values.
    Exact,
    /// Frontmatter: null counts as absent, and so does an empty date-time.
    Blank,
}

#[derive(Clone, Copy)]
enum Segment {
    Key(&'static str),
    Index(usize),
}

impl<'a> ShapeReader<'a> {
    pub(crate) fn new(
        file: &'a str,
        text: &'a str,
        tolerance: Tolerance,
        findings: &'a mut Findings,
    ) -> Self {
        Self { file, text, findings, tolerance, trail: Vec::new() }
    }

    /// Records a finding about a range of this file.
    pub(crate) fn report(
        &mut self,
        code: Code,
        span: Span,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let place = Location::at(self.file, span);
        self.findings.push(Diagnostic::new(code, place, message).help(help));
    }

    /// Returns the path of the current value, such as `nodes[2].type`.
    pub(crate) fn trail(&self) -> String {
        let mut text = String::new();
        for step in &self.trail {
            match step {
                Segment::Key(key) if text.is_empty() => text.push_str(key),
                Segment::Key(key) => text.push_str(&format!(".{key}")),
                Segment::Index(index) => text.push_str(&format!("[{index}]")),
            }
        }
        text
    }

    fn inside<T>(&mut self, step: Segment, read: impl FnOnce(&mut Self) -> T) -> T {
        self.trail.push(step);
        let result = read(self);
        self.trail.pop();
        result
    }

    fn wrong_type<T>(&mut self, tree: &Tree, wanted: &str) -> Option<T> {
        let name = self.name();
        let span = if matches!(tree.value, Value::List(_) | Value::Map(_)) {
            tree.span.head(self.text)
        } else {
            tree.span
        };
        self.report(
            Code::WrongType,
            span,
            format!("{name} must be {wanted}, but this is {}", tree.kind()),
            format!("write {wanted} here"),
        );
        None
    }

    fn name(&self) -> String {
        if self.trail.is_empty() { "the document".into() } else { format!("`{}`", self.trail()) }
    }
}

/// Object whose keys are being read.
pub(crate) struct Object<'t> {
    tree: &'t Tree,
    entries: &'t [Entry],
    known: Vec<&'static str>,
    /// Invalid keys that have been reported.
    reported: Vec<&'static str>,
}

impl<'t> Object<'t> {
    pub(crate) fn open(tree: &'t Tree, reader: &mut ShapeReader<'_>) -> Option<Self> {
        match tree.as_map() {
            Some(entries) => Some(Self { tree, entries, known: Vec::new(), reported: Vec::new() }),
            None => reader.wrong_type(tree, "an object"),
        }
    }

    /// Returns the entry of a key, if it is present and not blank.
    fn entry(&mut self, key: &'static str, reader: &ShapeReader<'_>) -> Option<&'t Entry> {
        self.known.push(key);
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        let blank = reader.tolerance == Tolerance::Blank && entry.tree.value == Value::Null;
        (!blank).then_some(entry)
    }

    /// Marks an invalid key as reported.
    pub(crate) fn mark_reported(&mut self, key: &'static str) {
        self.reported.push(key);
    }

    /// Returns true if a key is present, even with a blank value.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    pub(crate) fn required<T>(
        &mut self,
        key: &'static str,
        reader: &mut ShapeReader<'_>,
        read: impl FnOnce(&Tree, &mut ShapeReader<'_>) -> Option<T>,
    ) -> Option<T> {
        match self.entry(key, reader) {
            Some(entry) => reader.inside(Segment::Key(key), |reader| read(&entry.tree, reader)),
            None => {
                self.missing(key, reader);
                None
            }
        }
    }

    fn missing(&self, key: &'static str, reader: &mut ShapeReader<'_>) {
        let owner = reader.name();
        let present = self.entries.iter().find(|entry| entry.key == key);
        let span = present.map_or_else(|| self.tree.span.head(reader.text), |entry| entry.key_span);
        let written = self.entries.iter().map(|entry| entry.key.as_str());
        let similar =
            reader.findings.nearest(key, written.filter(|name| !self.known.contains(name)));
        let help = match similar {
            Some(similar) => format!("`{similar}` looks like a misspelling of it"),
            None => format!("add `{key}`"),
        };
        let message = if present.is_some() {
            format!("`{key}` has no value")
        } else {
            format!("{owner} has no `{key}`, which is required")
        };
        reader.report(Code::MissingKey, span, message, help);
    }

    /// Reads an optional key. `Some(None)` means absent, `None` means present and wrong.
    pub(crate) fn optional<T>(
        &mut self,
        key: &'static str,
        reader: &mut ShapeReader<'_>,
        read: impl FnOnce(&Tree, &mut ShapeReader<'_>) -> Option<T>,
    ) -> Option<Option<T>> {
        match self.entry(key, reader) {
            Some(entry) => {
                reader.inside(Segment::Key(key), |reader| read(&entry.tree, reader)).map(Some)
            }
            None => Some(None),
        }
    }

    /// Reads an optional list; an absent one counts as empty.
    pub(crate) fn list<T>(
        &mut self,
        key: &'static str,
        reader: &mut ShapeReader<'_>,
        read: impl FnMut(&Tree, &mut ShapeReader<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.optional(key, reader, |tree, reader| list(tree, reader, read))
            .map(Option::unwrap_or_default)
    }

    /// Ends a closed object: reports every key that was not read. The values read so far stay usable: a caller that
    /// continues finds more mistakes, and the error alone refuses the document.
    pub(crate) fn close(self, reader: &mut ShapeReader<'_>) -> Option<()> {
        let is_unknown = |entry: &&Entry| {
            let key = entry.key.as_str();
            !self.known.contains(&key) && !self.reported.contains(&key)
        };
        let mut unknown = self.entries.iter().filter(is_unknown).peekable();
        if unknown.peek().is_none() {
            return Some(());
        }
        let is_free = |name: &&&str| !self.has(name);
        let free: Vec<&str> = self.known.iter().filter(is_free).copied().collect();
        unknown.for_each(|entry| self.unknown(entry, &free, reader));
        None
    }

    fn unknown(&self, entry: &Entry, free: &[&str], reader: &mut ShapeReader<'_>) {
        let owner = if reader.trail.is_empty() { "this document".into() } else { reader.name() };
        let help = match reader.findings.nearest(&entry.key, free.iter().copied()) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => format!("{owner} may have: {}", self.known.join(", ")),
        };
        reader.report(
            Code::UnknownKey,
            entry.key_span,
            format!("{owner} may not have the key {}", quoted(&entry.key)),
            help,
        );
    }
}

/// Reads a list and reports each item that does not fit; one such item fails the whole list.
pub(crate) fn list<T>(
    tree: &Tree,
    reader: &mut ShapeReader<'_>,
    read: impl FnMut(&Tree, &mut ShapeReader<'_>) -> Option<T>,
) -> Option<Vec<T>> {
    items(tree, reader, read)?.into_iter().collect()
}

/// Reads a list with `None` for every item that does not fit, so that indices stay those of the file.
pub(crate) fn items<T>(
    tree: &Tree,
    reader: &mut ShapeReader<'_>,
    mut read: impl FnMut(&Tree, &mut ShapeReader<'_>) -> Option<T>,
) -> Option<Vec<Option<T>>> {
    let Some(list) = tree.as_list() else { return reader.wrong_type(tree, "a list") };
    let read_item =
        |(index, item)| reader.inside(Segment::Index(index), |reader| read(item, reader));
    Some(list.iter().enumerate().map(read_item).collect())
}

pub(crate) fn string(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<String> {
    match tree.as_str() {
        Some(text) => Some(text.to_owned()),
        None => reader.wrong_type(tree, "a string"),
    }
}

/// Reads a string that is not blank.
pub(crate) fn text(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<String> {
    let text = string(tree, reader)?;
    if text.trim().is_empty() {
        let name = reader.name();
        reader.report(
            Code::EmptyValue,
            tree.span,
            format!("{name} must not be empty"),
            "write a text here; blanks alone do not count",
        );
        return None;
    }
    Some(text)
}

pub(crate) fn boolean(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<bool> {
    let Value::Bool(value) = tree.value else { return reader.wrong_type(tree, "true or false") };
    Some(value)
}

/// Reads an integer of at least 1.
pub(crate) fn positive(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<u64> {
    let Value::Number(number) = &tree.value else { return reader.wrong_type(tree, "a number") };
    // 1.0 is an integer too, in JSON Schema and for users.
    let whole = number.as_u64().or_else(|| {
        number
            .as_f64()
            .filter(|value| value.fract() == 0.0 && *value < 9e15)
            .map(|value| value as u64)
    });
    if let Some(value) = whole.filter(|value| *value >= 1) {
        return Some(value);
    }
    let name = reader.name();
    reader.report(
        Code::NumberOutOfRange,
        tree.span,
        format!("{name} must be a whole number of at least 1, but it is {number}"),
        "write a number of bytes, for example 524288",
    );
    None
}

pub(crate) fn open_map(
    tree: &Tree,
    reader: &mut ShapeReader<'_>,
) -> Option<serde_json::Map<String, serde_json::Value>> {
    let Some(entries) = tree.as_map() else { return reader.wrong_type(tree, "an object") };
    Some(entries.iter().map(|entry| (entry.key.clone(), entry.tree.to_json())).collect())
}

/// Reads an id, made by `make`.
pub(crate) fn id<T>(
    make: impl Fn(String) -> Option<T>,
) -> impl Fn(&Tree, &mut ShapeReader<'_>) -> Option<T> {
    move |tree, reader| {
        let value = string(tree, reader)?;
        if let Some(id) = make(value.clone()) {
            return Some(id);
        }
        let name = reader.name();
        if value.len() > id::MAX_BYTES {
            let message = format!(
                "{name} is too long for an id: it has {} bytes, and {} are allowed",
                value.len(),
                id::MAX_BYTES
            );
            reader.report(Code::BadId, tree.span, message, "choose a shorter id");
            return None;
        }
        let help = format!(
            "begin with a letter or digit and use only letters, digits, `.`, `_`, `:` and `-` ({})",
            id::PATTERN
        );
        reader.report(
            Code::BadId,
            tree.span,
            format!("{name} is not a valid id: {}", quoted(&value)),
            help,
        );
        None
    }
}

/// Reads one of a few words.
pub(crate) fn choice<T: Copy>(
    words: &'static [(&'static str, T)],
) -> impl Fn(&Tree, &mut ShapeReader<'_>) -> Option<T> {
    move |tree, reader| {
        let value = string(tree, reader)?;
        if let Some((_, choice)) = words.iter().find(|(word, _)| *word == value) {
            return Some(*choice);
        }
        let name = reader.name();
        let all = ticked(words.iter().map(|(word, _)| word));
        let help = match nearest(&value, words.iter().map(|(word, _)| *word)) {
            Some(similar) => format!("did you mean `{similar}`? It may be one of: {all}"),
            None => format!("it may be one of: {all}"),
        };
        reader.report(
            Code::BadChoice,
            tree.span,
            format!("{name} cannot be {}", quoted(&value)),
            help,
        );
        None
    }
}

pub(crate) fn package_path(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<PackagePath> {
    let value = text(tree, reader)?;
    match PackagePath::reference(&value) {
        Ok(path) => Some(path),
        Err(error) => {
            let name = reader.name();
            let help = match error {
                PathError::Absolute | PathError::Parent => {
                    "paths start at the root of the package and stay inside it"
                }
                PathError::Name(_) => "rename the file and the reference",
            };
            let message = format!("{name} is not a path inside the package: {error}");
            reader.report(Code::PathOutside, tree.span, message, help);
            None
        }
    }
}

/// Reads a date-time of RFC 3339. In frontmatter a blank one counts as absent, which is `Some(None)`.
pub(crate) fn date_time(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Option<String>> {
    let value = string(tree, reader)?;
    if value.trim().is_empty() && reader.tolerance == Tolerance::Blank {
        return Some(None);
    }
    if is_rfc3339(&value) {
        return Some(Some(value));
    }
    let name = reader.name();
    let help = "write date, time and offset, for example 2026-11-15T09:30:00Z or 2026-11-15T17:30:00+08:00";
    reader.report(
        Code::BadDateTime,
        tree.span,
        format!("{name} is not an RFC 3339 date-time: {}", quoted(&value)),
        help,
    );
    None
}

/// Returns true for a date, `T`, a time with seconds, an optional fraction, and `Z` or an offset of hours and minutes.
fn is_rfc3339(value: &str) -> bool {
    let (Some(civil), Some(tail)) = (value.get(..19), value.get(19..)) else { return false };
    // jiff also accepts wider forms, such as a date without separators, so the form is checked here.
    let in_form = civil.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        10 => matches!(byte, b'T' | b't'),
        13 | 16 => byte == b':',
        _ => byte.is_ascii_digit(),
    });
    in_form && is_offset(after_fraction(tail)) && civil.parse::<jiff::civil::DateTime>().is_ok()
}

/// Returns the text after `.` and digits; the same text if there is no such fraction.
fn after_fraction(tail: &str) -> &str {
    let Some(digits) = tail.strip_prefix('.') else { return tail };
    let rest = digits.trim_start_matches(|c: char| c.is_ascii_digit());
    if rest.len() < digits.len() { rest } else { tail }
}

fn is_offset(text: &str) -> bool {
    match text.as_bytes() {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', h1, h2, b':', m1, m2] => {
            [h1, h2, m1, m2].iter().all(|digit| digit.is_ascii_digit())
                && (*h1, *h2) <= (b'2', b'3')
                && *m1 <= b'5'
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_date_time_is_exactly_rfc_3339() {
        for good in [
            "2026-11-15T09:30:00Z",
            "2026-11-15t09:30:00z",
            "2026-11-15T17:30:00.123456789012+08:00",
            "2026-11-15T17:30:00-23:59",
            "9999-12-31T23:59:59Z",
            "0000-01-01T00:00:00-00:00",
        ] {
            assert!(is_rfc3339(good), "{good}");
        }
        for bad in [
            "",
            "2026-11-15",
            "2026-11-15T09:30Z",
            "2026-11-15 09:30:00Z",
            "2026-11-15T09:30:00",
            "2026-11-15T09:30:00+08",
            "2026-11-15T09:30:00+0800",
            "2026-11-15T09:30:00+24:00",
            "2026-11-15T09:30:00+08:60",
            "2026-11-15T09:30:00,5Z",
            "2026-11-15T09:30:00.Z",
            "2026-11-15T09:30:00Z[UTC]",
            "2026-13-15T09:30:00Z",
            "2026-02-30T09:30:00Z",
            "2026-11-15T24:00:00Z",
            "2026-11-15T09:30:00é",
            "2026-11-15T09:30:0éZ",
        ] {
            assert!(!is_rfc3339(bad), "{bad}");
        }
    }
}
