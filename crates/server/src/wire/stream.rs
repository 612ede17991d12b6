//! The stream of events.

use std::fmt;

use crewagent_core::event::{Event, Phase, Reason};
use crewagent_core::question::QuestionKind;
use crewagent_engine::store::RunId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Whose events they are.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Kind {
    /// A run of a workflow.
    Run,
    /// A conversation.
    Conversation,
}

/// The journal of a run or of a conversation.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Journal {
    /// Whose it is.
    pub kind: Kind,
    /// The id of the run or the conversation.
    #[schemars(with = "String")]
    #[cfg_attr(test, ts(type = "string"))]
    pub id: RunId,
}

impl Journal {
    /// The journal of a run.
    pub fn run(id: RunId) -> Self {
        Self { kind: Kind::Run, id }
    }

    /// The journal of a conversation.
    pub fn conversation(id: RunId) -> Self {
        Self { kind: Kind::Conversation, id }
    }

    /// Reads `run/<id>` or `conversation/<id>`.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, id) = text.split_once('/')?;
        let kind = match kind {
            "run" => Kind::Run,
            "conversation" => Kind::Conversation,
            _ => return None,
        };
        Some(Self { kind, id: RunId::parse(id).ok()? })
    }
}

impl fmt::Display for Journal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            Kind::Run => "run",
            Kind::Conversation => "conversation",
        };
        write!(f, "{kind}/{}", self.id)
    }
}

/// The data of a frame `event`: something happened.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Told {
    /// Where.
    pub journal: Journal,
    /// What.
    pub event: Event,
}

/// The data of a frame `rewind`: what was told behind this event never became part of the journal. It is to be
/// dropped, with every piece of a reply that is not whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Rewind {
    /// Where.
    pub journal: Journal,
    /// The last event that stays; 0 when none does.
    pub seq: u64,
}

/// The data of a frame `hello`, with which a stream begins: lists are to be fetched anew.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Hello {
    /// The version of the server.
    pub version: String,
    /// Tells one life of the server from another.
    pub server: String,
}

/// The data of a frame `notice`: how a run or a conversation is now, for lists.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Notice {
    /// Which one.
    pub journal: Journal,
    /// Its phase; none when it was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// Why it rests.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Why, in words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// What kind of question it waits with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<QuestionKind>,
    /// The node it is at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_node: Option<String>,
    /// How many nodes are done, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub steps_completed: Option<u32>,
    /// Requests to the model, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub turns: Option<u32>,
    /// When.
    pub time: String,
    /// Whether a process is at work on it.
    pub at_work: bool,
    /// Whether it was removed.
    pub removed: bool,
}

/// What a stream follows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Watch {
    /// Journals with commas between them, such as `run/<id>,conversation/<id>`. A conversation brings its runs along.
    pub watch: Option<String>,
    /// The id of the last frame that was seen; the header `Last-Event-ID` wins.
    pub after: Option<String>,
}
