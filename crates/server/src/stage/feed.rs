//! What happens in one journal, for those who listen. Listeners pull, so a slow one costs nothing.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use crewagent_core::event::{
    ActiveRunChanged, AssistantDelta, Channel, ConversationEvent, Event, EventKind, ModelEvent,
    RunEvent, RunResumed,
};
use crewagent_engine::store::RunId;
use tokio::sync::Notify;

use crate::wire::{Journal, Told};

/// Events that are kept at hand; older ones are in the journal.
const MAX_RECENT: usize = 256;
/// And their size, but for the last ones.
const MAX_BYTES: usize = 1 << 20;
const MIN_RECENT: usize = 16;
/// Events that are given at once.
const BATCH: usize = 64;

/// How far somebody has followed a journal.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Position {
    /// The process that told it; each later one has a higher number.
    pub(crate) epoch: u64,
    /// The last whole event.
    pub(crate) seq: u64,
    /// How many pieces of the next one.
    pub(crate) part: u64,
}

impl Position {
    /// Nothing was followed yet.
    pub(crate) fn is_start(self) -> bool {
        self.seq == 0 && self.part == 0
    }
}

/// An event as it is sent.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    pub(crate) at: Position,
    pub(crate) text: Arc<str>,
    /// The run that a conversation goes on with from here.
    pub(crate) brings: Option<RunId>,
}

impl Line {
    /// A whole event, told by this process of its run.
    pub(crate) fn of(journal: &Journal, event: Event, epoch: u64) -> Self {
        let (seq, part) = match event.part {
            Some(part) => (event.seq.saturating_sub(1), part),
            None => (event.seq, 0),
        };
        let brings =
            if let EventKind::Conversation(ConversationEvent::RunChanged(ActiveRunChanged {
                id: Some(id),
            })) = &event.kind
            {
                RunId::parse(id).ok()
            } else {
                None
            };
        let told = Told { journal: journal.clone(), event };
        let text = serde_json::to_string(&told).unwrap_or_default().into();
        Self { at: Position { epoch, seq, part }, text, brings }
    }
}

/// What a feed has for a listener.
#[derive(Debug)]
pub(crate) enum Pulled {
    /// Nothing new.
    Nothing,
    /// These.
    Lines(Vec<Line>),
    /// What comes before this event is in the journal alone. This process tells it.
    Behind {
        /// The first event that is at hand.
        before: u64,
        epoch: u64,
    },
    /// What the listener has may not be what became of it. The journal tells, up to what this process tells.
    Doubt { epoch: u64 },
    /// Nobody here is at work on it: the journal is all there is.
    Asleep,
}

/// What happens in one journal.
#[derive(Debug)]
pub(crate) struct Feed {
    journal: Journal,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
struct State {
    /// The processes whose events are known to follow on each other without a gap: from the first to the last.
    /// 0 when this server has told nothing yet.
    first_epoch: u64,
    epoch: u64,
    /// The last whole event.
    last: u64,
    recent: VecDeque<Line>,
    bytes: usize,
    /// The pieces of the event that is still to come.
    pieces: Vec<Piece>,
    is_awake: bool,
    listeners: Vec<Weak<Notify>>,
}

/// Words of a reply for the same ear, as one text.
#[derive(Debug)]
struct Piece {
    /// The event that began it, without its words.
    event: Event,
    channel: Channel,
    text: String,
    /// Where in the text each piece ends, with its number.
    ends: Vec<(u64, usize)>,
}

impl Piece {
    /// The words behind those that somebody has seen, as one event.
    fn behind(&self, seen: u64) -> Option<Event> {
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

impl Feed {
    pub(crate) fn new(journal: Journal) -> Self {
        Self { journal, state: Mutex::default() }
    }

    /// Rings when something happens.
    pub(crate) fn listen(&self, bell: &Arc<Notify>) {
        let mut state = self.state();
        state.listeners.retain(|bell| bell.strong_count() > 0);
        state.listeners.push(Arc::downgrade(bell));
    }

    /// Whether nobody needs it any more.
    pub(crate) fn is_idle(&self) -> bool {
        let state = self.state();
        !state.is_awake && state.listeners.iter().all(|bell| bell.strong_count() == 0)
    }

    /// A process of the run begins, with what it told so far.
    pub(crate) fn wake(&self, epoch: u64, opening: &[Event]) {
        let mut state = self.state();
        let first = opening.iter().find(|event| event.part.is_none()).map(|event| event.seq);
        // Nothing is lost between two processes if the second goes on where the first ended.
        let follows = state.first_epoch > 0 && first == Some(state.last + 1);
        if !follows {
            state.first_epoch = epoch;
            state.forget();
        }
        state.epoch = epoch;
        state.is_awake = true;
        for event in opening {
            state.take(&self.journal, event);
        }
        state.ring();
    }

    /// Something happened.
    pub(crate) fn tell(&self, event: &Event) {
        let mut state = self.state();
        // A run that is begun or gone on with in the middle of a conversation says itself which process it is.
        let begins = matches!(
            event.kind,
            EventKind::Run(RunEvent::Started(_))
                | EventKind::Conversation(ConversationEvent::Started(_))
        );
        if begins && !state.is_awake {
            (state.first_epoch, state.epoch) = (1, 1);
        } else if let EventKind::Run(RunEvent::Resumed(RunResumed { epoch, .. })) = &event.kind {
            if state.first_epoch == 0 || event.seq != state.last + 1 {
                state.first_epoch = *epoch;
                state.forget();
            }
            state.epoch = *epoch;
        }
        state.is_awake = true;
        state.take(&self.journal, event);
        state.ring();
    }

    /// The process leaves the run. What was told is in the journal, or else may be lost.
    pub(crate) fn sleep(&self, is_kept: bool) {
        let mut state = self.state();
        state.is_awake = false;
        if !is_kept {
            state.first_epoch = 0;
        }
        let last = state.last;
        state.forget();
        state.last = last;
        state.ring();
    }

    /// What comes behind a position.
    pub(crate) fn pull(&self, at: Position) -> Pulled {
        let state = self.state();
        if !state.is_awake {
            return Pulled::Asleep;
        }
        let is_known =
            (state.first_epoch..=state.epoch).contains(&at.epoch) && at.seq <= state.last;
        if !at.is_start() && !is_known {
            return Pulled::Doubt { epoch: state.epoch };
        }
        if at.seq == state.last {
            return state.pieces_behind(&self.journal, at.part);
        }
        match state.recent.front() {
            Some(line) if line.at.seq <= at.seq + 1 => {
                let heard = state.recent.partition_point(|line| line.at.seq <= at.seq);
                Pulled::Lines(state.recent.range(heard..).take(BATCH).cloned().collect())
            }
            Some(line) => Pulled::Behind { before: line.at.seq, epoch: state.epoch },
            None => Pulled::Behind { before: state.last + 1, epoch: state.epoch },
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn take(&mut self, journal: &Journal, event: &Event) {
        if let Some(part) = event.part {
            return self.take_piece(event, part);
        }
        // Whatever came is the whole of it, or makes it void.
        self.pieces.clear();
        self.last = event.seq;
        let line = Line::of(journal, event.clone(), self.epoch);
        self.bytes += line.text.len();
        self.recent.push_back(line);
        while self.recent.len() > MAX_RECENT
            || (self.bytes > MAX_BYTES && self.recent.len() > MIN_RECENT)
        {
            let Some(old) = self.recent.pop_front() else { break };
            self.bytes -= old.text.len();
        }
    }

    fn forget(&mut self) {
        self.recent.clear();
        self.pieces.clear();
        (self.bytes, self.last) = (0, 0);
    }

    fn ring(&self) {
        self.listeners.iter().filter_map(Weak::upgrade).for_each(|bell| bell.notify_one());
    }

    fn take_piece(&mut self, event: &Event, part: u64) {
        let EventKind::Model(ModelEvent::Delta(AssistantDelta { text, channel, turn })) =
            &event.kind
        else {
            return;
        };
        if self.pieces.last().is_none_or(|last| last.channel != *channel) {
            let kind = EventKind::from(AssistantDelta {
                text: String::new(),
                channel: *channel,
                turn: *turn,
            });
            let event = Event { kind, ..event.clone() };
            let (text, ends) = (String::new(), Vec::new());
            self.pieces.push(Piece { event, channel: *channel, text, ends });
        }
        if let Some(piece) = self.pieces.last_mut() {
            piece.text.push_str(text);
            piece.ends.push((part, piece.text.len()));
        }
    }

    /// The pieces that somebody has not seen; those for the same ear as one.
    fn pieces_behind(&self, journal: &Journal, seen: u64) -> Pulled {
        let unseen = self.pieces.iter().filter_map(|piece| piece.behind(seen));
        let lines: Vec<Line> = unseen.map(|event| Line::of(journal, event, self.epoch)).collect();
        if lines.is_empty() { Pulled::Nothing } else { Pulled::Lines(lines) }
    }
}

#[cfg(test)]
mod tests {
    use crewagent_core::event::ContextCut;

    use super::*;

    fn event(seq: u64, part: Option<u64>, kind: EventKind) -> Event {
        Event { seq, part, time: String::new(), run_id: None, key: None, kind }
    }

    fn piece(part: u64, channel: Channel, text: &str) -> Event {
        event(
            2,
            Some(part),
            EventKind::from(AssistantDelta { turn: 1, text: text.to_owned(), channel }),
        )
    }

    fn whole(seq: u64) -> Event {
        event(seq, None, EventKind::from(ContextCut { messages: 1, bytes: seq }))
    }

    fn feed() -> Feed {
        let Ok(id) = RunId::parse("a") else { unreachable!("it is an id") };
        Feed::new(Journal::run(id))
    }

    fn at(epoch: u64, seq: u64, part: u64) -> Position {
        Position { epoch, seq, part }
    }

    /// The positions that a pull leads to, and the words of each piece.
    fn pulled(feed: &Feed, from: Position) -> Vec<(Position, String)> {
        let Pulled::Lines(lines) = feed.pull(from) else { return Vec::new() };
        let words = |line: &Line| {
            let told: serde_json::Value = serde_json::from_str(&line.text).unwrap();
            told["event"]["text"].as_str().unwrap_or_default().to_owned()
        };
        lines.iter().map(|line| (line.at, words(line))).collect()
    }

    #[test]
    fn pieces_come_from_where_somebody_left_off() {
        let feed = feed();
        feed.wake(1, &[whole(1)]);
        for (part, channel, text) in [
            (1, Channel::Thinking, "hm "),
            (2, Channel::Thinking, "hm"),
            (3, Channel::Text, "Once "),
            (4, Channel::Text, "upon"),
        ] {
            feed.tell(&piece(part, channel, text));
        }
        let all = [(at(1, 1, 2), "hm hm".to_owned()), (at(1, 1, 4), "Once upon".to_owned())];
        assert_eq!(pulled(&feed, at(1, 1, 0)), all);
        assert_eq!(pulled(&feed, at(1, 1, 1))[0].1, "hm");
        assert_eq!(pulled(&feed, at(1, 1, 3)), [(at(1, 1, 4), "upon".to_owned())]);
        assert!(matches!(feed.pull(at(1, 1, 4)), Pulled::Nothing));
        feed.tell(&whole(2));
        assert_eq!(pulled(&feed, at(1, 1, 3)), [(at(1, 2, 0), String::new())]);
    }

    #[test]
    fn a_number_that_is_left_out_holds_nobody_up() {
        let feed = feed();
        feed.wake(1, &[whole(1), whole(2)]);
        feed.tell(&whole(4));
        feed.tell(&whole(5));
        let behind = |seq| pulled(&feed, at(1, seq, 0)).len();
        assert_eq!([1, 2, 3, 4].map(behind), [3, 2, 2, 1]);
    }

    #[test]
    fn what_is_no_longer_at_hand_is_in_the_journal() {
        let feed = feed();
        feed.wake(1, &[whole(1)]);
        (2..=1000).for_each(|seq| feed.tell(&whole(seq)));
        let Pulled::Behind { before, epoch } = feed.pull(at(1, 1, 0)) else { panic!() };
        assert_eq!((before, epoch), (1001 - MAX_RECENT as u64, 1));
        assert_eq!(pulled(&feed, at(1, before - 1, 0)).len(), BATCH);
    }

    #[test]
    fn another_process_is_doubted_unless_it_goes_on_where_the_last_one_ended() {
        let feed = feed();
        feed.wake(3, &[whole(7)]);
        assert!(matches!(feed.pull(at(2, 6, 0)), Pulled::Doubt { epoch: 3 }));
        assert!(matches!(feed.pull(at(3, 9, 0)), Pulled::Doubt { epoch: 3 }));
        feed.sleep(true);
        assert!(matches!(feed.pull(at(3, 7, 0)), Pulled::Asleep));
        feed.wake(4, &[whole(8)]);
        assert_eq!(pulled(&feed, at(3, 7, 0)), [(at(4, 8, 0), String::new())]);
        // What a process told that failed may be lost.
        feed.sleep(false);
        feed.wake(5, &[whole(9)]);
        assert!(matches!(feed.pull(at(4, 8, 0)), Pulled::Doubt { epoch: 5 }));
    }
}
