//! Turns that are only gone through again: nothing happens, and nothing is written.

use crewagent_core::event::{Event, EventKind};

use super::queue::Past;
use super::{Halt, Moment, Once, Recorded, Turn};

/// The records of a run, for one who wants to know what led to what.
#[derive(Debug)]
pub struct Replayed(Past);

impl Replayed {
    /// Goes through these events.
    pub fn new(events: Vec<Event>) -> Self {
        Self(Past::new(events))
    }
}

impl Turn for Replayed {
    fn step(
        &mut self,
        key: &str,
        _: &mut dyn FnMut(&mut Moment<'_>) -> Result<EventKind, Halt>,
    ) -> Result<Recorded, Halt> {
        self.0.result(key)?.ok_or_else(|| over(key))
    }

    fn once(
        &mut self,
        key: &str,
        _: EventKind,
        _: &mut dyn FnMut(&mut Moment<'_>) -> Result<EventKind, Halt>,
    ) -> Result<Once, Halt> {
        if self.0.result(&format!("{key}/intent"))?.is_none() {
            return Err(over(key));
        }
        let result = if self.0.is_next(key) { self.0.result(key)? } else { None };
        Ok(result.map_or(Once::InDoubt, |done| Once::Done(Box::new(done))))
    }

    fn note(&mut self, _: EventKind) {}

    fn recorded_signal(&mut self) -> Option<Recorded> {
        self.0.signal()
    }

    fn signal(&mut self, _: EventKind) -> Result<Recorded, Halt> {
        Err(over("a signal"))
    }

    fn flush(&mut self) -> Result<(), Halt> {
        Ok(())
    }

    fn is_live(&self) -> bool {
        self.0.is_empty()
    }

    fn epoch(&self) -> u64 {
        0
    }
}

fn over(what: &str) -> Halt {
    Halt::Unfit(format!("the records end before {what}"))
}
