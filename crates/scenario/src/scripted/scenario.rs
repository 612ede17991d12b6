//! The contents of a scenario file, as values.

use std::collections::BTreeMap;

use crewagent_core::event::Finish;
use crewagent_core::usage::Usage;
use crewagent_engine::model::ModelErrorKind;
use serde_json::Value as Json;

use super::pace::Pace;
use super::template::Template;
use super::when::When;

/// Whole file.
#[derive(Debug, Default)]
pub(super) struct Scenario {
    pub(super) title: String,
    /// Pace of the model, unless a reply has its own.
    pub(super) pace: Option<Pace>,
    /// Turns at each node, over all visits.
    pub(super) nodes: BTreeMap<String, Vec<Turn>>,
    /// Turns after completion.
    pub(super) complete: Vec<Turn>,
    /// Turns in a conversation, outside of any workflow.
    pub(super) chat: Vec<Turn>,
    /// Reply when no turn is left.
    pub(super) otherwise: Option<Line>,
}

/// Answer to one request, or to several in a row.
#[derive(Debug)]
pub(super) struct Turn {
    /// Line in the file.
    pub(super) line: usize,
    /// Number of requests it answers.
    pub(super) times: u64,
    /// Alternatives; the first that fits is used.
    pub(super) choices: Vec<Choice>,
}

/// Reply with its condition.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) when: When,
    pub(super) line: Line,
}

/// Single reply.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// Line in the file.
    pub(super) line: usize,
    pub(super) say: Option<Template>,
    pub(super) think: Option<Template>,
    pub(super) calls: Vec<Call>,
    pub(super) finish: Finish,
    /// Usage; an estimate if absent.
    pub(super) usage: Option<Usage>,
    pub(super) fault: Option<Fault>,
    pub(super) pace: Option<Pace>,
}

/// One call, or several equal ones.
#[derive(Debug)]
pub(super) struct Call {
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
    Value(Shape),
    /// Text, sent unchanged.
    Raw(Template),
}

/// JSON value with templates in its strings.
#[derive(Debug)]
pub(super) enum Shape {
    Text(Template),
    Plain(Json),
    List(Vec<Shape>),
    Map(Vec<(String, Shape)>),
}

/// Failure in place of a reply.
#[derive(Debug)]
pub(super) enum Fault {
    Fail {
        kind: ModelErrorKind,
        message: String,
    },
    /// No reply arrives until the request is cancelled.
    Hang,
}
