//! Edits of the state document: what they mean is carried out, and in a strict run nothing else of them.

use crewagent_core::policy::StateTool;
use crewagent_core::refusal::RefusalCode;
use serde_json::{Value as Json, json};

use super::fixture::{STATE, ToolsFixture};

const NEXT: &str = "decide-02-project-type";

/// Returns a run whose first node is done.
fn fixture(strict: bool) -> ToolsFixture {
    let mut fixture = ToolsFixture::new();
    fixture.policy.strict = strict;
    fixture.policy = fixture.policy.with_state(StateTool::Runtime);
    fixture.put("@project/artifacts/intake.md", "# Intake\n");
    fixture
}

/// Makes a call in a free and in a strict run: it moves on, with the same state.
fn check_moves(name: &str, arguments: impl Fn(&str) -> Json) {
    let states = [false, true].map(|strict| {
        let fixture = fixture(strict);
        let done = fixture.call(name, arguments(&fixture.text(STATE)));
        assert_eq!(done.answer.refused, None, "strict {strict}: {}", done.json);
        let change = done.state.unwrap();
        assert_eq!(change.moved.as_ref().unwrap().to, NEXT, "strict {strict}");
        assert_eq!(change.state.steps_completed, ["step-01-intake"]);
        change.state
    });
    assert_eq!(states[0], states[1]);
}

fn update(update: Json) -> Json {
    json!({"path": STATE, "operation": "updateFrontmatter", "update": update})
}

#[test]
fn a_patch_moves_nested_dotted_and_flat() {
    for form in [
        json!({"stepsCompleted": {"append": ["step-01-intake"]}, "variables": {"set": {"topic": "x"}}, "currentNodeId": {"set": NEXT}}),
        json!({"stepsCompleted.append": ["step-01-intake"], "variables.set": {"topic": "x"}, "currentNodeId.set": NEXT}),
        json!({"stepsCompleted": ["step-01-intake"], "variables": {"topic": "x"}, "currentNodeId": NEXT}),
        json!({"currentNodeId": NEXT}),
    ] {
        check_moves("fs.apply_patch", |_| update(form.clone()));
    }
}

#[test]
fn a_completed_node_moves_where_there_is_one_way_on() {
    check_moves("fs.apply_patch", |_| update(json!({"stepsCompleted": ["step-01-intake"]})));
    check_moves("fs.apply_patch", |_| {
        let edits =
            json!([{"old": "stepsCompleted: []", "new": "stepsCompleted: [step-01-intake]"}]);
        json!({"path": STATE, "edits": edits})
    });
}

#[test]
fn a_text_edit_and_a_whole_document_move() {
    check_moves("fs.apply_patch", |_| {
        let edits = json!([{"old": "currentNodeId: step-01-intake", "new": format!("currentNodeId: {NEXT}")}]);
        json!({"path": STATE, "edits": edits})
    });
    check_moves("fs.apply_patch", |_| {
        let diff = format!("@@\n-currentNodeId: step-01-intake\n+currentNodeId: {NEXT}\n");
        json!({"path": STATE, "diff": diff})
    });
    check_moves("fs.write", |text| {
        let text = text.replace("currentNodeId: step-01-intake", &format!("currentNodeId: {NEXT}"));
        json!({"path": STATE, "content": text})
    });
}

#[test]
fn a_strict_run_writes_its_own_bytes() {
    let fixture = fixture(true);
    let text = fixture.text(STATE);
    let front = text
        .replace("currentNodeId: step-01-intake", &format!("# mine\ncurrentNodeId:   '{NEXT}'"));
    fixture.call("fs.write", json!({"path": STATE, "content": front}));
    let after = fixture.text(STATE);
    assert!(after.contains(&format!("\ncurrentNodeId: {NEXT}\n")), "{after}");
    assert!(!after.contains("# mine"), "{after}");
}

#[test]
fn a_strict_run_keeps_its_text_and_other_keys() {
    let fixture = fixture(true);
    let text = fixture.text(STATE);
    let call = "To finish this node: complete_node {";
    let keeps = |part: &str| {
        format!(
            "This run is strict, and the runtime keeps @state/workflow.md: {part} cannot be changed."
        )
    };
    for (content, part) in [
        (format!("{text}\nMore.\n"), "the text below"),
        (text.replacen("---\n", "---\nnote: mine\n", 1), "`note`"),
        (text.replace("runId: run-1", "runId: other"), "`runId`"),
    ] {
        fixture.check_refused(
            "fs.write",
            json!({"path": STATE, "content": content}),
            RefusalCode::Precondition,
            &[&keeps(part), call],
        );
    }
    let illegal = json!([{"old": "currentNodeId: step-01-intake", "new": "currentNodeId: end-99"}]);
    fixture.check_refused(
        "fs.apply_patch",
        json!({"path": STATE, "edits": illegal}),
        RefusalCode::Transition,
        &["end-99"],
    );
    assert_eq!(fixture.text(STATE), text);
}

#[test]
fn a_list_that_lost_entries_is_refused_in_a_strict_run() {
    let fixture = fixture(true);
    fixture.call("fs.apply_patch", update(json!({"currentNodeId": NEXT})));
    let text = fixture.text(STATE);
    let shorter = text.replace("stepsCompleted:\n  - step-01-intake", "stepsCompleted: []");
    assert_ne!(shorter, text);
    fixture.check_refused(
        "fs.write",
        json!({"path": STATE, "content": shorter}),
        RefusalCode::Transition,
        &["stepsCompleted may only grow"],
    );
}

#[test]
fn half_a_document_is_answered_with_the_finishing_call() {
    for strict in [false, true] {
        let fixture = fixture(strict);
        let half =
            format!("---\ncurrentNodeId: {NEXT}\nstepsCompleted:\n  - step-01-intake\n---\n");
        let refused = fixture.call("fs.write", json!({"path": STATE, "content": half}));
        assert_eq!(
            refused.json["error"]["message"],
            "The runtime keeps @state/workflow.md. To finish this node: complete_node {\"files\":[{\"path\":\"artifacts/intake.md\",\"content\":\"<text>\"}]}"
        );
        assert!(refused.answer.ends_reply);
    }
}
