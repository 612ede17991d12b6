//! The survey of a node: the files that its brief shows, as they were when the node was entered.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A node is entered. A replay takes the files from here, and never looks at the disk.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct NodeEntered {
    /// The node.
    pub node_id: String,
    /// Number of the visit of this node, from 1.
    pub visit: usize,
    /// Number of the step in the workflow, from 1.
    pub step: usize,
    /// Number of steps on the shortest way.
    pub of: usize,
    /// Files that the step works from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub inputs: Vec<SurveyedInput>,
    /// Files that the step has to write.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outputs: Vec<SurveyedOutput>,
    /// True if the files were looked at again in the same visit, because the user spoke: `inputs` has those that
    /// changed since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub again: bool,
}

/// A file that a step works from.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SurveyedInput {
    /// The mount path.
    pub path: String,
    /// How much of it the brief shows.
    pub state: InputState,
    /// Its size.
    #[serde(default, skip_serializing_if = "crate::usage::is_zero")]
    pub bytes: u64,
    /// Its number of lines.
    #[serde(default, skip_serializing_if = "crate::usage::is_zero")]
    pub lines: u64,
    /// Its digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// The whole text, or the headings of a text that is too long, each with the number of its line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// Part of an input that the brief shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum InputState {
    /// The whole text.
    Shown,
    /// Its size, and its headings.
    Listed,
    /// There is no such file.
    Missing,
}

/// A file that a step has to write.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SurveyedOutput {
    /// The path from the root of the project.
    pub path: String,
    /// True if there is such a file.
    pub exists: bool,
    /// True if this run wrote it last.
    pub own: bool,
    /// Its size.
    #[serde(default, skip_serializing_if = "crate::usage::is_zero")]
    pub bytes: u64,
    /// Its digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
}
