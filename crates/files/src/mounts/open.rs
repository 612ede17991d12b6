//! Opening files for reading, and the refusals if that fails.

use cap_fs_ext::{FollowSymlinks, MetadataExt, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::fs::{Dir, File, FileType, Metadata, OpenOptions};
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::vpath::VPath;
use crewagent_format::wording::likeness;

use super::error::{MountError, Stop};
use super::fault::{PathFault, fault};
use super::{Mounts, system_path};
use crate::disk::Deed;

/// Number of parents searched for one that exists.
const MAX_PARENTS: usize = 32;
/// Number of names of a folder that are compared with a missing one.
const MAX_COMPARED: usize = 2_000;
/// Number of names suggested instead of a missing one.
const MAX_OFFERED: usize = 3;
/// Length above which names are not compared: they are no misspellings, and cost the product of their lengths.
const LONGEST_COMPARED: usize = 128;
/// Smallest similarity of a suggestion.
const ALIKE: f64 = 0.6;

/// Returns options under which opening never blocks, not even on a pipe.
pub(super) fn reading(follow: FollowSymlinks) -> OpenOptions {
    let mut options = OpenOptions::new();
    options.read(true).nonblock(true).follow(follow);
    options
}

impl Mounts {
    /// Opens a regular file; links that stay inside the mount are followed.
    pub(super) fn open_file(&self, path: &VPath) -> Result<(File, Metadata), Stop> {
        if path.relative().is_empty() {
            return Err(folder(path).into());
        }
        let real = self.real(path);
        let opened = self.disk.run(real, Deed::Open, || {
            let file = self.root(real).open_with(real.relative(), &reading(FollowSymlinks::Yes))?;
            let metadata = file.metadata()?;
            Ok((file, metadata))
        });
        let (file, metadata) = opened.map_err(|error| self.stop("read", path, error))?;
        check_regular(path, metadata.file_type())?;
        Ok((file, metadata))
    }

    /// Converts a system error into a refusal for the model or an error for the user.
    pub(super) fn stop(&self, action: &'static str, path: &VPath, error: std::io::Error) -> Stop {
        match fault(&error) {
            PathFault::Escape => escape(path).into(),
            PathFault::Loop => unfollowable(path).into(),
            PathFault::Special => special(path).into(),
            PathFault::Folder => folder(path).into(),
            PathFault::Missing => self.missing(action, path),
            PathFault::World => MountError::new(action, path, error).into(),
        }
    }

    /// Builds the refusal for a missing path, with similar names or the nearest folder as a hint.
    fn missing(&self, action: &'static str, path: &VPath) -> Stop {
        let root = self.root(path);
        if is_removed(root) {
            return MountError::gone(action, path).into();
        }
        let refusal = Refusal::new(RefusalCode::NotFound, format!("There is no `{path}`."));
        let (existing, name) = nearest_folder(root, path.relative());
        let Some(existing) = VPath::new(path.mount(), existing) else { return refusal.into() };
        let alike: Vec<String> = alike(root, existing.relative(), name)
            .iter()
            .filter_map(|name| existing.join(name))
            .map(|path| format!("`{path}`"))
            .collect();
        let hint = if alike.is_empty() {
            format!("The nearest folder that exists is `{existing}`; list it to see what is there.")
        } else {
            format!("Did you mean {}?", alike.join(" or "))
        };
        refusal.hint(hint).into()
    }
}

pub(super) fn check_regular(path: &VPath, kind: FileType) -> Result<(), Stop> {
    if kind.is_file() {
        Ok(())
    } else if kind.is_dir() {
        Err(folder(path).into())
    } else if kind.is_symlink() {
        Err(unfollowable(path).into())
    } else {
        Err(special(path).into())
    }
}

pub(super) fn sandbox(message: String) -> Refusal {
    Refusal::new(RefusalCode::Sandbox, message)
}

pub(super) fn escape(path: &VPath) -> Refusal {
    sandbox(format!("`{path}` goes through a link that leads out of {}.", path.mount().name()))
        .hint("Only files inside the mount can be used.")
}

pub(super) fn unfollowable(path: &VPath) -> Refusal {
    sandbox(format!("`{path}` goes through a link that cannot be followed."))
        .hint("Only links to files inside the mount can be used.")
}

pub(super) fn special(path: &VPath) -> Refusal {
    sandbox(format!("`{path}` is a pipe, a socket or a device, not a file."))
        .hint("Only regular files can be used.")
}

pub(super) fn folder(path: &VPath) -> Refusal {
    Refusal::new(RefusalCode::InvalidArguments, format!("`{path}` is a folder, not a file."))
        .hint("List it, and name a file in it.")
}

/// Returns true if the mount's folder was removed: its handle stays open, and every name in it is missing.
pub(super) fn is_removed(root: &Dir) -> bool {
    cfg!(unix) && root.dir_metadata().is_ok_and(|metadata| metadata.nlink() == 0)
}

/// Returns the longest prefix of the path that is a folder, and the name missing in it.
fn nearest_folder<'p>(root: &Dir, relative: &'p str) -> (&'p str, &'p str) {
    let mut end = relative.len();
    for _ in 0..MAX_PARENTS {
        let Some(slash) = relative[..end].rfind('/') else { break };
        let (folder, name) = (&relative[..slash], &relative[slash + 1..end]);
        if root.metadata(folder).is_ok_and(|metadata| metadata.is_dir()) {
            return (folder, name);
        }
        end = slash;
    }
    ("", relative.split('/').next().unwrap_or_default())
}

/// Finds names in a folder that resemble the missing one, best match first.
fn alike(root: &Dir, folder: &str, name: &str) -> Vec<String> {
    let wanted = name.to_lowercase();
    let Ok(entries) = root.read_dir(system_path(folder)) else { return Vec::new() };
    if wanted.len() > LONGEST_COMPARED {
        return Vec::new();
    }
    let names =
        entries.take(MAX_COMPARED).filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let mut found: Vec<(f64, String)> = names
        .filter(|name| name.len() <= LONGEST_COMPARED)
        .map(|name| (likeness(&wanted, &name.to_lowercase()), name))
        .filter(|(likeness, _)| *likeness >= ALIKE)
        .collect();
    found.sort_by(|(one, a), (other, b)| other.total_cmp(one).then_with(|| a.cmp(b)));
    found.into_iter().take(MAX_OFFERED).map(|(_, name)| name).collect()
}
