//! The messages of a request in their order, repaired where providers would refuse them.
//!
//! The form of a message depends on those before it and, while it is held back, on those after it. A message is written
//! once its end is known, so written bytes never change; only what ends a request is written before that, and written
//! anew by the next one.

use std::sync::Arc;

use crewagent_core::message::Message;
use crewagent_core::payload::Payload;

use super::speech::{MessageWriter, ModelMessage};
use crate::ids::Ids;
use crate::profile::{Systems, Users};

/// Substitute for empty input of the user.
const NOTHING: &str = "(nothing)";
/// Prompt for a model that would otherwise be asked nothing.
const GO_ON: &str = "Go on.";
/// Text of the model between a tool's result and the user's message, if the provider requires one.
const SEEN: &str = "I have seen the results.";
/// Separator of merged texts.
const BETWEEN: &str = "\n\n";

/// State of the written messages.
#[derive(Debug, Default)]
pub(super) struct Thread {
    /// Offset of the first message.
    start: usize,
    marks: Vec<Checkpoint>,
    last: MessageRole,
    /// True if a message other than the rules is written.
    is_begun: bool,
    held: Held,
    /// The user's input was empty, and no message has followed.
    is_silent: bool,
    ids: Ids,
    /// Called tools, by their wire names.
    called: Vec<String>,
}

/// Checkpoint at which nothing is held back, so that writing can resume there.
#[derive(Clone, Copy, Debug, Default)]
struct Checkpoint {
    /// Number of messages read up to here.
    seen: usize,
    /// Next message.
    next: usize,
    /// Number of bytes before it.
    bytes: usize,
    ids: usize,
    called: usize,
    last: MessageRole,
    is_begun: bool,
}

/// Role of the last written message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum MessageRole {
    #[default]
    Nobody,
    System,
    User,
    Assistant,
    Tool,
}

/// Messages held back until the next one is known.
#[derive(Debug, Default)]
enum Held {
    #[default]
    Nothing,
    /// System messages that become one.
    Systems(String),
    /// Text of the user, in one or more messages.
    User(String),
    /// Text of the model, in one or more messages.
    Text(Arc<Message>, Option<String>),
    /// Calls, and their results so far.
    Calls(Arc<Message>, Vec<Option<Payload>>),
}

impl Thread {
    /// Returns the called tools, by their wire names.
    pub(super) fn called(&self) -> &[String] {
        &self.called
    }

    /// Rewinds to the last checkpoint that depends on the first `same` messages alone, and returns the next message.
    /// The messages begin at `start` in `out`.
    pub(super) fn rewind(&mut self, same: usize, start: usize, out: &mut Vec<u8>) -> usize {
        self.start = start;
        self.marks.truncate(self.marks.partition_point(|mark| mark.seen <= same));
        let mark = self.marks.last().copied().unwrap_or_default();
        self.ids.truncate(mark.ids);
        self.called.truncate(mark.called);
        self.last = mark.last;
        self.is_begun = mark.is_begun;
        self.held = Held::Nothing;
        self.is_silent = false;
        out.truncate(start + mark.bytes);
        mark.next
    }

    /// Adds the next message.
    pub(super) fn push(
        &mut self,
        speech: &MessageWriter<'_>,
        place: usize,
        message: &Arc<Message>,
        out: &mut Vec<u8>,
    ) {
        match &**message {
            Message::System { content } => self.system(speech, place, content, out),
            Message::User { content } if is_blank(content) => self.silence(),
            Message::User { content } => self.user(speech, place, content, out),
            Message::Assistant { tool_calls, .. } if !tool_calls.is_empty() => {
                self.before_assistant(speech, place, out);
                self.release(speech, place, out);
                self.held = Held::Calls(message.clone(), vec![None; tool_calls.len()]);
            }
            Message::Assistant { content, .. } => {
                if let Some(words) = content.as_deref().filter(|words| !is_blank(words)) {
                    self.words(speech, place, message, words, out);
                }
            }
            Message::Tool { tool_call_id, content } => {
                self.answer(speech, tool_call_id, content, out)
            }
        }
        self.mark(place + 1, place + 1, out);
    }

    /// Writes the messages held back, and ensures that there is one to answer.
    pub(super) fn finish(&mut self, speech: &MessageWriter<'_>, out: &mut Vec<u8>) {
        self.write_held(speech, out);
        match self.last {
            MessageRole::User | MessageRole::Tool => {}
            MessageRole::Nobody | MessageRole::System | MessageRole::Assistant => {
                self.write_user(speech, self.substitute(), out);
            }
        }
    }

    fn system(&mut self, speech: &MessageWriter<'_>, place: usize, text: &str, out: &mut Vec<u8>) {
        if is_blank(text) {
            return;
        }
        match speech.profile.systems {
            Systems::AsTheyStand => {
                self.release(speech, place, out);
                self.next(MessageRole::System, out);
                return speech.system(text, out);
            }
            Systems::OneInFront | Systems::InUser => {}
        }
        match &mut self.held {
            Held::Systems(texts) => join(texts, text),
            Held::Nothing if self.last == MessageRole::Nobody => {
                self.held = Held::Systems(text.to_owned())
            }
            Held::Nothing | Held::User(_) | Held::Text(..) | Held::Calls(..) => {
                self.user(speech, place, text, out)
            }
        }
    }

    /// Notes empty input of the user. Between calls and their results it is ignored.
    fn silence(&mut self) {
        self.is_silent |= !matches!(self.held, Held::Calls(..));
    }

    /// Takes text of the user. It joins text of the user before it, and rules that are to stand in it.
    fn user(&mut self, speech: &MessageWriter<'_>, place: usize, text: &str, out: &mut Vec<u8>) {
        let opening = match (&mut self.held, speech.profile.systems) {
            (Held::User(texts), _) | (Held::Systems(texts), Systems::InUser) => {
                Some(std::mem::take(texts))
            }
            (Held::Systems(_), Systems::AsTheyStand | Systems::OneInFront)
            | (Held::Nothing | Held::Text(..) | Held::Calls(..), _) => None,
        };
        let text = match opening {
            Some(mut texts) => {
                self.held = Held::Nothing;
                join(&mut texts, text);
                texts
            }
            None => {
                self.release(speech, place, out);
                text.to_owned()
            }
        };
        self.is_silent = false;
        match speech.profile.users {
            Users::Joined => self.held = Held::User(text),
            Users::AsTheyStand => self.write_user(speech, &text, out),
        }
    }

    fn words(
        &mut self,
        speech: &MessageWriter<'_>,
        place: usize,
        message: &Arc<Message>,
        words: &str,
        out: &mut Vec<u8>,
    ) {
        self.before_assistant(speech, place, out);
        if let Held::Text(first, joined) = &mut self.held {
            let joined = joined.get_or_insert_with(|| {
                ModelMessage::of(first).words.unwrap_or_default().to_owned()
            });
            join(joined, words);
            return;
        }
        self.release(speech, place, out);
        self.held = Held::Text(message.clone(), None);
    }

    fn answer(
        &mut self,
        speech: &MessageWriter<'_>,
        id: &str,
        content: &Payload,
        out: &mut Vec<u8>,
    ) {
        let Held::Calls(message, answers) = &mut self.held else { return };
        let mut open = ModelMessage::of(message).calls.iter().zip(answers.iter_mut());
        let Some((_, answer)) = open.find(|(call, answer)| call.id == id && answer.is_none())
        else {
            return;
        };
        *answer = Some(content.clone());
        if answers.iter().all(Option::is_some) {
            self.write_held(speech, out);
        }
    }

    /// Writes the substitute for the user's empty input before the model's message, if it is the user's turn.
    fn before_assistant(&mut self, speech: &MessageWriter<'_>, place: usize, out: &mut Vec<u8>) {
        if !self.is_silent {
            return;
        }
        self.release(speech, place, out);
        self.is_silent = false;
        match self.last {
            MessageRole::User | MessageRole::Tool => {}
            MessageRole::Nobody | MessageRole::System | MessageRole::Assistant => {
                self.write_user(speech, NOTHING, out)
            }
        }
    }

    /// Writes the messages held back before the message at `place`.
    fn release(&mut self, speech: &MessageWriter<'_>, place: usize, out: &mut Vec<u8>) {
        if !matches!(self.held, Held::Nothing) {
            self.write_held(speech, out);
            self.mark(place + 1, place, out);
        }
    }

    fn write_held(&mut self, speech: &MessageWriter<'_>, out: &mut Vec<u8>) {
        match std::mem::take(&mut self.held) {
            Held::Nothing => {}
            Held::Systems(mut text) => match speech.profile.systems {
                Systems::AsTheyStand | Systems::OneInFront => {
                    self.next(MessageRole::System, out);
                    speech.system(&text, out);
                }
                // The user has said nothing that they could stand in.
                Systems::InUser => {
                    join(&mut text, self.substitute());
                    self.write_user(speech, &text, out);
                }
            },
            Held::User(text) => self.write_user(speech, &text, out),
            Held::Text(message, joined) => {
                self.begin(speech, out);
                self.next(MessageRole::Assistant, out);
                let said = match &joined {
                    // Extra data of one of them does not apply to all of them.
                    Some(words) => ModelMessage::words(words),
                    None => ModelMessage::of(&message),
                };
                speech.assistant(&said, &[], out);
            }
            Held::Calls(message, answers) => self.write_calls(speech, &message, &answers, out),
        }
    }

    fn write_calls(
        &mut self,
        speech: &MessageWriter<'_>,
        message: &Message,
        answers: &[Option<Payload>],
        out: &mut Vec<u8>,
    ) {
        self.begin(speech, out);
        let said = ModelMessage::of(message);
        for call in said.calls {
            let name = speech.name(call);
            if !self.called.iter().any(|called| *called == name) {
                self.called.push(name.into_owned());
            }
        }
        let ids = speech.ids(said.calls, &mut self.ids);
        self.next(MessageRole::Assistant, out);
        speech.assistant(&said, &ids, out);
        for ((id, call), answer) in ids.iter().zip(said.calls).zip(answers) {
            self.next(MessageRole::Tool, out);
            speech.answer(id, call, answer.as_ref(), out);
        }
    }

    /// Writes a message of the user before the first one of the model, if there is none.
    fn begin(&mut self, speech: &MessageWriter<'_>, out: &mut Vec<u8>) {
        if !self.is_begun {
            self.write_user(speech, GO_ON, out);
        }
    }

    /// Returns the text of a user who said nothing.
    fn substitute(&self) -> &'static str {
        if self.is_silent { NOTHING } else { GO_ON }
    }

    fn write_user(&mut self, speech: &MessageWriter<'_>, text: &str, out: &mut Vec<u8>) {
        if self.last == MessageRole::Tool && speech.profile.speaks_after_tools {
            self.next(MessageRole::Assistant, out);
            speech.assistant(&ModelMessage::words(SEEN), &[], out);
        }
        self.next(MessageRole::User, out);
        speech.user(text, out);
    }

    /// Begins a message of this role.
    fn next(&mut self, role: MessageRole, out: &mut Vec<u8>) {
        if self.last != MessageRole::Nobody {
            out.push(b',');
        }
        self.is_begun |= role != MessageRole::System;
        self.last = role;
    }

    /// Sets a checkpoint if nothing is held back.
    fn mark(&mut self, seen: usize, next: usize, out: &[u8]) {
        if matches!(self.held, Held::Nothing) && !self.is_silent {
            self.marks.push(Checkpoint {
                seen,
                next,
                bytes: out.len() - self.start,
                ids: self.ids.len(),
                called: self.called.len(),
                last: self.last,
                is_begun: self.is_begun,
            });
        }
    }
}

/// Appends a text after a blank line.
fn join(texts: &mut String, text: &str) {
    texts.push_str(BETWEEN);
    texts.push_str(text);
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}
