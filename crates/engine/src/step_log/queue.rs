//! What was recorded and is to be given back: results and signals, in the order in which they came.

use std::collections::VecDeque;

use crewagent_core::event::{Event, EventKind, Role};

use super::{Halt, Recorded};

/// Records that the program has not come to yet.
#[derive(Debug, Default)]
pub(crate) struct Past {
    given: VecDeque<Event>,
    /// What is noted behind the last of them. The program comes to note it again.
    noted: VecDeque<EventKind>,
}

impl Past {
    /// The results and signals among these events; the rest follows from them.
    pub(crate) fn new(mut events: Vec<Event>) -> Self {
        let counts = |event: &Event| event.key.is_some() || event.kind.role() == Role::Signal;
        let is_cause = |event: &Event| counts(event) || event.kind.role() == Role::Result;
        let behind = events.iter().rposition(is_cause).map_or(events.len(), |last| last + 1);
        let noted = events.split_off(behind).into_iter().map(|event| event.kind);
        let noted = noted.filter(|kind| kind.role() != Role::Delta).collect();
        Self { given: events.into_iter().filter(counts).collect(), noted }
    }

    /// Whether this note stands in the records already. Notes follow from what was given, so they come again in the
    /// same order; only how a long text is kept may differ.
    pub(crate) fn is_noted(&mut self, kind: &EventKind) -> bool {
        if kind.role() == Role::Delta {
            return false;
        }
        match self.noted.pop_front() {
            Some(noted) if noted.name() == kind.name() => true,
            Some(_) => {
                self.noted.clear();
                false
            }
            None => false,
        }
    }

    /// Something new is recorded; what is noted from now on follows from that.
    pub(crate) fn close(&mut self) {
        self.noted.clear();
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.given.is_empty()
    }

    /// Whether the next record is the result of this step.
    pub(crate) fn is_next(&self, key: &str) -> bool {
        self.given.front().is_some_and(|event| event.key.as_deref() == Some(key))
    }

    /// The result of a step, while there are records.
    pub(crate) fn result(&mut self, key: &str) -> Result<Option<Recorded>, Halt> {
        let Some(event) = self.given.pop_front() else { return Ok(None) };
        if event.key.as_deref() == Some(key) {
            return given(event).map(Some);
        }
        let found = event.key.unwrap_or_else(|| "a signal".to_owned());
        Err(Halt::Unfit(format!("{key} is expected, but event {} is {found}", event.seq)))
    }

    /// The signal that comes next, if it is one.
    pub(crate) fn signal(&mut self) -> Option<Recorded> {
        let next = self.given.front()?;
        if next.kind.role() != Role::Signal {
            return None;
        }
        given(self.given.pop_front()?).ok()
    }
}

fn given(event: Event) -> Result<Recorded, Halt> {
    match event.time.parse() {
        Ok(time) => Ok(Recorded { kind: event.kind, time }),
        Err(_) => Err(Halt::Unfit(format!("event {} has no time", event.seq))),
    }
}
