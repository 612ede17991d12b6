//! Records to replay: results and signals, in their order.

use std::collections::VecDeque;

use crewagent_core::event::{Event, EventKind, Role};

use super::{Halt, Once, StepRecord};

/// Records that the program has not reached yet.
#[derive(Debug, Default)]
pub(crate) struct RecordQueue {
    records: VecDeque<Event>,
    /// Derived events after the last record. The program will emit them again.
    emitted: VecDeque<EventKind>,
}

impl RecordQueue {
    /// Queues the results and signals among these events; the others follow from them.
    pub(crate) fn new(mut events: Vec<Event>) -> Self {
        let counts = |event: &Event| event.key.is_some() || event.kind.role() == Role::Signal;
        let is_cause = |event: &Event| counts(event) || event.kind.role() == Role::Result;
        let behind = events.iter().rposition(is_cause).map_or(events.len(), |last| last + 1);
        let emitted = events.split_off(behind).into_iter().map(|event| event.kind);
        let emitted = emitted.filter(|kind| kind.role() != Role::Delta).collect();
        Self { records: events.into_iter().filter(counts).collect(), emitted }
    }

    /// Returns true if a derived event is among the records. Derived events come in the same order again; only the
    /// storage of a long text may differ.
    pub(crate) fn is_emitted(&mut self, kind: &EventKind) -> bool {
        // Log-only events; replay ignores them.
        if kind.role() == Role::Delta {
            return false;
        }
        match self.emitted.pop_front() {
            Some(emitted) if emitted.name() == kind.name() => true,
            Some(_) => {
                self.emitted.clear();
                false
            }
            None => false,
        }
    }

    /// Marks that a new record exists, from which the next derived events follow.
    pub(crate) fn close(&mut self) {
        self.emitted.clear();
    }

    /// Returns true once all records were replayed.
    pub(crate) fn is_empty(&self) -> bool {
        self.records.is_empty()
    }

    /// Takes the result of a step, while there are records.
    pub(crate) fn result(&mut self, key: &str) -> Result<Option<StepRecord>, Halt> {
        let Some(event) = self.records.pop_front() else { return Ok(None) };
        if event.key.as_deref() == Some(key) {
            return recorded(event).map(Some);
        }
        let found = event.key.unwrap_or_else(|| "a signal".to_owned());
        Err(Halt::Unfit(format!("{key} is expected, but event {} is {found}", event.seq)))
    }

    /// Takes the outcome of work that must not be done twice, while there are records.
    pub(crate) fn outcome(&mut self, key: &str) -> Result<Option<Once>, Halt> {
        if self.result(&Self::intent_key(key))?.is_none() {
            return Ok(None);
        }
        let next = self.records.front();
        let is_done = next.is_some_and(|event| event.key.as_deref() == Some(key));
        let result = if is_done { self.result(key)? } else { None };
        Ok(Some(result.map_or(Once::InDoubt, |done| Once::Done(Box::new(done)))))
    }

    /// Returns the key of the intent of work that must not be done twice.
    pub(crate) fn intent_key(key: &str) -> String {
        format!("{key}/intent")
    }

    /// Takes the next record if it is a signal.
    pub(crate) fn signal(&mut self) -> Option<StepRecord> {
        let next = self.records.front()?;
        if next.kind.role() != Role::Signal {
            return None;
        }
        recorded(self.records.pop_front()?).ok()
    }
}

fn recorded(event: Event) -> Result<StepRecord, Halt> {
    match event.time.parse() {
        Ok(time) => Ok(StepRecord { kind: event.kind, time }),
        Err(_) => Err(Halt::Unfit(format!("event {} has no time", event.seq))),
    }
}
