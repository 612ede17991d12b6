//! Reverting the changes of a run, and forks.

use crewagent_engine::changes::{HunkRange, Prospect};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

/// The file that is compared.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct HunkQuery {
    /// The file, from the root of the project.
    pub path: String,
}

/// Hunk to revert.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RevertHunk {
    /// The file, from the root of the project.
    pub path: String,
    /// The digest that the file must have now.
    pub if_match_sha256: String,
    /// Position of the hunk in it.
    pub hunk: HunkRange,
}

/// Step to revert.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct RevertQuery {
    /// The event by which the run came to the node.
    #[cfg_attr(test, ts(type = "number"))]
    pub visit: u64,
    /// True to revert all later steps, too.
    pub onward: Option<bool>,
}

/// The effect of reverting a step.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RevertPlan {
    /// The files, by path.
    pub files: Vec<RevertPlanFile>,
}

/// A file that a revert would change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RevertPlanFile {
    /// The file, from the root of the project.
    pub path: String,
    /// True if it is removed, because it did not exist before.
    pub removed: bool,
    /// Current digest of the file; none when it does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// Possible treatment.
    pub prospect: Prospect,
    /// The nodes that wrote it later. Their changes are reverted with it.
    pub later: Vec<String>,
}

/// Files to revert.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct RevertStep {
    /// The event by which the run came to the node.
    #[cfg_attr(test, ts(type = "number"))]
    pub visit: u64,
    /// True to revert all later steps, too.
    pub onward: Option<bool>,
    /// The files that the user has confirmed.
    pub files: Vec<ConfirmedFile>,
}

/// A file that the user has confirmed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ConfirmedFile {
    /// The file, from the root of the project.
    pub path: String,
    /// Digest that it must have now; absent when it must not exist.
    pub if_match_sha256: Option<String>,
}

/// The result of a revert.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RevertResult {
    /// Every file of the request.
    pub files: Vec<RevertedFile>,
}

/// The result for one file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RevertedFile {
    /// The file, from the root of the project.
    pub path: String,
    /// Reason why it was not reverted; none when it was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left: Option<String>,
}

/// The node at which a run would be forked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ForkQuery {
    /// The event by which the run came to the node.
    #[cfg_attr(test, ts(type = "number"))]
    pub event: u64,
}

/// The state that the new run would start with.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ForkPreview {
    /// The node.
    pub node: String,
    /// Number of the visit.
    pub number: u32,
    /// The nodes whose workflow waits there, the run's own first.
    pub callers: Vec<String>,
    /// The nodes that are done there.
    pub steps_completed: Vec<String>,
    /// The variables of the state.
    pub variables: Map<String, Json>,
    /// Number of decided branches.
    pub decisions: u32,
    /// The files that the state names.
    pub artifacts: Vec<String>,
    /// State documents that are copied.
    pub documents: u32,
    /// Messages between user and model that the model still has there.
    pub words: u32,
    /// True if the workflow is complete there.
    pub complete: bool,
}

/// A run that is to start from a node of another one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct NewFork {
    /// The event by which the other run came to the node.
    #[cfg_attr(test, ts(type = "number"))]
    pub event: u64,
    /// True to start at once; else it waits.
    pub start: Option<bool>,
    /// The model, if it starts at once; that of the settings when absent.
    pub model: Option<String>,
}

/// The origin of a fork.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Origin {
    /// The other run.
    pub run: String,
    /// Its event by which it came to the node.
    #[cfg_attr(test, ts(type = "number"))]
    pub event: u64,
    /// The node.
    pub node: String,
}
