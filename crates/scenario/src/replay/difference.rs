//! Finds the message, and the line of it, in which a request differs from the recorded one.

use std::sync::Arc;

use crewagent_core::event::RequestSummary;
use crewagent_core::message::Message;
use crewagent_core::payload::Payload;
use crewagent_engine::model::Request;
use crewagent_format::wording::cut;
use serde_json::{Map, Value as Json};

use super::lines::difference;
use super::{BlobFinder, RecordedRun};

/// Maximum number of characters shown of a line.
const LINE_CHARS: usize = 120;

/// Returns the first difference that helps the user. The journal keeps the runtime's messages of a request and the
/// answers of models and tools, so those are compared; the request itself is not kept.
pub(super) fn explain(
    recording: &RecordedRun,
    recorded: &RequestSummary,
    request: &Request,
    blobs: &BlobFinder,
) -> String {
    let compared = Compared { recording, recorded, request, blobs };
    let found = compared
        .runtime_message()
        .or_else(|| compared.tool_answer())
        .or_else(|| compared.model_words())
        .or_else(|| compared.new_message())
        .unwrap_or_else(|| compared.sizes());
    let place = &request.place;
    let node = place.node_id.as_ref().map(|node| format!(" at node `{node}`")).unwrap_or_default();
    format!("The request of turn {}{node} is not the recorded one. {found}", place.turn)
}

struct Compared<'c> {
    recording: &'c RecordedRun,
    recorded: &'c RequestSummary,
    request: &'c Request,
    blobs: &'c BlobFinder,
}

impl Compared<'_> {
    /// Finds a message that the runtime now writes differently.
    fn runtime_message(&self) -> Option<String> {
        let mut from = 0;
        for old in &self.recorded.added {
            let later = self.request.messages.get(from..).unwrap_or_default();
            if let Some(at) = later.iter().position(|new| **new == *old) {
                from += at + 1;
                continue;
            }
            let matching = |new: &&Arc<Message>| kind(new) == kind(old) && title(new) == title(old);
            let title = described(old);
            return Some(match self.request.messages.iter().rev().find(matching) {
                Some(new) if **new == *old => {
                    format!("Message {title} stands in another place.")
                }
                Some(new) => format!(
                    "In {}, {}",
                    self.numbered(new),
                    difference(text(old).unwrap_or_default(), text(new).unwrap_or_default())
                ),
                None => format!("The recorded message {title} is missing:\n{}", head(old)),
            });
        }
        None
    }

    /// Finds a tool with another answer.
    fn tool_answer(&self) -> Option<String> {
        self.request.messages.iter().find_map(|message| {
            let Message::Tool { tool_call_id, content } = &**message else { return None };
            let mut earlier = self.recording.answers.iter().rev();
            let old = earlier.find(|answer| {
                answer.turn < self.request.place.turn && answer.call_id == *tool_call_id
            });
            let where_from = self.numbered(message);
            match old {
                None => {
                    Some(format!("{} answers a call that was not recorded.", capital(&where_from)))
                }
                Some(old) if old.result.digest() == content.digest() => None,
                Some(old) => match (self.fetch(&old.result), self.fetch(content)) {
                    (Some(old), Some(new)) => {
                        Some(format!("In {where_from}, {}", of_answers(&old, &new)))
                    }
                    (_, _) => Some(format!("{} is another answer.", capital(&where_from))),
                },
            }
        })
    }

    /// Finds text of a model that no recorded reply has.
    fn model_words(&self) -> Option<String> {
        let replies = || self.recording.turns.values().filter_map(|turn| turn.reply.as_ref());
        let new = self.request.messages.iter().find(|message| match &***message {
            Message::Assistant { content: Some(words), .. } => {
                !replies().any(|reply| reply.content.as_deref() == Some(words))
            }
            Message::Assistant { content: None, .. }
            | Message::System { .. }
            | Message::User { .. }
            | Message::Tool { .. } => false,
        })?;
        Some(format!("{} is not a recorded reply:\n{}", capital(&self.numbered(new)), head(new)))
    }

    /// Finds a message of the runtime that no recorded request has had so far. An answer to a question is in later
    /// requests as input of the user, which is recorded as such.
    fn new_message(&self) -> Option<String> {
        let turns = self.recording.turns.range(..=self.request.place.turn);
        let known: Vec<&Message> = turns
            .filter_map(|(_, turn)| turn.request.as_ref())
            .flat_map(|request| &request.added)
            .collect();
        let inputs: Vec<Arc<str>> =
            self.recording.inputs.iter().filter_map(|input| self.fetch(input)).collect();
        let is_new = |message: &Message| match message {
            Message::System { .. } => !known.contains(&message),
            Message::User { content } => {
                !known.contains(&message) && !inputs.iter().any(|input| content.contains(&**input))
            }
            Message::Assistant { .. } | Message::Tool { .. } => false,
        };
        let new = self.request.messages.iter().find(|message| is_new(message))?;
        Some(format!("{} was not there:\n{}", capital(&self.numbered(new)), head(new)))
    }

    /// Describes the sizes, if every message is known.
    fn sizes(&self) -> String {
        let bytes: u64 = self.request.messages.iter().map(|message| message.bytes()).sum();
        format!(
            "It has {} messages of {bytes} bytes, the recorded one had {} of {}. Every message is known, so their order, an earlier message that is missing, or the tools differ.",
            self.request.messages.len(),
            self.recorded.messages,
            self.recorded.bytes
        )
    }

    fn fetch(&self, payload: &Payload) -> Option<Arc<str>> {
        match payload {
            Payload::Inline(text) => Some(text.clone()),
            Payload::Blob { sha256, .. } => (self.blobs)(*sha256),
        }
    }

    fn numbered(&self, message: &Arc<Message>) -> String {
        let messages = &self.request.messages;
        let at = messages.iter().position(|other| Arc::ptr_eq(other, message)).unwrap_or_default();
        format!("message {} of {} {}", at + 1, messages.len(), described(message))
    }
}

/// Describes the difference of two answers. They are JSON objects on one line, so the most informative key is compared
/// by itself: a text of several lines rather than its digest.
fn of_answers(old: &str, new: &str) -> String {
    let object = |text: &str| serde_json::from_str::<Map<String, Json>>(text).ok();
    let (Some(before), Some(after)) = (object(old), object(new)) else {
        return difference(old, new);
    };
    let differing = before.iter().filter(|(key, value)| after.get(*key) != Some(*value));
    let keys: Vec<&String> = differing.map(|(key, _)| key).collect();
    let has_lines =
        |key: &&&String| before.get(**key).is_some_and(|value| shown(value).contains('\n'));
    match keys.iter().find(has_lines).or(keys.first()) {
        Some(key) => {
            let (one, two) = (before.get(*key), after.get(*key));
            let text = |value: Option<&Json>| value.map(shown).unwrap_or_default();
            format!("`{key}`, {}", difference(&text(one), &text(two)))
        }
        None => difference(old, new),
    }
}

fn shown(value: &Json) -> String {
    match value {
        Json::String(text) => text.clone(),
        Json::Null | Json::Bool(_) | Json::Number(_) => value.to_string(),
        Json::Array(_) | Json::Object(_) => format!("{value:#}"),
    }
}

fn described(message: &Message) -> String {
    match title(message) {
        "" => format!("({})", kind(message)),
        title => format!("({}, {})", kind(message), cut(title, LINE_CHARS)),
    }
}

/// Returns the first line of a runtime message, which names it, or the call that a tool answers.
fn title(message: &Message) -> &str {
    match message {
        Message::System { content } | Message::User { content } => {
            content.lines().next().unwrap_or_default()
        }
        Message::Assistant { .. } => "",
        Message::Tool { tool_call_id, .. } => tool_call_id,
    }
}

fn kind(message: &Message) -> &'static str {
    match message {
        Message::System { .. } => "system",
        Message::User { .. } => "user",
        Message::Assistant { .. } => "assistant",
        Message::Tool { .. } => "tool",
    }
}

fn text(message: &Message) -> Option<&str> {
    match message {
        Message::System { content } | Message::User { content } => Some(content),
        Message::Assistant { content, .. } => content.as_deref(),
        Message::Tool { content, .. } => content.inline().map(|text| &**text),
    }
}

/// Returns the beginning of a message.
fn head(message: &Message) -> String {
    let lines = text(message).unwrap_or_default().lines().take(5);
    lines.map(|line| format!("  {}", cut(line, LINE_CHARS))).collect::<Vec<_>>().join("\n")
}

fn capital(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}
