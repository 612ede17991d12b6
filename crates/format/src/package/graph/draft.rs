//! Readable part of a graph. Each wrong part is missing on its own, so that one mistake hides no other.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::{Content, Edge, Graph, Node, NodeKind};
use crate::condition::Condition;
use crate::diagnostic::Code;
use crate::id::{AgentId, NodeId, WorkflowId};
use crate::package::agents::not_empty;
use crate::package::gate::Gate;
use crate::package::versioned;
use crate::path::PackagePath;
use crate::shape::{self, Object, ShapeReader};
use crate::syntax::{Entry, Tree};
use crate::version::{Minor, SchemaVersion};

/// Readable part of a graph. The indices of nodes and edges are those of the file.
#[derive(Default)]
pub(in crate::package) struct GraphDraft {
    pub(in crate::package) version: Option<SchemaVersion>,
    pub(in crate::package) entry: Option<NodeId>,
    pub(in crate::package) nodes: Vec<NodeDraft>,
    pub(in crate::package) edges: Vec<EdgeDraft>,
    metadata: Option<Map<String, Json>>,
    /// True if both lists were readable, so that there are no other nodes or edges.
    lists_read: bool,
}

/// Readable part of a node: `None` was present and wrong, or is required and missing.
#[derive(Default)]
pub(in crate::package) struct NodeDraft {
    pub(in crate::package) id: Option<NodeId>,
    pub(in crate::package) kind: Option<NodeKind>,
    pub(in crate::package) file: Option<PackagePath>,
    pub(in crate::package) title: Option<Option<String>>,
    description: Option<Option<String>>,
    pub(in crate::package) agent_id: Option<Option<AgentId>>,
    pub(in crate::package) inputs: Option<Vec<String>>,
    pub(in crate::package) outputs: Option<Vec<String>>,
    pub(in crate::package) subworkflow_ref: Option<Option<WorkflowId>>,
    pub(in crate::package) pass_context: Option<Option<bool>>,
    pub(in crate::package) result_variables: Option<Vec<String>>,
    pub(in crate::package) gate: Option<Option<Arc<Gate>>>,
    pub(in crate::package) waits_for_user: Option<bool>,
    pub(in crate::package) auto: Option<bool>,
    pub(in crate::package) calls: Option<Vec<WorkflowId>>,
    max_visits: Option<Option<u32>>,
}

#[derive(Default)]
pub(in crate::package) struct EdgeDraft {
    pub(in crate::package) from: Option<NodeId>,
    pub(in crate::package) to: Option<NodeId>,
    pub(in crate::package) label: Option<String>,
    id: Option<Option<String>>,
    /// `Some(None)` if the edge does not say.
    pub(in crate::package) is_default: Option<Option<bool>>,
    pub(in crate::package) condition_text: Option<Option<String>>,
    pub(in crate::package) condition_expr: Option<Option<Condition>>,
    pub(in crate::package) gate: Option<Option<String>>,
}

impl GraphDraft {
    pub(in crate::package) fn read(tree: &Tree, reader: &mut ShapeReader<'_>) -> Self {
        let mut draft = Self::default();
        draft.fill(tree, reader);
        draft
    }

    fn fill(&mut self, tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<()> {
        let mut object = Object::open(tree, reader)?;
        self.version = object.required("schemaVersion", reader, versioned);
        let nodes = object.required("nodes", reader, |tree, reader| {
            let nodes = shape::items(tree, reader, node)?;
            self.nodes = nodes.into_iter().map(Option::unwrap_or_default).collect();
            not_empty(tree, &self.nodes, "a node", reader)
        });
        // Read after the nodes, so that a bad id is reported at its node.
        self.entry = object.required("entryNodeId", reader, shape::id(NodeId::new));
        let edges = object.required("edges", reader, |tree, reader| {
            let edges = shape::items(tree, reader, edge)?;
            self.edges = edges.into_iter().map(Option::unwrap_or_default).collect();
            Some(())
        });
        self.metadata = object.optional("metadata", reader, shape::open_map).flatten();
        self.lists_read = nodes.is_some() && edges.is_some();
        object.allow_schema(reader);
        reader.refuse_newer_keys();
        object.close(reader)
    }

    /// Returns the id of every node; `None` if one is unknown, because then a missing name proves nothing.
    pub(in crate::package) fn node_ids(&self) -> Option<Vec<&NodeId>> {
        self.nodes
            .iter()
            .map(|node| node.id.as_ref())
            .collect::<Option<Vec<_>>>()
            .filter(|ids| !ids.is_empty())
    }

    /// Returns both ends of every edge; `None` if one is unknown, because then no rule about the whole graph applies.
    pub(in crate::package) fn ends(&self) -> Option<Vec<(&NodeId, &NodeId)>> {
        self.lists_read.then_some(())?;
        self.edges.iter().map(|edge| Some((edge.from.as_ref()?, edge.to.as_ref()?))).collect()
    }

    /// Builds the graph; `None` unless every part was readable and every reference is valid. A node without a title has
    /// that of its step, which `step_title` returns.
    pub(in crate::package) fn finish(
        &self,
        step_title: impl Fn(usize) -> Option<String>,
    ) -> Option<Graph> {
        self.lists_read.then_some(())?;
        let node = |(at, node): (usize, &NodeDraft)| node.finish(|| step_title(at));
        let nodes: Vec<Node> = self.nodes.iter().enumerate().map(node).collect::<Option<_>>()?;
        let edges: Vec<Edge> = self.edges.iter().map(EdgeDraft::finish).collect::<Option<_>>()?;
        let index: HashMap<NodeId, usize> =
            nodes.iter().enumerate().map(|(at, node)| (node.id.clone(), at)).collect();
        let entry_node_id = self.entry.clone().filter(|entry| index.contains_key(entry))?;
        let mut outgoing = vec![Vec::new(); nodes.len()];
        for (at, edge) in edges.iter().enumerate() {
            index.get(&edge.to)?;
            outgoing.get_mut(*index.get(&edge.from)?)?.push(at);
        }
        (index.len() == nodes.len()).then_some(())?;
        Some(Graph(Arc::new(Content {
            schema_version: self.version?,
            entry_node_id,
            nodes,
            edges,
            metadata: self.metadata.clone(),
            index,
            outgoing,
        })))
    }
}

impl NodeDraft {
    fn finish(&self, step_title: impl FnOnce() -> Option<String>) -> Option<Node> {
        let has_text = |title: &String| !title.trim().is_empty();
        Some(Node {
            id: self.id.clone()?,
            kind: self.kind?,
            file: self.file.clone()?,
            title: self.title.clone()?.filter(has_text).or_else(step_title),
            description: self.description.clone()?,
            agent_id: self.agent_id.clone()?,
            inputs: self.inputs.clone()?,
            outputs: self.outputs.clone()?,
            subworkflow_ref: self.subworkflow_ref.clone()?,
            pass_context: self.pass_context?,
            result_variables: self.result_variables.clone()?,
            gate: self.gate.clone()?,
            waits_for_user: self.waits_for_user?,
            auto: self.auto?,
            calls: self.calls.clone()?,
            max_visits: self.max_visits?,
        })
    }
}

impl EdgeDraft {
    fn finish(&self) -> Option<Edge> {
        Some(Edge {
            from: self.from.clone()?,
            to: self.to.clone()?,
            label: self.label.clone()?,
            id: self.id.clone()?,
            is_default: self.is_default?.unwrap_or_default(),
            condition_text: self.condition_text.clone()?,
            condition_expr: self.condition_expr.clone()?,
            gate: self.gate.clone()?,
        })
    }
}

fn node(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<NodeDraft> {
    let mut object = Object::open(tree, reader)?;
    let mut draft = NodeDraft {
        id: object.required("id", reader, shape::id(NodeId::new)),
        kind: object.required("type", reader, shape::choice(NodeKind::WORDS)),
        file: object.required("file", reader, shape::package_path),
        title: object.optional("title", reader, shape::string),
        description: object.optional("description", reader, shape::string),
        agent_id: object.optional("agentId", reader, agent_id).map(Option::flatten),
        inputs: object.list("inputs", reader, shape::string),
        outputs: object.list("outputs", reader, shape::string),
        ..NodeDraft::default()
    };
    let since = Minor::V1_2;
    draft.subworkflow_ref =
        object.since(since, "subworkflowRef", reader, shape::id(WorkflowId::new));
    draft.pass_context = object.since(since, "passContext", reader, shape::boolean);
    draft.result_variables = object.list_since(since, "resultVariables", reader, shape::text);
    if reader.minor < since && (draft.pass_context.is_none() || draft.result_variables.is_none()) {
        // It means a call, but not in this version: nothing is known.
        draft.subworkflow_ref = None;
    }
    let since = Minor::V1_3;
    draft.gate = object.since(since, "gate", reader, Gate::read).map(|gate| gate.map(Arc::new));
    let waits_for_user = object.since(since, "waitsForUser", reader, shape::boolean);
    draft.waits_for_user = waits_for_user.map(Option::unwrap_or_default);
    let auto = object.since(since, "auto", reader, shape::boolean);
    draft.auto = auto.map(Option::unwrap_or_default);
    draft.calls = object.list_since(since, "calls", reader, shape::id(WorkflowId::new));
    draft.max_visits = object.since(since, "maxVisits", reader, shape::count);
    object.close(reader);
    Some(draft)
}

/// Reads an agent id. Other tools write `""` for none.
fn agent_id(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Option<AgentId>> {
    if tree.as_str().is_some_and(|text| text.trim().is_empty()) {
        return Some(None);
    }
    shape::id(AgentId::new)(tree, reader).map(Some)
}

fn edge(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<EdgeDraft> {
    let mut object = Object::open(tree, reader)?;
    let draft = EdgeDraft {
        from: object.required("from", reader, shape::id(NodeId::new)),
        to: object.required("to", reader, shape::id(NodeId::new)),
        label: object.required("label", reader, shape::text),
        id: object.optional("id", reader, shape::string),
        is_default: object.optional("isDefault", reader, shape::boolean),
        condition_text: object.optional("conditionText", reader, shape::string),
        condition_expr: object.optional("conditionExpr", reader, condition).map(Option::flatten),
        gate: object.since(Minor::V1_3, "gate", reader, shape::text),
    };
    object.close(reader);
    Some(draft)
}

/// Reads a condition. Visual builders write `{}` for none.
fn condition(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Option<Condition>> {
    if tree.as_map().is_some_and(<[Entry]>::is_empty) {
        return Some(None);
    }
    match Condition::parse(tree) {
        Ok(condition) => Some(Some(condition)),
        Err(errors) => {
            for error in errors {
                reader.report(Code::BadCondition, error.span, error.message, error.help);
            }
            None
        }
    }
}
