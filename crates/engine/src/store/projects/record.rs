//! `project.json`: the record of a project. Replaced as a whole when it changes.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use super::{Project, ProjectError, ProjectId};

/// File name of the record.
pub(super) const RECORD: &str = "project.json";
/// Largest record that is read, in bytes.
pub(super) const MAX_RECORD: u64 = 256 * 1024;
/// Version of the record format that this runtime writes.
const SCHEMA_VERSION: u32 = 1;

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ProjectRecord {
    schema_version: u32,
    id: ProjectId,
    name: String,
    path: PathBuf,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    last_package: Option<String>,
    created: Timestamp,
}

/// Field that every version of the record has.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct ProjectRecordHead {
    schema_version: u32,
}

impl ProjectRecord {
    pub(super) fn of(project: &Project) -> Result<Vec<u8>, ProjectError> {
        let record = Self {
            schema_version: SCHEMA_VERSION,
            id: project.id.clone(),
            name: project.name.clone(),
            path: project.path.clone(),
            last_package: project.last_package.clone(),
            created: project.created,
        };
        let mut text = serde_json::to_vec_pretty(&record).map_err(|error| {
            ProjectError::Damaged { id: project.id.clone(), reason: error.to_string() }
        })?;
        text.push(b'\n');
        Ok(text)
    }

    pub(super) fn read(bytes: &[u8], id: &ProjectId) -> Result<Project, ProjectError> {
        let damaged = |reason: String| ProjectError::Damaged { id: id.clone(), reason };
        let unclear =
            |error: serde_json::Error| damaged(format!("`{RECORD}` cannot be understood: {error}"));
        let ProjectRecordHead { schema_version } =
            serde_json::from_slice(bytes).map_err(unclear)?;
        if schema_version > SCHEMA_VERSION {
            return Err(damaged(format!(
                "it was written by a newer version of this program (version {schema_version}); update this program"
            )));
        }
        let record: Self = serde_json::from_slice(bytes).map_err(unclear)?;
        if record.id != *id {
            return Err(damaged(format!("`{RECORD}` is that of project `{}`", record.id)));
        }
        let Self { id, name, path, last_package, created, .. } = record;
        Ok(Project { id, name, path, last_package, created })
    }
}
