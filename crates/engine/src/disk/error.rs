//! Operations on the disk that failed.

use std::io;

use thiserror::Error;

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
    /// Returns the kind of the failure.
    pub fn kind(&self) -> DiskErrorKind {
        kind_of(&self.error)
    }

    /// Returns true if the file or folder does not exist.
    pub(crate) fn is_missing(&self) -> bool {
        matches!(self.error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    }
}

/// The kinds of failure that call for different answers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiskErrorKind {
    /// The disk or the user's quota is full.
    Full,
    /// The file system cannot be written.
    ReadOnly,
    /// The user may not do this, or the file is marked as read-only.
    Denied,
    /// Too many files are open.
    Exhausted,
    /// The folder behind a mount was removed.
    Gone,
    /// Anything else, such as a broken disk.
    Other,
}

/// Returns the kind of an error of the system.
pub(crate) fn kind_of(error: &io::Error) -> DiskErrorKind {
    use io::ErrorKind as Kind;
    let kind = error.kind();
    if matches!(kind, Kind::StorageFull | Kind::QuotaExceeded | Kind::FileTooLarge) {
        DiskErrorKind::Full
    } else if kind == Kind::ReadOnlyFilesystem {
        DiskErrorKind::ReadOnly
    } else if kind == Kind::PermissionDenied {
        DiskErrorKind::Denied
    } else if is_exhausted(error) {
        DiskErrorKind::Exhausted
    } else {
        DiskErrorKind::Other
    }
}

/// Returns true if the process or the system has too many open files.
#[cfg(unix)]
pub(crate) fn is_exhausted(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = Errno::from_io_error(error);
    errno.is_some_and(|errno| [Errno::MFILE, Errno::NFILE].contains(&errno))
}

/// Returns true if the process or the system has too many open files.
#[cfg(not(unix))]
pub(crate) fn is_exhausted(_: &io::Error) -> bool {
    false
}
