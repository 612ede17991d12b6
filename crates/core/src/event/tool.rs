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
    /// Parts of its offer that are hidden from models, each with the reason.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<String>,
    /// Reason why it has no tools.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// Tools in the form that models read, as JSON.
    pub tools: Payload,
}

/// A tool server wrote a line into its log.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ServerLogged {
    /// The server.
    pub server: String,
    /// Severity in the server's terms; `stderr` for its standard error.
    pub level: String,
    /// Text of the line, cleaned and capped.
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
    /// Short description of its subject: a path, a query.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub subject: Option<String>,
    /// Planned change of files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub intent: Option<Box<Intent>>,
    /// Kinds of repairs that its arguments needed, such as `trailing-comma`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub repaired: Vec<String>,
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

/// A planned change of files.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Intent {
    /// The files, in the order in which they are changed.
    pub files: Vec<FileIntent>,
    /// Time of the plan; the guard's clock.
    pub time: String,
    /// Answer to the model once everything is done.
    pub answer: Answer,
    /// Change of the state, if its document is among the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<StateChange>,
}

/// A file of the project that a call wrote or removed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct WrittenDigest {
    /// The path from the root of the project.
    pub path: String,
    /// The digest afterwards; none if the file was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sha256: Option<String>,
    /// True if the call changed only parts of a file that is not the run's.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub foreign: bool,
}

/// A file whose text stands in the answer of a call, or in the call itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct ShownFile {
    /// The mount path.
    pub path: String,
    /// The digest of the whole file.
    pub sha256: String,
    /// The first line that is shown, from 1.
    pub start: u64,
    /// The last line that is shown.
    pub end: u64,
    /// True if the model wrote it, and false if it read it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub written: bool,
}

/// A draft that was saved in a file of the project.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct SavedDraft {
    /// The name of the draft.
    pub name: String,
    /// The file, from the root of the project.
    pub path: String,
    /// The digest of the text that was saved.
    pub sha256: String,
    /// Its size.
    pub bytes: u64,
}

/// Answer of a tool.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Answer {
    /// The result: `{"ok":true,…}` or `{"ok":false,"error":{…}}`. Models read it as plain text.
    pub result: Payload,
    /// Code of the refusal, if it is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusalCode>,
    /// New and changed files below the artifacts folder, from the root of the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub created: Vec<String>,
    /// Files of the project that the call wrote or removed, with their digests.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub wrote: Vec<WrittenDigest>,
    /// Files whose text the model knows from the call or its answer.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub shown: Vec<ShownFile>,
    /// Files of the user that the call would have overwritten, with the digests that they have. The same call again
    /// overwrites them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warned: Vec<WrittenDigest>,
    /// Names of the drafts that the call wrote.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub drafted: Vec<String>,
    /// Drafts that the call saved in files of the project.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub saved: Vec<SavedDraft>,
    /// True if the call gave nothing new: what it asked for stands in the context, or the file has this content.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub repeats: bool,
    /// True if the calls behind it in the same reply are not carried out, because it is a refused change of the state.
    #[serde(default, skip_serializing_if = "std::ops::Not::not", rename = "endsReply")]
    pub ends_reply: bool,
}

/// Warning to a model that sends a refused call again.
pub const SECOND_TIME: &str = "This is the second time; a third identical call stops the run.";

impl Answer {
    /// Returns a refusal with a warning behind its message; other answers stay as they are.
    #[must_use]
    pub fn warned_of_loop(self) -> Self {
        if self.refused.is_none() {
            return self;
        }
        let json = self.result.inline().and_then(|text| serde_json::from_str(text).ok());
        let Some(mut json): Option<serde_json::Value> = json else { return self };
        let Some(message) = json["error"]["message"].as_str() else { return self };
        json["error"]["message"] = format!("{message} {SECOND_TIME}").into();
        Self { result: json.to_string().into(), ..self }
    }
}

impl From<&Refusal> for Answer {
    /// Renders the refusal as the model gets it.
    fn from(refusal: &Refusal) -> Self {
        Self {
            result: refusal.to_json().to_string().into(),
            refused: Some(refusal.code),
            ..Self::default()
        }
    }
}
