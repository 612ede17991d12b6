//! What is told while an answer comes. Words are gathered for the blink of an eye, because listeners are slower than
//! models.

use std::sync::mpsc::Sender;
use std::time::Duration;

use crewagent_core::event::{Channel, Reply};
use crewagent_dialect::assemble::Piece;
use crewagent_engine::model::{Delta, Progress};
use tokio::time::Instant;

use super::exchange::Failed;

/// Words are held back no longer than this.
const BLINK: Duration = Duration::from_millis(25);

/// What goes to whoever waits for the answer.
#[derive(Debug)]
pub(super) enum Told {
    Progress(Progress),
    Ended(Result<Reply, Failed>),
}

/// Gathers words.
#[derive(Debug)]
pub(super) struct Speaker {
    listener: Sender<Told>,
    channel: Channel,
    text: String,
    last: Option<Instant>,
}

impl Speaker {
    pub(super) fn new(listener: Sender<Told>) -> Self {
        Self { listener, channel: Channel::Text, text: String::new(), last: None }
    }

    /// Takes a piece; it is told soon.
    pub(super) fn say(&mut self, piece: Piece<'_>, now: Instant) {
        if self.channel != piece.channel {
            self.flush(now);
            self.channel = piece.channel;
        }
        self.text.push_str(piece.text);
        self.flush_due(now);
    }

    /// When the words that are held back are due, if there are any.
    pub(super) fn due(&self) -> Option<Instant> {
        (!self.text.is_empty()).then(|| self.last.map_or_else(Instant::now, |last| last + BLINK))
    }

    /// Tells what was held back.
    pub(super) fn flush(&mut self, now: Instant) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            let words = Progress::Words(Delta { channel: self.channel, text });
            // Nobody listens only when the one who waited is gone, and then nobody misses it.
            let _ = self.listener.send(Told::Progress(words));
            self.last = Some(now);
        }
    }

    /// Tells what was held back for long enough.
    pub(super) fn flush_due(&mut self, now: Instant) {
        if self.last.is_none_or(|last| last + BLINK <= now) {
            self.flush(now);
        }
    }

    /// The last word.
    pub(super) fn end(mut self, result: Result<Reply, Failed>) {
        self.flush(Instant::now());
        let _ = self.listener.send(Told::Ended(result));
    }
}
