//! Conditions look at variables; somebody has to set them.

use std::collections::{BTreeMap, BTreeSet};

use crate::diagnostic::{Code, Diagnostic, Findings};
use crate::id::WorkflowId;
use crate::package::check::WorkflowDraft;

pub(super) fn check(workflows: &[WorkflowDraft], findings: &mut Findings) {
    let Some(mut known) = workflows.iter().map(own_variables).collect::<Option<Vec<_>>>() else {
        return;
    };
    inherit(workflows, &mut known);
    for (workflow, known) in workflows.iter().zip(&known) {
        let Some((document, graph)) = &workflow.graph else { continue };
        for (index, edge) in graph.edges.iter().enumerate() {
            let Some(condition) = edge.as_ref().and_then(|edge| edge.condition_expr.as_ref())
            else {
                continue;
            };
            for variable in
                condition.variables().iter().filter(|variable| !known.contains(variable.as_str()))
            {
                let place = document.place(&["edges".into(), index.into(), "conditionExpr".into()]);
                let message = format!(
                    "this condition looks at the variable `{variable}`, which no step sets"
                );
                let help = match crate::shape::nearest(variable, known.iter().copied()) {
                    Some(similar) => format!("did you mean `{similar}`?"),
                    None => format!("add `{variable}` to `setsVariables` of the step that sets it"),
                };
                findings.push(Diagnostic::new(Code::UnsetVariable, place, message).help(help));
            }
        }
    }
}

/// What a workflow's steps, template and calls set. `None` when a part of it could not be read.
fn own_variables(workflow: &WorkflowDraft) -> Option<BTreeSet<&str>> {
    let mut known = BTreeSet::new();
    for step in &workflow.steps {
        known.extend(step.as_ref()?.step.as_ref()?.front.sets_variables.iter().map(String::as_str));
    }
    known.extend(workflow.template.as_ref()?.front.as_ref()?.variables.keys().map(String::as_str));
    known.extend(
        workflow.calls.values().flat_map(|call| &call.result_variables).map(String::as_str),
    );
    Some(known)
}

/// A child that is called with its parent's context knows its parent's variables too.
fn inherit<'w>(workflows: &'w [WorkflowDraft], known: &mut [BTreeSet<&'w str>]) {
    let index: BTreeMap<&WorkflowId, usize> = workflows
        .iter()
        .enumerate()
        .filter_map(|(at, workflow)| Some((workflow.id.as_ref()?, at)))
        .collect();
    // Each round carries variables one call further down; no chain is longer than there are workflows.
    for _ in 0..workflows.len() {
        let mut changed = false;
        for (parent, workflow) in workflows.iter().enumerate() {
            for call in workflow.calls.values().filter(|call| call.pass_context) {
                let Some(child) =
                    index.get(&call.workflow).copied().filter(|child| *child != parent)
                else {
                    continue;
                };
                let passed = known.get(parent).cloned().unwrap_or_default();
                if let Some(own) = known.get_mut(child) {
                    let before = own.len();
                    own.extend(passed);
                    changed |= own.len() > before;
                }
            }
        }
        if !changed {
            return;
        }
    }
}
