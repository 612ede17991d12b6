//! Checks that no chain of calls is a cycle.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet, VecDeque};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use super::GraphCalls;
use crate::diagnostic::{Code, Diagnostic, Findings, Location};
use crate::package::check::WorkflowDraft;

/// Edges from each workflow to its graph, and from each graph to the workflows that it calls. With the graphs as nodes
/// of their own there are no more edges than calls, however many workflows share a graph.
type CallGraph<'p> = DiGraph<(), Option<&'p Location>>;

/// Reports every cycle and returns true if there is one.
pub(super) fn check(
    workflows: &[WorkflowDraft],
    graph_of: &[Option<usize>],
    found: &[GraphCalls],
    findings: &mut Findings,
) -> bool {
    let mut index_of = HashMap::new();
    for (index, workflow) in workflows.iter().enumerate() {
        if let Some(id) = &workflow.id {
            index_of.entry(id).or_insert(index);
        }
    }
    let mut calls = CallGraph::new();
    for _ in 0..workflows.len() + found.len() {
        calls.add_node(());
    }
    let node_of = |graph: usize| NodeIndex::new(workflows.len() + graph);
    for (workflow, graph) in graph_of.iter().enumerate() {
        if let Some(graph) = graph {
            calls.add_edge(NodeIndex::new(workflow), node_of(*graph), None);
        }
    }
    for (graph, found) in found.iter().enumerate() {
        for (child, place) in &found.children {
            if let Some(child) = index_of.get(child) {
                calls.add_edge(node_of(graph), NodeIndex::new(*child), Some(place));
            }
        }
    }
    let mut in_circles = false;
    for group in kosaraju_scc(&calls).into_iter().filter(|group| group.len() > 1) {
        in_circles = true;
        let Some(start) = group.iter().copied().min() else { continue };
        let path = circle(&calls, start, &group.into_iter().collect());
        let names: Vec<&str> = path
            .iter()
            .filter_map(|node| Some(workflows.get(node.index())?.id.as_ref()?.as_str()))
            .collect();
        let place = path.windows(2).find_map(|step| {
            let edge = calls.find_edge(*step.first()?, *step.last()?)?;
            *calls.edge_weight(edge)?
        });
        if let Some(place) = place {
            let message = format!("workflows call each other in a circle: {}", shortened(&names));
            let finding = Diagnostic::new(Code::CallCycle, place.clone(), message);
            findings.push(finding.help("a workflow may not call itself, not even through others; loop with edges inside one graph instead"));
        }
    }
    in_circles
}

/// Shortens a cycle of thousands to its beginning and its end.
fn shortened(names: &[&str]) -> String {
    const SHOWN: usize = 8;
    match names {
        [head @ .., last] if head.len() > SHOWN => {
            let more = head.len() - SHOWN;
            let head = head.iter().take(SHOWN).copied().collect::<Vec<_>>().join(" → ");
            format!("{head} → … ({more} more) → {last}")
        }
        names => names.join(" → "),
    }
}

/// Finds a shortest cycle through `start` inside the group.
fn circle(calls: &CallGraph<'_>, start: NodeIndex, group: &HashSet<NodeIndex>) -> Vec<NodeIndex> {
    let mut came_from: HashMap<NodeIndex, NodeIndex> = HashMap::new();
    let mut queue = VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for next in calls.neighbors(at).filter(|next| group.contains(next)) {
            if next == start {
                let mut path = vec![start, at];
                while let Some(before) = path.last().and_then(|last| came_from.get(last)) {
                    path.push(*before);
                }
                path.reverse();
                return path;
            }
            if let Entry::Vacant(slot) = came_from.entry(next) {
                slot.insert(at);
                queue.push_back(next);
            }
        }
    }
    vec![start]
}
