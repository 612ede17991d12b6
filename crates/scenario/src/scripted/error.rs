//! Errors of a scenario file.

use std::fmt;
use std::io;

use thiserror::Error;

/// Reason why a scenario cannot be used.
#[derive(Debug, Error)]
pub enum ScenarioError {
    #[error("cannot read the scenario {name}: {source}")]
    Unreadable { name: String, source: io::Error },
    /// The file is no valid scenario. All mistakes are named, one per line.
    #[error("{}", listed(name, problems))]
    Wrong {
        name: String,
        /// Mistakes in the order of the file.
        problems: Vec<ScriptProblem>,
    },
}

/// Mistake and its line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScriptProblem {
    /// Line number, from 1.
    pub line: usize,
    /// Mistake, and advice.
    pub message: String,
}

impl fmt::Display for ScriptProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.line, self.message)
    }
}

fn listed(name: &str, problems: &[ScriptProblem]) -> String {
    problems.iter().map(|problem| format!("{name}:{problem}")).collect::<Vec<_>>().join("\n")
}
