//! The list of findings of one check: bounded in memory, exact in its counts, with positions filled in.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use super::{Code, Diagnostic, Place, Severity};
use crate::shape;
use crate::text::LineIndex;

/// How many findings of one severity are kept in full. Beyond that they are only counted,
/// so that a hostile package cannot fill the memory with complaints about itself.
const KEPT: usize = 10_000;

/// How much work may go into suggestions, in pairs of characters that are compared. Enough for every honest package;
/// a hostile one gets plain help after that.
const SUGGESTION_WORK: usize = 40_000_000;

/// The texts that findings point into, by path inside the package.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    texts: HashMap<String, Arc<str>>,
}

impl Sources {
    /// Remembers a text.
    pub fn insert(&mut self, file: impl Into<String>, text: Arc<str>) {
        self.texts.insert(file.into(), text);
    }

    /// The text of a file, if it was read as text.
    pub fn get(&self, file: &str) -> Option<&Arc<str>> {
        self.texts.get(file)
    }
}

/// Everything that one check found.
#[derive(Clone, Debug, Default)]
pub struct Findings {
    errors: Vec<Diagnostic>,
    warnings: Vec<Diagnostic>,
    counts: BTreeMap<Code, usize>,
    /// What was spent of [`SUGGESTION_WORK`].
    suggestion_work: usize,
}

impl Findings {
    /// The candidate that `word` is most likely a misspelling of, as long as looking for one is affordable.
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
        shape::nearest(word, affordable)
    }

    /// Records a finding.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        *self.counts.entry(diagnostic.code).or_default() += 1;
        let list = match diagnostic.severity() {
            Severity::Error => &mut self.errors,
            Severity::Warning => &mut self.warnings,
        };
        if list.len() < KEPT {
            list.push(diagnostic);
        }
    }

    /// The findings that were kept: errors before warnings, then by file and place.
    pub fn iter(&self) -> impl Iterator<Item = &Diagnostic> {
        let mut all: Vec<&Diagnostic> = self.errors.iter().chain(&self.warnings).collect();
        all.sort_by_key(|found| (found.severity(), &found.place, found.code));
        all.into_iter()
    }

    /// How often each code was found, also beyond what was kept.
    pub fn counts(&self) -> &BTreeMap<Code, usize> {
        &self.counts
    }

    /// How many findings of this severity there are in all.
    pub fn count(&self, severity: Severity) -> usize {
        self.counts
            .iter()
            .filter(|(code, _)| code.severity() == severity)
            .map(|(_, count)| count)
            .sum()
    }

    /// True when the package must be refused.
    pub fn has_errors(&self) -> bool {
        !self.errors.is_empty()
    }

    /// True when there is nothing to say.
    pub fn is_empty(&self) -> bool {
        self.counts.is_empty()
    }

    /// Turns byte spans into lines and columns. Called once, when all texts are known.
    pub fn locate(&mut self, sources: &Sources) {
        let mut lines: BTreeMap<&str, LineIndex> = BTreeMap::new();
        let mut fill = |place: &mut Place| {
            let (Some(span), Some((file, text))) =
                (place.span, sources.texts.get_key_value(&place.file))
            else {
                return;
            };
            let index = lines.entry(file).or_insert_with(|| LineIndex::new(text));
            place.position = Some(index.position(text, span.start));
        };
        for found in self.errors.iter_mut().chain(&mut self.warnings) {
            fill(&mut found.place);
            if let Some(related) = &mut found.related {
                fill(&mut related.place);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn findings_beyond_the_cap_are_counted_and_errors_never_give_way_to_warnings() {
        let mut findings = Findings::default();
        for _ in 0..KEPT + 5 {
            findings.push(Diagnostic::new(Code::DeadEnd, Place::file("g"), "w"));
        }
        findings.push(Diagnostic::new(Code::MissingFile, Place::file("g"), "e"));
        assert!(findings.has_errors());
        assert_eq!(findings.count(Severity::Warning), KEPT + 5);
        assert_eq!(findings.iter().count(), KEPT + 1);
    }
}
