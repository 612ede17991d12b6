//! Overwriting files that the run did not write.

use crewagent_core::policy::StateTool;
use crewagent_core::refusal::RefusalCode;
use crewagent_core::state::project_path::ProjectPath;
use serde_json::json;

use super::fixture::{CallOutcome, ToolsFixture};

const STATUS: &str = "@project/artifacts/sprint-status.yaml";
const OLD: &str = "development_status:\n  epic-1: in-progress\n  1-1-project-setup: done\n  1-2-user-authentication: backlog\n  1-3-note-crud: backlog\n";
const UNREAD: &str = "artifacts/sprint-status.yaml is the user's: 5 lines, 128 bytes, and you have not read it. Nothing was written. Change parts with fs_apply_patch, or send the same call again to replace all of it.";

/// Returns a run in a project with a file of the user.
fn fixture() -> ToolsFixture {
    let fixture = ToolsFixture { owns_all: false, ..ToolsFixture::new() };
    fixture.put(STATUS, OLD);
    fixture
}

fn write(fixture: &ToolsFixture, content: &str) -> CallOutcome {
    fixture.call("fs.write", json!({"path": STATUS, "content": content}))
}

fn check_message(outcome: &CallOutcome, expected: &str) {
    assert_eq!(outcome.answer.refused, Some(RefusalCode::Precondition), "{}", outcome.json);
    assert_eq!(outcome.json["error"]["message"], expected);
    assert!(!outcome.answer.warned.is_empty());
}

#[test]
fn a_file_of_the_user_that_was_not_read_is_overwritten_by_the_second_call() {
    let fixture = fixture();
    check_message(&write(&fixture, "new\n"), UNREAD);
    assert_eq!(fixture.text(STATUS), OLD);
    assert_eq!(write(&fixture, "new\n").json["ok"], true);
    assert_eq!(fixture.text(STATUS), "new\n");
}

#[test]
fn a_text_that_keeps_few_lines_of_a_read_file_is_refused_once() {
    let fixture = fixture();
    fixture.call("fs.read", json!({"path": STATUS, "startLine": 1, "endLine": 2}));
    check_message(
        &write(&fixture, "new\n"),
        "artifacts/sprint-status.yaml is the user's: 5 lines, 128 bytes, and your text keeps 0 of its 5 lines. Nothing was written. Change parts with fs_apply_patch, or send the same call again to replace all of it.",
    );
    assert_eq!(write(&fixture, "new\n").json["ok"], true);
}

#[test]
fn a_text_that_keeps_half_of_a_read_file_is_written() {
    let fixture = fixture();
    fixture.call("fs.read", json!({"path": "artifacts/sprint-status.yaml"}));
    assert_eq!(write(&fixture, &OLD.replace("backlog", "done")).json["ok"], true);
}

#[test]
fn a_file_that_changed_since_it_was_read_is_refused_once() {
    let fixture = fixture();
    fixture.call("fs.read", json!({"path": STATUS}));
    fixture.put(STATUS, format!("{OLD}  1-4-search: backlog\n"));
    check_message(
        &write(&fixture, OLD),
        "artifacts/sprint-status.yaml is the user's: 6 lines, 150 bytes, and it has changed since you saw it. Nothing was written. Change parts with fs_apply_patch, or send the same call again to replace all of it.",
    );
    assert_eq!(write(&fixture, OLD).json["ok"], true);
}

#[test]
fn a_warning_is_about_the_content_that_it_was_given_for() {
    let fixture = fixture();
    check_message(&write(&fixture, "new\n"), UNREAD);
    fixture.put(STATUS, "the user wrote this since\n");
    assert_eq!(write(&fixture, "new\n").answer.refused, Some(RefusalCode::Precondition));
    assert_eq!(fixture.text(STATUS), "the user wrote this since\n");
}

#[test]
fn appends_patches_and_files_of_the_run_are_free() {
    let fixture = fixture();
    let call = |name: &str, arguments| fixture.call(name, arguments).json["ok"].clone();
    assert_eq!(
        call("fs.write", json!({"path": STATUS, "content": "# x\n", "mode": "append"})),
        true
    );
    assert_eq!(write(&fixture, "mine now\n").json["ok"], true, "the run wrote it last");
    fixture.put("@project/a.md", "one\ntwo\n");
    let edits = json!([{"old": "one", "new": "1"}]);
    assert_eq!(call("fs.apply_patch", json!({"path": "a.md", "edits": edits})), true);
    assert_eq!(call("fs.write", json!({"path": "a.md", "content": "x\n"})), true);
    fixture.put("@project/empty.md", "");
    assert_eq!(call("fs.write", json!({"path": "empty.md", "content": "x\n"})), true);
    fixture.put("@project/a.md", "the user again\n");
    let refused = fixture.call("fs.write", json!({"path": "a.md", "content": "y\n"}));
    assert_eq!(refused.answer.refused, Some(RefusalCode::Precondition));
}

#[test]
fn a_declared_output_is_free() {
    let fixture = fixture();
    let path = ProjectPath::parse("artifacts/sprint-status.yaml").unwrap();
    fixture.known.borrow_mut().outputs = vec![path];
    assert_eq!(write(&fixture, "new\n").json["ok"], true);
}

#[test]
fn the_same_bytes_make_no_file_the_runs_own() {
    let fixture = fixture();
    let same = write(&fixture, OLD);
    assert_eq!((same.json["ok"].clone(), same.answer.repeats), (json!(true), true));
    assert!(same.answer.wrote.is_empty());
    assert_eq!(write(&fixture, "new\n").answer.refused, Some(RefusalCode::Precondition));
}

#[test]
fn a_digest_proves_that_the_file_was_read() {
    let fixture = fixture();
    let digest = fixture.call("fs.read", json!({"path": STATUS})).json["sha256"].clone();
    fixture.known.replace(Default::default());
    let text = OLD.replace("backlog", "done");
    let call = json!({"path": STATUS, "content": text, "ifMatchSha256": digest});
    assert_eq!(fixture.call("fs.write", call).json["ok"], true);
}

#[test]
fn the_files_of_a_completion_are_judged_together() {
    let mut fixture = fixture();
    fixture.policy = fixture.policy.with_state(StateTool::Runtime);
    fixture.put("@project/notes.md", "a\nb\n");
    fixture.put("@project/artifacts/intake.md", "from an earlier run\n");
    fixture.known.borrow_mut().outputs = vec![ProjectPath::parse("artifacts/intake.md").unwrap()];
    let call = || {
        fixture.call(
            "runtime.complete_node",
            json!({
                "variables": {"intent": "x", "projectType": "greenfield"},
                "files": [
                    {"path": "artifacts/sprint-status.yaml", "content": "new\n"},
                    {"path": "notes.md", "content": "c\n"},
                    {"path": "artifacts/intake.md", "content": "of the node\n"},
                    {"path": "free.md", "content": "d\n"}
                ]
            }),
        )
    };
    let before = fixture.text("@state/workflow.md");
    let refused = call();
    check_message(
        &refused,
        "artifacts/sprint-status.yaml is the user's: 5 lines, 128 bytes, and you have not read it. notes.md is the user's: 2 lines, 4 bytes, and you have not read it. Nothing was written. Change parts with fs_apply_patch, or send the same call again to replace all of it.",
    );
    assert!(refused.answer.ends_reply);
    assert_eq!(fixture.text("@state/workflow.md"), before);
    assert!(!fixture.real("@project/free.md").exists());
    let done = call();
    assert_eq!(done.json["ok"], true, "{}", done.json);
    assert_eq!(fixture.text("@project/notes.md"), "c\n");
}
