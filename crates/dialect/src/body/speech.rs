//! One message as it is sent.

use std::borrow::Cow;

use crewagent_core::context::holds_object;
use crewagent_core::message::{Message, ToolCall};
use crewagent_core::payload::Payload;
use crewagent_core::prompt;
use crewagent_core::tool::render::render;
use serde_json::{Map, Value as Json, json};

use super::Options;
use super::object::ObjectWriter;
use crate::ids::Ids;
use crate::names::ToolNames;
use crate::profile::{NoWords, Profile, ReasoningEcho, SystemRole};

/// Names of the fields that carry thoughts.
const THOUGHTS: [&str; 3] = ["reasoning_content", "reasoning", "reasoning_text"];
/// Fields of a message that are never sent back as they came.
const OURS: [&str; 5] = ["role", "content", "tool_calls", "tool_call_id", "refusal"];
/// Fields of a call that are never sent back as they came. `index` is for streams.
const OURS_IN_CALLS: [&str; 4] = ["id", "type", "function", "index"];

/// Writer of messages for one provider.
pub(super) struct MessageWriter<'o> {
    pub(super) profile: &'o Profile,
    source: &'o str,
    names: &'o ToolNames,
}

/// Contents of a model's message.
#[derive(Clone, Copy)]
pub(super) struct ModelMessage<'m> {
    pub(super) words: Option<&'m str>,
    pub(super) calls: &'m [ToolCall],
    pub(super) from: Option<&'m str>,
    pub(super) extra: Option<&'m Map<String, Json>>,
}

impl<'m> ModelMessage<'m> {
    /// Reads the contents of a model's message.
    pub(super) fn of(message: &'m Message) -> Self {
        match message {
            Message::Assistant { content, tool_calls, from, extra } => Self {
                words: content.as_deref().filter(|words| !words.trim().is_empty()),
                calls: tool_calls,
                from: from.as_deref(),
                extra: Some(extra),
            },
            Message::System { .. } | Message::User { .. } | Message::Tool { .. } => Self::words(""),
        }
    }

    /// Returns contents that are text alone.
    pub(super) fn words(words: &'m str) -> Self {
        Self { words: Some(words), calls: &[], from: None, extra: None }
    }
}

impl<'o> MessageWriter<'o> {
    pub(super) fn new(options: &Options<'o>, names: &'o ToolNames) -> Self {
        Self { profile: options.profile, source: options.source, names }
    }

    pub(super) fn system(&self, text: &str, out: &mut Vec<u8>) {
        let role = match self.profile.system_role {
            SystemRole::System => "system",
            SystemRole::Developer => "developer",
        };
        plain(role, text, out);
    }

    pub(super) fn user(&self, text: &str, out: &mut Vec<u8>) {
        plain("user", text, out);
    }

    /// Writes text and calls of the model. `ids` are those of the calls.
    pub(super) fn assistant(&self, said: &ModelMessage<'_>, ids: &[String], out: &mut Vec<u8>) {
        let is_ours = said.from.is_none_or(|from| from == self.source);
        let extra = said.extra.filter(|_| is_ours);
        let thoughts = self.thoughts(extra, !said.calls.is_empty());
        let mut message = ObjectWriter::new(out);
        message.put("role", "assistant");
        match (said.words, &thoughts) {
            (words, Some(Thoughts::Part(text))) => message.put("content", &parts(text, words)),
            (Some(words), _) => message.put("content", words),
            (None, _) => match self.profile.no_words {
                NoWords::Null => message.put("content", &Json::Null),
                NoWords::Empty => message.put("content", ""),
            },
        }
        let mut field = None;
        if let Some(Thoughts::Field(name, text)) = &thoughts {
            message.put(name, text);
            field = Some(*name);
        }
        if !said.calls.is_empty() {
            self.calls(said.calls, ids, is_ours, message.key("tool_calls"));
        }
        for key in &self.profile.echo {
            let is_free = !OURS.contains(&key.as_str()) && field != Some(key.as_str());
            let value = extra.and_then(|extra| extra.get(key));
            if let Some(value) = value.filter(|value| is_free && !value.is_null()) {
                message.put(key, value);
            }
        }
        message.end();
    }

    fn calls(&self, calls: &[ToolCall], ids: &[String], is_ours: bool, out: &mut Vec<u8>) {
        for (place, (call, id)) in calls.iter().zip(ids).enumerate() {
            out.push(if place == 0 { b'[' } else { b',' });
            let mut object = ObjectWriter::new(out);
            object.put("id", id);
            object.put("type", "function");
            let mut function = ObjectWriter::new(object.key("function"));
            function.put("name", &self.name(call));
            function.put("arguments", arguments(call));
            function.end();
            let extra = match (is_ours, self.profile.echo_calls) {
                (true, true) => Some(&call.extra),
                (true, false) => None,
                (false, _) => Some(&self.profile.foreign_call_extra),
            };
            for (key, value) in extra.into_iter().flatten() {
                if !OURS_IN_CALLS.contains(&key.as_str()) && !value.is_null() {
                    object.put(key, value);
                }
            }
            object.end();
        }
        out.push(b']');
    }

    /// Writes the result of a call as its model reads it; without one, a note that there is none.
    pub(super) fn answer(
        &self,
        id: &str,
        call: &ToolCall,
        content: Option<&Payload>,
        out: &mut Vec<u8>,
    ) {
        let interrupted;
        let result = match content {
            Some(content) => content.inline().map_or("", |text| text),
            None => {
                interrupted = prompt::interrupted();
                &interrupted
            }
        };
        let mut message = ObjectWriter::new(out);
        message.put("role", "tool");
        message.put("tool_call_id", id);
        message.put("content", &render(&call.name, arguments(call), result));
        message.end();
    }

    /// Returns the name of the called tool.
    pub(super) fn name<'c>(&'c self, call: &'c ToolCall) -> Cow<'c, str> {
        self.names.wire(&call.name)
    }

    /// Returns the ids of calls.
    pub(super) fn ids(&self, calls: &[ToolCall], ids: &mut Ids) -> Vec<String> {
        let next = |call: &ToolCall| ids.next(self.profile.ids, &call.id, &self.name(call));
        calls.iter().map(next).collect()
    }

    fn thoughts<'m>(
        &'m self,
        extra: Option<&'m Map<String, Json>>,
        has_calls: bool,
    ) -> Option<Thoughts<'m>> {
        let profile = self.profile;
        let present = THOUGHTS.into_iter().find_map(|name| {
            let text = extra?.get(name)?.as_str().filter(|text| !text.is_empty())?;
            Some((name, text))
        });
        let field = |came: &'m str| profile.reasoning_field.as_deref().unwrap_or(came);
        match (profile.reasoning, present) {
            (ReasoningEcho::Never, _) => None,
            (ReasoningEcho::AsPart, present) => present.map(|(_, text)| Thoughts::Part(text)),
            (ReasoningEcho::Always | ReasoningEcho::WhenPresent, Some((name, text))) => {
                Some(Thoughts::Field(field(name), text))
            }
            (ReasoningEcho::Always, None) if has_calls => {
                let placeholder = profile.reasoning_placeholder.as_deref().unwrap_or_default();
                Some(Thoughts::Field(field("reasoning_content"), placeholder))
            }
            (ReasoningEcho::Always | ReasoningEcho::WhenPresent, None) => None,
        }
    }
}

/// Form in which thoughts are sent back.
enum Thoughts<'m> {
    /// As a field of the message.
    Field(&'m str, &'m str),
    /// As a part of the content.
    Part(&'m str),
}

fn parts(thoughts: &str, words: Option<&str>) -> Json {
    let mut parts =
        vec![json!({ "type": "thinking", "thinking": [{ "type": "text", "text": thoughts }] })];
    parts.extend(words.map(|words| json!({ "type": "text", "text": words })));
    parts.into()
}

fn plain(role: &str, text: &str, out: &mut Vec<u8>) {
    let mut message = ObjectWriter::new(out);
    message.put("role", role);
    message.put("content", text);
    message.end();
}

/// Returns the arguments as received, if servers can parse them. Otherwise they would refuse every later request.
fn arguments(call: &ToolCall) -> &str {
    match call.arguments.inline() {
        Some(text) if holds_object(call) => text,
        Some(_) | None => "{}",
    }
}
