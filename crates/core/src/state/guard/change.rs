//! The difference between the old and the new document, in terms of the graph.

use crewagent_format::package::graph::{Graph, Node, NodeKind};
use crewagent_format::package::workflow::Decision;

use crate::state::document::StateDocument;
use crate::state::next::is_last;

/// Change of the state. A list that did not only grow counts as not grown; a separate rule refuses it.
pub(super) struct StateDifference<'a> {
    pub(super) graph: &'a Graph,
    pub(super) old: &'a StateDocument,
    pub(super) new: &'a StateDocument,
    /// Current node.
    pub(super) from: &'a Node,
    /// Name of the next node as written; the entry node if blank.
    pub(super) target: &'a str,
    /// Node with that name.
    pub(super) to: Option<&'a Node>,
    /// Additions to `stepsCompleted`.
    pub(super) steps: &'a [String],
    /// Additions to `decisionLog`.
    pub(super) decisions: &'a [Decision],
    /// Additions to `artifacts`.
    pub(super) artifacts: &'a [String],
}

impl<'a> StateDifference<'a> {
    /// Returns the change; `None` if the current node is not in the graph.
    pub(super) fn between(
        graph: &'a Graph,
        old: &'a StateDocument,
        new: &'a StateDocument,
    ) -> Option<Self> {
        let (before, after) = (old.front(), new.front());
        let target = new.current_node_id(graph);
        Some(Self {
            graph,
            old,
            new,
            from: graph.node(old.current_node_id(graph))?,
            target,
            to: graph.node(target),
            steps: added(&before.steps_completed, &after.steps_completed, |a, b| a == b),
            decisions: added(&before.decision_log, &after.decision_log, is_same),
            artifacts: added(&before.artifacts, &after.artifacts, |a, b| a == b),
        })
    }

    /// Returns the node that the change leaves. A move along an edge back to the same node shows only in the lists.
    pub(super) fn left(&self) -> Option<&'a Node> {
        (self.target != self.from.id.as_str() || self.is_round()).then_some(self.from)
    }

    fn is_round(&self) -> bool {
        let own = self.from.id.as_str();
        let decided = || self.decisions.iter().any(|entry| entry.from == own && entry.to == own);
        let done = || self.from.kind != NodeKind::End && self.steps.iter().any(|id| id == own);
        self.target == own
            && self.graph.outgoing(own).any(|edge| edge.to.as_str() == own)
            && (decided() || done())
    }

    /// Returns the new node, if a workflow may end there.
    pub(super) fn reached(&self) -> Option<&'a Node> {
        self.to.filter(|node| is_last(self.graph, node))
    }

    /// Returns the last node that this change completes, by `stepsCompleted` or by `workflowStatus`.
    pub(super) fn completed(&self) -> Option<&'a Node> {
        let news = self.left().is_some() || !self.old.is_complete(self.graph);
        self.reached().filter(|node| {
            let listed = self.steps.iter().any(|id| id == node.id.as_str());
            listed || (news && self.new.is_complete(self.graph))
        })
    }
}

/// Returns the entries added to a list; none if it did not only grow.
fn added<'l, T>(old: &[T], new: &'l [T], same: impl Fn(&T, &T) -> bool) -> &'l [T] {
    if count_unchanged(old, new, same) == old.len() {
        new.get(old.len()..).unwrap_or_default()
    } else {
        &[]
    }
}

/// Returns the number of leading entries of a list that are unchanged.
pub(super) fn count_unchanged<T>(old: &[T], new: &[T], same: impl Fn(&T, &T) -> bool) -> usize {
    old.iter().zip(new).take_while(|(a, b)| same(a, b)).count()
}

pub(super) fn is_same(a: &Decision, b: &Decision) -> bool {
    let parts = |entry: &Decision| {
        let Decision { from, to, label, reason, decided_at } = entry.clone();
        (from, to, label, reason, decided_at)
    };
    parts(a) == parts(b)
}
