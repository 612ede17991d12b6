//! The delivery of a reply: in pieces, at once or at the speed of speech.

use std::time::Duration;

use crewagent_core::event::Channel;

use crewagent_engine::cancel::Deadline;
use crewagent_engine::model::{Delta, ModelError, ModelErrorKind, Progress};

/// Maximum time between two checks of the deadline.
const NAP: Duration = Duration::from_millis(5);

/// Speed of a scripted model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pace {
    /// Characters in one piece, at least 1.
    pub characters: usize,
    /// Delay after each piece.
    pub delay: Duration,
}

/// Sender of a reply, piece by piece, until the deadline.
pub(super) struct Teller<'t> {
    pub(super) tell: &'t mut dyn FnMut(Progress),
    pub(super) until: &'t Deadline,
    pub(super) pace: Option<Pace>,
}

impl Teller<'_> {
    /// Sends a text. Without a pace every word is a piece and there is no delay.
    pub(super) fn speak(&mut self, channel: Channel, text: &str) -> Result<(), ModelError> {
        let mut rest = text;
        loop {
            if self.until.is_over() {
                return Err(cancelled());
            }
            if rest.is_empty() {
                return Ok(());
            }
            let end = match self.pace {
                Some(pace) => end_of_characters(rest, pace.characters.max(1)),
                None => end_of_word(rest),
            };
            let (piece, later) = rest.split_at(end);
            (self.tell)(Progress::Delta(Delta { channel, text: piece.to_owned() }));
            rest = later;
            self.pause();
        }
    }

    /// Waits until the deadline.
    pub(super) fn hang(&self) -> ModelError {
        while !self.until.is_over() {
            std::thread::sleep(NAP);
        }
        cancelled()
    }

    fn pause(&self) {
        let mut left = self.pace.map_or(Duration::ZERO, |pace| pace.delay);
        while !left.is_zero() && !self.until.is_over() {
            let nap = left.min(NAP);
            std::thread::sleep(nap);
            left -= nap;
        }
    }
}

fn cancelled() -> ModelError {
    ModelError::new(ModelErrorKind::Cancelled, "The reply was cancelled.")
}

/// Returns the end of a word and the blanks after it.
fn end_of_word(text: &str) -> usize {
    let blank = text.find(char::is_whitespace).unwrap_or(text.len());
    let after = text.get(blank..).unwrap_or_default();
    blank + after.find(|c: char| !c.is_whitespace()).unwrap_or(after.len())
}

fn end_of_characters(text: &str, characters: usize) -> usize {
    text.char_indices().nth(characters).map_or(text.len(), |(at, _)| at)
}
