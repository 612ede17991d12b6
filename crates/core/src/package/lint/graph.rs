//! Graphs: references that hold, and structures that can be run to an end.

use std::collections::{HashMap, HashSet};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};
use petgraph::visit::Dfs;

use crate::diagnostic::{Code, Diagnostic, Findings, Place};
use crate::id::AgentId;
use crate::package::document::Document;
use crate::package::graph::{Edge, GraphDraft, Node, NodeKind};
use crate::shape;

/// Ids are unique, and whatever names a node or an agent names one that exists.
pub(super) fn references(
    document: &Document,
    draft: &GraphDraft,
    agents: Option<&HashSet<AgentId>>,
    findings: &mut Findings,
) {
    let mut ids: HashMap<&str, usize> = HashMap::new();
    for (index, node) in draft.nodes.iter().enumerate() {
        let Some(node) = node else { continue };
        let place = |index: usize, key: &'static str| {
            document.place(&["nodes".into(), index.into(), key.into()])
        };
        if let Some(first) = ids.get(node.id.as_str()) {
            let message = format!("two nodes have the id `{}`", node.id);
            let finding = Diagnostic::new(Code::DuplicateNodeId, place(index, "id"), message);
            findings.push(
                finding
                    .help("give one of them another id")
                    .related(place(*first, "id"), "the first one is here"),
            );
        } else {
            ids.insert(node.id.as_str(), index);
        }
        if let (Some(agent), Some(agents)) = (&node.agent_id, agents)
            && !agents.contains(agent)
        {
            let known = || agents.iter().map(AgentId::as_str);
            let message = format!("there is no agent `{agent}`");
            let finding = Diagnostic::new(Code::UnknownAgent, place(index, "agentId"), message);
            findings.push(finding.help(did_you_mean(agent.as_str(), known(), "agents")));
        }
    }
    if draft.nodes.iter().any(Option::is_none) || draft.nodes.is_empty() {
        return;
    }
    let known = || ids.keys().copied();
    if let Some(entry) = draft.entry.as_ref().filter(|entry| !ids.contains_key(entry.as_str())) {
        let message = format!("`entryNodeId` is `{entry}`, which is not a node");
        let finding = Diagnostic::new(
            Code::UnknownEntryNode,
            document.place(&["entryNodeId".into()]),
            message,
        );
        findings.push(finding.help(did_you_mean(entry.as_str(), known(), "nodes")));
    }
    let mut suggestions = 20_usize;
    for (index, edge) in draft.edges.iter().enumerate() {
        let Some(edge) = edge else { continue };
        for (key, end) in [("from", &edge.from), ("to", &edge.to)] {
            if ids.contains_key(end.as_str()) {
                continue;
            }
            let message = format!(
                "an edge {} `{end}`, which is not a node",
                if key == "from" { "begins at" } else { "leads to" }
            );
            let place = document.place(&["edges".into(), index.into(), key.into()]);
            let help = if suggestions > 0 {
                did_you_mean(end.as_str(), known(), "nodes")
            } else {
                "name a node of this graph".into()
            };
            suggestions = suggestions.saturating_sub(1);
            findings.push(Diagnostic::new(Code::UnknownEdgeEnd, place, message).help(help));
        }
    }
}

fn did_you_mean<'k>(word: &str, known: impl Iterator<Item = &'k str>, what: &str) -> String {
    let mut known: Vec<&str> = known.collect();
    known.sort_unstable();
    if let Some(similar) = shape::nearest(word, known.iter().copied()) {
        return format!("did you mean `{similar}`?");
    }
    let shown: Vec<_> = known.iter().take(8).map(|name| format!("`{name}`")).collect();
    let more = known.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("the {what} are: {}{more}", shown.join(", "))
}

/// A graph whose references hold, ready to be walked.
struct Walk<'a> {
    document: &'a Document,
    nodes: Vec<&'a Node>,
    edges: Vec<&'a Edge>,
    entry: usize,
    /// Edge indices by the node they leave.
    outgoing: Vec<Vec<usize>>,
    graph: DiGraph<(), ()>,
}

impl<'a> Walk<'a> {
    /// `None` when a reference is broken: what could be said about the rest would be guesses.
    fn new(document: &'a Document, draft: &'a GraphDraft) -> Option<Self> {
        let nodes: Vec<&Node> = draft.nodes.iter().map(Option::as_ref).collect::<Option<_>>()?;
        let edges: Vec<&Edge> = draft.edges.iter().map(Option::as_ref).collect::<Option<_>>()?;
        let index: HashMap<&str, usize> =
            nodes.iter().enumerate().map(|(at, node)| (node.id.as_str(), at)).collect();
        let entry = *index.get(draft.entry.as_ref()?.as_str())?;
        (index.len() == nodes.len()).then_some(())?;
        let mut graph = DiGraph::with_capacity(nodes.len(), edges.len());
        for _ in &nodes {
            graph.add_node(());
        }
        let mut outgoing = vec![Vec::new(); nodes.len()];
        for (at, edge) in edges.iter().enumerate() {
            let (from, to) = (*index.get(edge.from.as_str())?, *index.get(edge.to.as_str())?);
            graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
            outgoing.get_mut(from)?.push(at);
        }
        Some(Self { document, nodes, edges, entry, outgoing, graph })
    }

    fn node_place(&self, index: usize) -> Place {
        self.document.place(&["nodes".into(), index.into(), "id".into()])
    }

    fn edges_from(&self, index: usize) -> impl Iterator<Item = &'a Edge> {
        self.outgoing
            .get(index)
            .into_iter()
            .flatten()
            .filter_map(|edge| self.edges.get(*edge).copied())
    }
}

/// Every node can be reached and left, every branch has a way to go on, every loop an end.
pub(super) fn structure(document: &Document, draft: &GraphDraft, findings: &mut Findings) {
    outputs(document, draft, findings);
    let Some(walk) = Walk::new(document, draft) else { return };
    reachability(&walk, findings);
    for index in 0..walk.nodes.len() {
        branches(&walk, index, findings);
    }
    twins(&walk, findings);
    cycles(&walk, findings);
}

fn reachability(walk: &Walk<'_>, findings: &mut Findings) {
    let mut reached = vec![false; walk.nodes.len()];
    let mut search = Dfs::new(&walk.graph, NodeIndex::new(walk.entry));
    while let Some(node) = search.next(&walk.graph) {
        if let Some(slot) = reached.get_mut(node.index()) {
            *slot = true;
        }
    }
    let mut end_reached = false;
    for (index, (node, reached)) in walk.nodes.iter().zip(reached).enumerate() {
        end_reached |= reached && node.kind == NodeKind::End;
        if !reached {
            let message = format!("node `{}` cannot be reached from the entry node", node.id);
            let finding = Diagnostic::new(Code::UnreachableNode, walk.node_place(index), message);
            findings.push(finding.help("add an edge that leads to it, or remove it"));
        }
    }
    if !end_reached {
        let message =
            "no `end` node can be reached from the entry node, so a run can never complete there";
        let finding = Diagnostic::new(
            Code::NoReachableEnd,
            walk.document.place(&["entryNodeId".into()]),
            message,
        );
        findings.push(finding.help("add a node of type `end` and edges that lead to it"));
    }
}

fn branches(walk: &Walk<'_>, index: usize, findings: &mut Findings) {
    let Some(node) = walk.nodes.get(index) else { return };
    let count = walk.edges_from(index).count();
    let defaults = walk.edges_from(index).filter(|edge| edge.is_default).count();
    let (code, message, help) = match (node.kind, count, defaults) {
        // Its single edge is a rule of sub-workflows.
        (NodeKind::Subworkflow, ..) if node.subworkflow_ref.is_some() => return,
        (NodeKind::Decision, 0 | 1, _) => (
            Code::FewBranches,
            format!(
                "decision `{}` has {}; a decision needs at least two",
                node.id,
                if count == 0 { "no outgoing edge" } else { "one outgoing edge" }
            ),
            "add the other branch, or make it a `step`",
        ),
        (NodeKind::Decision, _, 0) => (
            Code::NoDefaultBranch,
            format!("decision `{}` has no default branch", node.id),
            "set `\"isDefault\": true` on the edge to take when no condition holds",
        ),
        (NodeKind::End, 0, _) | (_, 1, _) => return,
        (_, 0, _) => (
            Code::DeadEnd,
            format!("node `{}` has no way out, and it is not an `end` node", node.id),
            "add an edge to the next node, or set its type to `end`",
        ),
        (_, _, 1) => return,
        (_, _, defaults) => (
            Code::DefaultCount,
            format!(
                "node `{}` has {count} outgoing edges and {defaults} defaults; it should have exactly one default",
                node.id
            ),
            "set `\"isDefault\": true` on exactly one of its edges",
        ),
    };
    findings.push(Diagnostic::new(code, walk.node_place(index), message).help(help));
}

fn twins(walk: &Walk<'_>, findings: &mut Findings) {
    let mut seen: HashMap<(&str, &str, &str), usize> = HashMap::new();
    for (index, edge) in walk.edges.iter().enumerate() {
        let place =
            |index: usize| walk.document.place(&["edges".into(), index.into(), "label".into()]);
        let key = (edge.from.as_str(), edge.to.as_str(), edge.label.as_str());
        if let Some(first) = seen.get(&key) {
            let message = format!(
                "two edges lead from `{}` to `{}` with the label `{}`",
                edge.from, edge.to, edge.label
            );
            let finding = Diagnostic::new(Code::DuplicateEdge, place(index), message);
            findings.push(
                finding
                    .help("remove one of them, or give it another label")
                    .related(place(*first), "the first one is here"),
            );
        } else {
            seen.insert(key, index);
        }
    }
}

fn cycles(walk: &Walk<'_>, findings: &mut Findings) {
    for group in kosaraju_scc(&walk.graph) {
        let mut members: Vec<usize> = group.iter().map(|node| node.index()).collect();
        members.sort_unstable();
        let Some(&first) = members.first() else { continue };
        let is_loop = members.len() > 1
            || walk.graph.contains_edge(NodeIndex::new(first), NodeIndex::new(first));
        if !is_loop {
            continue;
        }
        let inside: HashSet<usize> = members.iter().copied().collect();
        let named = named(walk, &members);
        if !members
            .iter()
            .any(|index| walk.nodes.get(*index).is_some_and(|node| node.kind == NodeKind::Decision))
        {
            let message = format!("the cycle through {named} has no decision node in it");
            let finding =
                Diagnostic::new(Code::CycleWithoutDecision, walk.node_place(first), message);
            findings.push(
                finding.help("let a `decision` node choose between another round and the way out"),
            );
        }
        let leaves = |from: &usize| {
            let targets = walk.graph.neighbors(NodeIndex::new(*from));
            targets.into_iter().any(|target| !inside.contains(&target.index()))
        };
        if !members.iter().any(leaves) {
            let message = format!("no edge leaves the cycle through {named}, so it can never end");
            let finding = Diagnostic::new(Code::CycleWithoutExit, walk.node_place(first), message);
            findings.push(
                finding.help("add an edge from one of these nodes to a node outside the cycle"),
            );
        }
    }
}

fn named(walk: &Walk<'_>, members: &[usize]) -> String {
    let shown: Vec<_> = members
        .iter()
        .take(5)
        .filter_map(|index| Some(format!("`{}`", walk.nodes.get(*index)?.id)))
        .collect();
    let more = members.len().saturating_sub(shown.len());
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    format!("{}{more}", shown.join(", "))
}

fn outputs(document: &Document, draft: &GraphDraft, findings: &mut Findings) {
    for (index, node) in draft.nodes.iter().enumerate() {
        let Some(node) = node else { continue };
        for (at, output) in node.outputs.iter().enumerate() {
            let path = ["@project/", "{project-root}/", "./"]
                .iter()
                .find_map(|prefix| output.strip_prefix(prefix))
                .unwrap_or(output);
            if path.starts_with("artifacts/") || path.starts_with("{artifacts-root}/") {
                continue;
            }
            let place =
                document.place(&["nodes".into(), index.into(), "outputs".into(), at.into()]);
            let message = format!(
                "the output {} of `{}` lies outside `artifacts/`",
                shape::quoted(output),
                node.id
            );
            let finding = Diagnostic::new(Code::OutputOutsideArtifacts, place, message);
            findings.push(
                finding.help("put what a run makes under `artifacts/`, where users look for it"),
            );
        }
    }
}
