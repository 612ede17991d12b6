//! `run.json`: what a run or a conversation is. Written once, never changed.

use crewagent_core::integrity::Digest;
use jiff::Timestamp;
use semver::Version;
use serde::{Deserialize, Serialize};

use super::{Installed, ProjectId, RunError, RunId};
use crate::disk::Folder;

/// The name of the record in a run's folder.
pub(super) const RECORD: &str = "run.json";
/// More is no record of ours.
const MAX_RECORD: u64 = 256 * 1024;
/// The form of a run's folder that this runtime writes.
pub(super) const SCHEMA_VERSION: u32 = 1;

/// What a run is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct RunRecord {
    /// The form of the folder.
    pub schema_version: u32,
    /// The run.
    pub run_id: RunId,
    /// The project it belongs to.
    pub project_id: ProjectId,
    /// What it is about.
    #[serde(flatten)]
    pub subject: Subject,
    /// When it was created.
    pub created: Timestamp,
    /// The conversation that it was started from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<RunId>,
}

/// What a run is about.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum Subject {
    /// A workflow is carried out.
    Workflow {
        /// The package it runs.
        package: RunPackage,
        /// The workflow of the package.
        workflow: RunWorkflow,
        /// The agent of the run.
        agent_id: String,
    },
    /// A conversation.
    Talk {
        /// The package whose agents can be talked to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        package: Option<RunPackage>,
        /// The agent that it began with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<String>,
    },
}

impl Subject {
    /// The package.
    pub fn package(&self) -> Option<&RunPackage> {
        match self {
            Self::Workflow { package, .. } => Some(package),
            Self::Talk { package, .. } => package.as_ref(),
        }
    }

    /// The workflow.
    pub fn workflow(&self) -> Option<&RunWorkflow> {
        match self {
            Self::Workflow { workflow, .. } => Some(workflow),
            Self::Talk { .. } => None,
        }
    }

    /// The agent.
    pub fn agent_id(&self) -> Option<&str> {
        match self {
            Self::Workflow { agent_id, .. } => Some(agent_id),
            Self::Talk { agent_id, .. } => agent_id.as_deref(),
        }
    }
}

/// The package of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunPackage {
    /// Its name.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// The digest of its content, which tells it from every other.
    #[serde(with = "digest")]
    pub sha256: Digest,
}

impl RunPackage {
    /// A package of the store.
    pub fn of(installed: &Installed) -> Self {
        let Installed { name, version, digest, .. } = installed;
        Self { name: name.clone(), version: version.clone(), sha256: *digest }
    }

    /// The package as a person writes it: `name@version`.
    pub fn reference(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

/// The workflow of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RunWorkflow {
    /// Its id, if the package gives it one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// The path of its document in the package.
    pub document: String,
}

impl RunWorkflow {
    /// Its id, or else the path of its document.
    pub fn reference(&self) -> &str {
        self.id.as_deref().unwrap_or(&self.document)
    }
}

/// What every record begins with, whoever wrote it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Head {
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
        // The usual case needs one look; the head tells what an unusual one is about.
        match serde_json::from_slice::<Self>(&bytes) {
            Ok(record) if record.schema_version > SCHEMA_VERSION => {
                Err(newer(id, record.schema_version))
            }
            Ok(record) if record.run_id != *id => {
                Err(damaged(format!("its `{RECORD}` is that of run {}", record.run_id)))
            }
            Ok(record) => Ok(record),
            Err(error) => match serde_json::from_slice::<Head>(&bytes) {
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

/// A digest as text.
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
