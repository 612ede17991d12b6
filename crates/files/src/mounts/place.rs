//! Resolves the target of a write: descends one name at a time from an open folder, without following links.
//!
//! Links are resolved here and not by the system, because the write rules (`protect`) must be applied to the path
//! behind them.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fmt;
use std::io;
use std::path::{Component, Path};
use std::sync::Arc;

use cap_fs_ext::{DirExt, FollowSymlinks};
use cap_std::fs::{Dir, File, Metadata};
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::vpath::{Mount, VPath};

use super::Mounts;
use super::error::{MountError, Stop};
use super::fault::{PathFault, fault};
use super::open::{escape, folder, is_removed, reading, sandbox, unfollowable};
use crate::disk::{Deed, Disk};

/// Depth limit of a written file; each folder on the path is held open.
const MAX_DEPTH: usize = 64;
/// Same limit as in Linux.
const MAX_LINKS: usize = 40;

/// Resolved target of a write.
pub(super) struct Destination {
    /// Deepest existing folder on the path.
    pub(super) folder: Arc<Dir>,
    /// Missing folders below it, outermost first.
    pub(super) missing: Vec<String>,
    pub(super) name: String,
    /// Full path, with all links resolved.
    pub(super) path: VPath,
    /// Current holder of the name.
    pub(super) found: NameHolder,
}

/// Current holder of the name that a write targets.
pub(super) enum NameHolder {
    /// The name was free when it was resolved.
    Nothing,
    Opened(OpenFile),
    /// It exists, and could not be opened.
    Closed,
}

/// File opened for reading.
pub(super) struct OpenFile {
    pub(super) file: File,
    pub(super) metadata: Metadata,
}

impl OpenFile {
    /// Opens a name in a folder, without following a link and without blocking.
    pub(super) fn at(folder: &Dir, name: &str) -> io::Result<Self> {
        let file = folder.open_with(name, &reading(FollowSymlinks::No))?;
        let metadata = file.metadata()?;
        Ok(Self { file, metadata })
    }
}

impl Mounts {
    /// Resolves the path that a write goes to. Changes nothing.
    pub(super) fn place(&self, path: &VPath) -> Result<Destination, Stop> {
        let real = self.real(path);
        let mut way = PathWalk {
            disk: &self.disk,
            path,
            open: vec![self.root(real).clone()],
            names: Vec::new(),
            todo: VecDeque::new(),
            links: 0,
        };
        if real.relative().split('/').count() > MAX_DEPTH {
            return Err(too_deep(path).into());
        }
        way.todo.extend(real.relative().split('/').map(PathSegment::named));
        way.walk()
    }
}

struct PathSegment {
    name: OsString,
    /// True if a link contributed the name, and not the model.
    linked: bool,
}

impl PathSegment {
    fn named(name: &str) -> Self {
        Self { name: name.into(), linked: false }
    }
}

struct PathWalk<'p> {
    disk: &'p Disk,
    /// Path as the model wrote it.
    path: &'p VPath,
    /// Open folders from the mount down to the current one; never empty.
    open: Vec<Arc<Dir>>,
    /// Their names, without the mount.
    names: Vec<String>,
    todo: VecDeque<PathSegment>,
    links: usize,
}

impl PathWalk<'_> {
    fn walk(mut self) -> Result<Destination, Stop> {
        while let Some(step) = self.todo.pop_front() {
            if step.name == ".." {
                self.open.pop();
                if self.names.pop().is_none() || self.open.is_empty() {
                    return Err(escape(self.path).into());
                }
                continue;
            }
            let Some(name) = step.name.to_str().map(str::to_owned) else {
                return Err(unfollowable(self.path).into());
            };
            let is_last = self.todo.is_empty();
            let here = self.here()?;
            let opened = if is_last {
                self.run(&name, Deed::Open, || OpenFile::at(here, &name)).map(Some)
            } else {
                Ok(None)
            };
            let looked = match opened {
                Ok(Some(opened)) if !opened.metadata.is_symlink() => {
                    return self.arrive(name, Vec::new(), NameHolder::Opened(opened));
                }
                Err(error) if fault(&error) == PathFault::Missing => Err(error),
                Ok(_) | Err(_) => self.run(&name, Deed::Look, || here.symlink_metadata(&name)),
            };
            match looked {
                Ok(metadata) if metadata.is_symlink() => self.follow(&name)?,
                Ok(_) if is_last => return self.arrive(name, Vec::new(), NameHolder::Closed),
                Ok(metadata) => self.descend(name, &metadata)?,
                Err(error) if fault(&error) == PathFault::Missing => {
                    if step.linked {
                        return Err(dangling(self.path).into());
                    }
                    return self.arrive_at_nothing(name);
                }
                Err(error) => return Err(MountError::new("write", self.path, error).into()),
            }
        }
        // The path ends in a link to a folder, or to `..`.
        Err(folder(self.path).into())
    }

    /// Runs an operation on an entry of the current folder.
    fn run<T>(
        &self,
        name: &str,
        deed: Deed<'_>,
        work: impl FnOnce() -> io::Result<T>,
    ) -> io::Result<T> {
        let here = Here { mount: self.path.mount(), names: &self.names };
        self.disk.run(format_args!("{here}/{name}"), deed, work)
    }

    fn here(&self) -> Result<&Dir, Stop> {
        let folder = self.open.last().map(|folder| &**folder);
        folder.ok_or_else(|| escape(self.path).into())
    }

    fn follow(&mut self, name: &str) -> Result<(), Stop> {
        self.links += 1;
        if self.links > MAX_LINKS {
            return Err(unfollowable(self.path).into());
        }
        let target = match self.here()?.read_link_contents(name) {
            Ok(target) => target,
            // It was a link when it was looked up.
            Err(_) => return Err(unfollowable(self.path).into()),
        };
        for component in Path::new(&target).components().rev() {
            let name = match component {
                Component::Normal(name) => name.to_owned(),
                Component::ParentDir => "..".into(),
                Component::CurDir => continue,
                Component::RootDir | Component::Prefix(_) => return Err(escape(self.path).into()),
            };
            self.todo.push_front(PathSegment { name, linked: true });
        }
        Ok(())
    }

    fn descend(&mut self, name: String, metadata: &Metadata) -> Result<(), Stop> {
        if !metadata.is_dir() {
            return Err(file_on_the_way(self.path, &self.names, &name).into());
        }
        if self.open.len() > MAX_DEPTH {
            return Err(too_deep(self.path).into());
        }
        let here = self.here()?;
        match self.run(&name, Deed::Open, || here.open_dir_nofollow(&name)) {
            Ok(folder) => self.open.push(Arc::new(folder)),
            // It was a folder when it was looked up; never follow what replaced it.
            Err(error) if fault(&error) != PathFault::World => {
                return Err(unfollowable(self.path).into());
            }
            Err(error) => return Err(MountError::new("write", self.path, error).into()),
        }
        self.names.push(name);
        Ok(())
    }

    /// Completes the path where nothing exists from here on down.
    fn arrive_at_nothing(mut self, first: String) -> Result<Destination, Stop> {
        if self.open.first().is_some_and(|root| is_removed(root)) {
            return Err(MountError::gone("write", self.path).into());
        }
        let mut missing = vec![first];
        for step in self.todo.drain(..) {
            // Nothing below a missing folder can be a link, so these are the model's own names.
            missing.push(step.name.to_string_lossy().into_owned());
        }
        let name = missing.pop().unwrap_or_default();
        self.arrive(name, missing, NameHolder::Nothing)
    }

    fn arrive(
        mut self,
        name: String,
        missing: Vec<String>,
        found: NameHolder,
    ) -> Result<Destination, Stop> {
        let mut names = self.names;
        names.extend(missing.iter().cloned());
        names.push(name.clone());
        let path = VPath::new(self.path.mount(), &names.join("/"))
            .ok_or_else(|| unfollowable(self.path))?;
        let folder = self.open.pop().ok_or_else(|| escape(self.path))?;
        Ok(Destination { folder, missing, name, path, found })
    }
}

/// Display of the current folder as a mount path.
struct Here<'w> {
    mount: Mount,
    names: &'w [String],
}

impl fmt::Display for Here<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.mount.name())?;
        self.names.iter().try_for_each(|name| write!(f, "/{name}"))
    }
}

fn dangling(path: &VPath) -> Refusal {
    sandbox(format!("`{path}` goes through a link to something that does not exist."))
        .hint("Nothing is created through such a link; write to another name.")
}

fn too_deep(path: &VPath) -> Refusal {
    let mut start: String = path.to_string().chars().take(60).collect();
    start.push('…');
    Refusal::new(
        RefusalCode::InvalidArguments,
        format!("`{start}` cannot be written: it is more than {MAX_DEPTH} folders deep."),
    )
    .hint("Write to a place further up.")
}

fn file_on_the_way(path: &VPath, names: &[String], name: &str) -> Refusal {
    let mut names = names.to_vec();
    names.push(name.to_owned());
    let what = VPath::new(path.mount(), &names.join("/"))
        .map_or_else(|| "a part of it".to_owned(), |part| format!("`{part}`"));
    Refusal::new(
        RefusalCode::InvalidArguments,
        format!("`{path}` cannot be written: {what} is not a folder."),
    )
    .hint("Write to another name.")
}
