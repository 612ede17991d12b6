//! Errors of menu commands.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// The kinds of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum MenuErrorCode {
    /// The package has no such workflow.
    UnknownWorkflow,
    /// It is a workflow of the classic kind, which this runtime does not run.
    NotSupportedClassicWorkflow,
    /// The agent has no such prompt.
    UnknownPromptId,
    /// The data could not be read.
    DataLoadFailed,
    /// The path leads out of its mount, or is none.
    PermissionDenied,
    /// A requirement of the command is missing.
    ValidationFailed,
}

/// A command that cannot be carried out.
#[derive(Clone, Debug, PartialEq, Eq, Error, Serialize, Deserialize, JsonSchema)]
#[error("{message} {hint}")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct MenuError {
    /// Kind of the failure.
    pub code: MenuErrorCode,
    /// Problem, in one sentence.
    pub message: String,
    /// Advice for the user.
    pub hint: String,
}

impl MenuError {
    /// Makes an error of this kind.
    pub fn new(code: MenuErrorCode, message: impl Into<String>, hint: impl Into<String>) -> Self {
        Self { code, message: message.into(), hint: hint.into() }
    }
}
