//! Records everything that a run does to the disk, with its bytes.

use std::sync::{Arc, Mutex};

use crewagent_engine::disk::{Deed, Disk, DiskHook, HookVerdict, Op};

/// A recorded operation or report.
#[derive(Clone, Debug)]
pub(crate) enum Entry {
    Done(String, DiskOperation),
    /// Everything up to this event was reported to the user, who may rely on it.
    Observed(u64),
}

/// An operation that changes the disk; reads are left out.
#[derive(Clone, Debug)]
pub(crate) enum DiskOperation {
    Create,
    Write(Vec<u8>),
    Sync,
    Rename(String),
    SyncFolder,
    CreateFolder,
    Remove,
    Truncate(u64),
}

impl DiskOperation {
    /// Returns the operation with another target of a rename.
    pub(crate) fn on(self, place: impl FnOnce(String) -> String) -> Self {
        match self {
            Self::Rename(to) => Self::Rename(place(to)),
            other => other,
        }
    }

    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Create => "create",
            Self::Write(_) => "write",
            Self::Sync => "flush",
            Self::Rename(_) => "rename",
            Self::SyncFolder => "flush folder",
            Self::CreateFolder => "create folder",
            Self::Remove => "remove",
            Self::Truncate(_) => "truncate",
        }
    }
}

#[derive(Default)]
pub(crate) struct Tape {
    entries: Mutex<Vec<Entry>>,
}

impl Tape {
    pub(crate) fn disk(self: &Arc<Self>) -> Disk {
        Disk::hooked(self.clone())
    }

    pub(crate) fn hear(&self, seq: u64) {
        self.entries.lock().unwrap().push(Entry::Observed(seq));
    }

    pub(crate) fn entries(&self) -> Vec<Entry> {
        self.entries.lock().unwrap().clone()
    }
}

impl DiskHook for Tape {
    fn before(&self, op: &Op<'_>) -> HookVerdict {
        let action = match op.deed {
            Deed::Create => DiskOperation::Create,
            Deed::Write { bytes } => DiskOperation::Write(bytes.to_vec()),
            Deed::SyncFile | Deed::SyncData => DiskOperation::Sync,
            Deed::Rename { to } => DiskOperation::Rename(to.to_owned()),
            Deed::SyncFolder => DiskOperation::SyncFolder,
            Deed::CreateFolder => DiskOperation::CreateFolder,
            Deed::RemoveFile | Deed::RemoveFolder => DiskOperation::Remove,
            Deed::Truncate { len } => DiskOperation::Truncate(len),
            // Permissions are not modelled; the others change nothing.
            Deed::SetRights | Deed::Look | Deed::List | Deed::Open | Deed::Read | Deed::Lock => {
                return HookVerdict::Proceed;
            }
        };
        self.entries.lock().unwrap().push(Entry::Done(op.file.to_owned(), action));
        HookVerdict::Proceed
    }
}
