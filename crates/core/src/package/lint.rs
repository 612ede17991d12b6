//! The rules beyond the shape of single files: references between files, and graphs that make sense.

mod agents;
mod calls;
mod graph;
mod menu;
mod steps;
mod template;
mod variables;

use std::collections::{BTreeMap, HashSet};

use super::agents::AgentsDraft;
use super::check::WorkflowDraft;
use super::document::Document;
use super::files::Files;
use super::manifest::{ManifestDraft, WorkflowEntry};
use crate::diagnostic::{Code, Diagnostic, Findings};
use crate::id::{AgentId, WorkflowId};

/// What was read of the package, and where findings go.
pub(super) struct Input<'a> {
    pub(super) files: &'a dyn Files,
    pub(super) manifest: &'a ManifestDraft,
    pub(super) agents: Option<(&'a Document, &'a AgentsDraft)>,
    pub(super) workflows: &'a mut [WorkflowDraft],
    pub(super) findings: &'a mut Findings,
}

/// Applies every rule whose premises could be read. A rule about a whole is silent when the whole is not known.
pub(super) fn run(input: Input<'_>) {
    let Input { files, manifest, agents, workflows, findings } = input;
    let agent_ids: Option<HashSet<AgentId>> = agents
        .filter(|(_, draft)| draft.agents.iter().all(Option::is_some) && !draft.agents.is_empty())
        .map(|(_, draft)| draft.agents.iter().flatten().map(|agent| agent.id.clone()).collect());
    for workflow in workflows.iter() {
        if let Some((document, graph)) = &workflow.graph {
            graph::references(document, graph, agent_ids.as_ref(), findings);
            graph::structure(document, graph, findings);
        }
        steps::check(workflow, findings);
        template::check(workflow, files, findings);
    }
    let workflows_known =
        manifest.workflows.iter().all(Option::is_some) && manifest.workflow.is_some();
    if workflows_known {
        calls::resolve(workflows, findings);
        variables::check(workflows, findings);
    }
    if let Some((document, draft)) = agents {
        agents::check(document, draft, workflows, findings);
        let targets = menu::Targets { files, workflows, workflows_known };
        menu::check(document, draft, &targets, findings);
    }
}

/// Workflow ids are unique.
pub(super) fn workflow_ids(
    manifest: &Document,
    workflows: &[Option<WorkflowEntry>],
    findings: &mut Findings,
) {
    let mut seen: BTreeMap<&WorkflowId, usize> = BTreeMap::new();
    for (index, entry) in workflows.iter().enumerate() {
        let Some(entry) = entry else { continue };
        let place = |index: usize| manifest.place(&["workflows".into(), index.into(), "id".into()]);
        if let Some(first) = seen.get(&entry.id) {
            let message = format!("two workflows have the id `{}`", entry.id);
            let finding = Diagnostic::new(Code::DuplicateWorkflowId, place(index), message);
            findings.push(
                finding
                    .help("give one of them another id")
                    .related(place(*first), "the first one is here"),
            );
        } else {
            seen.insert(&entry.id, index);
        }
    }
}
