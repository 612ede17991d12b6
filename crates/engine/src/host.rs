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
use crate::mounts::{Mounts, OpenError};
use crate::step_log::StepLog;
use crate::store::{NewRun, RunError, RunId, RunRecord};

/// A place where durable runs live.
pub trait Host {
    /// The log of its runs.
    type Log: StepLog;

    /// Creates a run, whole or not at all. This process owns it until the log is dropped.
    fn create(&self, new: NewRun) -> Result<Opened<Self::Log>, HostError>;

    /// Takes a run that no process owns, and repairs what the last one left.
    fn open(&self, id: &RunId) -> Result<Opened<Self::Log>, HostError>;
}

/// A run that this process owns.
#[derive(Debug)]
pub struct Opened<L> {
    /// What the run is.
    pub record: RunRecord,
    /// Its log, which replays nothing yet.
    pub log: L,
    /// Its events so far.
    pub events: Vec<Event>,
    /// What was repaired, for the user.
    pub notes: Vec<String>,
    /// Its files.
    pub files: RunFiles,
}

/// The files of a run.
#[derive(Debug)]
pub struct RunFiles {
    /// What its tools see.
    pub mounts: Mounts,
    /// Its long texts.
    pub blobs: Blobs,
    /// The user's folder.
    pub project: PathBuf,
}

/// Why a host cannot create or open a run.
#[derive(Debug, Error)]
pub enum HostError {
    /// The store failed, or another process has the run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A mount cannot be opened.
    #[error(transparent)]
    Mounts(#[from] OpenError),
    /// Another host failed.
    #[error(transparent)]
    Other(Box<dyn Error + Send + Sync>),
}
