//! The mounts: the one place where files are opened for a model.
//!
//! Each mount is a folder held open from the start. Every operation takes a [`VPath`] or a `WritablePath` and
//! goes through that handle, so no path string is ever checked first and used later. Answers, refusals and errors
//! name mount paths only; the real folders are known to whoever opened them, and to nobody else.
//!
//! What is refused, whatever the tool: links that lead out of their mount (absolute ones always do), links of the
//! kernel such as those in `/proc`, pipes, sockets, devices. Links that stay inside are followed; a write through
//! one goes to the file it names, under the rules of that place.
//!
//! What is not prevented: reading a file of another place through a *hard* link, which cannot be told from an
//! ordinary file (writing one is refused); and, where the file system ignores case or the spelling of accents,
//! two names that are one file. Nothing special is done about the latter: the system decides, as for any program.

mod error;
mod fault;
mod list;
mod open;
mod place;
mod protect;
mod read;
mod site;
mod temp;
mod tree;
mod write;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_std::ambient_authority;
use cap_std::fs::Dir;
use crewagent_core::vpath::{Mount, VPath};

use crate::disk::{Deed, Disk};

pub use self::error::{Answer, MountError, OpenError};
pub use self::list::{Kind, Listing, Stat};
pub use self::read::{FileContent, Measured};
pub use self::write::{Before, Target};

pub(crate) use self::tree::{Links, Tree};

/// The real folders behind the mounts.
#[derive(Clone, Debug)]
pub struct Roots {
    /// The user's project.
    pub project: PathBuf,
    /// The package, unpacked in the store.
    pub package: PathBuf,
    /// The run's state, in the store.
    pub state: PathBuf,
}

/// The open mounts of a run.
#[derive(Clone, Debug)]
pub struct Mounts {
    project: Arc<Dir>,
    package: Arc<Dir>,
    state: Arc<Dir>,
    /// The document that `@state/workflow.md` stands for, unless it is the file of that name.
    document: Option<VPath>,
    disk: Disk,
}

impl Mounts {
    /// Opens the folders. From here on they may be renamed without harm.
    pub fn open(roots: &Roots) -> Result<Self, OpenError> {
        Self::open_with(roots, Disk::real())
    }

    /// The same, with every operation passing this disk.
    pub fn open_with(roots: &Roots, disk: Disk) -> Result<Self, OpenError> {
        let open = |mount: Mount, path: &Path| {
            let opened = disk
                .run(mount.name(), Deed::Open, || Dir::open_ambient_dir(path, ambient_authority()));
            opened.map(Arc::new).map_err(|error| OpenError { mount, path: path.to_owned(), error })
        };
        Ok(Self {
            project: open(Mount::Project, &roots.project)?,
            package: open(Mount::Package, &roots.package)?,
            state: open(Mount::State, &roots.state)?,
            document: None,
            disk,
        })
    }

    /// The same mounts, where `@state/workflow.md` stands for the document of this call, or for the run's own.
    #[must_use]
    pub fn of_call(&self, call: Option<u64>) -> Self {
        let document = call.map(|call| VPath::state_document(Some(call)));
        Self { document, ..self.clone() }
    }

    /// Where a path leads, before any link is followed.
    fn real<'p>(&'p self, path: &'p VPath) -> &'p VPath {
        self.document.as_ref().filter(|_| path.is_state_document()).unwrap_or(path)
    }

    /// The folder that a path is below.
    fn root(&self, path: &VPath) -> &Arc<Dir> {
        match path.mount() {
            Mount::Project => &self.project,
            Mount::Package => &self.package,
            Mount::State => &self.state,
        }
    }
}

/// The relative path as the system takes it: the mount itself is `.`.
fn system_path(relative: &str) -> &str {
    if relative.is_empty() { "." } else { relative }
}
