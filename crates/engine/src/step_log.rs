//! The durable log of a run: a step that is recorded is not done again, its record is returned instead.
//!
//! The driver is a program that every process runs from its beginning. While there are records, each step returns what
//! was recorded; from then on the work is done and its result is recorded. So everything that the program decides must
//! follow from the results of steps and from signals: clock, ids, disk and model are reached inside a step alone.
//!
//! On this computer the records are a journal beside the run ([`JournalLog`]); another host brings its own, which passes the
//! suite in `conformance`.

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
pub type Work<'w> = dyn FnMut(&mut dyn StepContext) -> Result<EventKind, Halt> + 'w;

/// Receives every event when it happens.
pub type Listener<'l> = dyn FnMut(&Event) + 'l;

/// A durable log of keyed steps. Keys are unique within a run and come in the order of the program.
pub trait StepLog {
    /// Sets the records to replay, instead of those that are left.
    fn queue(&mut self, events: Vec<Event>);

    /// Returns the record of a step, or does the work and records its result. The work is done at least once, and its
    /// result is recorded once.
    fn step(
        &mut self,
        key: &str,
        work: &mut Work<'_>,
        listener: &mut Listener<'_>,
    ) -> Result<Recorded, Halt>;

    /// Does work at most once: the intent is recorded and durable before the work begins. If a process ended between
    /// intent and result, the outcome is in doubt.
    fn once(
        &mut self,
        key: &str,
        intent: &mut dyn FnMut() -> Result<EventKind, Halt>,
        work: &mut Work<'_>,
        listener: &mut Listener<'_>,
    ) -> Result<Once, Halt>;

    /// Emits an event that follows from the records. A later process does not emit it again.
    fn emit(&mut self, kind: EventKind, listener: &mut Listener<'_>);

    /// Returns the signal that is recorded at this place of the program, if there is one.
    fn recorded_signal(&mut self) -> Option<Recorded>;

    /// Records a signal from outside: the user spoke, another process resumed the run. Only once nothing is left to
    /// replay.
    fn signal(&mut self, kind: EventKind, listener: &mut Listener<'_>) -> Result<Recorded, Halt>;

    /// Makes everything durable that was recorded so far, before an effect that depends on it.
    fn flush(&mut self) -> Result<(), Halt>;

    /// Returns true while there are records that were not replayed.
    fn is_replaying(&self) -> bool;

    /// Returns the number of the process that owns the run. Later ones are higher, so that a zombie can be recognized.
    fn epoch(&self) -> u64;
}

/// The context of one durable step. Of what the work sees through it, only the result is there for a replay.
pub trait StepContext {
    /// Returns the time of the step. The clock is read once, when the time is first asked for.
    fn now(&mut self) -> Timestamp;

    /// Emits an event that follows from the result of this step. It is recorded before the result.
    fn emit(&mut self, kind: EventKind);

    /// Emits a delta, such as a piece of a reply. It is not recorded.
    fn emit_delta(&mut self, kind: EventKind);

    /// Makes everything durable that was recorded so far.
    fn flush(&mut self) -> Result<(), Halt>;
}

/// A record of a result or a signal.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// What happened.
    pub kind: EventKind,
    /// When.
    pub time: Timestamp,
}

/// The outcome of work that must not be done twice.
#[derive(Clone, Debug, PartialEq)]
pub enum Once {
    /// It was done, with this result.
    Done(Box<Recorded>),
    /// It may have happened, or not.
    InDoubt,
}

/// Why a run cannot continue now. It can be resumed.
#[derive(Debug, thiserror::Error)]
pub enum Halt {
    /// The model, or the connection to it.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A file of the project or the run.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// The log, or the long texts that belong to it.
    #[error(transparent)]
    Log(Box<dyn Error + Send + Sync>),
    /// The user stopped it in the middle of a call that can be made again.
    #[error("stopped by the user")]
    Stopped,
    /// It failed before, and nobody knows how far it came.
    #[error("the run failed before; take it over anew")]
    Broken,
    /// The user said more than a run takes.
    #[error(
        "an input may have {limit} bytes, and this one has {bytes}; put it into a file of the project and name that"
    )]
    TooLong {
        /// Its size.
        bytes: usize,
        /// The most that is taken.
        limit: usize,
    },
    /// The records are not those of this program.
    #[error("the journal does not fit: {0}")]
    Unfit(String),
    /// All records were replayed, and there is no world to continue in.
    #[error("the records end here")]
    CaughtUp,
}

impl Halt {
    /// Returns the reason that a run has which rests because of it.
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
