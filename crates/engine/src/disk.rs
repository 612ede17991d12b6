//! The disk: every file operation of a run passes here, so that a test can count, record, refuse or cut short each one.
//!
//! Without a probe, which is always so outside of tests, an operation costs nothing more than itself.

mod error;
mod folder;

use std::fmt;
use std::fs::File;
use std::io::{self, Read, Write};
use std::sync::Arc;

pub use self::error::{DiskError, DiskErrorKind};
pub use self::folder::Folder;

pub(crate) use self::error::{is_exhausted, kind_of};
pub(crate) use self::folder::Opening;

/// The way to the disk.
#[derive(Clone, Default)]
pub struct Disk {
    probe: Option<Arc<dyn Probe>>,
}

/// Somebody who is asked before each operation.
pub trait Probe: Send + Sync {
    /// What shall become of the operation.
    fn before(&self, op: &Op<'_>) -> Verdict;
}

/// What shall become of an operation.
#[derive(Debug)]
pub enum Verdict {
    /// It is done.
    Proceed,
    /// It is not done, and fails with this error.
    Fail(io::Error),
    /// Only the first bytes of a write are written, then it fails. Other operations just fail.
    Short {
        /// How many.
        bytes: usize,
        /// The error.
        error: io::Error,
    },
    /// It is done, and fails with this error all the same: nobody hears of it.
    Late(io::Error),
}

/// An operation that is about to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Op<'a> {
    /// The file or folder: a mount path such as `@project/a.md`, or its path from the root of the store. Never a
    /// real path.
    pub file: &'a str,
    /// What is done to it.
    pub deed: Deed<'a>,
}

/// What is done to a file or a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Deed<'a> {
    /// Looking at what it is: kind, size, times.
    Look,
    /// Reading the names in a folder.
    List,
    /// Opening what exists.
    Open,
    /// Reading a piece.
    Read,
    /// Creating a file, or emptying the one that is there.
    Create,
    /// Adding bytes to the end of a file.
    Write {
        /// The bytes.
        bytes: &'a [u8],
    },
    /// Setting owner and rights of a file.
    SetRights,
    /// Flushing a file with all that is known about it.
    SyncFile,
    /// Flushing the bytes and the size of a file.
    SyncData,
    /// Giving it another name; what has that name is replaced.
    Rename {
        /// The name, of the same kind as [`Op::file`].
        to: &'a str,
    },
    /// Flushing the names in a folder.
    SyncFolder,
    /// Creating a folder.
    CreateFolder,
    /// Removing a file.
    RemoveFile,
    /// Removing a folder: below a mount an empty one, in the store with all that is in it.
    RemoveFolder,
    /// Cutting a file off.
    Truncate {
        /// How many bytes stay.
        len: u64,
    },
    /// Taking a lock on a file.
    Lock,
}

impl Deed<'_> {
    /// Whether something on the disk is different afterwards.
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
    /// The real disk.
    pub fn real() -> Self {
        Self { probe: None }
    }

    /// The real disk, with somebody who is asked before each operation.
    pub fn probed(probe: Arc<dyn Probe>) -> Self {
        Self { probe: Some(probe) }
    }

    /// Does an operation, unless the probe is against it.
    pub(crate) fn run<T>(
        &self,
        file: impl fmt::Display,
        deed: Deed<'_>,
        work: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        match self.verdict(&file, deed) {
            Verdict::Proceed => work(),
            Verdict::Fail(error) | Verdict::Short { error, .. } => Err(error),
            Verdict::Late(error) => work().and(Err(error)),
        }
    }

    /// Adds bytes to the end of a file.
    pub(crate) fn write_all(
        &self,
        target: &mut impl Write,
        file: impl fmt::Display,
        bytes: &[u8],
    ) -> io::Result<()> {
        match self.verdict(&file, Deed::Write { bytes }) {
            Verdict::Proceed => target.write_all(bytes),
            Verdict::Fail(error) => Err(error),
            Verdict::Short { bytes: count, error } => {
                target.write_all(&bytes[..count.min(bytes.len())])?;
                Err(error)
            }
            Verdict::Late(error) => target.write_all(bytes).and(Err(error)),
        }
    }

    /// Reads as much as there is and fits. An interruption is no error.
    pub(crate) fn read(
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

    /// Flushes a file with all that is known about it.
    pub(crate) fn sync_file(&self, target: &File, file: impl fmt::Display) -> io::Result<()> {
        self.run(file, Deed::SyncFile, || target.sync_all())
    }

    /// Flushes the bytes and the size of a file.
    pub(crate) fn sync_data(&self, target: &File, file: impl fmt::Display) -> io::Result<()> {
        self.run(file, Deed::SyncData, || target.sync_data())
    }

    /// Cuts a file off.
    pub(crate) fn truncate(
        &self,
        target: &File,
        file: impl fmt::Display,
        len: u64,
    ) -> io::Result<()> {
        self.run(file, Deed::Truncate { len }, || target.set_len(len))
    }

    /// Gives a file or a folder another name.
    pub(crate) fn rename(
        &self,
        from: impl fmt::Display,
        to: impl fmt::Display,
        work: impl FnOnce() -> io::Result<()>,
    ) -> io::Result<()> {
        if self.probe.is_none() {
            return work();
        }
        self.run(from, Deed::Rename { to: &to.to_string() }, work)
    }

    fn verdict(&self, file: &dyn fmt::Display, deed: Deed<'_>) -> Verdict {
        match &self.probe {
            None => Verdict::Proceed,
            Some(probe) => probe.before(&Op { file: &file.to_string(), deed }),
        }
    }
}

impl fmt::Debug for Disk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.probe.is_some() { "Disk(probed)" } else { "Disk(real)" })
    }
}
