//! The meaning of an edit of the state document: the change that a tool of the runtime would make instead.

use crewagent_format::frontmatter::Frontmatter;
use crewagent_format::package::graph::{Graph, NodeKind};
use crewagent_format::wording::joined;
use serde_json::{Map, Value as Json};

use super::document::{STATE_FILE, STATUS, StateDocument};
use super::patch::StateUpdate;
use super::project_path::ProjectPath;
use crate::refusal::{Refusal, RefusalCode};

/// Keys that every document has.
const REQUIRED: [&str; 4] = ["schemaVersion", "workflowType", "currentNodeId", "stepsCompleted"];
/// Keys that a model may change; the time is the runtime's in any case.
const STATE: [&str; 7] = [
    "stepsCompleted",
    "variables",
    "decisionLog",
    "artifacts",
    "currentNodeId",
    "updatedAt",
    STATUS,
];

/// Returns the update that an edit means, for a run whose document only the runtime writes. A change of other keys, or of
/// the text below them, is refused.
pub fn meaning(old: &StateDocument, new: &StateDocument) -> Result<StateUpdate, Refusal> {
    let (before, after) = (keys(old), keys(new));
    let mut others: Vec<String> = after
        .iter()
        .filter(|(key, value)| !STATE.contains(&key.as_str()) && before.get(*key) != Some(value))
        .map(|(key, _)| format!("`{key}`"))
        .collect();
    let lost = before.keys().filter(|key| !after.contains_key(*key));
    others.extend(lost.map(|key| format!("`{key}` (gone)")));
    if old.frontmatter().body() != new.frontmatter().body() {
        others.push("the text below the frontmatter".to_owned());
    }
    let mut grown = |key: &str| {
        let tail = tail(before.get(key), after.get(key));
        others.extend(tail.is_none().then(|| format!("old entries of `{key}`")));
        tail.unwrap_or_default()
    };
    let (steps, decisions) = (grown("stepsCompleted"), grown("decisionLog"));
    let artifacts = grown("artifacts");
    let gone = old.variables().keys().filter(|name| !new.variables().contains_key(*name));
    others.extend(gone.map(|name| format!("the variable `{name}` (gone)")));
    if !others.is_empty() {
        return Err(kept_by_the_runtime(others));
    }
    let texts = |values: &[Json]| -> Vec<String> {
        values.iter().filter_map(Json::as_str).map(str::to_owned).collect()
    };
    let artifacts: Result<Vec<ProjectPath>, Refusal> =
        texts(&artifacts).iter().map(|path| ProjectPath::parse(path)).collect();
    let mut update = StateUpdate {
        steps_completed: texts(&steps),
        decision_log: decisions,
        artifacts: artifacts?,
        ..StateUpdate::default()
    };
    let is_new = |name: &String, value: &Json| old.variables().get(name) != Some(value);
    let variables = new.variables().iter().filter(|(name, value)| is_new(name, value));
    update.variables = variables.map(|(name, value)| (name.clone(), value.clone())).collect();
    let text = |key: &str| {
        let value = after.get(key).filter(|value| before.get(key) != Some(value));
        value.and_then(Json::as_str).map(|text| text.trim().to_owned())
    };
    update.current_node_id = text("currentNodeId");
    update.workflow_status = text(STATUS);
    Ok(update)
}

fn keys(document: &StateDocument) -> Map<String, Json> {
    match document.frontmatter().tree().to_json() {
        Json::Object(keys) => keys,
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Array(_) => {
            Map::new()
        }
    }
}

/// Returns the entries that a list gains at its end; none if it does not only grow.
fn tail(old: Option<&Json>, new: Option<&Json>) -> Option<Vec<Json>> {
    let list = |value: Option<&Json>| value.and_then(Json::as_array).cloned().unwrap_or_default();
    let (old, mut new) = (list(old), list(new));
    new.starts_with(&old).then(|| new.split_off(old.len()))
}

fn kept_by_the_runtime(others: Vec<String>) -> Refusal {
    let message = format!(
        "This run is strict: the runtime keeps {STATE_FILE}. A move, variables, decisions and artifacts are taken from an edit, but this one changes {}.",
        joined(others)
    );
    Refusal::new(RefusalCode::Precondition, message)
        .hint("Nothing was written. Leave that as it is.")
}

/// Returns the node that an edit means to move to without saying so: it adds the current node to `stepsCompleted`, and one
/// way leads on.
pub fn implied_node<'g>(
    old: &StateDocument,
    new: &StateDocument,
    graph: &'g Graph,
) -> Option<&'g str> {
    let current = old.current_node_id(graph);
    let (before, after) = (&old.front().steps_completed, &new.front().steps_completed);
    let [added] = after.strip_prefix(before.as_slice())? else { return None };
    let is_end = graph.node(current).is_none_or(|node| node.kind == NodeKind::End);
    let stays = new.current_node_id(graph) == current && !new.has_status_complete();
    let mut ways = graph.outgoing(current);
    let (edge, other) = (ways.next()?, ways.next());
    let is_meant = added == current && stays && !is_end && other.is_none();
    is_meant.then_some(edge.to.as_str()).filter(|to| *to != current)
}

/// Returns true if a text lacks keys that every state document has.
pub fn loses_keys(text: &str) -> bool {
    match Frontmatter::parse(text) {
        Ok(front) => REQUIRED.iter().any(|key| front.tree().get(key).is_none()),
        Err(_) => !text.trim_start_matches('\u{feff}').starts_with("---"),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::state::fixture;

    const FIRST: &str = "step-01-select-story";
    const SECOND: &str = "step-02-discover-inputs";

    fn started() -> StateDocument {
        let text = fixture::create_story().document;
        let text = text.replace("currentNodeId: \"\"", &format!("currentNodeId: {FIRST}"));
        StateDocument::read(text).unwrap()
    }

    fn edited(edits: &[(&str, &str)]) -> StateDocument {
        let text = edits.iter().fold(started().text().to_string(), |text, (old, new)| {
            assert!(text.contains(old), "{old} in {text}");
            text.replace(old, new)
        });
        StateDocument::read(text).unwrap()
    }

    #[test]
    fn an_edit_of_the_text_means_an_update() {
        let new = edited(&[
            ("currentNodeId: step-01-select-story", "currentNodeId: step-02-discover-inputs"),
            ("stepsCompleted: []", "stepsCompleted: [step-01-select-story]"),
            ("variables: {}", "variables: {storyKey: 1-2-login}"),
            ("artifacts: []", "artifacts: [artifacts/a.md]\nupdatedAt: \"2000-01-01T00:00:00Z\""),
            ("decisionLog: []", "decisionLog: [{from: a, to: b, label: l}]"),
        ]);
        let expected = StateUpdate::parse(&json!({
            "currentNodeId.set": SECOND, "stepsCompleted.append": [FIRST],
            "variables.set": {"storyKey": "1-2-login"}, "artifacts.append": ["artifacts/a.md"],
            "decisionLog.append": [{"from": "a", "to": "b", "label": "l"}],
        }));
        assert_eq!(meaning(&started(), &new).unwrap(), expected.unwrap());
        assert_eq!(meaning(&started(), &started()).unwrap(), StateUpdate::default());
    }

    #[test]
    fn other_keys_and_the_text_below_are_refused_together() {
        let new = edited(&[
            ("workflowType: create-story", "workflowType: other\nmine: 1"),
            ("# Create Story", "# My Story"),
        ]);
        let refusal = meaning(&started(), &new).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::Precondition);
        assert_eq!(
            refusal.message,
            "This run is strict: the runtime keeps @state/workflow.md. A move, variables, decisions and artifacts are taken from an edit, but this one changes `workflowType`, `mine`, the text below the frontmatter."
        );
    }

    #[test]
    fn nothing_is_taken_out() {
        let full = edited(&[
            ("stepsCompleted: []", "stepsCompleted: [step-01-select-story]"),
            ("variables: {}", "variables: {a: 1}"),
        ]);
        let message = meaning(&full, &started()).unwrap_err().message;
        assert!(message.contains("old entries of `stepsCompleted`"), "{message}");
        assert!(message.contains("the variable `a` (gone)"), "{message}");
        let lost = edited(&[("inputDocuments: []\n", "")]);
        let message = meaning(&started(), &lost).unwrap_err().message;
        assert!(message.contains("`inputDocuments` (gone)"), "{message}");
    }

    #[test]
    fn a_step_that_is_done_means_the_only_way_on() {
        let graph = fixture::create_story().graph;
        let steps =
            |steps: &str| edited(&[("stepsCompleted: []", &format!("stepsCompleted: {steps}"))]);
        let check = |new: &StateDocument, expected: Option<&str>| {
            assert_eq!(implied_node(&started(), new, &graph), expected, "{}", new.text());
        };
        check(&steps("[step-01-select-story]"), Some(SECOND));
        check(&steps("[]"), None);
        check(&steps("[step-02-discover-inputs]"), None);
        check(&steps("[step-01-select-story, step-02-discover-inputs]"), None);
        let moved = edited(&[
            ("stepsCompleted: []", "stepsCompleted: [step-01-select-story]"),
            ("currentNodeId: step-01-select-story", "currentNodeId: end-99"),
        ]);
        check(&moved, None);
        let branch = fixture::hello_branch();
        let at = |node: &str, steps: &str| {
            let text =
                branch.document.replace("currentNodeId: \"\"", &format!("currentNodeId: {node}"));
            let text = text.replace("stepsCompleted: []", &format!("stepsCompleted: {steps}"));
            StateDocument::read(text).unwrap()
        };
        for node in ["decide-02-project-type", "end-99"] {
            let (old, new) = (at(node, "[]"), at(node, &format!("[{node}]")));
            assert_eq!(implied_node(&old, &new, &branch.graph), None, "{node}");
        }
    }

    #[test]
    fn a_text_without_the_keys_of_a_document_loses_them() {
        assert!(!loses_keys(started().text()));
        assert!(loses_keys(&started().text().replace("workflowType: create-story\n", "")));
        assert!(loses_keys("---\ncurrentNodeId: end-99\n---\n"));
        assert!(loses_keys("No frontmatter at all.\n"));
        assert!(!loses_keys("---\nschemaVersion: [\n---\n"));
    }
}
