//! The durable log of a run: a recorded step is not done again, its record is returned instead.
//!
//! The driver is a program that every process runs from its beginning. While there are records, each step returns what
//! was recorded; from then on the work is done and its result is recorded. So everything that the program decides must
//! follow from the results of steps and from signals: only code inside a step reaches clock, ids, disk and model.
//!
//! On this computer the records are a journal beside the run ([`JournalLog`]); another host brings its own log, which
//! must pass the suite in `conformance`.

#[cfg(feature = "conformance")]
pub mod conformance;
mod journal;
mod queue;
mod replay;

use std::error::Error;

use crewagent_core::event::{Event, EventKind, Reason};
use jiff::Timestamp;

pub use self::journal::JournalLog;
pub use self::replay::ReplayLog;
use crate::blobs::BlobError;
use crate::journal::JournalError;
use crate::model::ModelError;
use crate::mounts::MountError;

/// The work of a durable step; what it returns is recorded.
pub type StepWork<'w> = dyn FnMut(&mut dyn StepContext) -> Result<EventKind, Halt> + 'w;

/// A callback that receives every event when it is emitted.
pub type EventListener<'l> = dyn FnMut(&Event) + 'l;

/// A durable log of keyed steps. Keys are unique within a run and come in the order of the program.
pub trait StepLog {
    /// Sets the records to replay, replacing those that are left.
    fn queue(&mut self, events: Vec<Event>);

    /// Returns the record of a step, or does the work and records its result. The work is done at least once, and its
    /// result is recorded once.
    fn step(
        &mut self,
        key: &str,
        work: &mut StepWork<'_>,
        listener: &mut EventListener<'_>,
    ) -> Result<StepRecord, Halt>;

    /// Does work at most once: the intent is recorded and durable before the work begins. If a process ended between
    /// intent and result, the outcome is in doubt.
    fn once(
        &mut self,
        key: &str,
        intent: &mut dyn FnMut() -> Result<EventKind, Halt>,
        work: &mut StepWork<'_>,
        listener: &mut EventListener<'_>,
    ) -> Result<Once, Halt>;

    /// Emits an event that follows from the records. A later process does not emit it again.
    fn emit(&mut self, kind: EventKind, listener: &mut EventListener<'_>);

    /// Returns the signal recorded at this position of the program, if there is one.
    fn recorded_signal(&mut self) -> Option<StepRecord>;

    /// Records a signal from outside, such as a message of the user or a new owner. All records must have been
    /// replayed.
    fn signal(
        &mut self,
        kind: EventKind,
        listener: &mut EventListener<'_>,
    ) -> Result<StepRecord, Halt>;

    /// Makes all records so far durable, before an effect that depends on them.
    fn flush(&mut self) -> Result<(), Halt>;

    /// Returns true while there are records that were not replayed.
    fn is_replaying(&self) -> bool;

    /// Returns the number of the process that owns the run. Later ones are higher, so that a zombie can be recognized.
    fn epoch(&self) -> u64;
}

/// The context of one durable step. Replay sees only the result of what the work did through it.
pub trait StepContext {
    /// Returns the time of the step. The clock is read once, on the first call.
    fn now(&mut self) -> Timestamp;

    /// Emits an event that follows from the result of this step. It is recorded before the result.
    fn emit(&mut self, kind: EventKind);

    /// Emits a delta, such as a piece of a reply. It is not recorded.
    fn emit_delta(&mut self, kind: EventKind);

    /// Makes all records so far durable.
    fn flush(&mut self) -> Result<(), Halt>;
}

/// A record of a result or a signal.
#[derive(Clone, Debug, PartialEq)]
pub struct StepRecord {
    pub kind: EventKind,
    pub time: Timestamp,
}

/// The outcome of work that must not be done twice.
#[derive(Clone, Debug, PartialEq)]
pub enum Once {
    /// The work was done, with this result.
    Done(Box<StepRecord>),
    /// The work may have happened, or not.
    InDoubt,
}

/// Reasons why a run cannot continue now. It can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum Halt {
    /// The model or the connection to it failed.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A file of the project or the run failed.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// The log or the long texts that belong to it failed.
    #[error(transparent)]
    Log(Box<dyn Error + Send + Sync>),
    /// The user stopped the run during a call that can be repeated.
    #[error("stopped by the user")]
    Stopped,
    /// The run failed before, with unknown progress.
    #[error("the run failed before; take it over anew")]
    Broken,
    /// The input exceeds the limit of a run.
    #[error(
        "an input may have {limit} bytes, and this one has {bytes}; put it into a file of the project and name that"
    )]
    TooLong { bytes: usize, limit: usize },
    /// The records do not match this program.
    #[error("the journal does not fit: {0}")]
    Unfit(String),
    /// All records were replayed, and the caller gave no model, files or servers to continue with.
    #[error("the records end here")]
    CaughtUp,
}

impl Halt {
    /// Returns the reason recorded for a run that stops because of this.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Model(_) => Reason::Model,
            Self::Mount(_) | Self::Log(_) => Reason::Disk,
            Self::Stopped => Reason::Stopped,
            Self::Unfit(_) | Self::Broken | Self::TooLong { .. } | Self::CaughtUp => {
                Reason::Internal
            }
        }
    }
}

impl From<JournalError> for Halt {
    fn from(error: JournalError) -> Self {
        Self::Log(Box::new(error))
    }
}

impl From<BlobError> for Halt {
    fn from(error: BlobError) -> Self {
        Self::Log(Box::new(error))
    }
}
