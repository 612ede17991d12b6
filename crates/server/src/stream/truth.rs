//! How much of what a browser was told became part of the journal.
//!
//! What is told before it is written can be lost with the process, and the next process uses its numbers again. So a
//! position names the process (the *epoch*) beside the event. An event with a key is written before it is told; behind
//! the last of these before the next process took over, what was told is in doubt, and is told again.

use crewagent_core::event::{Event, EventKind, RunEvent, RunResumed};
use crewagent_engine::journal::{JournalError, Reader};

use crate::stage::Position;

/// Bytes that are read at a time.
const PIECE: usize = 1 << 20;

/// What a journal says about who wrote it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Truth {
    /// The last event.
    last: u64,
    /// The last event that was certainly written before it was told.
    sure: u64,
    takeovers: Vec<Takeover>,
}

/// A process took the run over.
#[derive(Debug, PartialEq, Eq)]
struct Takeover {
    epoch: u64,
    /// What the processes before had certainly written.
    sure: u64,
}

impl Truth {
    /// Reads a journal to its end.
    pub(super) fn read(reader: &mut Reader) -> Result<Self, JournalError> {
        let mut truth = Self::default();
        loop {
            let events = reader.next(PIECE)?;
            if events.is_empty() {
                return Ok(truth);
            }
            events.iter().for_each(|event| truth.take(event));
        }
    }

    fn take(&mut self, event: &Event) {
        self.last = event.seq;
        if let EventKind::Run(RunEvent::Resumed(RunResumed { epoch, .. })) = &event.kind {
            self.takeovers.push(Takeover { epoch: *epoch, sure: self.sure });
        }
        if event.key.is_some() {
            self.sure = event.seq;
        }
    }

    /// The process that wrote last.
    pub(super) fn last_epoch(&self) -> u64 {
        self.takeovers.last().map_or(1, |takeover| takeover.epoch)
    }

    /// The last event that somebody at this position has as the journal has it, as far as that is sure.
    pub(super) fn common(&self, at: Position) -> u64 {
        let later = self.takeovers.iter().find(|takeover| takeover.epoch > at.epoch);
        at.seq.min(later.map_or(self.last, |takeover| takeover.sure))
    }
}

#[cfg(test)]
mod tests {
    use crewagent_core::event::{ContextCut, Event, EventKind};

    use super::*;

    fn event(seq: u64, key: Option<&str>, epoch: Option<u64>) -> Event {
        let kind = match epoch {
            Some(epoch) => EventKind::from(RunResumed {
                epoch,
                fresh: false,
                state: None,
                callers: Vec::new(),
                calls: 0,
                settings: None,
                notes: Vec::new(),
            }),
            None => EventKind::from(ContextCut { messages: 1, bytes: 1 }),
        };
        let (part, run_id) = (None, None);
        Event { seq, part, time: String::new(), run_id, key: key.map(str::to_owned), kind }
    }

    /// Keyed, noted, noted by the next process, taken over, keyed, noted.
    fn truth() -> Truth {
        let mut truth = Truth::default();
        for event in [
            event(1, Some("a"), None),
            event(2, None, None),
            event(3, None, None),
            event(4, None, Some(2)),
            event(5, Some("b"), None),
            event(6, None, None),
        ] {
            truth.take(&event);
        }
        truth
    }

    fn check_common(epoch: u64, seq: u64, expected: u64) {
        assert_eq!(truth().common(Position { epoch, seq, part: 0 }), expected, "{epoch}.{seq}");
    }

    #[test]
    fn what_the_same_process_told_is_true_as_far_as_the_journal_goes() {
        check_common(2, 5, 5);
        check_common(2, 6, 6);
        check_common(2, 9, 6);
    }

    #[test]
    fn what_an_earlier_process_told_is_true_as_far_as_it_was_surely_written() {
        check_common(1, 1, 1);
        check_common(1, 2, 1);
        check_common(1, 4, 1);
        check_common(1, 9, 1);
        check_common(0, 3, 1);
    }

    #[test]
    fn an_empty_journal_has_nothing_in_common_with_anybody() {
        assert_eq!(Truth::default().common(Position { epoch: 1, seq: 7, part: 0 }), 0);
    }
}
