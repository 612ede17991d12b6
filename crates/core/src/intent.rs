//! Announced changes of files, with digests before and after.

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
