//! Events about a run as a whole: start, resume, phases, end.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Role;
use crate::adoption::Adoption;
use crate::forecast::Forecast;
use crate::fork::Fork;
use crate::message::Message;
use crate::payload::Payload;
use crate::settings::RunSettings;
use crate::state::frame::Caller;
use crate::state::run_state::RunState;
use crate::usage::{Usage, is_zero};

/// An event about a run as a whole.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type")]
pub enum RunEvent {
    #[serde(rename = "run.started")]
    Started(RunStarted),
    #[serde(rename = "run.resumed")]
    Resumed(RunResumed),
    #[serde(rename = "phase.changed")]
    PhaseChanged(PhaseChanged),
    #[serde(rename = "error")]
    Failed(RunFailed),
    #[serde(rename = "run.finished")]
    Finished(RunFinished),
}

impl RunEvent {
    pub(super) fn role(&self) -> Role {
        match self {
            Self::Started(_) => Role::Result,
            Self::Resumed(_) => Role::Signal,
            Self::PhaseChanged(_) | Self::Failed(_) | Self::Finished(_) => Role::Derived,
        }
    }
}

/// A run begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RunStarted {
    /// The package, as `name@version`.
    pub package: String,
    /// Its digest.
    pub package_sha256: String,
    /// The workflow: its id, or the path of its document.
    pub workflow: String,
    /// The run's agent.
    pub agent_id: String,
    /// The project's name.
    pub project: String,
    /// State at the start.
    pub state: RunState,
    /// Settings of the run.
    pub settings: RunSettings,
    /// File that was passed at the start, in the form that the model reads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub data: Option<Payload>,
    /// Run that it was forked from, and the position there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<Box<Fork>>,
    /// Last messages of the talk that it was started from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub earlier: Vec<Message>,
    /// Expected cost, as it was told before the first request; none for a model that answers from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Box<Forecast>>,
    /// Half-done document that the user is asked about first.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adoption: Option<Box<Adoption>>,
    /// Mistakes in the configuration of the project, and where the run continues if it adopts a document.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
}

/// Another process resumes the run.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RunResumed {
    /// Number of this process of the run, from 1; each later one has a higher number.
    pub epoch: u64,
    /// True if the events before are not replayed, because they are damaged or do not fit.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub fresh: bool,
    /// State of the run, if it differs from the journal.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<RunState>,
    /// The workflows that wait for the one that is active there, the first one first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub callers: Vec<Caller>,
    /// Number of calls of workflows so far, as far as known.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub calls: u64,
    /// Settings from here on, if they changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<RunSettings>,
    /// Problems of the journal or the state.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<String>,
    /// Version of the contract with the model from here on, if the events before are not replayed.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "promptVersion")]
    pub prompt_version: Option<u32>,
    /// Words of the user since the last move, if the events before are not replayed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<Message>,
    /// Artifacts that the run wrote since the last move, if the events before are not replayed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<String>,
}

/// The run entered a phase.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PhaseChanged {
    /// The phase.
    pub phase: Phase,
    /// Reason of the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Reason as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// The model, the disk or a tool server failed; the run can be resumed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RunFailed {
    /// Error message.
    pub message: String,
    /// Text of a reply that was received before the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
}

/// The process leaves the run, which is idle or complete.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RunFinished {
    /// The phase it is left in.
    pub phase: Phase,
    /// Reason of the phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Created and changed files, from the root of the project.
    pub artifacts: Vec<String>,
    /// Requests to the model, over the whole run.
    pub turns: u64,
    /// Tokens, over the whole run.
    pub usage: Usage,
}

/// The phases of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Phase {
    /// It works, or was cut off while it did.
    Running,
    /// It waits for the user.
    WaitingUser,
    /// The user stopped it for a while.
    Paused,
    /// The workflow is complete; the conversation may go on.
    Completed,
    /// It cannot go on by itself.
    Failed,
}

/// Reason why a run is idle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Reason {
    /// The model replied without calling a tool.
    StopPoint,
    /// A question waits for its answer.
    Question,
    /// The limit of requests for one input is reached.
    LimitTurns,
    /// The time limit is reached.
    LimitTime,
    /// The token limit is reached.
    LimitTokens,
    /// The cost limit is reached.
    LimitCost,
    /// The required messages do not fit the model's window.
    LimitWindow,
    /// A limit that the node's step sets for one visit is reached.
    LimitNode,
    /// A workflow that was called has failed, or cannot be called, or cannot return.
    Call,
    /// The model repeats a call that fails, or makes calls that bring nothing new.
    Loop,
    /// The model answers in words instead of calling tools.
    Stalled,
    /// The reply of the model is empty.
    EmptyReply,
    /// The user asked for a pause.
    Paused,
    /// The user stopped it.
    Stopped,
    /// The model or the connection to it failed.
    Model,
    /// The disk failed.
    Disk,
    /// The runtime has a bug.
    Internal,
}
