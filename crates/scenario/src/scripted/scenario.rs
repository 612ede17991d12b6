//! The contents of a scenario file, as values.

use std::collections::BTreeMap;

use crewagent_core::event::Finish;
use crewagent_core::usage::Usage;
use crewagent_engine::model::ModelErrorKind;
use serde_json::Value as Json;

use super::pace::Pace;
use super::template::ReplyTemplate;
use super::when::ReplyCondition;

/// Whole file.
#[derive(Debug, Default)]
pub(super) struct Scenario {
    pub(super) title: String,
    /// Pace of the model, unless a reply has its own.
    pub(super) pace: Option<Pace>,
    /// Turns at each node, over all visits.
    pub(super) nodes: BTreeMap<String, Vec<ScriptTurn>>,
    /// Turns after completion.
    pub(super) complete: Vec<ScriptTurn>,
    /// Turns in a conversation, outside of any workflow.
    pub(super) chat: Vec<ScriptTurn>,
    /// Reply when no turn is left.
    pub(super) otherwise: Option<ScriptLine>,
}

/// Answer to one request, or to several in a row.
#[derive(Debug)]
pub(super) struct ScriptTurn {
    /// Line in the file.
    pub(super) line: usize,
    /// Number of requests it answers.
    pub(super) times: u64,
    /// Alternatives; the first that fits is used.
    pub(super) choices: Vec<ConditionalReply>,
}

/// Reply with its condition.
#[derive(Debug)]
pub(super) struct ConditionalReply {
    pub(super) when: ReplyCondition,
    pub(super) line: ScriptLine,
}

/// Single reply.
#[derive(Debug, Default)]
pub(super) struct ScriptLine {
    /// Line in the file.
    pub(super) line: usize,
    pub(super) say: Option<ReplyTemplate>,
    pub(super) think: Option<ReplyTemplate>,
    pub(super) calls: Vec<ScriptCall>,
    pub(super) finish: Finish,
    /// Usage; an estimate if absent.
    pub(super) usage: Option<Usage>,
    pub(super) fault: Option<ReplyFault>,
    pub(super) pace: Option<Pace>,
}

/// One call, or several equal ones.
#[derive(Debug)]
pub(super) struct ScriptCall {
    pub(super) tool: String,
    pub(super) arguments: Arguments,
    /// Id of the call, if the scenario sets it.
    pub(super) id: Option<String>,
    pub(super) times: u64,
}

/// Arguments of a call.
#[derive(Debug)]
pub(super) enum Arguments {
    /// Value, sent as JSON.
    Value(JsonTemplate),
    /// Text, sent unchanged.
    Raw(ReplyTemplate),
}

/// JSON value with templates in its strings.
#[derive(Debug)]
pub(super) enum JsonTemplate {
    Text(ReplyTemplate),
    Plain(Json),
    List(Vec<JsonTemplate>),
    Map(Vec<(String, JsonTemplate)>),
}

/// Failure in place of a reply.
#[derive(Debug)]
pub(super) enum ReplyFault {
    Fail {
        kind: ModelErrorKind,
        message: String,
    },
    /// No reply arrives until the request is cancelled.
    Hang,
}
