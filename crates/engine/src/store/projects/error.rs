//! Errors of projects.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::disk::DiskError;
use crate::store::{Holder, ProjectId};

/// Error of a project. For the user, who knows the real folders; never for a model.
#[derive(Debug, Error)]
pub enum ProjectError {
    #[error("cannot use `{}` as a project: {error}", path.display())]
    Folder { path: PathBuf, error: io::Error },
    /// The folder's path is not Unicode, so it cannot be recorded.
    #[error("cannot use `{}` as a project: its path is not Unicode; rename the folder", path.display())]
    NotText { path: PathBuf },
    /// A model could reach the store through the project.
    #[error(
        "cannot use `{}` as a project, because the store in `{}` and it overlap, and a run could change its own records; choose another folder, or another store with `--home`",
        path.display(), home.display()
    )]
    Overlap { path: PathBuf, home: PathBuf },
    #[error(
        "the folder `{}` of project `{name}` is gone; if it was moved, say where it is now with `crewagent projects relink {id} FOLDER`",
        path.display()
    )]
    Gone { id: ProjectId, name: String, path: PathBuf },
    #[error("there is no project `{reference}`; `crewagent projects list` shows what there is")]
    Unknown { reference: String },
    /// Several projects match.
    #[error("`{reference}` can mean several projects: {}; write more of it", candidates.join(", "))]
    Ambiguous { reference: String, candidates: Vec<String> },
    #[error(
        "`{}` is the folder of project `{by}` already; forget that one first with `crewagent projects forget {by}`",
        path.display()
    )]
    Occupied { path: PathBuf, by: ProjectId },
    /// A process holds a run of the project.
    #[error("project `{id}` cannot be forgotten: its run {run} is in use by {holder}")]
    InUse { id: ProjectId, run: String, holder: Holder },
    /// The record of the project cannot be read.
    #[error("project `{id}` cannot be used: {reason}")]
    Damaged { id: ProjectId, reason: String },
    #[error(transparent)]
    Disk(#[from] DiskError),
}
