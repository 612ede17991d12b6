//! Events of a run: the journal, the terminal, the web app and `--json` are views of them.
//!
//! Events are grouped by topic. Their JSON is flat: `type` names the event, and its fields are beside `seq` and `time`.

mod conversation;
mod frame;
mod model;
mod node;
mod run;
mod state;
mod tool;
mod user;
mod wire;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

pub use crate::intent::{FileIntent, Moved};
pub use conversation::*;
pub use frame::*;
pub use model::*;
pub use node::*;
pub use run::*;
pub use state::*;
pub use tool::*;
pub use user::*;
use wire::Wire;

/// One event. In the journal it is one line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Event {
    /// Its number in the run, from 1. A piece of an event that is still to come (`assistant.delta`) has that
    /// event's number, and `part` counts the pieces.
    pub seq: u64,
    /// Counts the pieces of an event that is still to come, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<u64>,
    /// Time, as RFC 3339 in UTC with milliseconds.
    pub time: String,
    /// The run it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The durable step whose result this is, such as `t1/llm/3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// Type of the event, with its fields.
    #[serde(flatten)]
    pub kind: EventKind,
}

/// Kind and payload of an event, grouped by topic.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(from = "Wire")]
#[schemars(with = "Wire")]
#[expect(
    clippy::large_enum_variant,
    reason = "events are handled one at a time; a box would cost each reader more than the copy"
)]
pub enum EventKind {
    /// `run.*`, `phase.changed`, `error`.
    Run(RunEvent),
    /// `session.*`, `command.resolved`.
    Conversation(ConversationEvent),
    /// `user.input`, `question`.
    User(UserEvent),
    /// `workflow.*`.
    Frame(FrameEvent),
    /// `node.entered`, `state.changed`.
    State(StateEvent),
    /// `turn.started`, `assistant.*`, `model.*`, `context.cut`.
    Model(ModelEvent),
    /// `tool.*`, `tools.listed`, `server.logged`.
    Tool(ToolEvent),
}

/// Part of an event in a replay.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Role {
    /// The program records it: the start, or the result of a durable step. An event with a key is always a result.
    Result,
    /// It comes from outside: the user, another process, a tool server, the clock.
    Signal,
    /// It follows from results and signals, so a replay emits it again.
    Derived,
    /// It is a fragment of a reply or a log line; no other event depends on it, and a replay ignores it.
    Delta,
}

impl Serialize for EventKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Run(event) => event.serialize(serializer),
            Self::Conversation(event) => event.serialize(serializer),
            Self::User(event) => event.serialize(serializer),
            Self::Frame(event) => event.serialize(serializer),
            Self::State(event) => event.serialize(serializer),
            Self::Model(event) => event.serialize(serializer),
            Self::Tool(event) => event.serialize(serializer),
        }
    }
}

impl EventKind {
    /// Returns true if a run or a conversation starts with it.
    pub fn is_start(&self) -> bool {
        matches!(
            self,
            Self::Run(RunEvent::Started(_)) | Self::Conversation(ConversationEvent::Started(_))
        )
    }

    /// Returns the number of the process that resumes the run, if one does.
    pub fn epoch(&self) -> Option<u64> {
        match self {
            Self::Run(RunEvent::Resumed(resumed)) => Some(resumed.epoch),
            Self::Run(_)
            | Self::Conversation(_)
            | Self::User(_)
            | Self::Frame(_)
            | Self::State(_)
            | Self::Model(_)
            | Self::Tool(_) => None,
        }
    }

    /// Returns the role of such an event without a key.
    pub fn role(&self) -> Role {
        match self {
            Self::Run(event) => event.role(),
            Self::Conversation(event) => event.role(),
            Self::User(event) => event.role(),
            Self::Frame(_) => Role::Result,
            Self::State(event) => event.role(),
            Self::Model(event) => event.role(),
            Self::Tool(event) => event.role(),
        }
    }
}
