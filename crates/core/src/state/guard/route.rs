//! The edge of a move: it must exist, be the one that the decision names, and be open.

use crewagent_format::condition::EvaluationError;
use crewagent_format::package::graph::Edge;
use crewagent_format::package::workflow::Decision;
use crewagent_format::wording::{joined, nearest, quoted, ticked};
use serde_json::Value as Json;

use super::change::StateDifference;
use super::rules::{GuardRule, Violation};
use crate::state::next::{Exit, condition_words, exits};

/// Returns the edge that is taken; none if the run stays at its node.
pub(super) fn taken<'a>(change: &StateDifference<'a>) -> Result<Option<&'a Edge>, Violation> {
    a_node_that_exists(change)?;
    if change.left().is_none() {
        return Ok(None);
    }
    let edges = an_edge_that_exists(change)?;
    let edges = the_edges_that_the_decision_names(change, edges)?;
    an_open_edge(change, &edges).map(Some)
}

fn a_node_that_exists(change: &StateDifference<'_>) -> Result<(), Violation> {
    if change.to.is_some() {
        return Ok(());
    }
    let nodes = change.graph.nodes().iter().map(|node| node.id.as_str());
    let meant = nearest(change.target, nodes)
        .map(|similar| format!(" Did you mean `{similar}`?"))
        .unwrap_or_default();
    let message =
        format!("currentNodeId {} is not a node of this workflow.{meant}", quoted(change.target));
    Err(Violation::new(GuardRule::NodeExists, message))
}

fn an_edge_that_exists<'a>(change: &StateDifference<'a>) -> Result<Vec<Exit<'a>>, Violation> {
    let from = change.from.id.as_str();
    let mut edges = exits(change.graph, from, change.new.variables());
    edges.retain(|exit| exit.edge.to.as_str() == change.target);
    if !edges.is_empty() {
        return Ok(edges);
    }
    let note = if change.new.front().current_node().is_none() {
        " (a blank currentNodeId means the entry node)"
    } else {
        ""
    };
    let message = format!("There is no edge from `{from}` to `{}`{note}.", change.target);
    Err(Violation::new(GuardRule::EdgeExists, message))
}

/// Selects among edges between the same nodes by the decision entry.
fn the_edges_that_the_decision_names<'a>(
    change: &StateDifference<'a>,
    edges: Vec<Exit<'a>>,
) -> Result<Vec<Exit<'a>>, Violation> {
    let [decision] = change.decisions else { return Ok(edges) };
    if !is_about(change, decision) {
        return Ok(edges);
    }
    let labels: Vec<&str> = edges.iter().map(|exit| exit.edge.label.as_str()).collect();
    let labels = ticked(&labels);
    let named: Vec<Exit<'a>> =
        edges.into_iter().filter(|exit| exit.edge.label == decision.label).collect();
    if !named.is_empty() {
        return Ok(named);
    }
    let message = format!(
        "The decisionLog entry has the label {}, but from `{}` to `{}` the labels are: {labels}.",
        quoted(&decision.label),
        change.from.id,
        change.target
    );
    Err(Violation::new(GuardRule::DecisionFits, message))
}

/// Returns true if a decision entry describes this move.
pub(super) fn is_about(change: &StateDifference<'_>, decision: &Decision) -> bool {
    decision.from == change.from.id.as_str() && decision.to == change.target
}

fn an_open_edge<'a>(
    change: &StateDifference<'a>,
    edges: &[Exit<'a>],
) -> Result<&'a Edge, Violation> {
    let mut open = edges.iter().filter(|exit| exit.open).map(|exit| exit.edge);
    let Some(first) = open.next() else {
        let closed = joined(edges.iter().map(|exit| closed(change, exit)));
        return Err(Violation::new(
            GuardRule::ConditionHolds,
            format!("The way to `{}` is closed: {closed}.", change.target),
        ));
    };
    let others: Vec<&str> =
        open.map(|edge| edge.label.as_str()).filter(|label| *label != first.label).collect();
    if others.is_empty() {
        return Ok(first);
    }
    let labels: Vec<&str> = std::iter::once(first.label.as_str()).chain(others).collect();
    let message = format!(
        "Several edges lead from `{}` to `{}`: {}. Say which one: add one decisionLog entry with from, to and label.",
        change.from.id,
        change.target,
        ticked(&labels)
    );
    Err(Violation::new(GuardRule::LabelKnown, message))
}

/// Explains why an edge cannot be taken, with the values that its condition reads.
fn closed(change: &StateDifference<'_>, exit: &Exit<'_>) -> String {
    let edge = exit.edge;
    if let Some(failure @ EvaluationError::TooMuchWork) = &exit.failure {
        return format!("edge `{}` stays closed: {failure}", edge.label);
    }
    let words = condition_words(edge).unwrap_or_default();
    let rule = edge.condition_expr.as_ref();
    let values = rule.map(|rule| {
        let value = |name: String| match change.new.variables().get(&name) {
            Some(value) => format!("`{name}` is {}", shown(value)),
            None => format!("`{name}` is not set"),
        };
        joined(rule.variables().iter().map(|name| value(name.to_string())))
    });
    let values = values.filter(|values| !values.is_empty()).map(|values| format!("; {values}"));
    format!("edge `{}` needs \"{words}\"{}", edge.label, values.unwrap_or_default())
}

fn shown(value: &Json) -> String {
    match value {
        Json::String(text) => quoted(text),
        Json::Null | Json::Bool(_) | Json::Number(_) => value.to_string(),
        Json::Array(_) => "a list".to_owned(),
        Json::Object(_) => "an object".to_owned(),
    }
}
