//! Diagram as indices: unique nodes, edges between known nodes, and which edges lead back.

use std::collections::HashMap;

use super::text::clean;
use super::{Diagram, DiagramEdge, DiagramNode};

/// Fewest edges of a node that are folded.
const FEWEST_FOLDED: usize = 3;

/// Drawable graph.
#[derive(Debug)]
pub(super) struct DrawableGraph<'a> {
    pub(super) title: &'a str,
    pub(super) nodes: Vec<&'a DiagramNode>,
    pub(super) links: Vec<Link<'a>>,
    /// Index of the node that a run starts at, if it exists.
    pub(super) entry: Option<usize>,
    /// Targets of the edges of every node that are not drawn as lines.
    pub(super) folded: Vec<Vec<usize>>,
}

/// Edge between known nodes.
#[derive(Debug)]
pub(super) struct Link<'a> {
    pub(super) edge: &'a DiagramEdge,
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) flow: LinkDirection,
    /// True if it is the default of several moves; the only move of a node needs no mark.
    pub(super) is_default: bool,
}

impl Link<'_> {
    /// Returns the text of the label: the option of a gate, or the name of the move.
    pub(super) fn name(&self) -> &str {
        self.edge.option.as_ref().map_or(&self.edge.label, |option| &option.text)
    }

    /// Returns the condition for readers, on one line; `None` if it is absent or blank.
    pub(super) fn condition(&self) -> Option<String> {
        let condition = self.edge.condition.as_ref()?;
        Some(clean(&condition.sentence())).filter(|text| !text.is_empty())
    }
}

/// Direction of a link in a picture that reads from top to bottom.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LinkDirection {
    /// Down, in reading direction.
    Forward,
    /// Up, to an ancestor: a loop.
    Back,
    /// From a node to itself.
    Own,
}

impl<'a> DrawableGraph<'a> {
    /// Indexes a diagram. Edges to unknown nodes and repeated nodes are left out.
    pub(super) fn of(diagram: &'a Diagram) -> DrawableGraph<'a> {
        let mut index: HashMap<&str, usize> = HashMap::new();
        let mut nodes: Vec<&DiagramNode> = Vec::new();
        for node in &diagram.nodes {
            index.entry(&node.id).or_insert_with(|| {
                nodes.push(node);
                nodes.len() - 1
            });
        }
        let at = |id: &str| index.get(id).copied();
        let mut links: Vec<Link> = Vec::new();
        let mut moves = vec![0usize; nodes.len()];
        for edge in &diagram.edges {
            if let (Some(from), Some(to)) = (at(&edge.from), at(&edge.to)) {
                let flow = if from == to { LinkDirection::Own } else { LinkDirection::Forward };
                moves[from] += 1;
                links.push(Link { edge, from, to, flow, is_default: false });
            }
        }
        let entry = at(&diagram.entry);
        let folded = vec![Vec::new(); nodes.len()];
        let mut graph = DrawableGraph { title: &diagram.title, nodes, links, entry, folded };
        for link in &mut graph.links {
            link.is_default = link.edge.is_default && moves[link.from] > 1;
        }
        graph.find_loops();
        graph
    }

    /// Indexes a diagram for a layout: a node that only resumes work may lead to every other one, and lines to all of them
    /// would hide the rest. They are folded into the node, unless a target has no other way in.
    pub(super) fn folded(diagram: &'a Diagram) -> DrawableGraph<'a> {
        let mut graph = DrawableGraph::of(diagram);
        let mut leaving = vec![0usize; graph.nodes.len()];
        let mut entered = vec![false; graph.nodes.len()];
        for link in &graph.links {
            leaving[link.from] += 1;
            entered[link.to] |= !graph.nodes[link.from].resumes;
        }
        let (nodes, folded) = (&graph.nodes, &mut graph.folded);
        graph.links.retain(|link| {
            let folds = nodes[link.from].resumes
                && leaving[link.from] >= FEWEST_FOLDED
                && entered[link.to]
                && link.flow != LinkDirection::Own;
            if folds && !folded[link.from].contains(&link.to) {
                folded[link.from].push(link.to);
            }
            !folds
        });
        graph
    }

    /// Marks the links that lead back to a node on the path from the entry. The other links form no cycle.
    fn find_loops(&mut self) {
        let mut leaving: Vec<Vec<usize>> = vec![Vec::new(); self.nodes.len()];
        for (at, link) in self.links.iter().enumerate() {
            if link.flow == LinkDirection::Forward {
                leaving[link.from].push(at);
            }
        }
        let mut state = vec![VisitState::Unseen; self.nodes.len()];
        let roots = self.entry.into_iter().chain(0..self.nodes.len());
        // An explicit stack: a chain may be deeper than the thread's stack.
        for root in roots {
            if state[root] != VisitState::Unseen {
                continue;
            }
            state[root] = VisitState::Open;
            let mut trail = vec![(root, 0usize)];
            while let Some((node, next)) = trail.last_mut() {
                let Some(&at) = leaving[*node].get(*next) else {
                    state[*node] = VisitState::Done;
                    trail.pop();
                    continue;
                };
                *next += 1;
                let to = self.links[at].to;
                match state[to] {
                    VisitState::Unseen => {
                        state[to] = VisitState::Open;
                        trail.push((to, 0));
                    }
                    VisitState::Open => self.links[at].flow = LinkDirection::Back,
                    VisitState::Done => {}
                }
            }
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum VisitState {
    Unseen,
    Open,
    Done,
}
