//! Listing folders, and metadata of paths.

use std::collections::BTreeMap;
use std::io;

use cap_fs_ext::{DirExt, MetadataExt};
use cap_std::fs::{Dir, DirEntry};
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::vpath::VPath;
use crewagent_format::text::is_invisible_char;
use jiff::Timestamp;

use super::error::{MountResult, Stop, settle};
use super::fault::{PathFault, fault};
use super::{Mounts, system_path};
use crate::disk::{Deed, Disk};

/// Number of names read in one call. The system's order decides which ones of a larger folder are seen.
const MAX_VISITED: usize = 100_000;

/// Names in a folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listing {
    /// Relative to the folder, each folder before its entries, otherwise sorted by bytes. Folders end in `/`.
    /// Characters that are not UTF-8 or not printable are shown as `U+FFFD`; such names cannot be opened.
    pub entries: Vec<String>,
    /// True if the folder has more than these.
    pub more: bool,
}

/// Type of a directory entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum EntryKind {
    File,
    Folder,
    /// Link that was not followed.
    Link,
    /// Pipe, socket or device.
    Special,
}

/// Metadata of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stat {
    /// Never [`EntryKind::Link`], because links inside the mount are followed.
    pub kind: EntryKind,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change, where the file system keeps it.
    pub modified: Option<Timestamp>,
}

impl Mounts {
    /// Returns the metadata of a path; refuses if nothing is there or the path leads out of the mount.
    pub fn stat(&self, path: &VPath) -> MountResult<Stat> {
        let real = self.real(path);
        let metadata = self
            .disk
            .run(real, Deed::Look, || self.root(real).metadata(system_path(real.relative())));
        settle(metadata.map_err(|error| self.stop("look at", path, error)).map(|metadata| Stat {
            kind: kind_of(metadata.file_type()),
            size: metadata.len(),
            modified:
                metadata.modified().ok().and_then(|time| Timestamp::try_from(time.into_std()).ok()),
        }))
    }

    /// Returns true if a tool may open something at this path.
    pub fn exists(&self, path: &VPath) -> MountResult<bool> {
        match self.stat(path)? {
            Ok(_) => Ok(Ok(true)),
            Err(refusal) if refusal.code == RefusalCode::NotFound => Ok(Ok(false)),
            Err(refusal) => Ok(Err(refusal)),
        }
    }

    /// Returns true if two paths lead to one file, even across mounts: the project may contain the state folder.
    pub fn is_same_file(&self, one: &VPath, other: &VPath) -> MountResult<bool> {
        let identity = |path: &VPath| {
            let real = self.real(path);
            let metadata = self
                .disk
                .run(real, Deed::Look, || self.root(real).metadata(system_path(real.relative())));
            metadata
                .map(|metadata| (metadata.dev(), metadata.ino()))
                .map_err(|error| self.stop("look at", path, error))
        };
        settle(identity(one).and_then(|first| Ok(first == identity(other)?)))
    }

    /// Lists the first `limit` names in a folder and, down to `depth`, in its subfolders. Links are not entered.
    pub fn list(&self, path: &VPath, depth: usize, limit: usize) -> MountResult<Listing> {
        settle(self.try_list(path, depth, limit))
    }

    fn try_list(&self, path: &VPath, depth: usize, limit: usize) -> Result<Listing, Stop> {
        let failed = |error| self.stop("list", path, error);
        let root = self.root(path);
        let relative = system_path(path.relative());
        let metadata =
            self.disk.run(path, Deed::Look, || root.metadata(relative)).map_err(failed)?;
        if !metadata.is_dir() {
            return Err(not_a_folder(path).into());
        }
        let folder = self.disk.run(path, Deed::List, || root.open_dir(relative)).map_err(failed)?;
        let mut walk = ListingWalk {
            disk: &self.disk,
            root,
            base: path,
            listing: Listing { entries: Vec::new(), more: false },
            limit,
            left: MAX_VISITED,
        };
        walk.enter(&folder, "", depth.max(1)).map_err(failed)?;
        Ok(walk.listing)
    }
}

fn not_a_folder(path: &VPath) -> Refusal {
    Refusal::new(RefusalCode::InvalidArguments, format!("`{path}` is not a folder."))
        .hint("Read it instead, or list the folder it is in.")
}

pub(super) fn kind_of(kind: cap_std::fs::FileType) -> EntryKind {
    if kind.is_file() {
        EntryKind::File
    } else if kind.is_dir() {
        EntryKind::Folder
    } else if kind.is_symlink() {
        EntryKind::Link
    } else {
        EntryKind::Special
    }
}

/// Returns the type of an entry. Some file systems do not give it in the directory itself.
pub(super) fn entry_kind(entry: &DirEntry) -> io::Result<EntryKind> {
    match kind_of(entry.file_type()?) {
        EntryKind::Special => Ok(kind_of(entry.metadata()?.file_type())),
        kind @ (EntryKind::File | EntryKind::Folder | EntryKind::Link) => Ok(kind),
    }
}

struct ListingWalk<'m> {
    disk: &'m Disk,
    root: &'m Dir,
    base: &'m VPath,
    listing: Listing,
    limit: usize,
    /// Number of names that may still be read.
    left: usize,
}

impl ListingWalk<'_> {
    fn enter(&mut self, folder: &Dir, prefix: &str, depth: usize) -> io::Result<()> {
        for (name, entry) in self.first(folder)? {
            if self.listing.entries.len() >= self.limit {
                self.listing.more = true;
                return Ok(());
            }
            let is_folder = match entry.kind {
                EntryKind::Folder => true,
                // A link to a folder inside the mount can be listed, so it is shown as a folder.
                EntryKind::Link => self.is_folder(&format!("{prefix}{}", entry.shown)),
                EntryKind::File | EntryKind::Special => false,
            };
            let slash = if is_folder { "/" } else { "" };
            self.listing.entries.push(format!("{prefix}{}{slash}", entry.shown));
            if entry.kind == EntryKind::Folder && depth > 1 {
                let below = format!("{prefix}{}/", entry.shown);
                let label = format_args!("{}/{prefix}{}", self.base, entry.shown);
                let entered = self
                    .disk
                    .run(label, Deed::List, || folder.open_dir_nofollow(&name))
                    .and_then(|folder| self.enter(&folder, &below, depth - 1));
                // Removed, swapped for a link, or not readable: list its name only.
                entered.or_else(|error| if is_unreadable(&error) { Ok(()) } else { Err(error) })?;
            }
        }
        Ok(())
    }

    /// Returns true if a link leads to a folder in the mount.
    fn is_folder(&self, below: &str) -> bool {
        let path = match self.base.relative() {
            "" => below.to_owned(),
            base => format!("{base}/{below}"),
        };
        self.root.metadata(path).is_ok_and(|metadata| metadata.is_dir())
    }

    /// Returns the first names of a folder, sorted; one more than can still be listed.
    fn first(&mut self, folder: &Dir) -> io::Result<BTreeMap<std::ffi::OsString, ListingEntry>> {
        let wanted = self.limit - self.listing.entries.len() + 1;
        let mut first = BTreeMap::new();
        for entry in folder.entries()? {
            if self.left == 0 {
                self.listing.more = true;
                break;
            }
            self.left -= 1;
            let entry = entry?;
            let name = entry.file_name();
            if first.len() >= wanted
                && first.last_key_value().is_some_and(|(last, _)| name >= *last)
            {
                continue;
            }
            let Ok(kind) = entry_kind(&entry) else { continue };
            let shown = name.to_string_lossy().replace(is_invisible_char, "\u{fffd}");
            first.insert(name, ListingEntry { kind, shown });
            if first.len() > wanted {
                first.pop_last();
            }
        }
        Ok(first)
    }
}

struct ListingEntry {
    kind: EntryKind,
    shown: String,
}

/// Returns true for an error of one entry, which the rest of its folder does not share.
pub(super) fn is_unreadable(error: &io::Error) -> bool {
    fault(error) != PathFault::World || error.kind() == io::ErrorKind::PermissionDenied
}
