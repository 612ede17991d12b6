//! Arguments and whole calls that are repaired, and those that stay as they are.

use serde_json::{Value as Json, json};

use super::repair::{repair_arguments, repair_calls};
use super::*;
use crate::event::{Finish, RepairedCall, Reply};
use crate::message::ToolCall;
use crate::tool::ToolSpec;

fn parse(name: &str, arguments: &str) -> Result<Call, Refusal> {
    Call::parse(name, arguments, &Policy::default())
}

#[track_caller]
fn check_repaired(name: &str, written: &str, text: &str, repairs: &[&str]) {
    let repaired = repair_arguments(name, written).unwrap_or_else(|| panic!("{written}"));
    assert_eq!(repaired.text, text);
    assert_eq!(serde_json::from_str::<Json>(text).unwrap(), Json::Object(repaired.value));
    let names: Vec<&str> = repaired.repairs.iter().map(|repair| repair.name()).collect();
    assert_eq!(names, repairs, "{written}");
    // A repaired text needs no repair.
    assert_eq!(repair_arguments(name, text), None, "{text}");
}

#[test]
fn repaired_arguments_are_compact_and_their_repairs_are_named() {
    let read = r#"{"path":"a.md"}"#;
    check_repaired("fs.read", "{'path': 'a.md'}", read, &["single-quotes"]);
    check_repaired("fs.read", "{\"path\": \"a.md\",}", read, &["trailing-comma"]);
    check_repaired("fs.read", "\u{feff}{\"path\": \"a.md\"}", read, &["byte-order-mark"]);
    check_repaired(
        "fs.read",
        "```json\n{path: \"a.md\"}}\n```",
        read,
        &["code-fence", "bare-key", "closing-mark"],
    );
    check_repaired("fs.read", r#""{\"path\":\"a.md\"}""#, read, &["wrapper"]);
    check_repaired("fs.read", r#""{'path':'a.md'}""#, read, &["wrapper", "single-quotes"]);
    check_repaired("fs_read", r#"{"path":"a.md","path":"a.md"}"#, read, &["repeated-key"]);
    check_repaired("fs.read", r#"{"arguments":{"path":"a.md"}}"#, read, &["wrapper"]);
    check_repaired("fs.read", r#"{"parameters":"{\"path\":\"a.md\"}"}"#, read, &["wrapper"]);
    let thrice = r#""{\"arguments\":\"{\\\"path\\\":\\\"a.md\\\",}\"}""#;
    check_repaired("fs.read", thrice, read, &["wrapper", "trailing-comma"]);
    check_repaired(
        "fs.write",
        "{\"path\":\"a\",\"content\":\"x\n\\d\",\"mode\":None}",
        r#"{"path":"a","content":"x\n\\d","mode":null}"#,
        &["control-character", "python-word", "unknown-escape"],
    );
    check_repaired("mcp.git.log", "{'n': 1}", r#"{"n":1}"#, &["single-quotes"]);
    check_repaired("run_shell", "{'n': 1}", r#"{"n":1}"#, &["single-quotes"]);
}

#[test]
fn arguments_that_are_right_or_beyond_repair_stay_as_they_are() {
    for text in [
        "{}",
        "",
        " ",
        "null",
        r#"{ "path" : "a.md" }"#,
        r#"{"path":"a"#,
        r#"{"path":"a" "b":1}"#,
        "[1]",
        r#"{"arguments":{"path":"a"},"x":1}"#,
        r#"{"arguments":"a"}"#,
    ] {
        assert_eq!(repair_arguments("fs.read", text), None, "{text}");
    }
    // The tool of a server may have such a parameter.
    for name in ["mcp.s.t", "run_shell"] {
        assert_eq!(repair_arguments(name, r#"{"arguments":{"a":1}}"#), None, "{name}");
    }
    let long = format!("{{\"path\":\"{}\",}}", "x".repeat(33 << 20));
    assert_eq!(repair_arguments("fs.read", &long), None);
}

#[test]
fn a_wrapper_is_opened_before_a_call_is_read() {
    for text in [
        r#"{"arguments":{"path":"a.md"}}"#,
        r#"{"parameters":{"path":"a.md"}}"#,
        r#"{"arguments":"{\"path\":\"a.md\"}"}"#,
        "{'path':'a.md',}",
    ] {
        assert_eq!(parse("fs.read", text), parse("fs.read", r#"{"path":"a.md"}"#), "{text}");
    }
}

#[test]
fn unclosed_arguments_are_answered_with_what_to_do() {
    let hint = "Either closing marks were forgotten: send the same call again, complete. Or the reply was cut at the output limit: send less at once, long files in pieces with fs_write and mode append.";
    for (text, missing) in [
        (r#"{"path":"a","content":{"x":1"#, "2 × \"}\" missing"),
        (r#"{"path":"a","content":"x"#, "a string is open"),
        (r#""{\"path\":\"a\"""#, "1 × \"}\" missing"),
    ] {
        let refusal = parse("fs.write", text).unwrap_err();
        assert_eq!(refusal.code, RefusalCode::InvalidArguments);
        assert_eq!(
            refusal.message,
            format!(
                "fs_write was not executed: its arguments end before they are closed ({missing})."
            )
        );
        assert_eq!(refusal.hint.as_deref(), Some(hint), "{text}");
    }
    let refusal = parse("fs.write", "{\"path\":\"a\nb\",\"content\":\"x").unwrap_err();
    let also = refusal.hint.unwrap();
    assert!(also.starts_with(&format!("{hint} Also: at line 1, column 11, near ")), "{also}");
}

fn call(name: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: "c".into(),
        name: name.into(),
        arguments: arguments.into(),
        extra: serde_json::Map::new(),
    }
}

fn offered(names: &[&str]) -> Vec<ToolSpec> {
    let spec = |name: &&str| ToolSpec {
        name: (*name).to_owned(),
        description: String::new(),
        parameters: json!({}),
    };
    names.iter().map(spec).collect()
}

#[test]
fn calls_are_recorded_in_the_right_form() {
    let calls = vec![
        call("fs.read", "{\"path\":\"a\"}"),
        call("read_file", "{'path':'a',}"),
        call("functions.mcp__git__log", "{}"),
        call("grep", "{\"pattern\":\"x\"}"),
        call("list_files", "{"),
    ];
    let mut reply = Reply { tool_calls: calls, ..Reply::default() };
    repair_calls(&mut reply, &offered(&["fs.read", "mcp.unix.grep"]));
    let recorded: Vec<(&str, &str)> = reply
        .tool_calls
        .iter()
        .map(|call| (call.name.as_str(), &**call.arguments.inline().unwrap()))
        .collect();
    assert_eq!(
        recorded,
        [
            ("fs.read", "{\"path\":\"a\"}"),
            ("fs.read", "{\"path\":\"a\"}"),
            ("mcp__git__log", "{}"),
            ("grep", "{\"pattern\":\"x\"}"),
            ("list_files", "{"),
        ]
    );
    let read = RepairedCall {
        index: 1,
        name: Some("read_file".into()),
        arguments: Some("{'path':'a',}".into()),
        repairs: vec!["trailing-comma".into(), "single-quotes".into()],
    };
    let log = RepairedCall {
        index: 2,
        name: Some("functions.mcp__git__log".into()),
        ..RepairedCall::default()
    };
    assert_eq!(reply.repaired_calls, [read, log]);
    let before = reply.clone();
    repair_calls(&mut reply, &offered(&["fs.read", "mcp.unix.grep"]));
    assert_eq!(reply, before);
}

#[test]
fn nothing_is_repaired_in_a_call_that_was_cut_by_length() {
    let calls = vec![call("fs.read", "{'path':'a'}"), call("read_file", "{'path':'b'}")];
    let mut reply = Reply { tool_calls: calls, finish: Finish::Length, ..Reply::default() };
    repair_calls(&mut reply, &[]);
    assert_eq!(reply.tool_calls[0].arguments, "{\"path\":\"a\"}".into());
    assert_eq!(reply.tool_calls[1], call("fs.read", "{'path':'b'}"));
    assert_eq!(reply.repaired_calls[1].arguments, None);
    let mut empty = Reply { finish: Finish::Length, ..Reply::default() };
    repair_calls(&mut empty, &[]);
    assert_eq!(empty.repaired_calls, []);
}

#[test]
fn a_call_that_was_cut_tells_what_is_open() {
    let check = |arguments: &str, says: &str| {
        let refusal = crate::call::cut_off("fs.write", arguments);
        assert_eq!(refusal.code, RefusalCode::InvalidArguments);
        assert!(refusal.message.contains(says), "{}", refusal.message);
    };
    check(
        r#"{"path": "a.md", "content": "half a sen"#,
        "fs_write was not executed: its arguments end before they are closed (a string is open).",
    );
    check(r#"{"path": "a.md""#, "(1 × \"}\" missing)");
    check(r#"{"path": "a.md", "content": ""}"#, "Your reply was cut off in this call");
}
