//! Origin of a run that was forked from another one at a node.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::state::frame::Caller;
use crate::usage::is_zero;

/// Origin of a run that was forked from a node of another one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Fork {
    /// The other run.
    pub run: String,
    /// Event by which it came to the node.
    pub event: u64,
    /// The workflows that wait for the one that is active, the run's own first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<Caller>,
    /// Number of calls of workflows so far.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls: u64,
    /// Messages of user and model that were still in the model's context.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<Message>,
}
