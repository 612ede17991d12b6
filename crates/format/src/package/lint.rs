//! Rules beyond the shape of single files: references between files, and graphs that make sense.

mod agents;
mod calls;
mod conditions;
mod config;
mod gates;
mod graph;
mod menu;
mod paths;
mod portable;
mod prose;
mod steps;
mod stray;
mod template;
mod variables;

use std::collections::{BTreeMap, HashSet};

use super::agents::AgentsDraft;
use super::check::{Audience, GraphRead, WorkflowDraft};
use super::document::Document;
use super::files::Files;
use super::manifest::{ManifestDraft, WorkflowEntryDraft};
use crate::diagnostic::{Code, Diagnostic, Findings};
use crate::id::{AgentId, WorkflowId};

/// Everything that was read of the package, and the list of findings.
pub(super) struct LintInput<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) audience: Audience,
    pub(super) document: &'a Document,
    pub(super) manifest: &'a ManifestDraft,
    pub(super) agents: Option<(&'a Document, &'a AgentsDraft)>,
    pub(super) workflows: &'a mut [WorkflowDraft],
    pub(super) findings: &'a mut Findings,
}

/// Applies every rule whose input was readable. A rule about a whole is skipped if part of it is unknown.
pub(super) fn run(input: LintInput<'_>) {
    let LintInput { files, audience, document, manifest, agents, workflows, findings } = input;
    let agent_ids: Option<HashSet<AgentId>> = agents
        .filter(|(_, draft)| draft.agents.iter().all(Option::is_some) && !draft.agents.is_empty())
        .map(|(_, draft)| draft.agents.iter().flatten().map(|agent| agent.id.clone()).collect());
    let workflows_known = manifest.names_all_workflows();
    let resolved = calls::resolve(workflows, workflows_known, findings);
    let bound = config::BoundNames::of(manifest);
    config::check(document, manifest, bound.as_ref(), files, findings);
    let roots = paths::ArtifactRoots::of(manifest, bound.as_ref());
    let graphs = distinct_graphs(workflows);
    for (read, calling) in graphs.iter().zip(&resolved.calling) {
        graph::references(read, agent_ids.as_ref(), findings);
        graph::structure(read, calling, findings);
        if let Some(roots) = &roots {
            paths::outputs(read, roots, findings);
        }
        gates::check(read, findings);
    }
    conditions::check(&graphs, findings);
    steps::check(&graphs, findings);
    template::check(workflows, files, findings);
    if workflows_known && !resolved.in_circles {
        variables::check(workflows, &graphs, &resolved.unsure, bound.as_ref(), findings);
    }
    let mut prose = prose::ProseCheck::new(files, findings);
    prose.documents(workflows, &graphs);
    if let Some((document, draft)) = agents {
        prose.agents(document, draft);
    }
    stray::check(workflows, &graphs, agents.map(|(_, draft)| draft), files, findings);
    if let Some((document, draft)) = agents {
        agents::check(document, draft, workflows, &graphs, findings);
        let targets = menu::Targets::new(files, workflows, workflows_known);
        menu::check(document, draft, &targets, findings);
    }
    if audience == Audience::EveryTool {
        portable::check(document, agents, workflows, &graphs, findings);
    }
}

/// Returns the distinct graphs of these workflows, in the order of the workflows.
fn distinct_graphs(workflows: &[WorkflowDraft]) -> Vec<&GraphRead> {
    let mut seen = HashSet::new();
    let graphs = workflows.iter().filter_map(|workflow| workflow.graph.as_deref());
    graphs.filter(|graph| seen.insert(&graph.path)).collect()
}

pub(super) fn workflow_ids(
    manifest: &Document,
    workflows: &[WorkflowEntryDraft],
    findings: &mut Findings,
) {
    let mut seen: BTreeMap<&WorkflowId, usize> = BTreeMap::new();
    for (index, entry) in workflows.iter().enumerate() {
        let Some(id) = &entry.id else { continue };
        let place = |index: usize| manifest.place(&["workflows".into(), index.into(), "id".into()]);
        if let Some(first) = seen.get(id) {
            let message = format!("two workflows have the id `{id}`");
            let finding = Diagnostic::new(Code::DuplicateWorkflowId, place(index), message);
            findings.push(
                finding
                    .help("give one of them another id")
                    .related(place(*first), "the first one is here"),
            );
        } else {
            seen.insert(id, index);
        }
    }
}
