//! `steps/*.md`: the instructions of a node.

mod advice;

use std::collections::BTreeMap;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::Serialize;

pub use self::advice::{StepLimits, Tier};
use super::blank::NonBlank;
use super::markdown::MarkdownOutline;
use super::versioned;
use crate::frontmatter::Frontmatter;
use crate::id::NodeId;
use crate::shape::{self, Object, ShapeReader};
use crate::syntax::Tree;
use crate::version::{Minor, SchemaVersion};

/// Step file.
#[derive(Clone, Debug)]
pub struct Step {
    pub front: StepFront,
    pub text: Arc<str>,
    /// Range of the body in [`Step::text`].
    pub body: std::ops::Range<usize>,
    pub(super) outline: MarkdownOutline,
}

impl Step {
    /// Returns the text below the frontmatter.
    pub fn body(&self) -> &str {
        self.text.get(self.body.clone()).unwrap_or_default()
    }
}

/// The frontmatter of a step. Other keys are kept and ignored.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct StepFront {
    /// Version of the package format.
    pub schema_version: SchemaVersion,
    /// The node it belongs to.
    pub node_id: NodeId,
    /// Type of the node; the graph's value counts.
    #[serde(rename = "type")]
    #[schemars(extend("enum" = ["step", "decision", "merge", "end", "subworkflow"]))]
    pub kind: String,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// The node's agent; may be empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<String>,
    /// Files that it reads; the graph's list counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub inputs: Option<Vec<String>>,
    /// Files that it writes; the graph's list counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub outputs: Option<Vec<String>>,
    /// Variables that must be set before the node is left.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, with = "Option<Vec<NonBlank>>")]
    pub sets_variables: Vec<String>,
    /// Kind of model that suits the step: advice, which counts where the user has set up models for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub model: Option<Tier>,
    /// Limits of one visit; they can only tighten those of the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<StepLimits>,
    /// Moves from this node; the graph's edges count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub transitions: Option<Vec<Transition>>,
    /// Format 1.1: the workflow that a subworkflow node calls, by id or by the path of its document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subworkflow: Option<String>,
    /// Format 1.1: whether the child starts with the parent's variables and artifacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_context: Option<bool>,
    /// Format 1.1: variables that are copied back when the child returns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, with = "Option<Vec<NonBlank>>")]
    pub result_variables: Vec<String>,
    /// Format 1.3: names with the values that they have in this step.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(default, with = "Option<BTreeMap<String, String>>")]
    pub bindings: BTreeMap<String, String>,
    /// Format 1.3: what the step asks for and a runtime may not have, such as `subagent`, `web` or `shell`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, with = "Option<Vec<NonBlank>>")]
    pub needs: Vec<String>,
    /// Format 1.3: the step serves only to take up work again.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default, with = "Option<bool>")]
    pub resume_only: bool,
}

/// A move as a step repeats it.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Transition {
    /// Node to which it leads; the graph's value counts.
    pub to: String,
    /// Name; the graph's value counts.
    pub label: String,
    /// Taken when no other condition holds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub is_default: Option<bool>,
    /// Condition in prose.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition_text: Option<String>,
}

impl Step {
    pub(super) fn read(document: &Frontmatter, reader: &mut ShapeReader<'_>) -> Option<Self> {
        let front = front(document.tree(), reader)?;
        let span = document.body_span();
        let outline = MarkdownOutline::read(document.body(), span.start);
        Some(Self { front, text: document.text().clone(), body: span.start..span.end, outline })
    }
}

fn front(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<StepFront> {
    let mut object = Object::open(tree, reader)?;
    let schema_version = object.required("schemaVersion", reader, versioned);
    let node_id = object.required("nodeId", reader, shape::id(NodeId::new));
    // An unknown type only disagrees with the graph, which decides.
    let kind = object.required("type", reader, shape::text);
    let title = object.optional("title", reader, shape::string);
    let agent_id = object.optional("agentId", reader, shape::string);
    let inputs =
        object.optional("inputs", reader, |tree, reader| shape::list(tree, reader, shape::string));
    let outputs =
        object.optional("outputs", reader, |tree, reader| shape::list(tree, reader, shape::string));
    let sets_variables = object.list("setsVariables", reader, shape::text);
    // Both are advice: a value that is not understood is reported and ignored.
    let model = object.optional("model", reader, |tree, reader| Some(advice::tier(tree, reader)));
    let limits =
        object.optional("limits", reader, |tree, reader| Some(advice::limits(tree, reader)));
    let transitions = object
        .optional("transitions", reader, |tree, reader| shape::list(tree, reader, transition));
    // Format 1.1 does not say what these keys hold.
    let subworkflow = object.ignorable("subworkflow", reader, shape::string);
    let pass_context = object.ignorable("passContext", reader, shape::boolean);
    let result_variables = object.ignorable("resultVariables", reader, |tree, reader| {
        Some(shape::items(tree, reader, shape::text)?.into_iter().flatten().collect())
    });
    let bindings = object.open_since(Minor::V1_3, "bindings", reader, |tree, reader| {
        shape::map(tree, reader, shape::string)
    });
    let needs = object.open_since(Minor::V1_3, "needs", reader, |tree, reader| {
        shape::list(tree, reader, shape::text)
    });
    let resume_only = object.open_since(Minor::V1_3, "resumeOnly", reader, shape::boolean);
    object.leave_open(reader);
    Some(StepFront {
        schema_version: schema_version?,
        node_id: node_id?,
        kind: kind?,
        title: title?,
        agent_id: agent_id?,
        inputs: inputs?,
        outputs: outputs?,
        sets_variables: sets_variables?,
        model: model?.flatten(),
        limits: limits?,
        transitions: transitions?,
        subworkflow: subworkflow.filter(|name| !name.trim().is_empty()),
        pass_context,
        result_variables: result_variables.unwrap_or_default(),
        bindings: bindings?.unwrap_or_default(),
        needs: needs?.unwrap_or_default(),
        resume_only: resume_only?.unwrap_or_default(),
    })
}

fn transition(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Transition> {
    let mut object = Object::open(tree, reader)?;
    let to = object.required("to", reader, shape::string);
    let label = object.required("label", reader, shape::string);
    let is_default = object.optional("isDefault", reader, shape::boolean);
    let condition_text = object.optional("conditionText", reader, shape::string);
    object.close(reader);
    Some(Transition {
        to: to?,
        label: label?,
        is_default: is_default?,
        condition_text: condition_text?,
    })
}
