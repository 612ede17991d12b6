//! Findings of a conversion, collected with their places.

use std::collections::BTreeSet;

use crewagent_format::code::Code;
use crewagent_format::diagnostic::{Diagnostic, Findings, Location, Sources};

use crate::source_tree::SourceTree;

/// Collects findings and the texts that they point at.
#[derive(Debug, Default)]
pub(crate) struct ImportRecorder {
    findings: Findings,
    files: BTreeSet<String>,
}

impl ImportRecorder {
    /// Records a finding about a line of a file, counted from 1.
    pub(crate) fn line(
        &mut self,
        tree: &SourceTree<'_>,
        code: Code,
        (file, line): (&str, u32),
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        let span = tree.text(file).and_then(|text| text.line_span(line));
        let place = span.map_or_else(|| Location::file(file), |span| Location::at(file, span));
        self.push(Diagnostic::new(code, place, message).help(help));
    }

    /// Records a finding about a whole file; the empty path is the source itself.
    pub(crate) fn file(
        &mut self,
        code: Code,
        file: &str,
        message: impl Into<String>,
        help: impl Into<String>,
    ) {
        self.push(Diagnostic::new(code, Location::file(file), message).help(help));
    }

    /// Records a finding.
    pub(crate) fn push(&mut self, found: Diagnostic) {
        self.files.insert(found.place.file.clone());
        self.files.extend(found.related.as_ref().map(|related| related.place.file.clone()));
        self.findings.push(found);
    }

    /// Returns the findings with their positions, and the texts that they point at.
    pub(crate) fn finish(mut self, tree: &SourceTree<'_>) -> (Findings, Sources) {
        let mut sources = Sources::default();
        for file in self.files {
            if let Some(text) = tree.text(&file) {
                sources.insert(file, text.text().clone());
            }
        }
        self.findings.locate(&sources);
        (self.findings, sources)
    }
}
