//! Projects of the store: the user's folders that have runs, and their ids.

mod answers;
mod error;
mod record;

use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

use jiff::Timestamp;

pub use self::error::ProjectError;
use self::record::{ProjectRecord, RECORD};
use super::ids::ProjectId;
use super::runs::lock;
use super::{Flaw, Store};
use crate::disk::{Deed, DiskError, Folder, Opening};
use crate::mounts::{Mounts, Roots};
use crate::private;

/// Lock file, held while projects are changed.
const LOCK: &str = ".lock";
/// Name prefix of what is being created.
pub(super) const STAGING: &str = ".new-";
/// Name prefix of what is being removed.
pub(super) const REMOVED: &str = ".removed-";
/// Folder of a project's runs.
pub(super) const RUNS: &str = "runs";
/// Folder of a project's conversations.
pub(super) const CONVERSATIONS: &str = "conversations";

/// Name of a folder that stays empty.
const NOTHING: &str = ".nothing";

/// Project: a folder of the user that the store knows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Project {
    /// Stays the same when the folder moves.
    pub id: ProjectId,
    /// At first the name of the folder.
    pub name: String,
    pub path: PathBuf,
    /// Package used last, as `name@version`.
    pub last_package: Option<String>,
    /// Time of its first use.
    pub created: Timestamp,
}

/// Projects of the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ProjectListing {
    /// Sorted by name, then by id.
    pub projects: Vec<Project>,
    /// Folders that should be projects and are unreadable.
    pub damaged: Vec<Flaw>,
}

/// Access to the projects of a store.
#[derive(Clone, Copy, Debug)]
pub struct Projects<'s> {
    store: &'s Store,
}

impl Project {
    /// Returns the folder, if it still exists.
    pub fn folder(&self) -> Result<&Path, ProjectError> {
        if self.path.is_dir() {
            Ok(&self.path)
        } else {
            Err(ProjectError::Gone {
                id: self.id.clone(),
                name: self.name.clone(),
                path: self.path.clone(),
            })
        }
    }
}

impl<'s> Projects<'s> {
    pub(super) fn new(store: &'s Store) -> Self {
        Self { store }
    }

    /// Returns the project in a folder, and creates it if it is new.
    pub fn of(&self, path: &Path) -> Result<Project, ProjectError> {
        let path = self.canonical(path)?;
        if let Some(project) = self.at(&path)? {
            return Ok(project);
        }
        let _lock = self.lock()?;
        // Another process may have created it first.
        match self.at(&path)? {
            Some(project) => Ok(project),
            None => self.create(path),
        }
    }

    /// Finds the project in a folder, which need not exist.
    pub fn at(&self, path: &Path) -> Result<Option<Project>, ProjectError> {
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        Ok(self.list()?.projects.into_iter().find(|project| project.path == path))
    }

    /// Lists all projects.
    pub fn list(&self) -> Result<ProjectListing, ProjectError> {
        let mut listing = ProjectListing::default();
        for name in self.folder().names()? {
            // A name that begins with a dot is our temporary folder.
            if name.starts_with('.') {
                continue;
            }
            match self.read(&name) {
                Ok(project) => listing.projects.push(project),
                Err(ProjectError::Unknown { .. }) => {}
                Err(error) => listing.damaged.push(Flaw { name, reason: error.to_string() }),
            }
        }
        listing.projects.sort_by(|one, other| {
            let key = |of: &Project| (of.name.to_lowercase(), of.id.clone());
            key(one).cmp(&key(other))
        });
        Ok(listing)
    }

    /// Returns a project by its id.
    pub fn get(&self, id: &ProjectId) -> Result<Project, ProjectError> {
        self.read(id.as_str())
    }

    /// Finds the project that the user means: by id, start of the id, name or folder.
    pub fn find(&self, reference: &str) -> Result<Project, ProjectError> {
        let all = self.list()?.projects;
        let path = Path::new(reference);
        let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        let exact = |project: &&Project| project.id.as_str() == reference || project.path == path;
        if let Some(project) = all.iter().find(exact) {
            return Ok(project.clone());
        }
        let fits = |project: &&Project| {
            project.name == reference
                || !reference.is_empty() && project.id.as_str().starts_with(reference)
        };
        let found: Vec<&Project> = all.iter().filter(fits).collect();
        match found[..] {
            [project] => Ok(project.clone()),
            [] => Err(ProjectError::Unknown { reference: reference.to_owned() }),
            _ => Err(ProjectError::Ambiguous {
                reference: reference.to_owned(),
                candidates: found.iter().map(|project| project.id.to_string()).collect(),
            }),
        }
    }

    /// Opens a project's files for its user: its own mount, and two empty ones.
    pub fn mounts(&self, project: &Project) -> Result<Mounts, ProjectError> {
        let nothing = self.folder().join(project.id.as_str()).join(NOTHING);
        nothing.ensure()?;
        let roots = Roots {
            project: project.folder()?.to_owned(),
            package: nothing.path().to_owned(),
            state: nothing.path().to_owned(),
        };
        Mounts::open_with(&roots, self.store.disk.clone())
            .map_err(|error| ProjectError::Folder { path: error.path, error: error.error })
    }

    /// Records the new folder of a project.
    pub fn relink(&self, id: &ProjectId, path: &Path) -> Result<Project, ProjectError> {
        let path = self.canonical(path)?;
        let _lock = self.lock()?;
        if let Some(other) = self.at(&path)?.filter(|other| other.id != *id) {
            return Err(ProjectError::Occupied { path, by: other.id });
        }
        let project = Project { path, ..self.get(id)? };
        self.write(&project)?;
        Ok(project)
    }

    /// Gives a project another name.
    pub fn rename(&self, id: &ProjectId, name: &str) -> Result<Project, ProjectError> {
        let _lock = self.lock()?;
        let project = Project { name: name.to_owned(), ..self.get(id)? };
        self.write(&project)?;
        Ok(project)
    }

    /// Records the package used last.
    pub fn used(&self, id: &ProjectId, package: &str) -> Result<(), ProjectError> {
        let _lock = self.lock()?;
        let project = self.get(id)?;
        if project.last_package.as_deref() == Some(package) {
            return Ok(());
        }
        self.write(&Project { last_package: Some(package.to_owned()), ..project })
    }

    /// Removes a project with all its runs from the store. The user's folder is not touched.
    pub fn forget(&self, id: &ProjectId) -> Result<(), ProjectError> {
        let _lock = self.lock()?;
        let folder = self.folder().join(id.as_str());
        if !folder.exists()? {
            return Err(ProjectError::Unknown { reference: id.to_string() });
        }
        for kind in [RUNS, CONVERSATIONS] {
            let runs = folder.join(kind);
            for run in runs.names()? {
                if let Some(holder) = lock::holder(&runs.join(&run))? {
                    return Err(ProjectError::InUse { id: id.clone(), run, holder });
                }
            }
        }
        let removed = self.folder().join(&format!("{REMOVED}{id}"));
        removed.remove_tree()?;
        folder.rename_to(&removed)?;
        self.folder().sync()?;
        removed.remove_tree()?;
        Ok(())
    }

    /// Returns the canonical path of a folder that a run may work in. Refuses one that overlaps with the store: a model
    /// that reached the store through its project could change its own records.
    fn canonical(&self, path: &Path) -> Result<PathBuf, ProjectError> {
        let path = canonical(path)?;
        let home = self.store.root().path().to_owned();
        let home = home.canonicalize().unwrap_or(home);
        if home.starts_with(&path) || path.starts_with(&home) {
            return Err(ProjectError::Overlap { path, home });
        }
        Ok(path)
    }

    /// Returns the folder of all projects.
    pub(super) fn folder(&self) -> Folder {
        self.store.root().join("projects")
    }

    /// Creates a project atomically.
    fn create(&self, path: PathBuf) -> Result<Project, ProjectError> {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let name = if name.is_empty() { "project".to_owned() } else { name };
        let all = self.folder();
        // Under the lock, staged and removed folders are leftovers of a crash.
        for old in all.names()? {
            if old.starts_with(STAGING) || old.starts_with(REMOVED) {
                all.join(&old).remove_tree()?;
            }
        }
        let project = loop {
            let id = ProjectId::fresh(&name);
            if !all.join(id.as_str()).exists()? {
                break Project { id, name, path, last_package: None, created: now() };
            }
        };
        let text = ProjectRecord::of(&project)?;
        let staging = all.join(&format!("{STAGING}{}", project.id));
        staging.create()?;
        staging.write(RECORD, &text, Opening::New)?;
        staging.join(RUNS).create()?;
        staging.sync()?;
        staging.rename_to(&all.join(project.id.as_str()))?;
        all.sync()?;
        Ok(project)
    }

    fn read(&self, name: &str) -> Result<Project, ProjectError> {
        let unknown = || ProjectError::Unknown { reference: name.to_owned() };
        let id = ProjectId::parse(name).map_err(|_| unknown())?;
        let folder = self.folder().join(name);
        match folder.read(RECORD, record::MAX_RECORD) {
            Ok(bytes) => ProjectRecord::read(&bytes, &id),
            Err(error) if error.is_missing() && !folder.exists()? => Err(unknown()),
            Err(error) => Err(error.into()),
        }
    }

    fn write(&self, project: &Project) -> Result<(), ProjectError> {
        let folder = self.folder().join(project.id.as_str());
        Ok(folder.replace(RECORD, &ProjectRecord::of(project)?)?)
    }

    /// Waits until no other process changes projects, but not without end.
    fn lock(&self) -> Result<File, DiskError> {
        let all = self.folder();
        all.ensure()?;
        let file = match all.open(LOCK, Opening::Change) {
            Err(error) if error.is_missing() => all.open(LOCK, Opening::Fresh)?,
            other => other?,
        };
        all.disk()
            .run(all.label_of(LOCK), Deed::Lock, || private::lock(&file, &all.path().join(LOCK)))
            .map_err(all.failed("lock", LOCK))?;
        Ok(file)
    }
}

/// Returns the canonical path of an existing folder; refuses one that is not Unicode.
fn canonical(path: &Path) -> Result<PathBuf, ProjectError> {
    let failed = |error| ProjectError::Folder { path: path.to_owned(), error };
    let real = path.canonicalize().map_err(failed)?;
    if !real.is_dir() {
        return Err(failed(io::ErrorKind::NotADirectory.into()));
    }
    match real.to_str() {
        Some(_) => Ok(real),
        None => Err(ProjectError::NotText { path: real }),
    }
}

/// Returns the current time, cut to seconds.
fn now() -> Timestamp {
    let now = crate::clock::now();
    Timestamp::from_second(now.as_second()).unwrap_or(now)
}
