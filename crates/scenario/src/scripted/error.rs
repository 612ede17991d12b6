//! What can be wrong with a scenario file.

use std::fmt;
use std::io;

use thiserror::Error;

/// A scenario that cannot be used.
#[derive(Debug, Error)]
pub enum ScenarioError {
    /// The file cannot be read.
    #[error("cannot read the scenario {name}: {source}")]
    Unreadable {
        /// The file.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// The file says something that a scenario cannot say. All mistakes are named, one a line.
    #[error("{}", listed(name, problems))]
    Wrong {
        /// The file.
        name: String,
        /// The mistakes, in the order of the file.
        problems: Vec<Problem>,
    },
}

/// A mistake and its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong, and what to do.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.message)
    }
}

fn listed(name: &str, problems: &[Problem]) -> String {
    problems.iter().map(|problem| format!("{name}:{problem}")).collect::<Vec<_>>().join("\n")
}
