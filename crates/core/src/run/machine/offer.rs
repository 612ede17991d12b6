//! The question with which a run begins that found a half-done document.

use std::sync::Arc;

use jiff::Timestamp;

use super::{Effect, Machine, Rest};
use crate::adoption::Adoption;
use crate::event::{Phase, Reason};

impl Machine {
    /// Adds a document that the run can go on with; the user is asked first.
    #[must_use]
    pub fn with_offer(mut self, offer: Option<Adoption>) -> Self {
        self.offer = offer.map(Box::new);
        self
    }

    /// Returns the document that the user is asked about.
    pub fn offer(&self) -> Option<&Adoption> {
        self.offer.as_deref()
    }

    /// Asks the user about the document. Returns false if there is none.
    pub(super) fn ask_about_offer(&mut self, effects: &mut Vec<Effect>) -> bool {
        let Some(offer) = &self.offer else { return false };
        let question = offer.question();
        let options = question.options.iter().enumerate();
        let options = options.map(|(at, option)| format!("{}. {}", at + 1, option.shown()));
        let options: Vec<String> = options.collect();
        let message = Some(format!("{} {}", question.question, options.join("; ")));
        let reason = Some(Reason::Question);
        let phase = Phase::WaitingUser;
        self.rest(Rest { phase, reason, message, question: Some(question) }, effects);
        true
    }

    /// Takes the user's word about the document: the run begins at its entry. A run that continues with the document is
    /// placed there instead, and words that are no answer wait for the first request. Returns false if nothing was asked.
    pub(super) fn answered_offer(
        &mut self,
        words: &Arc<str>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) -> bool {
        let Some(offer) = &self.offer else { return false };
        if offer.answer(words).is_err() {
            self.waiting.push(words.clone());
            return self.ask_about_offer(effects);
        }
        self.offer = None;
        self.ask_model(now, effects);
        true
    }
}
