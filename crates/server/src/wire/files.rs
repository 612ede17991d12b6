//! Files of a project.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The path of a file or folder.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct FileQuery {
    /// From the root of the project; the project itself when absent.
    pub path: Option<String>,
}

/// The file whose bytes are sent.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ContentQuery {
    /// From the root of the project.
    pub path: String,
    /// True to show a PDF instead of saving it; other files are always saved.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub inline: bool,
    /// Any text. It makes the address of each version another one, so that a browser shows no old picture.
    pub version: Option<String>,
}

/// The content of a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileList {
    /// Folders first, then by name.
    pub entries: Vec<FileEntry>,
    /// True if there are more.
    pub more: bool,
}

/// A file or a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileEntry {
    /// True for a file, false for a folder.
    pub is_file: bool,
    /// Its name.
    pub name: String,
    /// From the root of the project.
    pub path: String,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FileText {
    /// From the root of the project.
    pub path: String,
    /// The digest of the whole file.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
    /// Its text; none when it is not text, or too long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// The new content of a file.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct WriteFile {
    /// From the root of the project.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// Digest that the file must have now; absent if it must not exist yet.
    pub if_match_sha256: Option<String>,
}
