//! `run.json`: the record of a run or a conversation. Written once, never changed.

use crewagent_core::bindings::Bindings;
use crewagent_format::integrity::Digest;
use jiff::Timestamp;
use semver::Version;
use serde::{Deserialize, Serialize};

use super::{Installed, ProjectId, RunError, RunId};
use crate::disk::Folder;

/// File name of the record.
pub(super) const RECORD: &str = "run.json";
/// Largest record that is read, in bytes.
const MAX_RECORD: u64 = 256 * 1024;
/// Version of the run folder format that this runtime writes.
pub(super) const SCHEMA_VERSION: u32 = 1;

/// Record of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// Version of the folder format.
    pub schema_version: u32,
    pub run_id: RunId,
    pub project_id: ProjectId,
    #[serde(flatten)]
    pub subject: RunSubject,
    pub created: Timestamp,
    /// Version of the contract with the model under which it was recorded.
    #[serde(default = "first_prompt_version")]
    pub prompt_version: u32,
    /// Conversation that started it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<RunId>,
    /// Run that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork_of: Option<RunId>,
    /// Values that the texts of the package are filled with.
    #[serde(default, skip_serializing_if = "Bindings::is_empty")]
    pub bindings: Bindings,
    /// Document that it continues with, from the root of the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adopted: Option<String>,
}

/// Returns the version of records that name none.
fn first_prompt_version() -> u32 {
    1
}

/// Subject of a run: a workflow, or a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum RunSubject {
    Workflow {
        package: RunPackage,
        workflow: RunWorkflow,
        agent_id: String,
    },
    Conversation {
        /// Package whose agents take part.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        package: Option<RunPackage>,
        /// Agent at its start.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<String>,
    },
}

impl RunSubject {
    /// Returns the package.
    pub fn package(&self) -> Option<&RunPackage> {
        match self {
            Self::Workflow { package, .. } => Some(package),
            Self::Conversation { package, .. } => package.as_ref(),
        }
    }

    /// Returns the workflow; a conversation has none.
    pub fn workflow(&self) -> Option<&RunWorkflow> {
        match self {
            Self::Workflow { workflow, .. } => Some(workflow),
            Self::Conversation { .. } => None,
        }
    }

    /// Returns the id of the agent.
    pub fn agent_id(&self) -> Option<&str> {
        match self {
            Self::Workflow { agent_id, .. } => Some(agent_id),
            Self::Conversation { agent_id, .. } => agent_id.as_deref(),
        }
    }
}

/// Package of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPackage {
    pub name: String,
    pub version: Version,
    /// Digest of its content, its identity.
    #[serde(with = "digest")]
    pub sha256: Digest,
}

impl RunPackage {
    /// Returns the reference to a package of the store.
    pub fn of(installed: &Installed) -> Self {
        let Installed { name, version, digest, .. } = installed;
        Self { name: name.clone(), version: version.clone(), sha256: *digest }
    }

    /// Returns `name@version`, as users write it.
    pub fn reference(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

/// Workflow of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunWorkflow {
    /// Id, if the package gives it one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Path of its document in the package.
    pub document: String,
}

impl RunWorkflow {
    /// Returns its id, or else the path of its document.
    pub fn reference(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.document)
    }
}

/// Field that every version of the record has.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RunRecordHead {
    schema_version: u32,
}

impl RunRecord {
    pub(super) fn text(&self) -> Result<Vec<u8>, serde_json::Error> {
        let mut text = serde_json::to_vec_pretty(self)?;
        text.push(b'\n');
        Ok(text)
    }

    pub(in crate::store) fn read(folder: &Folder, id: &RunId) -> Result<Self, RunError> {
        let damaged = |reason: String| RunError::Damaged { id: id.clone(), reason };
        let bytes = match folder.read(RECORD, MAX_RECORD) {
            Ok(bytes) => bytes,
            Err(error) if error.is_missing() => {
                return Err(damaged(format!("its `{RECORD}` is missing")));
            }
            Err(error) => return Err(error.into()),
        };
        let unclear = |error| damaged(format!("its `{RECORD}` cannot be understood: {error}"));
        // One parse is enough for a valid record; the head explains a failed one.
        match serde_json::from_slice::<Self>(&bytes) {
            Ok(record) if record.schema_version > SCHEMA_VERSION => {
                Err(newer(id, record.schema_version))
            }
            Ok(record) if record.run_id != *id => {
                Err(damaged(format!("its `{RECORD}` is that of run {}", record.run_id)))
            }
            Ok(record) => Ok(record),
            Err(error) => match serde_json::from_slice::<RunRecordHead>(&bytes) {
                Ok(head) if head.schema_version > SCHEMA_VERSION => {
                    Err(newer(id, head.schema_version))
                }
                _ => Err(unclear(error)),
            },
        }
    }
}

fn newer(id: &RunId, version: u32) -> RunError {
    RunError::Newer { id: id.clone(), version }
}

/// Serialization of a digest as text.
mod digest {
    use super::{Deserialize, Digest};

    pub(super) fn serialize<S: serde::Serializer>(
        digest: &Digest,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        serializer.collect_str(digest)
    }

    pub(super) fn deserialize<'de, D: serde::Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Digest, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        Digest::parse(&text).ok_or_else(|| serde::de::Error::custom("`sha256` is not a digest"))
    }
}
