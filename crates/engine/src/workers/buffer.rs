//! Recent events of one journal in memory. Subscribers pull them, so that a slow subscriber costs nothing.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crewagent_core::event::{
    ActiveRunChanged, AssistantDelta, Channel, ConversationEvent, Event, EventKind, ModelEvent,
};
use schemars::JsonSchema;
use serde::Serialize;

use super::WakeListener;
use crate::store::{JournalId, RunId};

/// Number of buffered events; older ones are only in the journal.
const MAX_EVENTS: usize = 256;
/// Size of the buffered events in bytes, except the last `MIN_EVENTS`.
const MAX_BYTES: usize = 1 << 20;
const MIN_EVENTS: usize = 16;
/// Number of events that one pull returns.
const MAX_BATCH_EVENTS: usize = 64;

/// A subscriber's offset in a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Offset {
    /// Process that emitted the event; later processes have higher numbers.
    pub epoch: u64,
    /// Number of the last whole event.
    pub seq: u64,
    /// Number of deltas seen of the next event.
    pub part: u64,
}

impl Offset {
    /// Returns true at the start of the journal.
    pub fn is_start(self) -> bool {
        self.seq == 0 && self.part == 0
    }
}

/// An event and the journal it belongs to: the data of a frame `event` of the stream.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct JournalEvent {
    /// The journal.
    pub journal: JournalId,
    /// The event.
    pub event: Event,
}

/// An event in the form that subscribers receive.
#[derive(Clone, Debug)]
pub struct BufferedEvent {
    /// Offset after the event.
    pub at: Offset,
    /// JSON of the [`JournalEvent`].
    pub text: Arc<str>,
    /// Run that becomes active in a conversation with this event.
    pub entered_run: Option<RunId>,
}

impl BufferedEvent {
    /// Serializes an event that the process of this epoch emitted.
    pub fn new(journal: &JournalId, event: Event, epoch: u64) -> Self {
        let (seq, part) = match event.part {
            Some(part) => (event.seq.saturating_sub(1), part),
            None => (event.seq, 0),
        };
        let entered_run =
            if let EventKind::Conversation(ConversationEvent::RunChanged(ActiveRunChanged {
                id: Some(id),
                ..
            })) = &event.kind
            {
                RunId::parse(id).ok()
            } else {
                None
            };
        let sent = JournalEvent { journal: journal.clone(), event };
        let text = serde_json::to_string(&sent).unwrap_or_default().into();
        Self { at: Offset { epoch, seq, part }, text, entered_run }
    }
}

/// The result of a pull.
#[derive(Debug)]
pub enum Pull {
    Empty,
    Events(Vec<BufferedEvent>),
    /// The events before this one are only in the journal. The process of this epoch emits them.
    Behind {
        /// First buffered event.
        before: u64,
        epoch: u64,
    },
    /// The subscriber may have events that were never written. The journal decides, up to the process of this epoch.
    Unconfirmed {
        epoch: u64,
    },
    /// No worker has the journal open, so all events are in it.
    Closed,
}

/// Recent events of one journal.
#[derive(Debug)]
pub struct EventBuffer {
    journal: JournalId,
    state: Mutex<BufferState>,
}

#[derive(Debug, Default)]
struct BufferState {
    /// First epoch of a gapless series of events; 0 before the first event.
    first_epoch: u64,
    epoch: u64,
    /// Number of the last whole event.
    last: u64,
    events: VecDeque<BufferedEvent>,
    bytes: usize,
    /// Deltas of the next event.
    deltas: Vec<MergedDelta>,
    is_open: bool,
    listeners: Vec<Weak<WakeListener>>,
}

/// Consecutive deltas of one channel, merged.
#[derive(Debug)]
struct MergedDelta {
    /// First event of the series, without its text.
    event: Event,
    channel: Channel,
    text: String,
    /// Number of each delta, and the offset in the text at which it ends.
    ends: Vec<(u64, usize)>,
}

impl MergedDelta {
    /// Returns the text after the last delta that a subscriber has seen, as one event.
    fn after(&self, seen: u64) -> Option<Event> {
        let last = self.ends.last().map(|(part, _)| *part).filter(|part| *part > seen)?;
        let known = self.ends.iter().rev().find(|(part, _)| *part <= seen);
        let start = known.map_or(0, |(_, end)| *end);
        let mut event = self.event.clone();
        event.part = Some(last);
        if let EventKind::Model(ModelEvent::Delta(AssistantDelta { text, .. })) = &mut event.kind {
            text.push_str(&self.text[start..]);
        }
        Some(event)
    }
}

impl EventBuffer {
    pub(super) fn new(journal: JournalId) -> Self {
        Self { journal, state: Mutex::default() }
    }

    /// Calls a listener after every event, until it is dropped.
    pub fn subscribe(&self, listener: &Arc<WakeListener>) {
        let mut state = self.state();
        state.listeners.retain(|listener| listener.strong_count() > 0);
        state.listeners.push(Arc::downgrade(listener));
    }

    /// Returns true if it is closed and has no listener.
    pub(super) fn is_idle(&self) -> bool {
        let state = self.state();
        !state.is_open && state.listeners.iter().all(|listener| listener.strong_count() == 0)
    }

    /// Opens the buffer for a process of the run, with the events that it has emitted so far.
    pub(super) fn open(&self, epoch: u64, opening: &[Event]) {
        let mut state = self.state();
        let first = opening.iter().find(|event| event.part.is_none()).map(|event| event.seq);
        // The second process continues where the first ended, so there is no gap between them.
        let follows = state.first_epoch > 0 && first == Some(state.last + 1);
        if !follows {
            state.first_epoch = epoch;
            state.clear();
        }
        state.epoch = epoch;
        state.is_open = true;
        for event in opening {
            state.push(&self.journal, event);
        }
        state.notify();
    }

    /// Appends an event.
    pub(super) fn push(&self, event: &Event) {
        let mut state = self.state();
        // A run that starts or resumes inside a conversation names its epoch in an event of its own.
        if event.kind.is_start() && !state.is_open {
            (state.first_epoch, state.epoch) = (1, 1);
        } else if let Some(epoch) = event.kind.epoch() {
            if state.first_epoch == 0 || event.seq != state.last + 1 {
                state.first_epoch = epoch;
                state.clear();
            }
            state.epoch = epoch;
        }
        state.is_open = true;
        state.push(&self.journal, event);
        state.notify();
    }

    /// Closes the buffer when the worker exits. If not all events are written, the last ones may be lost.
    pub(super) fn close(&self, is_written: bool) {
        let mut state = self.state();
        state.is_open = false;
        if !is_written {
            state.first_epoch = 0;
        }
        let last = state.last;
        state.clear();
        state.last = last;
        state.notify();
    }

    /// Returns the events after an offset.
    pub fn pull(&self, at: Offset) -> Pull {
        let state = self.state();
        if !state.is_open {
            return Pull::Closed;
        }
        let is_known =
            (state.first_epoch..=state.epoch).contains(&at.epoch) && at.seq <= state.last;
        if !at.is_start() && !is_known {
            return Pull::Unconfirmed { epoch: state.epoch };
        }
        if at.seq == state.last {
            return state.deltas_after(&self.journal, at.part);
        }
        match state.events.front() {
            Some(line) if line.at.seq <= at.seq + 1 => {
                let seen = state.events.partition_point(|line| line.at.seq <= at.seq);
                Pull::Events(state.events.range(seen..).take(MAX_BATCH_EVENTS).cloned().collect())
            }
            Some(line) => Pull::Behind { before: line.at.seq, epoch: state.epoch },
            None => Pull::Behind { before: state.last + 1, epoch: state.epoch },
        }
    }

    fn state(&self) -> MutexGuard<'_, BufferState> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl BufferState {
    fn push(&mut self, journal: &JournalId, event: &Event) {
        if let Some(part) = event.part {
            return self.push_delta(event, part);
        }
        // A whole event replaces the deltas before it, or voids them.
        self.deltas.clear();
        self.last = event.seq;
        let line = BufferedEvent::new(journal, event.clone(), self.epoch);
        self.bytes += line.text.len();
        self.events.push_back(line);
        while self.events.len() > MAX_EVENTS
            || (self.bytes > MAX_BYTES && self.events.len() > MIN_EVENTS)
        {
            let Some(old) = self.events.pop_front() else { break };
            self.bytes -= old.text.len();
        }
    }

    fn clear(&mut self) {
        self.events.clear();
        self.deltas.clear();
        (self.bytes, self.last) = (0, 0);
    }

    fn notify(&self) {
        self.listeners.iter().filter_map(Weak::upgrade).for_each(|listener| listener());
    }

    fn push_delta(&mut self, event: &Event, part: u64) {
        let EventKind::Model(ModelEvent::Delta(AssistantDelta { text, channel, turn })) =
            &event.kind
        else {
            return;
        };
        if self.deltas.last().is_none_or(|last| last.channel != *channel) {
            let kind = EventKind::from(AssistantDelta {
                text: String::new(),
                channel: *channel,
                turn: *turn,
            });
            let event = Event { kind, ..event.clone() };
            let (text, ends) = (String::new(), Vec::new());
            self.deltas.push(MergedDelta { event, channel: *channel, text, ends });
        }
        if let Some(delta) = self.deltas.last_mut() {
            delta.text.push_str(text);
            delta.ends.push((part, delta.text.len()));
        }
    }

    /// Returns the deltas that a subscriber has not seen, merged by channel.
    fn deltas_after(&self, journal: &JournalId, seen: u64) -> Pull {
        let unseen = self.deltas.iter().filter_map(|delta| delta.after(seen));
        let events: Vec<BufferedEvent> =
            unseen.map(|event| BufferedEvent::new(journal, event, self.epoch)).collect();
        if events.is_empty() { Pull::Empty } else { Pull::Events(events) }
    }
}

#[cfg(test)]
mod tests {
    use crewagent_core::event::ContextCut;

    use super::*;

    fn event(seq: u64, part: Option<u64>, kind: EventKind) -> Event {
        Event { seq, part, time: String::new(), run_id: None, key: None, kind }
    }

    fn delta(part: u64, channel: Channel, text: &str) -> Event {
        event(
            2,
            Some(part),
            EventKind::from(AssistantDelta { turn: 1, text: text.to_owned(), channel }),
        )
    }

    fn whole(seq: u64) -> Event {
        event(seq, None, EventKind::from(ContextCut { messages: 1, bytes: seq }))
    }

    fn buffer() -> EventBuffer {
        let Ok(id) = RunId::parse("a") else { unreachable!("it is an id") };
        EventBuffer::new(JournalId::run(id))
    }

    fn at(epoch: u64, seq: u64, part: u64) -> Offset {
        Offset { epoch, seq, part }
    }

    /// Pulls from an offset, and returns the offset and text of each event.
    fn pull(buffer: &EventBuffer, from: Offset) -> Vec<(Offset, String)> {
        let Pull::Events(events) = buffer.pull(from) else { return Vec::new() };
        let text = |event: &BufferedEvent| {
            let sent: serde_json::Value = serde_json::from_str(&event.text).unwrap();
            sent["event"]["text"].as_str().unwrap_or_default().to_owned()
        };
        events.iter().map(|event| (event.at, text(event))).collect()
    }

    #[test]
    fn deltas_continue_from_the_offset_of_a_subscriber() {
        let buffer = buffer();
        buffer.open(1, &[whole(1)]);
        for (part, channel, text) in [
            (1, Channel::Thinking, "hm "),
            (2, Channel::Thinking, "hm"),
            (3, Channel::Text, "Once "),
            (4, Channel::Text, "upon"),
        ] {
            buffer.push(&delta(part, channel, text));
        }
        let all = [(at(1, 1, 2), "hm hm".to_owned()), (at(1, 1, 4), "Once upon".to_owned())];
        assert_eq!(pull(&buffer, at(1, 1, 0)), all);
        assert_eq!(pull(&buffer, at(1, 1, 1))[0].1, "hm");
        assert_eq!(pull(&buffer, at(1, 1, 3)), [(at(1, 1, 4), "upon".to_owned())]);
        assert!(matches!(buffer.pull(at(1, 1, 4)), Pull::Empty));
        buffer.push(&whole(2));
        assert_eq!(pull(&buffer, at(1, 1, 3)), [(at(1, 2, 0), String::new())]);
    }

    #[test]
    fn a_gap_in_the_numbers_blocks_no_subscriber() {
        let buffer = buffer();
        buffer.open(1, &[whole(1), whole(2)]);
        buffer.push(&whole(4));
        buffer.push(&whole(5));
        let after = |seq| pull(&buffer, at(1, seq, 0)).len();
        assert_eq!([1, 2, 3, 4].map(after), [3, 2, 2, 1]);
    }

    #[test]
    fn events_that_left_the_buffer_are_in_the_journal() {
        let buffer = buffer();
        buffer.open(1, &[whole(1)]);
        (2..=1000).for_each(|seq| buffer.push(&whole(seq)));
        let Pull::Behind { before, epoch } = buffer.pull(at(1, 1, 0)) else { panic!() };
        assert_eq!((before, epoch), (1001 - MAX_EVENTS as u64, 1));
        assert_eq!(pull(&buffer, at(1, before - 1, 0)).len(), MAX_BATCH_EVENTS);
    }

    #[test]
    fn an_offset_of_another_process_is_unconfirmed_unless_it_has_no_gap() {
        let buffer = buffer();
        buffer.open(3, &[whole(7)]);
        assert!(matches!(buffer.pull(at(2, 6, 0)), Pull::Unconfirmed { epoch: 3 }));
        assert!(matches!(buffer.pull(at(3, 9, 0)), Pull::Unconfirmed { epoch: 3 }));
        buffer.close(true);
        assert!(matches!(buffer.pull(at(3, 7, 0)), Pull::Closed));
        buffer.open(4, &[whole(8)]);
        assert_eq!(pull(&buffer, at(3, 7, 0)), [(at(4, 8, 0), String::new())]);
        // Events of a process that failed may be lost.
        buffer.close(false);
        buffer.open(5, &[whole(9)]);
        assert!(matches!(buffer.pull(at(4, 8, 0)), Pull::Unconfirmed { epoch: 5 }));
    }
}
