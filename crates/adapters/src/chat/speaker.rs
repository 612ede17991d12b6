//! Progress while an answer arrives. Text is batched for a few milliseconds, because readers are slower than models.

use std::sync::mpsc::Sender;
use std::time::Duration;

use crewagent_core::event::{Channel, Reply};
use crewagent_dialect::assemble::AnswerPiece;
use crewagent_engine::model::{Delta, Progress};
use tokio::time::Instant;

use super::exchange::Failed;

/// Maximum delay of text.
const BLINK: Duration = Duration::from_millis(25);

/// Message to the caller that waits for the answer.
#[derive(Debug)]
pub(super) enum Update {
    Progress(Progress),
    Ended(Box<Result<Reply, Failed>>),
}

/// Batches text.
#[derive(Debug)]
pub(super) struct Speaker {
    listener: Sender<Update>,
    channel: Channel,
    text: String,
    last: Option<Instant>,
}

impl Speaker {
    pub(super) fn new(listener: Sender<Update>) -> Self {
        Self { listener, channel: Channel::Text, text: String::new(), last: None }
    }

    /// Adds a piece; it is sent soon.
    pub(super) fn say(&mut self, piece: AnswerPiece<'_>, now: Instant) {
        if self.channel != piece.channel {
            self.flush(now);
            self.channel = piece.channel;
        }
        self.text.push_str(piece.text);
        self.flush_due(now);
    }

    /// Returns the time at which delayed text is due, if there is any.
    pub(super) fn due(&self) -> Option<Instant> {
        (!self.text.is_empty()).then(|| self.last.map_or_else(Instant::now, |last| last + BLINK))
    }

    /// Sends the delayed text.
    pub(super) fn flush(&mut self, now: Instant) {
        if !self.text.is_empty() {
            let text = std::mem::take(&mut self.text);
            let words = Progress::Delta(Delta { channel: self.channel, text });
            // Sending fails only if the caller is gone, and then the text is not needed.
            let _ = self.listener.send(Update::Progress(words));
            self.last = Some(now);
        }
    }

    /// Sends text that was delayed for long enough.
    pub(super) fn flush_due(&mut self, now: Instant) {
        if self.last.is_none_or(|last| last + BLINK <= now) {
            self.flush(now);
        }
    }

    /// Sends the result.
    pub(super) fn end(mut self, result: Result<Reply, Failed>) {
        self.flush(Instant::now());
        let _ = self.listener.send(Update::Ended(Box::new(result)));
    }
}
