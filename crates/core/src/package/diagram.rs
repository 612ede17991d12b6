//! A workflow as a diagram that can be drawn.

use super::graph::{Edge, Node, NodeKind};
use super::{Package, Workflow};
use crate::draw::{Diagram, DiagramEdge, DiagramNode, NodeShape};

impl Workflow {
    /// What a picture of this workflow shows. The package knows the names of its agents.
    pub fn diagram(&self, package: &Package) -> Diagram {
        let title = match (&self.display_name, &self.id) {
            (Some(name), _) => name.clone(),
            (None, Some(id)) => id.to_string(),
            (None, None) => package.manifest().name.clone(),
        };
        Diagram {
            title,
            entry: self.graph.entry().to_string(),
            nodes: self.graph.nodes().iter().map(|node| self.diagram_node(node, package)).collect(),
            edges: self.graph.edges().iter().map(diagram_edge).collect(),
        }
    }

    fn diagram_node(&self, node: &Node, package: &Package) -> DiagramNode {
        let agent = node
            .agent_id
            .as_ref()
            .and_then(|id| package.agents().iter().find(|agent| agent.id == *id));
        DiagramNode {
            id: node.id.to_string(),
            title: node.title.clone(),
            kind: match node.kind {
                NodeKind::Step => NodeShape::Step,
                NodeKind::Decision => NodeShape::Decision,
                NodeKind::Merge => NodeShape::Merge,
                NodeKind::End => NodeShape::End,
                NodeKind::Subworkflow => NodeShape::Subworkflow,
            },
            agent: agent.map(|agent| agent.metadata.name.clone()),
            calls: self.calls.get(&node.id).map(|call| call.workflow.to_string()),
        }
    }
}

fn diagram_edge(edge: &Edge) -> DiagramEdge {
    DiagramEdge {
        from: edge.from.to_string(),
        to: edge.to.to_string(),
        label: edge.label.clone(),
        is_default: edge.is_default,
        condition: edge.condition_text.clone().or_else(|| {
            edge.condition_expr.as_ref().map(|condition| condition.as_json().to_string())
        }),
    }
}
