//! The step log in the journal of a run.

use crewagent_core::event::{Event, EventKind};
use jiff::Timestamp;

use super::queue::RecordQueue;
use super::{EventListener, Halt, Once, StepContext, StepLog, StepRecord, StepWork};
use crate::clock::{self, Clock};
use crate::store::RunFolder;

/// The log of a run in its journal: the records to replay, and the file that receives new ones.
#[derive(Debug)]
pub struct JournalLog {
    /// Holds the journal and the lock of the run.
    folder: RunFolder,
    clock: Clock,
    queue: RecordQueue,
    /// Number of the last event.
    seq: u64,
    /// Events that were emitted but not written yet.
    unwritten: Vec<Event>,
}

impl JournalLog {
    /// Returns the log of a run that this process owns.
    pub(crate) fn new(folder: RunFolder, clock: Clock) -> Self {
        let (queue, seq) = (RecordQueue::default(), folder.journal.last_seq());
        Self { folder, clock, queue, seq, unwritten: Vec::new() }
    }

    fn run_id(&self) -> String {
        self.folder.record.run_id.to_string()
    }

    fn event(&mut self, kind: EventKind, key: Option<&str>, time: Timestamp) -> Event {
        self.seq += 1;
        Event {
            seq: self.seq,
            part: None,
            time: clock::for_events(time),
            run_id: Some(self.run_id()),
            key: key.map(str::to_owned),
            kind,
        }
    }

    /// Writes the emitted events. They survive the end of this process, but not yet a power cut.
    fn write(&mut self) -> Result<(), Halt> {
        if !self.unwritten.is_empty() {
            self.folder.journal.write(&self.unwritten)?;
            self.unwritten.clear();
        }
        Ok(())
    }

    /// Emits an event that is written with the next record.
    fn defer(&mut self, kind: EventKind, listener: &mut EventListener<'_>) {
        let time = self.clock.now();
        let event = self.event(kind, None, time);
        listener(&event);
        self.unwritten.push(event);
    }

    fn record(
        &mut self,
        kind: EventKind,
        key: Option<&str>,
        listener: &mut EventListener<'_>,
    ) -> Result<StepRecord, Halt> {
        self.queue.close();
        let time = self.clock.now();
        let event = self.event(kind, key, time);
        self.unwritten.push(event.clone());
        self.write()?;
        listener(&event);
        Ok(StepRecord { kind: event.kind, time })
    }

    fn work(
        &mut self,
        key: &str,
        work: &mut StepWork<'_>,
        listener: &mut EventListener<'_>,
    ) -> Result<StepRecord, Halt> {
        let kind = work(&mut JournalContext { log: self, listener, now: None, parts: 0 })?;
        self.record(kind, Some(key), listener)
    }
}

impl StepLog for JournalLog {
    fn queue(&mut self, events: Vec<Event>) {
        self.queue = RecordQueue::new(events);
    }

    fn step(
        &mut self,
        key: &str,
        work: &mut StepWork<'_>,
        listener: &mut EventListener<'_>,
    ) -> Result<StepRecord, Halt> {
        match self.queue.result(key)? {
            Some(recorded) => Ok(recorded),
            None => self.work(key, work, listener),
        }
    }

    fn once(
        &mut self,
        key: &str,
        intent: &mut dyn FnMut() -> Result<EventKind, Halt>,
        work: &mut StepWork<'_>,
        listener: &mut EventListener<'_>,
    ) -> Result<Once, Halt> {
        if let Some(outcome) = self.queue.outcome(key)? {
            return Ok(outcome);
        }
        self.record(intent()?, Some(&RecordQueue::intent_key(key)), listener)?;
        self.flush()?;
        self.work(key, work, listener).map(|done| Once::Done(Box::new(done)))
    }

    fn emit(&mut self, kind: EventKind, listener: &mut EventListener<'_>) {
        if !self.is_replaying() && !self.queue.is_emitted(&kind) {
            self.defer(kind, listener);
        }
    }

    fn recorded_signal(&mut self) -> Option<StepRecord> {
        self.queue.signal()
    }

    fn signal(
        &mut self,
        kind: EventKind,
        listener: &mut EventListener<'_>,
    ) -> Result<StepRecord, Halt> {
        self.record(kind, None, listener)
    }

    fn flush(&mut self) -> Result<(), Halt> {
        self.write()?;
        Ok(self.folder.journal.sync()?)
    }

    fn is_replaying(&self) -> bool {
        !self.queue.is_empty()
    }

    fn epoch(&self) -> u64 {
        self.folder.epoch
    }
}

/// The context of a step that is being done.
struct JournalContext<'c, 'l> {
    log: &'c mut JournalLog,
    listener: &'c mut EventListener<'l>,
    now: Option<Timestamp>,
    /// Number of deltas so far.
    parts: u64,
}

impl StepContext for JournalContext<'_, '_> {
    fn now(&mut self) -> Timestamp {
        *self.now.get_or_insert_with(|| self.log.clock.now())
    }

    fn emit(&mut self, kind: EventKind) {
        self.log.defer(kind, self.listener);
    }

    fn emit_delta(&mut self, kind: EventKind) {
        self.parts += 1;
        let time = clock::for_events(self.now());
        (self.listener)(&Event {
            seq: self.log.seq + 1,
            part: Some(self.parts),
            time,
            run_id: Some(self.log.run_id()),
            key: None,
            kind,
        });
    }

    fn flush(&mut self) -> Result<(), Halt> {
        self.log.flush()
    }
}
