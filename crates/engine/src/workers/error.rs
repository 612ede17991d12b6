//! Errors of workers.

use std::error::Error;
use std::io;

use thiserror::Error;

use crate::conversation::ConversationError;
use crate::runtime::{ResumeError, StartError};
use crate::step_log::Halt;
use crate::store::{RunError, StoreError};

/// An error of the adapters, whose type the owner of the adapters knows.
pub type ConnectorError = Box<dyn Error + Send + Sync>;

/// Reasons why a worker does not do a job.
#[derive(Debug, Error)]
pub enum WorkerError {
    /// The slot already has a job.
    #[error("it is at work")]
    Busy,
    #[error("the server ends")]
    Closing,
    #[error("{0} runs are at work already")]
    TooMany(usize),
    #[error("no thread could be started: {0}")]
    Thread(io::Error),
    #[error("the work on it failed inside the program, which is a bug")]
    Panicked,
    /// The question was answered or withdrawn.
    #[error("this question waits for no answer any more")]
    QuestionClosed,
    /// Another process holds the active run of the conversation.
    #[error("{0}")]
    RunInUse(String),
    #[error(transparent)]
    Model(ConnectorError),
    /// The model cannot be opened, although the user's message is recorded.
    #[error(transparent)]
    ModelAfterMessage(ConnectorError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Start(#[from] StartError),
    #[error(transparent)]
    Resume(#[from] ResumeError),
    #[error(transparent)]
    Conversation(#[from] ConversationError),
    /// The journal cannot be written, or the model failed.
    #[error(transparent)]
    Halt(#[from] Halt),
}
