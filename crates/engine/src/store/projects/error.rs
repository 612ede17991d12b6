//! Why a project cannot be used.

use std::io;
use std::path::PathBuf;

use thiserror::Error;

use crate::disk::DiskError;
use crate::store::{Holder, ProjectId};

/// Why a project cannot be used. For the user, who knows the real folders; never for a model.
#[derive(Debug, Error)]
pub enum ProjectError {
    /// The folder cannot be a project.
    #[error("cannot use `{}` as a project: {error}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// What the system said.
        error: io::Error,
    },
    /// The folder's path cannot be written down.
    #[error("cannot use `{}` as a project: its path is not Unicode; rename the folder", path.display())]
    NotText {
        /// The folder.
        path: PathBuf,
    },
    /// A model could reach the store through the project.
    #[error(
        "cannot use `{}` as a project, because the store in `{}` and it overlap, and a run could change its own records; choose another folder, or another store with `--home`",
        path.display(), home.display()
    )]
    Overlap {
        /// The folder.
        path: PathBuf,
        /// The store.
        home: PathBuf,
    },
    /// The folder is not there any more.
    #[error(
        "the folder `{}` of project `{name}` is gone; if it was moved, say where it is now with `crewagent projects relink {id} FOLDER`",
        path.display()
    )]
    Gone {
        /// The project.
        id: ProjectId,
        /// Its name.
        name: String,
        /// Where it was.
        path: PathBuf,
    },
    /// There is no such project.
    #[error("there is no project `{reference}`; `crewagent projects list` shows what there is")]
    Unknown {
        /// What was asked for.
        reference: String,
    },
    /// Several projects fit.
    #[error("`{reference}` can mean several projects: {}; write more of it", candidates.join(", "))]
    Ambiguous {
        /// What was asked for.
        reference: String,
        /// What it can mean.
        candidates: Vec<String>,
    },
    /// Another project is in this folder.
    #[error(
        "`{}` is the folder of project `{by}` already; forget that one first with `crewagent projects forget {by}`",
        path.display()
    )]
    Occupied {
        /// The folder.
        path: PathBuf,
        /// The project that is in it.
        by: ProjectId,
    },
    /// A run of the project is at work.
    #[error("project `{id}` cannot be forgotten: its run {run} is in use by {holder}")]
    InUse {
        /// The project.
        id: ProjectId,
        /// The run.
        run: String,
        /// Who has it.
        holder: Holder,
    },
    /// What the store knows of the project cannot be read.
    #[error("project `{id}` cannot be used: {reason}")]
    Damaged {
        /// The project.
        id: ProjectId,
        /// What is wrong.
        reason: String,
    },
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
}
