//! Diagram of a checked workflow.

use crewagent_format::condition::Condition;
use crewagent_format::package::graph::{Edge, Graph, Node, NodeKind};
use crewagent_format::package::sketch::{EdgeSketch, NodeSketch, WorkflowSketch};
use crewagent_format::package::{Package, Workflow};

use super::{Diagram, DiagramCondition, DiagramEdge, DiagramNode, DiagramOption, NodeShape};

impl Diagram {
    /// Builds the diagram of `workflow`. The package has the names of its agents.
    pub fn of(workflow: &Workflow, package: &Package) -> Diagram {
        let title = match (&workflow.display_name, &workflow.id) {
            (Some(name), _) => name.clone(),
            (None, Some(id)) => id.to_string(),
            (None, None) => package.manifest().name.clone(),
        };
        let graph = &workflow.graph;
        Diagram {
            title,
            entry: graph.entry().to_string(),
            nodes: graph.nodes().iter().map(|node| diagram_node(node, workflow, package)).collect(),
            edges: graph.edges().iter().map(|edge| diagram_edge(edge, graph)).collect(),
        }
    }
}

impl Diagram {
    /// Builds the diagram of what was readable of a workflow. `name` is its title if it has none of its own.
    pub fn of_sketch(sketch: &WorkflowSketch, name: &str) -> Diagram {
        let id = sketch.id.as_ref().map(ToString::to_string);
        let title = sketch.display_name.clone().or(id).unwrap_or_else(|| name.to_owned());
        Diagram {
            title,
            entry: sketch.entry.as_ref().map(ToString::to_string).unwrap_or_default(),
            nodes: sketch.nodes.iter().map(sketched_node).collect(),
            edges: sketch.edges.iter().map(sketched_edge).collect(),
        }
    }
}

fn sketched_node(node: &NodeSketch) -> DiagramNode {
    DiagramNode {
        id: node.id.to_string(),
        title: node.title.clone(),
        kind: node.kind.map_or(NodeShape::Step, shape),
        agent: node.agent.clone(),
        calls: node.calls.clone(),
        keys: Vec::new(),
        resumes: false,
        auto: false,
    }
}

fn sketched_edge(edge: &EdgeSketch) -> DiagramEdge {
    DiagramEdge {
        from: edge.from.to_string(),
        to: edge.to.to_string(),
        label: edge.label.clone(),
        is_default: edge.is_default,
        condition: DiagramCondition::of(
            edge.condition_text.as_deref(),
            edge.condition_expr.as_ref().map(Condition::as_json),
        ),
        option: None,
    }
}

fn shape(kind: NodeKind) -> NodeShape {
    match kind {
        NodeKind::Step => NodeShape::Step,
        NodeKind::Decision => NodeShape::Decision,
        NodeKind::Merge => NodeShape::Merge,
        NodeKind::End => NodeShape::End,
        NodeKind::Subworkflow => NodeShape::Subworkflow,
    }
}

fn diagram_node(node: &Node, workflow: &Workflow, package: &Package) -> DiagramNode {
    let step = workflow.steps.get(&node.id);
    let keys = node.gate.iter().flat_map(|gate| &gate.options).map(|option| option.key.clone());
    let agent =
        node.agent_id.as_ref().and_then(|id| package.agents().iter().find(|agent| agent.id == *id));
    DiagramNode {
        id: node.id.to_string(),
        title: node.title.clone(),
        kind: shape(node.kind),
        agent: agent.map(|agent| agent.metadata.name.clone()),
        calls: workflow.calls.get(&node.id).map(|call| call.workflow.to_string()),
        keys: keys.collect(),
        resumes: step.is_some_and(|step| step.front.resume_only),
        auto: node.auto,
    }
}

fn diagram_edge(edge: &Edge, graph: &Graph) -> DiagramEdge {
    DiagramEdge {
        from: edge.from.to_string(),
        to: edge.to.to_string(),
        label: edge.label.clone(),
        is_default: edge.is_default,
        condition: DiagramCondition::of(
            edge.condition_text.as_deref(),
            edge.condition_expr.as_ref().map(Condition::as_json),
        ),
        option: option(edge, graph),
    }
}

/// Returns the option of the gate that takes an edge. Its key alone says enough where the gate leads one way only.
fn option(edge: &Edge, graph: &Graph) -> Option<DiagramOption> {
    let key = edge.gate.clone()?;
    let gate = graph.node(edge.from.as_str()).and_then(|node| node.gate.as_ref());
    let is_only = graph.outgoing(edge.from.as_str()).count() < 2;
    let own = Some(edge.label.trim()).filter(|label| !label.is_empty() && *label != key);
    let option = gate.and_then(|gate| gate.option(&key)).map(|option| option.label.as_str());
    let words = own.or(option.filter(|_| !is_only));
    let text = words.map_or_else(|| key.clone(), |words| format!("{key} · {words}"));
    Some(DiagramOption { key, text })
}
