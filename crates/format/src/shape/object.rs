//! Objects: their keys, those that are missing, and those that look like a misspelling of another.

use super::{Segment, ShapeReader, Tolerance, list, string};
use crate::diagnostic::Code;
use crate::syntax::{Entry, Tree, Value};
use crate::version::Minor;
use crate::wording::{misspells, quoted};

/// Object whose keys are being read. End it with [`Object::close`] or [`Object::leave_open`].
pub(crate) struct Object<'t> {
    tree: &'t Tree,
    entries: &'t [Entry],
    known: Vec<&'static str>,
    /// Required keys without a value.
    missing: Vec<&'static str>,
    /// Invalid keys that have been reported.
    reported: Vec<&'static str>,
}

impl<'t> Object<'t> {
    pub(crate) fn open(tree: &'t Tree, reader: &mut ShapeReader<'_>) -> Option<Self> {
        let Some(entries) = tree.as_map() else { return reader.wrong_type(tree, "an object") };
        let (known, missing, reported) = (Vec::new(), Vec::new(), Vec::new());
        Some(Self { tree, entries, known, missing, reported })
    }

    /// Returns the entry of a key, if it is present and not blank.
    fn entry(&mut self, key: &'static str, reader: &ShapeReader<'_>) -> Option<&'t Entry> {
        self.known.push(key);
        let entry = self.entries.iter().find(|entry| entry.key == key)?;
        let blank = reader.tolerance == Tolerance::Blank && entry.tree.value == Value::Null;
        (!blank).then_some(entry)
    }

    /// Allows `$schema`, which names a JSON Schema for editors and has no effect.
    pub(crate) fn allow_schema(&mut self, reader: &mut ShapeReader<'_>) {
        self.optional("$schema", reader, string);
    }

    /// Returns true if a key is present, even with a blank value.
    pub(crate) fn has(&self, key: &str) -> bool {
        self.entries.iter().any(|entry| entry.key == key)
    }

    /// Reads a required key. That it is missing is reported when the object ends and all its keys are known.
    pub(crate) fn required<T>(
        &mut self,
        key: &'static str,
        reader: &mut ShapeReader<'_>,
        read: impl FnOnce(&Tree, &mut ShapeReader<'_>) -> Option<T>,
    ) -> Option<T> {
        match self.entry(key, reader) {
            Some(entry) => reader.inside(Segment::Key(key), |reader| read(&entry.tree, reader)),
            None => {
                self.missing.push(key);
                None
            }
        }
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

    /// Reads a key that other tools write in their own way: a value that does not fit is a warning, and counts as
    /// absent.
    pub(crate) fn ignorable<T>(
        &mut self,
        key: &'static str,
        reader: &mut ShapeReader<'_>,
        read: impl FnOnce(&Tree, &mut ShapeReader<'_>) -> Option<T>,
    ) -> Option<T> {
        reader.ignoring(|reader| self.optional(key, reader, read).flatten())
    }

    /// Reads an optional key that the format has since a version. In an older document it is noted for
    /// [`ShapeReader::refuse_newer_keys`], and `None`.
    pub(crate) fn since<T>(
        &mut self,
        since: Minor,
        key: &'static str,
        reader: &mut ShapeReader<'_>,
        read: impl FnOnce(&Tree, &mut ShapeReader<'_>) -> Option<T>,
    ) -> Option<Option<T>> {
        if reader.minor >= since {
            return self.optional(key, reader, read);
        }
        let Some(entry) = self.entries.iter().find(|entry| entry.key == key) else {
            return Some(None);
        };
        self.reported.push(key);
        reader.note_newer(since, self.owner(reader), entry);
        None
    }

    /// Reads an optional list that the format has since a version; an absent one counts as empty.
    pub(crate) fn list_since<T>(
        &mut self,
        since: Minor,
        key: &'static str,
        reader: &mut ShapeReader<'_>,
        read: impl FnMut(&Tree, &mut ShapeReader<'_>) -> Option<T>,
    ) -> Option<Vec<T>> {
        self.since(since, key, reader, |tree, reader| list(tree, reader, read))
            .map(Option::unwrap_or_default)
    }

    /// Reads a key of an open object that the format has since a version; in an older document it is one of the keys
    /// that have no effect.
    pub(crate) fn open_since<T>(
        &mut self,
        since: Minor,
        key: &'static str,
        reader: &mut ShapeReader<'_>,
        read: impl FnOnce(&Tree, &mut ShapeReader<'_>) -> Option<T>,
    ) -> Option<Option<T>> {
        if reader.minor >= since { self.optional(key, reader, read) } else { Some(None) }
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

    /// Ends a closed object: reports every key that is missing, and every key that was not read. The values read so far
    /// stay usable: a caller that continues finds more mistakes, and the error alone refuses the document.
    pub(crate) fn close(self, reader: &mut ShapeReader<'_>) -> Option<()> {
        let unknown: Vec<&Entry> = self.unknown().collect();
        let misspelled = self.report_missing(&unknown, reader);
        let free = self.free();
        for entry in unknown.iter().filter(|entry| !misspelled.contains(&entry.key.as_str())) {
            self.report_unknown(entry, &free, reader);
        }
        unknown.is_empty().then_some(())
    }

    /// Ends an object that may have other keys: reports every key that is missing, and warns about keys that look like
    /// a misspelling of one that has an effect.
    pub(crate) fn leave_open(self, reader: &mut ShapeReader<'_>) {
        let unknown: Vec<&Entry> = self.unknown().collect();
        let misspelled = self.report_missing(&unknown, reader);
        let free = self.free();
        for entry in unknown.iter().filter(|entry| !misspelled.contains(&entry.key.as_str())) {
            let Some(meant) = free.iter().find(|key| misspells(&entry.key, key)) else { continue };
            let message =
                format!("the key {} has no effect; it looks like `{meant}`", quoted(&entry.key));
            let help = format!("write `{meant}`, or rename the key if it means something else");
            reader.report(Code::MisspelledKey, entry.key_span, message, help);
        }
    }

    /// Iterates over the entries that were neither read nor reported.
    fn unknown(&self) -> impl Iterator<Item = &'t Entry> {
        self.entries.iter().filter(|entry| {
            let key = entry.key.as_str();
            !self.known.contains(&key) && !self.reported.contains(&key)
        })
    }

    /// Returns the known keys that the object does not have.
    fn free(&self) -> Vec<&'static str> {
        self.known.iter().copied().filter(|key| !self.has(key)).collect()
    }

    /// Reports every required key without a value, and returns the unknown keys that look like one: such a pair is one
    /// mistake.
    fn report_missing<'e>(
        &self,
        unknown: &[&'e Entry],
        reader: &mut ShapeReader<'_>,
    ) -> Vec<&'e str> {
        let mut misspelled = Vec::new();
        for key in self.missing.iter().copied() {
            let owner = self.owner(reader);
            if let Some(entry) = self.entries.iter().find(|entry| entry.key == key) {
                let message = format!("`{key}` has no value");
                reader.report(Code::MissingKey, entry.key_span, message, added(key, reader));
                continue;
            }
            let free = unknown.iter().filter(|entry| !misspelled.contains(&entry.key.as_str()));
            let similar = reader.findings.nearest(key, free.map(|entry| entry.key.as_str()));
            let written = similar.and_then(|name| unknown.iter().find(|entry| entry.key == name));
            let Some(entry) = written else {
                let message = format!("{owner} has no `{key}`, which is required");
                let span = self.tree.span.head(reader.text);
                reader.report(Code::MissingKey, span, message, added(key, reader));
                continue;
            };
            misspelled.push(entry.key.as_str());
            let name = quoted(&entry.key);
            let message = format!("{owner} has the key {name} and no `{key}`, which is required");
            let help = format!("did you mean `{key}`?");
            reader.report(Code::MissingKey, entry.key_span, message, help);
        }
        misspelled
    }

    fn owner(&self, reader: &ShapeReader<'_>) -> String {
        if reader.trail.is_empty() { "this document".into() } else { reader.name() }
    }

    fn report_unknown(&self, entry: &Entry, free: &[&str], reader: &mut ShapeReader<'_>) {
        let owner = self.owner(reader);
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

/// Returns the advice to add a key, with its value where every author writes the same one.
fn added(key: &str, reader: &ShapeReader<'_>) -> String {
    let value = match key {
        "schemaVersion" => "\"1.1\"",
        "currentNodeId" => "\"\"",
        "stepsCompleted" | "edges" => "[]",
        _ => return format!("add `{key}`"),
    };
    match reader.tolerance {
        Tolerance::Exact => format!("add `\"{key}\": {value}`"),
        Tolerance::Blank => format!("add `{key}: {value}`"),
    }
}
