//! Answers to a model whose change is refused: the mistakes, the missing values, and the legal moves.

use crewagent_format::wording::{joined, ticked};
use serde_json::{Value as Json, json};

use super::change::StateDifference;
use super::needs::Needs;
use super::rules::{GuardRule, Violation};
use super::{Author, MissingRule, NodeVisit, Proposal};
use crate::policy::StateTool;
use crate::refusal::{Refusal, RefusalCode};
use crate::state::document::{STATE_FILE, StateDocument};
use crate::state::next::{Next, allowed_next};

/// Returns one refusal for all mistakes. Broken rules take precedence over missing values.
pub(super) fn refusal(
    proposal: &Proposal<'_>,
    change: &StateDifference<'_>,
    violations: &[Violation],
    demanded: &[&Needs],
) -> Refusal {
    let mut parts: Vec<String> = violations.iter().map(|found| found.message.clone()).collect();
    parts.extend(demanded.iter().map(|needs| needs.words()));
    let message = match parts.as_slice() {
        [only] => only.clone(),
        several => {
            let numbered =
                several.iter().enumerate().map(|(at, part)| format!("({}) {part}", at + 1));
            numbered.collect::<Vec<_>>().join(" ")
        }
    };
    let code = violations.first().map_or(RefusalCode::Precondition, |first| first.rule.code());
    let mut hint = String::from(match tool(proposal) {
        StateTool::Patch => "The file is unchanged.",
        StateTool::Runtime => "Nothing was changed.",
    });
    if demanded.iter().any(|needs| needs.outputs.lacks_files()) {
        hint.push_str(match tool(proposal) {
            StateTool::Patch => " Write the missing files under @project first.",
            StateTool::Runtime => " Send the missing files in `files` of the same call.",
        });
    }
    if demanded.iter().any(|needs| !needs.variables.is_empty()) {
        hint.push_str(match tool(proposal) {
            StateTool::Patch => {
                " Set the variables with `variables.set`, in the same write if you like."
            }
            StateTool::Runtime => " Set the variables in `variables` of the same call.",
        });
    }
    if !violations.is_empty() {
        hint.push(' ');
        hint.push_str(&ways(proposal, change));
    }
    let mut refusal = Refusal::new(code, message).hint(hint);
    if !violations.is_empty() {
        let broken: Vec<GuardRule> = violations.iter().map(|found| found.rule).collect();
        refusal = refusal.detail("violations", json!(broken));
    }
    refusal
}

/// Describes the legal moves.
fn ways(proposal: &Proposal<'_>, change: &StateDifference<'_>) -> String {
    let from = change.from.id.as_str();
    if proposal.workflow.calls.contains_key(from) {
        return "Nothing is to be done on this node; the workflow that it calls begins with the next request.".to_owned();
    }
    let next = allowed_next(change.graph, from, change.new.variables());
    if next.is_empty() {
        let finish = match tool(proposal) {
            StateTool::Patch => "add it to stepsCompleted and set workflowStatus to complete",
            StateTool::Runtime => "complete it with runtime.complete_node",
        };
        return format!("`{from}` has no way out: to finish, {finish}; else stay on it.");
    }
    let way = |next: &Next| {
        let mut notes = vec![format!("label `{}`", next.label)];
        if next.is_default {
            notes.push("default".to_owned());
        }
        if !next.open {
            notes.push("closed now".to_owned());
        }
        format!("`{}` ({})", next.to, notes.join(", "))
    };
    let who = match tool(proposal) {
        StateTool::Patch => "a write may stay, or move along one edge",
        StateTool::Runtime => "runtime.complete_node moves along one edge",
    };
    format!("From `{from}` {who} to: {}.", joined(next.iter().map(way)))
}

/// Returns the kind of tool that changes the state; for the runtime itself no moves are described.
fn tool(proposal: &Proposal<'_>) -> StateTool {
    match proposal.author {
        Author::Model(tool) => tool,
        Author::Runtime => StateTool::Patch,
    }
}

/// Adds the position, the legal moves and the missing values of the node, judged by this document.
pub(super) fn situated(
    refusal: Refusal,
    proposal: &Proposal<'_>,
    document: &StateDocument,
) -> Refusal {
    let graph = &proposal.workflow.graph;
    let current = proposal.old.current_node_id(graph);
    let next = allowed_next(graph, current, document.variables());
    let mut refusal = refusal.detail("currentNodeId", current).detail("allowedNext", json!(next));
    if proposal.missing == MissingRule::Off {
        return refusal;
    }
    // The current node, and the one that the change would complete.
    let target = document.current_node_id(graph);
    let completed = Some(target).filter(|id| *id != current && document.is_complete(graph));
    let nodes = [Some(current), completed].into_iter().flatten().filter_map(|id| graph.node(id));
    let visit = NodeVisit::after(proposal, document);
    let needs: Vec<Needs> = nodes.map(|node| Needs::of(&visit, node)).collect();
    if needs.iter().any(Needs::is_open) {
        let outputs: Vec<&String> =
            needs.iter().flat_map(|needs| &needs.outputs.open).map(|output| &output.name).collect();
        let variables: Vec<&String> =
            needs.iter().flat_map(|needs| &needs.variables).map(|unset| &unset.name).collect();
        refusal = refusal.detail("missing", json!({ "outputs": outputs, "variables": variables }));
    }
    refusal
}

/// Returns the refusal for a run at a node that is not in its graph: a model cannot fix that.
pub(super) fn lost(proposal: &Proposal<'_>) -> Refusal {
    let graph = &proposal.workflow.graph;
    let current = proposal.old.current_node_id(graph);
    let message = format!(
        "{STATE_FILE} says that the run is at {}, which is not a node of this workflow, so no change can be checked.",
        crewagent_format::wording::quoted(current)
    );
    Refusal::new(RefusalCode::Transition, message)
        .hint("Tell the user that the state document was damaged outside the runtime.")
        .detail("currentNodeId", current)
        .detail("allowedNext", Json::Array(Vec::new()))
}

/// Returns the refusal of a change to a completed workflow without the user's consent.
pub(super) fn unconfirmed(old: &StateDocument, new: &StateDocument) -> Refusal {
    let (before, after) = (old.frontmatter(), new.frontmatter());
    let value = |document: &crewagent_format::frontmatter::Frontmatter, key: &str| {
        document.tree().get(key).map(|entry| entry.tree.to_json())
    };
    let mut changed: Vec<&str> = Vec::new();
    for entry in before.entries().iter().chain(after.entries()) {
        let key = entry.key.as_str();
        if !changed.contains(&key) && value(before, key) != value(after, key) {
            changed.push(key);
        }
    }
    if before.body() != after.body() {
        changed.push("(text)");
    }
    let what = if changed.is_empty() { "its layout".to_owned() } else { ticked(&changed) };
    let message = format!(
        "The workflow is complete, and this would change {STATE_FILE} ({what}); that needs the user's confirmation."
    );
    Refusal::new(RefusalCode::ConfirmationRequired, message)
        .hint("Ask with ui.ask_user (kind confirm), saying what would change and why. After a yes, make the same call again.")
        .detail("changes", changed)
}
