//! Why a run cannot be used.

use thiserror::Error;

use super::lock::Holder;
use super::{ProjectId, RunId, Shelf};
use crate::disk::DiskError;
use crate::journal::JournalError;
use crate::store::{ProjectError, StoreError};

/// Why a run cannot be used. For the user, never for a model.
#[derive(Debug, Error)]
pub enum RunError {
    /// There is no such run.
    #[error("there is no {shelf} `{reference}`; `crewagent {} list` shows what there is", shelf.command())]
    Unknown {
        /// What kind of thing was asked for.
        shelf: Shelf,
        /// What was asked for.
        reference: String,
    },
    /// Several runs fit.
    #[error("`{reference}` can mean several {shelf}s: {}; write more of it", candidates.join(", "))]
    Ambiguous {
        /// What kind of thing was asked for.
        shelf: Shelf,
        /// What was asked for.
        reference: String,
        /// What it can mean.
        candidates: Vec<String>,
    },
    /// Another process has it.
    #[error("{id} is in use by {holder}; wait until it is done, or stop it there")]
    InUse {
        /// The run.
        id: RunId,
        /// Who has it.
        holder: Holder,
    },
    /// A run of this id exists.
    #[error("there is a run {0} already")]
    Exists(RunId),
    /// What the store has of the run cannot be used.
    #[error(
        "{id} cannot be used: {reason}; `crewagent runs rm {id}` removes it, or `crewagent chats rm {id}` if it is a conversation"
    )]
    Damaged {
        /// The run.
        id: RunId,
        /// What is wrong.
        reason: String,
    },
    /// A newer version of this program wrote it.
    #[error(
        "run {id} was written by a newer version of this program (version {version}); update this program"
    )]
    Newer {
        /// The run.
        id: RunId,
        /// The version of its form.
        version: u32,
    },
    /// Its package is not in the store.
    #[error(
        "the package {package} ({digits}) of run {id} is not in the store; import it again with `crewagent package import`"
    )]
    PackageGone {
        /// The run.
        id: RunId,
        /// The package, as `name@version`.
        package: String,
        /// The first digits of its digest.
        digits: String,
    },
    /// Its project is not in the store.
    #[error("project `{project}` of run {id} is not in the store")]
    NoProject {
        /// The run.
        id: RunId,
        /// The project.
        project: ProjectId,
    },
    /// Its project cannot be used.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// Its journal cannot be used.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The packages of the store cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
}
