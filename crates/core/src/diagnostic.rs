//! What is told to the author of a package: findings with a stable code, a place, a reason and a remedy.

mod findings;

pub use findings::{Findings, Sources};

pub use crate::code::{Code, Severity};
use crate::text::{Position, Span};

/// One finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Its stable code, which also decides its severity.
    pub code: Code,
    pub place: Place,
    pub message: String,
    pub help: Option<String>,
    /// A second place that explains the first, such as the earlier of two twins.
    pub related: Option<Related>,
}

impl Diagnostic {
    /// A finding without help; see [`Diagnostic::help`].
    pub fn new(code: Code, place: Place, message: impl Into<String>) -> Self {
        Self { code, place, message: message.into(), help: None, related: None }
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Self {
        self.help = Some(help.into());
        self
    }

    /// Points to a second place.
    #[must_use]
    pub fn related(mut self, place: Place, message: impl Into<String>) -> Self {
        self.related = Some(Related { place, message: message.into() });
        self
    }

    /// Error or warning.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }
}

/// A second place that belongs to a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Related {
    pub place: Place,
    pub message: String,
}

/// A file of the package, or the package itself, and a range in it where there is one.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Path inside the package; for findings about a container, the name of the entry as it stands there, or empty.
    pub file: String,
    /// Bytes of the file's text, when the finding is about text.
    pub span: Option<Span>,
    pub position: Option<Position>,
    /// The JSON Pointer of the value that the span belongs to, in JSON and in frontmatter.
    pub pointer: Option<String>,
}

impl Place {
    /// A file as a whole.
    pub fn file(file: impl Into<String>) -> Self {
        Self { file: file.into(), span: None, position: None, pointer: None }
    }

    /// A range of a file; position and pointer are filled in once all texts are known.
    pub fn at(file: impl Into<String>, span: Span) -> Self {
        Self { file: file.into(), span: Some(span), position: None, pointer: None }
    }
}
