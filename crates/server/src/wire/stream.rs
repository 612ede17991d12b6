//! The stream of events.

use crewagent_engine::store::JournalId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Data of a frame `rewind`: events after this one never became part of the journal. The client drops them, with every
/// incomplete reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Rewind {
    /// The journal.
    pub journal: JournalId,
    /// The last event that stays; 0 when none does.
    pub seq: u64,
}

/// Data of a frame `hello`, with which a stream begins: the client fetches its lists again.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Hello {
    /// The version of the server.
    pub version: String,
    /// The id of the server process.
    pub server: String,
}

/// The journals that a stream follows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Watch {
    /// Journals, separated by commas, such as `run/<id>,conversation/<id>`. A conversation includes its runs.
    pub watch: Option<String>,
    /// The id of the last frame that was seen; the header `Last-Event-ID` wins.
    pub after: Option<String>,
}
