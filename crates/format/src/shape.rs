//! Reads typed values out of a [`Tree`] and reports everything that does not fit, with its location.
//!
//! A field reader returns `None` when it has reported something; callers continue, so that one check finds all
//! mistakes.

mod date_time;
mod newer;
mod object;

use std::collections::{BTreeMap, HashSet};

pub(crate) use date_time::date_time;
use newer::NewerKeys;
pub(crate) use object::Object;

use crate::diagnostic::{Code, Diagnostic, Findings, Location, Severity};
use crate::id;
use crate::path::PackagePath;
use crate::syntax::{Tree, Value};
use crate::text::Span;
use crate::version::Minor;
use crate::wording::{nearest, quoted, ticked};

/// Reader of one file, with the list for its findings.
pub(crate) struct ShapeReader<'a> {
    pub(crate) file: &'a str,
    pub(crate) text: &'a str,
    pub(crate) findings: &'a mut Findings,
    pub(crate) tolerance: Tolerance,
    trail: Vec<Segment>,
    /// Invalid ids that were reported: every reference repeats the mistake.
    bad_ids: HashSet<String>,
    /// Present while a value is read that counts as absent if it does not fit: true once that was reported.
    ignoring: Option<bool>,
    /// Version of the document; the newest one until it was read.
    pub(crate) minor: Minor,
    /// Keys that the document's version does not know.
    newer: Vec<NewerKeys>,
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
        Self {
            file,
            text,
            findings,
            tolerance,
            trail: Vec::new(),
            bad_ids: HashSet::new(),
            ignoring: None,
            minor: Minor::NEWEST,
            newer: Vec::new(),
        }
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
        let finding = match self.ignoring.filter(|_| code.severity() == Severity::Error) {
            None => Diagnostic::new(code, place, message).help(help),
            Some(false) => {
                self.ignoring = Some(true);
                let message = format!("{}; the value is ignored", message.into());
                Diagnostic::new(Code::IgnoredValue, place, message).help(help)
            }
            Some(true) => return,
        };
        self.findings.push(finding);
    }

    /// Reads a value that counts as absent if it does not fit, which is one warning, however much of it does not.
    fn ignoring<T>(&mut self, read: impl FnOnce(&mut Self) -> Option<T>) -> Option<T> {
        let outer = self.ignoring.replace(false);
        let value = read(self);
        self.ignoring = outer;
        value
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

    pub(crate) fn wrong_type<T>(&mut self, tree: &Tree, wanted: &str) -> Option<T> {
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
            corrected(tree, wanted).unwrap_or_else(|| format!("write {wanted} here")),
        );
        None
    }

    fn name(&self) -> String {
        if self.trail.is_empty() { "the document".into() } else { format!("`{}`", self.trail()) }
    }
}

/// Returns the advice to write the same value in the type that is wanted, if it is clear how.
fn corrected(tree: &Tree, wanted: &str) -> Option<String> {
    let right = match (wanted, &tree.value) {
        ("a list", Value::String(text)) if !text.trim().is_empty() => format!("[{text:?}]"),
        ("a string", Value::Number(number)) => format!("\"{number}\""),
        ("a string", Value::Bool(value)) => format!("\"{value}\""),
        ("true or false", Value::String(text)) => {
            let is_true = matches!(text.trim().to_lowercase().as_str(), "true" | "yes" | "on");
            let is_false = matches!(text.trim().to_lowercase().as_str(), "false" | "no" | "off");
            (is_true || is_false).then(|| is_true.to_string())?
        }
        ("a number", Value::String(text)) => text.trim().parse::<u64>().ok()?.to_string(),
        _ => return None,
    };
    (right.chars().count() <= 80).then(|| format!("write {right}"))
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

/// Reads a number of bytes, at least 1.
pub(crate) fn positive(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<u64> {
    whole(tree, reader, 9_000_000_000_000_000, ["number of bytes", "524288"])
}

/// Reads a count, at least 1.
pub(crate) fn count(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<u32> {
    let count = whole(tree, reader, u64::from(u32::MAX), ["number", "100"])?;
    u32::try_from(count).ok()
}

/// Reads an integer from 1 to `most`. Findings say what it is, with an example.
fn whole(
    tree: &Tree,
    reader: &mut ShapeReader<'_>,
    most: u64,
    [what, example]: [&str; 2],
) -> Option<u64> {
    let Value::Number(number) = &tree.value else { return reader.wrong_type(tree, "a number") };
    let too_large = |value: f64| value >= most as f64 + 1.0;
    // 1.0 is an integer too, in JSON Schema and for users.
    let whole = number.as_u64().or_else(|| {
        number
            .as_f64()
            .filter(|value| value.fract() == 0.0 && !too_large(*value))
            .map(|value| value as u64)
    });
    if let Some(value) = whole.filter(|value| (1..=most).contains(value)) {
        return Some(value);
    }
    let name = reader.name();
    let (message, help) = if number.as_f64().is_some_and(too_large) {
        (
            format!("{name} is too large: {number}"),
            format!("write a smaller {what}, for example {example}"),
        )
    } else {
        (
            format!("{name} must be a whole number of at least 1, but it is {number}"),
            format!("write a {what}, for example {example}"),
        )
    };
    reader.report(Code::NumberOutOfRange, tree.span, message, help);
    None
}

/// Reads an object whose keys are names, and reports each value that does not fit.
pub(crate) fn map<T>(
    tree: &Tree,
    reader: &mut ShapeReader<'_>,
    mut read: impl FnMut(&Tree, &mut ShapeReader<'_>) -> Option<T>,
) -> Option<BTreeMap<String, T>> {
    let Some(entries) = tree.as_map() else { return reader.wrong_type(tree, "an object") };
    let values: Vec<_> =
        entries.iter().map(|entry| (entry.key.clone(), read(&entry.tree, reader))).collect();
    values.into_iter().map(|(key, value)| Some((key, value?))).collect()
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
        if !reader.bad_ids.insert(value.clone()) {
            return None;
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
            "begin with a letter or digit and use only the letters a–z and A–Z, digits, `.`, `_`, `:` and `-` ({})",
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
            let help = error.remedy(&value).unwrap_or_else(|| {
                "paths start at the root of the package and stay inside it".to_owned()
            });
            let message = format!("{name} is not a path inside the package: {error}");
            reader.report(Code::PathOutside, tree.span, message, help);
            None
        }
    }
}
