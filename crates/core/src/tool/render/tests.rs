//! The texts of all answers, word by word.

use serde_json::{Value as Json, json};

use super::render;
use crate::prompt;
use crate::refusal::{Refusal, RefusalCode};

#[track_caller]
fn check_call(tool: &str, arguments: Json, result: Json, expected: &str) {
    let (arguments, result) = (arguments.to_string(), result.to_string());
    assert_eq!(render(tool, &arguments, &result), expected, "{result}");
}

#[track_caller]
fn check_text(tool: &str, result: Json, expected: &str) {
    check_call(tool, json!({}), result, expected);
}

#[track_caller]
fn check_same(tool: &str, result: &str) {
    assert_eq!(render(tool, "{}", result), result);
}

fn digest() -> String {
    "ab".repeat(32)
}

#[test]
fn a_file_is_shown_as_numbered_lines() {
    let read = |content: &str, lines: u64| json!({"ok": true, "path": "@project/a.md", "bytes": content.len(), "sha256": digest(), "truncated": false, "totalLines": lines, "content": content});
    check_text(
        "fs.read",
        read("one\n\ttwo \\d\n", 2),
        "@project/a.md, lines 1-2 of 2\n1|one\n2|\ttwo \\d",
    );
    check_text("fs_read", read("one", 1), "@project/a.md, lines 1-1 of 1\n1|one");
    check_text("fs.read", read("a\r\n\r\nb\r\n", 3), "@project/a.md, lines 1-3 of 3\n1|a\n2|\n3|b");
    check_text("fs.read", read("", 0), "@project/a.md is empty.");
    let mut window = read("two\nthree\n", 9);
    window["startLine"] = 2.into();
    window["endLine"] = 3.into();
    check_text("fs.read", window, "@project/a.md, lines 2-3 of 9\n2|two\n3|three");
    // Answers of an earlier version do not count the lines.
    let mut old = read("a\nb", 0);
    old.as_object_mut().unwrap().remove("totalLines");
    check_text("fs.read", old, "@project/a.md, lines 1-2 of 2\n1|a\n2|b");
}

#[test]
fn a_file_that_is_too_long_shows_its_beginning() {
    let mut read = json!({"ok": true, "path": "@project/epics.md", "bytes": 120_345, "sha256": digest(), "truncated": true, "totalLines": 3210, "contentPreview": "# Epics\n\nThe fi", "hint": "unused"});
    check_text(
        "fs.read",
        read.clone(),
        "@project/epics.md, 120,345 bytes in 3,210 lines; its beginning:\n1|# Epics\n2|\n3|The fi…\nSearch it, then read lines.",
    );
    read["startLine"] = 10.into();
    read["contentPreview"] = "x\ny\n".into();
    read["hint"] =
        "These lines have more than 4 bytes. Go on with startLine 12 and endLine 20.".into();
    check_text(
        "fs.read",
        read,
        "@project/epics.md, lines 10-11 of 3210\n10|x\n11|y\nThese lines have more than 4 bytes. Go on with startLine 12 and endLine 20.",
    );
}

#[test]
fn a_digest_is_shown_to_a_call_that_uses_digests() {
    let read = json!({"ok": true, "path": "@project/a", "bytes": 1, "sha256": digest(), "totalLines": 1, "content": "x"});
    let text = format!("@project/a, lines 1-1 of 1, sha256 {}\n1|x", digest());
    check_call("fs.read", json!({"path": "a", "sha256": true}), read.clone(), &text);
    check_call(
        "fs.read",
        json!({"path": "a", "sha256": false}),
        read.clone(),
        "@project/a, lines 1-1 of 1\n1|x",
    );
    check_call(
        "fs.read",
        json!({"path": "\"sha256\":true"}),
        read,
        "@project/a, lines 1-1 of 1\n1|x",
    );
    let write = json!({"ok": true, "path": "@project/a", "bytesWritten": 1, "sha256After": digest(), "bytes": 1, "lines": 1, "replacedBytes": 2});
    let text = format!("Wrote @project/a (1 byte, 1 line, replaced 2 bytes, sha256 {}).", digest());
    check_call("fs.write", json!({"ifMatchSha256": digest()}), write.clone(), &text);
    check_text("fs.write", write, "Wrote @project/a (1 byte, 1 line, replaced 2 bytes).");
    let patch = json!({"ok": true, "path": "@project/a", "sha256After": digest(), "bytes": 1, "changed": [{"startLine": 1, "lines": ["x"]}]});
    let text = format!("Changed @project/a (1 byte, sha256 {}):\n1|x", digest());
    check_call(
        "fs.apply_patch",
        json!({"patches": [{}, {"ifMatchSha256": digest()}]}),
        patch.clone(),
        &text,
    );
    check_text("fs.apply_patch", patch, "Changed @project/a (1 byte):\n1|x");
}

#[test]
fn a_folder_is_one_name_a_line() {
    check_text(
        "fs.list",
        json!({"ok": true, "path": "@project", "entries": ["a/", "b.md"]}),
        "@project\na/\nb.md",
    );
    check_text(
        "fs.list",
        json!({"ok": true, "path": "@project/x", "entries": []}),
        "@project/x is empty.",
    );
    let many = json!({"ok": true, "path": "@project", "entriesPreview": ["a"], "truncated": true, "hint": "There are more."});
    check_text("fs.list", many, "@project\na\nThere are more.");
}

fn hit(path: &str, line: u64, text: &str, before: &[&str], after: &[&str]) -> Json {
    json!({"path": path, "line": line, "column": 1, "text": text, "before": before, "after": after})
}

fn found(matches: &[Json]) -> Json {
    json!({"ok": true, "matches": matches, "truncated": false, "stats": {"filesScanned": 12, "matchesFound": matches.len()}})
}

#[test]
fn hits_are_shown_as_grep_does() {
    check_text("fs.search", found(&[]), "No hits in 12 files.");
    check_text(
        "fs.search",
        found(&[hit("@project/a", 8, "hit", &["up"], &["down"])]),
        "1 hit\n@project/a\n7-up\n8:hit\n9-down",
    );
    // Windows that touch or overlap are one.
    let near = [
        hit("@project/a", 2, "x", &["l1"], &["l3"]),
        hit("@project/a", 5, "y", &["l4"], &["z"]),
        hit("@project/a", 6, "z", &["y"], &["l7"]),
        hit("@project/a", 20, "w", &[], &[]),
        hit("@project/b", 1, "v", &[], &["l2"]),
    ];
    check_text(
        "fs_search",
        found(&near),
        "5 hits\n@project/a\n1-l1\n2:x\n3-l3\n4-l4\n5:y\n6:z\n7-l7\n--\n20:w\n@project/b\n1:v\n2-l2",
    );
    let mut many = found(&[hit("@project/a", 1, "x", &[], &[])]);
    many["truncated"] = true.into();
    many["hint"] = "There are more matches.".into();
    check_text("fs.search", many, "1 hit\n@project/a\n1:x\nThere are more matches.");
}

#[test]
fn a_write_says_what_it_replaced() {
    let write = |fields: Json| {
        let mut answer = json!({"ok": true, "path": "@project/x.md", "sha256After": digest()});
        answer.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
        answer
    };
    let new = json!({"bytesWritten": 146, "bytes": 146, "lines": 4, "new": true});
    check_text("fs.write", write(new), "Wrote @project/x.md (146 bytes, 4 lines, new).");
    let over = json!({"bytesWritten": 1146, "bytes": 1146, "lines": 4, "replacedBytes": 128});
    check_text(
        "fs.write",
        write(over),
        "Wrote @project/x.md (1,146 bytes, 4 lines, replaced 128 bytes).",
    );
    let holes = json!({"bytesWritten": 9, "bytes": 9, "lines": 1, "new": true, "holes": ["{{epicNum}}", "{{x}}"]});
    check_text(
        "fs.write",
        write(holes),
        "Wrote @project/x.md (9 bytes, 1 line, new). Left in it: {{epicNum}}, {{x}}.",
    );
    let append = json!({"bytesWritten": 20, "bytes": 148, "lines": 6});
    check_text(
        "fs.write",
        write(append),
        "Appended 20 bytes to @project/x.md (now 148 bytes, 6 lines).",
    );
    let same = json!({"bytesWritten": 20, "bytes": 20, "lines": 6, "unchanged": true});
    check_text("fs.write", write(same), "Unchanged: the file has exactly this content.");
    // Answers of an earlier version have less to tell.
    check_text("fs.write", write(json!({"bytesWritten": 20})), "Wrote @project/x.md (20 bytes).");
}

#[test]
fn a_patch_shows_the_changed_lines() {
    let parts = json!([{"startLine": 3, "lines": ["a", "b"]}, {"startLine": 9, "lines": ["c"]}]);
    let patch = json!({"ok": true, "path": "@project/x.yaml", "sha256Before": digest(), "sha256After": digest(), "bytes": 134, "changed": parts});
    check_text(
        "fs.apply_patch",
        patch.clone(),
        "Changed @project/x.yaml (134 bytes):\n3|a\n4|b\n--\n9|c",
    );
    let mut long = patch.clone();
    long["moreLines"] = 1200.into();
    check_text(
        "fs.apply_patch",
        long,
        "Changed @project/x.yaml (134 bytes):\n3|a\n4|b\n--\n9|c\n… and 1,200 lines more.",
    );
    let empty = json!({"ok": true, "path": "@project/x", "bytes": 0});
    check_text("fs.apply_patch", empty, "Changed @project/x (0 bytes).");
    let old = json!({"ok": true, "path": "@project/x", "sha256Before": digest(), "sha256After": digest()});
    check_text("fs.apply_patch", old, "Changed @project/x.");
    let several = json!({"ok": true, "files": [
        {"path": "@project/n", "sha256After": digest(), "bytes": 2, "lines": 1, "new": true},
        {"path": "@project/x", "bytes": 4, "changed": [{"startLine": 1, "lines": ["a"]}]},
        {"path": "@project/to", "bytes": 4, "movedFrom": "@project/from"},
        {"path": "@project/from", "deleted": true},
        {"path": "@project/gone", "deleted": true},
    ]});
    check_text(
        "fs.apply_patch",
        several,
        "Wrote @project/n (2 bytes, 1 line, new).\nChanged @project/x (4 bytes):\n1|a\nMoved @project/from to @project/to.\nDeleted @project/gone.",
    );
}

#[test]
fn a_move_names_both_paths() {
    let moved = json!({"ok": true, "files": [
        {"path": "@project/b", "movedFrom": "@project/a", "bytes": 4},
        {"path": "@project/a", "deleted": true},
    ]});
    check_text("fs.move", moved, "Moved @project/a to @project/b.");
    let changed = json!({"ok": true, "files": [
        {"path": "@project/b", "movedFrom": "@project/a", "bytes": 4, "changed": [{"startLine": 2, "lines": ["x"]}]},
        {"path": "@project/a", "deleted": true},
    ]});
    check_text("fs.apply_patch", changed, "Moved @project/a to @project/b, and changed:\n2|x");
    check_text(
        "fs.delete",
        json!({"ok": true, "path": "@project/a", "deleted": true}),
        "Deleted @project/a.",
    );
}

#[test]
fn an_answer_of_the_user_is_verbatim() {
    let answer = |value: Json| json!({"ok": true, "answer": value});
    check_text(
        "ui.ask_user",
        answer(json!("two\nlines \"x\"")),
        "The user answered:\ntwo\nlines \"x\"",
    );
    check_text("ui.ask_user", answer(json!(true)), "The user said yes.");
    check_text("ui.ask_user", answer(json!(false)), "The user said no.");
    check_text("ui.ask_user", answer(json!(["a", "b"])), "The user chose: a, b.");
    check_text(
        "ui.ask_user",
        answer(json!({"name": "x", "n": 2})),
        "The user answered:\n{\"name\":\"x\",\"n\":2}",
    );
    let options = json!({"question": "?", "options": ["greenfield", "brownfield"]});
    check_call("ui.ask_user", options, answer(json!("greenfield")), "The user chose: greenfield.");
    let kind = json!({"question": "?", "kind": "choice", "options": [{"value": "a"}]});
    check_call("ui_ask_user", kind, answer(json!("a")), "The user chose: a.");
    let text = json!({"question": "?", "kind": "text", "options": []});
    check_call("ui.ask_user", text, answer(json!("a")), "The user answered:\na");
    let own = json!({"ok": true, "answer": null, "words": "neither, rather c", "note": "The user answers in their own words instead."});
    check_text("ui.ask_user", own, "The user answered in their own words:\nneither, rather c");
}

#[test]
fn a_change_of_the_state_says_where_the_run_is() {
    let state = |state: Json| json!({"ok": true, "path": "@state/workflow.md", "sha256After": digest(), "state": state});
    let at = json!({"currentNodeId": "step-02", "stepsCompleted": [], "allowedNext": [], "complete": false, "recorded": []});
    check_text("fs.apply_patch", state(at.clone()), "Done. Now at step-02.");
    check_text("runtime.update_state", state(at.clone()), "Done. Now at step-02.");
    let mut warned = at.clone();
    warned["warnings"] = json!(["The output is missing."]);
    warned["calls"] = "review".into();
    check_text(
        "fs.write",
        state(warned),
        "Done. Now at step-02. It calls review, which begins now. The output is missing.",
    );
    let complete = json!({"currentNodeId": "step-09", "complete": true});
    check_text("runtime_complete_node", state(complete), "Done. The workflow is complete.");
    let moved = json!({"ok": true, "moved": {"from": "a", "to": "b", "label": "next"}, "complete": false,
        "files": [{"path": "artifacts/x.md", "bytes": 146}, {"path": "artifacts/y.md", "bytes": 1}], "state": {"currentNodeId": "b"}});
    check_text(
        "complete_node",
        moved,
        "Done. Wrote artifacts/x.md (146 bytes), artifacts/y.md (1 byte). Now at b.",
    );
    let stays = json!({"ok": true, "moved": null, "complete": false, "files": [], "state": {"currentNodeId": "a"}});
    check_text("runtime.complete_node", stays, "Done. Still at a.");
}

#[test]
fn a_refusal_is_its_message_and_code() {
    let refusal = Refusal::new(RefusalCode::Transition, "There is no edge from `a` to `c`.")
        .hint("Choose one of allowedNext.")
        .detail("allowedNext", json!(["b"]));
    let text = "Refused: There is no edge from `a` to `c`. Choose one of allowedNext. (E_INVALID_TRANSITION)";
    for tool in ["fs.apply_patch", "no such tool", "mcp.git.log", "mcp__git__log"] {
        check_text(tool, refusal.to_json(), text);
    }
    let skipped = json!({"ok": false, "error": {"code": "E_NOT_EXECUTED", "message": "Not executed: the workflow is complete."}});
    check_text("fs.write", skipped, "Not executed: the workflow is complete.");
    // These may have changed something, so that they are no refusals.
    assert_eq!(
        render("fs.write", "{}", &prompt::interrupted()),
        "Failed: The run was interrupted before this call was answered, so it is not known whether it took effect. Look at the current state of the files before you repeat it. (E_UNKNOWN_OUTCOME)"
    );
    let failed = Refusal::new(RefusalCode::ToolFailed, "`mcp.git.log` failed: no repository");
    check_text(
        "mcp.git.log",
        failed.to_json(),
        "Failed: `mcp.git.log` failed: no repository (E_TOOL_FAILED)",
    );
}

#[test]
fn a_patch_that_fits_nowhere_shows_the_nearest_lines_once() {
    let text = "# Plan\n\nThe \"budget\" is \\d+ euro.\nThe team has five people.\n";
    let edit = crate::tool::text_patch::Replacement {
        old: "The \"budget\" is \\d+ EUR.\n".to_owned(),
        new: "x\n".to_owned(),
        all: false,
    };
    let patch = crate::tool::text_patch::TextPatch::Replace(vec![edit]);
    let refusal = crate::tool::text_patch::apply(text, &patch).unwrap_err();
    check_text(
        "fs.apply_patch",
        refusal.to_json(),
        "Refused: `old` matches nowhere in the file. The nearest place is line 3, which differs. Nothing was changed. \
         Copy the lines exactly as they stand in the file. (E_PRECONDITION_FAILED)\nThe nearest lines:\n1|# Plan\n2|\n\
         3|The \"budget\" is \\d+ euro.\n4|The team has five people.",
    );
}

#[test]
fn a_note_is_the_whole_answer() {
    let note = json!({"ok": true, "path": "@project/a", "note": "Same answer as above."});
    check_text("fs.list", note, "Same answer as above.");
}

#[test]
fn a_shortened_answer_keeps_its_form() {
    let note = "… cut by the runtime: the answer does not fit the context.";
    let whole = json!({"ok": true, "path": "@project/a", "bytes": 4000, "sha256": digest(), "truncated": false, "totalLines": 200, "content": "one\ntwo\nthree\n"}).to_string();
    let end = whole.find("hree").unwrap();
    let cut = json!({"truncated": true, "bytes": 4000, "head": &whole[..end], "note": note});
    check_text("fs.read", cut, &format!("@project/a, lines 1-3 of 200\n1|one\n2|two\n3|t\n{note}"));
    check_text("fs.read", json!({"truncated": true, "bytes": 4000, "note": note}), note);
    let matches =
        found(&[hit("@project/a", 1, "x", &[], &[]), hit("@project/a", 2, "y", &[], &[])])
            .to_string();
    let end = matches.rfind("\"text\"").unwrap();
    let cut = json!({"truncated": true, "bytes": 4000, "head": &matches[..end], "note": note});
    check_text("fs.search", cut, &format!("1 hit\n@project/a\n1:x\n{note}"));
    let refusal = r#"{"ok":false,"error":{"code":"ENOENT","message":"There is no"#;
    let cut = json!({"truncated": true, "bytes": 4000, "head": refusal, "note": note});
    check_text("fs.read", cut, &format!("Refused: There is no (ENOENT)\n{note}"));
    // A head without a known form stands as it is.
    let cut = json!({"truncated": true, "bytes": 9, "head": "{\"ok\":true,\"con", "note": note});
    check_text("mcp.a.b", cut, &format!("{{\"ok\":true,\"con\n{note}"));
}

#[test]
fn answers_without_a_known_form_are_sent_as_they_are() {
    check_same("mcp.git.log", r#"{"ok":true,"content":"a\nb"}"#);
    check_same("mcp__git__log", r#"{"ok":true,"note":"x"}"#);
    check_same("no.such.tool", r#"{"ok":true,"path":"@project/a"}"#);
    for result in
        ["", "plain", "null", "[]", "{}", r#"{"ok":1}"#, r#"{"ok":true}"#, r#"{"ok":false}"#]
    {
        for tool in [
            "fs.read",
            "fs.list",
            "fs.search",
            "fs.write",
            "fs.move",
            "ui.ask_user",
            "complete_node",
            "",
        ] {
            check_same(tool, result);
        }
    }
    check_same("fs.read", r#"{"ok":true,"path":"@project/a","bytes":"many","content":"x"}"#);
}

/// Checks the size of an answer as a JSON string: that of the journal's text without its new fields, and that of the
/// rendered text with them.
#[track_caller]
fn check_size(tool: &str, mut result: Json, new: Json, before: usize, most: usize) {
    let size = |text: &str| Json::from(text).to_string().len();
    assert_eq!(size(&result.to_string()), before, "{result}");
    result.as_object_mut().unwrap().extend(new.as_object().unwrap().clone());
    let result = result.to_string();
    let text = render(tool, "{}", &result);
    assert!(size(&text) <= most, "{} > {most}: {text}", size(&text));
}

const STATUS: &str = "development_status:
  epic-1: in-progress
  1-1-project-setup: done
  1-2-user-authentication: backlog
  1-3-note-crud: backlog
";

#[test]
fn rendered_answers_are_as_small_as_they_were_measured() {
    let read = |path: &str, content: &str| json!({"ok": true, "path": path, "bytes": content.len(), "sha256": digest(), "truncated": false, "content": content});
    let status = read("@project/artifacts/sprint-status.yaml", STATUS);
    check_size("fs.read", status, json!({"totalLines": 5}), 335, 204);
    let epics = "As a user I keep notes that I find again.\n".repeat(17);
    let epics = epics.get(4..).unwrap();
    assert_eq!(epics.len(), 710);
    let epics = read("@project/artifacts/epics.md", epics);
    check_size("fs.read", epics, json!({"totalLines": 17}), 931, 816);
    let titles = ["Project setup", "User authentication", "Note create, read, update, delete"];
    let hits: Vec<Json> = (0..3)
        .map(|at| {
            let text = format!("### Story 1.{}: {}", at + 1, titles[at]);
            let after = "As a user I want this, so that all my notes stay with me and me alone.";
            hit("@project/artifacts/epics.md", 8 + 3 * at as u64, &text, &[""], &[after])
        })
        .collect();
    check_size("fs.search", found(&hits), json!({}), 770, 402);
    let after = STATUS.replacen("backlog", "ready-for-dev", 1);
    let (changed, _) = crate::tool::text_patch::changed_lines(STATUS, &after);
    let patch = json!({"ok": true, "path": "@project/artifacts/sprint-status.yaml", "sha256Before": digest(), "sha256After": digest()});
    check_size("fs.apply_patch", patch, json!({"bytes": 134, "changed": changed}), 237, 161);
}

#[test]
fn a_refusal_names_tools_as_they_are_offered() {
    let refused = |message: &str| {
        let result =
            json!({ "ok": false, "error": { "code": "E_INVALID_ARGS", "message": message } });
        render("fs.read", "{}", &result.to_string()).into_owned()
    };
    assert_eq!(
        refused("Use fs.read, `runtime.complete_node` or fs.write."),
        "Refused: Use fs_read, `complete_node` or fs_write. (E_INVALID_ARGS)"
    );
    assert_eq!(
        refused("There is no `docs/fs.read.md`."),
        "Refused: There is no `docs/fs.read.md`. (E_INVALID_ARGS)"
    );
}
