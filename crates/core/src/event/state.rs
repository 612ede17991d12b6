//! The position of a run: nodes that are entered, and changes of the state document.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{NodeEntered, Role};
use crate::frame_id::FrameId;
use crate::intent::Moved;
use crate::state::run_state::RunState;

/// An event about the position of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type")]
pub enum StateEvent {
    #[serde(rename = "node.entered")]
    Entered(Box<NodeEntered>),
    #[serde(rename = "state.changed")]
    Changed(Box<StateChange>),
}

impl StateEvent {
    pub(super) fn role(&self) -> Role {
        match self {
            Self::Entered(_) => Role::Result,
            Self::Changed(_) => Role::Derived,
        }
    }
}

/// A change of the state document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct StateChange {
    /// The call of a workflow whose state it is; none for the run's own.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "call")]
    pub frame: Option<FrameId>,
    /// State of the run after the change.
    pub state: RunState,
    /// The move, if one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
    /// The keys that the runtime recorded because the model left them out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorded: Vec<String>,
    /// The variables that the call set, with the same value or another.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub set: Vec<String>,
    /// Outputs that count although this visit did not write them, because the model keeps them as they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub kept: Vec<String>,
    /// Rule violations that were only warned about.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}
