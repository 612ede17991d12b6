//! Events about a conversation: its agent, its commands, its active run.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Role;
use crate::menu::{Confidence, MenuError};
use crate::payload::Payload;
use crate::settings::RunSettings;

/// An event about a conversation.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type")]
pub enum ConversationEvent {
    #[serde(rename = "session.started")]
    Started(ConversationStarted),
    #[serde(rename = "session.agent")]
    AgentChanged(AgentChanged),
    #[serde(rename = "command.resolved")]
    CommandResolved(CommandResolved),
    #[serde(rename = "session.instructed")]
    Instructed(ModelInstructed),
    #[serde(rename = "session.run")]
    RunChanged(ActiveRunChanged),
}

impl ConversationEvent {
    pub(super) fn role(&self) -> Role {
        match self {
            Self::Started(_) => Role::Result,
            Self::AgentChanged(_)
            | Self::CommandResolved(_)
            | Self::Instructed(_)
            | Self::RunChanged(_) => Role::Signal,
        }
    }
}

/// A conversation begins.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ConversationStarted {
    /// The package whose agents can be talked to, as `name@version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// Its digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package_sha256: Option<String>,
    /// The agent that is talked to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// The project's name.
    pub project: String,
    /// What it runs with.
    pub settings: RunSettings,
}

/// The agent of the conversation changed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct AgentChanged {
    /// The agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
}

/// The input was taken for a command. Its result follows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CommandResolved {
    /// The words.
    pub text: Payload,
    /// What they were taken for, such as `StartWorkflow` or `ClarifyChoice`.
    pub command: String,
    /// How sure that is.
    pub confidence: Confidence,
    /// Why.
    pub reason: String,
    /// The number of the menu item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<usize>,
    /// What can be chosen now, where that is shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// Why it cannot be done.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<MenuError>,
}

/// The model gets the instruction that the user chose from the menu.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ModelInstructed {
    /// What was chosen, in a few words: a script, a prompt, an instruction.
    pub subject: String,
    /// What the model is told, each a message of its own.
    pub texts: Vec<Payload>,
}

/// Input goes to this run of a workflow from here on, or no longer to a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ActiveRunChanged {
    /// The run; none when it was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
}

/// An item that the user can choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Choice {
    /// What is typed to choose it.
    pub answer: String,
    /// What it is, in words.
    pub label: String,
}
