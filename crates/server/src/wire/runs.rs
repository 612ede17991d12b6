//! Runs and conversations.

use std::collections::BTreeMap;

use crewagent_core::event::{Event, Reason};
use crewagent_core::forecast::Forecast;
use crewagent_core::message::Message;
use crewagent_core::policy::Tightening;
use crewagent_core::question::{Question, QuestionKind};
use crewagent_core::settings::Mode;
use crewagent_core::state::run_state::RunState;
use crewagent_core::usage::Usage;
use crewagent_engine::store::{Flaw, Spent, Status};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use super::{Origin, Picture};

/// Run to start.
#[derive(Clone, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct NewRun {
    /// The id of the project.
    pub project: String,
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
    /// The model; that of the settings when absent.
    pub model: Option<String>,
    /// Settings of the run that differ from those of the user.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, as = "Option<Bounds>"))]
    pub bounds: Bounds,
}

/// Settings of a run that differ from those of the user.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Bounds {
    /// Confirmation of moves.
    pub mode: Option<Mode>,
    /// True to change the state only through its own tools. A strict run stays strict.
    #[cfg_attr(test, ts(optional, as = "Option<bool>"))]
    pub strict: bool,
    /// Requests for one input.
    pub max_turns: Option<u32>,
    /// Seconds for one input.
    pub max_seconds: Option<u32>,
    /// Tokens for one input.
    pub max_tokens: Option<u64>,
    /// Money for one input.
    pub max_cost: Option<f64>,
    /// Permissions of tools; they can only be tightened, and stay with the run.
    #[cfg_attr(test, ts(optional, as = "Option<Tightening>"))]
    pub tools: Tightening,
}

/// Expected cost of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct RunForecast {
    /// The forecast; absent for a model that answers from a file, or that is not known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forecast: Option<Forecast>,
}

/// A run that was started.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StartedRun {
    /// The run.
    pub run_id: String,
}

/// A message of the user.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct UserMessage {
    /// The text.
    pub text: String,
    /// The model that answers it; unchanged when absent.
    pub model: Option<String>,
    /// The call whose question it answers, so that it answers no other one.
    pub answers: Option<String>,
}

/// A request to resume.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ResumeRequest {
    /// The model; unchanged when absent.
    pub model: Option<String>,
    /// Changes of the settings from here on.
    #[cfg_attr(test, ts(optional, as = "Option<Bounds>"))]
    pub bounds: Bounds,
}

/// The result of a request to pause or stop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Halting {
    /// True if it was working. The next phase follows on the stream.
    pub was_at_work: bool,
}

/// A filter of runs.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct RunQuery {
    /// Those of this project.
    pub project: Option<String>,
    /// Those that are like this.
    pub status: Option<Status>,
    /// Those that were started from this conversation.
    pub conversation: Option<String>,
    /// Maximum number, the newest first; 200 when absent.
    pub limit: Option<u32>,
}

/// A list of runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RunList {
    /// The newest first.
    pub runs: Vec<RunItem>,
    /// Number of runs, including those that are not listed. Without a status or a conversation in the filter it counts
    /// folders, also those that cannot be read.
    pub total: u32,
    /// Folders of runs that cannot be read, as far as they were looked at.
    pub damaged: Vec<Flaw>,
}

/// An entry of a list of runs.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RunItem {
    /// Its id.
    pub id: String,
    /// The id of its project.
    pub project: String,
    /// The package, as `name@version`.
    pub package: String,
    /// The workflow.
    pub workflow: String,
    /// The agent.
    pub agent_id: String,
    /// Title that the user gave it, else what its user said first, else the name of the first file that it made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The conversation that it was started from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub conversation: Option<String>,
    /// The run that it was forked from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fork_of: Option<String>,
    /// Time of creation.
    pub created: String,
    /// Time of the last event.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub updated: Option<String>,
    /// Its status.
    pub status: Status,
    /// Reason why it waits.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// The same as text.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// The kind of question that is open.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asks: Option<QuestionKind>,
    /// The text of that question, in one line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub asked: Option<String>,
    /// Current node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub current_node: Option<String>,
    /// Number of completed nodes.
    pub steps_completed: u32,
    /// Cost so far; unknown while it is working, and after a crash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
    /// True if it is working in this server.
    pub at_work: bool,
    /// Other process that is using it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub held_by: Option<String>,
    /// Problems of the run.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
}

/// Everything about one run but its events.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RunDetail {
    /// Its entry in a list.
    #[serde(flatten)]
    pub item: RunItem,
    /// The digest of its package, which `/api/packages/{reference}` takes, too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub package_sha256: Option<String>,
    /// The state of the active workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub state: Option<RunState>,
    /// The run that it was forked from, and its node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forked_from: Option<Origin>,
    /// The nodes in the order in which they were entered.
    pub path: Vec<Visit>,
    /// The question that waits for its answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
    /// Replies of the model.
    pub turns: u32,
    /// Usage of all turns.
    pub usage: Usage,
    /// Graph of its workflow, laid out; none when its package was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub graph: Option<Picture>,
    /// Reason why it cannot be resumed, and advice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blocked: Option<String>,
}

/// A visit of a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Visit {
    /// The event that led there.
    #[cfg_attr(test, ts(type = "number"))]
    pub seq: u64,
    /// The node.
    pub node: String,
    /// The number of the visit among those of the node, from 1.
    pub number: u32,
    /// The label of the edge that led there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// The call of a workflow that it belongs to; none in the run's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<u32>,
}

/// A filter of events.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct EventQuery {
    /// Those after this one; from the first when absent.
    pub after: Option<u64>,
    /// Maximum number; 500 when absent. A page also ends after about 4 MiB.
    pub limit: Option<u32>,
}

/// Events of a journal.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct EventPage {
    /// The events, in their order.
    pub events: Vec<Event>,
    /// True if there are more.
    pub more: bool,
    /// For `after` of a stream: its events follow these.
    pub cursor: String,
}

/// The state documents of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StateTexts {
    /// That of the run itself first, then those of its calls of other workflows.
    pub documents: Vec<StateText>,
}

/// A state document of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct StateText {
    /// Path in the folder of the run.
    pub path: String,
    /// The whole text.
    pub text: String,
    /// Its digest.
    pub sha256: String,
}

/// The requests of a run.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Requests {
    /// In their order.
    pub requests: Vec<RequestItem>,
}

/// A request to the model, without its messages.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RequestItem {
    /// Its number in the run, from 1.
    pub turn: u32,
    /// The node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<String>,
    /// Number of messages.
    pub count: u32,
    /// An estimate of its tokens.
    pub tokens: u32,
    /// True if it equals the sent request byte for byte.
    pub exact: bool,
}

/// A request to the model, as it was sent.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RequestDetail {
    /// Summary of the request.
    #[serde(flatten)]
    pub item: RequestItem,
    /// Its messages.
    pub messages: Vec<RequestMessage>,
    /// The tools that were offered, by name.
    pub tools: Vec<String>,
}

/// A message of a request.
#[derive(Clone, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct RequestMessage {
    /// Part of the prompt.
    pub layer: Layer,
    /// An estimate of its tokens.
    pub tokens: u32,
    /// The message.
    pub message: Message,
}

/// The parts of a prompt.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub enum Layer {
    /// The rules of the runtime, the tool policy or the persona.
    System,
    /// Directive of the run.
    Directive,
    /// Brief of the node.
    Brief,
    /// State of the run.
    State,
    /// File that was passed at the start.
    Data,
    /// A message of the user.
    Input,
    /// Earlier messages of the model and results of its tools.
    History,
    /// Another message of the runtime.
    Runtime,
}

/// The files that a run changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Changes {
    /// By path.
    pub files: Vec<ChangedFile>,
}

/// A file that a run changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct ChangedFile {
    /// The file, from the root of the project.
    pub path: String,
    /// True if the run created it.
    pub created: bool,
    /// The changes, in their order.
    pub changes: Vec<Change>,
    /// Current digest of the file; none when it does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub now: Option<String>,
    /// True if the file is still as the run left it.
    pub is_current: bool,
}

/// One change of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Change {
    /// The event that announced it.
    pub seq: u64,
    /// Call of the change.
    pub call_id: String,
    /// The node that the run was at.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<String>,
    /// Time of the change.
    pub time: String,
    /// The digest before; none when there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<String>,
    /// The digest after; none when the file was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<String>,
}

/// The file and the change that are read.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct ImageQuery {
    /// The file, from the root of the project.
    pub path: String,
    /// The event that announced the change; all changes of the run together when absent.
    pub seq: Option<u64>,
}

/// A file before and after.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Images {
    /// Before; none when there was no file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub before: Option<Image>,
    /// After; none when the file was removed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub after: Option<Image>,
}

/// The content of a file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Image {
    /// Its digest.
    pub sha256: String,
    /// Its text; none when it is not text, or is no longer kept anywhere.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

/// File to restore.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Revert {
    /// The file, from the root of the project.
    pub path: String,
    /// As before this change; as before the run when absent.
    pub seq: Option<u64>,
    /// Digest that the file must have now; absent when it must not exist.
    pub if_match_sha256: Option<String>,
}

/// Files that a run created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Artifacts {
    /// In the order of their creation.
    pub artifacts: Vec<Artifact>,
}

/// File that a run created.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub struct Artifact {
    /// The file, from the root of the project.
    pub path: String,
    /// Node that created it, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub node_id: Option<String>,
    /// Size in bytes; none when it does not exist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}
