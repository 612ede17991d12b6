//! The stream of events.

use crewagent_engine::store::JournalId;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The data of a frame `rewind`: what was told behind this event never became part of the journal. It is to be
/// dropped, with every piece of a reply that is not whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Rewind {
    /// Where.
    pub journal: JournalId,
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
