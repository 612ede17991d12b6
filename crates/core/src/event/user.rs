//! Events between the user and a run: input, and questions.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Moved, Role};
use crate::payload::Payload;
use crate::question::Question;

/// Input of the user, or a question to them.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type")]
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

/// The user said something, or answered a question.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct UserInput {
    /// Their words, unchanged.
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
    /// The call that asks, or whose move waits for a yes.
    pub call_id: String,
    /// The move that waits for a yes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
    /// What is asked.
    #[serde(flatten)]
    pub question: Question,
}
