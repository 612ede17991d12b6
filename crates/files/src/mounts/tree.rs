//! Read access to a mount for tools that visit many files: lists folders and opens files, without following links.

use std::io::{self, Read};

use cap_fs_ext::{DirExt, FollowSymlinks};
use cap_std::fs::{Dir, File};
use crewagent_core::vpath::{Mount, VPath};

use super::error::{MountError, MountResult, settle};
use super::list::{EntryKind, entry_kind};
use super::open::reading;
use super::{Mounts, system_path};
use crate::disk::{Deed, Disk};

/// Read-only view of one mount.
#[derive(Clone, Copy)]
pub struct MountTree<'m> {
    disk: &'m Disk,
    mount: Mount,
    root: &'m Dir,
    /// Actual path of the state document, if this mount holds it.
    document: Option<&'m VPath>,
}

/// Treatment of a folder that is a link to another folder in the mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Links {
    Followed,
    Refused,
}

impl Mounts {
    /// Returns the mount of a path.
    pub fn tree(&self, path: &VPath) -> MountTree<'_> {
        let document = self.document.as_ref().filter(|real| real.mount() == path.mount());
        MountTree { disk: &self.disk, mount: path.mount(), root: self.root(path), document }
    }

    /// Opens a file that the model named, under the rules for reading; returns it with its size.
    pub fn open_named(&self, path: &VPath) -> MountResult<(std::fs::File, u64)> {
        settle(self.open_file(path).map(|(file, metadata)| (file.into_std(), metadata.len())))
    }

    /// Wraps an error that a tool ran into, for the user.
    pub fn failure(action: &'static str, path: &VPath, error: io::Error) -> MountError {
        MountError::new(action, path, error)
    }
}

impl MountTree<'_> {
    /// Calls `take` for up to `limit` entries of a folder, in the order of the system.
    pub fn each(
        self,
        folder: &str,
        links: Links,
        limit: usize,
        mut take: impl FnMut(&str, EntryKind),
    ) -> io::Result<()> {
        let path = system_path(folder);
        let folder = self.run(folder, Deed::List, || match links {
            Links::Followed => self.root.open_dir(path),
            Links::Refused => self.root.open_dir_nofollow(path),
        })?;
        for entry in folder.entries()?.take(limit) {
            let entry = entry?;
            // A name that is not UTF-8 cannot be part of a path, so the file cannot be opened either.
            let Ok(name) = entry.file_name().into_string() else { continue };
            if let Ok(kind) = entry_kind(&entry) {
                take(&name, kind);
            }
        }
        Ok(())
    }

    /// Opens a regular file and returns it with its size; `None` if it is something else by now.
    pub fn file(self, path: &str) -> io::Result<Option<(std::fs::File, u64)>> {
        let named = |_: &&VPath| VPath::state_document(None).relative() == path;
        let path = self.document.filter(named).map_or(path, VPath::relative);
        self.run(path, Deed::Open, || {
            regular(self.root.open_with(path, &reading(FollowSymlinks::No))?)
        })
    }

    /// Returns true if anything has this name.
    pub fn has(self, path: &str) -> bool {
        self.run(path, Deed::Look, || self.root.symlink_metadata(path)).is_ok()
    }

    /// Reads the start of a small file that configures the tool, such as `.gitignore`. Follows links in the mount.
    pub fn head(self, path: &str, limit: u64) -> Option<Vec<u8>> {
        let opened = self.run(path, Deed::Open, || {
            regular(self.root.open_with(path, &reading(FollowSymlinks::Yes))?)
        });
        let (file, _) = opened.ok()??;
        let mut bytes = Vec::new();
        self.run(path, Deed::Read, || file.take(limit).read_to_end(&mut bytes)).ok()?;
        Some(bytes)
    }

    fn run<T>(
        self,
        path: &str,
        deed: Deed<'_>,
        work: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        self.disk.run(format_args!("{}/{path}", self.mount.name()), deed, work)
    }
}

fn regular(file: File) -> io::Result<Option<(std::fs::File, u64)>> {
    let file = file.into_std();
    let metadata = file.metadata()?;
    Ok(metadata.is_file().then_some((file, metadata.len())))
}
