//! The seam between a run and the world: what happened is recorded, and what is recorded does not happen again.
//!
//! The driver is a program that is run from its beginning by every process that takes over a run. While there are
//! records, each step gives what was recorded; from then on it happens. So everything that the program decides must
//! follow from what steps and signals gave it: clock, ids, disk and model are reached inside a step alone.
//!
//! Today the records are a journal beside the run ([`journal::Journaled`]); an engine on other machines can take
//! its place. Both pass the suite in `tests/it/turn.rs`.

pub mod journal;
mod queue;
pub mod replay;

use crewagent_core::event::{EventKind, Reason};
use jiff::Timestamp;
use thiserror::Error;

use crate::blobs::BlobError;
use crate::journal::JournalError;
use crate::model::ModelError;
use crate::mounts::MountError;
use crate::store::random;

/// A durable sequence of steps.
pub trait Turn {
    /// Does the work at least once, and records its result once. Keys are unique within a run and come in the order
    /// of the program.
    fn step(
        &mut self,
        key: &str,
        work: &mut dyn FnMut(&mut Moment<'_>) -> Result<EventKind, Halt>,
    ) -> Result<Recorded, Halt>;

    /// Does the work at most once. If the process ended between intent and result, nobody knows.
    fn once(
        &mut self,
        key: &str,
        intent: EventKind,
        work: &mut dyn FnMut(&mut Moment<'_>) -> Result<EventKind, Halt>,
    ) -> Result<Once, Halt>;

    /// Tells something that follows from what is recorded. It is told once, not again by a later process.
    fn note(&mut self, kind: EventKind);

    /// The signal from outside that is recorded at this place of the program, if there is one.
    fn recorded_signal(&mut self) -> Option<Recorded>;

    /// Records a signal from outside: the user spoke, another process took over. Only where nothing is left to replay.
    fn signal(&mut self, kind: EventKind) -> Result<Recorded, Halt>;

    /// Makes everything durable that was recorded so far, before an effect that depends on it.
    fn flush(&mut self) -> Result<(), Halt>;

    /// Whether everything that was recorded has been given back, so that steps happen from now on.
    fn is_live(&self) -> bool;

    /// Which process of the run this is. Later ones have higher numbers, so that a zombie can be told.
    fn epoch(&self) -> u64;
}

/// What was recorded, and when.
#[derive(Clone, Debug, PartialEq)]
pub struct Recorded {
    /// What happened.
    pub kind: EventKind,
    /// When.
    pub time: Timestamp,
}

/// What came of work that must not be done twice.
#[derive(Clone, Debug, PartialEq)]
pub enum Once {
    /// It was done, with this result.
    Done(Box<Recorded>),
    /// It may have happened, or not.
    InDoubt,
}

/// What a step may know beside what is recorded. It is recorded through the result alone.
pub struct Moment<'m> {
    /// The time.
    pub now: Timestamp,
    tell: &'m mut dyn FnMut(Said),
}

/// What is told while a step is done.
#[derive(Clone, Debug, PartialEq)]
pub enum Said {
    /// It is recorded, before the result.
    Noted(EventKind),
    /// It is not recorded.
    Whispered(EventKind),
}

impl<'m> Moment<'m> {
    /// A moment, with a place for words that are not recorded.
    pub fn new(now: Timestamp, tell: &'m mut dyn FnMut(Said)) -> Self {
        Self { now, tell }
    }

    /// Tells something that belongs to the records, and follows from the result of this step.
    pub fn note(&mut self, kind: EventKind) {
        (self.tell)(Said::Noted(kind));
    }

    /// Tells something that is not recorded, such as a piece of a reply.
    pub fn whisper(&mut self, kind: EventKind) {
        (self.tell)(Said::Whispered(kind));
    }

    /// An id that nobody else has.
    pub fn uuid(&mut self) -> String {
        random(26)
    }
}

/// Why a run cannot go on now. It can be resumed.
#[derive(Debug, Error)]
pub enum Halt {
    /// The model, or the way to it.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// A file of the project or the run.
    #[error(transparent)]
    Mount(#[from] MountError),
    /// The journal.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The blobs.
    #[error(transparent)]
    Blob(#[from] BlobError),
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
}

impl Halt {
    /// What a run that rests because of it says.
    pub fn reason(&self) -> Reason {
        match self {
            Self::Model(_) => Reason::Model,
            Self::Mount(_) | Self::Journal(_) | Self::Blob(_) => Reason::Disk,
            Self::Stopped => Reason::Stopped,
            Self::Unfit(_) | Self::Broken | Self::TooLong { .. } => Reason::Internal,
        }
    }
}
