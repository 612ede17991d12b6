//! Sub-workflows: each call leads to a workflow, and no chain of calls comes back to where it began.

use std::collections::{BTreeMap, HashMap};

use petgraph::algo::kosaraju_scc;
use petgraph::graph::{DiGraph, NodeIndex};

use crate::diagnostic::{Code, Diagnostic, Findings, Place};
use crate::id::{NodeId, WorkflowId};
use crate::package::Call;
use crate::package::check::{StepDraft, WorkflowDraft};
use crate::package::document::Document;
use crate::package::graph::{GraphDraft, Node, NodeKind};
use crate::path::PackagePath;
use crate::shape;
use crate::version::{Minor, SchemaVersion};

/// Finds the workflow that each subworkflow node calls, and remembers it in the draft.
pub(super) fn resolve(workflows: &mut [WorkflowDraft], findings: &mut Findings) {
    let names = Names::new(workflows);
    let resolved: Vec<BTreeMap<NodeId, (Call, Place)>> =
        workflows.iter().map(|workflow| calls_of(workflow, &names, findings)).collect();
    cycles(workflows, &resolved, findings);
    for (workflow, calls) in workflows.iter_mut().zip(resolved) {
        workflow.calls = calls.into_iter().map(|(node, (call, _))| (node, call)).collect();
    }
}

/// The workflows of the package by id and by the path of their document.
struct Names {
    ids: Vec<WorkflowId>,
    documents: HashMap<PackagePath, WorkflowId>,
}

impl Names {
    fn new(workflows: &[WorkflowDraft]) -> Self {
        let named =
            || workflows.iter().filter_map(|workflow| Some((workflow, workflow.id.clone()?)));
        Self {
            ids: named().map(|(_, id)| id).collect(),
            documents: named().map(|(workflow, id)| (workflow.document_path.clone(), id)).collect(),
        }
    }

    fn by_id(&self, id: &str) -> Option<WorkflowId> {
        self.ids.iter().find(|known| known.as_str() == id).cloned()
    }

    /// A path may be relative to the step, to the package, or to the workflow's document.
    fn by_path(
        &self,
        text: &str,
        step: &PackagePath,
        document: &PackagePath,
    ) -> Option<WorkflowId> {
        let candidates = [step.sibling(text), PackagePath::reference(text), document.sibling(text)];
        candidates.into_iter().flatten().find_map(|path| self.documents.get(&path).cloned())
    }
}

fn calls_of(
    workflow: &WorkflowDraft,
    names: &Names,
    findings: &mut Findings,
) -> BTreeMap<NodeId, (Call, Place)> {
    let mut calls = BTreeMap::new();
    let Some((document, graph)) = &workflow.graph else { return calls };
    let minor = graph.version.map_or(Minor::V1_2, SchemaVersion::minor);
    for (index, (node, step)) in graph.nodes.iter().zip(&workflow.steps).enumerate() {
        let Some(node) = node.as_ref().filter(|node| node.kind == NodeKind::Subworkflow) else {
            continue;
        };
        let Some((name, place)) =
            named_child(document, index, node, step.as_deref(), minor, findings)
        else {
            continue;
        };
        one_way_out(document, index, node, graph, findings);
        let step_file = &node.file;
        let child =
            names.by_id(&name).or_else(|| names.by_path(&name, step_file, &workflow.document_path));
        let Some(child) = child else {
            let message = format!("{} is not a workflow of this package", shape::quoted(&name));
            findings.push(
                Diagnostic::new(Code::UnknownSubworkflow, place, message)
                    .help(known_workflows(&name, names)),
            );
            continue;
        };
        let front = step.as_ref().and_then(|draft| Some(&draft.step.as_ref()?.front));
        let (pass_context, result_variables) = if node.subworkflow_ref.is_some() {
            (node.pass_context, node.result_variables.clone())
        } else {
            (
                front.and_then(|front| front.pass_context),
                front.map(|front| front.result_variables.clone()).unwrap_or_default(),
            )
        };
        let call =
            Call { workflow: child, pass_context: pass_context.unwrap_or(false), result_variables };
        calls.insert(node.id.clone(), (call, place));
    }
    calls
}

/// The child's name and where it is written: in the graph, or in 1.1 in the step.
fn named_child(
    document: &Document,
    index: usize,
    node: &Node,
    step: Option<&StepDraft>,
    minor: Minor,
    findings: &mut Findings,
) -> Option<(String, Place)> {
    if let Some(id) = &node.subworkflow_ref {
        let place = document.place(&["nodes".into(), index.into(), "subworkflowRef".into()]);
        return Some((id.to_string(), place));
    }
    let place = document.place(&["nodes".into(), index.into(), "id".into()]);
    if minor >= Minor::V1_2 {
        let message = format!("subworkflow node `{}` names no workflow", node.id);
        findings.push(
            Diagnostic::new(Code::NoSubworkflowRef, place, message)
                .help("add `\"subworkflowRef\"` with the id of a workflow in `workflows[]`"),
        );
        return None;
    }
    // A step that could not be read has been reported; whether it names a child is not known.
    let step = step?;
    match &step.step.as_ref()?.front.subworkflow {
        Some(name) => Some((name.clone(), step.document.place(&["subworkflow".into()]))),
        None => {
            let message = format!(
                "subworkflow node `{}` names no workflow, so it runs as a plain step",
                node.id
            );
            let finding = Diagnostic::new(Code::SubworkflowAsStep, place, message);
            findings.push(finding.help(
                "add `subworkflow: <id>` to the step's frontmatter, or set the type to `step`",
            ));
            None
        }
    }
}

fn one_way_out(
    document: &Document,
    index: usize,
    node: &Node,
    graph: &GraphDraft,
    findings: &mut Findings,
) {
    if graph.edges.iter().any(Option::is_none) {
        return;
    }
    let count = graph.edges.iter().flatten().filter(|edge| edge.from == node.id).count();
    if count != 1 {
        let place = document.place(&["nodes".into(), index.into(), "id".into()]);
        let message = format!(
            "subworkflow node `{}` has {count} outgoing edges; it must have exactly one",
            node.id
        );
        let finding = Diagnostic::new(Code::SubworkflowEdges, place, message);
        findings.push(
            finding
                .help("the run returns along that edge; put a `decision` node after it to branch"),
        );
    }
}

fn known_workflows(name: &str, names: &Names) -> String {
    let ids = || names.ids.iter().map(WorkflowId::as_str);
    if let Some(similar) = shape::nearest(name, ids()) {
        return format!("did you mean `{similar}`?");
    }
    let shown: Vec<_> = ids().take(8).map(|id| format!("`{id}`")).collect();
    if shown.is_empty() {
        "list it in `workflows[]` of `bmad.json`".into()
    } else {
        format!("the workflows are: {}", shown.join(", "))
    }
}

fn cycles(
    workflows: &[WorkflowDraft],
    resolved: &[BTreeMap<NodeId, (Call, Place)>],
    findings: &mut Findings,
) {
    let index_of =
        |id: &WorkflowId| workflows.iter().position(|workflow| workflow.id.as_ref() == Some(id));
    let mut graph: DiGraph<(), &Place> = DiGraph::new();
    for _ in workflows {
        graph.add_node(());
    }
    for (from, calls) in resolved.iter().enumerate() {
        for (call, place) in calls.values() {
            if let Some(to) = index_of(&call.workflow) {
                graph.add_edge(NodeIndex::new(from), NodeIndex::new(to), place);
            }
        }
    }
    for group in kosaraju_scc(&graph) {
        let start = group.iter().copied().min();
        let Some(start) =
            start.filter(|start| group.len() > 1 || graph.contains_edge(*start, *start))
        else {
            continue;
        };
        let (path, place) = circle(&graph, start, &group);
        let names: Vec<String> = path
            .iter()
            .filter_map(|index| Some(workflows.get(index.index())?.id.as_ref()?.to_string()))
            .collect();
        let message = format!("workflows call each other in a circle: {}", names.join(" → "));
        if let Some(place) = place {
            let finding = Diagnostic::new(Code::CallCycle, place.clone(), message);
            findings.push(finding.help("a workflow may not call itself, not even through others; loop with edges inside one graph instead"));
        }
    }
}

/// A shortest way from `start` back to itself inside the group, and the place of its first call.
fn circle<'p>(
    graph: &DiGraph<(), &'p Place>,
    start: NodeIndex,
    group: &[NodeIndex],
) -> (Vec<NodeIndex>, Option<&'p Place>) {
    let mut came_from: HashMap<NodeIndex, NodeIndex> = HashMap::new();
    let mut queue = std::collections::VecDeque::from([start]);
    while let Some(at) = queue.pop_front() {
        for next in graph.neighbors(at).filter(|next| group.contains(next)) {
            if next == start {
                let mut path = vec![start, at];
                while let Some(before) = path.last().and_then(|last| came_from.get(last)) {
                    path.push(*before);
                }
                if at == start {
                    path.truncate(2);
                }
                path.reverse();
                let first = path.get(1).and_then(|second| graph.find_edge(start, *second));
                return (path, first.and_then(|edge| graph.edge_weight(edge).copied()));
            }
            if next != start && !came_from.contains_key(&next) {
                came_from.insert(next, at);
                queue.push_back(next);
            }
        }
    }
    (vec![start], None)
}
