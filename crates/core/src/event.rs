//! What happens in a run, told once: the journal, the terminal, the web app and `--json` are views of these events.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::fork::Fork;
pub use crate::intent::FileIntent;
use crate::menu::{Confidence, MenuError};
use crate::message::{Message, ToolCall};
use crate::payload::Payload;
use crate::question::Question;
use crate::refusal::{Refusal, RefusalCode};
use crate::settings::RunSettings;
use crate::state::call::{Caller, Frame};
use crate::state::standing::Standing;
use crate::usage::{Usage, is_zero};

/// One event. In the journal it is one line.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Event {
    /// Its number in the run, from 1. A piece of an event that is still to come (`assistant.delta`) has that
    /// event's number, and `part` counts the pieces.
    pub seq: u64,
    /// Counts the pieces of an event that is still to come, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<u64>,
    /// When, as RFC 3339 in UTC with milliseconds.
    pub time: String,
    /// The run it belongs to.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run_id: Option<String>,
    /// The durable step whose result this is, such as `t1/llm/3`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<String>,
    /// What happened.
    #[serde(flatten)]
    pub fact: Fact,
}

/// What happened.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all_fields = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Fact {
    /// A run begins.
    #[serde(rename = "run.started")]
    RunStarted {
        /// The package, as `name@version`.
        package: String,
        /// Its digest.
        package_sha256: String,
        /// The workflow: its id, or the path of its document.
        workflow: String,
        /// The run's agent.
        agent_id: String,
        /// The project's name.
        project: String,
        /// Where it stands.
        state: Standing,
        /// What it runs with.
        settings: RunSettings,
        /// A file that came with the start, as the model is told of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        data: Option<Payload>,
        /// The run that it goes on from, and from where.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        forked_from: Option<Box<Fork>>,
    },
    /// A conversation begins.
    #[serde(rename = "session.started")]
    SessionStarted {
        /// The package whose agents can be talked to, as `name@version`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        package: Option<String>,
        /// Its digest.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        package_sha256: Option<String>,
        /// The agent that is talked to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<String>,
        /// The project's name.
        project: String,
        /// What it runs with.
        settings: RunSettings,
    },
    /// Another agent is talked to, or none.
    #[serde(rename = "session.agent")]
    SessionAgent {
        /// The agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<String>,
    },
    /// The user's words were taken for a command. What comes of it follows.
    #[serde(rename = "command.resolved", alias = "session.command")]
    SessionCommand {
        /// The words.
        text: Payload,
        /// What they were taken for, such as `StartWorkflow` or `ClarifyChoice`.
        command: String,
        /// How sure that is.
        confidence: Confidence,
        /// Why.
        reason: String,
        /// The number of the menu item.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        item: Option<usize>,
        /// What can be chosen now, where that is shown.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        choices: Vec<Choice>,
        /// Why it cannot be done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<MenuError>,
    },
    /// The model is to do what the user chose from the menu.
    #[serde(rename = "session.instructed")]
    SessionInstructed {
        /// What was chosen, in a few words: a script, a prompt, an instruction.
        subject: String,
        /// What the model is told, each a message of its own.
        texts: Vec<Payload>,
    },
    /// The user's words go to a run of a workflow from here on, or no longer do.
    #[serde(rename = "session.run")]
    SessionRun {
        /// The run; none when it was left.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        id: Option<String>,
    },
    /// A run goes on in another process.
    #[serde(rename = "run.resumed")]
    RunResumed {
        /// Which process of this run it is, from 1; each later one has a higher number.
        epoch: u64,
        /// Whether the events before are not gone through again, because they are damaged or do not fit.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        fresh: bool,
        /// Where it stands, if that is not where the journal left it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        state: Option<Standing>,
        /// The workflows that wait for the one that is active there, the first one first.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        callers: Vec<Caller>,
        /// How many calls of workflows there were, as far as is known.
        #[serde(default, skip_serializing_if = "is_zero")]
        calls: u64,
        /// What it runs with from here on, if that has changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        settings: Option<RunSettings>,
        /// What was wrong with the journal or the state, in words.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        notes: Vec<String>,
    },
    /// The user said something, or answered a question.
    #[serde(rename = "user.input")]
    UserInput {
        /// Their words, unchanged.
        text: Payload,
        /// The node the run was at, while the workflow was not complete.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        for_node_id: Option<String>,
        /// The call whose question it answers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call_id: Option<String>,
    },
    /// A node is about to call another workflow, or that is about to return: what will be written.
    #[serde(rename = "workflow.planned")]
    WorkflowPlanned {
        /// The call.
        #[serde(flatten)]
        frame: Frame,
        /// The state documents, in the order in which they are changed.
        files: Vec<FileIntent>,
        /// When it was planned; the guard's clock.
        at: String,
    },
    /// A node calls another workflow, which is active from here on.
    #[serde(rename = "workflow.entered")]
    WorkflowEntered {
        /// The call.
        #[serde(flatten)]
        frame: Frame,
        /// How many workflows wait now, the caller among them.
        depth: usize,
        /// The agent of the called workflow, where its nodes name none.
        agent_id: String,
        /// Where that workflow stands.
        state: Standing,
    },
    /// A workflow that was called is over, and its caller is active again.
    #[serde(rename = "workflow.left")]
    WorkflowLeft {
        /// The call.
        #[serde(flatten)]
        frame: Frame,
        /// Why it could not be completed. Then the caller stays on its node, and the user is asked.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        failed: Option<String>,
        /// What became of the caller.
        change: Box<StateChange>,
    },
    /// A workflow cannot be called, or cannot return.
    #[serde(rename = "workflow.held")]
    WorkflowHeld {
        /// The call.
        #[serde(flatten)]
        frame: Frame,
        /// Why, and what to do.
        message: String,
    },
    /// A server said which tools it has. Requests from here on hold them, as far as the policy allows.
    #[serde(rename = "tools.listed")]
    ToolsListed {
        /// The server.
        server: String,
        /// The canonical names of its tools.
        names: Vec<String>,
        /// What it offers and models are not told of, with the reason.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        left_out: Vec<String>,
        /// Why it has no tools.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        error: Option<String>,
        /// The tools as models are told of them, as JSON.
        tools: Payload,
    },
    /// A server of tools wrote something into its log.
    #[serde(rename = "server.logged")]
    ServerLogged {
        /// The server.
        server: String,
        /// How grave it is, in the server's word; `stderr` for what it wrote there.
        level: String,
        /// What it wrote, cleaned and capped.
        text: String,
    },
    /// A request goes to the model.
    #[serde(rename = "turn.started")]
    TurnStarted {
        /// Its number in the run, from 1.
        turn: u64,
        /// The call of a workflow that it belongs to; none in the run's own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        call: Option<u64>,
        /// Where the run is; none after completion.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        node_id: Option<String>,
        /// Who speaks; nobody in particular in a conversation without an agent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        agent_id: Option<String>,
        /// What is sent.
        request: RequestFacts,
    },
    /// A piece of the model's reply. Not in the journal.
    #[serde(rename = "assistant.delta")]
    AssistantDelta {
        /// The turn.
        turn: u64,
        /// The words.
        text: String,
        /// Whether these are its words to the user or its thoughts.
        #[serde(default)]
        channel: Channel,
    },
    /// A request failed and is sent again. What was told of its reply is void.
    #[serde(rename = "model.retried")]
    ModelRetried {
        /// The turn.
        turn: u64,
        /// How often it was tried, from 1.
        attempt: u32,
        /// How long we wait before the next try, in milliseconds.
        wait_ms: u64,
        /// What went wrong.
        message: String,
    },
    /// A request was too long for the model's window. It is asked again with less, or the run stops.
    #[serde(rename = "model.overflowed")]
    ModelOverflowed {
        /// The turn.
        turn: u64,
        /// What the provider said.
        message: String,
    },
    /// A request was given up before its reply was whole; what had come is kept for the reader alone. The model is
    /// asked anew.
    #[serde(rename = "model.stopped")]
    ModelStopped {
        /// The turn.
        turn: u64,
        /// Who wanted it.
        by: StoppedBy,
        /// The words that had come.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partial: Option<String>,
    },
    /// The model's whole reply.
    #[serde(rename = "assistant.message")]
    AssistantMessage {
        /// The turn.
        turn: u64,
        /// The reply.
        #[serde(flatten)]
        reply: Reply,
    },
    /// A tool call begins. For a change of files this is the intent, recorded before anything is touched.
    #[serde(rename = "tool.started")]
    ToolStarted {
        /// The turn.
        turn: u64,
        /// The call.
        call_id: String,
        /// The tool's canonical name, or what the model wrote.
        tool: String,
        /// What it is about, in a few words: a path, a query.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        subject: Option<String>,
        /// What will be changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        intent: Option<Box<Intent>>,
    },
    /// A tool call was answered; refusals are answers.
    #[serde(rename = "tool.finished")]
    ToolFinished {
        /// The turn.
        turn: u64,
        /// The call.
        call_id: String,
        /// The tool's canonical name, or what the model wrote.
        tool: String,
        /// The answer.
        #[serde(flatten)]
        answer: Answer,
    },
    /// The state document changed.
    #[serde(rename = "state.changed")]
    StateChanged(Box<StateChange>),
    /// The user is asked something.
    #[serde(rename = "question")]
    Question {
        /// The call that asks, or whose move waits for a yes.
        call_id: String,
        /// The move that waits for a yes.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        moved: Option<Moved>,
        /// What is asked.
        #[serde(flatten)]
        question: Question,
    },
    /// The run entered a phase.
    #[serde(rename = "phase.changed")]
    PhaseChanged {
        /// The phase.
        phase: Phase,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
        /// Why, in words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// Something left the context of the model because it no longer fits.
    #[serde(rename = "context.cut")]
    ContextCut {
        /// Messages that are no longer sent.
        messages: usize,
        /// Their size.
        bytes: u64,
    },
    /// The world failed; the run can be resumed.
    #[serde(rename = "error")]
    Error {
        /// What went wrong, in words.
        message: String,
        /// The words of a reply that came before it failed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        partial: Option<String>,
    },
    /// The process leaves the run: it rests or is over.
    #[serde(rename = "run.finished")]
    RunFinished {
        /// The phase it is left in.
        phase: Phase,
        /// Why.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<Reason>,
        /// The files that were made, from the root of the project.
        artifacts: Vec<String>,
        /// Requests to the model, over the whole run.
        turns: u64,
        /// Tokens, over the whole run.
        usage: Usage,
    },
}

/// Why a request was given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum StoppedBy {
    /// The user stopped the run.
    User,
    /// The time of the run was over.
    Time,
}

/// Something that the user can choose.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Choice {
    /// What is typed to choose it.
    pub answer: String,
    /// What it is, in words.
    pub label: String,
}

/// What a request holds.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RequestFacts {
    /// How many messages.
    pub messages: usize,
    /// Their size.
    pub bytes: u64,
    /// A digest over all of them, and over the tools.
    pub sha256: String,
    /// The messages that the runtime wrote for this request; the others are in earlier events.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub added: Vec<Message>,
}

/// Whom the words of a model are for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Channel {
    /// The user.
    #[default]
    Text,
    /// Itself.
    Thinking,
}

/// What a model replied.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Reply {
    /// Its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub content: Option<String>,
    /// The tools it calls.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tool_calls: Vec<ToolCall>,
    /// Which of them, counted from 0, have arguments that are not a JSON object.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub broken_calls: Vec<usize>,
    /// Why it ended.
    #[serde(default)]
    pub finish: Finish,
    /// What it cost.
    #[serde(default)]
    pub usage: Usage,
    /// Which model said it, where that matters: `profile/model`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<String>,
    /// What else the provider sent and wants back.
    #[serde(default, skip_serializing_if = "serde_json::Map::is_empty")]
    pub extra: serde_json::Map<String, serde_json::Value>,
}

/// Why a reply ended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Finish {
    /// The model was done, or wants its tools to run.
    #[default]
    Stop,
    /// It was cut off; its last call must not be executed.
    Length,
    /// The provider held something back.
    Filter,
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

/// What a tool answered.
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
    /// The refusal as the model gets it.
    fn from(refusal: &Refusal) -> Self {
        Self {
            result: refusal.to_json().to_string().into(),
            refused: Some(refusal.code),
            created: Vec::new(),
        }
    }
}

/// A change of the state document.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct StateChange {
    /// The call of a workflow whose state it is; none for the run's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub call: Option<u64>,
    /// Where the run stands now.
    pub state: Standing,
    /// The move, if one was made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moved: Option<Moved>,
    /// The keys that the runtime recorded because the model left them out.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub recorded: Vec<String>,
    /// What was let pass.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<String>,
}

/// A move along an edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Moved {
    /// The node that was left.
    pub from: String,
    /// The node that was entered.
    pub to: String,
    /// The edge's label.
    pub label: String,
}

impl Moved {
    /// What the user is asked before such a move in guided mode.
    pub fn question(&self) -> Question {
        Question::confirm(format!("Go on from `{}` to `{}` ({})?", self.from, self.to, self.label))
    }
}

/// The phases of a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Phase {
    /// It works, or was cut off while it did.
    Running,
    /// It waits for the user.
    WaitingUser,
    /// The user stopped it for a while.
    Paused,
    /// The workflow is complete; the conversation may go on.
    Completed,
    /// It cannot go on by itself.
    Failed,
}

/// Why a run rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Reason {
    /// The model spoke without calling a tool.
    StopPoint,
    /// A question waits for its answer.
    Question,
    /// Requests for one input are used up.
    LimitTurns,
    /// The time is used up.
    LimitTime,
    /// The tokens are used up.
    LimitTokens,
    /// The money is used up.
    LimitCost,
    /// What the model must know does not fit its window.
    LimitWindow,
    /// A workflow that was called has failed, or cannot be called, or cannot return.
    Call,
    /// The model repeats a call that fails.
    Loop,
    /// The model says nothing.
    EmptyReply,
    /// The user asked for a pause.
    Paused,
    /// The user stopped it.
    Stopped,
    /// The model or the way to it failed.
    Model,
    /// The disk failed.
    Disk,
    /// The runtime has a bug.
    Internal,
}
