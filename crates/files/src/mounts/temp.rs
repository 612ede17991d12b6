//! Temporary file that is written first and then renamed to the target.
//!
//! Its name is derived from the target's name, so a write that is repeated after a crash finds and removes the
//! leftover of the first attempt. A lock tells a leftover from the file of a live writer.

use std::fs::{File, TryLockError};
use std::io;

use cap_fs_ext::{FollowSymlinks, MetadataExt, OpenOptionsFollowExt};
use cap_std::fs::{Dir, Metadata, OpenOptions};
use crewagent_format::integrity::Digest;

use super::open::reading;
use super::site::{Site, is_same_file};
use crate::disk::Deed;

/// Number of concurrent writers of one file.
const MAX_WRITERS: usize = 64;

/// New file, removed on drop unless it was renamed.
pub(super) struct Temp<'d> {
    site: Site<'d>,
    name: String,
    /// Held open for its lock.
    file: File,
    /// Metadata at its creation.
    metadata: Metadata,
    renamed: bool,
}

/// Treatment of a file that already has the target's name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InTheWay {
    Replaced,
    Kept,
}

impl<'d> Temp<'d> {
    /// Creates the file; `mode` limits who else can read it.
    pub(super) fn create(site: Site<'d>, target: &str, mode: Option<u32>) -> io::Result<Self> {
        let stem = Digest::of(target.as_bytes()).short();
        let options = creating(mode);
        for writer in 0..MAX_WRITERS {
            let name = format!(".crewagent-{stem}-{writer}.tmp");
            let Some(file) = create(site, &name, &options)? else { continue };
            let file = file.into_std();
            let lock = try_lock(site, &name, &file);
            let looked = site.run(&name, Deed::Look, || Metadata::from_file(&file));
            let metadata = looked.inspect_err(|_| {
                let _ = site.run(&name, Deed::RemoveFile, || site.folder.remove_file(&name));
            })?;
            // Between creating and locking, another writer may have removed it as a leftover. Where files cannot be
            // locked, writers treat nothing as a leftover.
            if lock != LockAttempt::Theirs && metadata.nlink() > 0 {
                return Ok(Self { site, name, file, metadata, renamed: false });
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "others are writing it at the same time"))
    }

    pub(super) fn fill(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.site.disk.write_all(&mut self.file, self.site.label(&self.name), bytes)
    }

    /// Sets owner and mode of the file.
    pub(super) fn dress(
        &self,
        work: impl FnOnce(&File, &Metadata) -> io::Result<()>,
    ) -> io::Result<()> {
        self.site.run(&self.name, Deed::SetRights, || work(&self.file, &self.metadata))
    }

    /// Flushes the file to disk.
    pub(super) fn flush(&self) -> io::Result<()> {
        self.site.disk.sync_file(&self.file, self.site.label(&self.name))
    }

    /// Renames the file to its target. The caller flushes it first.
    pub(super) fn rename(mut self, name: &str, in_the_way: InTheWay) -> io::Result<()> {
        let Site { disk, folder, .. } = self.site;
        disk.rename(self.site.label(&self.name), self.site.label(name), || match in_the_way {
            InTheWay::Replaced => folder.rename(&self.name, folder, name),
            InTheWay::Kept => rename_to_free_name(folder, &self.name, name),
        })?;
        self.renamed = true;
        Ok(())
    }
}

impl Drop for Temp<'_> {
    fn drop(&mut self) {
        if !self.renamed {
            // If this fails, the next write of the target removes the leftover.
            let Site { folder, .. } = self.site;
            let _ = self.site.run(&self.name, Deed::RemoveFile, || folder.remove_file(&self.name));
        }
    }
}

fn creating(mode: Option<u32>) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).follow(FollowSymlinks::No);
    #[cfg(unix)]
    if let Some(mode) = mode {
        cap_std::fs::OpenOptionsExt::mode(&mut options, mode);
    }
    #[cfg(not(unix))]
    let _ = mode;
    options
}

/// Creates a file of this name; returns `None` if the name is in use.
fn create(
    site: Site<'_>,
    name: &str,
    options: &OpenOptions,
) -> io::Result<Option<cap_std::fs::File>> {
    let is_taken = |error: &io::Error| error.kind() == io::ErrorKind::AlreadyExists;
    let create = || site.run(name, Deed::Create, || site.folder.open_with(name, options));
    let mut created = create();
    if created.as_ref().is_err_and(is_taken) {
        remove_leftover(site, name)?;
        created = create();
    }
    match created {
        Err(error) if is_taken(&error) => Ok(None),
        created => created.map(Some),
    }
}

/// Removes the leftover of a dead writer. A file that is in use, or not a plain file of ours, stays.
fn remove_leftover(site: Site<'_>, name: &str) -> io::Result<()> {
    let opened =
        site.run(name, Deed::Open, || site.folder.open_with(name, &reading(FollowSymlinks::No)));
    let Ok(file) = opened else { return Ok(()) };
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.nlink() != 1 {
        return Ok(());
    }
    let file = file.into_std();
    if try_lock(site, name, &file) == LockAttempt::Ours && is_at(site, name, &metadata)? {
        match site.run(name, Deed::RemoveFile, || site.folder.remove_file(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// Result of taking a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum LockAttempt {
    Ours,
    Theirs,
    /// The file system has no locks.
    Unknown,
}

fn try_lock(site: Site<'_>, name: &str, file: &File) -> LockAttempt {
    let lock = site.run(name, Deed::Lock, || match file.try_lock() {
        Ok(()) => Ok(LockAttempt::Ours),
        Err(TryLockError::WouldBlock) => Ok(LockAttempt::Theirs),
        Err(TryLockError::Error(error)) => Err(error),
    });
    lock.unwrap_or(LockAttempt::Unknown)
}

/// Returns true if the name still refers to this open file.
fn is_at(site: Site<'_>, name: &str, file: &Metadata) -> io::Result<bool> {
    Ok(site.look(name)?.is_some_and(|named| is_same_file(&named, file)))
}

/// Renames without replacing: fails if the name is taken, atomically where the system supports it.
fn rename_to_free_name(folder: &Dir, from: &str, to: &str) -> io::Result<()> {
    #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
    {
        use rustix::fs::{RenameFlags, renameat_with};
        match renameat_with(folder, from, folder, to, RenameFlags::NOREPLACE) {
            Ok(()) => return Ok(()),
            Err(error) if super::fault::is_unsupported(&error.into()) => {}
            Err(error) => return Err(error.into()),
        }
    }
    if folder.symlink_metadata(to).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    folder.rename(from, folder, to)
}
