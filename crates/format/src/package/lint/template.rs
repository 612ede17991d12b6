//! Workflow documents: a state that a run can start from, and an index with valid links.

mod links;

use std::collections::{HashMap, HashSet};

use super::paths;
use crate::diagnostic::{Code, Diagnostic, Findings, Location};
use crate::package::check::{GraphRead, TemplateDraft, WorkflowDraft};
use crate::package::files::Files;
use crate::path::PackagePath;
use crate::wording::quoted;

pub(super) fn check(workflows: &[WorkflowDraft], files: &dyn Files, findings: &mut Findings) {
    let (mut templates, mut pairs) = (HashSet::new(), HashSet::new());
    let mut nodes: HashMap<&PackagePath, Option<HashSet<&str>>> = HashMap::new();
    for workflow in workflows {
        let Some(template) = workflow.template.as_deref() else { continue };
        let is_new = templates.insert(&template.document.path);
        if is_new {
            index(template, files, findings);
            paths::artifacts(template, findings);
            mirror_file(template, findings);
        }
        let Some(graph) = workflow.graph.as_deref() else { continue };
        if !pairs.insert((&template.document.path, &graph.path)) {
            continue;
        }
        let ids = nodes.entry(&graph.path).or_insert_with(|| {
            let ids = graph.draft.node_ids()?;
            Some(ids.into_iter().map(|id| id.as_str()).collect())
        });
        if let Some(ids) = ids {
            current(template, graph, ids, findings);
            // The list may be long, so only the first graph of a template is compared with it.
            if is_new {
                completed(template, graph, ids, findings);
                mirrored(template, graph, ids, findings);
            }
        }
    }
}

fn current(
    template: &TemplateDraft,
    graph: &GraphRead,
    ids: &HashSet<&str>,
    findings: &mut Findings,
) {
    let current = template.front.as_ref().and_then(|front| front.current_node());
    let Some(current) = current.filter(|current| !ids.contains(current)) else { return };
    let message = format!(
        "`currentNodeId` is {}, which is not a node of `{}`; it is ignored, and a run starts at the entry node",
        quoted(current),
        graph.path
    );
    let place = template.document.place(&["currentNodeId".into()]);
    findings.push(
        Diagnostic::new(Code::UnknownCurrentNode, place, message)
            .help("leave it empty in a template: a run then starts at the graph's entry node"),
    );
}

fn completed(
    template: &TemplateDraft,
    graph: &GraphRead,
    ids: &HashSet<&str>,
    findings: &mut Findings,
) {
    let Some(front) = &template.front else { return };
    let listed = front.steps_completed.iter().enumerate();
    for (at, completed) in listed.filter(|(_, id)| !ids.contains(id.as_str())) {
        let message = format!(
            "`stepsCompleted` names {}, which is not a node of `{}`",
            quoted(completed),
            graph.path
        );
        let place = template.document.place(&["stepsCompleted".into(), at.into()]);
        findings.push(
            Diagnostic::new(Code::UnknownCompletedNode, place, message)
                .help("leave the list empty in a template"),
        );
    }
}

fn mirror_file(template: &TemplateDraft, findings: &mut Findings) {
    let mirror = template.front.as_ref().and_then(|front| front.mirror.as_ref());
    let Some(file) = mirror.map(|mirror| mirror.file.as_str()) else { return };
    let Some(reason) = paths::target_mistake(file) else { return };
    let message = format!("the runtime is to write {}, which {reason}", quoted(file));
    let place = template.document.place(&["mirror".into(), "file".into()]);
    findings.push(Diagnostic::new(Code::BadTargetPath, place, message).help(paths::TARGET_HELP));
}

fn mirrored(
    template: &TemplateDraft,
    graph: &GraphRead,
    ids: &HashSet<&str>,
    findings: &mut Findings,
) {
    let mirror = template.front.as_ref().and_then(|front| front.mirror.as_ref());
    let names = mirror.into_iter().flat_map(|mirror| mirror.values.keys());
    for name in names.filter(|name| !ids.contains(name.as_str())) {
        let message = format!(
            "`mirror.values` has a value for {}, which is not a node of `{}`",
            quoted(name),
            graph.path
        );
        let place =
            template.document.place(&["mirror".into(), "values".into(), name.as_str().into()]);
        let finding = Diagnostic::new(Code::UnknownMirrorNode, place, message);
        findings.push(finding.help("write the id of a node, or remove the value"));
    }
}

fn index(template: &TemplateDraft, files: &dyn Files, findings: &mut Findings) {
    let document = &template.document.path;
    let exists = |path: &PackagePath| files.sizes().contains_key(path);
    for link in template.outline.index_links() {
        let Some(target) = links::LinkTarget::of(&link.target) else { continue };
        if target.candidates(document).iter().any(exists) {
            continue;
        }
        let message =
            format!("this link leads to {}, which is not in the package", quoted(target.as_str()));
        let place = Location::at(document.as_str(), link.span);
        findings.push(
            Diagnostic::new(Code::DeadIndexLink, place, message)
                .help("correct the link; it is relative to this file"),
        );
    }
}
