//! Events between the user and a run: input, and questions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Moved, Role};
use crate::intent::FileIntent;
use crate::payload::Payload;
use crate::question::Question;

/// Input of the user, or a question to them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type")]
#[expect(
    clippy::large_enum_variant,
    reason = "events are handled one at a time; a box would cost each reader more than the copy"
)]
pub enum UserEvent {
    #[serde(rename = "user.input")]
    Input(UserInput),
    #[serde(rename = "question")]
    Asked(UserAsked),
}

impl UserEvent {
    pub(super) fn role(&self) -> Role {
        match self {
            Self::Input(_) => Role::Signal,
            Self::Asked(_) => Role::Derived,
        }
    }
}

/// Input of the user, or the answer to a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct UserInput {
    /// Text of the user, unchanged.
    pub text: Payload,
    /// The node the run was at, while the workflow was not complete.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub for_node_id: Option<String>,
    /// The call whose question it answers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call_id: Option<String>,
}

/// The user is asked something.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct UserAsked {
    /// Call that asks, or whose move needs approval.
    pub call_id: String,
    /// Move that needs approval.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
    /// Files that change with the move. An agreement holds for exactly these.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<FileIntent>,
    /// Question to the user.
    #[serde(flatten)]
    pub question: Question,
}
