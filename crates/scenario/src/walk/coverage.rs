//! What a walk has covered so far, and the way to what is left.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crewagent_format::package::graph::{Graph, NodeKind};

/// Refusals after which an edge counts as closed.
const MAX_REFUSALS: usize = 3;

/// Covered parts of all workflows. A workflow is named by its index, an edge by its index in the graph.
#[derive(Debug, Default)]
pub(super) struct Coverage {
    nodes: BTreeSet<(usize, String)>,
    edges: BTreeSet<(usize, usize)>,
    options: BTreeSet<(usize, String, String)>,
    /// Last refusal of an edge, and the number of refusals.
    refusals: BTreeMap<(usize, usize), (String, usize)>,
}

impl Coverage {
    /// Returns the number of covered parts.
    pub(super) fn size(&self) -> usize {
        self.nodes.len() + self.edges.len() + self.options.len()
    }

    pub(super) fn reach(&mut self, workflow: usize, node: &str) {
        self.nodes.insert((workflow, node.to_owned()));
    }

    pub(super) fn take(&mut self, workflow: usize, edge: usize) {
        self.edges.insert((workflow, edge));
    }

    pub(super) fn choose(&mut self, workflow: usize, node: &str, key: &str) {
        self.options.insert((workflow, node.to_owned(), key.to_owned()));
    }

    pub(super) fn refuse(&mut self, workflow: usize, edge: usize, why: &str) {
        let entry = self.refusals.entry((workflow, edge)).or_default();
        *entry = (why.to_owned(), entry.1 + 1);
    }

    pub(super) fn has_node(&self, workflow: usize, node: &str) -> bool {
        self.nodes.contains(&(workflow, node.to_owned()))
    }

    pub(super) fn has_edge(&self, workflow: usize, edge: usize) -> bool {
        self.edges.contains(&(workflow, edge))
    }

    pub(super) fn has_option(&self, workflow: usize, node: &str, key: &str) -> bool {
        self.options.contains(&(workflow, node.to_owned(), key.to_owned()))
    }

    pub(super) fn refusal(&self, workflow: usize, edge: usize) -> Option<&str> {
        self.refusals.get(&(workflow, edge)).map(|(why, _)| why.as_str())
    }

    fn is_closed(&self, workflow: usize, edge: usize) -> bool {
        self.refusals.get(&(workflow, edge)).is_some_and(|(_, times)| *times >= MAX_REFUSALS)
    }

    /// Returns true if a node has something that was not covered.
    fn is_open(&self, workflow: usize, graph: &Graph, node: &str) -> bool {
        let is_new = |(index, _): &(usize, _)| {
            !self.has_edge(workflow, *index) && !self.is_closed(workflow, *index)
        };
        let gate = graph.node(node).and_then(|node| node.gate.as_ref());
        let has_option = gate.is_some_and(|gate| {
            gate.options.iter().any(|option| !self.has_option(workflow, node, &option.key))
        });
        has_option || own_edges(graph, node).any(|edge| is_new(&edge))
    }

    /// Returns true if something that was not covered can be reached from a node.
    pub(super) fn has_more(&self, workflow: usize, graph: &Graph, node: &str) -> bool {
        self.first_step(workflow, graph, node, &|node| self.is_open(workflow, graph, node))
            .is_some()
            || self.is_open(workflow, graph, node)
    }

    /// Returns the edge to take from a node: one that was not taken, else the first one on the shortest way to something
    /// that was not covered, else on the shortest way to an end.
    pub(super) fn next(&self, workflow: usize, graph: &Graph, node: &str) -> Option<usize> {
        let fresh = own_edges(graph, node).find(|(index, _)| {
            !self.has_edge(workflow, *index) && !self.is_closed(workflow, *index)
        });
        if let Some((index, _)) = fresh {
            return Some(index);
        }
        let is_open = |other: &str| other != node && self.is_open(workflow, graph, other);
        let is_end = |other: &str| {
            graph.node(other).is_some_and(|node| node.kind == NodeKind::End)
                || own_edges(graph, other).next().is_none()
        };
        self.first_step(workflow, graph, node, &is_open)
            .or_else(|| self.first_step(workflow, graph, node, &is_end))
    }

    /// Returns the first edge of the shortest way from a node to another one that fits.
    fn first_step(
        &self,
        workflow: usize,
        graph: &Graph,
        from: &str,
        fits: &dyn Fn(&str) -> bool,
    ) -> Option<usize> {
        let mut seen: BTreeSet<&str> = BTreeSet::from([from]);
        let mut queue: VecDeque<(&str, Option<usize>)> = VecDeque::from([(from, None)]);
        while let Some((node, first)) = queue.pop_front() {
            for (index, to) in own_edges(graph, node) {
                if self.is_closed(workflow, index) || !seen.insert(to) {
                    continue;
                }
                let first = first.or(Some(index));
                if fits(to) {
                    return first;
                }
                queue.push_back((to, first));
            }
        }
        None
    }
}

/// Iterates over the edges that leave a node, by index, with their targets.
fn own_edges<'g>(graph: &'g Graph, node: &str) -> impl Iterator<Item = (usize, &'g str)> {
    let edges = graph.edges().iter().enumerate();
    let node = node.to_owned();
    edges
        .filter(move |(_, edge)| edge.from.as_str() == node)
        .map(|(index, edge)| (index, edge.to.as_str()))
}
