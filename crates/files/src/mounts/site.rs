//! Folder in which a file is written, and labels of its entries for the disk.

use std::fmt;
use std::io;

use cap_fs_ext::MetadataExt;
use cap_std::fs::{Dir, Metadata};
use crewagent_core::vpath::VPath;

use super::fault::{PathFault, fault};
use crate::disk::{Deed, Disk};

/// Open folder of the file that is written.
#[derive(Clone, Copy)]
pub(super) struct Site<'d> {
    pub(super) disk: &'d Disk,
    pub(super) folder: &'d Dir,
    /// The file, with all links resolved.
    pub(super) path: &'d VPath,
}

impl<'d> Site<'d> {
    /// Returns the label of an entry.
    pub(super) fn label<'n>(&self, name: &'n str) -> PathLabel<'n>
    where
        'd: 'n,
    {
        PathLabel { path: self.path, up: 1, name }
    }

    /// Runs an operation on an entry.
    pub(super) fn run<T>(
        &self,
        name: &str,
        deed: Deed<'_>,
        work: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        self.disk.run(self.label(name), deed, work)
    }

    /// Returns the metadata of an entry, without following a link; `None` if there is none.
    pub(super) fn look(&self, name: &str) -> io::Result<Option<Metadata>> {
        match self.run(name, Deed::Look, || self.folder.symlink_metadata(name)) {
            Ok(metadata) => Ok(Some(metadata)),
            // An I/O error does not mean that the name is free.
            Err(error) if fault(&error) == PathFault::World => Err(error),
            Err(_) => Ok(None),
        }
    }
}

/// Returns true if both belong to one file, provided that it is held open.
pub(super) fn is_same_file(one: &Metadata, other: &Metadata) -> bool {
    one.dev() == other.dev() && one.ino() == other.ino()
}

/// Path beside or above another one. Formatted only on demand.
#[derive(Clone, Copy)]
pub(super) struct PathLabel<'p> {
    pub(super) path: &'p VPath,
    /// Number of trailing names of the path that are dropped.
    pub(super) up: usize,
    /// Name to append, unless empty.
    pub(super) name: &'p str,
}

impl fmt::Display for PathLabel<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.path.relative().split('/').collect();
        let kept = names.len().saturating_sub(self.up);
        f.write_str(self.path.mount().name())?;
        names[..kept].iter().try_for_each(|name| write!(f, "/{name}"))?;
        if self.name.is_empty() { Ok(()) } else { write!(f, "/{}", self.name) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_label(up: usize, name: &str, expected: &str) {
        let path = VPath::parse("@project/a/b/c.md").unwrap();
        assert_eq!(PathLabel { path: &path, up, name }.to_string(), expected);
    }

    #[test]
    fn a_label_is_a_mount_path() {
        check_label(0, "", "@project/a/b/c.md");
        check_label(1, "x.tmp", "@project/a/b/x.tmp");
        check_label(2, "", "@project/a");
        check_label(3, "x.tmp", "@project/x.tmp");
        check_label(9, "", "@project");
    }
}
