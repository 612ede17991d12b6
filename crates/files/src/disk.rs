//! Disk port: all file operations of a run pass through it, so that tests can count, record, fail or cut short each.
//!
//! Only tests install a hook; without one an operation has no overhead.

mod error;
mod folder;

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;

pub use self::error::{DiskError, DiskErrorKind};
pub use self::folder::Folder;

pub use self::error::{is_exhausted, kind_of};
pub use self::folder::Opening;

/// Handle through which file operations run.
#[derive(Clone, Default)]
pub struct Disk {
    hook: Option<Arc<dyn DiskHook>>,
}

/// Test hook that decides about each operation before it runs.
pub trait DiskHook: Send + Sync {
    /// Decides about an operation.
    fn before(&self, op: &Op<'_>) -> HookVerdict;
}

/// Decision about one operation.
#[derive(Debug)]
pub enum HookVerdict {
    Proceed,
    /// Skips the operation and returns this error.
    Fail(io::Error),
    /// Writes only the first `bytes` of a write, then returns `error`. Other operations only fail.
    Short {
        bytes: usize,
        error: io::Error,
    },
    /// Performs the operation, then returns an error (lost acknowledgement).
    Late(io::Error),
}

/// File operation that is about to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op<'a> {
    /// File or folder: a mount path such as `@project/a.md`, or a path relative to the store root. Never a real path.
    pub file: &'a str,
    pub deed: Deed<'a>,
}

/// Kind of a file operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed<'a> {
    /// Reads metadata: kind, size, times.
    Look,
    /// Reads the names in a folder.
    List,
    /// Opens an existing file or folder.
    Open,
    /// Reads a chunk.
    Read,
    /// Creates or truncates a file.
    Create,
    /// Appends bytes to a file.
    Write {
        bytes: &'a [u8],
    },
    /// Sets owner and mode of a file.
    SetRights,
    /// Flushes data and metadata of a file (fsync).
    SyncFile,
    /// Flushes data and size of a file (fdatasync).
    SyncData,
    /// Renames, replacing whatever has the new name.
    Rename {
        /// New name, in the same form as [`Op::file`].
        to: &'a str,
    },
    /// Flushes the entries of a folder.
    SyncFolder,
    CreateFolder,
    RemoveFile,
    /// Removes a folder: below a mount an empty one, in the store recursively.
    RemoveFolder,
    Truncate {
        /// New size in bytes.
        len: u64,
    },
    Lock,
}

impl Deed<'_> {
    /// Returns true if the operation modifies the disk.
    pub fn changes(&self) -> bool {
        match self {
            Self::Look | Self::List | Self::Open | Self::Read | Self::Lock => false,
            Self::Create
            | Self::Write { .. }
            | Self::SetRights
            | Self::SyncFile
            | Self::SyncData
            | Self::Rename { .. }
            | Self::SyncFolder
            | Self::CreateFolder
            | Self::RemoveFile
            | Self::RemoveFolder
            | Self::Truncate { .. } => true,
        }
    }
}

impl Disk {
    /// Returns the disk without a hook.
    pub fn real() -> Self {
        Self { hook: None }
    }

    /// Returns the disk with a hook that decides about each operation.
    pub fn hooked(hook: Arc<dyn DiskHook>) -> Self {
        Self { hook: Some(hook) }
    }

    /// Runs an operation, unless the hook vetoes it.
    pub fn run<T>(
        &self,
        file: impl fmt::Display,
        deed: Deed<'_>,
        work: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        match self.verdict(&file, deed) {
            HookVerdict::Proceed => work(),
            HookVerdict::Fail(error) | HookVerdict::Short { error, .. } => Err(error),
            HookVerdict::Late(error) => work().and(Err(error)),
        }
    }

    /// Appends bytes to a file.
    pub fn write_all(
        &self,
        target: &mut impl Write,
        file: impl fmt::Display,
        bytes: &[u8],
    ) -> io::Result<()> {
        match self.verdict(&file, Deed::Write { bytes }) {
            HookVerdict::Proceed => target.write_all(bytes),
            HookVerdict::Fail(error) => Err(error),
            HookVerdict::Short { bytes: count, error } => {
                target.write_all(&bytes[..count.min(bytes.len())])?;
                Err(error)
            }
            HookVerdict::Late(error) => target.write_all(bytes).and(Err(error)),
        }
    }

    /// Reads up to a full buffer with one system call, retried when it is interrupted.
    pub fn read(
        &self,
        source: &mut impl Read,
        file: impl fmt::Display,
        buffer: &mut [u8],
    ) -> io::Result<usize> {
        self.run(file, Deed::Read, || {
            loop {
                match source.read(buffer) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                    other => return other,
                }
            }
        })
    }

    /// Flushes data and metadata of a file.
    pub fn sync_file(&self, target: &File, file: impl fmt::Display) -> io::Result<()> {
        self.run(file, Deed::SyncFile, || target.sync_all())
    }

    /// Flushes data and size of a file.
    pub fn sync_data(&self, target: &File, file: impl fmt::Display) -> io::Result<()> {
        self.run(file, Deed::SyncData, || target.sync_data())
    }

    /// Cuts a file off at this length.
    pub fn truncate(&self, target: &File, file: impl fmt::Display, len: u64) -> io::Result<()> {
        self.run(file, Deed::Truncate { len }, || target.set_len(len))
    }

    /// Renames a file or folder.
    pub fn rename(
        &self,
        from: impl fmt::Display,
        to: impl fmt::Display,
        work: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        if self.hook.is_none() {
            return work();
        }
        self.run(from, Deed::Rename { to: &to.to_string() }, work)
    }

    fn verdict(&self, file: &dyn fmt::Display, deed: Deed<'_>) -> HookVerdict {
        match &self.hook {
            None => HookVerdict::Proceed,
            Some(hook) => hook.before(&Op { file: &file.to_string(), deed }),
        }
    }
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.hook.is_some() { "Disk(probed)" } else { "Disk(real)" })
    }
}
