//! Graphs: valid references, and structures that can run to an end.

mod reach;

use std::collections::{HashMap, HashSet};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::diagnostic::{Code, Diagnostic, Findings, Location};
use crate::id::{AgentId, NodeId};
use crate::package::check::GraphRead;
use crate::package::document::Document;
use crate::package::graph::{EdgeDraft, NodeDraft, NodeKind};
use crate::wording::{quoted, ticked_up_to};

/// Checks that ids are unique and that every reference to a node or an agent is valid.
pub(super) fn references(
    read: &GraphRead,
    agents: Option<&HashSet<AgentId>>,
    findings: &mut Findings,
) {
    let (document, draft) = (&read.document, &read.draft);
    let mut agent_names =
        agents.map(|agents| ReferenceNames::new("agents", agents.iter().map(AgentId::as_str)));
    let mut ids: HashMap<&str, usize> = HashMap::new();
    for (index, node) in draft.nodes.iter().enumerate() {
        let place = |index: usize, key: &'static str| {
            document.place(&["nodes".into(), index.into(), key.into()])
        };
        if let Some(id) = &node.id {
            if let Some(first) = ids.get(id.as_str()) {
                let message = format!("two nodes have the id `{id}`");
                let finding = Diagnostic::new(Code::DuplicateNodeId, place(index, "id"), message);
                findings.push(
                    finding
                        .help("give one of them another id")
                        .related(place(*first, "id"), "the first one is here"),
                );
            } else {
                ids.insert(id.as_str(), index);
            }
        }
        if let (Some(Some(agent)), Some(agents)) = (&node.agent_id, &mut agent_names)
            && !agents.has(agent.as_str())
        {
            let message = format!("there is no agent `{agent}`");
            let finding = Diagnostic::new(Code::UnknownAgent, place(index, "agentId"), message);
            let help = agents.did_you_mean(agent.as_str(), findings);
            findings.push(finding.help(help));
        }
    }
    if draft.node_ids().is_some() {
        ends(read, ReferenceNames::new("nodes", ids.into_keys()), findings);
    }
}

/// Checks that the entry and both ends of every edge are nodes.
fn ends(read: &GraphRead, mut nodes: ReferenceNames<'_>, findings: &mut Findings) {
    let (document, draft) = (&read.document, &read.draft);
    if let Some(entry) = draft.entry.as_ref().filter(|entry| !nodes.has(entry.as_str())) {
        let message = format!("`entryNodeId` is `{entry}`, which is not a node");
        let place = document.place(&["entryNodeId".into()]);
        let help = nodes.did_you_mean(entry.as_str(), findings);
        findings.push(Diagnostic::new(Code::UnknownEntryNode, place, message).help(help));
    }
    for (index, edge) in draft.edges.iter().enumerate() {
        for (key, end, verb) in [("from", &edge.from, "begins at"), ("to", &edge.to, "leads to")] {
            let Some(end) = end.as_ref().filter(|end| !nodes.has(end.as_str())) else { continue };
            let message = format!("an edge {verb} `{end}`, which is not a node");
            let place = document.place(&["edges".into(), index.into(), key.into()]);
            let help = nodes.did_you_mean(end.as_str(), findings);
            findings.push(Diagnostic::new(Code::UnknownEdgeEnd, place, message).help(help));
        }
    }
}

/// Valid names for a reference.
struct ReferenceNames<'k> {
    what: &'static str,
    names: HashSet<&'k str>,
    /// Sorted on first use.
    sorted: Option<Vec<&'k str>>,
}

impl<'k> ReferenceNames<'k> {
    fn new(what: &'static str, names: impl Iterator<Item = &'k str>) -> Self {
        Self { what, names: names.collect(), sorted: None }
    }

    fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    fn did_you_mean(&mut self, word: &str, findings: &mut Findings) -> String {
        let names = &self.names;
        let sorted = self.sorted.get_or_insert_with(|| {
            let mut sorted: Vec<&str> = names.iter().copied().collect();
            sorted.sort_unstable();
            sorted
        });
        if let Some(similar) = findings.nearest(word, sorted.iter().copied()) {
            return format!("did you mean `{similar}`?");
        }
        format!("the {} are: {}", self.what, ticked_up_to(sorted.iter(), 8))
    }
}

/// Graph with valid references, ready for traversal.
struct GraphWalk<'a> {
    document: &'a Document,
    ids: Vec<&'a NodeId>,
    nodes: &'a [NodeDraft],
    edges: &'a [EdgeDraft],
    entry: usize,
    /// Edge indices by the node that they leave.
    outgoing: Vec<Vec<usize>>,
    graph: DiGraph<(), ()>,
}

impl<'a> GraphWalk<'a> {
    /// Prepares a graph; `None` if a reference is broken, because findings about the rest would be guesses.
    fn new(read: &'a GraphRead) -> Option<Self> {
        let draft = &read.draft;
        let (ids, ends) = (draft.node_ids()?, draft.ends()?);
        let index: HashMap<&str, usize> =
            ids.iter().enumerate().map(|(at, id)| (id.as_str(), at)).collect();
        let entry = *index.get(draft.entry.as_ref()?.as_str())?;
        (index.len() == ids.len()).then_some(())?;
        let mut graph = DiGraph::with_capacity(ids.len(), ends.len());
        for _ in &ids {
            graph.add_node(());
        }
        let mut outgoing = vec![Vec::new(); ids.len()];
        for (at, (from, to)) in ends.into_iter().enumerate() {
            let (from, to) = (*index.get(from.as_str())?, *index.get(to.as_str())?);
            graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), ());
            outgoing.get_mut(from)?.push(at);
        }
        let document = &read.document;
        Some(Self {
            document,
            ids,
            nodes: &draft.nodes,
            edges: &draft.edges,
            entry,
            outgoing,
            graph,
        })
    }

    fn node_place(&self, index: usize) -> Location {
        self.document.place(&["nodes".into(), index.into(), "id".into()])
    }

    fn edges_from(&self, index: usize) -> impl Iterator<Item = &'a EdgeDraft> {
        self.outgoing.get(index).into_iter().flatten().filter_map(|edge| self.edges.get(*edge))
    }

    /// Returns the type of a node; `None` if it was unreadable.
    fn kind(&self, index: usize) -> Option<NodeKind> {
        self.nodes.get(index)?.kind
    }
}

/// Checks that every node can be reached and left, every branch can continue, and every loop can end. `calling` are
/// the nodes that call another workflow; another rule checks their only edge.
pub(super) fn structure(read: &GraphRead, calling: &HashSet<usize>, findings: &mut Findings) {
    let Some(walk) = GraphWalk::new(read) else { return };
    let mut ways_out: Vec<(usize, Diagnostic)> = Vec::new();
    for index in (0..walk.nodes.len()).filter(|index| !calling.contains(index)) {
        if let Some(finding) = branches(&walk, index) {
            ways_out.push((index, finding));
        }
    }
    let lacking = ways_out.iter().filter(|(_, finding)| finding.code == Code::FewBranches);
    let lacking: HashSet<usize> = lacking.map(|(index, _)| *index).collect();
    reach::check(&walk, ways_out, findings);
    twins(&walk, findings);
    cycles_without_decision(&walk, findings);
    cycles_without_exit(&walk, &lacking, findings);
}

/// Checks the number of edges that leave a node, and their defaults.
fn branches(walk: &GraphWalk<'_>, index: usize) -> Option<Diagnostic> {
    let (kind, id) = (walk.kind(index)?, walk.ids.get(index)?);
    let count = walk.edges_from(index).count();
    let flags: Option<Vec<bool>> =
        walk.edges_from(index).map(|edge| edge.is_default.map(Option::unwrap_or_default)).collect();
    // The number of defaults is unknown if an edge was unreadable.
    let defaults = flags.map(|flags| flags.into_iter().filter(|is_default| *is_default).count());
    let (code, message, help) = match (kind, count, defaults) {
        (NodeKind::Decision, 0 | 1, _) => (
            Code::FewBranches,
            format!(
                "decision `{id}` has {}; a decision needs at least two",
                if count == 0 { "no outgoing edge" } else { "one outgoing edge" }
            ),
            "add the other branch, or make it a `step`",
        ),
        (NodeKind::Decision, _, Some(0)) => (
            Code::NoDefaultBranch,
            format!("decision `{id}` has no default branch"),
            "set `\"isDefault\": true` on the edge to take when no condition holds",
        ),
        (NodeKind::End, 0, _) | (_, 1, _) => return None,
        (_, 0, _) => (
            Code::DeadEnd,
            format!("node `{id}` has no way out, and it is not an `end` node"),
            "add an edge to the next node, or set its type to `end`",
        ),
        (_, _, None | Some(1)) => return None,
        (_, _, Some(0)) => (
            Code::DefaultCount,
            format!(
                "node `{id}` has {count} outgoing edges and no default; it should have exactly one"
            ),
            "set `\"isDefault\": true` on exactly one of its edges",
        ),
        (_, _, Some(defaults)) => return Some(too_many_defaults(walk, index, id, defaults)),
    };
    Some(Diagnostic::new(code, walk.node_place(index), message).help(help))
}

fn too_many_defaults(
    walk: &GraphWalk<'_>,
    index: usize,
    id: &NodeId,
    defaults: usize,
) -> Diagnostic {
    let outgoing = walk.outgoing.get(index).into_iter().flatten().copied();
    let is_default = |at: &usize| {
        walk.edges.get(*at).is_some_and(|edge| edge.is_default.flatten() == Some(true))
    };
    let mut marked = outgoing.filter(is_default);
    let place =
        |edge: usize| walk.document.place(&["edges".into(), edge.into(), "isDefault".into()]);
    let (first, second) = (marked.next().unwrap_or_default(), marked.next().unwrap_or_default());
    let message = format!("node `{id}` has {defaults} defaults; it should have exactly one");
    Diagnostic::new(Code::DefaultCount, place(second), message)
        .help("leave `\"isDefault\": true` on one of its edges")
        .related(place(first), "the first default is here")
}

fn twins(walk: &GraphWalk<'_>, findings: &mut Findings) {
    let mut seen: HashMap<(&str, &str, &str), usize> = HashMap::new();
    for (index, edge) in walk.edges.iter().enumerate() {
        let place =
            |index: usize| walk.document.place(&["edges".into(), index.into(), "label".into()]);
        let (Some(from), Some(to), Some(label)) = (&edge.from, &edge.to, &edge.label) else {
            continue;
        };
        let key = (from.as_str(), to.as_str(), label.as_str());
        if let Some(first) = seen.get(&key) {
            let message =
                format!("two edges lead from `{from}` to `{to}` with the label {}", quoted(label));
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

/// Returns the groups of nodes on common cycles, each in the order of the file.
fn loops(graph: &DiGraph<(), ()>) -> impl Iterator<Item = Vec<usize>> {
    kosaraju_scc(graph).into_iter().filter_map(|group| {
        let mut members: Vec<usize> = group.iter().map(|node| node.index()).collect();
        members.sort_unstable();
        let first = NodeIndex::new(*members.first()?);
        (members.len() > 1 || graph.contains_edge(first, first)).then_some(members)
    })
}

/// Reports cycles without a decision: those that remain when every decision is removed, and every edge that a user opens
/// at a gate.
fn cycles_without_decision(walk: &GraphWalk<'_>, findings: &mut Findings) {
    // A node of unknown type may be a decision.
    let decides =
        |node: NodeIndex| walk.kind(node.index()).is_none_or(|kind| kind == NodeKind::Decision);
    let rest = walk.graph.filter_map(
        |_, ()| Some(()),
        |edge, ()| {
            let (from, to) = walk.graph.edge_endpoints(edge)?;
            let drafted = walk.edges.get(edge.index());
            let is_gated = drafted.is_some_and(|edge| edge.gate != Some(None));
            (!decides(from) && !decides(to) && !is_gated).then_some(())
        },
    );
    for members in loops(&rest) {
        let Some(&first) = members.first() else { continue };
        let message =
            format!("the cycle through {} has no decision node in it", named(walk, &members));
        let finding = Diagnostic::new(Code::CycleWithoutDecision, walk.node_place(first), message);
        findings.push(
            finding.help("let a `decision` node choose between another round and the way out"),
        );
    }
}

/// Reports cycles without an edge that leaves them. If a decision in it lacks a branch, that is the way out.
fn cycles_without_exit(walk: &GraphWalk<'_>, lacking: &HashSet<usize>, findings: &mut Findings) {
    for members in loops(&walk.graph) {
        let Some(&first) = members.first() else { continue };
        if members.iter().any(|member| lacking.contains(member)) {
            continue;
        }
        let inside: HashSet<usize> = members.iter().copied().collect();
        let leaves = |from: &usize| {
            let mut targets = walk.graph.neighbors(NodeIndex::new(*from));
            targets.any(|target| !inside.contains(&target.index()))
        };
        if !members.iter().any(leaves) {
            let message = format!(
                "no edge leaves the cycle through {}, so it can never end",
                named(walk, &members)
            );
            let finding = Diagnostic::new(Code::CycleWithoutExit, walk.node_place(first), message);
            findings.push(
                finding.help("add an edge from one of these nodes to a node outside the cycle"),
            );
        }
    }
}

fn named(walk: &GraphWalk<'_>, members: &[usize]) -> String {
    ticked_up_to(members.iter().filter_map(|index| walk.ids.get(*index)), 5)
}
