//! `workflow.graph.json`: the only source of legal moves.

mod draft;

use std::borrow::Cow;
use std::collections::HashMap;
use std::sync::Arc;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value as Json};

pub(super) use draft::{EdgeDraft, GraphDraft, NodeDraft};

use super::blank::{BlankOr, NonBlank};
use super::gate::Gate;
use crate::condition::Condition;
use crate::id::{AgentId, NodeId, WorkflowId};
use crate::path::PackagePath;
use crate::version::SchemaVersion;

/// Graph with unique ids, an existing entry, and edges between existing nodes. Cloning is cheap: workflows may share a
/// graph.
#[derive(Clone, Debug)]
pub struct Graph(Arc<Content>);

/// The file, and what makes it quick to walk.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(
    deny_unknown_fields,
    description = "A graph whose ids are unique, whose entry exists and whose edges lead from node to node."
)]
struct Content {
    schema_version: SchemaVersion,
    entry_node_id: NodeId,
    #[schemars(length(min = 1))]
    nodes: Vec<Node>,
    edges: Vec<Edge>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Map<String, Json>>,
    #[serde(skip)]
    #[schemars(skip)]
    index: HashMap<NodeId, usize>,
    #[serde(skip)]
    #[schemars(skip)]
    outgoing: Vec<Vec<usize>>,
}

/// A place in the graph.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Node {
    /// Its id.
    pub id: NodeId,
    /// Kind of the node.
    #[serde(rename = "type")]
    pub kind: NodeKind,
    /// Its step file, from the root of the package.
    pub file: PackagePath,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Description of the work at this node.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Agent of the node; the run's own when absent or empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<BlankOr<AgentId>>")]
    pub agent_id: Option<AgentId>,
    /// Files that it reads, from the root of the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub inputs: Vec<String>,
    /// Files that it writes, from the root of the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub outputs: Vec<String>,
    /// Format 1.2: the workflow that a subworkflow node calls.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub subworkflow_ref: Option<WorkflowId>,
    /// Format 1.2: whether the child starts with the parent's variables and artifacts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pass_context: Option<bool>,
    /// Format 1.2: variables that are copied back when the child returns.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, with = "Vec<NonBlank>")]
    pub result_variables: Vec<String>,
    /// Format 1.3: the menu at which the user decides how to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gate: Option<Arc<Gate>>,
    /// Format 1.3: the node is not left before the user has said something in it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub waits_for_user: bool,
    /// Format 1.3: an `end` that completes the run without a request to the model.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub auto: bool,
    /// Format 1.3: the workflows that may be called from inside of the node.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub calls: Vec<WorkflowId>,
    /// Format 1.3: the number of visits after which a run stops.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pub max_visits: Option<u32>,
}

/// Kinds of nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NodeKind {
    /// Work is done.
    Step,
    /// A branch is chosen.
    Decision,
    /// Branches come together.
    Merge,
    /// The workflow ends.
    End,
    /// Another workflow is called.
    Subworkflow,
}

impl NodeKind {
    pub(super) const WORDS: &[(&str, NodeKind)] = &[
        ("step", NodeKind::Step),
        ("decision", NodeKind::Decision),
        ("merge", NodeKind::Merge),
        ("end", NodeKind::End),
        ("subworkflow", NodeKind::Subworkflow),
    ];

    /// Returns the word of the format.
    pub fn word(self) -> &'static str {
        match self {
            Self::Step => "step",
            Self::Decision => "decision",
            Self::Merge => "merge",
            Self::End => "end",
            Self::Subworkflow => "subworkflow",
        }
    }
}

/// A legal move.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Edge {
    /// Node at which it begins.
    pub from: NodeId,
    /// Node to which it leads.
    pub to: NodeId,
    /// Name; the model uses it when it decides.
    #[schemars(length(min = 1))]
    pub label: String,
    /// Id of the edge.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Taken when no other condition holds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub is_default: bool,
    /// Condition in prose, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition_text: Option<String>,
    /// Condition in JSONLogic, for the runtime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition_expr: Option<Condition>,
    /// Format 1.3: key of the option of its node's gate that opens it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<NonBlank>")]
    pub gate: Option<String>,
}

impl Graph {
    /// Returns the version of its format.
    pub fn schema_version(&self) -> SchemaVersion {
        self.0.schema_version
    }

    /// Returns the node at which a run begins.
    pub fn entry(&self) -> &NodeId {
        &self.0.entry_node_id
    }

    /// Returns all nodes, in the order of the file.
    pub fn nodes(&self) -> &[Node] {
        &self.0.nodes
    }

    /// Returns all edges, in the order of the file.
    pub fn edges(&self) -> &[Edge] {
        &self.0.edges
    }

    /// Finds a node by its id.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.0.nodes.get(*self.0.index.get(id)?)
    }

    /// Iterates over the legal moves from a node, in the order of the file.
    pub fn outgoing(&self, id: &str) -> impl Iterator<Item = &Edge> {
        let edges = self.0.index.get(id).and_then(|index| self.0.outgoing.get(*index));
        edges.into_iter().flatten().filter_map(|edge| self.0.edges.get(*edge))
    }
}

impl Graph {
    /// Returns the graph with other texts of its nodes, whose ids stay.
    pub(super) fn with_nodes(&self, change: &dyn Fn(&mut Node)) -> Self {
        let mut content = Content::clone(&self.0);
        for node in &mut content.nodes {
            let id = node.id.clone();
            change(node);
            node.id = id;
        }
        Self(Arc::new(content))
    }
}

impl Serialize for Graph {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl JsonSchema for Graph {
    fn schema_name() -> Cow<'static, str> {
        "Graph".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        Content::json_schema(generator)
    }
}
