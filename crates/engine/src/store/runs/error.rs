//! Errors of runs.

use thiserror::Error;

use super::lock::Holder;
use super::{ProjectId, RunId, RunKind};
use crate::disk::DiskError;
use crate::journal::JournalError;
use crate::store::{ProjectError, StoreError};

/// Error of a run. For the user, never for a model.
#[derive(Debug, Error)]
pub enum RunError {
    #[error("there is no {kind} `{reference}`; `crewagent {} list` shows what there is", kind.command())]
    Unknown { kind: RunKind, reference: String },
    /// Several runs match.
    #[error("`{reference}` can mean several {kind}s: {}; write more of it", candidates.join(", "))]
    Ambiguous { kind: RunKind, reference: String, candidates: Vec<String> },
    #[error("{id} is in use by {holder}; wait until it is done, or stop it there")]
    InUse { id: RunId, holder: Holder },
    #[error("there is a run {0} already")]
    Exists(RunId),
    /// The record or folder of the run cannot be used.
    #[error(
        "{id} cannot be used: {reason}; `crewagent runs rm {id}` removes it, or `crewagent chats rm {id}` if it is a conversation"
    )]
    Damaged { id: RunId, reason: String },
    #[error(
        "run {id} was written by a newer version of this program (version {version}); update this program"
    )]
    Newer {
        id: RunId,
        /// Version of its folder format.
        version: u32,
    },
    #[error(
        "the package {package} ({digits}) of run {id} is not in the store; import it again with `crewagent package import`"
    )]
    PackageGone {
        id: RunId,
        /// As `name@version`.
        package: String,
        /// First digits of its digest.
        digits: String,
    },
    #[error("project `{project}` of run {id} is not in the store")]
    NoProject { id: RunId, project: ProjectId },
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The packages of the store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Disk(#[from] DiskError),
}
