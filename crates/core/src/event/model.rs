//! Events about requests to the model and its replies.

use crewagent_format::package::step::Tier;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Role;
use crate::draft::ReplyDraft;
use crate::frame_id::FrameId;
use crate::message::{Message, ToolCall};
use crate::payload::Payload;
use crate::usage::{Usage, is_zero};

/// An event about a request to the model.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type")]
pub enum ModelEvent {
    #[serde(rename = "turn.started")]
    TurnStarted(TurnStarted),
    #[serde(rename = "assistant.delta")]
    Delta(AssistantDelta),
    #[serde(rename = "model.retried")]
    Retried(ModelRetried),
    #[serde(rename = "model.fellback")]
    FellBack(ModelFellBack),
    #[serde(rename = "model.overflowed")]
    Overflowed(ModelOverflowed),
    #[serde(rename = "model.nudged")]
    Nudged(ModelNudged),
    #[serde(rename = "model.stopped")]
    Stopped(ModelStopped),
    #[serde(rename = "assistant.message")]
    Replied(AssistantMessage),
    #[serde(rename = "context.cut")]
    ContextCut(ContextCut),
}

impl ModelEvent {
    pub(super) fn role(&self) -> Role {
        match self {
            Self::Replied(_) | Self::Overflowed(_) => Role::Result,
            Self::Stopped(ModelStopped { by: StoppedBy::Time, .. })
            | Self::FellBack(ModelFellBack { model: Some(_), .. }) => Role::Signal,
            Self::TurnStarted(_)
            | Self::Retried(_)
            | Self::FellBack(_)
            | Self::Stopped(_)
            | Self::Nudged(_)
            | Self::ContextCut(_) => Role::Derived,
            Self::Delta(_) => Role::Delta,
        }
    }
}

/// A request goes to the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct TurnStarted {
    /// Its number in the run, from 1.
    pub turn: u64,
    /// The call of a workflow that it belongs to; none in the run's own.
    #[serde(default, skip_serializing_if = "Option::is_none", rename = "call")]
    pub frame: Option<FrameId>,
    /// Node of the run; none after completion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<String>,
    /// The agent that replies; none in a conversation without an agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Tier that the request goes to; none for the run's own model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "ts", ts(type = "\"fast\" | \"strong\" | \"review\" | null"))]
    pub tier: Option<Tier>,
    /// Name of the model; none for one that answers from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Size of the request as it is sent, in bytes; none for a model that answers from a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rendered: Option<u64>,
    /// Request that is sent.
    pub request: RequestSummary,
}

/// A piece of the model's reply. Not in the journal.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct AssistantDelta {
    /// The turn.
    pub turn: u64,
    /// Text of the piece.
    pub text: String,
    /// The addressee: the user, or the model itself.
    #[serde(default)]
    pub channel: Channel,
}

/// A request failed and is retried. The deltas of its reply are void.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ModelRetried {
    /// The turn.
    pub turn: u64,
    /// The number of attempts so far, from 1.
    pub attempt: u32,
    /// The wait before the next attempt, in milliseconds.
    pub wait_ms: u64,
    /// Error message.
    pub message: String,
}

/// The run's model stands in for that of a tier: from here on, because the tier's model failed for good, or because none
/// is set.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ModelFellBack {
    /// The turn.
    pub turn: u64,
    /// Tier that the step advises.
    #[cfg_attr(feature = "ts", ts(type = "\"fast\" | \"strong\" | \"review\""))]
    pub tier: Tier,
    /// Name of the model that failed; none if no model is set for the tier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub model: Option<String>,
    /// Error message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

/// A request was too long for the model's window. It is asked again with less, or the run stops.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ModelOverflowed {
    /// The turn.
    pub turn: u64,
    /// Message of the provider.
    pub message: String,
}

/// A request was stopped before its reply was complete. The partial text is kept for the user; the model is asked
/// again.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ModelStopped {
    /// The turn.
    pub turn: u64,
    /// Cause of the stop.
    pub by: StoppedBy,
    /// Text received so far.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub partial: Option<String>,
}

/// The model's whole reply.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct AssistantMessage {
    /// The turn.
    pub turn: u64,
    /// The reply.
    #[serde(flatten)]
    pub reply: Reply,
}

/// The runtime reminds the model, because its reply brought nothing forward. The text is in the next `turn.started`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ModelNudged {
    /// The turn whose reply it is about.
    pub turn: u64,
    /// Kind of the reminder.
    pub kind: NudgeKind,
}

/// Messages left the context of the model because they no longer fit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ContextCut {
    /// Messages that are no longer sent.
    pub messages: usize,
    /// Their size.
    pub bytes: u64,
}

/// Contents of a request: sizes, digest, new messages.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RequestSummary {
    /// Number of messages.
    pub messages: usize,
    /// Their size.
    pub bytes: u64,
    /// A digest over all of them, and over the tools.
    pub sha256: String,
    /// The messages that the runtime wrote for this request; the others are in earlier events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Message>,
}

/// Addressee of a part of a reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Channel {
    /// The user.
    #[default]
    Text,
    /// Itself.
    Thinking,
}

/// Cause for which a request was stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum StoppedBy {
    /// The user stopped the run.
    User,
    /// The time of the run was over.
    Time,
}

/// Kind of a reminder to the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum NudgeKind {
    /// The reply was empty.
    Empty,
    /// The reply was text and no call.
    NoCall,
    /// The model is shown the call that finishes the node.
    Finish,
    /// The model asked the user if it may go on.
    GoOn,
    /// The reply was cut off at the output limit.
    Cut,
    /// The reply has a call written as text that cannot be carried out.
    Call,
    /// The reply has a draft that is broken, or that the user was not shown.
    Draft,
}

/// A reply of the model.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Reply {
    /// Text of the reply.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The tools it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Indices, from 0, of the calls whose arguments are not a JSON object.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken_calls: Vec<usize>,
    /// Number of the calls that the model wrote as text.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub text_calls: usize,
    /// Reason why a call that the model wrote as text cannot be carried out, if there is one and no other call.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable_call: Option<String>,
    /// Calls that are recorded otherwise than the model wrote them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repaired_calls: Vec<RepairedCall>,
    /// Drafts in its text, whose marks are taken out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drafts: Vec<ReplyDraft>,
    /// Reasons why other blocks of its text are no drafts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken_drafts: Vec<String>,
    /// Reason why it ended.
    #[serde(default)]
    pub finish: Finish,
    /// Usage of the request.
    #[serde(default)]
    pub usage: Usage,
    /// Model that wrote it, where that matters: `profile/model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// Other data that the provider sent and expects back.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// A call that the model wrote in another form than it is recorded and sent back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RepairedCall {
    /// Index of the call, from 0.
    pub index: usize,
    /// The tool's name as the model wrote it, if that was another.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The arguments as the model wrote them, if they were repaired.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub arguments: Option<Payload>,
    /// Kinds of repairs of the arguments, such as `trailing-comma`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repairs: Vec<String>,
}

/// Cause for which a reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Finish {
    /// The model was done, or wants its tools to run.
    #[default]
    Stop,
    /// It was cut off; its last call must not be executed.
    Length,
    /// The provider held something back.
    Filter,
}
