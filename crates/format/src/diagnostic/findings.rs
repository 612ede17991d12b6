//! Findings of one check: bounded in memory, exact in their counts, with positions filled in.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{Code, Diagnostic, Location, Severity};
use crate::frontmatter::Frontmatter;
use crate::syntax::{Tree, json};
use crate::text::{LineIndex, Span};
use crate::wording::nearest;

/// Findings stored per severity. More are only counted, so that a hostile package cannot exhaust memory.
const KEPT: usize = 10_000;

/// Budget for suggestions, in compared pairs of characters. It suffices for every honest package; a hostile one gets
/// plain help after that.
const SUGGESTION_WORK: usize = 40_000_000;

/// Texts that findings refer to, by path inside the package.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    texts: HashMap<String, Arc<str>>,
}

impl Sources {
    /// Adds the text of a file.
    pub fn insert(&mut self, file: impl Into<String>, text: Arc<str>) {
        self.texts.insert(file.into(), text);
    }

    /// Returns the text of a file, if the file was read as text.
    pub fn get(&self, file: &str) -> Option<&Arc<str>> {
        self.texts.get(file)
    }
}

/// All findings of one check.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    notes: Vec<Diagnostic>,
    counts: BTreeMap<Code, usize>,
    /// Part of [`SUGGESTION_WORK`] that is spent.
    suggestion_work: usize,
}

impl Findings {
    /// Returns the candidate that `word` most likely misspells, while the budget for suggestions lasts.
    pub(crate) fn nearest<'c>(
        &mut self,
        word: &str,
        candidates: impl IntoIterator<Item = &'c str>,
    ) -> Option<&'c str> {
        if self.suggestion_work > SUGGESTION_WORK {
            return None;
        }
        let cost = |candidate: &str| (word.len() + 1) * (candidate.len() + 1);
        let affordable = candidates.into_iter().take_while(|candidate| {
            self.suggestion_work += cost(candidate);
            self.suggestion_work <= SUGGESTION_WORK
        });
        nearest(word, affordable)
    }

    /// Records a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        *self.counts.entry(diagnostic.code).or_default() += 1;
        let list = match diagnostic.severity() {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
            Severity::Note => &mut self.notes,
        };
        if list.len() < KEPT {
            list.push(diagnostic);
        }
    }

    /// Iterates over the stored findings: errors before warnings before notes, then by file and position.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        let stored = self.errors.iter().chain(&self.warnings).chain(&self.notes);
        let mut all: Vec<&Diagnostic> = stored.collect();
        all.sort_by_key(|found| (found.severity(), &found.place, found.code));
        all.into_iter()
    }

    /// Returns how often each code was found, including findings that were only counted.
    pub fn counts(&self) -> &BTreeMap<Code, usize> {
        &self.counts
    }

    /// Returns the number of findings of this severity, including those that were only counted.
    pub fn count(&self, severity: Severity) -> usize {
        self.counts
            .iter()
            .filter(|(code, _)| code.severity() == severity)
            .map(|(_, count)| count)
            .sum()
    }

    /// Returns true if the package must be refused.
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// Returns true if there are errors or warnings, which an author has to look at.
    pub fn needs_attention(&self) -> bool {
        self.counts.keys().any(|code| code.severity() != Severity::Note)
    }

    /// Returns true if there are no findings.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Resolves byte spans to lines, columns and pointers. Call it once, when all texts are known.
    pub fn locate(&mut self, sources: &Sources) {
        let mut lines: BTreeMap<&str, LineIndex> = BTreeMap::new();
        let mut trees: BTreeMap<&str, Option<ParsedFile>> = BTreeMap::new();
        let mut fill = |place: &mut Location| {
            let (Some(span), Some((file, text))) =
                (place.span, sources.texts.get_key_value(&place.file))
            else {
                return;
            };
            let index = lines.entry(file).or_insert_with(|| LineIndex::new(text));
            place.position = Some(index.position(text, span.start));
            let written = trees.entry(file).or_insert_with(|| ParsedFile::read(file, text));
            place.pointer = written.as_ref().and_then(|written| written.pointer(span));
        };
        for found in self.errors.iter_mut().chain(&mut self.warnings).chain(&mut self.notes) {
            fill(&mut found.place);
            if let Some(related) = &mut found.related {
                fill(&mut related.place);
            }
        }
    }
}

/// Parsed data of a file and the end of it.
struct ParsedFile {
    tree: Tree,
    end: usize,
}

impl ParsedFile {
    /// Parses the data of a file: JSON, or the frontmatter of Markdown.
    fn read(file: &str, text: &Arc<str>) -> Option<Self> {
        if file.ends_with(".json") {
            Some(Self { tree: json::parse(text).ok()?, end: text.len() })
        } else if file.ends_with(".md") {
            let read = Frontmatter::parse(Arc::clone(text)).ok()?;
            let end = read.body_span().start;
            Some(Self { tree: read.into_tree(), end })
        } else {
            None
        }
    }

    /// Returns the pointer of the value at a span; `None` for the root and for text after the data.
    fn pointer(&self, span: Span) -> Option<String> {
        (span.start < self.end)
            .then(|| self.tree.pointer(span))
            .filter(|pointer| !pointer.is_empty())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_finding_in_data_has_a_pointer_and_one_in_prose_has_none() {
        let graph = r#"{ "nodes": [{ "id": "a" }, { "a/b~": "x" }], "edges": [] }"#;
        let step = "---\ninputs:\n  - one\n  - name: two\n---\nSome words.\n";
        let mut sources = Sources::default();
        sources.insert("graph.json", graph.into());
        sources.insert("step.md", step.into());
        sources.insert("broken.json", "{".into());
        let pointer_to = |file: &str, text: &str, words: &str| {
            let start = text.find(words).unwrap();
            let span = Span::new(start, start + words.len());
            let mut findings = Findings::default();
            findings.push(Diagnostic::new(Code::MissingFile, Location::at(file, span), "e"));
            findings.locate(&sources);
            let place = &findings.iter().next().unwrap().place;
            assert!(place.position.is_some());
            place.pointer.clone()
        };
        let graph_at = |words| pointer_to("graph.json", graph, words);
        assert_eq!(graph_at(r#""a""#).as_deref(), Some("/nodes/0/id"));
        assert_eq!(graph_at(r#""id""#).as_deref(), Some("/nodes/0/id"));
        assert_eq!(graph_at(r#"{ "id": "a" }"#).as_deref(), Some("/nodes/0"));
        assert_eq!(graph_at(r#""x""#).as_deref(), Some("/nodes/1/a~1b~0"));
        assert_eq!(graph_at("[]").as_deref(), Some("/edges"));
        assert_eq!(graph_at(graph), None);
        assert_eq!(pointer_to("step.md", step, "one").as_deref(), Some("/inputs/0"));
        assert_eq!(pointer_to("step.md", step, "two").as_deref(), Some("/inputs/1/name"));
        assert_eq!(pointer_to("step.md", step, "words"), None);
        assert_eq!(pointer_to("broken.json", "{", "{"), None);
    }

    #[test]
    fn findings_beyond_the_cap_are_counted_and_errors_never_give_way_to_warnings() {
        let mut findings = Findings::default();
        for _ in 0..KEPT + 5 {
            findings.push(Diagnostic::new(Code::DeadEnd, Location::file("g"), "w"));
        }
        findings.push(Diagnostic::new(Code::MissingFile, Location::file("g"), "e"));
        assert!(findings.has_errors());
        assert_eq!(findings.count(Severity::Warning), KEPT + 5);
        assert_eq!(findings.iter().count(), KEPT + 1);
    }

    #[test]
    fn notes_come_last_and_need_no_attention() {
        let mut findings = Findings::default();
        findings.push(Diagnostic::new(Code::ExitAdded, Location::file("a"), "n"));
        assert!(!findings.is_empty() && !findings.needs_attention() && !findings.has_errors());
        assert_eq!(findings.count(Severity::Note), 1);
        findings.push(Diagnostic::new(Code::DeadEnd, Location::file("g"), "w"));
        assert!(findings.needs_attention());
        let codes: Vec<_> = findings.iter().map(|found| found.code).collect();
        assert_eq!(codes, [Code::DeadEnd, Code::ExitAdded]);
    }
}
