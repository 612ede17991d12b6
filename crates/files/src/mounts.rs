//! Mounts: the only module that opens files for a model.
//!
//! Each mount is a folder held open from the start. Every operation takes a [`VPath`] or a `WritablePath` and
//! goes through that handle, so no path string is checked first and used later. Answers, refusals and errors
//! name mount paths only; only the caller that opened the mounts knows the real folders.
//!
//! Refused for every tool: links that lead out of their mount (absolute ones always do), magic links of the kernel
//! such as those in `/proc`, pipes, sockets, devices. Links that stay inside are followed; a write through one goes
//! to its target, under the rules for that path.
//!
//! Not prevented: reading a file from elsewhere through a *hard* link, which looks like an ordinary file (writing to
//! one is refused); and, where the file system ignores case or Unicode normalization, two names for one file. The
//! latter gets no special treatment: the system decides, as for any program.

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
use crewagent_core::frame_id::FrameId;
use crewagent_core::vpath::{Mount, VPath};

use crate::disk::{Deed, Disk};

pub use self::error::{MountError, MountResult, OpenError};
pub use self::list::{EntryKind, Listing, Stat};
pub use self::read::{FileContent, Measured};
pub use self::write::{Before, WriteTarget};

pub use self::tree::{Links, MountTree};

/// Real folders behind the mounts.
#[derive(Clone, Debug)]
pub struct Roots {
    pub project: PathBuf,
    /// Package, unpacked in the store.
    pub package: PathBuf,
    /// State folder of the run, in the store.
    pub state: PathBuf,
}

/// Open mounts of a run.
#[derive(Clone, Debug)]
pub struct Mounts {
    project: Arc<Dir>,
    package: Arc<Dir>,
    state: Arc<Dir>,
    /// State document of the active frame, which `@state/workflow.md` then stands for.
    document: Option<VPath>,
    disk: Disk,
}

impl Mounts {
    /// Opens the folders. They may be renamed afterwards.
    pub fn open(roots: &Roots) -> Result<Self, OpenError> {
        Self::open_with(roots, Disk::real())
    }

    /// Opens the folders like [`Mounts::open`], with every operation running through `disk`.
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

    /// Returns the mounts of a frame: `@state/workflow.md` stands for its state document, or for the run's if `None`.
    #[must_use]
    pub fn of_frame(&self, frame: Option<FrameId>) -> Self {
        let document = frame.map(|frame| VPath::state_document(Some(frame)));
        Self { document, ..self.clone() }
    }

    /// Returns the actual path of a path, before links are followed.
    fn real<'p>(&'p self, path: &'p VPath) -> &'p VPath {
        self.document.as_ref().filter(|_| path.is_state_document()).unwrap_or(path)
    }

    /// Returns the open folder of the path's mount.
    fn root(&self, path: &VPath) -> &Arc<Dir> {
        match path.mount() {
            Mount::Project => &self.project,
            Mount::Package => &self.package,
            Mount::State => &self.state,
        }
    }
}

/// Returns the relative path for a system call; `.` for the mount itself.
fn system_path(relative: &str) -> &str {
    if relative.is_empty() { "." } else { relative }
}
