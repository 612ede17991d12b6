//! Where a write really goes: every step down is taken from an open folder, by one name, without following.
//!
//! Links are read and resolved here and not by the system, because the rules about what may be written
//! (`protect`) must be asked about the place behind them.

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
use super::fault::{Fault, fault};
use super::open::{escape, folder, is_removed, reading, sandbox, unfollowable};
use crate::disk::{Deed, Disk};

/// Folders that a written file may be in. Each is held open on the way.
const MAX_DEPTH: usize = 64;
/// As many links as Linux follows.
const MAX_LINKS: usize = 40;

/// The place of a file that is to be written.
pub(super) struct Place {
    /// The last folder on the way that exists.
    pub(super) folder: Arc<Dir>,
    /// Folders below it that do not, from above.
    pub(super) missing: Vec<String>,
    /// The name of the file.
    pub(super) name: String,
    /// The same as a path, with all links resolved.
    pub(super) path: VPath,
    /// What has this name.
    pub(super) found: Found,
}

/// What has the name of a file that is to be written.
pub(super) enum Found {
    /// Nothing had it a moment ago.
    Nothing,
    /// It could be opened.
    Opened(Opened),
    /// It is there, and could not be opened.
    Closed,
}

/// Something that was opened to be read.
pub(super) struct Opened {
    pub(super) file: File,
    pub(super) metadata: Metadata,
}

impl Opened {
    /// Opens what has a name in a folder. A link is not followed, and nothing is waited for.
    pub(super) fn at(folder: &Dir, name: &str) -> io::Result<Self> {
        let file = folder.open_with(name, &reading(FollowSymlinks::No))?;
        let metadata = file.metadata()?;
        Ok(Self { file, metadata })
    }
}

impl Mounts {
    /// Follows a path to where a write to it goes. Nothing is changed.
    pub(super) fn place(&self, path: &VPath) -> Result<Place, Stop> {
        let real = self.real(path);
        let mut way = Way {
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
        way.todo.extend(real.relative().split('/').map(Step::named));
        way.walk()
    }
}

struct Step {
    name: OsString,
    /// Whether a link said so, and not the model.
    linked: bool,
}

impl Step {
    fn named(name: &str) -> Self {
        Self { name: name.into(), linked: false }
    }
}

struct Way<'p> {
    disk: &'p Disk,
    /// What the model wrote.
    path: &'p VPath,
    /// The folders from the mount down to here. One is always left.
    open: Vec<Arc<Dir>>,
    /// Their names, without the mount.
    names: Vec<String>,
    todo: VecDeque<Step>,
    links: usize,
}

impl Way<'_> {
    fn walk(mut self) -> Result<Place, Stop> {
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
                self.run(&name, Deed::Open, || Opened::at(here, &name)).map(Some)
            } else {
                Ok(None)
            };
            let looked = match opened {
                Ok(Some(opened)) if !opened.metadata.is_symlink() => {
                    return self.arrive(name, Vec::new(), Found::Opened(opened));
                }
                Err(error) if fault(&error) == Fault::Missing => Err(error),
                Ok(_) | Err(_) => self.run(&name, Deed::Look, || here.symlink_metadata(&name)),
            };
            match looked {
                Ok(metadata) if metadata.is_symlink() => self.follow(&name)?,
                Ok(_) if is_last => return self.arrive(name, Vec::new(), Found::Closed),
                Ok(metadata) => self.descend(name, &metadata)?,
                Err(error) if fault(&error) == Fault::Missing => {
                    if step.linked {
                        return Err(dangling(self.path).into());
                    }
                    return self.arrive_at_nothing(name);
                }
                Err(error) => return Err(MountError::new("write", self.path, error).into()),
            }
        }
        // A link to a folder, or to `..`.
        Err(folder(self.path).into())
    }

    /// An operation on something in the folder that has been reached.
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
            // It was a link a moment ago.
            Err(_) => return Err(unfollowable(self.path).into()),
        };
        for component in Path::new(&target).components().rev() {
            let name = match component {
                Component::Normal(name) => name.to_owned(),
                Component::ParentDir => "..".into(),
                Component::CurDir => continue,
                Component::RootDir | Component::Prefix(_) => return Err(escape(self.path).into()),
            };
            self.todo.push_front(Step { name, linked: true });
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
            // It was a folder a moment ago; what it is now is not followed.
            Err(error) if fault(&error) != Fault::World => {
                return Err(unfollowable(self.path).into());
            }
            Err(error) => return Err(MountError::new("write", self.path, error).into()),
        }
        self.names.push(name);
        Ok(())
    }

    /// From here on down nothing exists.
    fn arrive_at_nothing(mut self, first: String) -> Result<Place, Stop> {
        if self.open.first().is_some_and(|root| is_removed(root)) {
            return Err(MountError::gone("write", self.path).into());
        }
        let mut missing = vec![first];
        for step in self.todo.drain(..) {
            // Below nothing there are no links, so these are the model's own names.
            missing.push(step.name.to_string_lossy().into_owned());
        }
        let name = missing.pop().unwrap_or_default();
        self.arrive(name, missing, Found::Nothing)
    }

    fn arrive(mut self, name: String, missing: Vec<String>, found: Found) -> Result<Place, Stop> {
        let mut names = self.names;
        names.extend(missing.iter().cloned());
        names.push(name.clone());
        let path = VPath::new(self.path.mount(), &names.join("/"))
            .ok_or_else(|| unfollowable(self.path))?;
        let folder = self.open.pop().ok_or_else(|| escape(self.path))?;
        Ok(Place { folder, missing, name, path, found })
    }
}

/// The folder that has been reached, as text.
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
