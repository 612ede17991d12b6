//! `workflow.graph.json`: the one truth about legal moves.

use std::collections::HashMap;

use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value as Json};

use super::agents::not_empty;
use super::versioned;
use crate::condition::Condition;
use crate::diagnostic::Code;
use crate::id::{AgentId, NodeId, WorkflowId};
use crate::path::PackagePath;
use crate::schema::NonBlank;
use crate::shape::{self, Object, Reader};
use crate::syntax::Tree;
use crate::version::{Minor, SchemaVersion};

/// A graph whose ids are unique, whose entry exists and whose edges lead from node to node.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Graph {
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
    /// What kind of place it is.
    #[serde(rename = "type")]
    pub kind: NodeKind,
    /// Its step file, from the root of the package.
    pub file: PackagePath,
    /// What people call it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What happens there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// The agent that speaks there; the run's own when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub agent_id: Option<AgentId>,
    /// What it reads, from the root of the project.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub inputs: Vec<String>,
    /// What it writes, from the root of the project.
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
}

/// What kind of place a node is.
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

    /// The word of the format.
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
    /// Where it begins.
    pub from: NodeId,
    /// Where it leads.
    pub to: NodeId,
    /// What it is called; the model names it when it decides.
    #[schemars(length(min = 1))]
    pub label: String,
    /// An id of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// Taken when no other condition holds.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[schemars(default)]
    pub is_default: bool,
    /// When to take it, in words, for the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition_text: Option<String>,
    /// When it may be taken, in JSONLogic, for the runtime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition_expr: Option<Condition>,
}

impl Graph {
    /// The version of the format it is written in.
    pub fn schema_version(&self) -> SchemaVersion {
        self.schema_version
    }

    /// Where a run begins.
    pub fn entry(&self) -> &NodeId {
        &self.entry_node_id
    }

    /// All nodes, in the order of the file.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// All edges, in the order of the file.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The node with this id.
    pub fn node(&self, id: &str) -> Option<&Node> {
        self.nodes.get(*self.index.get(id)?)
    }

    /// The legal moves from a node, in the order of the file.
    pub fn outgoing(&self, id: &str) -> impl Iterator<Item = &Edge> {
        let edges = self.index.get(id).and_then(|index| self.outgoing.get(*index));
        edges.into_iter().flatten().filter_map(|edge| self.edges.get(*edge))
    }
}

/// What could be read of a graph. Holes keep the indices those of the file.
#[derive(Default)]
pub(super) struct GraphDraft {
    pub(super) version: Option<SchemaVersion>,
    pub(super) entry: Option<NodeId>,
    pub(super) nodes: Vec<Option<Node>>,
    pub(super) edges: Vec<Option<Edge>>,
    metadata: Option<Map<String, Json>>,
    /// True when the shape is right; references are checked later.
    pub(super) well_formed: bool,
}

impl GraphDraft {
    pub(super) fn read(tree: &Tree, reader: &mut Reader<'_>) -> Self {
        let mut draft = Self::default();
        draft.well_formed = draft.fill(tree, reader).is_some();
        draft
    }

    fn fill(&mut self, tree: &Tree, reader: &mut Reader<'_>) -> Option<()> {
        let mut object = Object::open(tree, reader)?;
        self.version = object.required("schemaVersion", reader, versioned);
        self.entry = object.required("entryNodeId", reader, shape::id(NodeId::new));
        let minor = self.version.map_or(Minor::V1_2, SchemaVersion::minor);
        let nodes = object.required("nodes", reader, |tree, reader| {
            self.nodes = shape::items(tree, reader, |tree, reader| node(tree, minor, reader))?;
            not_empty(tree, &self.nodes, "a node", reader)
        });
        let edges = object.required("edges", reader, |tree, reader| {
            self.edges = shape::items(tree, reader, edge)?;
            Some(())
        });
        let metadata = object.optional("metadata", reader, shape::open_map);
        object.close(reader)?;
        (self.version.is_some() && self.entry.is_some()).then_some(())?;
        (nodes.is_some() && edges.is_some()).then_some(())?;
        self.metadata = metadata?;
        self.is_whole().then_some(())
    }

    /// True when no node and no edge is missing, so that what is said about the whole graph is true.
    pub(super) fn is_whole(&self) -> bool {
        self.nodes.iter().all(Option::is_some) && self.edges.iter().all(Option::is_some)
    }

    /// The graph. `None` unless every reference in it was found good.
    pub(super) fn finish(self) -> Option<Graph> {
        let nodes: Vec<Node> = self.nodes.into_iter().collect::<Option<_>>()?;
        let edges: Vec<Edge> = self.edges.into_iter().collect::<Option<_>>()?;
        let index: HashMap<NodeId, usize> =
            nodes.iter().enumerate().map(|(at, node)| (node.id.clone(), at)).collect();
        let entry_node_id = self.entry.filter(|entry| index.contains_key(entry))?;
        let mut outgoing = vec![Vec::new(); nodes.len()];
        for (at, edge) in edges.iter().enumerate() {
            index.get(&edge.to)?;
            outgoing.get_mut(*index.get(&edge.from)?)?.push(at);
        }
        (index.len() == nodes.len()).then_some(())?;
        Some(Graph {
            schema_version: self.version?,
            entry_node_id,
            nodes,
            edges,
            metadata: self.metadata,
            index,
            outgoing,
        })
    }
}

fn node(tree: &Tree, minor: Minor, reader: &mut Reader<'_>) -> Option<Node> {
    let mut object = Object::open(tree, reader)?;
    let id = object.required("id", reader, shape::id(NodeId::new));
    let kind = object.required("type", reader, shape::choice(NodeKind::WORDS));
    let file = object.required("file", reader, shape::package_path);
    let title = object.optional("title", reader, shape::string);
    let description = object.optional("description", reader, shape::string);
    let agent_id = object.optional("agentId", reader, shape::id(AgentId::new));
    let inputs = object.list("inputs", reader, shape::string);
    let outputs = object.list("outputs", reader, shape::string);
    let (mut subworkflow_ref, mut pass_context, mut result_variables) =
        (Some(None), Some(None), Some(Vec::new()));
    if minor >= Minor::V1_2 {
        subworkflow_ref = object.optional("subworkflowRef", reader, shape::id(WorkflowId::new));
        pass_context = object.optional("passContext", reader, shape::boolean);
        result_variables = object.list("resultVariables", reader, shape::text);
    } else {
        refuse_newer_keys(tree, &mut object, reader)?;
    }
    object.close(reader)?;
    Some(Node {
        id: id?,
        kind: kind?,
        file: file?,
        title: title?,
        description: description?,
        agent_id: agent_id?,
        inputs: inputs?,
        outputs: outputs?,
        subworkflow_ref: subworkflow_ref?,
        pass_context: pass_context?,
        result_variables: result_variables?,
    })
}

/// In a 1.1 graph the keys of 1.2 are unknown, and the best advice is the newer version.
fn refuse_newer_keys(tree: &Tree, object: &mut Object<'_>, reader: &mut Reader<'_>) -> Option<()> {
    let mut clean = Some(());
    for key in ["subworkflowRef", "passContext", "resultVariables"] {
        object.allow(key);
        if let Some(entry) = tree.get(key) {
            let message = format!("`{}` may not have a key `{key}` in format 1.1", reader.trail());
            let help = "set `schemaVersion` of this graph and of `bmad.json` to \"1.2\", which has sub-workflows";
            reader.report(Code::UnknownKey, entry.key_span, message, help);
            clean = None;
        }
    }
    clean
}

fn edge(tree: &Tree, reader: &mut Reader<'_>) -> Option<Edge> {
    let mut object = Object::open(tree, reader)?;
    let from = object.required("from", reader, shape::id(NodeId::new));
    let to = object.required("to", reader, shape::id(NodeId::new));
    let label = object.required("label", reader, shape::text);
    let id = object.optional("id", reader, shape::string);
    let is_default = object.optional("isDefault", reader, shape::boolean);
    let condition_text = object.optional("conditionText", reader, shape::string);
    let condition_expr = object.optional("conditionExpr", reader, |tree, reader| {
        Condition::parse(tree)
            .map_err(|errors| {
                for error in errors {
                    reader.report(Code::BadCondition, error.span, error.message, error.help);
                }
            })
            .ok()
    });
    object.close(reader)?;
    Some(Edge {
        from: from?,
        to: to?,
        label: label?,
        id: id?,
        is_default: is_default?.unwrap_or(false),
        condition_text: condition_text?,
        condition_expr: condition_expr?,
    })
}
