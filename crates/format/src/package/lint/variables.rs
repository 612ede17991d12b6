//! Variables of conditions and of the names of outputs: each must be set by a step, a template or a call.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

use petgraph::algo::toposort;
use petgraph::graph::{DiGraph, NodeIndex};

use super::config::BoundNames;
use super::gates;
use crate::diagnostic::{Code, Diagnostic, Findings, Location};
use crate::package::check::{GraphRead, WorkflowDraft};
use crate::package::document::PathKey;
use crate::path::PackagePath;
use crate::placeholder;
use crate::wording::quoted;

/// Maximum number of variables passed from templates and callers to graphs. Beyond that the rule is skipped.
const CARRIED: usize = 2_000_000;

/// Variables that are set where a graph runs; `None` if unknown.
type VariableNames<'w> = Option<BTreeSet<&'w str>>;

/// Checks that every variable of a condition or an output is set. `unsure` is true for graphs with variables that cannot
/// be known; `bound` are names with a value from the start, if they are known. Call this only if no workflows call each other in a cycle.
pub(super) fn check(
    workflows: &[WorkflowDraft],
    graphs: &[&GraphRead],
    unsure: &[bool],
    bound: Option<&BoundNames<'_>>,
    findings: &mut Findings,
) {
    let index: HashMap<&PackagePath, usize> =
        graphs.iter().enumerate().map(|(at, graph)| (&graph.path, at)).collect();
    let mut known: Vec<VariableNames<'_>> =
        graphs.iter().map(|graph| set_by_steps(graph)).collect();
    for (known, _) in known.iter_mut().zip(unsure).filter(|(_, unsure)| **unsure) {
        *known = None;
    }
    let mut left = CARRIED;
    let carried = set_by_workflows(workflows, &index, &mut known, &mut left)
        .and_then(|()| inherit(workflows, &index, &mut known, &mut left));
    if carried.is_none() {
        return;
    }
    for (graph, known) in graphs.iter().zip(&known) {
        let Some(known) = known else { continue };
        conditions(graph, known, findings);
        if let Some(bound) = bound {
            outputs(graph, &FileNames { known, bound }, findings);
        }
    }
    let mut seen = HashSet::new();
    for workflow in workflows.iter().filter(|workflow| seen.insert(&workflow.document_path)) {
        let graph = workflow.graph.as_ref().and_then(|graph| index.get(&graph.path));
        let known = graph.and_then(|at| known.get(*at)?.as_ref());
        if let (Some(known), Some(bound)) = (known, bound) {
            mirror(workflow, &FileNames { known, bound }, findings);
        }
    }
}

fn conditions(graph: &GraphRead, known: &BTreeSet<&str>, findings: &mut Findings) {
    for edge in &graph.draft.edges {
        let Some(Some(condition)) = &edge.condition_expr else { continue };
        let mut told = HashSet::new();
        for used in condition.uses() {
            let variable = used.variable.as_str();
            if known.contains(variable) || !told.insert(variable) {
                continue;
            }
            let shown = quoted(variable);
            let message =
                format!("this condition looks at the variable {shown}, which no step sets");
            let help = match findings.nearest(variable, known.iter().copied()) {
                Some(similar) => format!("did you mean `{similar}`?"),
                None => format!("add {shown} to `setsVariables` of the step that sets it"),
            };
            let place = Location::at(graph.document.path.as_str(), used.span);
            findings.push(Diagnostic::new(Code::UnsetVariable, place, message).help(help));
        }
    }
}

/// Names that files may have in braces: variables of a graph, and what is bound for a run.
struct FileNames<'k> {
    known: &'k BTreeSet<&'k str>,
    bound: &'k BoundNames<'k>,
}

impl FileNames<'_> {
    /// Reports a file whose name needs a variable that is never set. `own` are names that a step binds.
    fn check(
        &self,
        what: &str,
        path: &str,
        own: &BTreeMap<String, String>,
        place: impl FnOnce() -> Location,
        findings: &mut Findings,
    ) {
        let (known, bound) = (self.known, self.bound);
        let has_value = |name: &str| {
            known.contains(first_part(name)) || bound.has(name) || own.contains_key(name)
        };
        let Some(variable) = placeholder::names(path).find(|name| !has_value(name)) else { return };
        let (file, shown) = (quoted(path), quoted(variable));
        let message = format!("{what} {file} is named by the variable {shown}, which no step sets");
        let candidates = known.iter().copied().chain(bound.iter());
        let help = match findings.nearest(first_part(variable), candidates) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => format!("add {shown} to `setsVariables` of the step that sets it"),
        };
        findings.push(Diagnostic::new(Code::UnsetOutputVariable, place(), message).help(help));
    }
}

/// Checks the variables in the names of outputs and of the files that gates write: without its variable an output has
/// no name, and its node no way out.
fn outputs(graph: &GraphRead, names: &FileNames<'_>, findings: &mut Findings) {
    let none = BTreeMap::new();
    for (index, node) in graph.draft.nodes.iter().enumerate() {
        let place = |keys: &[PathKey<'_>]| {
            graph.document.place(&[&["nodes".into(), index.into()], keys].concat())
        };
        let step = graph.steps.get(index).and_then(Option::as_ref);
        let front = step.and_then(|step| step.step.as_ref()).map(|step| &step.front);
        let own = front.map_or(&none, |front| &front.bindings);
        for (at, output) in node.outputs.iter().flatten().enumerate() {
            let place = || place(&["outputs".into(), at.into()]);
            names.check("the output", output, own, place, findings);
        }
        let gate = node.gate.as_ref().and_then(Option::as_ref);
        for (list, at, to) in gate.into_iter().flat_map(|gate| gates::targets(gate)) {
            let place = || place(&["gate".into(), list.into(), at.into(), "to".into()]);
            names.check("the file", to, own, place, findings);
        }
    }
}

/// Checks the variables in the name of the document in which other tools read what is done.
fn mirror(workflow: &WorkflowDraft, names: &FileNames<'_>, findings: &mut Findings) {
    let Some(template) = workflow.template.as_deref() else { return };
    let front = template.front.as_ref();
    let Some(mirror) = front.and_then(|front| front.mirror.as_ref()) else { return };
    let place = || template.document.place(&["mirror".into(), "file".into()]);
    let own = front.map(|front| &front.bindings);
    names.check("the file", &mirror.file, own.unwrap_or(&BTreeMap::new()), place, findings);
}

/// Returns the part of a variable's name that conditions read.
fn first_part(name: &str) -> &str {
    name.split('.').next().unwrap_or(name)
}

fn set_by_steps(graph: &GraphRead) -> VariableNames<'_> {
    let mut known = BTreeSet::new();
    for step in &graph.steps {
        let front = &step.as_ref()?.step.as_ref()?.front;
        known.extend(front.sets_variables.iter().map(|name| first_part(name)));
    }
    Some(known)
}

/// Adds the variables of templates and calls to those of steps. Workflows that share a graph share the result.
fn set_by_workflows<'w>(
    workflows: &'w [WorkflowDraft],
    index: &HashMap<&PackagePath, usize>,
    known: &mut [VariableNames<'w>],
    left: &mut usize,
) -> Option<()> {
    let (mut pairs, mut with_calls) = (HashSet::new(), HashSet::new());
    for workflow in workflows {
        let Some(at) = workflow.graph.as_ref().and_then(|graph| index.get(&graph.path).copied())
        else {
            continue;
        };
        let slot = known.get_mut(at)?;
        if with_calls.insert(at)
            && let Some(own) = slot
        {
            let results = workflow.calls.values().flat_map(|call| &call.result_variables);
            own.extend(results.map(|name| first_part(name)));
        }
        if !pairs.insert((at, &workflow.document_path)) {
            continue;
        }
        let template = workflow.template.as_ref();
        match (template.and_then(|template| template.front.as_ref()), &mut *slot) {
            (Some(front), Some(own)) => {
                *left = left.checked_sub(front.variables.len() + 1)?;
                own.extend(front.variables.keys().map(|name| first_part(name)));
            }
            _ => *slot = None,
        }
    }
    Some(())
}

/// Adds the parent's variables to a child that is called with its parent's context; `None` if there are too many.
fn inherit(
    workflows: &[WorkflowDraft],
    index: &HashMap<&PackagePath, usize>,
    known: &mut [VariableNames<'_>],
    left: &mut usize,
) -> Option<()> {
    let graph_of = |workflow: &WorkflowDraft| index.get(&workflow.graph.as_ref()?.path).copied();
    let by_id: HashMap<&str, usize> = workflows
        .iter()
        .rev()
        .filter_map(|workflow| Some((workflow.id.as_ref()?.as_str(), graph_of(workflow)?)))
        .collect();
    let mut edges = BTreeSet::new();
    let mut read = HashSet::new();
    for workflow in workflows {
        let Some(parent) = graph_of(workflow).filter(|graph| read.insert(*graph)) else { continue };
        let passing = workflow.calls.values().filter(|call| call.pass_context);
        let children = passing.filter_map(|call| by_id.get(call.workflow.as_str()));
        edges.extend(children.map(|child| (parent, *child)));
    }
    let mut down: DiGraph<(), ()> = DiGraph::new();
    for _ in known.iter() {
        down.add_node(());
    }
    for (parent, child) in edges {
        down.add_edge(NodeIndex::new(parent), NodeIndex::new(child), ());
    }
    for parent in toposort(&down, None).ok()? {
        let children: Vec<_> = down.neighbors(parent).collect();
        if children.is_empty() {
            continue;
        }
        let passed = known.get(parent.index())?.clone();
        for child in children {
            *left = left.checked_sub(passed.as_ref().map_or(1, BTreeSet::len))?;
            let own = known.get_mut(child.index())?;
            match (&mut *own, &passed) {
                (Some(own), Some(passed)) => own.extend(passed),
                _ => *own = None,
            }
        }
    }
    Some(())
}
