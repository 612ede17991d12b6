//! `fs.apply_patch` on files of the project.

use crewagent_core::refusal::RefusalCode;
use crewagent_format::integrity::Digest;
use serde_json::{Value as Json, json};

use super::fixture::ToolsFixture;
use crate::support::snapshot;

fn replace(path: &str, old: &str, new: &str) -> Json {
    json!({"path": path, "operation": "replace", "edits": [{"old": old, "new": new}]})
}

fn diff(path: &str, diff: &str) -> Json {
    json!({"path": path, "operation": "diff", "diff": diff})
}

#[track_caller]
fn check_patched(before: &str, arguments: Json, after: &str) {
    let fixture = ToolsFixture::new();
    fixture.put("@project/a.md", before);
    let told = fixture.call("fs.apply_patch", arguments);
    let expected = format!(
        r#"{{"ok":true,"path":"@project/a.md","sha256Before":"{}","sha256After":"{}","bytes":{},"lines":"#,
        Digest::of(before.as_bytes()),
        Digest::of(after.as_bytes()),
        after.len()
    );
    assert!(told.text().starts_with(&expected), "{}", told.text());
    assert_eq!(fixture.text("@project/a.md"), after);
}

const UNIFIED: &str = "--- a/a.md\n+++ b/a.md\n@@ -1,3 +1,3 @@\n one\n-two\n+2\n three\n";
const BEGIN: &str = "*** Begin Patch\n*** Update File: a.md\n@@\n-two\n+2\n*** End Patch\n";

#[test]
fn a_patch_changes_what_it_names_and_nothing_else() {
    check_patched("one\ntwo\nthree\n", replace("a.md", "two", "2"), "one\n2\nthree\n");
    check_patched("one\ntwo\nthree\n", diff("a.md", UNIFIED), "one\n2\nthree\n");
    check_patched("one\ntwo\nthree\n", diff("a.md", BEGIN), "one\n2\nthree\n");
    check_patched("one\r\ntwo\r\nthree", diff("a.md", UNIFIED), "one\r\n2\r\nthree");
    check_patched("one\r\ntwo\r\n", replace("a.md", "one\ntwo", "1\n2"), "1\r\n2\r\n");
    let all = json!({"path": "a.md", "operation": "replace", "edits": [{"old": "x", "new": "y", "all": true}]});
    check_patched("x x\nx", all, "y y\ny");
    let nested = json!({"patch": replace("a.md", "two", "2")});
    check_patched("two", nested, "2");
    let twice = json!({"patches": [replace("a.md", "a", "b"), replace("@project/a.md", "b", "c")]});
    check_patched("a", twice, "c");
}

#[test]
fn the_answer_shows_the_changed_lines() {
    let fixture = ToolsFixture::new();
    let text: String = (1..=60).map(|line| format!("line {line}\n")).collect();
    fixture.put("@project/a.md", &text);
    let edits = json!([{"old": "line 3\n", "new": "three\n"}, {"old": "line 50", "new": "50"}]);
    let told = fixture
        .call("fs.apply_patch", json!({"path": "a.md", "edits": edits, "operation": "replace"}));
    let changed = json!([
        {"startLine": 2, "lines": ["line 2", "three", "line 4"]},
        {"startLine": 49, "lines": ["line 49", "50", "line 51"]},
    ]);
    assert_eq!(told.json["changed"], changed);
    let all = json!({"path": "a.md", "operation": "replace", "edits": [{"old": "line", "new": "x", "all": true}]});
    let told = fixture.call("fs.apply_patch", all).json;
    let shown: usize = told["changed"]
        .as_array()
        .unwrap()
        .iter()
        .map(|part| part["lines"].as_array().unwrap().len())
        .sum();
    assert_eq!((shown, &told["moreLines"]), (40, &json!(20)));
    let add = "*** Begin Patch\n*** Add File: n.md\n+y\n*** End Patch\n";
    let told = fixture.call("fs.apply_patch", diff("n.md", add)).json;
    assert_eq!(
        (&told["new"], &told["bytes"], told.get("changed")),
        (&json!(true), &json!(2), None)
    );
}

#[test]
fn lines_copied_with_their_numbers_are_found() {
    check_patched(
        "one\ntwo\nthree\n",
        replace("a.md", "2|two\n3|three", "2|2\n3|3"),
        "one\n2\n3\n",
    );
}

#[test]
fn a_patch_that_does_not_fit_says_where_it_would() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/a.md", "one\ntwo\nthree\ntwo\n");
    let told = fixture.check_refused(
        "fs.apply_patch",
        replace("a.md", "two", "2"),
        RefusalCode::Precondition,
        &["matches at more than one place", "2", "4"],
    );
    assert_eq!(told.json["error"]["details"]["matches"], json!([2, 4]));
    assert_eq!(told.json["error"]["details"]["path"], "@project/a.md");
    fixture.check_refused(
        "fs.apply_patch",
        replace("a.md", "thre e", "3"),
        RefusalCode::Precondition,
        &[],
    );
    fixture.check_refused(
        "fs.apply_patch",
        replace("a.md", "", "3"),
        RefusalCode::InvalidArguments,
        &["empty"],
    );
    fixture.check_refused(
        "fs.apply_patch",
        replace("a.md", "one", "one"),
        RefusalCode::InvalidArguments,
        &[],
    );
    fixture.check_refused("fs.apply_patch", diff("a.md", BEGIN), RefusalCode::Precondition, &[]);
    assert_eq!(fixture.text("@project/a.md"), "one\ntwo\nthree\ntwo\n");
}

#[test]
fn only_texts_that_are_there_are_patched() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/bin", b"a\0b").put("@project/notes.md", "x");
    fixture.check_refused(
        "fs.apply_patch",
        replace("bin", "a", "b"),
        RefusalCode::InvalidArguments,
        &["binary"],
    );
    let says = ["There is no `@project/note.md`.", "Did you mean `@project/notes.md`?"];
    fixture.check_refused(
        "fs.apply_patch",
        replace("note.md", "a", "b"),
        RefusalCode::NotFound,
        &says,
    );
    fixture.check_refused(
        "fs.apply_patch",
        replace("@pkg/step.md", "a", "b"),
        RefusalCode::Sandbox,
        &[],
    );
    let add = "*** Begin Patch\n*** Add File: notes.md\n+y\n*** End Patch\n";
    fixture.check_refused(
        "fs.apply_patch",
        diff("notes.md", add),
        RefusalCode::Precondition,
        &["already exists"],
    );
    let delete = "*** Begin Patch\n*** Delete File: notes.md\n*** End Patch\n";
    let told = fixture.call("fs.apply_patch", diff("notes.md", delete));
    assert_eq!(told.json["deleted"], true, "{}", told.json);
    assert!(!fixture.real("@project/notes.md").exists());
    let told = fixture.call("fs.apply_patch", diff("new.md", &add.replace("notes.md", "new.md")));
    assert!(told.json.get("sha256Before").is_none(), "{}", told.json);
    assert_eq!(fixture.text("@project/new.md"), "y\n");
}

#[test]
fn the_expected_digest_is_that_before_the_call() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/a.md", "a");
    let mut patch = replace("a.md", "a", "b");
    patch["ifMatchSha256"] = Digest::of(b"other").to_string().into();
    fixture.check_refused(
        "fs.apply_patch",
        patch.clone(),
        RefusalCode::Precondition,
        &["ifMatchSha256"],
    );
    patch["ifMatchSha256"] = Digest::of(b"a").to_string().into();
    let mut second = replace("a.md", "b", "c");
    second["ifMatchSha256"] = Digest::of(b"a").to_string().into();
    fixture.call("fs.apply_patch", json!({"patches": [patch, second]}));
    assert_eq!(fixture.text("@project/a.md"), "c");
}

#[test]
fn several_files_change_together_or_not_at_all() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/a.md", "a").put("@project/b.md", "b");
    let before = snapshot(fixture.scratch.path());
    let bad = json!({"patches": [replace("a.md", "a", "1"), replace("b.md", "x", "2")]});
    let told = fixture.check_refused("fs.apply_patch", bad, RefusalCode::Precondition, &[]);
    assert_eq!(told.json["error"]["details"]["path"], "@project/b.md");
    assert_eq!(snapshot(fixture.scratch.path()), before);
    let good = json!({"patches": [replace("a.md", "a", "1"), replace("b.md", "b", "2"), replace("a.md", "1", "3")]});
    let told = fixture.call("fs.apply_patch", good);
    let expected = format!(
        r#"{{"ok":true,"files":[{{"path":"@project/a.md","sha256Before":"{}","sha256After":"{}","bytes":1,"lines":1,"changed":[{{"startLine":1,"lines":["3"]}}]}},{{"path":"@project/b.md","sha256Before":"{}","sha256After":"{}","bytes":1,"lines":1,"changed":[{{"startLine":1,"lines":["2"]}}]}}]}}"#,
        Digest::of(b"a"),
        Digest::of(b"3"),
        Digest::of(b"b"),
        Digest::of(b"2")
    );
    assert_eq!(told.text(), expected);
    assert_eq!(
        (fixture.text("@project/a.md"), fixture.text("@project/b.md")),
        ("3".into(), "2".into())
    );
}

#[cfg(unix)]
#[test]
fn two_names_of_one_file_are_not_patched_together() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/a.md", "a");
    std::os::unix::fs::symlink("a.md", fixture.real("@project/l.md")).unwrap();
    let both = json!({"patches": [replace("a.md", "a", "1"), replace("l.md", "a", "2")]});
    fixture.check_refused(
        "fs.apply_patch",
        both,
        RefusalCode::InvalidArguments,
        &["the same file"],
    );
    fixture.call("fs.apply_patch", replace("l.md", "a", "2"));
    assert_eq!(fixture.text("@project/a.md"), "2");
}
