//! `fs.move` and `fs.delete`: what they do, and what they refuse.

use crewagent_core::refusal::RefusalCode;
use crewagent_format::integrity::Digest;
use serde_json::json;

use super::fixture::{STATE, ToolsFixture};

#[test]
fn a_file_gets_another_path() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/a.md", "text\n");
    let sha256 = Digest::of(b"text\n").to_string();
    let outcome = fixture.call("fs.move", json!({"path": "a.md", "to": "artifacts/b/c.md"}));
    let files = json!([
        {"path": "@project/artifacts/b/c.md", "sha256After": sha256, "bytes": 5, "lines": 1, "movedFrom": "@project/a.md"},
        {"path": "@project/a.md", "sha256Before": sha256, "deleted": true},
    ]);
    assert_eq!(outcome.json["files"], files);
    assert_eq!(fixture.text("@project/artifacts/b/c.md"), "text\n");
    assert!(!fixture.real("@project/a.md").exists());
}

#[test]
fn a_file_goes_away() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/a.md", "text\n");
    let other = json!({"path": "a.md", "ifMatchSha256": Digest::of(b"other").to_string()});
    fixture.check_refused("fs.delete", other, RefusalCode::Precondition, &["has changed since"]);
    let outcome = fixture.call("fs.delete", json!({"path": "a.md"}));
    assert_eq!(outcome.json["deleted"], true, "{}", outcome.json);
    assert!(!fixture.real("@project/a.md").exists());
    fixture.check_refused("fs.delete", json!({"path": "a.md"}), RefusalCode::NotFound, &["a.md"]);
}

#[test]
fn nothing_is_moved_onto_a_file_or_out_of_the_project() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/a.md", "a");
    fixture.put("@project/b.md", "b");
    let to = |to: &str| json!({"path": "a.md", "to": to});
    fixture.check_refused("fs.move", to("b.md"), RefusalCode::Precondition, &["already exists"]);
    fixture.check_refused("fs.move", to("a.md"), RefusalCode::InvalidArguments, &["already"]);
    fixture.check_refused("fs.move", to("@pkg/a.md"), RefusalCode::Sandbox, &[]);
    let missing = json!({"path": "none.md", "to": "c.md"});
    fixture.check_refused("fs.move", missing, RefusalCode::NotFound, &["There is no"]);
    let missing = json!({"path": "none.md", "ifMatchSha256": Digest::of(b"a").to_string()});
    fixture.check_refused("fs.delete", missing, RefusalCode::NotFound, &["There is no"]);
    fixture.check_refused("fs.delete", json!({"path": "@pkg/step.md"}), RefusalCode::Sandbox, &[]);
    assert_eq!(
        (fixture.text("@project/a.md"), fixture.text("@project/b.md")),
        ("a".into(), "b".into())
    );
}

#[test]
fn the_state_document_stays() {
    let fixture = ToolsFixture::new();
    let says = ["neither moved nor deleted"];
    let invalid = RefusalCode::InvalidArguments;
    fixture.check_refused("fs.delete", json!({"path": STATE}), invalid, &says);
    fixture.check_refused("fs.move", json!({"path": STATE, "to": "s.md"}), invalid, &says);
    fixture.put("@project/a.md", "a");
    fixture.check_refused("fs.move", json!({"path": "a.md", "to": STATE}), invalid, &says);
}

#[test]
fn folders_links_and_files_that_cannot_be_kept_stay() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/folder/a.md", "a");
    let folder = json!({"path": "folder"});
    fixture.check_refused("fs.delete", folder, RefusalCode::InvalidArguments, &["is a folder"]);
    let folder = json!({"path": "folder", "to": "other"});
    fixture.check_refused("fs.move", folder, RefusalCode::InvalidArguments, &["is a folder"]);
    let into = json!({"path": "folder/a.md", "to": "artifacts"});
    fixture.check_refused("fs.move", into, RefusalCode::InvalidArguments, &["is a folder"]);
    let large = std::fs::File::create(fixture.real("@project/large.bin")).unwrap();
    large.set_len((16 << 20) + 1).unwrap();
    for (tool, arguments) in [
        ("fs.delete", json!({"path": "large.bin"})),
        ("fs.move", json!({"path": "large.bin", "to": "other.bin"})),
    ] {
        fixture.check_refused(tool, arguments, RefusalCode::WriteLimit, &["too much to be kept"]);
    }
    assert!(fixture.real("@project/large.bin").exists());
}

#[cfg(unix)]
#[test]
fn no_link_is_followed() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/folder/a.md", "a");
    fixture.put("@project/b.md", "b");
    std::os::unix::fs::symlink("folder/a.md", fixture.real("@project/link.md")).unwrap();
    std::os::unix::fs::symlink("folder", fixture.real("@project/linked")).unwrap();
    let says = ["through a link to `@project/folder/"];
    for (tool, arguments) in [
        ("fs.delete", json!({"path": "link.md"})),
        ("fs.delete", json!({"path": "linked/a.md"})),
        ("fs.move", json!({"path": "link.md", "to": "c.md"})),
        ("fs.move", json!({"path": "b.md", "to": "linked/c.md"})),
    ] {
        fixture.check_refused(tool, arguments, RefusalCode::Sandbox, &says);
    }
    std::os::unix::fs::symlink("b.md", fixture.real("@project/same.md")).unwrap();
    let same = json!({"path": "b.md", "to": "same.md"});
    fixture.check_refused(
        "fs.move",
        same,
        RefusalCode::Precondition,
        &["two names of the same file"],
    );
    std::fs::hard_link(fixture.real("@project/b.md"), fixture.real("@project/B.md")).unwrap();
    let twin = json!({"path": "b.md", "to": "B.md"});
    fixture.check_refused("fs.move", twin, RefusalCode::Sandbox, &["hard links"]);
    assert_eq!(
        (fixture.text("@project/folder/a.md"), fixture.text("@project/b.md")),
        ("a".into(), "b".into())
    );
}

#[cfg(unix)]
#[test]
fn a_moved_file_keeps_its_rights() {
    use std::os::unix::fs::PermissionsExt as _;
    let fixture = ToolsFixture::new();
    for (mode, with_plan) in [(0o750, true), (0o600, false)] {
        fixture.put("@project/a.sh", "true\n");
        let rights = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(fixture.real("@project/a.sh"), rights).unwrap();
        let arguments = json!({"path": "a.sh", "to": format!("bin/{mode}.sh")});
        let change = fixture.change("fs.move", arguments.clone());
        let call = fixture.parse("fs.move", &arguments).unwrap();
        let planned = with_plan.then_some(&change);
        fixture.carry_out(&fixture.mounts, &call, &change.intent, planned).unwrap();
        let metadata = fixture.real(&format!("@project/bin/{mode}.sh")).metadata().unwrap();
        assert_eq!(metadata.permissions().mode() & 0o777, mode);
    }
}

#[test]
fn an_artifact_that_moved_is_recorded_where_it_is() {
    let fixture = ToolsFixture::new();
    for (tool, arguments) in [
        ("fs.write", json!({"path": "artifacts/draft.md", "content": "text\n"})),
        ("fs.write", json!({"path": "artifacts/scratch.md", "content": "text\n"})),
        ("fs.move", json!({"path": "artifacts/draft.md", "to": "artifacts/final.md"})),
        ("fs.delete", json!({"path": "artifacts/scratch.md"})),
    ] {
        let outcome = fixture.call(tool, arguments);
        assert_eq!(outcome.answer.refused, None, "{}", outcome.json);
    }
    let update = json!({"path": STATE, "operation": "updateFrontmatter", "update": {"variables": {"set": {"x": 1}}}});
    let outcome = fixture.call("fs.apply_patch", update);
    assert_eq!(outcome.state.unwrap().state.artifacts, ["artifacts/final.md"]);
}
