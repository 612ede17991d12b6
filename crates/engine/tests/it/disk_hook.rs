//! A disk hook that records operations and makes chosen ones fail.

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use crewagent_engine::disk::{Deed, Disk, DiskHook, HookVerdict, Op};

/// Error of the operations of a dead process.
pub(crate) const DEAD: &str = "the process is dead";

/// Operation that fails, counted from 0, and how.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Never,
    /// One operation fails, with a system error.
    Once(usize, i32),
    /// One operation and all after it fail, with a system error.
    Always(usize, i32),
    /// A write stops after some bytes; other operations just fail.
    Short(usize, usize),
    /// The process dies there: nothing reaches the disk from then on.
    Crash(usize),
    /// The process dies there, in the middle of a write.
    Torn(usize),
    /// The process dies there, but the operation is done.
    CrashAfter(usize),
}

/// A disk hook that counts and records operations, and makes chosen ones fail.
pub(crate) struct Recorder {
    fault: Fault,
    count: AtomicUsize,
    fired: AtomicUsize,
    log: Mutex<Vec<String>>,
    renamed: Mutex<Vec<String>>,
}

impl Recorder {
    pub(crate) fn new(fault: Fault) -> Arc<Self> {
        Arc::new(Self {
            fault,
            count: AtomicUsize::new(0),
            fired: AtomicUsize::new(0),
            log: Mutex::default(),
            renamed: Mutex::default(),
        })
    }

    pub(crate) fn disk(self: &Arc<Self>) -> Disk {
        Disk::hooked(self.clone())
    }

    /// Returns the number of requested operations.
    pub(crate) fn count(&self) -> usize {
        self.count.load(Ordering::Relaxed)
    }

    /// Returns how many of them the fault made fail.
    pub(crate) fn fired(&self) -> usize {
        self.fired.load(Ordering::Relaxed)
    }

    /// Returns the requested operations, one line each, such as `write 12 @project/a.md`.
    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    /// Returns the new names of successful renames, in order.
    pub(crate) fn renamed(&self) -> Vec<String> {
        self.renamed.lock().unwrap().clone()
    }

    fn note_rename(&self, op: &Op<'_>) {
        if let Deed::Rename { to } = op.deed {
            self.renamed.lock().unwrap().push(to.to_owned());
        }
    }
}

impl DiskHook for Recorder {
    fn before(&self, op: &Op<'_>) -> HookVerdict {
        let number = self.count.fetch_add(1, Ordering::Relaxed);
        self.log.lock().unwrap().push(line(op));
        let dead = || io::Error::other(DEAD);
        let half = match op.deed {
            Deed::Write { bytes } => bytes.len() / 2,
            _ => 0,
        };
        let verdict = match self.fault {
            Fault::Once(at, errno) if number == at => {
                HookVerdict::Fail(io::Error::from_raw_os_error(errno))
            }
            Fault::Always(at, errno) if number >= at => {
                HookVerdict::Fail(io::Error::from_raw_os_error(errno))
            }
            Fault::Short(at, bytes) if number == at => {
                HookVerdict::Short { bytes, error: io::Error::from_raw_os_error(28) }
            }
            Fault::Torn(at) if number == at => HookVerdict::Short { bytes: half, error: dead() },
            Fault::CrashAfter(at) if number == at => {
                self.note_rename(op);
                HookVerdict::Late(dead())
            }
            Fault::Crash(at) | Fault::Torn(at) | Fault::CrashAfter(at) if number >= at => {
                HookVerdict::Fail(dead())
            }
            _ => {
                self.note_rename(op);
                return HookVerdict::Proceed;
            }
        };
        self.fired.fetch_add(1, Ordering::Relaxed);
        verdict
    }
}

fn line(op: &Op<'_>) -> String {
    let file = op.file;
    match op.deed {
        Deed::Look => format!("look {file}"),
        Deed::List => format!("list {file}"),
        Deed::Open => format!("open {file}"),
        Deed::Read => format!("read {file}"),
        Deed::Create => format!("create {file}"),
        Deed::Write { bytes } => format!("write {} {file}", bytes.len()),
        Deed::SetRights => format!("rights {file}"),
        Deed::SyncFile => format!("sync-file {file}"),
        Deed::SyncData => format!("sync-data {file}"),
        Deed::Rename { to } => format!("rename {file} -> {to}"),
        Deed::SyncFolder => format!("sync-folder {file}"),
        Deed::CreateFolder => format!("create-folder {file}"),
        Deed::RemoveFile => format!("remove-file {file}"),
        Deed::RemoveFolder => format!("remove-folder {file}"),
        Deed::Truncate { len } => format!("truncate {len} {file}"),
        Deed::Lock => format!("lock {file}"),
    }
}
