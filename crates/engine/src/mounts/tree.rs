//! A mount for tools that look at many files: names by folder, files by name, nothing followed.

use std::io::{self, Read};

use cap_fs_ext::{DirExt, FollowSymlinks};
use cap_std::fs::{Dir, File};
use crewagent_core::vpath::{Mount, VPath};

use super::error::{Answer, MountError, settle};
use super::list::{Kind, entry_kind};
use super::open::reading;
use super::{Mounts, system_path};
use crate::disk::{Deed, Disk};

/// One mount, read-only.
#[derive(Clone, Copy)]
pub(crate) struct Tree<'m> {
    disk: &'m Disk,
    mount: Mount,
    root: &'m Dir,
    /// What the state document really is, where this mount has it.
    document: Option<&'m VPath>,
}

/// What to do when a folder is a link to another folder in the mount.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Links {
    Followed,
    Refused,
}

impl Mounts {
    /// The mount that a path is in.
    pub(crate) fn tree(&self, path: &VPath) -> Tree<'_> {
        let document = self.document.as_ref().filter(|real| real.mount() == path.mount());
        Tree { disk: &self.disk, mount: path.mount(), root: self.root(path), document }
    }

    /// A file that was named by the model, opened under the rules of reading, and its size.
    pub(crate) fn open_named(&self, path: &VPath) -> Answer<(std::fs::File, u64)> {
        settle(self.open_file(path).map(|(file, metadata)| (file.into_std(), metadata.len())))
    }

    /// An error that a tool met on the way, for the user.
    pub(crate) fn failure(action: &'static str, path: &VPath, error: io::Error) -> MountError {
        MountError::new(action, path, error)
    }
}

impl Tree<'_> {
    /// Passes on what is in a folder, in the order of the system, up to a number of names.
    pub(crate) fn each(
        self,
        folder: &str,
        links: Links,
        limit: usize,
        mut take: impl FnMut(&str, Kind),
    ) -> io::Result<()> {
        let path = system_path(folder);
        let folder = self.run(folder, Deed::List, || match links {
            Links::Followed => self.root.open_dir(path),
            Links::Refused => self.root.open_dir_nofollow(path),
        })?;
        for entry in folder.entries()?.take(limit) {
            let entry = entry?;
            // What is not UTF-8 cannot be named, so it cannot be opened either.
            let Ok(name) = entry.file_name().into_string() else { continue };
            if let Ok(kind) = entry_kind(&entry) {
                take(&name, kind);
            }
        }
        Ok(())
    }

    /// A regular file and its size. `None` when it is something else by now.
    pub(crate) fn file(self, path: &str) -> io::Result<Option<(std::fs::File, u64)>> {
        let named = |_: &&VPath| VPath::state_document(None).relative() == path;
        let path = self.document.filter(named).map_or(path, VPath::relative);
        self.run(path, Deed::Open, || {
            regular(self.root.open_with(path, &reading(FollowSymlinks::No))?)
        })
    }

    /// Whether something of this name is there, whatever it is.
    pub(crate) fn has(self, path: &str) -> bool {
        self.run(path, Deed::Look, || self.root.symlink_metadata(path)).is_ok()
    }

    /// The beginning of a small file that steers the tool, such as `.gitignore`. Links inside the mount are followed.
    pub(crate) fn head(self, path: &str, limit: u64) -> Option<Vec<u8>> {
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
