//! `fs.write`: modes, limits, preconditions, and artifacts.

use std::fs;

use crewagent_core::refusal::RefusalCode;
use crewagent_engine::tools::CallPlan;
use crewagent_format::integrity::Digest;
use serde_json::{Value as Json, json};

use super::fixture::ToolsFixture;
use crate::support::snapshot;

#[track_caller]
fn check_written(fixture: &ToolsFixture, arguments: Json, path: &str, bytes: usize, after: &str) {
    let told = fixture.call("fs.write", arguments);
    let (sha256, size) = (Digest::of(after.as_bytes()), after.len());
    let expected = format!(
        r#"{{"ok":true,"path":"{path}","bytesWritten":{bytes},"sha256After":"{sha256}","bytes":{size},"lines":"#
    );
    assert!(told.text().starts_with(&expected), "{}", told.text());
    assert_eq!(fixture.text(path), after);
}

#[test]
fn a_write_has_three_modes() {
    let fixture = ToolsFixture::new();
    let path = "@project/a/b/c.md";
    check_written(&fixture, json!({"path": path, "content": "one\n"}), path, 4, "one\n");
    check_written(&fixture, json!({"path": path, "content": "two"}), path, 3, "two");
    let append = json!({"path": path, "content": "é", "mode": "append"});
    check_written(&fixture, append, path, 2, "twoé");
    let fresh = json!({"path": "n.md", "content": "x", "mode": "append"});
    check_written(&fixture, fresh, "@project/n.md", 1, "x");
    let create = json!({"path": "new.md", "content": "", "mode": "create"});
    check_written(&fixture, create.clone(), "@project/new.md", 0, "");
    let says = ["already exists", "fs.apply_patch"];
    fixture.check_refused("fs.write", create, RefusalCode::Precondition, &says);
    // Writing the same text again is allowed and changes nothing.
    let same = json!({"path": path, "content": "twoé"});
    assert!(matches!(fixture.plan("fs.write", same.clone()), CallPlan::Answer(_)));
    check_written(&fixture, same, path, 5, "twoé");
    // Text can be appended to binary files.
    fixture.put("@project/bin", b"\0\xff");
    fixture.call("fs.write", json!({"path": "bin", "content": "x", "mode": "append"}));
    assert_eq!(fs::read(fixture.real("@project/bin")).unwrap(), b"\0\xffx");
}

#[track_caller]
fn check_report(fixture: &ToolsFixture, arguments: Json, expected: Json) {
    let told = fixture.call("fs.write", arguments).json;
    let mut report = told.as_object().unwrap().clone();
    for known in ["ok", "path", "bytesWritten", "sha256After"] {
        assert!(report.shift_remove(known).is_some(), "{told}");
    }
    assert_eq!(Json::Object(report), expected);
}

#[test]
fn the_answer_tells_what_became_of_the_file() {
    let fixture = ToolsFixture::new();
    let write = |content: &str, mode: &str| json!({"path": "a", "content": content, "mode": mode});
    let new = json!({"bytes": 4, "lines": 2, "new": true});
    check_report(&fixture, write("a\nb\n", "overwrite"), new);
    let same = json!({"bytes": 4, "lines": 2, "replacedBytes": 4, "unchanged": true});
    check_report(&fixture, write("a\nb\n", "overwrite"), same);
    check_report(&fixture, write("c", "append"), json!({"bytes": 5, "lines": 3}));
    let over = json!({"bytes": 0, "lines": 0, "replacedBytes": 5});
    check_report(&fixture, write("", "overwrite"), over);
    let holes =
        json!({"bytes": 14, "lines": 1, "replacedBytes": 0, "holes": ["{{epic}}", "{{x}}"]});
    check_report(&fixture, write("{{epic}} {{x}}", "overwrite"), holes);
}

#[test]
fn planning_touches_nothing() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/a.md", "old");
    let before = snapshot(fixture.scratch.path());
    let change = fixture.change("fs.write", json!({"path": "a.md", "content": "new"}));
    fixture.change("fs.write", json!({"path": "x/y/z.md", "content": "new"}));
    assert_eq!(snapshot(fixture.scratch.path()), before);
    let [file] = change.intent.files.as_slice() else { panic!("{change:?}") };
    assert_eq!(file.path, "@project/a.md");
    assert_eq!(file.before, Some(Digest::of(b"old").to_string()));
    assert_eq!(file.after, Some(Digest::of(b"new").to_string()));
    assert_eq!(change.before_images().collect::<Vec<_>>(), [b"old"]);
    assert_eq!(change.intent.time, super::fixture::NOW);
    assert_eq!(change.intent.state, None);
}

#[test]
fn the_limit_is_that_of_the_file() {
    let fixture = ToolsFixture::limited(100, 5);
    let write = |content: &str, mode: &str| json!({"path": "a", "content": content, "mode": mode});
    fixture.check_refused(
        "fs.write",
        write("123456", "overwrite"),
        RefusalCode::WriteLimit,
        &["6 bytes", "limit is 5"],
    );
    assert!(!fixture.real("@project/a").exists());
    check_written(&fixture, write("12345", "overwrite"), "@project/a", 5, "12345");
    fixture.check_refused("fs.write", write("x", "append"), RefusalCode::WriteLimit, &["6 bytes"]);
    check_written(&fixture, write("123", "overwrite"), "@project/a", 3, "123");
    check_written(&fixture, write("45", "append"), "@project/a", 2, "12345");
    fixture.check_refused("fs.write", write("", "create"), RefusalCode::Precondition, &[]);
    // Many small calls get no further than one large one.
    for _ in 0..3 {
        fixture.call("fs.write", write("x", "append"));
    }
    assert_eq!(fixture.text("@project/a"), "12345");
    let edit = |new: &str| json!({"path": "a", "operation": "replace", "edits": [{"old": "5", "new": new}]});
    fixture.check_refused("fs.apply_patch", edit("56"), RefusalCode::WriteLimit, &["6 bytes"]);
    fixture.call("fs.apply_patch", edit("6"));
    assert_eq!(fixture.text("@project/a"), "12346");
    // A file of any size can be replaced.
    fixture.put("@project/a", "x".repeat(100));
    check_written(&fixture, write("1", "overwrite"), "@project/a", 1, "1");
}

#[test]
fn the_expected_digest_is_compared() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/a", "old");
    let write = |sha256: Digest| json!({"path": "a", "content": "new", "ifMatchSha256": sha256.to_string()});
    let told = fixture.check_refused(
        "fs.write",
        write(Digest::of(b"other")),
        RefusalCode::Precondition,
        &["ifMatchSha256", "Read it again"],
    );
    assert_eq!(told.json["error"]["details"]["actualSha256"], Digest::of(b"old").to_string());
    assert_eq!(fixture.text("@project/a"), "old");
    check_written(&fixture, write(Digest::of(b"old")), "@project/a", 3, "new");
    let missing =
        json!({"path": "b", "content": "x", "ifMatchSha256": Digest::of(b"").to_string()});
    fixture.check_refused("fs.write", missing, RefusalCode::Precondition, &["does not exist"]);
}

#[test]
fn what_may_not_be_written_is_refused_before_it_is_announced() {
    let fixture = ToolsFixture::new();
    for path in [
        "@pkg/step.md",
        "@state/logs/execution.jsonl",
        "@state/run.json",
        "@project/.git/hooks/pre-commit",
        "../x",
        "/etc/passwd",
    ] {
        fixture.check_refused(
            "fs.write",
            json!({"path": path, "content": "x"}),
            RefusalCode::Sandbox,
            &[],
        );
    }
    fixture.put("@project/a", "x");
    let below = json!({"path": "a/b", "content": "x"});
    fixture.check_refused("fs.write", below, RefusalCode::InvalidArguments, &["is not a folder"]);
    let folder = json!({"path": "artifacts", "content": "x"});
    fixture.check_refused("fs.write", folder, RefusalCode::InvalidArguments, &["is a folder"]);
}

#[test]
fn a_file_that_is_marked_read_only_is_the_models_affair() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/a", "x");
    let real = fixture.real("@project/a");
    let mut permissions = fs::metadata(&real).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&real, permissions).unwrap();
    let says = ["does not permit to write `@project/a`", "ask the user"];
    fixture.check_refused(
        "fs.write",
        json!({"path": "a", "content": "y"}),
        RefusalCode::Sandbox,
        &says,
    );
}

#[track_caller]
fn check_created(fixture: &ToolsFixture, path: &str, expected: &[&str]) {
    let told = fixture.call("fs.write", json!({"path": path, "content": "x"}));
    assert_eq!(told.answer.created, expected, "{path}");
}

#[test]
fn new_and_changed_files_under_the_artifacts_folder_are_artifacts() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/artifacts/old.md", "o");
    check_created(&fixture, "artifacts/a.md", &["artifacts/a.md"]);
    check_created(&fixture, "{artifacts-root}/deep/b.md", &["artifacts/deep/b.md"]);
    check_created(&fixture, "artifacts/a.md", &[]);
    check_created(&fixture, "artifacts/old.md", &["artifacts/old.md"]);
    check_created(&fixture, "artifacts.md", &[]);
    check_created(&fixture, "artifacts2/a.md", &[]);
    check_created(&fixture, "other/artifacts/a.md", &[]);
    check_created(&fixture, "@state/artifacts/a.md", &[]);
    let add = "*** Begin Patch\n*** Add File: artifacts/c.md\n+x\n*** End Patch\n";
    let told = fixture.call(
        "fs.apply_patch",
        json!({"path": "artifacts/c.md", "operation": "diff", "diff": add}),
    );
    assert_eq!(told.answer.created, ["artifacts/c.md"]);
    assert_eq!(fixture.text("@project/artifacts/c.md"), "x\n");
    #[cfg(unix)]
    {
        std::os::unix::fs::symlink("artifacts", fixture.real("@project/out")).unwrap();
        check_created(&fixture, "out/d.md", &["artifacts/d.md"]);
    }
}

/// Checks that a rule about a folder holds for every path into it.
#[cfg(unix)]
#[test]
fn a_link_does_not_lead_around_a_rule_about_a_folder() {
    use crewagent_core::policy::rules::{RuleSet, Source};

    let deny = vec!["fs.*(@project/src)".parse().unwrap()];
    let rules = vec![RuleSet { deny, ..RuleSet::none(Source::Run) }];
    let fixture = ToolsFixture {
        policy: crewagent_core::policy::Policy { rules, ..Default::default() },
        ..ToolsFixture::new()
    };
    fixture.put("@project/src/key.txt", "key\n").put("@project/notes/a.md", "a\n");
    std::os::unix::fs::symlink("src", fixture.real("@project/alias")).unwrap();
    std::os::unix::fs::symlink("src/key.txt", fixture.real("@project/keylink.txt")).unwrap();
    for path in ["src/key.txt", "alias/key.txt", "alias/new.txt", "keylink.txt"] {
        let path = format!("@project/{path}");
        let write = json!({ "path": path, "content": "x" });
        fixture.check_refused("fs.write", write, RefusalCode::ToolNotAvailable, &["@project/src"]);
        let edits = json!([{ "old": "key", "new": "x" }]);
        let patch = json!({ "path": path, "operation": "replace", "edits": edits });
        if !path.ends_with("new.txt") {
            fixture.check_refused("fs.apply_patch", patch, RefusalCode::ToolNotAvailable, &[]);
        }
    }
    assert_eq!(fixture.text("@project/src/key.txt"), "key\n");
    check_written(
        &fixture,
        json!({"path": "@project/notes/a.md", "content": "b\n"}),
        "@project/notes/a.md",
        2,
        "b\n",
    );
}
