//! The state document: whichever tool changes it, the guard decides.

use crewagent_core::event::Moved;
use crewagent_core::refusal::RefusalCode;
use crewagent_core::state::guard::{Confirmation, MissingRule};
use crewagent_engine::mounts::{Mounts, Roots};
use crewagent_engine::tools::{CallPlan, Moves};
use crewagent_format::integrity::Digest;
use serde_json::{Value as Json, json};

use super::fixture::{NOW, STATE, ToolsFixture, refusal_code};

fn update(update: Json) -> Json {
    json!({"path": STATE, "operation": "updateFrontmatter", "update": update})
}

fn step(to: &str) -> Json {
    update(json!({"currentNodeId": {"set": to}}))
}

/// Returns the four calls that make the same move.
fn ways(fixture: &ToolsFixture, to: &str) -> [(&'static str, Json); 4] {
    let text = fixture.text(STATE);
    let line = text.lines().find(|line| line.starts_with("currentNodeId:")).unwrap();
    let new = format!("currentNodeId: {to}");
    let diff = format!("@@\n-{line}\n+{new}\n");
    let begin = format!("*** Begin Patch\n*** Update File: {STATE}\n{diff}*** End Patch\n");
    [
        ("fs.write", json!({"path": STATE, "content": text.replacen(line, &new, 1)})),
        (
            "fs.apply_patch",
            json!({"path": STATE, "operation": "replace", "edits": [{"old": line, "new": new}]}),
        ),
        ("fs.apply_patch", json!({"path": STATE, "operation": "diff", "diff": begin})),
        ("fs.apply_patch", step(to)),
    ]
}

fn with_intake() -> ToolsFixture {
    let fixture = ToolsFixture::new();
    fixture.call("fs.write", json!({"path": "artifacts/intake.md", "content": "# Intake\n"}));
    fixture
}

#[test]
fn a_legal_move_by_any_tool_is_made_and_the_books_are_kept() {
    for way in 0..4 {
        let fixture = with_intake();
        let (name, arguments) =
            ways(&fixture, "decide-02-project-type").into_iter().nth(way).unwrap();
        let told = fixture.call(name, arguments);
        assert_eq!(told.answer.refused, None, "{}", told.json);
        let state = &told.json["state"];
        assert_eq!(state["currentNodeId"], "decide-02-project-type");
        assert_eq!(state["stepsCompleted"], json!(["step-01-intake"]));
        assert_eq!(state["complete"], false);
        assert_eq!(state["allowedNext"].as_array().unwrap().len(), 2);
        let recorded: Vec<&str> = state["recorded"]
            .as_array()
            .unwrap()
            .iter()
            .map(|made| made["key"].as_str().unwrap())
            .collect();
        assert_eq!(recorded, ["stepsCompleted", "artifacts", "updatedAt"]);
        let text = fixture.text(STATE);
        assert_eq!(told.json["sha256After"], Digest::of(text.as_bytes()).to_string());
        assert!(text.contains("currentNodeId: decide-02-project-type\n"), "{text}");
        assert!(text.contains("- artifacts/intake.md\n") && text.contains(NOW), "{text}");
        let change = told.state.unwrap();
        assert_eq!(change.recorded, ["stepsCompleted", "artifacts", "updatedAt"]);
        assert_eq!(change.state.current_node_id, "decide-02-project-type");
        assert_eq!(change.state.artifacts, ["artifacts/intake.md"]);
        let (from, to) = ("step-01-intake".to_owned(), "decide-02-project-type".to_owned());
        assert_eq!(change.moved, Some(Moved { from, to, label: "next".into() }));
    }
}

#[test]
fn an_illegal_move_by_any_tool_is_refused_and_nothing_changes() {
    for way in 0..4 {
        let fixture = with_intake();
        let before = fixture.text(STATE);
        let (name, arguments) = ways(&fixture, "end-99").into_iter().nth(way).unwrap();
        let told = fixture.check_refused(name, arguments, RefusalCode::Transition, &["end-99"]);
        let next = &told.json["error"]["details"]["allowedNext"];
        assert_eq!(next[0]["to"], "decide-02-project-type");
        assert_eq!(fixture.text(STATE), before);
    }
}

#[test]
fn a_move_without_its_output_is_refused_warned_about_or_let_pass() {
    let mut fixture = ToolsFixture::new();
    let told = fixture.check_refused(
        "fs.apply_patch",
        step("decide-02-project-type"),
        RefusalCode::Precondition,
        &["artifacts/intake.md"],
    );
    assert_eq!(told.json["error"]["details"]["missing"]["outputs"], json!(["artifacts/intake.md"]));
    fixture.missing = MissingRule::Warn;
    let change = fixture.change("fs.apply_patch", step("decide-02-project-type"));
    assert_eq!(change.intent.state.unwrap().warnings.len(), 1);
    fixture.missing = MissingRule::Off;
    assert!(fixture.call("fs.apply_patch", step("decide-02-project-type")).state.is_some());
}

#[test]
fn only_the_keys_of_an_update_change() {
    let fixture = ToolsFixture::new();
    let before =
        fixture.text(STATE).replace("variables: {}", "variables: {} # mine\nextra: [1,  2] # odd");
    fixture.put(STATE, &before);
    let told =
        fixture.call("fs.apply_patch", update(json!({"variables": {"set": {"topic": "x"}}})));
    let after = fixture.text(STATE);
    assert!(after.contains("extra: [1,  2] # odd\n"), "{after}");
    let body = |text: &str| text.split_once("\n---\n").unwrap().1.to_owned();
    assert_eq!(body(&after), body(&before));
    assert_eq!(told.state.unwrap().state.variables["topic"], "x");
    // Two updates in one call are one change.
    let both = json!({"patches": [update(json!({"variables": {"set": {"a": 1}}})), update(json!({"variables": {"set": {"b": 2}}}))]});
    let told = fixture.call("fs.apply_patch", both);
    let variables = told.state.unwrap().state.variables;
    assert_eq!(json!(variables), json!({"topic": "x", "a": 1, "b": 2}));
}

#[test]
fn an_update_that_changes_nothing_is_answered_with_the_state() {
    let fixture = ToolsFixture::new();
    let set = update(json!({"variables": {"set": {"topic": "x"}}}));
    fixture.call("fs.apply_patch", set.clone());
    let before = fixture.text(STATE);
    assert!(matches!(fixture.plan("fs.apply_patch", set.clone()), CallPlan::Answer(_)));
    let told = fixture.call("fs.apply_patch", set);
    assert_eq!(told.json["ok"], true);
    assert_eq!(told.json["sha256Before"], told.json["sha256After"]);
    assert_eq!(told.json["state"]["recorded"], json!([]));
    assert_eq!((told.state, fixture.text(STATE)), (None, before));
}

#[test]
fn text_that_is_no_state_is_refused() {
    let fixture = ToolsFixture::new();
    let write = |content: &str| json!({"path": STATE, "content": content});
    fixture.check_refused("fs.write", write("hello"), RefusalCode::InvalidFrontmatter, &[]);
    fixture.check_refused(
        "fs.write",
        write("---\na: [1\n---\n"),
        RefusalCode::InvalidFrontmatter,
        &[],
    );
    let typed = fixture.text(STATE).replace("stepsCompleted: []", "stepsCompleted: 7");
    fixture.check_refused("fs.write", write(&typed), RefusalCode::Schema, &["stepsCompleted"]);
    let append = json!({"path": STATE, "content": "\nA note.\n", "mode": "append"});
    assert!(fixture.call("fs.write", append).state.is_some());
    assert!(fixture.text(STATE).ends_with("\nA note.\n"));
    let create = json!({"path": STATE, "content": "x", "mode": "create"});
    fixture.check_refused("fs.write", create, RefusalCode::Precondition, &["already exists"]);
    let mut guarded = update(json!({"variables": {"set": {"x": 1}}}));
    guarded["ifMatchSha256"] = "0".repeat(64).into();
    fixture.check_refused("fs.apply_patch", guarded, RefusalCode::Precondition, &["ifMatchSha256"]);
}

#[test]
fn a_small_write_limit_does_not_stop_the_run() {
    let mut fixture = with_intake();
    fixture.policy.fs.max_write_bytes = 10;
    let write = json!({"path": STATE, "content": fixture.text(STATE) + "x"});
    fixture.check_refused("fs.write", write, RefusalCode::WriteLimit, &["limit is 10"]);
    assert!(fixture.call("fs.apply_patch", step("decide-02-project-type")).state.is_some());
}

#[test]
fn a_damaged_state_is_no_fault_of_the_model() {
    let fixture = ToolsFixture::new();
    let good = fixture.text(STATE);
    for damage in [&b"not a state"[..], b"\xff", b""] {
        fixture.put(STATE, damage);
        let write = json!({"path": STATE, "content": good});
        let says = ["no change of it can be checked", "damaged outside the runtime"];
        fixture.check_refused("fs.write", write, RefusalCode::InvalidFrontmatter, &says);
    }
    std::fs::remove_file(fixture.real(STATE)).unwrap();
    let write = json!({"path": STATE, "content": good});
    fixture.check_refused("fs.write", write, RefusalCode::InvalidFrontmatter, &["is not there"]);
}

#[test]
fn a_guided_run_asks_before_each_move() {
    let mut fixture = with_intake();
    fixture.moves = Moves::Ask;
    let before = fixture.text(STATE);
    match fixture.plan("fs.apply_patch", step("decide-02-project-type")) {
        CallPlan::Approve(proposed) => {
            assert_eq!(proposed.moved.to, "decide-02-project-type");
            assert!(proposed.files.is_empty(), "{:?}", proposed.files);
        }
        other => panic!("{other:?}"),
    }
    assert_eq!(fixture.text(STATE), before);
    // A change without a move needs no approval, and an illegal one is refused without asking.
    assert!(
        fixture
            .call("fs.apply_patch", update(json!({"variables": {"set": {"x": 1}}})))
            .state
            .is_some()
    );
    fixture.check_refused("fs.apply_patch", step("end-99"), RefusalCode::Transition, &[]);
    fixture.moves = Moves::Free;
    assert!(fixture.call("fs.apply_patch", step("decide-02-project-type")).state.is_some());
}

#[test]
fn an_agreement_to_a_move_holds_for_exactly_the_files_that_were_shown() {
    let mut fixture = ToolsFixture::new();
    fixture.policy = fixture.policy.with_state(crewagent_core::policy::StateTool::Runtime);
    fixture.missing = MissingRule::Off;
    fixture.moves = Moves::Ask;
    let finish = || {
        let files = json!([
            {"path": "artifacts/intake.md", "content": "One.\nTwo.\n"},
            {"path": "artifacts/notes.md", "content": "One.\n"},
        ]);
        json!({ "files": files })
    };
    let proposed = |fixture: &ToolsFixture| match fixture.plan("complete_node", finish()) {
        CallPlan::Approve(proposed) => *proposed,
        other => panic!("{other:?}"),
    };
    let shown = proposed(&fixture);
    assert_eq!(
        shown.question.question,
        "Go on from \"Intake\" to \"Decide the project type\"? Writes artifacts/intake.md (2 lines), artifacts/notes.md (1 line)."
    );
    let paths: Vec<&str> = shown.files.iter().map(|file| file.path.as_str()).collect();
    assert_eq!(paths, ["@project/artifacts/intake.md", "@project/artifacts/notes.md"]);
    (fixture.moves, fixture.agreed) = (Moves::Free, Some(shown.files.clone()));
    // The user changed a file between the question and the answer.
    fixture.put("@project/artifacts/notes.md", "Mine.\n");
    assert_ne!(proposed(&fixture).files, shown.files);
    std::fs::remove_file(fixture.real("@project/artifacts/notes.md")).unwrap();
    assert!(fixture.call("complete_node", finish()).state.is_some());
}

#[test]
fn a_completed_state_changes_only_with_the_users_word() {
    let mut fixture = with_intake();
    fixture.missing = MissingRule::Off;
    for to in ["decide-02-project-type", "step-03b-brownfield", "end-99"] {
        assert!(fixture.call("fs.apply_patch", step(to)).state.is_some(), "{to}");
    }
    let told =
        fixture.call("fs.apply_patch", update(json!({"workflowStatus": {"set": "complete"}})));
    assert!(told.state.unwrap().state.complete);
    assert_eq!(told.json["state"]["complete"], true);
    let note = update(json!({"variables": {"set": {"x": 1}}}));
    fixture.check_refused(
        "fs.apply_patch",
        note.clone(),
        RefusalCode::ConfirmationRequired,
        &["ui.ask_user"],
    );
    fixture.confirmation = Confirmation::Given;
    assert!(fixture.call("fs.apply_patch", note).state.is_some());
}

#[cfg(unix)]
#[test]
fn the_state_has_one_name() {
    use std::os::unix::fs::symlink;
    let fixture = with_intake();
    let before = fixture.text(STATE);
    symlink("workflow.md", fixture.real("@state/alias.md")).unwrap();
    symlink(".", fixture.real("@state/here")).unwrap();
    std::fs::hard_link(fixture.real(STATE), fixture.real("@project/hard.md")).unwrap();
    let forged = before.replace("currentNodeId: step-01-intake", "currentNodeId: end-99");
    for path in [
        "@state/alias.md",
        "@state/here/workflow.md",
        "@state/Workflow.md",
        "@state/WORKFLOW.MD",
        "@project/hard.md",
    ] {
        let write = json!({"path": path, "content": forged});
        fixture.check_refused("fs.write", write, RefusalCode::Sandbox, &[path]);
        let edits = json!([{"old": "step-01-intake\"", "new": "end-99"}]);
        let patch = json!({"path": path, "operation": "replace", "edits": edits});
        fixture.check_refused("fs.apply_patch", patch, RefusalCode::Sandbox, &[path]);
    }
    assert_eq!(fixture.text(STATE), before);
    std::fs::remove_file(fixture.real("@project/hard.md")).unwrap();
    // Nor may it be a link itself.
    std::fs::rename(fixture.real(STATE), fixture.real("@state/other.md")).unwrap();
    symlink("other.md", fixture.real(STATE)).unwrap();
    let says = ["is a link"];
    fixture.check_refused(
        "fs.apply_patch",
        step("decide-02-project-type"),
        RefusalCode::Sandbox,
        &says,
    );
}

#[test]
fn every_spelling_of_the_state_is_guarded() {
    for path in ["workflow.md", "./workflow.md", "{state-root}/workflow.md", "@state/./workflow.md"]
    {
        let fixture = ToolsFixture::new();
        let forged =
            fixture.text(STATE).replace("currentNodeId: step-01-intake", "currentNodeId: end-99");
        let write = json!({"path": path, "content": forged});
        fixture.check_refused("fs.write", write, RefusalCode::Transition, &[]);
    }
}

#[test]
fn a_project_around_the_state_is_no_way_around_the_guard() {
    let fixture = ToolsFixture::new();
    let root = fixture.scratch.path();
    let roots = Roots {
        project: root.to_owned(),
        package: root.join("package"),
        state: root.join("state"),
    };
    let around = Mounts::open(&roots).unwrap();
    let forged = fixture.text(STATE).replace("step-01-intake", "end-99");
    for name in ["@project/state/workflow.md", STATE] {
        let code = refusal_code(&around, "fs.write", json!({"path": name, "content": forged}));
        let expected = if name == STATE { RefusalCode::Transition } else { RefusalCode::Sandbox };
        assert_eq!(code, Some(expected), "{name}");
    }
    assert_eq!(
        refusal_code(&around, "fs.write", json!({"path": "package/step.md", "content": ""})),
        None
    );
}

#[test]
fn a_node_is_completed_with_its_files_in_one_call() {
    let mut fixture = ToolsFixture::new();
    fixture.policy = fixture.policy.with_state(crewagent_core::policy::StateTool::Runtime);
    let files = json!([
        { "path": "artifacts/intake.md", "content": "# Intake\n" },
        { "path": "notes/aside.md", "content": "An aside.\n" },
    ]);
    let done = fixture.call("runtime.complete_node", json!({ "files": files }));
    assert_eq!(done.answer.refused, None, "{:?}", done.json);
    assert_eq!(done.json["moved"]["to"], "decide-02-project-type");
    assert_eq!(
        done.json["files"][0],
        json!({ "path": "@project/artifacts/intake.md", "bytes": 9 })
    );
    assert_eq!(fixture.text("@project/notes/aside.md"), "An aside.\n");
    let state = done.state.unwrap().state;
    assert_eq!(state.current_node_id, "decide-02-project-type");
    assert_eq!(state.artifacts, ["artifacts/intake.md"]);
    // The condition of the author takes the branch.
    let decided = json!({ "variables": { "projectType": "greenfield" }, "reason": "All is new." });
    let done = fixture.call("runtime.complete_node", decided);
    assert_eq!(done.json["moved"]["label"], "greenfield");
    assert!(fixture.text(STATE).contains("reason: All is new."), "{}", fixture.text(STATE));
}

#[test]
fn nothing_is_written_if_the_node_cannot_be_left() {
    let mut fixture = ToolsFixture::new();
    fixture.policy = fixture.policy.with_state(crewagent_core::policy::StateTool::Runtime);
    let before = fixture.text(STATE);
    let files = json!([{ "path": "notes/aside.md", "content": "An aside.\n" }]);
    let refused = fixture.call("runtime.complete_node", json!({ "files": files }));
    assert_eq!(refused.answer.refused, Some(RefusalCode::Precondition), "{:?}", refused.json);
    assert!(!fixture.real("@project/notes/aside.md").exists());
    assert_eq!(fixture.text(STATE), before);
}
