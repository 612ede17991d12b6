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
    /// Settings of the conversation.
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

/// The input was interpreted with the menu of the agent: as a command, whose result follows, or as conversation.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct CommandResolved {
    /// Input of the user.
    pub text: Payload,
    /// Command, such as `StartWorkflow` or `ClarifyChoice`; `Chat` if the input is conversation and follows as such.
    pub command: String,
    /// Confidence of the interpretation.
    pub confidence: Confidence,
    /// Reason of the interpretation.
    pub reason: String,
    /// The number of the menu item.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub item: Option<usize>,
    /// Available choices, if they are shown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// Reason why the command cannot be executed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<MenuError>,
}

impl CommandResolved {
    /// Command of input that is conversation.
    pub const CHAT: &str = "Chat";

    /// Returns true if the input is conversation, so that it follows as input of the user.
    pub fn is_chat(&self) -> bool {
        self.command == Self::CHAT
    }
}

/// The model gets the instruction that the user chose from the menu.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ModelInstructed {
    /// Short description of the choice: a script, a prompt, an instruction.
    pub subject: String,
    /// Texts for the model, one message each.
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
    /// Note for the model of the conversation about the run that was left.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
}

/// An item that the user can choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Choice {
    /// Text that the user types to choose it.
    pub answer: String,
    /// Description.
    pub label: String,
}
