//! Sub-workflows: each call names an existing workflow, and no chain of calls is a cycle.

mod circles;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use crate::diagnostic::{Code, Diagnostic, Findings, Location};
use crate::id::{NodeId, WorkflowId};
use crate::package::Subworkflow;
use crate::package::check::{GraphRead, WorkflowDraft};
use crate::package::document::PathKey;
use crate::package::graph::{NodeDraft, NodeKind};
use crate::package::step::StepFront;
use crate::path::PackagePath;
use crate::version::{Minor, SchemaVersion};
use crate::wording::{quoted, ticked};

/// Resolved sub-workflows of a package.
pub(super) struct Resolved {
    /// Calling nodes for each distinct graph, including those with an invalid target.
    pub(super) calling: Vec<HashSet<usize>>,
    /// True for each distinct graph with a call whose workflow is unknown, and so is what it returns.
    pub(super) unsure: Vec<bool>,
    /// True if workflows call each other in a cycle.
    pub(super) in_circles: bool,
}

/// Resolves the workflow of each subworkflow node and stores it in the draft. `all_known` means that there are no
/// other workflows, so that any other name is wrong.
pub(super) fn resolve(
    workflows: &mut [WorkflowDraft],
    all_known: bool,
    findings: &mut Findings,
) -> Resolved {
    let names = WorkflowNames::new(workflows, all_known);
    let mut found: Vec<GraphCalls> = Vec::new();
    let mut by_graph: HashMap<&PackagePath, usize> = HashMap::new();
    let mut graph_of: Vec<Option<usize>> = Vec::new();
    for workflow in workflows.iter() {
        graph_of.push(workflow.graph.as_deref().map(|read| {
            *by_graph.entry(&read.path).or_insert_with(|| {
                found.push(calls_of(read, workflow.document_path.as_ref(), &names, findings));
                found.len() - 1
            })
        }));
    }
    let in_circles = circles::check(workflows, &graph_of, &found, findings);
    let unsure = found.iter().map(|graph| graph.calling.len() > graph.calls.len()).collect();
    let (calling, calls): (Vec<_>, Vec<_>) =
        found.into_iter().map(|found| (found.calling, Arc::new(found.calls))).unzip();
    for (workflow, graph) in workflows.iter_mut().zip(graph_of) {
        workflow.calls = graph.and_then(|graph| calls.get(graph).cloned()).unwrap_or_default();
    }
    Resolved { calling, unsure, in_circles }
}

#[derive(Default)]
struct GraphCalls {
    calling: HashSet<usize>,
    calls: BTreeMap<NodeId, Subworkflow>,
    /// Each sub-workflow with its first call.
    children: BTreeMap<WorkflowId, Location>,
}

/// Workflows of the package by id and by the path of their document.
struct WorkflowNames {
    ids: Vec<WorkflowId>,
    known: HashSet<WorkflowId>,
    documents: HashMap<PackagePath, WorkflowId>,
    all_known: bool,
}

impl WorkflowNames {
    fn new(workflows: &[WorkflowDraft], all_known: bool) -> Self {
        let ids: Vec<_> = workflows.iter().filter_map(|workflow| workflow.id.clone()).collect();
        let mut documents = HashMap::new();
        for workflow in workflows {
            if let (Some(path), Some(id)) = (&workflow.document_path, &workflow.id) {
                documents.entry(path.clone()).or_insert_with(|| id.clone());
            }
        }
        Self { known: ids.iter().cloned().collect(), ids, documents, all_known }
    }

    fn by_id(&self, id: &str) -> Option<WorkflowId> {
        self.known.get(id).cloned()
    }

    /// Finds a workflow by a path relative to the step, to the package, or to the workflow's document. Where workflows
    /// share a graph, that is the document of the first.
    fn by_path(
        &self,
        text: &str,
        step: Option<&PackagePath>,
        document: Option<&PackagePath>,
    ) -> Option<WorkflowId> {
        let beside = |file: Option<&PackagePath>| file?.sibling(text).ok();
        let candidates = [beside(step), PackagePath::reference(text).ok(), beside(document)];
        candidates.into_iter().flatten().find_map(|path| self.documents.get(&path).cloned())
    }

    fn suggest(&self, name: &str, findings: &mut Findings) -> String {
        let ids = || self.ids.iter().map(WorkflowId::as_str);
        if let Some(similar) = findings.nearest(name, ids()) {
            return format!("did you mean `{similar}`?");
        }
        match self.ids.is_empty() {
            true => "list it in `workflows[]` of `bmad.json`".into(),
            false => format!("the workflows are: {}", ticked(ids().take(8))),
        }
    }
}

/// Node of a graph, with the input of its rules.
struct CallingNode<'g> {
    read: &'g GraphRead,
    index: usize,
    node: &'g NodeDraft,
    id: &'g NodeId,
}

impl<'g> CallingNode<'g> {
    fn place(&self, key: &'static str) -> Location {
        self.read.document.place(&["nodes".into(), self.index.into(), key.into()])
    }

    /// Returns the frontmatter of its step; `None` if it was unreadable, which has been reported.
    fn front(&self) -> Option<&'g StepFront> {
        Some(&self.read.steps.get(self.index)?.as_ref()?.step.as_ref()?.front)
    }

    fn step_place(&self) -> Option<Location> {
        let draft = self.read.steps.get(self.index)?.as_ref()?;
        Some(draft.document.place(&["subworkflow".into()]))
    }
}

fn calls_of(
    read: &GraphRead,
    document: Option<&PackagePath>,
    names: &WorkflowNames,
    findings: &mut Findings,
) -> GraphCalls {
    let mut found = GraphCalls::default();
    let minor = read.draft.version.map_or(Minor::NEWEST, SchemaVersion::minor);
    let ways_out = ways_out(read);
    for (index, node) in read.draft.nodes.iter().enumerate() {
        let (Some(id), Some(kind)) = (&node.id, node.kind) else { continue };
        let caller = CallingNode { read, index, node, id };
        called_inside(&caller, names, findings);
        if kind != NodeKind::Subworkflow {
            ignored_call(&caller, kind, names, findings);
            continue;
        }
        let child = match &node.subworkflow_ref {
            // The name was unreadable.
            None => CalledWorkflow::Nobody,
            Some(Some(name)) => by_graph(&caller, name, names, findings),
            // The version decides where the name stands.
            Some(None) if read.draft.version.is_none() => CalledWorkflow::Nobody,
            Some(None) if minor >= Minor::V1_2 => {
                no_reference(&caller, findings);
                continue;
            }
            Some(None) => match by_step(&caller, document, names, findings) {
                Some(child) => child,
                None => continue,
            },
        };
        found.calling.insert(index);
        if let Some(ways_out) = &ways_out {
            one_way_out(&caller, ways_out.get(id.as_str()).copied().unwrap_or(0), findings);
        }
        if let CalledWorkflow::Workflow(call, place) = child {
            found.children.entry(call.workflow.clone()).or_insert(place);
            found.calls.insert(id.clone(), call);
        }
    }
    found
}

enum CalledWorkflow {
    /// Workflow of the package, named at this location.
    Workflow(Subworkflow, Location),
    /// The name is wrong or was unreadable.
    Nobody,
}

fn by_graph(
    caller: &CallingNode<'_>,
    name: &WorkflowId,
    names: &WorkflowNames,
    findings: &mut Findings,
) -> CalledWorkflow {
    let place = caller.place("subworkflowRef");
    if names.by_id(name.as_str()).is_none() {
        unknown(name.as_str(), place, names, findings);
        return CalledWorkflow::Nobody;
    }
    let call = Subworkflow {
        workflow: name.clone(),
        pass_context: caller.node.pass_context.flatten().unwrap_or(false),
        result_variables: caller.node.result_variables.clone().unwrap_or_default(),
    };
    CalledWorkflow::Workflow(call, place)
}

/// Resolves the child of a 1.1 graph, which the step names. A step that names none, or none of this package, runs as a
/// plain step, as in other tools: `None`.
fn by_step(
    caller: &CallingNode<'_>,
    document: Option<&PackagePath>,
    names: &WorkflowNames,
    findings: &mut Findings,
) -> Option<CalledWorkflow> {
    // An unreadable step may name a child.
    let Some(front) = caller.front() else { return Some(CalledWorkflow::Nobody) };
    let Some(name) = &front.subworkflow else {
        let message = format!(
            "subworkflow node `{}` names no workflow, so it runs as a plain step",
            caller.id
        );
        let finding = Diagnostic::new(Code::SubworkflowAsStep, caller.place("id"), message);
        findings.push(
            finding.help(
                "add `subworkflow: <id>` to the step's frontmatter, or set the type to `step`",
            ),
        );
        return None;
    };
    let place = caller.step_place().unwrap_or_else(|| caller.place("id"));
    let child =
        names.by_id(name).or_else(|| names.by_path(name, caller.node.file.as_ref(), document));
    let Some(workflow) = child else {
        if !names.all_known {
            return Some(CalledWorkflow::Nobody);
        }
        let message = format!(
            "{} is not a workflow of this package, so node `{}` runs as a plain step",
            quoted(name),
            caller.id
        );
        let help = names.suggest(name, findings);
        findings.push(Diagnostic::new(Code::SubworkflowAsStep, place, message).help(help));
        return None;
    };
    let call = Subworkflow {
        workflow,
        pass_context: front.pass_context.unwrap_or(false),
        result_variables: front.result_variables.clone(),
    };
    Some(CalledWorkflow::Workflow(call, place))
}

fn no_reference(caller: &CallingNode<'_>, findings: &mut Findings) {
    let message = format!("subworkflow node `{}` names no workflow", caller.id);
    findings.push(
        Diagnostic::new(Code::NoSubworkflowRef, caller.place("id"), message)
            .help("add `\"subworkflowRef\"` with the id of a workflow in `workflows[]`"),
    );
}

fn unknown(name: &str, place: Location, names: &WorkflowNames, findings: &mut Findings) {
    if names.all_known {
        let message = format!("{} is not a workflow of this package", quoted(name));
        let help = names.suggest(name, findings);
        findings.push(Diagnostic::new(Code::UnknownSubworkflow, place, message).help(help));
    }
}

/// Reports the keys of a call on a node of another type, where they have no effect.
fn ignored_call(
    caller: &CallingNode<'_>,
    kind: NodeKind,
    names: &WorkflowNames,
    findings: &mut Findings,
) {
    let node = caller.node;
    let reference = node.subworkflow_ref.as_ref().and_then(Option::as_ref);
    if let Some(name) = reference.filter(|name| names.by_id(name.as_str()).is_none()) {
        unknown(name.as_str(), caller.place("subworkflowRef"), names, findings);
    }
    let keys: Vec<&'static str> = [
        ("subworkflowRef", reference.is_some()),
        ("passContext", node.pass_context.flatten().is_some()),
        ("resultVariables", node.result_variables.as_ref().is_some_and(|list| !list.is_empty())),
    ]
    .into_iter()
    .filter_map(|(key, is_there)| is_there.then_some(key))
    .collect();
    let Some(first) = keys.first() else { return };
    let (verb, them) = if keys.len() == 1 { ("has", "it") } else { ("have", "them") };
    let keys: Vec<_> = keys.iter().map(|key| format!("`{key}`")).collect();
    let message = format!(
        "node `{}` is of type `{}`, so its {} {verb} no effect",
        caller.id,
        kind.word(),
        keys.join(" and ")
    );
    let finding = Diagnostic::new(Code::IgnoredCall, caller.place(first), message);
    findings.push(finding.help(format!("set the type to `subworkflow`, or remove {them}")));
}

/// Checks the workflows that a node or its gate calls while the node is worked on. They may call each other: their depth
/// is limited when they run.
fn called_inside(caller: &CallingNode<'_>, names: &WorkflowNames, findings: &mut Findings) {
    let place = |keys: &[PathKey<'_>]| {
        caller.read.document.place(&[&["nodes".into(), caller.index.into()], keys].concat())
    };
    for (at, name) in caller.node.calls.iter().flatten().enumerate() {
        if names.by_id(name.as_str()).is_none() {
            unknown(name.as_str(), place(&["calls".into(), at.into()]), names, findings);
        }
    }
    let gate = caller.node.gate.as_ref().and_then(Option::as_ref);
    let options = gate.into_iter().flat_map(|gate| gate.options.iter().enumerate());
    for (at, option) in options {
        let Some(name) = &option.call else { continue };
        if names.by_id(name.as_str()).is_none() {
            let keys = ["gate".into(), "options".into(), at.into(), "call".into()];
            unknown(name.as_str(), place(&keys), names, findings);
        }
    }
}

/// Counts the edges that leave each node; `None` if an edge is unknown.
fn ways_out(read: &GraphRead) -> Option<HashMap<&str, usize>> {
    let mut counts = HashMap::new();
    for (from, _) in read.draft.ends()? {
        *counts.entry(from.as_str()).or_default() += 1;
    }
    Some(counts)
}

fn one_way_out(caller: &CallingNode<'_>, count: usize, findings: &mut Findings) {
    if count == 1 {
        return;
    }
    let edges =
        if count == 0 { "no outgoing edge".into() } else { format!("{count} outgoing edges") };
    let message = format!("subworkflow node `{}` has {edges}; it must have exactly one", caller.id);
    let finding = Diagnostic::new(Code::SubworkflowEdges, caller.place("id"), message);
    findings.push(
        finding.help("the run returns along that edge; put a `decision` node after it to branch"),
    );
}
