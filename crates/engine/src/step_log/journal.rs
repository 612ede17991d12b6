//! Durable turns on the journal of a run.

use crewagent_core::event::{Event, EventKind};
use jiff::Timestamp;

use super::queue::Past;
use super::{Halt, Moment, Once, Recorded, Said, Turn};
use crate::clock::{self, Clock};
use crate::journal::Journal;

/// The records of a run: those that are still to be given back, and the file that new ones go to.
pub struct Records {
    journal: Journal,
    clock: Clock,
    run_id: String,
    epoch: u64,
    past: Past,
    /// The number of the last event.
    seq: u64,
    /// Told, and not yet written.
    unwritten: Vec<Event>,
}

impl Records {
    /// The records of a run. `past` are the events that the program is to go through again.
    pub fn new(
        journal: Journal,
        clock: Clock,
        run_id: impl Into<String>,
        epoch: u64,
        past: Vec<Event>,
    ) -> Self {
        let seq = journal.last_seq();
        let (past, unwritten) = (Past::new(past), Vec::new());
        Self { journal, clock, run_id: run_id.into(), epoch, past, seq, unwritten }
    }

    /// What is recorded so far is not gone through again.
    pub(crate) fn forget_past(&mut self) {
        self.past = Past::default();
    }

    /// Which process of this run this is.
    pub(crate) fn epoch(&self) -> u64 {
        self.epoch
    }

    /// The time.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    fn event(&mut self, kind: EventKind, key: Option<&str>, time: Timestamp) -> Event {
        self.seq += 1;
        Event {
            seq: self.seq,
            part: None,
            time: clock::for_events(time),
            run_id: Some(self.run_id.clone()),
            key: key.map(str::to_owned),
            kind,
        }
    }
}

/// The records with somebody who listens.
pub struct Journaled<'r> {
    records: &'r mut Records,
    tell: &'r mut dyn FnMut(&Event),
}

impl<'r> Journaled<'r> {
    /// Durable turns on these records. Everything that happens is told.
    pub fn new(records: &'r mut Records, tell: &'r mut dyn FnMut(&Event)) -> Self {
        Self { records, tell }
    }

    /// Writes what was told. It survives the end of this process, not yet that of the machine.
    fn write(&mut self) -> Result<(), Halt> {
        let Records { journal, unwritten, .. } = &mut *self.records;
        if !unwritten.is_empty() {
            journal.write(unwritten)?;
            unwritten.clear();
        }
        Ok(())
    }

    fn record(&mut self, kind: EventKind, key: Option<&str>) -> Result<Recorded, Halt> {
        self.records.past.close();
        let time = self.records.clock.now();
        let event = self.records.event(kind, key, time);
        self.records.unwritten.push(event.clone());
        self.write()?;
        (self.tell)(&event);
        Ok(Recorded { kind: event.kind, time })
    }

    fn work(
        &mut self,
        work: &mut dyn FnMut(&mut Moment<'_>) -> Result<EventKind, Halt>,
    ) -> Result<EventKind, Halt> {
        let now = self.records.clock.now();
        let (records, tell) = (&mut *self.records, &mut *self.tell);
        let mut part = 0;
        let mut say = |said: Said| match said {
            Said::Noted(kind) => {
                let time = records.clock.now();
                let event = records.event(kind, None, time);
                tell(&event);
                records.unwritten.push(event);
            }
            Said::Whispered(kind) => {
                part += 1;
                tell(&Event {
                    seq: records.seq + 1,
                    part: Some(part),
                    time: clock::for_events(now),
                    run_id: Some(records.run_id.clone()),
                    key: None,
                    kind,
                });
            }
        };
        work(&mut Moment::new(now, &mut say))
    }
}

impl Turn for Journaled<'_> {
    fn step(
        &mut self,
        key: &str,
        work: &mut dyn FnMut(&mut Moment<'_>) -> Result<EventKind, Halt>,
    ) -> Result<Recorded, Halt> {
        if let Some(recorded) = self.records.past.result(key)? {
            return Ok(recorded);
        }
        let kind = self.work(work)?;
        self.record(kind, Some(key))
    }

    fn once(
        &mut self,
        key: &str,
        intent: EventKind,
        work: &mut dyn FnMut(&mut Moment<'_>) -> Result<EventKind, Halt>,
    ) -> Result<Once, Halt> {
        let intended = format!("{key}/intent");
        let past = &mut self.records.past;
        if past.result(&intended)?.is_some() {
            let result = if past.is_next(key) { past.result(key)? } else { None };
            return Ok(result.map_or(Once::InDoubt, |done| Once::Done(Box::new(done))));
        }
        self.record(intent, Some(&intended))?;
        self.flush()?;
        let kind = self.work(work)?;
        self.record(kind, Some(key)).map(|done| Once::Done(Box::new(done)))
    }

    fn note(&mut self, kind: EventKind) {
        if self.is_live() && !self.records.past.is_noted(&kind) {
            let time = self.records.clock.now();
            let event = self.records.event(kind, None, time);
            (self.tell)(&event);
            self.records.unwritten.push(event);
        }
    }

    fn recorded_signal(&mut self) -> Option<Recorded> {
        self.records.past.signal()
    }

    fn signal(&mut self, kind: EventKind) -> Result<Recorded, Halt> {
        self.record(kind, None)
    }

    fn flush(&mut self) -> Result<(), Halt> {
        self.write()?;
        Ok(self.records.journal.sync()?)
    }

    fn is_live(&self) -> bool {
        self.records.past.is_empty()
    }

    fn epoch(&self) -> u64 {
        self.records.epoch
    }
}
