//! Errors of starting, forking and resuming a run. Their texts are for users, never for models.

use std::error::Error;

use crewagent_core::state::document::ChangeError;
use crewagent_format::wording::did_you_mean;

use crate::disk::{DiskErrorKind, kind_of};
use crate::documents::NoDocument;
use crate::host::HostError;
use crate::journal::JournalError;
use crate::mounts::OpenError;
use crate::step_log::Halt;
use crate::store::{ProjectError, RunError, RunId, StoreError};

fn near(asked: &str, known: &[String]) -> String {
    did_you_mean(asked, known.iter().map(String::as_str))
}

/// Reasons why a run cannot be started.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    #[error("there is no workflow `{asked}` in this package{}; it has {}", near(asked, known), known.join(", "))]
    Workflow { asked: String, known: Vec<String> },
    #[error("there is no agent `{asked}` in this package{}; it has {}", near(asked, known), known.join(", "))]
    Agent { asked: String, known: Vec<String> },
    /// The run cannot go on with a document.
    #[error("the run cannot go on with `{file}`: {why}")]
    Adopt { file: String, why: String },
    /// The initial state document cannot be created.
    #[error("the state document of the run cannot be made from the package's template: {0}")]
    Document(#[from] ChangeError),
    #[error(transparent)]
    Project(#[from] ProjectError),
    #[error(transparent)]
    Mounts(#[from] OpenError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Run(#[from] RunError),
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

/// Reasons why a run cannot be forked.
#[derive(Debug, thiserror::Error)]
pub enum ForkError {
    /// No visit of a node starts at this event.
    #[error("run {run} did not come to a node by event {event}")]
    Visit { run: RunId, event: u64 },
    /// The content of a state document at that visit is stored nowhere.
    #[error(
        "run {run} cannot be forked at `{node}`: what {document} held at that moment is no longer kept. Fork it at a later node"
    )]
    Lost { run: RunId, node: String, document: String },
    /// A state document cannot be changed.
    #[error("the state document of the new run cannot be made: {0}")]
    Document(#[from] ChangeError),
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The run cannot be read, or the new one cannot be created.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run cannot be resumed, so it cannot be forked either.
    #[error(transparent)]
    Resume(#[from] ResumeError),
}

/// Reasons why a run cannot be resumed.
#[derive(Debug, thiserror::Error)]
pub enum ResumeError {
    #[error(transparent)]
    Run(#[from] RunError),
    /// The package was changed and no longer has the run's workflow.
    #[error("the package of this run has no workflow `{0}`")]
    Workflow(String),
    #[error(transparent)]
    Mounts(#[from] OpenError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    State(#[from] NoDocument),
    /// The journal cannot be replayed or written.
    #[error(transparent)]
    Halt(#[from] Halt),
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
    /// Returns true if the computer lacks disk space or open files, so that a retry may succeed.
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
