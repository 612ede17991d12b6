//! Readable part of a workflow with mistakes: enough for a picture, in which authors find them.

use super::agents::AgentsDraft;
use super::check::{GraphRead, WorkflowDraft};
use super::graph::{EdgeDraft, NodeDraft, NodeKind};
use crate::condition::Condition;
use crate::id::{NodeId, WorkflowId};
use crate::path::PackagePath;

/// Readable part of a workflow.
#[derive(Clone, Debug)]
pub struct WorkflowSketch {
    pub id: Option<WorkflowId>,
    pub display_name: Option<String>,
    pub entry: Option<NodeId>,
    /// Files that it is read from.
    pub files: Vec<PackagePath>,
    /// Nodes whose id was readable.
    pub nodes: Vec<NodeSketch>,
    /// Edges whose ends were readable; they need not be nodes.
    pub edges: Vec<EdgeSketch>,
}

/// Readable part of a node.
#[derive(Clone, Debug)]
pub struct NodeSketch {
    pub id: NodeId,
    pub kind: Option<NodeKind>,
    pub title: Option<String>,
    /// Name of its agent; the id if there is no such agent.
    pub agent: Option<String>,
    /// Workflow that it calls; the text of the graph if there is no such workflow.
    pub calls: Option<String>,
}

/// Readable part of an edge.
#[derive(Clone, Debug)]
pub struct EdgeSketch {
    pub from: NodeId,
    pub to: NodeId,
    pub label: String,
    pub is_default: bool,
    pub condition_text: Option<String>,
    pub condition_expr: Option<Condition>,
}

impl WorkflowSketch {
    /// Returns the sketch of a workflow whose graph was readable.
    pub(super) fn of(workflow: &WorkflowDraft, agents: Option<&AgentsDraft>) -> Option<Self> {
        let read = workflow.graph.as_deref()?;
        let nodes = read.draft.nodes.iter().enumerate();
        let nodes = nodes.filter_map(|(at, node)| NodeSketch::of(at, node, read, workflow, agents));
        let steps = read.draft.nodes.iter().filter_map(|node| node.file.clone());
        Some(Self {
            files: workflow
                .document_path
                .iter()
                .chain([&read.path])
                .cloned()
                .chain(steps)
                .collect(),
            id: workflow.id.clone(),
            display_name: workflow.display_name.clone(),
            entry: read.draft.entry.clone(),
            nodes: nodes.collect(),
            edges: read.draft.edges.iter().filter_map(EdgeSketch::of).collect(),
        })
    }
}

impl NodeSketch {
    fn of(
        at: usize,
        node: &NodeDraft,
        read: &GraphRead,
        workflow: &WorkflowDraft,
        agents: Option<&AgentsDraft>,
    ) -> Option<Self> {
        let id = node.id.clone()?;
        let step = || read.steps.get(at)?.as_ref()?.step.as_ref()?.front.title.clone();
        let agent = node.agent_id.clone().flatten().map(|id| {
            let mut known = agents.into_iter().flat_map(|draft| &draft.agents).flatten();
            let agent = known.find(|agent| agent.id == id);
            agent.map_or_else(|| id.to_string(), |agent| agent.metadata.name.clone())
        });
        let named = || node.subworkflow_ref.as_ref()?.as_ref().map(WorkflowId::to_string);
        Some(Self {
            kind: node.kind,
            title: node.title.clone().flatten().or_else(step),
            agent,
            calls: workflow.calls.get(&id).map(|call| call.workflow.to_string()).or_else(named),
            id,
        })
    }
}

impl EdgeSketch {
    fn of(edge: &EdgeDraft) -> Option<Self> {
        Some(Self {
            from: edge.from.clone()?,
            to: edge.to.clone()?,
            label: edge.label.clone().unwrap_or_default(),
            is_default: edge.is_default.flatten().unwrap_or_default(),
            condition_text: edge.condition_text.clone().flatten(),
            condition_expr: edge.condition_expr.clone().flatten(),
        })
    }
}
