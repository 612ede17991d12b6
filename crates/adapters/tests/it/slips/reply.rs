//! Replies of a model as a server streams them: words, thoughts, calls with raw arguments, and the reason of the end.

use serde_json::{Value as Json, json};

use crate::wire::server::{ServerAction, stream};

/// A reply.
#[derive(Clone, Debug, Default)]
pub(crate) struct Reply {
    words: Option<String>,
    thoughts: Option<String>,
    /// Names and arguments, which need not be JSON.
    calls: Vec<(String, String)>,
    finish: Option<&'static str>,
}

/// Returns a reply of words alone.
pub(crate) fn says(words: &str) -> Reply {
    Reply { words: Some(words.to_owned()), ..Reply::default() }
}

/// Returns a reply with nothing in it.
pub(crate) fn nothing() -> Reply {
    Reply::default()
}

/// Returns a reply with one call.
pub(crate) fn call(name: &str, arguments: Json) -> Reply {
    raw(name, &arguments.to_string())
}

/// Returns a reply with one call whose arguments are this text.
pub(crate) fn raw(name: &str, arguments: &str) -> Reply {
    nothing().and_raw(name, arguments)
}

impl Reply {
    /// Adds a call.
    pub(crate) fn and(self, name: &str, arguments: Json) -> Self {
        self.and_raw(name, &arguments.to_string())
    }

    /// Adds a call whose arguments are this text.
    pub(crate) fn and_raw(mut self, name: &str, arguments: &str) -> Self {
        self.calls.push((name.to_owned(), arguments.to_owned()));
        self
    }

    /// Adds the calls of another reply.
    pub(crate) fn and_all(mut self, other: &Self) -> Self {
        self.calls.extend(other.calls.iter().cloned());
        self
    }

    /// Adds words beside the calls.
    pub(crate) fn beside(mut self, words: &str) -> Self {
        self.words = Some(words.to_owned());
        self
    }

    /// Adds thoughts.
    pub(crate) fn thinking(mut self, thoughts: &str) -> Self {
        self.thoughts = Some(thoughts.to_owned());
        self
    }

    /// Ends the reply at the limit of its length.
    pub(crate) fn cut(mut self) -> Self {
        self.finish = Some("length");
        self
    }

    /// Returns the stream of the reply.
    pub(crate) fn stream(&self) -> Vec<ServerAction> {
        let calls: Vec<Json> = self
            .calls
            .iter()
            .enumerate()
            .map(|(at, (name, arguments))| {
                json!({ "index": at, "id": format!("call_{at}"), "type": "function",
                    "function": { "name": name, "arguments": arguments } })
            })
            .collect();
        let mut delta = json!({ "role": "assistant", "content": self.words });
        if let Some(thoughts) = &self.thoughts {
            delta["reasoning_content"] = thoughts.as_str().into();
        }
        if !calls.is_empty() {
            delta["tool_calls"] = calls.into();
        }
        let end = if self.calls.is_empty() { "stop" } else { "tool_calls" };
        let piece = |delta: Json, finish: Json| {
            json!({ "id": "x", "object": "chat.completion.chunk", "model": "m",
                "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }] })
        };
        stream(&[piece(delta, Json::Null), piece(json!({}), self.finish.unwrap_or(end).into())])
    }
}
