//! What was recorded and is to be given back: results and signals, in the order in which they came.

use std::collections::VecDeque;

use crewagent_core::event::{Event, Fact};

use super::{Halt, Recorded};

/// Records that the program has not come to yet.
#[derive(Debug, Default)]
pub(crate) struct Past(VecDeque<Event>);

impl Past {
    /// The results and signals among these events; the rest follows from them.
    pub(crate) fn new(events: Vec<Event>) -> Self {
        let counts = |event: &Event| event.key.is_some() || is_signal(&event.fact);
        Self(events.into_iter().filter(counts).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether the next record is the result of this step.
    pub(crate) fn is_next(&self, key: &str) -> bool {
        self.0.front().is_some_and(|event| event.key.as_deref() == Some(key))
    }

    /// The result of a step, while there are records.
    pub(crate) fn result(&mut self, key: &str) -> Result<Option<Recorded>, Halt> {
        let Some(event) = self.0.pop_front() else { return Ok(None) };
        if event.key.as_deref() == Some(key) {
            return given(event).map(Some);
        }
        let found = event.key.unwrap_or_else(|| "a signal".to_owned());
        Err(Halt::Unfit(format!("{key} is expected, but event {} is {found}", event.seq)))
    }

    /// The signal that comes next, if it is one.
    pub(crate) fn signal(&mut self) -> Option<Recorded> {
        let next = self.0.front()?;
        if !is_signal(&next.fact) {
            return None;
        }
        given(self.0.pop_front()?).ok()
    }
}

fn is_signal(fact: &Fact) -> bool {
    matches!(fact, Fact::UserInput { .. } | Fact::RunResumed { .. })
}

fn given(event: Event) -> Result<Recorded, Halt> {
    match event.time.parse() {
        Ok(time) => Ok(Recorded { fact: event.fact, time }),
        Err(_) => Err(Halt::Unfit(format!("event {} has no time", event.seq))),
    }
}
