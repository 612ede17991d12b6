//! Writing files: replaced as a whole, durable on return, unchanged on failure.
//!
//! The order is temporary file, flush, rename, flush of the folder. Mode and, where permitted, owner are kept; setuid
//! and setgid bits, access lists and extended attributes are not.

use std::borrow::Cow;
use std::io;

use cap_fs_ext::{DirExt, MetadataExt};
use cap_std::fs::{Dir, Metadata};
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::vpath::{VPath, WritablePath};
use crewagent_format::integrity::Digest;

use super::Mounts;
use super::error::{MountError, MountResult, Stop, settle};
use super::fault::{PathFault, fault};
use super::open::{self, check_regular, sandbox, unfollowable};
use super::place::{Destination, NameHolder, OpenFile};
use super::read::{FileContent, MAX_FILE, Measured, measure};
use super::site::{PathLabel, Site, is_same_file};
use super::temp::{InTheWay, Temp};
use crate::disk::{Deed, Disk};

/// Precondition of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Before {
    /// Any file, or none.
    Anything,
    /// No file.
    Nothing,
    /// File with this digest.
    Sha256(Digest),
}

/// Target of a write, before it happens.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WriteTarget {
    /// Path with all links resolved.
    pub path: VPath,
    /// Existing file.
    pub old: Option<FileContent>,
}

/// Dependence of a write on the old content, which must then still be there at the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Rely {
    OnOld,
    OnNothing,
}

impl Mounts {
    /// Replaces the content of a file, creating missing folders.
    pub fn replace(&self, path: &WritablePath, bytes: &[u8], before: Before) -> MountResult<()> {
        let rely = if before == Before::Anything { Rely::OnNothing } else { Rely::OnOld };
        settle(self.try_write(path, before, rely, None, |_| Ok(Cow::Borrowed(bytes))))
    }

    /// Creates a file with these bytes, and with the mode and owner of another file. Missing folders are created.
    pub fn create_like(
        &self,
        path: &WritablePath,
        bytes: &[u8],
        like: &WritablePath,
    ) -> MountResult<()> {
        let content = |_: Option<&OpenFile>| Ok(Cow::Borrowed(bytes));
        settle(self.try_write(path, Before::Nothing, Rely::OnOld, Some(like), content))
    }

    /// Appends bytes to a file by replacing it as a whole. The result may have at most `limit` bytes.
    pub fn append(
        &self,
        path: &WritablePath,
        bytes: &[u8],
        before: Before,
        limit: u64,
    ) -> MountResult<()> {
        settle(self.try_write(path, before, Rely::OnOld, None, |old| {
            let path = path.path();
            let mut whole = Vec::new();
            if let Some(old) = old {
                // The precondition check may have read it already.
                io::Seek::rewind(&mut &old.file).map_err(|error| failed("read", path, error))?;
                let room = limit.saturating_sub(bytes.len() as u64);
                old.measure(&self.disk, path, room, &mut |piece| whole.extend_from_slice(piece))
                    .map_err(|stop| match stop {
                        Stop::Refused(_) => too_large(path, limit).into(),
                        Stop::Failed(error) => Stop::Failed(error),
                    })?;
            }
            whole.extend_from_slice(bytes);
            if whole.len() as u64 > limit {
                return Err(too_large(path, limit).into());
            }
            Ok(Cow::Owned(whole))
        }))
    }

    /// Resolves the target of a write under the rules for writing, and reads the first `limit` bytes of the existing
    /// file. Changes nothing.
    pub fn target(&self, path: &WritablePath, limit: usize) -> MountResult<WriteTarget> {
        settle(self.try_target(path, limit))
    }

    /// Removes a file that has this content. Folders stay.
    pub fn remove(&self, path: &WritablePath, content: Digest) -> MountResult<()> {
        settle(self.try_remove(path, content))
    }

    fn try_target(&self, path: &WritablePath, limit: usize) -> Result<WriteTarget, Stop> {
        let mut place = self.allowed_place(path)?;
        let path = path.path();
        let old = match place.old(&self.disk, path)? {
            None => None,
            Some(old) => {
                let mut bytes = Vec::new();
                let measured = old.measure(&self.disk, path, MAX_FILE, &mut |piece| {
                    let wanted = piece.len().min(limit - bytes.len());
                    bytes.extend_from_slice(&piece[..wanted]);
                })?;
                Some(FileContent { bytes, sha256: measured.sha256, size: measured.size })
            }
        };
        let path = if place.path == *self.real(path) { path.clone() } else { place.path };
        Ok(WriteTarget { path, old })
    }

    fn try_remove(&self, path: &WritablePath, content: Digest) -> Result<(), Stop> {
        let mut place = self.allowed_place(path)?;
        let path = path.path();
        let old = place.old(&self.disk, path)?;
        check_before(&self.disk, path, Before::Sha256(content), old.as_ref())?;
        let failed = |error| failed("remove", path, error);
        let removed =
            self.disk.run(&place.path, Deed::RemoveFile, || place.folder.remove_file(&place.name));
        removed.map_err(failed)?;
        let label = PathLabel { path: &place.path, up: 1, name: "" };
        sync_folder(&self.disk, label, &place.folder).map_err(failed)
    }

    /// Flushes the name of a file whose writer died before it could confirm the write.
    pub fn flush(&self, path: &WritablePath) -> MountResult<()> {
        settle(self.place(path.path()).and_then(|place| {
            let label = PathLabel { path: &place.path, up: 1 + place.missing.len(), name: "" };
            sync_folder(&self.disk, label, &place.folder)
                .map_err(|error| failed("flush", path.path(), error))
        }))
    }

    fn try_write<'b>(
        &self,
        path: &WritablePath,
        before: Before,
        rely: Rely,
        like: Option<&WritablePath>,
        content: impl FnOnce(Option<&OpenFile>) -> Result<Cow<'b, [u8]>, Stop>,
    ) -> Result<(), Stop> {
        let mut place = self.allowed_place(path)?;
        let path = path.path();
        let old = place.old(&self.disk, path)?;
        check_before(&self.disk, path, before, old.as_ref())?;
        let bytes = content(old.as_ref())?;
        let like = match like {
            Some(like) => self.allowed_place(like)?.old(&self.disk, like.path())?,
            None => None,
        };
        let made = NewFolders::folders(&self.disk, &place, path)?;
        let site = Site { disk: &self.disk, folder: made.folder(), path: &place.path };
        put(site, &place.name, &bytes, (old, like), rely, path)?;
        made.keep();
        Ok(())
    }
}

impl OpenFile {
    /// Passes the content to `take` in chunks.
    fn measure(
        &self,
        disk: &Disk,
        path: &VPath,
        limit: u64,
        take: &mut dyn FnMut(&[u8]),
    ) -> Result<Measured, Stop> {
        measure(disk, path, (&self.file, self.metadata.len()), limit, take)
    }
}

impl Destination {
    /// Returns the existing file. Refuses one that must not be replaced.
    fn old(&mut self, disk: &Disk, path: &VPath) -> Result<Option<OpenFile>, Stop> {
        let opened = match std::mem::replace(&mut self.found, NameHolder::Closed) {
            NameHolder::Nothing => return Ok(None),
            NameHolder::Opened(opened) => Ok(opened),
            NameHolder::Closed => {
                disk.run(&self.path, Deed::Open, || OpenFile::at(&self.folder, &self.name))
            }
        };
        let old = match opened {
            Ok(old) => old,
            Err(error) => match fault(&error) {
                PathFault::Missing => return Ok(None),
                PathFault::Special => return Err(open::special(path).into()),
                PathFault::Folder => return Err(open::folder(path).into()),
                // It became a link after it was resolved.
                PathFault::Escape | PathFault::Loop => return Err(unfollowable(path).into()),
                PathFault::World => return Err(failed("write", path, error)),
            },
        };
        check_regular(path, old.metadata.file_type())?;
        if old.metadata.nlink() > 1 {
            return Err(several_names(path, old.metadata.nlink()).into());
        }
        if old.metadata.permissions().readonly() {
            let error =
                io::Error::new(io::ErrorKind::PermissionDenied, "it is marked as read-only");
            return Err(failed("write", path, error));
        }
        Ok(Some(old))
    }
}

fn check_before(
    disk: &Disk,
    path: &VPath,
    before: Before,
    old: Option<&OpenFile>,
) -> Result<(), Stop> {
    match (before, old) {
        (Before::Anything, _) | (Before::Nothing, None) => Ok(()),
        (Before::Nothing, Some(_)) => Err(exists(path).into()),
        (Before::Sha256(_), None) => Err(precondition(format!(
            "`{path}` does not exist, so it does not have the expected content."
        ))
        .hint("Leave out ifMatchSha256 to create it.")
        .into()),
        (Before::Sha256(expected), Some(old)) => {
            let actual = old.measure(disk, path, MAX_FILE, &mut |_| ())?.sha256;
            if actual == expected { Ok(()) } else { Err(changed(path, Some(actual)).into()) }
        }
    }
}

/// Writes a temporary file beside the target and renames it. The new file has the rights of the old one, or else of the
/// one it is like.
fn put(
    site: Site<'_>,
    name: &str,
    bytes: &[u8],
    (old, like): (Option<OpenFile>, Option<OpenFile>),
    rely: Rely,
    path: &VPath,
) -> Result<(), Stop> {
    let failed = |error| failed("write", path, error);
    let model = old.as_ref().or(like.as_ref());
    let mode = model.and_then(|model| mode_of(&model.metadata));
    let mut temp = Temp::create(site, name, mode).map_err(failed)?;
    temp.fill(bytes).map_err(failed)?;
    if let Some(model) = model {
        temp.dress(|file, new| inherit(file, new, &model.metadata)).map_err(failed)?;
    }
    temp.flush().map_err(failed)?;
    let in_the_way = match (rely, &old) {
        (Rely::OnOld, None) => InTheWay::Kept,
        (Rely::OnOld, Some(old)) if !is_unchanged(site, name, old).map_err(failed)? => {
            return Err(changed(path, None).into());
        }
        (Rely::OnOld | Rely::OnNothing, _) => InTheWay::Replaced,
    };
    // An open handle keeps the replaced file alive, and the file system would have to record it as an orphan.
    drop(old);
    match temp.rename(name, in_the_way) {
        Ok(()) => {}
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            return Err(exists(path).into());
        }
        // A folder took the name in the meantime.
        Err(error) if fault(&error) == PathFault::Folder => {
            return Err(open::folder(path).into());
        }
        Err(error) => return Err(failed(error)),
    }
    sync_folder(site.disk, site.label(""), site.folder).map_err(failed)
}

/// Returns true if the file is still the one that was compared, judged by identity, size and modification time.
fn is_unchanged(site: Site<'_>, name: &str, old: &OpenFile) -> io::Result<bool> {
    let (Some(now), old) = (site.look(name)?, &old.metadata) else { return Ok(false) };
    Ok(is_same_file(&now, old)
        && now.len() == old.len()
        && now.modified()?.into_std() == old.modified()?.into_std())
}

/// Flushes the entries of a folder. Does nothing where it is unsupported: some file systems, and Windows.
fn sync_folder(disk: &Disk, label: PathLabel<'_>, folder: &Dir) -> io::Result<()> {
    disk.run(label, Deed::SyncFolder, || {
        #[cfg(unix)]
        {
            // The handle itself is an `O_PATH` descriptor and cannot be flushed.
            let opened = folder.open_with(".", cap_std::fs::OpenOptions::new().read(true))?;
            match opened.sync_all() {
                Err(error) if super::fault::is_unsupported(&error) => Ok(()),
                other => other,
            }
        }
        #[cfg(not(unix))]
        {
            let _ = folder;
            Ok(())
        }
    })
}

/// Returns the permission bits of a file, without setuid and setgid.
#[cfg(unix)]
fn mode_of(metadata: &Metadata) -> Option<u32> {
    Some(cap_std::fs::PermissionsExt::mode(&metadata.permissions()) & 0o777)
}

#[cfg(not(unix))]
fn mode_of(_: &Metadata) -> Option<u32> {
    None
}

/// Copies owner and mode of the old file to a new one where they differ. Owner first, because changing it may clear
/// mode bits.
#[cfg(unix)]
fn inherit(file: &std::fs::File, new: &Metadata, old: &Metadata) -> io::Result<()> {
    use cap_std::fs::MetadataExt as _;
    use rustix::fs::{Gid, Mode, Uid, fchmod, fchown};
    let is_others = (new.uid(), new.gid()) != (old.uid(), old.gid());
    if is_others {
        let (owner, group) = (Uid::from_raw(old.uid()), Gid::from_raw(old.gid()));
        // Only the administrator may change the owner; keeping a group that the user is in works without that.
        if fchown(file, Some(owner), Some(group)).is_err() {
            let _ = fchown(file, None, Some(group));
        }
    }
    match mode_of(old).filter(|mode| is_others || new.mode() & 0o7777 != *mode) {
        Some(mode) => Ok(fchmod(file, Mode::from_raw_mode(mode))?),
        None => Ok(()),
    }
}

#[cfg(not(unix))]
fn inherit(_: &std::fs::File, _: &Metadata, _: &Metadata) -> io::Result<()> {
    Ok(())
}

/// Folders created for a write, removed again if it fails.
struct NewFolders<'p> {
    disk: &'p Disk,
    place: &'p Destination,
    /// Outermost first, each inside the previous one.
    folders: Vec<(&'p str, Dir, Maker)>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Maker {
    Us,
    Another,
}

impl<'p> NewFolders<'p> {
    fn folders(disk: &'p Disk, place: &'p Destination, path: &VPath) -> Result<Self, Stop> {
        let mut made = Self { disk, place, folders: Vec::new() };
        for name in &place.missing {
            let (parent, label) = (made.folder(), made.label());
            let created = disk
                .run(PathLabel { name, ..label }, Deed::CreateFolder, || parent.create_dir(name));
            let maker = match created {
                Ok(()) => Maker::Us,
                // Another writer was faster. Its entry is used only if it is a folder.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Maker::Another,
                Err(error) => return Err(failed("create the folder of", path, error)),
            };
            let entered = sync_folder(disk, label, parent).and_then(|()| {
                let label = PathLabel { name, ..label };
                disk.run(label, Deed::Open, || parent.open_dir_nofollow(name))
            });
            match entered {
                Ok(folder) => made.folders.push((name, folder, maker)),
                Err(error) => {
                    if maker == Maker::Us {
                        made.remove(name);
                    }
                    return Err(match fault(&error) {
                        PathFault::Escape | PathFault::Loop | PathFault::Missing => {
                            unfollowable(path).into()
                        }
                        PathFault::Special | PathFault::Folder | PathFault::World => {
                            failed("create the folder of", path, error)
                        }
                    });
                }
            }
        }
        Ok(made)
    }

    /// Returns the folder of the file.
    fn folder(&self) -> &Dir {
        self.folders.last().map_or(&self.place.folder, |(_, folder, _)| folder)
    }

    /// Returns the label of that folder.
    fn label(&self) -> PathLabel<'p> {
        let place = self.place;
        PathLabel { path: &place.path, up: 1 + place.missing.len() - self.folders.len(), name: "" }
    }

    fn remove(&self, name: &str) {
        let label = PathLabel { name, ..self.label() };
        // Only an empty folder can be removed, so no other writer loses a file.
        let _ = self.disk.run(label, Deed::RemoveFolder, || self.folder().remove_dir(name));
    }

    fn keep(mut self) {
        self.folders.clear();
    }
}

impl Drop for NewFolders<'_> {
    fn drop(&mut self) {
        while let Some((name, _, maker)) = self.folders.pop() {
            if maker == Maker::Us {
                self.remove(name);
            }
        }
    }
}

fn failed(action: &'static str, path: &VPath, error: io::Error) -> Stop {
    MountError::new(action, path, error).into()
}

fn precondition(message: String) -> Refusal {
    Refusal::new(RefusalCode::Precondition, message)
}

fn exists(path: &VPath) -> Refusal {
    precondition(format!("`{path}` already exists."))
        .hint("Use the mode `overwrite`, or a patch, to change it.")
}

fn changed(path: &VPath, actual: Option<Digest>) -> Refusal {
    let refusal = precondition(format!("`{path}` does not have the expected content."))
        .hint("Read it again, and repeat the change on what is there now.");
    match actual {
        Some(actual) => refusal.detail("actualSha256", actual.to_string()),
        None => refusal,
    }
}

fn several_names(path: &VPath, names: u64) -> Refusal {
    sandbox(format!(
        "`{path}` is one of {names} names (hard links) of the same file, and the others may be outside of {}.",
        path.mount().name()
    ))
    .hint("It is not replaced, because the names would part; write to another name, or ask the user.")
}

fn too_large(path: &VPath, limit: u64) -> Refusal {
    Refusal::new(RefusalCode::WriteLimit, format!("`{path}` would be larger than {limit} bytes."))
        .hint("Write to another file.")
}
