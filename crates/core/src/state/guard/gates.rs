//! The gate of a node: an edge behind it is open once the user chose it, and some nodes wait for a word of the user.

use crewagent_format::package::gate::{Gate, GateOption, OptionAction};
use crewagent_format::package::graph::Edge;
use crewagent_format::wording::{joined, ticked};

use super::change::StateDifference;
use super::rules::{GuardRule, Violation};
use super::{Author, Proposal};
use crate::tool::Tool;

/// Checks the gate of the node that a model leaves or completes.
pub(super) fn broken(
    change: &StateDifference<'_>,
    edge: Option<&Edge>,
    proposal: &Proposal<'_>,
    found: &mut Vec<Violation>,
) {
    if proposal.author == Author::Runtime {
        return;
    }
    let node =
        change.left().or_else(|| change.completed().filter(|node| node.id == change.from.id));
    let Some(node) = node else { return };
    if node.waits_for_user && !proposal.gate.has_spoken {
        let tool = Tool::AskUser.wire_name();
        let message = format!(
            "Ask the user first: `{}` waits for a word of theirs in this visit. Use {tool}, or answer in words and wait.",
            node.id
        );
        found.push(Violation::new(GuardRule::UserHasSpoken, message));
    }
    let Some(gate) = &node.gate else { return };
    // A node without a way on is completed by an option that would lead on.
    let mut open = gate.options.iter().filter(|option| match edge {
        Some(edge) => edge.gate.as_ref() == Some(&option.key),
        None => matches!(option.does, OptionAction::Edge | OptionAction::Yolo),
    });
    let is_free = match edge {
        Some(edge) => proposal.gate.opens(edge.gate.as_ref()),
        None => {
            open.clone().next().is_none()
                || open.any(|option| proposal.gate.opens(Some(&option.key)))
        }
    };
    if !is_free {
        let tool = Tool::Gate.wire_name();
        let what = match edge.and_then(|edge| edge.gate.as_ref()) {
            Some(key) => format!("{key} "),
            None => String::new(),
        };
        let message = format!(
            "The user decides how `{}` goes on, and has not chosen {what}in this visit. Show the work with {tool}; the options are {}.",
            node.id,
            options(gate)
        );
        found.push(Violation::new(GuardRule::GateChosen, message));
        return;
    }
    if edge.is_some_and(|edge| edge.gate.is_none()) {
        return;
    }
    let left: Vec<&str> = missing_sections(gate, |id| proposal.gate.saved.contains(id)).collect();
    if !left.is_empty() {
        let tool = Tool::Gate.wire_name();
        let message = format!(
            "`{}` has sections that were not saved in this visit: {}. Write each as a draft of that name, and show it with {tool}.",
            node.id,
            ticked(&left)
        );
        found.push(Violation::new(GuardRule::SectionsSaved, message));
    }
}

/// Returns the sections of a gate that have to be saved, and are not.
pub(crate) fn missing_sections(
    gate: &Gate,
    is_saved: impl Fn(&str) -> bool,
) -> impl Iterator<Item = &str> {
    let demanded = gate.sections.iter().filter(|section| section.when.is_none());
    demanded.map(|section| section.id.as_str()).filter(move |id| !is_saved(id))
}

fn options(gate: &Gate) -> String {
    joined(gate.options.iter().map(|GateOption { key, label, .. }| format!("{key} {label}")))
}
