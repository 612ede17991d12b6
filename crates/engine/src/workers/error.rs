//! Why a worker does not do a job.

use std::error::Error;
use std::io;

use thiserror::Error;

use crate::runtime::{ResumeError, StartError};
use crate::session::SessionError;
use crate::step_log::Halt;
use crate::store::{RunError, StoreError};

/// An error of the adapters, which the caller that composed the workers knows.
pub type ConnectorError = Box<dyn Error + Send + Sync>;

/// Why a worker does not do a job.
#[derive(Debug, Error)]
pub enum WorkerError {
    /// The slot has a job.
    #[error("it is at work")]
    Busy,
    /// The process shuts down.
    #[error("the server ends")]
    Closing,
    /// All workers are at work.
    #[error("{0} runs are at work already")]
    TooMany(usize),
    /// No thread can be started.
    #[error("no thread could be started: {0}")]
    Thread(io::Error),
    /// The worker panicked.
    #[error("the work on it failed inside the program, which is a bug")]
    Panicked,
    /// The question is answered already, or was withdrawn.
    #[error("this question waits for no answer any more")]
    QuestionClosed,
    /// Another process holds the run that the conversation is about.
    #[error("{0}")]
    RunInUse(String),
    /// The model cannot be opened.
    #[error(transparent)]
    Model(ConnectorError),
    /// The model cannot be opened, but the message of the user is recorded.
    #[error(transparent)]
    ModelAfterMessage(ConnectorError),
    /// The store cannot be opened.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The run cannot be read.
    #[error(transparent)]
    Run(#[from] RunError),
    /// The run or the conversation cannot be started.
    #[error(transparent)]
    Start(#[from] StartError),
    /// The run or the conversation cannot be resumed.
    #[error(transparent)]
    Resume(#[from] ResumeError),
    /// The message cannot be handled.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The journal cannot be written.
    #[error(transparent)]
    Halt(#[from] Halt),
}
