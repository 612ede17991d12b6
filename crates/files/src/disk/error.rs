//! Errors of file operations, sorted by what can be done about them.

use std::io;

use thiserror::Error;

/// Failed file operation in the store. Its text has no real path, because the journal may record it.
#[derive(Debug, Error)]
#[error("cannot {action} `{file}` in the store: {error}")]
pub struct DiskError {
    /// Verb, as in "cannot write".
    pub action: &'static str,
    /// Path relative to the store root.
    pub file: String,
    pub error: io::Error,
}

impl DiskError {
    /// Returns the kind of the failure.
    pub fn kind(&self) -> DiskErrorKind {
        kind_of(&self.error)
    }

    /// Returns true if the file or folder does not exist.
    pub fn is_missing(&self) -> bool {
        matches!(self.error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
    }
}

/// Classes of failure that callers handle differently.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum DiskErrorKind {
    /// Disk or quota is full.
    Full,
    ReadOnly,
    /// Permission denied, or the file is marked read-only.
    Denied,
    /// The process or the system has too many open files.
    Exhausted,
    Gone,
    /// Anything else, such as an I/O error of the hardware.
    Other,
}

/// Classifies a system error.
pub fn kind_of(error: &io::Error) -> DiskErrorKind {
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
pub fn is_exhausted(error: &io::Error) -> bool {
    use rustix::io::Errno;
    let errno = Errno::from_io_error(error);
    errno.is_some_and(|errno| [Errno::MFILE, Errno::NFILE].contains(&errno))
}

/// Returns true if the process or the system has too many open files.
#[cfg(not(unix))]
pub fn is_exhausted(_: &io::Error) -> bool {
    false
}
