//! A step log that only replays: it does no work and writes nothing.

use crewagent_core::event::{Event, EventKind};

use super::queue::RecordQueue;
use super::{EventListener, Halt, Once, StepLog, StepRecord, StepWork};

/// Records of a run, replayed to reconstruct how it got where it is.
#[derive(Debug)]
pub struct ReplayLog(RecordQueue);

impl ReplayLog {
    /// Returns a log that replays these events.
    pub fn new(events: Vec<Event>) -> Self {
        Self(RecordQueue::new(events))
    }
}

impl StepLog for ReplayLog {
    fn queue(&mut self, events: Vec<Event>) {
        self.0 = RecordQueue::new(events);
    }

    fn step(
        &mut self,
        key: &str,
        _: &mut StepWork<'_>,
        _: &mut EventListener<'_>,
    ) -> Result<StepRecord, Halt> {
        self.0.result(key)?.ok_or(Halt::CaughtUp)
    }

    fn once(
        &mut self,
        key: &str,
        _: &mut dyn FnMut() -> Result<EventKind, Halt>,
        _: &mut StepWork<'_>,
        _: &mut EventListener<'_>,
    ) -> Result<Once, Halt> {
        self.0.outcome(key)?.ok_or(Halt::CaughtUp)
    }

    fn emit(&mut self, _: EventKind, _: &mut EventListener<'_>) {}

    fn recorded_signal(&mut self) -> Option<StepRecord> {
        self.0.signal()
    }

    fn signal(&mut self, _: EventKind, _: &mut EventListener<'_>) -> Result<StepRecord, Halt> {
        Err(Halt::CaughtUp)
    }

    fn flush(&mut self) -> Result<(), Halt> {
        Ok(())
    }

    fn is_replaying(&self) -> bool {
        !self.0.is_empty()
    }

    fn epoch(&self) -> u64 {
        0
    }
}
