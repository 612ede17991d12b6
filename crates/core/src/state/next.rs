//! Moves from a node: every edge, open or closed by its condition.

use crewagent_format::condition::{EvaluationError, Evaluator};
use crewagent_format::id::NodeId;
use crewagent_format::package::graph::{Edge, Graph, Node, NodeKind};
use serde::Serialize;
use serde_json::{Map, Value as Json};

/// Move along an edge of the graph, as shown to a model.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Next {
    pub to: NodeId,
    /// Label of the edge; a decision names it.
    pub label: String,
    #[serde(rename = "default")]
    pub is_default: bool,
    /// Condition in the author's words, else the rule itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub condition: Option<String>,
    /// True if the edge can be taken with the current variables.
    pub open: bool,
}

/// Returns the moves from a node, in the order of the graph, judged by these variables.
pub fn allowed_next(graph: &Graph, node: &str, variables: &Map<String, Json>) -> Vec<Next> {
    exits(graph, node, variables)
        .into_iter()
        .map(|Exit { edge, open, .. }| Next {
            to: edge.to.clone(),
            label: edge.label.clone(),
            is_default: edge.is_default,
            condition: condition_words(edge),
            open,
        })
        .collect()
}

/// Edge that leads away from a node.
pub(super) struct Exit<'g> {
    pub(super) edge: &'g Edge,
    pub(super) open: bool,
    /// Reason why its condition could not be evaluated.
    pub(super) failure: Option<EvaluationError>,
}

/// Returns the edges that leave a node. An edge without a condition is open, one with a condition if it holds, and the
/// default edge also if no other condition holds. A condition that cannot be evaluated does not hold.
pub(super) fn exits<'g>(
    graph: &'g Graph,
    node: &str,
    variables: &Map<String, Json>,
) -> Vec<Exit<'g>> {
    let evaluator = Evaluator::new(variables);
    let judged: Vec<(&Edge, Option<Result<bool, EvaluationError>>)> = graph
        .outgoing(node)
        .map(|edge| (edge, edge.condition_expr.as_ref().map(|rule| evaluator.holds(rule))))
        .collect();
    let none_holds = !judged.iter().any(|(_, holds)| *holds == Some(Ok(true)));
    let exit = |(edge, holds): (&'g Edge, Option<Result<bool, EvaluationError>>)| Exit {
        edge,
        open: matches!(holds, None | Some(Ok(true))) || (edge.is_default && none_holds),
        failure: holds.and_then(Result::err),
    };
    judged.into_iter().map(exit).collect()
}

/// Returns true if a workflow may be completed here: at an end node, or a node without edges.
pub(super) fn is_last(graph: &Graph, node: &Node) -> bool {
    node.kind == NodeKind::End || graph.outgoing(node.id.as_str()).next().is_none()
}

pub(super) fn condition_words(edge: &Edge) -> Option<String> {
    let words = edge.condition_text.as_deref().map(str::trim).filter(|words| !words.is_empty());
    let rule = || edge.condition_expr.as_ref().map(|rule| rule.as_json().to_string());
    words.map(str::to_owned).or_else(rule)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::state::fixture;

    fn check_open(variables: Json, expected: &[(&str, bool)]) {
        let workflow = fixture::hello_branch();
        let next =
            allowed_next(&workflow.graph, "decide-02-project-type", variables.as_object().unwrap());
        let open: Vec<_> = next.iter().map(|next| (next.label.as_str(), next.open)).collect();
        assert_eq!(open, expected, "{variables}");
    }

    #[test]
    fn an_edge_is_open_when_its_condition_holds_and_the_default_when_no_other_does() {
        check_open(
            json!({"projectType": "greenfield"}),
            &[("greenfield", true), ("brownfield", false)],
        );
        check_open(
            json!({"projectType": "brownfield"}),
            &[("greenfield", false), ("brownfield", true)],
        );
        check_open(json!({"projectType": "other"}), &[("greenfield", false), ("brownfield", true)]);
        check_open(json!({}), &[("greenfield", false), ("brownfield", true)]);
    }

    #[test]
    fn an_edge_without_a_condition_is_always_open() {
        let workflow = fixture::hello_branch();
        let next = allowed_next(&workflow.graph, "step-01-intake", &Map::new());
        let expected = json!([{"to": "decide-02-project-type", "label": "next", "default": true, "open": true}]);
        assert_eq!(serde_json::to_value(next).unwrap(), expected);
        assert!(allowed_next(&workflow.graph, "end-99", &Map::new()).is_empty());
        assert!(allowed_next(&workflow.graph, "nowhere", &Map::new()).is_empty());
    }
}
