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
    /// Where it is.
    pub path: String,
    /// Whether the folder is there.
    pub exists: bool,
    /// The package that was used last, as `name@version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub last_package: Option<String>,
    /// Whether that package is in the store.
    pub has_package: bool,
    /// When it was first used.
    pub created: String,
    /// How many runs it has.
    pub runs: u32,
    /// How many conversations it has.
    pub conversations: u32,
    /// When something last happened in it.
    pub used: String,
    /// How many of its newest runs wait for the user.
    pub waiting: u32,
}

/// A folder that is to be a project, or where one is now.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FolderPath {
    /// The folder, from the root of the disk.
    pub path: String,
}

/// The folder that is listed.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct FolderQuery {
    /// The folder, from the root of the disk; that of the user when absent.
    pub path: Option<String>,
    /// Whether hidden folders are listed.
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
    /// Whether there are more.
    pub truncated: bool,
}

/// A folder in a folder.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct FolderEntry {
    /// Its name.
    pub name: String,
    /// Where it is.
    pub path: String,
}

/// A project and a package to try, with a model that answers from a file: no key, no network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Sample {
    /// The project that was made.
    pub project: Project,
    /// The package, as `name@version`.
    pub package: String,
    /// The model that a run is started with.
    pub model: String,
    /// What the model understands as an answer to its question.
    pub answer: String,
}
