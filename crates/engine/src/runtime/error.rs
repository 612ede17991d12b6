//! Why a run cannot be started or taken over. For the user, never for a model.

use std::error::Error;

use crewagent_core::state::document::ChangeError;

use crate::disk::{DiskErrorKind, kind_of};
use crate::documents::NoDocument;
use crate::host::HostError;
use crate::journal::JournalError;
use crate::mounts::OpenError;
use crate::step_log::Halt;
use crate::store::{ProjectError, RunError, RunId, StoreError};

/// Why a run cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The package has no such workflow.
    #[error("there is no workflow `{asked}` in this package; it has {}", known.join(", "))]
    Workflow {
        /// What was asked for.
        asked: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The package has no such agent.
    #[error("there is no agent `{asked}` in this package; it has {}", known.join(", "))]
    Agent {
        /// What was asked for.
        asked: String,
        /// What there is.
        known: Vec<String>,
    },
    /// The first state document cannot be made.
    #[error("the state document of the run cannot be made from the package's template: {0}")]
    Document(#[from] ChangeError),
    /// The project cannot be used.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// A mount cannot be opened.
    #[error(transparent)]
    Mounts(#[from] OpenError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run cannot be made.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The host cannot make the run.
    #[error(transparent)]
    Host(Box<dyn Error + Send + Sync>),
}

impl From<HostError> for StartError {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Run(error) => Self::Run(error),
            HostError::Mounts(error) => Self::Mounts(error),
            HostError::Other(error) => Self::Host(error),
        }
    }
}

/// Why a run cannot be forked.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// The run did not come to a node by this event.
    #[error("run {run} did not come to a node by event {event}")]
    Visit {
        /// The run.
        run: RunId,
        /// The event.
        event: u64,
    },
    /// What a state document held is kept nowhere.
    #[error(
        "run {run} cannot be forked at `{node}`: what {document} held at that moment is no longer kept. Fork it at a later node"
    )]
    Lost {
        /// The run.
        run: RunId,
        /// The node.
        node: String,
        /// The document.
        document: String,
    },
    /// A state document cannot be changed.
    #[error("the state document of the new run cannot be made: {0}")]
    Document(#[from] ChangeError),
    /// Its project cannot be used.
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The run cannot be read, or the new one cannot be made.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run cannot be taken over, so nothing can go on from it.
    #[error(transparent)]
    Resume(#[from] ResumeError),
}

/// Why a run cannot be taken over.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    /// The run cannot be opened.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The package has changed so that the run's workflow is gone.
    #[error("the package of this run has no workflow `{0}`")]
    Workflow(String),
    /// A mount cannot be opened.
    #[error(transparent)]
    Mounts(#[from] OpenError),
    /// The store failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A state document cannot be used.
    #[error(transparent)]
    State(#[from] NoDocument),
    /// The journal cannot be written.
    #[error(transparent)]
    Halt(#[from] Halt),
    /// The host cannot open the run.
    #[error(transparent)]
    Host(Box<dyn Error + Send + Sync>),
}

impl From<HostError> for ResumeError {
    fn from(error: HostError) -> Self {
        match error {
            HostError::Run(error) => Self::Run(error),
            HostError::Mounts(error) => Self::Mounts(error),
            HostError::Other(error) => Self::Host(error),
        }
    }
}

impl ResumeError {
    /// Whether there is too little of something just now, disk space or open files, so that the next try may do better.
    pub(crate) fn may_pass(&self) -> bool {
        let error = match self {
            Self::Run(
                RunError::Disk(disk)
                | RunError::Journal(JournalError::Disk(disk))
                | RunError::Project(ProjectError::Disk(disk)),
            ) => &disk.error,
            Self::Halt(Halt::Log(error)) => match error.downcast_ref() {
                Some(JournalError::Disk(disk)) => &disk.error,
                Some(_) | None => return false,
            },
            Self::State(NoDocument::Mount(mount)) => &mount.error,
            Self::Run(RunError::Store(StoreError::Io { error, .. }))
            | Self::Store(StoreError::Io { error, .. })
            | Self::Mounts(OpenError { error, .. }) => error,
            Self::Run(_)
            | Self::Workflow(_)
            | Self::Store(_)
            | Self::State(_)
            | Self::Halt(_)
            | Self::Host(_) => return false,
        };
        matches!(kind_of(error), DiskErrorKind::Full | DiskErrorKind::Exhausted)
    }
}
