//! Hosts: where durable runs live.
//!
//! A host stores the records of runs and decides which process owns one. The runtime starts and resumes runs on any host;
//! on this computer that is the store ([`LocalHost`]).

mod local;

use std::error::Error;
use std::path::PathBuf;

use crewagent_core::event::Event;
use thiserror::Error;

pub use self::local::LocalHost;
use crate::blobs::Blobs;
use crate::disk::Folder;
use crate::mounts::{Mounts, OpenError};
use crate::step_log::StepLog;
use crate::store::{NewRun, RunError, RunId, RunRecord};

/// A place where durable runs live.
pub trait Host {
    type Log: StepLog;

    /// Creates a run, whole or not at all. This process owns it until the log is dropped.
    fn create(&self, new: NewRun) -> Result<OpenRun<Self::Log>, HostError>;

    /// Opens a run that no process owns, and repairs what the last owner left.
    fn open(&self, id: &RunId) -> Result<OpenRun<Self::Log>, HostError>;
}

/// A run that this process owns.
#[derive(Debug)]
pub struct OpenRun<L> {
    pub record: RunRecord,
    /// Log of the run, which replays nothing yet.
    pub log: L,
    /// Events of the run so far.
    pub events: Vec<Event>,
    /// Repairs, described for the user.
    pub notes: Vec<String>,
    pub files: RunFiles,
}

/// The files of a run.
#[derive(Debug)]
pub struct RunFiles {
    /// Files that its tools see.
    pub mounts: Mounts,
    /// Long texts of the run.
    pub blobs: Blobs,
    /// Folder of the user.
    pub project: PathBuf,
    /// Folder of the run itself, if it is one of a store.
    pub folder: Option<Folder>,
}

/// Reasons why a host cannot create or open a run.
#[derive(Debug, Error)]
pub enum HostError {
    /// The store failed, or another process owns the run.
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Mounts(#[from] OpenError),
    /// A host other than the store failed.
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}
