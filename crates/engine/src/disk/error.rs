//! An operation on the store that failed.

use std::io;

use thiserror::Error;

use crate::mounts::{MountErrorKind, kind_of};

/// The disk failed under the store. The text has no real path in it, because the journal may come to hold it.
#[derive(Debug, Error)]
#[error("cannot {action} `{file}` in the store: {error}")]
pub struct DiskError {
    /// What was tried, as in "cannot write".
    pub action: &'static str,
    /// On what, from the root of the store.
    pub file: String,
    /// What the system said.
    pub error: io::Error,
}

impl DiskError {
    /// What can be done about it.
    pub fn kind(&self) -> MountErrorKind {
        kind_of(&self.error)
    }

    /// Whether the file or folder is not there.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    }
}
