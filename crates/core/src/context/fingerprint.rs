//! Digests of requests: one per message, chained, so that the cost of an append depends on the new message alone.

use crewagent_format::integrity::Digest;

use crate::message::Message;
use crate::payload::Payload;
use crate::tool::ToolSpec;

/// Running digest over a list of messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Chain(Digest);

impl Default for Chain {
    fn default() -> Self {
        Self(Digest::of(b"crewagent request 1"))
    }
}

impl Chain {
    /// Appends a message.
    pub(super) fn push(&mut self, message: Digest) {
        self.0 = self.with(message);
    }

    /// Returns the digest combined with a value beside the list.
    pub(super) fn with(self, other: Digest) -> Digest {
        Digest::of(format!("{} {other}", self.0).as_bytes())
    }
}

/// Returns the digest of a message as it is sent. Payloads count by their own digest, so it is the same whether a text
/// is loaded or in a blob.
pub(super) fn message_digest(message: &Message) -> Digest {
    let named = match message {
        Message::System { .. } | Message::User { .. } => None,
        Message::Assistant { content, tool_calls, from, extra } => {
            let mut tool_calls = tool_calls.clone();
            for call in &mut tool_calls {
                call.arguments = by_name(&call.arguments);
            }
            Some(Message::Assistant {
                content: content.clone(),
                tool_calls,
                from: from.clone(),
                extra: extra.clone(),
            })
        }
        Message::Tool { tool_call_id, content } => {
            Some(Message::Tool { tool_call_id: tool_call_id.clone(), content: by_name(content) })
        }
    };
    // A message has only text keys, so it can always be serialized.
    let bytes = serde_json::to_vec(named.as_ref().unwrap_or(message)).unwrap_or_default();
    Digest::of(&bytes)
}

fn by_name(payload: &Payload) -> Payload {
    Payload::Blob { sha256: payload.digest(), bytes: payload.bytes() }
}

/// Returns the digest of a list of tools, computed once for all requests that have them.
pub fn tools_digest(tools: &[ToolSpec]) -> Digest {
    Digest::of(&serde_json::to_vec(tools).unwrap_or_default())
}
