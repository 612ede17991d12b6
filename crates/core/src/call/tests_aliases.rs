//! Names and keys of other tools that are understood, and those that are not.

use serde_json::{Value as Json, json};

use super::*;
use crate::question::form::Form;
use crate::question::{QuestionKind, QuestionOption};

fn parse(name: &str, arguments: &str) -> Result<Call, Refusal> {
    Call::parse(name, arguments, &Policy::default())
}

/// Checks that two calls mean the same.
#[track_caller]
fn check_same(name: &str, written: Json, meant: Json) {
    let (written, meant) =
        (parse(name, &written.to_string()), parse(name, &meant.to_string()).unwrap());
    assert_eq!(written.as_ref(), Ok(&meant));
}

#[track_caller]
fn check_invalid(name: &str, arguments: Json, says: &[&str]) {
    let refusal = parse(name, &arguments.to_string()).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::InvalidArguments, "{refusal:?}");
    for part in says {
        assert!(refusal.message.contains(part), "{} lacks {part}", refusal.message);
    }
}

#[test]
fn a_tool_is_known_by_the_names_that_other_programs_use() {
    let resolve = |name: &str| Tool::resolve(name, |_| false);
    for (names, tool) in [
        (&["fs.read", "fs_read", "read_file", "functions.fs_read", " read_file "][..], Tool::Read),
        (&["write_file", "create_file", "functions.write_file"], Tool::Write),
        (&["list_dir", "ls"], Tool::List),
        (&["grep", "search_files"], Tool::Search),
        (&["edit_file", "str_replace"], Tool::Patch),
        (&["ask_user", "functions.ui.ask_user"], Tool::AskUser),
        (&["finish_node", "next_step", "complete_node", "complete_step"], Tool::CompleteNode),
        (&["runtime_complete_node", "runtime.complete_node"], Tool::CompleteNode),
    ] {
        for name in names {
            assert_eq!(resolve(name), Some(tool), "{name}");
        }
    }
    for name in ["", "run_shell", "Read_File", "functions.", "functions", "read", "mcp.s.read_file"]
    {
        assert_eq!(resolve(name), None, "{name}");
    }
}

#[test]
fn a_name_that_a_server_tool_has_is_nobody_elses() {
    assert_eq!(Tool::resolve("read_file", |name| name == "read_file"), None);
    assert_eq!(Tool::resolve("functions.read_file", |name| name == "read_file"), None);
    assert_eq!(Tool::resolve("fs_read", |_| true), Some(Tool::Read));
    let refusal = parse("read_file", "{}").unwrap_err();
    assert_eq!(refusal.code, RefusalCode::ToolNotAvailable);
    assert!(refusal.hint.unwrap().starts_with("Did you mean `fs.read`?"));
}

#[test]
fn keys_of_other_tools_are_understood() {
    let read = json!({"path": "a.md", "startLine": 2, "endLine": 3});
    for key in ["file", "filename", "file_path", "filepath", "dir", "folder", "filePath", "Path"] {
        check_same("fs.read", json!({key: "a.md", "start_line": 2, "end_line": "3"}), read.clone());
    }
    let write = json!({"path": "a.md", "content": "x"});
    for key in ["text", "contents", "body"] {
        check_same("fs.write", json!({"path": "a.md", key: "x"}), write.clone());
        check_same("fs.write", json!({"path": "a.md", "content": null, key: "x"}), write.clone());
        check_same("fs.write", json!({"path": "a.md", "content": "x", key: null}), write.clone());
        check_same("fs.write", json!({"path": "a.md", "content": "x", key: "x"}), write.clone());
    }
    check_same(
        "fs.search",
        json!({"pattern": "x", "folder": "src", "case_sensitive": true, "max_matches": 3}),
        json!({"query": "x", "path": "src", "caseSensitive": true, "maxMatches": 3}),
    );
    for key in ["prompt", "message"] {
        check_same(
            "ui.ask_user",
            json!({key: "Which?", "choices": ["a", "b"]}),
            json!({"question": "Which?", "options": ["a", "b"]}),
        );
    }
}

#[test]
fn a_key_and_its_alias_must_agree() {
    check_invalid(
        "fs.write",
        json!({"path": "a", "file_path": "b", "content": "x", "text": "y"}),
        &[
            "`path` and `file_path` are the same parameter; give one",
            "`content` and `text` are the same parameter; give one",
        ],
    );
    check_invalid("fs.read", json!({"file": "a", "dir": "b"}), &["`path` and `dir` are the same"]);
    check_invalid("fs.read", json!({"file": 7}), &["`path` must be a string"]);
}

#[test]
fn keys_that_count_otherwise_are_not_understood() {
    check_invalid(
        "fs.read",
        json!({"path": "a", "offset": 1, "limit": 2}),
        &[
            "unknown key \"offset\" (did you mean `startLine`?)",
            "unknown key \"limit\" (did you mean `endLine`?)",
        ],
    );
    check_invalid("fs.read", json!({"path": "a", "text": "b"}), &["unknown key \"text\""]);
}

#[test]
fn the_operation_of_a_patch_follows_from_what_is_given() {
    let edits = json!([{"old": "a", "new": "b"}]);
    let replace = json!({"path": "x.md", "operation": "replace", "edits": edits});
    check_same("fs.apply_patch", json!({"path": "x.md", "edits": edits}), replace.clone());
    check_same(
        "fs.apply_patch",
        json!({"path": "x.md", "operation": "", "edits": edits, "update": {}, "diff": ""}),
        replace,
    );
    let update = json!({"currentNodeId": {"set": "b"}});
    check_same(
        "fs.apply_patch",
        json!({"path": "@state/workflow.md", "update": update}),
        json!({"path": "@state/workflow.md", "operation": "updateFrontmatter", "update": update}),
    );
    check_invalid("fs.apply_patch", json!({"path": "x.md"}), &["`edits` is missing"]);
    check_invalid("fs.apply_patch", json!({"path": "x.md", "edits": []}), &["`edits` is missing"]);
    check_invalid(
        "fs.apply_patch",
        json!({"path": "x.md", "edits": edits, "diff": "@@ -1 +1 @@\n-a\n+b\n"}),
        &["`edits`, `diff` are given together; give one"],
    );
}

#[test]
fn a_bare_replacement_is_an_edit() {
    let meant = json!({"path": "x.md", "edits": [{"old": "a", "new": "b"}]});
    for [old, new] in [["old_string", "new_string"], ["old_str", "new_str"], ["old", "new"]] {
        check_same("fs.apply_patch", json!({"path": "x.md", old: "a", new: "b"}), meant.clone());
        check_same(
            "fs.apply_patch",
            json!({"path": "x.md", "edits": [{old: "a", new: "b"}]}),
            meant.clone(),
        );
        let nested = json!({"file_path": "x.md", "patches": [{old: "a", new: "b"}]});
        check_same("fs.apply_patch", nested, meant.clone());
    }
    check_same(
        "fs.apply_patch",
        json!({"path": "x.md", "old": "a", "new": "b", "all": true}),
        json!({"path": "x.md", "edits": [{"old": "a", "new": "b", "all": true}]}),
    );
    let text = json!({"path": "x.md", "edits": "[{\"old_str\":\"a\",\"new_str\":\"b\"}]"});
    check_same("fs.apply_patch", text, meant);
    check_invalid(
        "fs.apply_patch",
        json!({"path": "x.md", "old_str": "a"}),
        &["`edits[0].new` is missing"],
    );
    check_invalid(
        "fs.apply_patch",
        json!({"path": "x.md", "old_str": "a", "new_str": "b", "edits": [{"old": "c", "new": "d"}]}),
        &["`edits` and `old`, `new` are both there; give one"],
    );
    check_invalid(
        "fs.apply_patch",
        json!({"path": "x.md", "old_str": "a", "old_string": "c", "new_str": "b"}),
        &["`old` and `old_string` are the same parameter"],
    );
}

#[test]
fn a_diff_may_stand_in_patch_or_input() {
    let diff = "--- a/x.md\n+++ b/x.md\n@@ -1 +1 @@\n-a\n+b\n";
    let meant = json!({"path": "x.md", "operation": "diff", "diff": diff});
    check_same("fs.apply_patch", json!({"path": "x.md", "patch": diff}), meant.clone());
    check_same("fs.apply_patch", json!({"path": "x.md", "input": diff}), meant.clone());
    check_same("fs.apply_patch", json!({"patches": [{"path": "x.md", "patch": diff}]}), meant);
    let edits = json!({"path": "x.md", "edits": [{"old": "a", "new": "b"}]});
    check_same("fs.apply_patch", json!({"input": edits.to_string()}), edits);
    check_invalid(
        "fs.apply_patch",
        json!({"path": "x.md", "diff": diff, "patch": format!("{diff} c\n")}),
        &["`diff` and `patch` are the same parameter"],
    );
}

fn ask(arguments: Json) -> Question {
    match parse("ui.ask_user", &arguments.to_string()) {
        Ok(Call::AskUser(question)) => question,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_yes_and_a_no_are_a_confirmation() {
    let confirm = Question::confirm("Sure?");
    for options in [
        json!(["yes", "no"]),
        json!(["No", "Yes"]),
        json!(["是", "否"]),
        json!([{"value": "yes", "label": "Yes"}, {"value": "no"}]),
    ] {
        assert_eq!(ask(json!({"question": "Sure?", "options": options})), confirm);
        let kind = json!({"question": "Sure?", "options": options, "kind": "confirm"});
        assert_eq!(ask(kind), confirm);
    }
    for options in [
        json!(["yes", "no", "later"]),
        json!(["yes"]),
        json!(["yes", "否"]),
        json!(["yes please", "no"]),
        json!([{"value": "yes", "label": "Ship it"}, {"value": "no"}]),
        json!([{"value": "yes", "description": "now"}, {"value": "no"}]),
    ] {
        let question = ask(json!({"question": "Sure?", "options": options}));
        assert_eq!(question.kind, QuestionKind::Choice, "{options}");
    }
    let several = ask(json!({"question": "Sure?", "options": ["yes", "no"], "multi": true}));
    assert_eq!((several.kind, several.options.len()), (QuestionKind::Choice, 2));
    // A choice that is asked for by name stays one.
    let choice = ask(json!({"question": "Sure?", "options": ["yes", "no"], "kind": "choice"}));
    let option = |value: &str| QuestionOption { value: value.into(), ..QuestionOption::default() };
    assert_eq!(choice.options, [option("yes"), option("no")]);
}

#[test]
fn fields_are_a_form_of_required_texts() {
    let schema = json!({
        "type": "object", "required": ["name", "Your goal"],
        "properties": {"name": {"type": "string"}, "Your goal": {"type": "string"}},
    });
    let form = ask(json!({"question": "Fill in", "fields": ["name", "Your goal"]}));
    assert_eq!(form.kind, QuestionKind::Form);
    assert_eq!(form.schema, Some(Form::read(&schema).unwrap()));
    assert!(form.answer(r#"{"name": "x"}"#).is_err());
    assert!(form.answer(r#"{"name": "x", "Your goal": "y"}"#).is_ok());
    let text =
        ask(json!({"question": "Fill in", "kind": "form", "fields": "[\"name\",\"Your goal\"]"}));
    assert_eq!(text, form);
    assert_eq!(ask(json!({"question": "Why?", "fields": []})).kind, QuestionKind::Text);
    check_invalid(
        "ui.ask_user",
        json!({"question": "x", "fields": ["a", "a", 3, ""]}),
        &["`fields[1]` \"a\" is there twice", "`fields[2]` must be a string", "field name \"\""],
    );
    check_invalid(
        "ui.ask_user",
        json!({"question": "x", "fields": ["a"], "schema": schema}),
        &["`fields` and `schema` are both there"],
    );
    check_invalid(
        "ui.ask_user",
        json!({"question": "x", "fields": ["a"], "options": ["b", "c"]}),
        &["`schema` and `fields` belong to a question of kind `form`"],
    );
    let many: Vec<String> = (0..51).map(|index| index.to_string()).collect();
    check_invalid("ui.ask_user", json!({"question": "x", "fields": many}), &["more than 50"]);
}
