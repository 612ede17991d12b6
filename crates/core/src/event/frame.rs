//! Events about frames: a node enters a sub-workflow, and returns from it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{FileIntent, StateChange};
use crate::state::frame::Frame;
use crate::state::run_state::RunState;

/// An event about a frame.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type")]
pub enum FrameEvent {
    #[serde(rename = "workflow.planned")]
    Planned(FramePlanned),
    #[serde(rename = "workflow.entered")]
    Entered(FrameEntered),
    #[serde(rename = "workflow.left")]
    Left(FrameLeft),
    #[serde(rename = "workflow.held")]
    Held(FrameHeld),
}

/// A node is about to call another workflow, or that is about to return: what will be written.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FramePlanned {
    /// The call.
    #[serde(flatten)]
    pub frame: Frame,
    /// The state documents, in the order in which they are changed.
    pub files: Vec<FileIntent>,
    /// Time of the plan; the guard's clock.
    pub at: String,
}

/// A node calls another workflow, which is active from here on.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FrameEntered {
    /// The call.
    #[serde(flatten)]
    pub frame: Frame,
    /// Number of waiting workflows, including the caller.
    pub depth: usize,
    /// The agent of the called workflow, where its nodes name none.
    pub agent_id: String,
    /// State of that workflow.
    pub state: Box<RunState>,
}

/// A called workflow ended, and its caller is active again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FrameLeft {
    /// The call.
    #[serde(flatten)]
    pub frame: Frame,
    /// Reason why it could not be completed. Then the caller stays at its node, and the user is asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
    /// Change of the caller's state.
    pub change: Box<StateChange>,
}

/// A workflow cannot be called, or cannot return.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FrameHeld {
    /// The call.
    #[serde(flatten)]
    pub frame: Frame,
    /// Reason and advice.
    pub message: String,
}
