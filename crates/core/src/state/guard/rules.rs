//! Rules over the old document, the new one and the graph. Each is one function, and each reports all it can.

use crewagent_format::wording::{joined, quoted, ticked};
use serde::Serialize;

use super::change::{StateDifference, count_unchanged, is_same};
use super::route::is_about;
use super::{Author, Proposal};
use crate::refusal::RefusalCode;
use crate::state::document::{COMPLETE, StateDocument};
use crate::state::frame::CALL_STACK;
use crate::state::project_path::ProjectPath;

/// Rule of the guard, by its name in a refusal's details.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum GuardRule {
    NodeExists,
    EdgeExists,
    ConditionHolds,
    LabelKnown,
    OneMove,
    NothingRemoved,
    NodeIsDone,
    ProtectedKey,
    DecisionFits,
    CompleteAtTheEnd,
    ArtifactPath,
    CallReturns,
    PlainLines,
    GateChosen,
    UserHasSpoken,
    SectionsSaved,
}

impl GuardRule {
    pub(super) fn code(self) -> RefusalCode {
        match self {
            Self::ArtifactPath => RefusalCode::Schema,
            Self::GateChosen | Self::UserHasSpoken | Self::SectionsSaved => {
                RefusalCode::Precondition
            }
            Self::NodeExists
            | Self::EdgeExists
            | Self::ConditionHolds
            | Self::LabelKnown
            | Self::OneMove
            | Self::NothingRemoved
            | Self::NodeIsDone
            | Self::ProtectedKey
            | Self::DecisionFits
            | Self::CompleteAtTheEnd
            | Self::CallReturns
            | Self::PlainLines => RefusalCode::Transition,
        }
    }
}

/// Violation of a rule.
#[derive(Debug)]
pub(super) struct Violation {
    pub(super) rule: GuardRule,
    pub(super) message: String,
}

impl Violation {
    pub(super) fn new(rule: GuardRule, message: String) -> Self {
        Self { rule, message }
    }
}

/// Checks all rules except those about the edge, which are in [`super::route`].
pub(super) fn broken(change: &StateDifference<'_>, proposal: &Proposal<'_>) -> Vec<Violation> {
    let mut found = Vec::new();
    one_move(change, &mut found);
    only_nodes_that_are_done(change, &mut found);
    nothing_removed(change, &mut found);
    no_hidden_line(change, &mut found);
    protected_keys(change, &mut found);
    decision_fits_the_move(change, &mut found);
    complete_only_at_the_end(change, &mut found);
    artifacts_are_project_paths(change, &mut found);
    if let Author::Model(_) = proposal.author {
        a_call_is_left_by_returning(change, proposal, &mut found);
        the_call_stack_is_the_runtimes(change, &mut found);
    }
    found
}

/// Returns illegal additions to `stepsCompleted`: only the node being left and the end node now reached are legal, once
/// each.
fn not_done<'c>(change: &StateDifference<'c>) -> Vec<&'c str> {
    let left = change.left().map(|node| node.id.as_str());
    let reached = change.reached().map(|node| node.id.as_str()).filter(|id| Some(*id) != left);
    let mut fine: Vec<&str> = [left, reached].into_iter().flatten().collect();
    let mut extra = Vec::new();
    for id in change.steps {
        match fine.iter().position(|allowed| allowed == id) {
            Some(at) => drop(fine.remove(at)),
            None => extra.push(id.as_str()),
        }
    }
    extra
}

/// Checks that the change makes one move: several show as several new steps or decisions.
fn one_move(change: &StateDifference<'_>, found: &mut Vec<Violation>) {
    if change.steps.len() > 1 && !not_done(change).is_empty() {
        let message = format!(
            "One write makes at most one move, but stepsCompleted gains {}.",
            joined(change.steps.iter().map(|id| quoted(id)))
        );
        found.push(Violation::new(GuardRule::OneMove, message));
    }
    if change.decisions.len() > 1 {
        let message = format!(
            "One write makes at most one move, but decisionLog gains {} entries.",
            change.decisions.len()
        );
        found.push(Violation::new(GuardRule::OneMove, message));
    }
}

fn only_nodes_that_are_done(change: &StateDifference<'_>, found: &mut Vec<Violation>) {
    let extra = not_done(change);
    let ([only], 1) = (extra.as_slice(), change.steps.len()) else { return };
    let from = change.from.id.as_str();
    let message = if *only == from {
        format!(
            "`{from}` is added to stepsCompleted, but currentNodeId is still `{from}`: a node is completed by leaving it, in the same write."
        )
    } else if change.graph.node(only).is_none() {
        format!("stepsCompleted gains {}, which is not a node of this workflow.", quoted(only))
    } else {
        let who = match change.left() {
            Some(_) => {
                format!("only `{from}`, the node being left, and an end node that is reached")
            }
            None => format!("the run stays on `{from}`, so nothing"),
        };
        format!("stepsCompleted gains {}, but {who} may be added.", quoted(only))
    };
    found.push(Violation::new(GuardRule::NodeIsDone, message));
}

/// Checks that old entries stay, in their order, with new ones after them.
fn no_hidden_line(change: &StateDifference<'_>, found: &mut Vec<Violation>) {
    if hides_line(change.old, change.new) {
        let message = "The frontmatter has a line or paragraph separator (U+0085, U+2028 or U+2029), which some readers take for the end of a line. Leave it out, or write it as an escape in double quotes.";
        found.push(Violation::new(GuardRule::PlainLines, message.to_owned()));
    }
}

/// Returns true if the frontmatter gains a character that some YAML readers take for the end of a line, so that a
/// comment could hold a key for them.
pub(super) fn hides_line(old: &StateDocument, new: &StateDocument) -> bool {
    let count = |document: &StateDocument| {
        let front = document.frontmatter();
        let yaml = front.text().len() - front.body().len();
        let is_line_end = |c: char| matches!(c, '\u{85}' | '\u{2028}' | '\u{2029}');
        front.text().get(..yaml).unwrap_or_default().matches(is_line_end).count()
    };
    count(new) > count(old)
}

fn nothing_removed(change: &StateDifference<'_>, found: &mut Vec<Violation>) {
    let (old, new) = (change.old.front(), change.new.front());
    let (steps, artifacts) = (&old.steps_completed, &old.artifacts);
    let kept_steps = count_unchanged(steps, &new.steps_completed, |a, b| a == b);
    if let Some(lost) = steps.get(kept_steps) {
        found.push(removed("stepsCompleted", kept_steps, &quoted(lost)));
    }
    let kept_decisions = count_unchanged(&old.decision_log, &new.decision_log, is_same);
    if let Some(lost) = old.decision_log.get(kept_decisions) {
        let shown = format!("the decision from {} to {}", quoted(&lost.from), quoted(&lost.to));
        found.push(removed("decisionLog", kept_decisions, &shown));
    }
    let kept_artifacts = count_unchanged(artifacts, &new.artifacts, |a, b| a == b);
    if let Some(lost) = artifacts.get(kept_artifacts) {
        found.push(removed("artifacts", kept_artifacts, &quoted(lost)));
    }
}

fn removed(list: &str, at: usize, lost: &str) -> Violation {
    let message = format!(
        "{list} may only grow, but entry {} ({lost}) is gone, changed or in another place. Keep the old entries as they are and append.",
        at + 1
    );
    Violation::new(GuardRule::NothingRemoved, message)
}

fn protected_keys(change: &StateDifference<'_>, found: &mut Vec<Violation>) {
    let (old, new) = (change.old.front(), change.new.front());
    let text = |value: &Option<String>| value.as_deref().unwrap_or_default().trim().to_owned();
    let keys = [
        ("schemaVersion", old.schema_version.to_string(), new.schema_version.to_string()),
        ("workflowType", old.workflow_type.clone(), new.workflow_type.clone()),
        ("runId", text(&old.run_id), text(&new.run_id)),
        ("workflowRef", text(&old.workflow_ref), text(&new.workflow_ref)),
    ];
    for (key, old, new) in keys {
        if old != new {
            let must = if old.is_empty() {
                "it must stay unset".to_owned()
            } else {
                format!("it must stay {}", quoted(&old))
            };
            found.push(Violation::new(
                GuardRule::ProtectedKey,
                format!("`{key}` may not be changed; {must}."),
            ));
        }
    }
}

/// Checks that a decision entry describes the move that is made, and no other.
fn decision_fits_the_move(change: &StateDifference<'_>, found: &mut Vec<Violation>) {
    let [decision] = change.decisions else { return };
    if change.left().is_some() && is_about(change, decision) {
        return;
    }
    let said = format!("from {} to {}", quoted(&decision.from), quoted(&decision.to));
    let message = match change.left() {
        Some(from) => format!(
            "The decisionLog entry is {said}, but the move is from `{}` to {}.",
            from.id,
            quoted(change.target)
        ),
        None => format!(
            "A decisionLog entry {said} is added, but the run stays on `{}`. Log a decision in the same write that sets currentNodeId; the move before this one is in the log already.",
            change.from.id
        ),
    };
    found.push(Violation::new(GuardRule::DecisionFits, message));
}

fn complete_only_at_the_end(change: &StateDifference<'_>, found: &mut Vec<Violation>) {
    if !change.new.has_status_complete() || change.reached().is_some() {
        return;
    }
    let ends: Vec<_> = change
        .graph
        .nodes()
        .iter()
        .filter(|node| crate::state::next::is_last(change.graph, node))
        .map(|node| &node.id)
        .collect();
    let message = format!(
        "workflowStatus may be `{COMPLETE}` only on an end node or a node without edges ({}), but currentNodeId would be {}.",
        ticked(&ends),
        quoted(change.target)
    );
    found.push(Violation::new(GuardRule::CompleteAtTheEnd, message));
}

/// Checks that artifacts are paths from the root of the project, as the format requires. A patch is corrected; whole
/// documents are the model's text.
fn artifacts_are_project_paths(change: &StateDifference<'_>, found: &mut Vec<Violation>) {
    for written in change.artifacts {
        let why = match ProjectPath::parse(written) {
            Ok(path) if path.as_str() == written => continue,
            Ok(path) => format!("write `{path}`"),
            Err(refusal) => refusal.message.trim_end_matches('.').to_owned(),
        };
        let message = format!(
            "artifacts gains {}, which is not a path from the root of the project: {why}.",
            quoted(written)
        );
        found.push(Violation::new(GuardRule::ArtifactPath, message));
    }
}

/// Checks that only the runtime completes a node that calls a workflow, after that workflow is complete.
fn a_call_is_left_by_returning(
    change: &StateDifference<'_>,
    proposal: &Proposal<'_>,
    found: &mut Vec<Violation>,
) {
    let Some(node) = change.left() else { return };
    let Some(call) = proposal.workflow.calls.get(&node.id) else { return };
    let message = format!(
        "`{}` calls the workflow `{}`: the runtime makes the call, and moves on by itself when that workflow is complete.",
        node.id, call.workflow
    );
    found.push(Violation::new(GuardRule::CallReturns, message));
}

fn the_call_stack_is_the_runtimes(change: &StateDifference<'_>, found: &mut Vec<Violation>) {
    let stack = |document: &StateDocument| {
        document.frontmatter().tree().get(CALL_STACK).map(|entry| entry.tree.to_json())
    };
    if stack(change.old) != stack(change.new) {
        let message = format!("`{CALL_STACK}` is kept by the runtime; leave it as it is.");
        found.push(Violation::new(GuardRule::ProtectedKey, message));
    }
}
