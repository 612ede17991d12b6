//! Events about tool calls and tool servers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Role, StateChange};
use crate::intent::FileIntent;
use crate::payload::Payload;
use crate::refusal::{Refusal, RefusalCode};

/// An event about a tool call or a tool server.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "type")]
pub enum ToolEvent {
    #[serde(rename = "tools.listed")]
    Listed(ToolsListed),
    #[serde(rename = "server.logged")]
    Logged(ServerLogged),
    #[serde(rename = "tool.started")]
    Started(ToolStarted),
    #[serde(rename = "tool.finished")]
    Finished(ToolFinished),
}

impl ToolEvent {
    pub(super) fn role(&self) -> Role {
        match self {
            Self::Listed(_) => Role::Signal,
            // The machine itself answers a call whose question is settled; that answer has no key.
            Self::Started(_) | Self::Finished(_) => Role::Derived,
            Self::Logged(_) => Role::Delta,
        }
    }
}

/// A tool server listed its tools. Requests from here on offer them, as far as the policy allows.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ToolsListed {
    /// The server.
    pub server: String,
    /// The canonical names of its tools.
    pub names: Vec<String>,
    /// What it offers and models are not told of, with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Why it has no tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// The tools as models are told of them, as JSON.
    pub tools: Payload,
}

/// A tool server wrote a line into its log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ServerLogged {
    /// The server.
    pub server: String,
    /// How grave it is, in the server's word; `stderr` for what it wrote there.
    pub level: String,
    /// What it wrote, cleaned and capped.
    pub text: String,
}

/// A tool call begins. For a change of files this is the intent, recorded before anything is touched.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ToolStarted {
    /// The turn.
    pub turn: u64,
    /// The call.
    pub call_id: String,
    /// The tool's canonical name, or what the model wrote.
    pub tool: String,
    /// What it is about, in a few words: a path, a query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// What will be changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<Box<Intent>>,
}

/// A tool call was answered; refusals are answers.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ToolFinished {
    /// The turn.
    pub turn: u64,
    /// The call.
    pub call_id: String,
    /// The tool's canonical name, or what the model wrote.
    pub tool: String,
    /// The answer.
    #[serde(flatten)]
    pub answer: Answer,
}

/// A change of files that is about to be made.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Intent {
    /// The files, in the order in which they are changed.
    pub files: Vec<FileIntent>,
    /// When it was planned; the guard's clock.
    pub time: String,
    /// What the model will be told when all of it is done.
    pub answer: Answer,
    /// What becomes of the state, if its document is among the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateChange>,
}

/// Answer of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Answer {
    /// The whole answer as the model gets it: `{"ok":true,…}` or `{"ok":false,"error":{…}}`.
    pub result: Payload,
    /// Whether it is a refusal, and which.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusalCode>,
    /// Files that came to be under the artifacts folder, from the root of the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<String>,
}

impl From<&Refusal> for Answer {
    /// Renders the refusal as the model gets it.
    fn from(refusal: &Refusal) -> Self {
        Self {
            result: refusal.to_json().to_string().into(),
            refused: Some(refusal.code),
            created: Vec::new(),
        }
    }
}
