//! `xtask/size-exceptions.toml`: files and functions that may exceed the limits, a list that only shrinks.

use serde::{Deserialize, Serialize};
use toml::Spanned;

use super::limits::TidyLimits;
use super::size::{MeasuredSizes, SizeSubject};
use super::{EXCEPTIONS_PATH, TidyFinding, TidyRule, line_at};

/// Comment above the entries, so that shrinking does not lose the explanation.
const COMMENT: &str = r#"# Files and functions over the limits of tidy.toml, with the size they may have.
# The list may only shrink: `cargo xtask tidy --shrink` lowers it to the sizes found.
#
# [[exception]]
# path = "crates/core/src/example.rs"
# function = "Example::run"    # left out when the whole file is meant
# lines = 96
"#;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Exceptions(Vec<Exception>);

#[derive(Debug, Clone, PartialEq, Eq)]
struct Exception {
    subject: SizeSubject,
    lines: usize,
    /// Line in the list.
    line: usize,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExceptionList {
    #[serde(default)]
    exception: Vec<ExceptionEntry>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct ExceptionEntry {
    path: Spanned<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    function: Option<String>,
    lines: usize,
}

impl Exceptions {
    pub(super) fn parse(text: &str) -> anyhow::Result<Self> {
        let document: ExceptionList = toml::from_str(text)?;
        let exceptions = document.exception.into_iter().map(|entry| Exception {
            line: line_at(text, entry.path.span().start),
            subject: SizeSubject { path: entry.path.into_inner(), function: entry.function },
            lines: entry.lines,
        });
        Ok(Self(exceptions.collect()))
    }

    pub(super) fn render(&self) -> anyhow::Result<String> {
        let entry = |exception: &Exception| ExceptionEntry {
            path: Spanned::new(0..0, exception.subject.path.clone()),
            function: exception.subject.function.clone(),
            lines: exception.lines,
        };
        if self.0.is_empty() {
            return Ok(COMMENT.to_string());
        }
        let document = ExceptionList { exception: self.0.iter().map(entry).collect() };
        Ok(format!("{COMMENT}\n{}", toml::to_string(&document)?))
    }

    pub(super) fn lines_for(&self, subject: &SizeSubject) -> Option<usize> {
        self.0.iter().find(|exception| exception.subject == *subject).map(|found| found.lines)
    }

    /// Returns a finding for every entry that allows more than the current size.
    pub(super) fn check(&self, measured: &MeasuredSizes, limits: &TidyLimits) -> Vec<TidyFinding> {
        let mut findings = Vec::new();
        for exception in &self.0 {
            let what = format!("{} of {}", exception.subject.describe(), exception.subject.path);
            let message = match exception.fate(measured, limits) {
                ExceptionFate::Needed => continue,
                ExceptionFate::Lower(lines) => {
                    format!("{what} is down to {lines} lines; lower the entry to that")
                }
                ExceptionFate::Small => format!("{what} is within the limit now; remove the entry"),
                ExceptionFate::Gone => format!("{what} does not exist; remove the entry"),
            };
            let message = format!("{message} (`cargo xtask tidy --shrink` does it)");
            findings.push(TidyRule::Size.at(EXCEPTIONS_PATH, exception.line, message));
        }
        findings
    }

    /// Returns the list with limits lowered to the current sizes; nothing is added or raised.
    pub(super) fn shrink(&self, measured: &MeasuredSizes, limits: &TidyLimits) -> Self {
        let shrunk = self.0.iter().filter_map(|exception| match exception.fate(measured, limits) {
            ExceptionFate::Needed => Some(exception.clone()),
            ExceptionFate::Lower(lines) => Some(Exception { lines, ..exception.clone() }),
            ExceptionFate::Small | ExceptionFate::Gone => None,
        });
        Self(shrunk.collect())
    }
}

enum ExceptionFate {
    Needed,
    Lower(usize),
    Small,
    Gone,
}

impl Exception {
    fn fate(&self, measured: &MeasuredSizes, limits: &TidyLimits) -> ExceptionFate {
        match measured.get(&self.subject) {
            None => ExceptionFate::Gone,
            Some(size) if size.lines <= self.subject.limit(limits) => ExceptionFate::Small,
            Some(size) if size.lines < self.lines => ExceptionFate::Lower(size.lines),
            Some(_) => ExceptionFate::Needed,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::assert_places;
    use super::super::size::measure;
    use super::super::source::RustSources;
    use super::*;
    use crate::repo::Repo;

    const LISTED: &str = "\
[[exception]]
path = \"large.rs\"
lines = 600

[[exception]]
path = \"small.rs\"
lines = 600

[[exception]]
path = \"gone.rs\"
function = \"f\"
lines = 90
";

    fn measured(lines: usize) -> MeasuredSizes {
        let large = "fn f() {}\n".repeat(lines);
        let repo = Repo::of(&[("large.rs", &large), ("small.rs", "fn f() {}\n")]);
        measure(&RustSources::parse(&repo).0)
    }

    #[test]
    fn an_entry_larger_than_need_be_is_found_at_its_line() {
        let exceptions = Exceptions::parse(LISTED).unwrap();
        let places = ["xtask/size-exceptions.toml:6", "xtask/size-exceptions.toml:10"];
        assert_places(&exceptions.check(&measured(600), &TidyLimits::for_test()), &places);
        let findings = exceptions.check(&measured(599), &TidyLimits::for_test());
        assert!(findings[0].message.contains("down to 599"), "{findings:?}");
        assert!(findings[1].message.contains("within the limit"), "{findings:?}");
        assert!(findings[2].message.contains("`f` of gone.rs does not exist"), "{findings:?}");
    }

    #[test]
    fn shrinking_lowers_and_removes_and_never_raises() {
        let exceptions = Exceptions::parse(LISTED).unwrap();
        for (actual, expected) in [(599, 599), (600, 600), (700, 600)] {
            let shrunk = exceptions.shrink(&measured(actual), &TidyLimits::for_test());
            let [only] = shrunk.0.as_slice() else { panic!("{shrunk:?}") };
            assert_eq!((only.subject.path.as_str(), only.lines), ("large.rs", expected));
        }
        let shrunk = exceptions.shrink(&measured(500), &TidyLimits::for_test());
        assert_eq!(shrunk.render().unwrap(), COMMENT);
    }

    #[test]
    fn what_is_written_reads_back() {
        let exceptions = Exceptions::parse(LISTED).unwrap();
        let again = Exceptions::parse(&exceptions.render().unwrap()).unwrap();
        let plain = |list: Exceptions| -> Vec<_> {
            list.0.into_iter().map(|exception| (exception.subject, exception.lines)).collect()
        };
        assert_eq!(plain(again), plain(exceptions));
    }
}
