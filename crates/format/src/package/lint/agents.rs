//! Agents: unique ids, unique prompts, no unused agents.

use std::collections::{HashMap, HashSet};

use crate::diagnostic::{Code, Diagnostic, Findings};
use crate::package::agents::{Agent, AgentsDraft};
use crate::package::check::{GraphRead, WorkflowDraft};
use crate::package::document::Document;
use crate::wording::quoted;

pub(super) fn check(
    document: &Document,
    draft: &AgentsDraft,
    workflows: &[WorkflowDraft],
    graphs: &[&GraphRead],
    findings: &mut Findings,
) {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (index, agent) in draft.agents.iter().enumerate() {
        let Some(agent) = agent else { continue };
        let place = |index: usize| document.place(&["agents".into(), index.into(), "id".into()]);
        if let Some(first) = seen.get(agent.id.as_str()) {
            let message = format!("two agents have the id `{}`", agent.id);
            let finding = Diagnostic::new(Code::DuplicateAgentId, place(index), message);
            findings.push(
                finding
                    .help("give one of them another id")
                    .related(place(*first), "the first one is here"),
            );
        } else {
            seen.insert(agent.id.as_str(), index);
        }
        prompts(document, index, agent, findings);
    }
    // The agents that an unreadable graph uses are unknown.
    if workflows.iter().all(|workflow| workflow.graph.is_some()) {
        unused(document, draft, workflows, graphs, findings);
    }
}

fn prompts(document: &Document, agent_index: usize, agent: &Agent, findings: &mut Findings) {
    let mut seen: HashSet<&str> = HashSet::new();
    for (index, prompt) in agent.prompts.iter().enumerate() {
        // Other tools write prompts without an id; no menu can name those.
        if !prompt.id.trim().is_empty() && !seen.insert(&prompt.id) {
            let place = document.place(&[
                "agents".into(),
                agent_index.into(),
                "prompts".into(),
                index.into(),
                "id".into(),
            ]);
            let message = format!(
                "agent `{}` has two prompts with the id {}; only the first can be named",
                agent.id,
                quoted(&prompt.id)
            );
            findings.push(
                Diagnostic::new(Code::DuplicatePromptId, place, message)
                    .help("give this prompt another id"),
            );
        }
    }
}

fn unused(
    document: &Document,
    draft: &AgentsDraft,
    workflows: &[WorkflowDraft],
    graphs: &[&GraphRead],
    findings: &mut Findings,
) {
    let nodes = || graphs.iter().flat_map(|graph| &graph.draft.nodes);
    let readable = graphs.iter().all(|graph| !graph.draft.nodes.is_empty())
        && nodes().all(|node| node.agent_id.is_some());
    if !readable {
        return;
    }
    let mut used: HashSet<&str> =
        nodes().filter_map(|node| Some(node.agent_id.as_ref()?.as_ref()?.as_str())).collect();
    let fronts = workflows.iter().filter_map(|workflow| workflow.template.as_ref()?.front.as_ref());
    used.extend(fronts.filter_map(|front| front.active_agent_id.as_deref()));
    // The first agent is the default where none is named.
    for (index, agent) in draft.agents.iter().enumerate().skip(1) {
        let Some(agent) = agent else { continue };
        if agent.menu.is_empty() && !used.contains(agent.id.as_str()) {
            let place = document.place(&["agents".into(), index.into(), "id".into()]);
            let message =
                format!("agent `{}` is never used: no node names it and it has no menu", agent.id);
            findings.push(
                Diagnostic::new(Code::UnusedAgent, place, message)
                    .help("name it as `agentId` of a node, give it a menu, or remove it"),
            );
        }
    }
}
