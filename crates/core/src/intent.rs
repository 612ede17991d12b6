//! Announced changes: files with digests before and after, and moves.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// One file of an intent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct FileIntent {
    /// The mount path.
    pub path: String,
    /// The digest before; none when there is no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The digest after; none when the file is removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// A move along an edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Moved {
    /// The node that was left.
    pub from: String,
    /// The node that was entered.
    pub to: String,
    /// The edge's label.
    pub label: String,
}
