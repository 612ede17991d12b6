//! Records that the runtime adds when the model omits them, and bytes that it must not change.

use super::*;
use crate::state::fixture::{self, drawn, end, step};

fn branch() -> Run {
    Run::new(fixture::hello_branch()).at("decide-02-project-type")
}

fn recorded(transition: &StateTransition) -> Json {
    json!(transition.recorded())
}

#[test]
fn a_bare_move_gets_all_its_books() {
    let mut run = branch().having(&["artifacts/notes.md"]);
    run.created = vec![ProjectPath::parse("artifacts/notes.md").unwrap()];
    let transition = check_accepted(run.patch(json!({"variables.set": {"projectType": "greenfield"}, "currentNodeId.set": "step-03a-greenfield"})));
    let decision = json!({"from": "decide-02-project-type", "to": "step-03a-greenfield", "label": "greenfield", "decidedAt": NOW});
    assert_eq!(
        recorded(&transition),
        json!([
            {"key": "stepsCompleted", "value": "decide-02-project-type"},
            {"key": "decisionLog", "value": decision},
            {"key": "artifacts", "value": "artifacts/notes.md"},
            {"key": "updatedAt", "value": NOW}
        ])
    );
    let front = transition.document().frontmatter().tree().to_json();
    assert_eq!(front["stepsCompleted"], json!(["decide-02-project-type"]));
    assert_eq!(front["decisionLog"], json!([decision]));
    assert_eq!(front["artifacts"], json!(["artifacts/notes.md"]));
    assert_eq!(front["updatedAt"], NOW);
    let state = json!(transition);
    let keys: Vec<_> = state.as_object().unwrap().keys().cloned().collect();
    assert_eq!(keys, ["currentNodeId", "stepsCompleted", "allowedNext", "complete", "recorded"]);
    assert_eq!(state["currentNodeId"], "step-03a-greenfield");
    assert_eq!(
        state["allowedNext"],
        json!([{"to": "end-99", "label": "next", "default": true, "open": true}])
    );
}

#[test]
fn what_the_model_wrote_is_not_written_again() {
    let mut run = branch();
    run.created = vec![ProjectPath::parse("artifacts/notes.md").unwrap()];
    let transition = check_accepted(run.patch(json!({
        "variables.set": {"projectType": "greenfield"}, "currentNodeId.set": "step-03a-greenfield",
        "stepsCompleted.append": ["decide-02-project-type"], "artifacts.append": ["@project/artifacts/notes.md"],
        "decisionLog.append": [{"from": "decide-02-project-type", "to": "step-03a-greenfield", "label": "greenfield", "decidedAt": "2026-01-01T00:00:00Z"}],
        "updatedAt.set": "2026-01-01T00:00:00Z"
    })));
    assert_eq!(recorded(&transition), json!([]));
}

#[test]
fn a_node_with_one_edge_needs_no_decision() {
    let run = Run::new(fixture::hello_branch())
        .having(&["artifacts/intake.md"])
        .with_missing(MissingRule::Off);
    let transition =
        check_accepted(run.patch(json!({"currentNodeId.set": "decide-02-project-type"})));
    assert!(transition.document().front().decision_log.is_empty());
}

#[test]
fn a_variable_alone_is_dated() {
    let transition = check_accepted(branch().patch(json!({"variables.set": {"a": 1}})));
    assert_eq!(recorded(&transition), json!([{"key": "updatedAt", "value": NOW}]));
}

#[test]
fn created_files_are_recorded_even_with_a_change_of_the_body() {
    let mut run = branch().having(&["artifacts/a.md", "artifacts/b.md"]);
    // The last one was moved or deleted since.
    run.created = ["artifacts/a.md", "artifacts/b.md", "artifacts/a.md", "artifacts/gone.md"]
        .map(|path| ProjectPath::parse(path).unwrap())
        .to_vec();
    let transition = check_accepted(run.write(format!("{}more\n", run.state.text())));
    assert_eq!(transition.document().front().artifacts, ["artifacts/a.md", "artifacts/b.md"]);
    assert_eq!(transition.document().front().updated_at.as_deref(), Some(NOW));
}

#[test]
fn a_created_file_that_cannot_be_looked_at_is_recorded_unless_the_run_removed_it() {
    let mut run = branch().having(&["artifacts/b.md"]);
    run.denied = ["artifacts/a.md", "artifacts/moved.md"].map(str::to_owned).into();
    run.visit.removed = ["artifacts/moved.md".to_owned()].into();
    run.created = ["artifacts/a.md", "artifacts/b.md", "artifacts/moved.md"]
        .map(|path| ProjectPath::parse(path).unwrap())
        .to_vec();
    let transition = check_accepted(run.write(format!("{}more\n", run.state.text())));
    assert_eq!(transition.document().front().artifacts, ["artifacts/a.md", "artifacts/b.md"]);
}

#[test]
fn the_end_node_is_recorded_when_only_the_status_says_complete() {
    let run = Run::new(fixture::create_story()).at("end-99").with_missing(MissingRule::Off);
    let transition = check_accepted(run.patch(json!({"workflowStatus.set": "complete"})));
    assert_eq!(recorded(&transition)[0], json!({"key": "stepsCompleted", "value": "end-99"}));
}

/// Checks that a handwritten decision is dated in its own style.
fn check_dated(log: &str, expected: &str) {
    let run = branch();
    let text = run
        .state
        .text()
        .replace("decisionLog: []", log)
        .replace("variables: {}", "variables: {projectType: greenfield}")
        .replace("currentNodeId: decide-02-project-type", "currentNodeId: step-03a-greenfield");
    for newline in ["\n", "\r\n"] {
        let mut run = branch();
        run.state = StateDocument::read(run.state.text().replace('\n', newline)).unwrap();
        let transition = check_accepted(run.write(text.replace('\n', newline)));
        let after = transition.text().replace(newline, "\n");
        assert!(after.contains(expected), "{after}");
        let dated =
            transition.recorded().iter().any(|recorded| recorded.key == "decisionLog.decidedAt");
        assert_eq!(dated, expected.contains(NOW));
    }
}

#[test]
fn a_decision_without_a_time_gets_one_without_losing_its_style() {
    check_dated(
        "decisionLog:\n  - from: decide-02-project-type # here\n    to: step-03a-greenfield\n    label: greenfield\n    reason: |\n      long\n      text",
        "    label: greenfield\n    decidedAt: \"2026-11-15T10:00:00Z\"\n    reason: |\n      long\n      text\n",
    );
    check_dated(
        "decisionLog: [{from: decide-02-project-type, to: step-03a-greenfield, label: greenfield}]",
        "label: greenfield, decidedAt: \"2026-11-15T10:00:00Z\"}]\n",
    );
    check_dated(
        "decisionLog:\n- {label: 'greenfield', from: decide-02-project-type, to: step-03a-greenfield} # note",
        "- {label: 'greenfield', decidedAt: \"2026-11-15T10:00:00Z\", from: decide-02-project-type, to: step-03a-greenfield} # note\n",
    );
    check_dated(
        "decisionLog:\n  - from: decide-02-project-type\n    to: step-03a-greenfield\n    label: greenfield\n    decidedAt: \"\"",
        "    decidedAt: \"2026-11-15T10:00:00Z\"\n",
    );
    check_dated(
        "decisionLog:\n  - from: decide-02-project-type\n    to: step-03a-greenfield\n    label: greenfield\n    decidedAt:",
        "    label: greenfield\n    decidedAt:\n",
    );
}

#[test]
fn untouched_keys_comments_and_the_body_keep_their_bytes() {
    let edges = json!([{"from": "a", "to": "b", "label": "next"}, {"from": "b", "to": "z", "label": "next"}]);
    for newline in ["\n", "\r\n"] {
        let mut run = Run::new(drawn(&[step("a"), step("b"), end("z")], &edges));
        let text = run
            .workflow
            .document
            .replace("variables: {}", "variables:\n  x: 1   # one\nextra: {k: [1, 'two']} # kept")
            .replace('\n', newline);
        run.state = StateDocument::read(text).unwrap();
        let transition = check_accepted(run.patch(json!({"currentNodeId.set": "b"})));
        let expected = run
            .state
            .text()
            .replace("currentNodeId: \"\"", "currentNodeId: b")
            .replace("stepsCompleted: []", &format!("stepsCompleted:{newline}  - a"))
            .replace(
                &format!("artifacts: []{newline}"),
                &format!("artifacts: []{newline}updatedAt: \"{NOW}\"{newline}"),
            );
        assert_eq!(**transition.text(), expected);
    }
}

#[test]
fn books_that_cannot_be_kept_are_refused() {
    let run = branch();
    let text = run
        .state
        .text()
        .replace("stepsCompleted: []", "s: &none []\nstepsCompleted: *none")
        .replace("variables: {}", "variables: {projectType: greenfield}")
        .replace("currentNodeId: decide-02-project-type", "currentNodeId: step-03a-greenfield");
    match run.write(text) {
        Ok(transition) => {
            assert_eq!(transition.document().front().steps_completed, ["decide-02-project-type"])
        }
        Err(refusal) => assert_eq!(refusal.code, RefusalCode::InvalidFrontmatter),
    }
}

/// Starts with a stale frame, left after the user moved the run by hand.
#[test]
fn a_call_that_is_over_goes_with_the_next_move() {
    let mut run = branch();
    let text = run.state.text().replacen(
        "decisionLog: []",
        "decisionLog: []\ncallStack: [{workflowId: w, nodeId: c, call: 1}]",
        1,
    );
    run.state = StateDocument::read(text).unwrap();
    let stay = check_accepted(run.patch(json!({"variables.set": {"projectType": "greenfield"}})));
    assert!(stay.text().contains("call: 1"), "{}", stay.text());
    let moved = check_accepted(run.patch(json!({"variables.set": {"projectType": "greenfield"}, "currentNodeId.set": "step-03a-greenfield"})));
    assert!(moved.text().contains("callStack: []"), "{}", moved.text());
    assert!(
        recorded(&moved).as_array().unwrap().contains(&json!({"key": "callStack", "value": []}))
    );
}
