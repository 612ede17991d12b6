//! Projects, and the folders they are chosen from.

use crewagent_engine::store::Flaw;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The projects of the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Projects {
    /// Those that were used last first.
    pub projects: Vec<Project>,
    /// Folders of projects that cannot be read.
    pub damaged: Vec<Flaw>,
}

/// A folder of the user that is known to the store.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Project {
    /// Its id, which it keeps when the folder moves.
    pub id: String,
    /// Its name.
    pub name: String,
    /// Path of the folder.
    pub path: String,
    /// True if the folder exists.
    pub exists: bool,
    /// The package that was used last, as `name@version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_package: Option<String>,
    /// True if that package is in the store.
    pub has_package: bool,
    /// Time of the first use.
    pub created: String,
    /// Number of runs.
    pub runs: u32,
    /// Number of conversations.
    pub conversations: u32,
    /// Time of the last event.
    pub used: String,
    /// Number of its newest runs that wait for the user.
    pub waiting: u32,
}

/// Folder to make a project of, or the new folder of one.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FolderPath {
    /// Absolute path of the folder.
    pub path: String,
}

/// Folder for the sample.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct SampleFolder {
    /// Absolute path of a folder that is new or empty; a new one in the user's home when absent.
    pub path: Option<String>,
}

/// New name of a project.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ProjectName {
    /// The name.
    pub name: String,
}

/// The folder that is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct FolderQuery {
    /// Absolute path of the folder; the user's home when absent.
    pub path: Option<String>,
    /// True to list hidden folders.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub hidden: bool,
}

/// The folders in a folder.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Folders {
    /// The folder.
    pub path: String,
    /// The one above it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<String>,
    /// The folders in it, by name.
    pub folders: Vec<FolderEntry>,
    /// Folders that users often look for: their home and what is usual in it.
    pub places: Vec<FolderEntry>,
    /// True if there are more.
    pub truncated: bool,
}

/// A folder in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FolderEntry {
    /// Its name.
    pub name: String,
    /// Path of the folder.
    pub path: String,
}

/// A project and a package to try, with a model that answers from a file: no key, no network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Sample {
    /// The created project.
    pub project: Project,
    /// The package, as `name@version`.
    pub package: String,
    /// The model that a run is started with.
    pub model: String,
    /// Answer that the model understands.
    pub answer: String,
}
