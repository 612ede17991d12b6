//! The meaning of an edited state document: what a text edit, or a whole document, changes in the run.

use crewagent_format::frontmatter::Frontmatter;
use crewagent_format::package::graph::{Graph, NodeKind};
use crewagent_format::package::workflow::Decision;
use serde_json::{Value as Json, json};

use super::document::{ChangeError, STATUS, StateDocument};
use super::edits::set;
use super::patch::StateUpdate;
use super::project_path::ProjectPath;

/// Keys without which a text is no state document.
const REQUIRED: [&str; 4] = ["schemaVersion", "workflowType", "currentNodeId", "stepsCompleted"];
/// Keys whose change has a meaning. The runtime sets the time itself.
const MEANT: [&str; 7] = [
    "currentNodeId",
    "stepsCompleted",
    "variables",
    "decisionLog",
    "artifacts",
    STATUS,
    "updatedAt",
];

/// Meaning of an edit.
#[derive(Clone, Debug, PartialEq)]
pub enum EditMeaning {
    Update(Box<StateUpdate>),
    /// The edit also changes these parts, which the runtime keeps.
    Keeps(Vec<String>),
    /// A list lost entries, or has an entry that is none: the guard says which.
    Unclear,
}

/// Returns true if a text lacks a key that every state document has.
pub fn lacks_keys(text: &str) -> bool {
    match Frontmatter::parse(text) {
        Ok(front) => REQUIRED.iter().any(|key| front.tree().get(key).is_none()),
        Err(_) => !text.trim_start_matches('\u{feff}').starts_with("---"),
    }
}

/// Returns the document as it is meant: a node that is completed, but still the current one, is left where there is one
/// way on.
pub fn as_meant(
    old: &StateDocument,
    new: StateDocument,
    graph: &Graph,
) -> Result<StateDocument, ChangeError> {
    let current = old.current_node_id(graph);
    let (before, after) = (&old.front().steps_completed, &new.front().steps_completed);
    let is_completed = after.strip_prefix(before.as_slice()) == Some(&[current.to_owned()]);
    let is_here = new.current_node_id(graph) == current;
    let is_end = graph.node(current).is_none_or(|node| node.kind == NodeKind::End);
    let mut ways = graph.outgoing(current);
    match (ways.next(), ways.next()) {
        (Some(way), None) if is_completed && is_here && !is_end => {
            new.edited(&[set("currentNodeId", way.to.as_str())])
        }
        (_, _) => Ok(new),
    }
}

/// Returns what an edit means for the run: a move, variables, a decision, artifacts.
pub fn meaning(old: &StateDocument, new: &StateDocument) -> EditMeaning {
    let kept = kept_parts(old, new);
    if !kept.is_empty() {
        return EditMeaning::Keeps(kept);
    }
    let (before, after) = (old.front(), new.front());
    let steps = after.steps_completed.strip_prefix(before.steps_completed.as_slice());
    let artifacts = after.artifacts.strip_prefix(before.artifacts.as_slice());
    let is_known = |(a, b): (&Decision, &Decision)| json!(a) == json!(b);
    let decisions = after
        .decision_log
        .get(before.decision_log.len()..)
        .filter(|_| before.decision_log.iter().zip(&after.decision_log).all(is_known));
    let (Some(steps), Some(artifacts), Some(decisions)) = (steps, artifacts, decisions) else {
        return EditMeaning::Unclear;
    };
    let paths: Result<Vec<ProjectPath>, _> =
        artifacts.iter().map(|path| ProjectPath::parse(path)).collect();
    let Ok(artifacts) = paths else { return EditMeaning::Unclear };
    let is_new = |(name, value): &(&String, &Json)| old.variables().get(*name) != Some(*value);
    let variables = new.variables().iter().filter(is_new);
    let text = |document: &StateDocument, key: &str| {
        let entry = document.frontmatter().tree().get(key)?;
        entry.tree.as_str().map(str::to_owned)
    };
    let changed = |key: &str| text(new, key).filter(|value| text(old, key).as_ref() != Some(value));
    EditMeaning::Update(Box::new(StateUpdate {
        steps_completed: steps.to_vec(),
        variables: variables.map(|(name, value)| (name.clone(), value.clone())).collect(),
        decision_log: decisions.iter().map(|decision| json!(decision)).collect(),
        artifacts,
        current_node_id: changed("currentNodeId"),
        workflow_status: changed(STATUS),
        ..StateUpdate::default()
    }))
}

/// Returns the changed parts that have no meaning for the run.
fn kept_parts(old: &StateDocument, new: &StateDocument) -> Vec<String> {
    let (before, after) = (old.frontmatter(), new.frontmatter());
    let value = |document: &Frontmatter, key: &str| {
        document.tree().get(key).map(|entry| entry.tree.to_json())
    };
    let mut parts: Vec<String> = Vec::new();
    for entry in before.entries().iter().chain(after.entries()) {
        let key = entry.key.as_str();
        let is_kept = !MEANT.contains(&key) && value(before, key) != value(after, key);
        let name = format!("`{key}`");
        if is_kept && !parts.contains(&name) {
            parts.push(name);
        }
    }
    let is_lost = |name: &&String| !new.variables().contains_key(*name);
    parts.extend(old.variables().keys().filter(is_lost).map(|name| format!("`variables.{name}`")));
    if before.body().trim_end() != after.body().trim_end() {
        parts.push("the text below".to_owned());
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::fixture;

    const HEAD: &str = "---\nschemaVersion: \"1.1\"\nworkflowType: t\n";

    fn document(rest: &str) -> StateDocument {
        StateDocument::read(format!("{HEAD}{rest}")).unwrap()
    }

    fn check_meant(steps: &str, expected: &str) {
        let workflow = fixture::create_story();
        let old = document("currentNodeId: step-01-select-story\nstepsCompleted: []\n---\n");
        let new = document(&format!(
            "currentNodeId: step-01-select-story\nstepsCompleted: {steps}\n---\n"
        ));
        let meant = as_meant(&old, new, &workflow.graph).unwrap();
        assert_eq!(meant.current_node_id(&workflow.graph), expected, "{steps}");
    }

    #[test]
    fn a_completed_node_is_left_along_its_only_way() {
        check_meant("[step-01-select-story]", "step-02-discover-inputs");
        check_meant("[]", "step-01-select-story");
        check_meant("[step-01-select-story, step-02-discover-inputs]", "step-01-select-story");
    }

    #[test]
    fn a_completed_node_with_several_ways_stays() {
        let workflow = fixture::hello_branch();
        let at = "currentNodeId: decide-02-project-type\n";
        let old = document(&format!("{at}stepsCompleted: []\n---\n"));
        let new = document(&format!("{at}stepsCompleted: [decide-02-project-type]\n---\n"));
        let meant = as_meant(&old, new, &workflow.graph).unwrap();
        assert_eq!(meant.current_node_id(&workflow.graph), "decide-02-project-type");
    }

    #[test]
    fn an_edit_means_a_move_variables_a_decision_and_artifacts() {
        let old = document(
            "currentNodeId: a\nstepsCompleted: [z]\nvariables: {x: 1}\nartifacts: [a.md]\n---\nbody\n",
        );
        let new = document(
            "updatedAt: \"2026-11-15T09:30:00Z\"\nstepsCompleted: [z, a]\ncurrentNodeId: b # on\nvariables: {x: 1, y: two}\nartifacts: [a.md, b.md]\nworkflowStatus: complete\ndecisionLog: [{from: a, to: b, label: l, reason: r}]\n---\nbody",
        );
        let EditMeaning::Update(update) = meaning(&old, &new) else { panic!() };
        assert_eq!(update.current_node_id.as_deref(), Some("b"));
        assert_eq!(update.steps_completed, ["a"]);
        assert_eq!(json!(update.variables), json!({"y": "two"}));
        assert_eq!(update.artifacts, [ProjectPath::parse("b.md").unwrap()]);
        assert_eq!(update.workflow_status.as_deref(), Some("complete"));
        assert_eq!(
            update.decision_log,
            [json!({"from": "a", "to": "b", "label": "l", "reason": "r"})]
        );
    }

    #[test]
    fn the_runtime_keeps_the_text_and_other_keys() {
        let old = document(
            "currentNodeId: a\nstepsCompleted: [z]\nvariables: {x: 1}\ndate: today\n---\nbody\n",
        );
        let new = document("currentNodeId: b\nstepsCompleted: [z]\nextra: 1\n---\nother\n");
        let kept = ["`date`", "`extra`", "`variables.x`", "the text below"].map(str::to_owned);
        assert_eq!(meaning(&old, &new), EditMeaning::Keeps(kept.to_vec()));
        let new = document(
            "currentNodeId: b\nstepsCompleted: []\nvariables: {x: 1}\ndate: today\n---\nbody\n",
        );
        assert_eq!(meaning(&old, &new), EditMeaning::Unclear);
    }

    #[test]
    fn half_a_document_lacks_keys() {
        for text in ["", "# Notes\n", "---\ncurrentNodeId: b\n---\n", "---\n---\n"] {
            assert!(lacks_keys(text), "{text}");
        }
        let whole = format!("{HEAD}currentNodeId: a\nstepsCompleted: []\n---\n");
        assert!(!lacks_keys(&whole));
        assert!(!lacks_keys("---\na: [1\n---\n"), "its line is named");
    }
}
