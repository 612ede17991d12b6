//! How far a workflow has come: the number of a step, and the steps on the shortest way.

use std::collections::{BTreeSet, VecDeque};

use crewagent_format::package::graph::{Graph, NodeKind};

use crate::state::run_state::RunState;

/// Position of a node in the course of a workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkflowProgress {
    /// Number of the step, from 1: distinct nodes that are done, and this one.
    pub step: usize,
    /// Steps on the shortest way to an end.
    pub of: usize,
    /// True if a branch or a loop lies ahead, so that there may be more.
    pub may_grow: bool,
}

/// Returns the progress of a run at its current node.
pub fn progress(graph: &Graph, run_state: &RunState) -> WorkflowProgress {
    let current = run_state.current_node_id.as_str();
    let done: BTreeSet<&str> = run_state
        .steps_completed
        .iter()
        .map(String::as_str)
        .filter(|step| *step != current)
        .collect();
    let (ahead, may_grow) = way_ahead(graph, current);
    WorkflowProgress { step: done.len() + 1, of: done.len() + 1 + ahead, may_grow }
}

/// Returns the number of steps to the nearest end, and true if a branch or a loop lies ahead.
fn way_ahead(graph: &Graph, from: &str) -> (usize, bool) {
    let mut seen: BTreeSet<&str> = BTreeSet::from([from]);
    let mut queue = VecDeque::from([(from, 0)]);
    let (mut nearest, mut may_grow) = (None, false);
    while let Some((id, steps)) = queue.pop_front() {
        let is_end = graph.node(id).is_none_or(|node| node.kind == NodeKind::End);
        let ways: Vec<&str> = graph.outgoing(id).map(|edge| edge.to.as_str()).collect();
        if is_end || ways.is_empty() {
            nearest = nearest.or(Some(steps));
            continue;
        }
        may_grow |= ways.len() > 1;
        for to in ways {
            if seen.insert(to) {
                queue.push_back((to, steps + 1));
            }
        }
    }
    (nearest.unwrap_or(0), may_grow)
}
