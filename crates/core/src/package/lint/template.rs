//! Workflow documents: a state that can be started from, and an index whose links lead somewhere.

use std::collections::HashSet;

use crate::diagnostic::{Code, Diagnostic, Findings, Place};
use crate::package::check::WorkflowDraft;
use crate::package::files::Files;
use crate::path::PackagePath;
use crate::shape;

pub(super) fn check(workflow: &WorkflowDraft, files: &dyn Files, findings: &mut Findings) {
    state(workflow, findings);
    index(workflow, files, findings);
}

fn state(workflow: &WorkflowDraft, findings: &mut Findings) {
    let (Some(template), Some((_, graph))) = (&workflow.template, &workflow.graph) else { return };
    let Some(front) = template.front.as_ref().filter(|_| graph.nodes.iter().all(Option::is_some))
    else {
        return;
    };
    let nodes: HashSet<&str> = graph.nodes.iter().flatten().map(|node| node.id.as_str()).collect();
    if let Some(current) = front.current_node().filter(|current| !nodes.contains(current)) {
        let message = format!(
            "`currentNodeId` is {}, which is not a node of `{}`",
            shape::quoted(current),
            workflow.graph_path
        );
        let finding = Diagnostic::new(
            Code::UnknownCurrentNode,
            template.document.place(&["currentNodeId".into()]),
            message,
        );
        findings.push(
            finding
                .help("leave it empty in a template: a run then starts at the graph's entry node"),
        );
    }
    for (at, completed) in
        front.steps_completed.iter().enumerate().filter(|(_, id)| !nodes.contains(id.as_str()))
    {
        let message = format!(
            "`stepsCompleted` names {}, which is not a node of `{}`",
            shape::quoted(completed),
            workflow.graph_path
        );
        let place = template.document.place(&["stepsCompleted".into(), at.into()]);
        findings.push(
            Diagnostic::new(Code::UnknownCompletedNode, place, message)
                .help("leave the list empty in a template"),
        );
    }
}

fn index(workflow: &WorkflowDraft, files: &dyn Files, findings: &mut Findings) {
    let Some(template) = &workflow.template else { return };
    let sections = ["steps index", "step index", "steps"]
        .iter()
        .filter_map(|title| template.outline.section(title));
    for link in sections.flat_map(|section| &section.links) {
        let target = link.target.split(['#', '?']).next().unwrap_or_default().replace("%20", " ");
        let elsewhere =
            target.is_empty() || target.contains("://") || target.starts_with("mailto:");
        let exists = |path: PackagePath| files.sizes().contains_key(&path);
        let found = workflow.document_path.sibling(&target).is_ok_and(exists)
            || PackagePath::reference(&target).is_ok_and(exists);
        if !elsewhere && !found {
            let message = format!(
                "this link leads to {}, which is not in the package",
                shape::quoted(&target)
            );
            let place = Place::at(workflow.document_path.as_str(), link.span);
            findings.push(
                Diagnostic::new(Code::DeadIndexLink, place, message)
                    .help("correct the link; it is relative to this file"),
            );
        }
    }
}
