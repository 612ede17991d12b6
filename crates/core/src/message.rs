//! The messages of a conversation with a model, in the shape of chat completions.

use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use crate::payload::Payload;

/// Maximum bytes of the ids of the calls in one reply. Some providers keep a signature of several KiB in an id.
const IDS_BYTES: usize = 16 << 10;
/// Maximum bytes of a tool's name; that of a known tool is far shorter.
const NAME_BYTES: usize = 256;

/// One message.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "role", rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Message {
    /// Rules of the runtime.
    System {
        /// The text.
        content: Arc<str>,
    },
    /// Message of the runtime or the user.
    User {
        /// The text.
        content: Arc<str>,
    },
    /// Message of the model.
    Assistant {
        /// Text; none when it only called tools.
        content: Option<Arc<str>>,
        /// The tools it called.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        tool_calls: Vec<ToolCall>,
        /// Model that wrote it, where that matters: `profile/model`. Data that one provider expects back, another
        /// refuses.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        from: Option<Arc<str>>,
        /// Other data that the provider sent and expects back, such as `reasoning_content`.
        #[serde(flatten)]
        extra: Map<String, Json>,
    },
    /// Answer of a tool.
    Tool {
        /// The call it answers.
        tool_call_id: String,
        /// The answer, a JSON object as text.
        content: Payload,
    },
}

/// A call of a tool, as the model wrote it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(from = "WireCall", into = "WireCall")]
#[cfg_attr(
    feature = "ts",
    derive(ts_rs::TS),
    ts(
        type = "{ id: string, type: \"function\", function: { name: string, arguments: Payload } }"
    )
)]
pub struct ToolCall {
    /// The call's id, unique within its reply.
    pub id: String,
    /// The tool's name as the model wrote it: `fs.read` or `fs_read`.
    pub name: String,
    /// The arguments: a JSON object as text, if the model did well.
    pub arguments: Payload,
    /// Other data that the provider sent with the call and expects back.
    pub extra: Map<String, Json>,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct WireCall {
    id: String,
    #[serde(rename = "type")]
    kind: FunctionKind,
    function: WireFunction,
    #[serde(flatten)]
    extra: Map<String, Json>,
}

#[derive(Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
enum FunctionKind {
    #[default]
    Function,
}

#[derive(Serialize, Deserialize, JsonSchema)]
struct WireFunction {
    name: String,
    arguments: Payload,
}

/// Room for the ids of the calls in one reply. Every later request repeats them, and they are never cut.
#[derive(Debug)]
pub struct IdRoom {
    left: usize,
}

impl Default for IdRoom {
    fn default() -> Self {
        Self { left: IDS_BYTES }
    }
}

impl IdRoom {
    /// Returns true if an id has room, which it takes. A call whose id has none gets another one.
    pub fn admits(&mut self, id: &str) -> bool {
        let left = self.left.checked_sub(id.len());
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }
}

/// Returns the part of a tool's name that is kept.
pub fn kept_name(name: &str) -> &str {
    &name[..name.floor_char_boundary(NAME_BYTES)]
}

impl From<WireCall> for ToolCall {
    fn from(wire: WireCall) -> Self {
        let WireFunction { name, arguments } = wire.function;
        Self { id: wire.id, name, arguments, extra: wire.extra }
    }
}

impl From<ToolCall> for WireCall {
    fn from(call: ToolCall) -> Self {
        Self {
            id: call.id,
            kind: FunctionKind::Function,
            function: WireFunction { name: call.name, arguments: call.arguments },
            extra: call.extra,
        }
    }
}

impl Message {
    /// Makes a system message.
    pub fn system(content: impl Into<Arc<str>>) -> Self {
        Self::System { content: content.into() }
    }

    /// Makes a user message.
    pub fn user(content: impl Into<Arc<str>>) -> Self {
        Self::User { content: content.into() }
    }

    /// Makes a message of the model.
    pub fn assistant(content: impl Into<Arc<str>>) -> Self {
        Self::Assistant {
            content: Some(content.into()),
            tool_calls: Vec::new(),
            from: None,
            extra: Map::new(),
        }
    }

    /// Returns the size of its text and arguments, by which context windows are measured.
    pub fn bytes(&self) -> u64 {
        match self {
            Self::System { content } | Self::User { content } => content.len() as u64,
            Self::Assistant { content, tool_calls, .. } => {
                let calls = tool_calls.iter().map(|call| {
                    call.arguments.bytes() + call.name.len() as u64 + call.id.len() as u64
                });
                content.as_ref().map_or(0, |text| text.len() as u64) + calls.sum::<u64>()
            }
            Self::Tool { tool_call_id, content } => content.bytes() + tool_call_id.len() as u64,
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn messages_have_the_shape_of_chat_completions() {
        let call = ToolCall {
            id: "c1".into(),
            name: "fs_read".into(),
            arguments: r#"{"path":"@project/a"}"#.into(),
            extra: Map::new(),
        };
        let messages = [
            Message::system("rules"),
            Message::user("go"),
            Message::Assistant {
                content: None,
                tool_calls: vec![call],
                from: None,
                extra: Map::new(),
            },
            Message::Tool { tool_call_id: "c1".into(), content: "{}".into() },
            Message::assistant("done"),
        ];
        let expected = json!([
            {"role": "system", "content": "rules"},
            {"role": "user", "content": "go"},
            {"role": "assistant", "content": null, "tool_calls": [{"id": "c1", "type": "function",
                "function": {"name": "fs_read", "arguments": "{\"path\":\"@project/a\"}"}}]},
            {"role": "tool", "tool_call_id": "c1", "content": "{}"},
            {"role": "assistant", "content": "done"}
        ]);
        assert_eq!(json!(messages), expected);
        let read: Vec<Message> = serde_json::from_value(expected).unwrap();
        assert_eq!(read, messages);
    }
}
