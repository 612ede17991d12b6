//! Outputs of a node, judged on real files: what counts, what is kept, and which files are artifacts.

use crewagent_core::policy::StateTool;
use crewagent_core::refusal::RefusalCode;
use crewagent_core::state::visit_files::OutputAtEntry;
use crewagent_format::integrity::Digest;
use serde_json::{Value as Json, json};

use super::fixture::{STATE, ToolsFixture};

const INTAKE: &str = "artifacts/intake.md";

/// Returns a run at a node whose output was there when it was entered.
fn surveyed(content: &str) -> ToolsFixture {
    let mut fixture = ToolsFixture::new();
    fixture.policy = fixture.policy.with_state(StateTool::Runtime);
    fixture.put(&format!("project/{INTAKE}"), content);
    // The files of the tests are younger than their clock.
    fixture.files.since = "2100-01-01T00:00:00Z".parse().ok();
    let sha256 = Some(Digest::of(content.as_bytes()).to_string());
    fixture.files.outputs.insert(INTAKE.to_owned(), OutputAtEntry { sha256, own: false });
    fixture
}

fn complete(arguments: Json) -> (&'static str, Json) {
    ("runtime.complete_node", arguments)
}

fn step(more: Json) -> (&'static str, Json) {
    let mut update = json!({"currentNodeId": {"set": "decide-02-project-type"}});
    update.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    let arguments = json!({"path": STATE, "operation": "updateFrontmatter", "update": update});
    ("fs.apply_patch", arguments)
}

#[test]
fn an_old_output_is_refused_by_every_tool_and_can_be_kept_by_each() {
    let keep = json!({"keep": [INTAKE]});
    for (bare, keeping) in [
        (complete(json!({})), complete(keep.clone())),
        (complete(json!({})), complete(json!({"keep": INTAKE}))),
        (step(json!({})), step(keep.clone())),
    ] {
        let fixture = surveyed("# Intake\n");
        let says = "artifacts/intake.md is from an earlier run (9 bytes). Write it anew, or send \"keep\": [\"artifacts/intake.md\"] if it is right as it is.";
        fixture.check_refused(bare.0, bare.1, RefusalCode::Precondition, &[says]);
        let told = fixture.call(keeping.0, keeping.1);
        assert_eq!(told.json["state"]["kept"], json!([INTAKE]), "{}", told.json);
        assert_eq!(told.state.unwrap().kept, [INTAKE]);
    }
}

#[test]
fn what_is_not_there_cannot_be_kept() {
    let fixture = surveyed("# Intake\n");
    let keep =
        json!({"keep": ["artifacts/other.md"], "files": [{"path": INTAKE, "content": "new"}]});
    let says = "artifacts/other.md cannot be kept: there is no such file.";
    fixture.check_refused("complete_node", keep, RefusalCode::Precondition, &[says]);
    assert_eq!(fixture.text("project/artifacts/intake.md"), "# Intake\n", "nothing was written");
}

#[test]
fn sent_files_are_judged_by_their_content() {
    let mut fixture = surveyed("old");
    let template = Digest::of(b"# {{title}}\n").to_string();
    fixture.files.templates.insert(template, "@pkg/assets/intake.md".to_owned());
    for (content, says) in [
        ("", "artifacts/intake.md is empty."),
        ("TODO\n", "artifacts/intake.md is only a placeholder."),
        ("# {{title}}\n", "artifacts/intake.md is @pkg/assets/intake.md as it is. Fill it in."),
    ] {
        let files = json!({"files": [{"path": INTAKE, "content": content}]});
        fixture.check_refused("complete_node", files, RefusalCode::Precondition, &[says]);
    }
    let files = json!({"files": [{"path": INTAKE, "content": "new"}]});
    assert!(fixture.call("complete_node", files).state.is_some());
}

#[test]
fn a_changed_file_is_an_artifact_and_an_unchanged_one_is_not() {
    let fixture = surveyed("old");
    let write = |content: &str| json!({"path": INTAKE, "content": content});
    assert!(fixture.call("fs.write", write("old")).answer.created.is_empty());
    assert_eq!(fixture.call("fs.write", write("new")).answer.created, [INTAKE]);
    let change = fixture.call("complete_node", json!({})).state.unwrap();
    assert_eq!(change.state.artifacts, [INTAKE]);
}

#[test]
fn a_stray_copy_of_an_output_is_no_artifact() {
    let fixture = surveyed("old");
    fixture.call("fs.write", json!({"path": "artifacts/copy.md", "content": "new"}));
    fixture.call("fs.write", json!({"path": "artifacts/notes.md", "content": "notes"}));
    let files = json!({"files": [{"path": INTAKE, "content": "new"}]});
    let change = fixture.call("complete_node", files).state.unwrap();
    assert_eq!(change.state.artifacts, ["artifacts/notes.md", INTAKE]);
}

#[test]
fn a_file_that_was_moved_or_deleted_leaves_no_ghost() {
    let mut fixture = surveyed("old");
    let artifacts = json!({"artifacts": {"append": ["artifacts/a.md", "artifacts/b.md"]}});
    let update = json!({"path": STATE, "operation": "updateFrontmatter", "update": artifacts});
    fixture.put("project/artifacts/a.md", "a").put("project/artifacts/b.md", "b");
    fixture.call("fs.apply_patch", update);
    fixture.call("fs.move", json!({"path": "artifacts/a.md", "to": "artifacts/c.md"}));
    fixture.call("fs.delete", json!({"path": "artifacts/b.md"}));
    fixture.files.removed = ["artifacts/a.md".to_owned(), "artifacts/b.md".to_owned()].into();
    let files = json!({"files": [{"path": INTAKE, "content": "new"}]});
    let change = fixture.call("complete_node", files).state.unwrap();
    assert_eq!(change.state.artifacts, ["artifacts/c.md", INTAKE]);
}
