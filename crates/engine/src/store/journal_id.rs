//! Name of a journal: that of a run or of a conversation.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RunId;

/// The owner of a journal.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum JournalKind {
    /// A run of a workflow.
    Run,
    /// A conversation.
    Conversation,
}

/// The journal of a run or of a conversation.
#[derive(
    Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct JournalId {
    /// The owner.
    pub kind: JournalKind,
    /// The id of the run or the conversation.
    #[schemars(with = "String")]
    #[cfg_attr(feature = "ts", ts(type = "string"))]
    pub id: RunId,
}

impl JournalId {
    /// Returns the journal of a run.
    pub fn run(id: RunId) -> Self {
        Self { kind: JournalKind::Run, id }
    }

    /// Returns the journal of a conversation.
    pub fn conversation(id: RunId) -> Self {
        Self { kind: JournalKind::Conversation, id }
    }

    /// Parses `run/<id>` or `conversation/<id>`.
    pub fn parse(text: &str) -> Option<Self> {
        let (kind, id) = text.split_once('/')?;
        let kind = match kind {
            "run" => JournalKind::Run,
            "conversation" => JournalKind::Conversation,
            _ => return None,
        };
        Some(Self { kind, id: RunId::parse(id).ok()? })
    }
}

impl fmt::Display for JournalId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.kind {
            JournalKind::Run => "run",
            JournalKind::Conversation => "conversation",
        };
        write!(f, "{kind}/{}", self.id)
    }
}
