//! Compares the events that a browser received with those that are durable.
//!
//! An event that is emitted before it is written can be lost with the process, and the next process uses its number
//! again. So an offset names the process (the *epoch*) beside the event. An event with a key is written before it is
//! emitted; events after the last of these before the next process resumed are unconfirmed, and are sent again.

use crewagent_core::event::Event;
use crewagent_engine::journal::{JournalError, JournalReader};

use crewagent_engine::workers::Offset;

/// Bytes that are read at a time.
const CHUNK_BYTES: usize = 1 << 20;

/// The durable events of a journal, by the process that wrote them.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Reconciliation {
    /// The last event.
    last: u64,
    /// The last event that was certainly written before it was emitted.
    sure: u64,
    resumes: Vec<RunResume>,
}

/// A process resumed the run.
#[derive(Debug, PartialEq, Eq)]
struct RunResume {
    epoch: u64,
    /// The last event that the processes before had certainly written.
    sure: u64,
}

impl Reconciliation {
    /// Reads a journal to its end.
    pub(super) fn read(reader: &mut JournalReader) -> Result<Self, JournalError> {
        let mut journal = Self::default();
        loop {
            let events = reader.next(CHUNK_BYTES)?;
            if events.is_empty() {
                return Ok(journal);
            }
            events.iter().for_each(|event| journal.take(event));
        }
    }

    fn take(&mut self, event: &Event) {
        self.last = event.seq;
        if let Some(epoch) = event.kind.epoch() {
            self.resumes.push(RunResume { epoch, sure: self.sure });
        }
        if event.key.is_some() {
            self.sure = event.seq;
        }
    }

    /// Returns the epoch of the process that wrote last.
    pub(super) fn last_epoch(&self) -> u64 {
        self.resumes.last().map_or(1, |resume| resume.epoch)
    }

    /// Returns the last event that a subscriber at this offset certainly has as the journal has it.
    pub(super) fn common(&self, at: Offset) -> u64 {
        let later = self.resumes.iter().find(|resume| resume.epoch > at.epoch);
        at.seq.min(later.map_or(self.last, |resume| resume.sure))
    }
}

#[cfg(test)]
mod tests {
    use crewagent_core::event::{ContextCut, Event, EventKind, RunResumed};

    use super::*;

    fn event(seq: u64, key: Option<&str>, epoch: Option<u64>) -> Event {
        let kind = match epoch {
            Some(epoch) => EventKind::from(RunResumed { epoch, ..RunResumed::default() }),
            None => EventKind::from(ContextCut { messages: 1, bytes: 1 }),
        };
        let (part, run_id) = (None, None);
        Event { seq, part, time: String::new(), run_id, key: key.map(str::to_owned), kind }
    }

    /// Keyed, unkeyed, unkeyed of the next process, resumed, keyed, unkeyed.
    fn journal() -> Reconciliation {
        let mut journal = Reconciliation::default();
        for event in [
            event(1, Some("a"), None),
            event(2, None, None),
            event(3, None, None),
            event(4, None, Some(2)),
            event(5, Some("b"), None),
            event(6, None, None),
        ] {
            journal.take(&event);
        }
        journal
    }

    fn check_common(epoch: u64, seq: u64, expected: u64) {
        assert_eq!(journal().common(Offset { epoch, seq, part: 0 }), expected, "{epoch}.{seq}");
    }

    #[test]
    fn events_of_the_same_process_are_confirmed_up_to_the_end_of_the_journal() {
        check_common(2, 5, 5);
        check_common(2, 6, 6);
        check_common(2, 9, 6);
    }

    #[test]
    fn events_of_an_earlier_process_are_confirmed_up_to_its_last_key() {
        check_common(1, 1, 1);
        check_common(1, 2, 1);
        check_common(1, 4, 1);
        check_common(1, 9, 1);
        check_common(0, 3, 1);
    }

    #[test]
    fn an_empty_journal_confirms_nothing() {
        assert_eq!(Reconciliation::default().common(Offset { epoch: 1, seq: 7, part: 0 }), 0);
    }
}
