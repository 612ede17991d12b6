//! Reachability. A missing edge leaves a dead end, unreachable nodes and an unreachable end; only its two sides are
//! reported, as one finding where it is clear that they belong together.

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::{Dfs, VisitMap as _, Visitable};

use super::GraphWalk;
use crate::diagnostic::{Code, Diagnostic, Findings};
use crate::package::graph::NodeKind;

/// Reports what cannot be reached. `ways_out` are findings about the edges that leave a node, with its index; they are
/// reported here, because they may be the other side of one mistake.
pub(super) fn check(
    walk: &GraphWalk<'_>,
    mut ways_out: Vec<(usize, Diagnostic)>,
    findings: &mut Findings,
) {
    let mut search = Dfs::new(&walk.graph, NodeIndex::new(walk.entry));
    while search.next(&walk.graph).is_some() {}
    let reached = search.discovered.clone();
    let is_reached = |index: usize| reached.is_visited(&NodeIndex::<u32>::new(index));
    let mut roots = unreachable_roots(walk, search);
    // A node of unknown type may be an end.
    let is_end = |index: usize| walk.kind(index).is_none_or(|kind| kind == NodeKind::End);
    let mut ends = (0..walk.nodes.len()).filter(|index| is_end(*index)).peekable();
    let has_end = ends.peek().is_some();
    if !ends.any(is_reached) && (!has_end || roots.is_empty()) {
        findings.push(no_end(walk));
    }
    let mut loose = ways_out.iter_mut().filter(|(index, finding)| {
        is_reached(*index) && matches!(finding.code, Code::DeadEnd | Code::FewBranches)
    });
    if let (Some((_, finding)), None, [(root, hidden)]) = (loose.next(), loose.next(), &*roots) {
        let message = unreachable(walk, *root, *hidden);
        *finding = finding.clone().related(walk.node_place(*root), message);
        roots.clear();
    }
    for (root, hidden) in roots {
        let message = unreachable(walk, root, hidden);
        let finding = Diagnostic::new(Code::UnreachableNode, walk.node_place(root), message);
        findings.push(finding.help("add an edge that leads to it, or remove it"));
    }
    for (_, finding) in ways_out {
        findings.push(finding);
    }
}

/// Returns the unreachable nodes to which no other unreachable group leads, in the order of the file, each with the
/// number of nodes that are unreachable behind it. `search` has visited what can be reached.
fn unreachable_roots(
    walk: &GraphWalk<'_>,
    mut search: Dfs<NodeIndex, <DiGraph<(), ()> as Visitable>::Map>,
) -> Vec<(usize, usize)> {
    let mut roots = Vec::new();
    // The groups come in reverse topological order, so the sources are last.
    for group in kosaraju_scc(&walk.graph).into_iter().rev() {
        let Some(first) = group.into_iter().min() else { continue };
        if search.discovered.is_visited(&first) {
            continue;
        }
        let mut found = 0_usize;
        search.move_to(first);
        while search.next(&walk.graph).is_some() {
            found += 1;
        }
        roots.push((first.index(), found.saturating_sub(1)));
    }
    roots.sort_unstable();
    roots
}

fn unreachable(walk: &GraphWalk<'_>, root: usize, hidden: usize) -> String {
    let id = walk.ids.get(root).map(|id| id.as_str()).unwrap_or_default();
    let more = match hidden {
        0 => String::new(),
        1 => ", nor can the node behind it".to_owned(),
        more => format!(", nor can the {more} nodes behind it"),
    };
    format!("node `{id}` cannot be reached from the entry node{more}")
}

fn no_end(walk: &GraphWalk<'_>) -> Diagnostic {
    let message = "no `end` node can be reached from the entry node, so a run completes only where a step sets `workflowStatus` at a node without edges";
    let place = walk.document.place(&["entryNodeId".into()]);
    Diagnostic::new(Code::NoReachableEnd, place, message)
        .help("add a node of type `end` and edges that lead to it")
}
