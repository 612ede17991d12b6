//! Tests of reading calls: every parameter, every synonym, every mistake.

use serde_json::{Value as Json, json};

use super::*;
use crate::policy::rules::{self, RuleSet};
use crate::policy::{FsPolicy, StateTool};
use crate::question::{QuestionKind, QuestionOption};
use crate::tool::canonical;

fn parse(name: &str, arguments: &str) -> Result<Call, Refusal> {
    Call::parse(name, arguments, &Policy::default())
}

fn call(name: &str, arguments: Json) -> Call {
    parse(name, &arguments.to_string()).unwrap()
}

/// Checks the code and the message of a refusal, and returns it.
#[track_caller]
fn check_refused(name: &str, arguments: &str, code: RefusalCode, says: &[&str]) -> Refusal {
    let refusal = parse(name, arguments).unwrap_err();
    assert_eq!(refusal.code, code, "{refusal:?}");
    let told = format!("{} {}", refusal.message, refusal.hint.clone().unwrap_or_default());
    for part in says {
        assert!(told.contains(part), "{told} lacks {part}");
    }
    refusal
}

#[track_caller]
fn check_invalid(name: &str, arguments: Json, says: &[&str]) {
    let refusal = check_refused(name, &arguments.to_string(), RefusalCode::InvalidArguments, says);
    let example = Tool::named(name).unwrap().example();
    assert!(refusal.hint.unwrap().contains(example), "there is no example");
}

fn vpath(text: &str) -> VPath {
    VPath::parse(text).unwrap()
}

fn writable(text: &str) -> WritablePath {
    WritablePath::new(vpath(text)).unwrap()
}

#[test]
fn both_spellings_of_a_name_are_understood() {
    for tool in Tool::ALL {
        assert_eq!(canonical(tool.name()), Some(tool.name()));
        assert_eq!(canonical(tool.wire_name()), Some(tool.name()));
        assert_eq!(canonical(&tool.name().replace('.', "_")), Some(tool.name()));
    }
    assert_eq!(canonical("fs_remove"), None);
}

#[test]
fn an_unknown_tool_is_answered_with_those_there_are() {
    let code = RefusalCode::ToolNotAvailable;
    let refusal = check_refused("fs.reed", "{}", code, &["\"fs.reed\"", "Did you mean `fs.read`?"]);
    assert_eq!(refusal.details["available"].as_array().unwrap().len(), 6);
    check_refused("fs_writ", "not json", code, &["Did you mean `fs.write`?", "`fs.apply_patch`"]);
    check_refused("shell", "{}", code, &["There is no tool \"shell\".", "Available: `fs.read`, "]);
    check_refused("mcp.git.log", "{}", code, &["Available"]);
    check_refused("runtime.complete_node", "{}", code, &["Available"]);
    check_refused(&"x".repeat(10_000), "{}", code, &["Available"]);
}

#[test]
fn the_policy_switches_file_tools_off() {
    let off =
        Policy { fs: FsPolicy { enabled: false, ..FsPolicy::default() }, ..Policy::default() };
    for tool in Tool::ALL.into_iter().filter(|tool| *tool != Tool::AskUser) {
        let refusal = Call::parse(tool.wire_name(), tool.example(), &off).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::ToolNotAvailable);
        assert!(refusal.message.contains("switched off"), "{}", refusal.message);
        assert_eq!(refusal.details["available"], json!(["ui.ask_user"]));
    }
    assert!(Call::parse("ui.ask_user", r#"{"question":"x"}"#, &off).is_ok());
}

#[test]
fn every_example_is_a_call() {
    for tool in Tool::ALL {
        for example in tool.example().split(" or ") {
            let strict = Policy { strict: true, tells_gates: true, ..Policy::default() };
            assert_eq!(Call::parse(tool.name(), example, &strict).unwrap().tool(), tool);
        }
    }
}

#[test]
fn the_state_has_tools_of_its_own_in_strict_mode() {
    let strict = Policy { strict: true, ..Policy::default() };
    let parse = |name: &str, arguments: &str| Call::parse(name, arguments, &strict);
    let Ok(Call::State(call)) = parse(
        "runtime_complete_node",
        r#"{"nodeId":" a ","next":"b","variables":{"x":1},"decision":{"label":"l","reason":"r"},"artifacts":["artifacts/a.md"]}"#,
    ) else {
        panic!()
    };
    let completion = call.completion.unwrap();
    assert_eq!((completion.node.as_deref(), completion.next.as_deref()), (Some("a"), Some("b")));
    assert_eq!(completion.reason.as_deref(), Some("r"));
    assert_eq!(call.update.variables["x"], json!(1));
    assert_eq!(call.update.artifacts.len(), 1);
    for (name, arguments, says) in [
        ("runtime.complete_node", r#"{"files":"x"}"#, "`files` must be a list"),
        (
            "runtime.complete_node",
            r#"{"files":[{"path":"a.md"}]}"#,
            "`files[0].content` is missing",
        ),
        (
            "runtime.complete_node",
            r#"{"files":[{"path":"@state/workflow.md","content":"x"}]}"#,
            "changes the state itself",
        ),
        (
            "runtime.complete_node",
            r#"{"files":[{"path":"a.md","content":"<text>"}]}"#,
            "is a placeholder",
        ),
        ("runtime.complete_node", r#"{"nodeId":"a","decision":{"reason":"r"}}"#, "label"),
        ("runtime.complete_node", r#"{"nodeId":"a","artifacts":["../x"]}"#, "artifacts.append"),
        ("runtime.complete_node", r#"{"nodeId":"a","stepsCompleted":["a"]}"#, "stepsCompleted"),
        ("runtime.update_state", "{}", "neither"),
        ("runtime.update_state", r#"{"variables":[1]}"#, "variables.set"),
    ] {
        let refusal = parse(name, arguments).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::InvalidArguments, "{arguments}");
        assert!(refusal.message.contains(says), "{arguments}: {}", refusal.message);
    }
}

#[test]
fn a_node_is_completed_with_its_files() {
    let strict = Policy { strict: true, ..Policy::default() };
    let written = |arguments: &str| match Call::parse("runtime.complete_node", arguments, &strict) {
        Ok(Call::State(call)) => {
            let file = |file: &WriteCall| (file.path.to_string(), file.content.clone());
            call.files.iter().map(file).collect::<Vec<_>>()
        }
        other => panic!("{other:?}"),
    };
    let expected: Vec<(String, String)> = vec![
        ("@project/a.md".to_owned(), "<b>A</b>\n<i>text</i>".to_owned()),
        ("@project/b.md".to_owned(), String::new()),
    ];
    for files in [
        r#"[{"path":"a.md","content":"<b>A</b>\n<i>text</i>"},{"file_path":"b.md","text":""}]"#,
        r#"{"a.md":"<b>A</b>\n<i>text</i>","b.md":""}"#,
    ] {
        assert_eq!(written(&format!(r#"{{"files":{files}}}"#)), expected, "{files}");
    }
    assert!(written("{}").is_empty());
    let many = vec![json!({"path": "a.md", "content": "x"}); 17];
    let refusal = Call::parse("complete_node", &json!({ "files": many }).to_string(), &strict);
    assert!(refusal.is_err(), "an alias is resolved where the reply is recorded");
    let refusal =
        Call::parse("runtime.complete_node", &json!({ "files": many }).to_string(), &strict);
    assert!(refusal.unwrap_err().message.contains("at most 16"));
}

#[test]
fn files_of_a_completion_need_what_a_write_needs() {
    let denied = |rule: &str| {
        let deny = vec![rule.parse().unwrap()];
        let set = RuleSet { deny, ..RuleSet::none(rules::Source::Settings) };
        Policy { rules: vec![set], strict: true, ..Policy::default() }
    };
    let parse = |policy: &Policy, path: &str| {
        let arguments = json!({ "files": [{ "path": path, "content": "x" }] }).to_string();
        Call::parse("runtime.complete_node", &arguments, policy).map_err(|refusal| refusal.code)
    };
    let secret = denied("fs.write(@project/secret)");
    assert_eq!(parse(&secret, "secret/a.md"), Err(RefusalCode::ToolNotAvailable));
    assert!(parse(&secret, "artifacts/a.md").is_ok());
    assert_eq!(parse(&denied("fs.write"), "artifacts/a.md"), Err(RefusalCode::ToolNotAvailable));
    let mut off = Policy { strict: true, ..Policy::default() };
    off.fs.enabled = false;
    assert_eq!(parse(&off, "artifacts/a.md"), Err(RefusalCode::ToolNotAvailable));
}

#[test]
fn a_read_has_a_path_and_perhaps_a_window() {
    let read = |start, end| Call::Read(ReadCall { path: vpath("@project/a.md"), start, end });
    assert_eq!(call("fs.read", json!({"path": "a.md"})), read(None, None));
    let window = json!({"path": "@project/a.md", "startLine": 2, "endLine": 9});
    assert_eq!(call("fs_read", window), read(Some(2), Some(9)));
    for (start, end) in [(json!("2"), json!(9.0)), (json!(2.0), json!(" 9 "))] {
        let window = json!({"path": "a.md", "startLine": start, "endLine": end});
        assert_eq!(call("fs.read", window), read(Some(2), Some(9)));
    }
    let absent = json!({"path": "a.md", "startLine": null, "endLine": ""});
    assert_eq!(call("fs.read", absent), read(None, None));
    let digest = json!({"path": "a.md", "sha256": true});
    assert_eq!(call("fs.read", digest), read(None, None));
}

#[test]
fn a_list_has_a_path_and_perhaps_a_depth() {
    let list = |depth| Call::List(ListCall { path: vpath("@project"), depth });
    assert_eq!(call("fs.list", json!({"path": "@project"})), list(None));
    assert_eq!(call("fs.list", json!({"path": ".", "depth": 3})), list(Some(3)));
}

#[test]
fn a_search_has_a_query_and_defaults() {
    let plain = SearchCall {
        query: "x".into(),
        path: vpath("@project"),
        globs: vec![],
        regex: false,
        case_sensitive: false,
        before: None,
        after: None,
        max_matches: None,
    };
    assert_eq!(call("fs.search", json!({"query": "x"})), Call::Search(plain.clone()));
    assert_eq!(call("fs.search", json!({"pattern": "x"})), Call::Search(plain.clone()));
    let same = json!({"query": "x", "pattern": "x", "globs": "", "regex": "false"});
    assert_eq!(call("fs.search", same), Call::Search(plain.clone()));
    let full = json!({
        "query": "x", "path": "@pkg", "globs": ["*.md", "!a/**"], "regex": true, "caseSensitive": "true",
        "before": 0, "after": 3, "maxMatches": 7
    });
    let expected = SearchCall {
        path: vpath("@pkg"),
        globs: vec!["*.md".into(), "!a/**".into()],
        regex: true,
        case_sensitive: true,
        before: Some(0),
        after: Some(3),
        max_matches: Some(7),
        ..plain.clone()
    };
    assert_eq!(call("fs.search", full), Call::Search(expected));
    for globs in [json!("*.md"), json!("[\"*.md\"]"), json!(["*.md"])] {
        let expected = SearchCall { globs: vec!["*.md".into()], ..plain.clone() };
        assert_eq!(
            call("fs.search", json!({"query": "x", "globs": globs})),
            Call::Search(expected)
        );
    }
    check_invalid("fs.search", json!({"query": "x", "pattern": "y"}), &["the same parameter"]);
    check_invalid("fs.search", json!({"query": ""}), &["`query` is empty"]);
    check_invalid("fs.search", json!({"query": "x", "globs": [1]}), &["must hold strings"]);
}

#[test]
fn a_write_has_a_text_and_a_mode() {
    let write = |mode, if_match| {
        let path = writable("@project/a.md");
        Call::Write(WriteCall { path, content: "x".into(), mode, if_match, copies: Vec::new() })
    };
    let plain = json!({"path": "a.md", "content": "x"});
    assert_eq!(call("fs.write", plain), write(WriteMode::Overwrite, None));
    for (word, mode) in [
        ("overwrite", WriteMode::Overwrite),
        ("append", WriteMode::Append),
        ("create", WriteMode::Create),
    ] {
        let arguments = json!({"path": "a.md", "content": "x", "mode": word, "ifMatchSha256": ""});
        assert_eq!(call("fs.write", arguments), write(mode, None));
    }
    let digest = Digest::of(b"old");
    let guarded = json!({"path": "a.md", "content": "x", "ifMatchSha256": digest.to_string()});
    assert_eq!(call("fs.write", guarded), write(WriteMode::Overwrite, Some(digest)));
    check_invalid(
        "fs.write",
        json!({"path": "a", "content": {"a": 1}, "mode": "appendd", "ifMatchSha256": "abc"}),
        &[
            "`content` must be a string, but it is an object",
            "did you mean `append`?",
            "64 hexadecimal digits",
        ],
    );
    let both =
        json!({"path": "a", "content": "", "mode": "create", "ifMatchSha256": digest.to_string()});
    check_invalid("fs.write", both, &["cannot hold"]);
    assert!(call("fs.write", json!({"path": "a", "content": ""})).is_write());
}

#[test]
fn all_mistakes_are_told_at_once() {
    check_invalid(
        "fs.read",
        json!({"source": "a.md", "start_line": 1, "endLine": [2], "startLine": -1}),
        &[
            "unknown key \"source\" (did you mean `path`?)",
            "`startLine` and `start_line` are the same parameter; give one",
            "`path` is missing",
            "`endLine` must be a whole number from 0, but it is a list",
            "`startLine` must be a whole number from 0, but it is -1",
            "Parameters: `path`, `startLine`, `endLine`.",
        ],
    );
    check_invalid("fs.list", json!({"path": 7, "depth": 1.5}), &["`path` must be a string", "1.5"]);
    check_invalid("fs.list", json!({"path": ".", "depth": "deep"}), &["but it is \"deep\""]);
    let many: serde_json::Map<String, Json> =
        (0..100).map(|index| (format!("zz{index}"), json!(1))).collect();
    let refusal = parse("fs.read", &Json::Object(many).to_string()).unwrap_err();
    assert!(refusal.message.contains("and 81 more mistakes"), "{}", refusal.message);
    assert!(refusal.message.len() < 2_000);
}

#[test]
fn a_path_that_leads_out_is_a_sandbox_violation_whatever_else_is_wrong() {
    for path in ["../x", "/etc/passwd", "@other/x", "", "C:\\x"] {
        for tool in [Tool::Read, Tool::List, Tool::Write, Tool::Patch] {
            let arguments = json!({
                "path": path, "content": "x", "operation": "replace", "edits": [{"old": "a", "new": "b"}]
            });
            let mut arguments = arguments.as_object().unwrap().clone();
            arguments.retain(|key, _| tool.parameters().contains(&key.as_str()));
            let arguments = Json::Object(arguments).to_string();
            check_refused(tool.name(), &arguments, RefusalCode::Sandbox, &["@project"]);
        }
        let arguments = json!({"query": "x", "path": path}).to_string();
        check_refused("fs.search", &arguments, RefusalCode::Sandbox, &["@project"]);
    }
    let arguments = r#"{"path":"../x","mode":"all","content":1}"#;
    let says = ["climbs up", "`mode` must be one of", "`content` must be a string"];
    check_refused("fs.write", arguments, RefusalCode::Sandbox, &says);
    for path in ["@pkg/a.md", "@state/logs/execution.jsonl", "@project", "@state/run.json"] {
        let arguments = json!({"path": path, "content": "x"}).to_string();
        check_refused("fs.write", &arguments, RefusalCode::Sandbox, &[path]);
    }
}

#[test]
fn arguments_come_in_several_wrappings() {
    let expected = call("fs.read", json!({"path": "a.md"}));
    for text in [
        r#"{"path":"a.md"}"#,
        " \n{\"path\":\"a.md\"}\n ",
        "\u{feff}{\"path\":\"a.md\"}",
        r#""{\"path\":\"a.md\"}""#,
        r#"" {\"path\":\"a.md\"} ""#,
    ] {
        assert_eq!(parse("fs.read", text).unwrap(), expected, "{text}");
    }
    for blank in ["", " \n", "{}", "null", "\"\"", "\" \""] {
        let invalid = RefusalCode::InvalidArguments;
        check_refused("fs.read", blank, invalid, &["`path` is missing", "Example: {\"path\""]);
    }
}

#[test]
fn arguments_that_are_no_json_are_explained_where_they_break() {
    let check = |text: &str, says: &[&str]| {
        check_refused("fs.write", text, RefusalCode::InvalidArguments, says);
    };
    check("path=a.md", &["at line 1, column 1", "must be one JSON object, and begin with `{`"]);
    check(r#"{"path":"a","content":"say "hi""}"#, &["near", "write \\\" for it"]);
    check(r#"{"path":"a" "content":"b"}"#, &["at line 1, column 13", "a comma is missing here"]);
    check(r#"{"path":"a"} {"path":"b"}"#, &["something follows"]);
    check(r#"{"path":no}"#, &["texts stand in double quotes"]);
    check(r#"{"path":"a","content":"\ud800"}"#, &["does not make a character"]);
    check("[1]", &["must be one JSON object, but this is a list"]);
    check("7", &["but this is a number"]);
    check(r#""path: a""#, &["but this is a string"]);
    check(r#""\"twice\"""#, &["but this is a string"]);
    check(r#""{path}""#, &["inside the string that they are, at line 1, column 2"]);
    check(r#"{"path":"a","path":"b","content":"x"}"#, &["the key `path` is there twice"]);
    check(&format!("{{\"x\":{}1{}}}", "[".repeat(90), "]".repeat(90)), &["levels deep"]);
}

#[test]
fn arguments_that_are_too_long_are_not_even_read() {
    let small =
        Policy { fs: FsPolicy { max_write_bytes: 10, ..FsPolicy::default() }, ..Policy::default() };
    let text = |length: usize| {
        let frame = r#"{"path":"a","content":""}"#;
        frame.replace("\"\"}", &format!("\"{}\"}}", "x".repeat(length - frame.len())))
    };
    let limit = 8 << 20;
    assert!(Call::parse("fs.write", &text(limit), &small).is_ok());
    let refusal = Call::parse("fs.write", &text(limit + 1), &small).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::WriteLimit);
    assert_eq!(refusal.details["limitBytes"], json!(limit));
    let refusal = Call::parse("fs.read", &"[".repeat(limit + 1), &small).unwrap_err();
    assert_eq!(refusal.code, RefusalCode::InvalidArguments);
    let large = Policy {
        fs: FsPolicy { max_write_bytes: 16 << 20, ..FsPolicy::default() },
        ..Policy::default()
    };
    assert!(Call::parse("fs.write", &text(limit + 1), &large).is_ok());
    let huge = Policy {
        fs: FsPolicy { max_write_bytes: u64::MAX, ..FsPolicy::default() },
        ..Policy::default()
    };
    assert!(Call::parse("fs.write", &text(100), &huge).is_ok());
}

#[test]
fn a_question_is_checked_before_it_is_asked() {
    let ask = |arguments: Json| {
        let Call::AskUser(question) = call("ui.ask_user", arguments) else { panic!() };
        question
    };
    assert_eq!(ask(json!({"question": "Why?"})).kind, QuestionKind::Text);
    let options = json!([{"value": "a", "label": "A", "description": "first"}, {"value": "b"}]);
    let choice =
        ask(json!({"question": "Which?", "kind": "choice", "options": options, "multi": true}));
    assert_eq!(choice.options[0].label.as_deref(), Some("A"));
    assert!(choice.multi);
    let plain = ask(json!({"question": "Which?", "options": ["a", "b"]}));
    let option = |value: &str| QuestionOption { value: value.into(), ..QuestionOption::default() };
    assert_eq!((plain.kind, plain.options), (QuestionKind::Choice, vec![option("a"), option("b")]));
    assert_eq!(ask(json!({"question": "Sure?", "kind": "confirm"})).kind, QuestionKind::Confirm);
    let schema = json!({"type": "object", "properties": {"n": {"type": "string"}}});
    let form = ask(json!({"question": "Fill in", "kind": "form", "schema": schema}));
    assert_eq!(form.schema.map(|form| form.schema().clone()), Some(schema.clone()));
    // Values that a model fills in because the schema has the keys.
    let filled =
        json!({"question": "x", "kind": "text", "options": [], "multi": false, "schema": {}});
    assert_eq!(ask(filled).kind, QuestionKind::Text);

    check_invalid("ui.ask_user", json!({}), &["`question` is missing"]);
    check_invalid("ui.ask_user", json!({"question": " "}), &["`question` is empty"]);
    check_invalid("ui.ask_user", json!({"question": "x", "kind": "choice"}), &["needs `options`"]);
    check_invalid(
        "ui.ask_user",
        json!({"question": "x", "kind": "form"}),
        &["needs `fields`", "`schema`"],
    );
    check_invalid("ui.ask_user", json!({"question": "x", "kind": "yesno"}), &["must be one of"]);
    check_invalid(
        "ui.ask_user",
        json!({"question": "x", "kind": "confirm", "options": ["a"], "multi": true, "schema": schema}),
        &["`options` belong to", "`multi` belongs to", "`schema` and `fields` belong to"],
    );
    check_invalid(
        "ui.ask_user",
        json!({"question": "x", "options": [{"value": "a"}, {"value": "a"}, {"label": "b"}, 3, {"value": ""}, {"value": "c", "id": 1}]}),
        &[
            "`options[1].value` \"a\" is there twice",
            "`options[2].value` is missing",
            "`options[3]` must be an object",
            "`options[4].value` is empty",
            "unknown key \"id\" in `options[5]`",
        ],
    );
    check_invalid(
        "ui.ask_user",
        json!({"question": "x", "schema": {"properties": {"a": {"type": "object"}, "b": {"allOf": []}}}}),
        &["`schema.properties.a` is an object", "`schema.properties.b` has \"allOf\""],
    );
    let many: Vec<String> = (0..101).map(|index| index.to_string()).collect();
    check_invalid("ui.ask_user", json!({"question": "x", "options": many}), &["more than 100"]);
    check_invalid("ui.ask_user", json!({"question": "x".repeat(20_000)}), &["more than 16384"]);
}

#[track_caller]
fn check_subject(name: &str, arguments: Json, expected: &str) {
    assert_eq!(call(name, arguments).subject().as_deref(), Some(expected));
}

#[test]
fn a_subject_is_one_short_line() {
    check_subject("fs.read", json!({"path": "a.md"}), "@project/a.md");
    check_subject("fs.read", json!({"path": "a.md", "startLine": 3}), "@project/a.md:3-");
    check_subject("fs.read", json!({"path": "a.md", "endLine": 9}), "@project/a.md:1-9");
    check_subject("fs.list", json!({"path": "@pkg"}), "@pkg");
    check_subject(
        "fs.search",
        json!({"query": "a\n\u{1b}[31mb\u{202e}"}),
        "a \u{fffd}[31mb\u{fffd}",
    );
    check_subject("fs.search", json!({"query": "é".repeat(200)}), &format!("{}…", "é".repeat(120)));
    check_subject("ui.ask_user", json!({"question": " Why?\n"}), "Why?");
    let one = json!({"path": "a", "operation": "replace", "edits": [{"old": "a", "new": "b"}]});
    let two = json!({"path": "b", "operation": "replace", "edits": [{"old": "a", "new": "b"}]});
    check_subject("fs.apply_patch", one.clone(), "@project/a");
    check_subject("fs.apply_patch", json!({"patches": [one, one]}), "@project/a");
    check_subject("fs.apply_patch", json!({"patches": [one, two]}), "@project/a and 1 more");
}

#[test]
fn a_completion_is_named_by_its_files() {
    let strict = Policy { strict: true, ..Policy::default() };
    let subject = |arguments: Json| {
        let call = Call::parse("runtime.complete_node", &arguments.to_string(), &strict);
        call.unwrap().subject()
    };
    let files = json!([{"path": "a", "content": "x"}, {"path": "b", "content": "y"}]);
    assert_eq!(subject(json!({"files": files})).as_deref(), Some("@project/a and 1 more"));
    assert_eq!(subject(json!({"nodeId": "step-01"})).as_deref(), Some("step-01"));
    assert_eq!(subject(json!({})), None);
}

#[test]
fn a_write_may_take_its_text_from_another_file() {
    let copy = |arguments: Json| {
        let Call::Write(call) = call("fs.write", arguments) else { panic!() };
        let [copy] = <[_; 1]>::try_from(call.copies).unwrap();
        (copy.from.to_string(), copy.place)
    };
    let from = "@state/drafts/vision.md";
    let path = |more: Json| {
        let mut arguments = json!({"path": "docs/x.md", "from": from});
        arguments.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        arguments
    };
    assert_eq!(copy(path(json!({}))), (from.to_owned(), CopyPlace::Whole));
    assert_eq!(copy(path(json!({"mode": "append"}))).1, CopyPlace::End);
    let section = CopyPlace::Section("vision".to_owned());
    assert_eq!(copy(path(json!({"section": "vision"}))).1, section);
    assert_eq!(copy(path(json!({"content": "", "mode": "overwrite"}))).1, CopyPlace::Whole);
    check_invalid("fs.write", path(json!({"content": "x"})), &["give one"]);
    check_invalid("fs.write", json!({"path": "x", "content": "", "section": "a"}), &["`from`"]);
    check_invalid("fs.write", path(json!({"ifFromSha256": "12"})), &["SHA-256"]);
    let policy = Policy { tells_gates: true, ..Policy::default().with_state(StateTool::Runtime) };
    let arguments = json!({"files": [path(json!({"section": "vision"}))]}).to_string();
    let Ok(Call::State(call)) = Call::parse("complete_node", &arguments, &policy) else { panic!() };
    assert_eq!(call.files[0].copies[0].place, section);
}

#[test]
fn a_gate_names_drafts() {
    let policy = Policy { tells_gates: true, ..Policy::default() };
    let gate = |arguments: &str| Call::parse("ui_gate", arguments, &policy);
    let names = |arguments: &str| {
        let Ok(Call::Gate(call)) = gate(arguments) else { panic!("{arguments}") };
        call.drafts.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(names("{}"), Vec::<String>::new());
    assert_eq!(names(r#"{"draft":"vision"}"#), ["vision"]);
    assert_eq!(names(r#"{"drafts":["a","@state/drafts/b.md","a.md"],"draft":""}"#), ["a", "b"]);
    assert_eq!(names(r#"{"drafts":"a","choose":"C","reason":"fine"}"#), ["a"]);
    for (arguments, says) in [
        (r#"{"drafts":["../x"]}"#, "is no name of a file"),
        (r#"{"drafts":[1]}"#, "must name drafts"),
        (r#"{"variables":1}"#, "variables"),
    ] {
        let refusal = gate(arguments).unwrap_err();
        assert!(refusal.message.contains(says), "{}", refusal.message);
    }
    let many: Vec<String> = (0..17).map(|number| format!("d{number}")).collect();
    assert!(gate(&json!({"drafts": many}).to_string()).is_err());
    assert!(Call::parse("ui_gate", "{}", &Policy::default()).is_err());
}
