//! Refusals and errors of operations on a mount.

use std::io;
use std::path::PathBuf;

use crewagent_core::refusal::Refusal;
use crewagent_core::vpath::{Mount, VPath};
use thiserror::Error;

use crate::disk::{DiskErrorKind, kind_of};

/// Outcome of an operation on a mount: a value, a refusal for the model, or an I/O error.
pub type MountResult<T> = Result<Result<T, Refusal>, MountError>;

/// Mount that cannot be opened. For the user, who knows the real folders; never for a model.
#[derive(Debug, Error)]
#[error("cannot open `{}` as {}: {error}", path.display(), mount.name())]
pub struct OpenError {
    pub mount: Mount,
    pub path: PathBuf,
    pub error: io::Error,
}

/// I/O error. Its text names mount paths only.
#[derive(Debug, Error)]
#[error("cannot {action} `{path}`: {error}")]
pub struct MountError {
    pub kind: DiskErrorKind,
    /// Verb, as in "cannot write".
    pub action: &'static str,
    pub path: VPath,
    pub error: io::Error,
}

impl MountError {
    pub(super) fn new(action: &'static str, path: &VPath, error: io::Error) -> Self {
        Self { kind: kind_of(&error), action, path: path.clone(), error }
    }

    pub(super) fn gone(action: &'static str, path: &VPath) -> Self {
        let error = io::Error::new(
            io::ErrorKind::NotFound,
            format!("the folder behind {} was removed", path.mount().name()),
        );
        Self { kind: DiskErrorKind::Gone, action, path: path.clone(), error }
    }
}

/// Refusal or error, so that one `?` carries both inside the module.
#[derive(Debug)]
pub(super) enum Stop {
    Refused(Box<Refusal>),
    Failed(MountError),
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<MountError> for Stop {
    fn from(error: MountError) -> Self {
        Self::Failed(error)
    }
}

/// Converts to the type that callers see.
pub(super) fn settle<T>(result: Result<T, Stop>) -> MountResult<T> {
    match result {
        Ok(value) => Ok(Ok(value)),
        Err(Stop::Refused(refusal)) => Ok(Err(*refusal)),
        Err(Stop::Failed(error)) => Err(error),
    }
}
