//! Ids that packages give to their parts, as types that cannot hold an invalid one.

use std::borrow::{Borrow, Cow};
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::Serialize;

/// Pattern of every id, as JSON Schema and as the sentence that users read.
pub const PATTERN: &str = "^[A-Za-z0-9][A-Za-z0-9._:-]*$";

/// Maximum length of an id, which goes into messages, prompts and file names.
pub const MAX_BYTES: usize = 128;

fn is_id(text: &str) -> bool {
    let mut bytes = text.bytes();
    text.len() <= MAX_BYTES
        && bytes.next().is_some_and(|first| first.is_ascii_alphanumeric())
        && bytes
            .all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'.' | b'_' | b':' | b'-'))
}

macro_rules! ids {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        #[serde(transparent)]
        pub struct $name(String);

        impl $name {
            /// Makes an id if the text is a valid one.
            pub fn new(text: impl Into<String>) -> Option<Self> {
                let text = text.into();
                is_id(&text).then_some(Self(text))
            }

            /// Returns the id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl Borrow<str> for $name {
            fn borrow(&self) -> &str {
                &self.0
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(&self.0)
            }
        }

        impl JsonSchema for $name {
            fn inline_schema() -> bool {
                true
            }

            fn schema_name() -> Cow<'static, str> {
                stringify!($name).into()
            }

            fn json_schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({ "type": "string", "pattern": PATTERN, "maxLength": MAX_BYTES })
            }
        }
    )*};
}

ids! {
    /// The id of a node in a graph.
    NodeId;
    /// The id of an agent.
    AgentId;
    /// The id of a workflow in `workflows[]`.
    WorkflowId;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_begins_with_a_letter_or_digit_and_has_no_blanks() {
        for good in ["a", "0", "step-01", "A.b_c:d-e"] {
            assert!(NodeId::new(good).is_some(), "{good}");
        }
        for bad in ["", "-a", ".a", "a b", "a/b", "é", "a\n"] {
            assert!(NodeId::new(bad).is_none(), "{bad:?}");
        }
        assert!(NodeId::new("a".repeat(MAX_BYTES)).is_some());
        assert!(NodeId::new("a".repeat(MAX_BYTES + 1)).is_none());
    }
}
