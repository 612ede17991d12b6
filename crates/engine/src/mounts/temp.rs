//! The file that is written first and then takes the name of the real one.
//!
//! Its name follows from the name of the target, so that a write that is done again after a crash finds what the
//! first attempt left, and takes it away. A lock tells a leftover from the file of another writer.

use std::fs::{File, TryLockError};
use std::io;

use cap_fs_ext::{FollowSymlinks, MetadataExt, OpenOptionsFollowExt};
use cap_std::fs::{Dir, Metadata, OpenOptions};
use crewagent_core::integrity::Digest;

use super::open::reading;
use super::site::{Site, is_same_file};
use crate::disk::Deed;

/// Writers of one file that can be at work at the same time.
const MAX_WRITERS: usize = 64;

/// A new file, removed again unless it is renamed.
pub(super) struct Temp<'d> {
    site: Site<'d>,
    name: String,
    /// Kept open for its lock.
    file: File,
    /// What it was when it was created.
    metadata: Metadata,
    renamed: bool,
}

/// Whether a file that is in the way is replaced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum InTheWay {
    Replaced,
    Kept,
}

impl<'d> Temp<'d> {
    /// Creates the file, readable for others at most as `mode` allows.
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
            // Between creating and locking, another writer may have taken it for a leftover and removed it. Where files
            // cannot be locked nobody takes anything for a leftover.
            if lock != Lock::Theirs && metadata.nlink() > 0 {
                return Ok(Self { site, name, file, metadata, renamed: false });
            }
        }
        Err(io::Error::new(io::ErrorKind::ResourceBusy, "others are writing it at the same time"))
    }

    pub(super) fn fill(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.site.disk.write_all(&mut self.file, self.site.label(&self.name), bytes)
    }

    /// Gives the file what else belongs to it.
    pub(super) fn dress(
        &self,
        work: impl FnOnce(&File, &Metadata) -> io::Result<()>,
    ) -> io::Result<()> {
        self.site.run(&self.name, Deed::SetRights, || work(&self.file, &self.metadata))
    }

    /// Puts the file on the disk.
    pub(super) fn flush(&self) -> io::Result<()> {
        self.site.disk.sync_file(&self.file, self.site.label(&self.name))
    }

    /// Gives the file its real name. The bytes must be on the disk before.
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
            // It has served; should it stay, the next write of this file removes it.
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

/// A new file of this name; none when the name is in use.
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

/// Removes what a writer left that is no more. Anything that is in use, or no plain file of ours, stays.
fn remove_leftover(site: Site<'_>, name: &str) -> io::Result<()> {
    let opened =
        site.run(name, Deed::Open, || site.folder.open_with(name, &reading(FollowSymlinks::No)));
    let Ok(file) = opened else { return Ok(()) };
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.nlink() != 1 {
        return Ok(());
    }
    let file = file.into_std();
    if try_lock(site, name, &file) == Lock::Ours && is_at(site, name, &metadata)? {
        match site.run(name, Deed::RemoveFile, || site.folder.remove_file(name)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
    }
    Ok(())
}

/// What came of taking a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Lock {
    Ours,
    Theirs,
    /// There are no locks here.
    Unknown,
}

fn try_lock(site: Site<'_>, name: &str, file: &File) -> Lock {
    let lock = site.run(name, Deed::Lock, || match file.try_lock() {
        Ok(()) => Ok(Lock::Ours),
        Err(TryLockError::WouldBlock) => Ok(Lock::Theirs),
        Err(TryLockError::Error(error)) => Err(error),
    });
    lock.unwrap_or(Lock::Unknown)
}

/// Whether the name still stands for this open file.
fn is_at(site: Site<'_>, name: &str, file: &Metadata) -> io::Result<bool> {
    Ok(site.look(name)?.is_some_and(|named| is_same_file(&named, file)))
}

/// Fails when the name is taken, without a gap where the system can do that.
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
