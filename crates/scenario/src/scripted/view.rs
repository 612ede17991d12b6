//! The parts of a request that a scenario can see.

use std::cell::Cell;

use crewagent_core::message::Message;
use serde_json::Value as Json;

use crewagent_engine::model::{Request, TurnPosition};

/// Request as a scenario sees it.
pub(super) struct RequestView<'r> {
    place: &'r TurnPosition,
    last_message: &'r str,
    /// Messages since the model's last reply; a process that resumes the run adds to them.
    news: Vec<&'r str>,
    /// Last answer of a tool in the request, even if other messages follow it.
    last: Option<Json>,
    /// Answers to the calls of the model's last reply, in the order of the request.
    answers: Vec<Json>,
    /// Number of the current call among several equal ones, from 1.
    number: Cell<u64>,
}

impl<'r> RequestView<'r> {
    pub(super) fn of(request: &'r Request) -> Self {
        let mut answers = Vec::new();
        let mut last = None;
        let mut news = Vec::new();
        let mut is_past = false;
        for message in request.messages.iter().rev() {
            match &**message {
                Message::System { .. } | Message::User { .. } => {}
                Message::Assistant { .. } => is_past = true,
                Message::Tool { content, .. } => {
                    let text = content.inline().map_or("", |text| text);
                    let value = json(text);
                    if last.is_none() {
                        last = Some(value.clone());
                    }
                    if !is_past {
                        answers.insert(0, value);
                    }
                }
            }
            if is_past && last.is_some() {
                break;
            }
            if !is_past {
                news.push(text(message));
            }
        }
        let last_message = request.messages.last().map_or("", |message| text(message));
        Self { place: &request.place, last_message, news, last, answers, number: Cell::new(1) }
    }

    pub(super) fn place(&self) -> &'r TurnPosition {
        self.place
    }

    /// Returns the user's last input, without blanks around it.
    pub(super) fn input(&self) -> Option<&'r str> {
        self.place.input.as_deref().map(str::trim)
    }

    /// Returns the number of the current call among several equal ones, from 1.
    pub(super) fn number(&self) -> u64 {
        self.number.get()
    }

    pub(super) fn set_number(&self, number: u64) {
        self.number.set(number);
    }

    pub(super) fn last_message(&self) -> &'r str {
        self.last_message
    }

    /// Returns true if this text came since the model's last reply.
    pub(super) fn is_news(&self, words: &str) -> bool {
        self.news.iter().any(|text| text.contains(words))
    }

    pub(super) fn last(&self) -> Option<&Json> {
        self.last.as_ref()
    }

    pub(super) fn answers(&self) -> &[Json] {
        &self.answers
    }
}

/// Returns `ok`, the code of a refusal, or a name for any other answer.
pub(super) fn verdict(answer: &Json) -> &str {
    match (answer.get("ok"), answer.pointer("/error/code")) {
        (Some(Json::Bool(true)), _) => "ok",
        (_, Some(Json::String(code))) => code,
        (_, _) => "neither ok nor a refusal",
    }
}

fn json(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_else(|_| text.into())
}

fn text(message: &Message) -> &str {
    match message {
        Message::System { content } | Message::User { content } => content,
        Message::Assistant { content, .. } => content.as_deref().unwrap_or_default(),
        Message::Tool { content, .. } => content.inline().map_or("", |text| text),
    }
}
