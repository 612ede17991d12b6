//! Diagnostics for the author of a package: findings with a stable code, a location, a reason and a remedy.

mod findings;

pub use findings::{Findings, Sources};

pub use crate::code::{Code, Severity};
use crate::text::{LineColumn, Span};

/// Finding about a package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code, which also decides the severity.
    pub code: Code,
    pub place: Location,
    pub message: String,
    pub help: Option<String>,
    /// Second location that explains the first, such as the earlier of two duplicates.
    pub related: Option<Related>,
}

impl Diagnostic {
    /// Makes a finding without help; see [`Diagnostic::help`].
    pub fn new(code: Code, place: Location, message: impl Into<String>) -> Self {
        Self { code, place, message: message.into(), help: None, related: None }
    }

    /// Sets the help: what the author should do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Adds a second location.
    #[must_use]
    pub fn related(mut self, place: Location, message: impl Into<String>) -> Self {
        self.related = Some(Related { place, message: message.into() });
        self
    }

    /// Returns the severity of its code.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// Second location of a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    pub place: Location,
    pub message: String,
}

/// Location of a finding: the package, a file of it, or a range of that file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Location {
    /// Path inside the package; for findings about a container, the entry's name as written there, or empty.
    pub file: String,
    /// Bytes of the file's text, if the finding is about text.
    pub span: Option<Span>,
    pub position: Option<LineColumn>,
    /// JSON Pointer of the value that the span belongs to, in JSON and in frontmatter.
    pub pointer: Option<String>,
}

impl Location {
    /// Locates a whole file.
    pub fn file(file: impl Into<String>) -> Self {
        Self { file: file.into(), span: None, position: None, pointer: None }
    }

    /// Locates a range of a file. [`Findings::locate`] fills in position and pointer once all texts are known.
    pub fn at(file: impl Into<String>, span: Span) -> Self {
        Self { file: file.into(), span: Some(span), position: None, pointer: None }
    }
}
