//! Readable part of a graph. Each wrong part is missing on its own, so that one mistake hides no other.

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::{Map, Value as Json};

use super::{Content, Edge, Graph, Node, NodeKind};
use crate::condition::Condition;
use crate::diagnostic::Code;
use crate::id::{AgentId, NodeId, WorkflowId};
use crate::package::agents::not_empty;
use crate::package::versioned;
use crate::path::PackagePath;
use crate::shape::{self, Object, ShapeReader};
use crate::syntax::Tree;
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
    title: Option<Option<String>>,
    description: Option<Option<String>>,
    pub(in crate::package) agent_id: Option<Option<AgentId>>,
    pub(in crate::package) inputs: Option<Vec<String>>,
    pub(in crate::package) outputs: Option<Vec<String>>,
    pub(in crate::package) subworkflow_ref: Option<Option<WorkflowId>>,
    pub(in crate::package) pass_context: Option<Option<bool>>,
    pub(in crate::package) result_variables: Option<Vec<String>>,
}

#[derive(Default)]
pub(in crate::package) struct EdgeDraft {
    pub(in crate::package) from: Option<NodeId>,
    pub(in crate::package) to: Option<NodeId>,
    pub(in crate::package) label: Option<String>,
    id: Option<Option<String>>,
    pub(in crate::package) is_default: Option<bool>,
    pub(in crate::package) condition_text: Option<Option<String>>,
    pub(in crate::package) condition_expr: Option<Option<Condition>>,
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
        self.entry = object.required("entryNodeId", reader, shape::id(NodeId::new));
        let minor = self.version.map_or(Minor::V1_2, SchemaVersion::minor);
        let nodes = object.required("nodes", reader, |tree, reader| {
            let nodes = shape::items(tree, reader, |tree, reader| node(tree, minor, reader))?;
            self.nodes = nodes.into_iter().map(Option::unwrap_or_default).collect();
            not_empty(tree, &self.nodes, "a node", reader)
        });
        let edges = object.required("edges", reader, |tree, reader| {
            let edges = shape::items(tree, reader, edge)?;
            self.edges = edges.into_iter().map(Option::unwrap_or_default).collect();
            Some(())
        });
        self.metadata = object.optional("metadata", reader, shape::open_map).flatten();
        self.lists_read = nodes.is_some() && edges.is_some();
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

    /// Builds the graph; `None` unless every part was readable and every reference is valid.
    pub(in crate::package) fn finish(&self) -> Option<Graph> {
        self.lists_read.then_some(())?;
        let nodes: Vec<Node> = self.nodes.iter().map(NodeDraft::finish).collect::<Option<_>>()?;
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
    fn finish(&self) -> Option<Node> {
        Some(Node {
            id: self.id.clone()?,
            kind: self.kind?,
            file: self.file.clone()?,
            title: self.title.clone()?,
            description: self.description.clone()?,
            agent_id: self.agent_id.clone()?,
            inputs: self.inputs.clone()?,
            outputs: self.outputs.clone()?,
            subworkflow_ref: self.subworkflow_ref.clone()?,
            pass_context: self.pass_context?,
            result_variables: self.result_variables.clone()?,
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
            is_default: self.is_default?,
            condition_text: self.condition_text.clone()?,
            condition_expr: self.condition_expr.clone()?,
        })
    }
}

fn node(tree: &Tree, minor: Minor, reader: &mut ShapeReader<'_>) -> Option<NodeDraft> {
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
        subworkflow_ref: Some(None),
        pass_context: Some(None),
        result_variables: Some(Vec::new()),
    };
    if minor >= Minor::V1_2 {
        draft.subworkflow_ref =
            object.optional("subworkflowRef", reader, shape::id(WorkflowId::new));
        draft.pass_context = object.optional("passContext", reader, shape::boolean);
        draft.result_variables = object.list("resultVariables", reader, shape::text);
    } else {
        refuse_newer_keys(tree, &mut object, reader);
    }
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

/// Reports the keys of 1.2 in a 1.1 graph as unknown and suggests the newer version.
fn refuse_newer_keys(tree: &Tree, object: &mut Object<'_>, reader: &mut ShapeReader<'_>) {
    for key in ["subworkflowRef", "passContext", "resultVariables"] {
        if let Some(entry) = tree.get(key) {
            let message = format!("`{}` may not have a key `{key}` in format 1.1", reader.trail());
            let help = "set `schemaVersion` of this graph and of `bmad.json` to \"1.2\", which has sub-workflows";
            reader.report(Code::UnknownKey, entry.key_span, message, help);
            object.mark_reported(key);
        }
    }
}

fn edge(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<EdgeDraft> {
    let mut object = Object::open(tree, reader)?;
    let draft = EdgeDraft {
        from: object.required("from", reader, shape::id(NodeId::new)),
        to: object.required("to", reader, shape::id(NodeId::new)),
        label: object.required("label", reader, shape::text),
        id: object.optional("id", reader, shape::string),
        is_default: object
            .optional("isDefault", reader, shape::boolean)
            .map(Option::unwrap_or_default),
        condition_text: object.optional("conditionText", reader, shape::string),
        condition_expr: object.optional("conditionExpr", reader, condition),
    };
    object.close(reader);
    Some(draft)
}

fn condition(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Condition> {
    match Condition::parse(tree) {
        Ok(condition) => Some(condition),
        Err(errors) => {
            for error in errors {
                reader.report(Code::BadCondition, error.span, error.message, error.help);
            }
            None
        }
    }
}
