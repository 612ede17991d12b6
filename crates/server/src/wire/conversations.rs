//! Conversations: what is asked of them, and what is told about them.

use std::collections::BTreeMap;

use crewagent_core::event::Phase;
use crewagent_core::menu::MenuLine;
use crewagent_core::question::QuestionKind;
use crewagent_engine::store::Flaw;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Agent, Bounds};

/// A filter of conversations.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ConversationQuery {
    /// Those of this project.
    pub project: Option<String>,
    /// Those that contain this text.
    pub words: Option<String>,
    /// Maximum number; 200 when absent.
    pub limit: Option<u32>,
}

/// Conversations, for a list.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ConversationList {
    /// The one in which something happened last comes first.
    pub conversations: Vec<Conversation>,
    /// True if there are more than these, or a search ended before it had read everything.
    pub more: bool,
    /// Folders of conversations that cannot be read, as far as they were looked at.
    pub damaged: Vec<Flaw>,
}

/// An entry of a list of conversations.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Conversation {
    /// Its id.
    pub id: String,
    /// The id of its project.
    pub project: String,
    /// Title.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The package whose agents are available, as `name@version`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package: Option<String>,
    /// The agent it began with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Time of creation.
    pub created: String,
    /// Time of the last event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
    /// Phase of the conversation itself, once a message was sent; its run has its own phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub phase: Option<Phase>,
    /// The kind of question that is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<QuestionKind>,
    /// True if it is working in this server.
    pub at_work: bool,
    /// Other process that is using it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
    /// The text around the match of a search.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found: Option<String>,
}

/// Everything about one conversation but its events.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ConversationDetail {
    /// Its entry in a list.
    #[serde(flatten)]
    pub item: Conversation,
    /// The receiver of the user's messages.
    pub mode: ConversationMode,
    /// The active agent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Agent>,
    /// Its menu.
    pub menu: Vec<MenuLine>,
    /// The runs that were started from it, in their order.
    pub runs: Vec<String>,
    /// The run that receives the user's messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub active_run: Option<String>,
    /// Reason why it cannot be resumed, and advice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
}

/// The receiver of the user's messages.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum ConversationMode {
    /// To a model without a persona.
    Chat,
    /// To the menu of an agent, and to the agent.
    Agent,
    /// To a run of a workflow.
    Workflow,
}

/// Conversation to start: with an agent, else as plain chat.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct NewConversation {
    /// The id of the project.
    pub project: String,
    /// Package of the agents and workflows.
    pub package: Option<String>,
    /// The active agent.
    pub agent: Option<String>,
    /// The model; that of the settings when absent.
    pub model: Option<String>,
    /// Settings of the run that differ from those of the user.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<Bounds>"))]
    pub bounds: Bounds,
}

/// A conversation that was started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StartedConversation {
    /// The conversation.
    pub id: String,
}

/// A title.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Title {
    /// The title.
    pub title: String,
}

/// A conversation that was removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RemovedConversation {
    /// Runs that were removed with it.
    pub runs: Vec<String>,
}

/// Workflow to start from a conversation.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct LaunchRun {
    /// The package: `name`, `name@version`, or the beginning of its digest.
    pub package: String,
    /// The workflow: its id, or the path of its document; the first when absent.
    pub workflow: Option<String>,
    /// The agent; the first whose menu starts the workflow when absent.
    pub agent: Option<String>,
    /// Variables that are known from the start.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<BTreeMap<String, Json>>"))]
    pub variables: BTreeMap<String, Json>,
    /// Words of the user for the first request.
    pub message: Option<String>,
    /// The model; unchanged when absent.
    pub model: Option<String>,
    /// Settings of the run that differ from those of the user.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<Bounds>"))]
    pub bounds: Bounds,
}

/// A run that is to receive the messages of a conversation.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct EnterRun {
    /// Its id.
    pub run: String,
    /// The model; unchanged when absent.
    pub model: Option<String>,
}
