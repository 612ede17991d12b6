//! What a scenario file says, as values.

use std::collections::BTreeMap;

use crewagent_core::event::Finish;
use crewagent_core::usage::Usage;
use crewagent_engine::model::ModelErrorKind;
use serde_json::Value as Json;

use super::pace::Pace;
use super::template::Template;
use super::when::When;

/// A whole file.
#[derive(Debug, Default)]
pub(super) struct Scenario {
    pub(super) title: String,
    /// How fast the model speaks, unless a reply says otherwise.
    pub(super) pace: Option<Pace>,
    /// What it says at each node, over all visits.
    pub(super) nodes: BTreeMap<String, Vec<Turn>>,
    /// What it says after completion.
    pub(super) complete: Vec<Turn>,
    /// What it says in a conversation, outside of any workflow.
    pub(super) chat: Vec<Turn>,
    /// What it says when nothing is left.
    pub(super) otherwise: Option<Line>,
}

/// The answer to one request, or to several in a row.
#[derive(Debug)]
pub(super) struct Turn {
    /// Where it stands in the file.
    pub(super) line: usize,
    /// How many requests it answers.
    pub(super) times: u64,
    /// The first one that fits is given.
    pub(super) choices: Vec<Choice>,
}

/// A reply and when it fits.
#[derive(Debug)]
pub(super) struct Choice {
    pub(super) when: When,
    pub(super) line: Line,
}

/// One reply.
#[derive(Debug, Default)]
pub(super) struct Line {
    /// Where it stands in the file.
    pub(super) line: usize,
    pub(super) say: Option<Template>,
    pub(super) think: Option<Template>,
    pub(super) calls: Vec<Call>,
    pub(super) finish: Finish,
    /// What it costs; an estimate when absent.
    pub(super) usage: Option<Usage>,
    pub(super) fault: Option<Fault>,
    pub(super) pace: Option<Pace>,
}

/// One call, or several alike.
#[derive(Debug)]
pub(super) struct Call {
    pub(super) tool: String,
    pub(super) arguments: Arguments,
    /// The call's id, where the scenario wants its own.
    pub(super) id: Option<String>,
    pub(super) times: u64,
}

/// The arguments of a call.
#[derive(Debug)]
pub(super) enum Arguments {
    /// A value, sent as JSON.
    Value(Shape),
    /// A text, sent as it is.
    Raw(Template),
}

/// A JSON value with templates in its strings.
#[derive(Debug)]
pub(super) enum Shape {
    Text(Template),
    Plain(Json),
    List(Vec<Shape>),
    Map(Vec<(String, Shape)>),
}

/// What goes wrong instead of a reply.
#[derive(Debug)]
pub(super) enum Fault {
    /// The model fails.
    Fail { kind: ModelErrorKind, message: String },
    /// Nothing comes until the user gives up.
    Hang,
}
