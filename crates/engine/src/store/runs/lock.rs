//! Ownership of a run: an OS lock on a file that names its holder, released when the process ends in any way.

use std::fmt;
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom};
use std::time::Duration;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::disk::{Deed, DiskError, Folder, Opening};

/// Name of the lock file.
pub(super) const LOCK: &str = "lock";
/// Largest text of the lock file that is read, in bytes.
const MAX_TEXT: u64 = 4096;
/// Number of attempts to take the lock, with a pause after each.
const TRIES: usize = 5;
const PAUSE: Duration = Duration::from_millis(2);

/// Process that holds a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", default)]
pub struct Holder {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pid: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// Number of the process among those that have owned the run.
    pub epoch: u64,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.pid {
            Some(pid) => write!(f, "process {pid}")?,
            None => f.write_str("another process")?,
        }
        match self.since {
            Some(since) => write!(f, " since {since}"),
            None => Ok(()),
        }
    }
}

/// Lock on a run, released on drop.
#[derive(Debug)]
pub(super) struct RunLock {
    file: File,
}

/// Behaviour while another process holds the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum LockWait {
    /// Retry for a few milliseconds: a reader releases it within that time.
    Briefly,
    None,
}

/// Result of taking the lock.
pub(super) enum LockResult {
    Ours(RunLock),
    Theirs(Holder),
}

impl RunLock {
    /// Takes the lock in a run's folder.
    pub(super) fn take(folder: &Folder, wait: LockWait) -> Result<LockResult, DiskError> {
        let mut file = match folder.open(LOCK, Opening::Change) {
            // A run that was copied here has no lock file.
            Err(error) if error.is_missing() => folder.open(LOCK, Opening::Fresh)?,
            other => other?,
        };
        let tries = if wait == LockWait::Briefly { TRIES } else { 1 };
        for attempt in 1..=tries {
            match try_lock(folder, || file.try_lock())? {
                Attempt::Done => return Ok(LockResult::Ours(Self { file })),
                Attempt::Refused if attempt < tries => std::thread::sleep(PAUSE),
                Attempt::Refused => {}
            }
        }
        Ok(LockResult::Theirs(read(&mut file)))
    }

    /// Takes the lock in a folder that no other process knows yet.
    pub(super) fn create(folder: &Folder) -> Result<LockResult, DiskError> {
        let mut file = folder.open(LOCK, Opening::New)?;
        match try_lock(folder, || file.try_lock())? {
            Attempt::Done => Ok(LockResult::Ours(Self { file })),
            Attempt::Refused => Ok(LockResult::Theirs(read(&mut file))),
        }
    }

    /// Returns the last holder.
    pub(super) fn last_holder(&mut self) -> Holder {
        read(&mut self.file)
    }

    /// Writes the holder into the file.
    pub(super) fn sign(&mut self, folder: &Folder, holder: &Holder) -> Result<(), DiskError> {
        let label = folder.label_of(LOCK);
        let failed = || folder.failed("write", LOCK);
        let mut text = serde_json::to_vec(holder).map_err(io::Error::other).map_err(failed())?;
        text.push(b'\n');
        folder.disk().truncate(&self.file, &label, 0).map_err(failed())?;
        self.file.seek(SeekFrom::Start(0)).map_err(failed())?;
        folder.disk().write_all(&mut self.file, &label, &text).map_err(failed())
    }
}

/// Unlocks explicitly: a child process that is being spawned briefly has a copy of the file handle.
impl Drop for RunLock {
    fn drop(&mut self) {
        let _ = self.file.unlock();
    }
}

/// Returns the process that holds a run, or `None`.
pub(in crate::store) fn holder(folder: &Folder) -> Result<Option<Holder>, DiskError> {
    let mut file = match folder.open(LOCK, Opening::Read) {
        Ok(file) => file,
        Err(error) if error.is_missing() => return Ok(None),
        Err(error) => return Err(error),
    };
    match try_lock(folder, || file.try_lock_shared())? {
        Attempt::Done => {
            let _ = file.unlock();
            Ok(None)
        }
        Attempt::Refused => Ok(Some(read(&mut file))),
    }
}

enum Attempt {
    Done,
    Refused,
}

fn try_lock(
    folder: &Folder,
    lock: impl FnOnce() -> Result<(), TryLockError>,
) -> Result<Attempt, DiskError> {
    let attempt = folder.disk().run(folder.label_of(LOCK), Deed::Lock, || match lock() {
        Ok(()) => Ok(Attempt::Done),
        Err(TryLockError::WouldBlock) => Ok(Attempt::Refused),
        Err(TryLockError::Error(error)) => Err(error),
    });
    attempt.map_err(folder.failed("lock", LOCK))
}

/// Reads the holder. It may be empty where locked files cannot be read, and after a crash.
fn read(file: &mut File) -> Holder {
    let mut text = Vec::new();
    let read = file
        .seek(SeekFrom::Start(0))
        .and_then(|_| Read::by_ref(file).take(MAX_TEXT).read_to_end(&mut text));
    match read {
        Ok(_) => serde_json::from_slice(&text).unwrap_or_default(),
        Err(_) => Holder::default(),
    }
}
