//! `fs.read`, `fs.list`, `fs.search` and `ui.ask_user` as calls.

use std::fs;

use crewagent_core::question::QuestionKind;
use crewagent_core::refusal::RefusalCode;
use crewagent_engine::tools::CallPlan;
use crewagent_format::integrity::Digest;
use serde_json::json;

use super::fixture::{STATE, ToolsFixture};

#[test]
fn a_file_is_read_whole() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/a.md", "one\r\nzwei é\n");
    let told = fixture.call("fs_read", json!({"path": "a.md"}));
    let sha256 = Digest::of("one\r\nzwei é\n".as_bytes());
    let expected = format!(
        r#"{{"ok":true,"path":"@project/a.md","bytes":13,"sha256":"{sha256}","truncated":false,"totalLines":2,"content":"one\r\nzwei é\n"}}"#
    );
    assert_eq!(told.text(), expected);
    assert_eq!(told.answer.refused, None);
    let empty = fixture.put("@project/empty", "").call("fs.read", json!({"path": "empty"}));
    assert_eq!((&empty.json["content"], &empty.json["bytes"]), (&json!(""), &json!(0)));
}

#[test]
fn the_state_and_the_journal_can_be_read() {
    let fixture = ToolsFixture::new();
    let state = fixture.call("fs.read", json!({"path": STATE}));
    assert_eq!(state.json["content"], fixture.text(STATE));
    let log = fixture.call("fs.read", json!({"path": "@state/logs/execution.jsonl"}));
    assert_eq!(log.json["content"], "{\"seq\":1}\n");
    assert_eq!(fixture.call("fs.read", json!({"path": "@pkg/step.md"})).json["content"], "step\n");
}

#[test]
fn a_file_over_the_limit_gives_a_preview() {
    let fixture = ToolsFixture::limited(10, 100);
    fixture.put("@project/at", "12345\n789\n").put("@project/over", "12345\n789\n\n");
    let at = fixture.call("fs.read", json!({"path": "at"})).json;
    assert_eq!((&at["truncated"], &at["content"]), (&json!(false), &json!("12345\n789\n")));
    let over = fixture.call("fs.read", json!({"path": "over"}));
    let sha256 = Digest::of(b"12345\n789\n\n").to_string();
    assert_eq!(over.json["sha256"], sha256);
    assert_eq!((&over.json["truncated"], &over.json["bytes"]), (&json!(true), &json!(11)));
    assert_eq!(over.json["contentPreview"], "12345\n789\n");
    assert_eq!(over.json["totalLines"], 3);
    assert!(over.json.get("content").is_none());
    let hint = over.json["hint"].as_str().unwrap();
    assert!(hint.contains("fs.search") && hint.contains("startLine"), "{hint}");
    assert!(hint.contains("11 bytes in 3 lines") && hint.contains("at most 10 bytes"), "{hint}");
}

#[test]
fn a_preview_of_a_large_file_is_short() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/big", "é".repeat(300_000));
    let told = fixture.call("fs.read", json!({"path": "big"}));
    assert_eq!(told.json["contentPreview"], "é".repeat(2048));
    assert!(told.text().len() < 8_000);
    assert_eq!(told.json["bytes"], 600_000);
}

#[track_caller]
fn check_window(fixture: &ToolsFixture, start: Option<u64>, end: Option<u64>, expected: &str) {
    let told =
        fixture.call("fs.read", json!({"path": "a", "startLine": start, "endLine": end})).json;
    let shown = told.get("content").or(told.get("contentPreview")).unwrap().as_str().unwrap();
    let line = format!(
        "{}-{}/{} {} {shown:?}",
        told["startLine"], told["endLine"], told["totalLines"], told["truncated"]
    );
    assert_eq!(line, expected, "{told}");
    assert_eq!(
        told["sha256"],
        Digest::of(&fs::read(fixture.real("@project/a")).unwrap()).to_string()
    );
}

#[test]
fn a_window_is_its_lines() {
    let fixture = ToolsFixture::limited(12, 100);
    fixture.put("@project/a", "one\ntwo\r\nthree\nfour");
    check_window(&fixture, Some(2), Some(2), r#"2-2/4 false "two\r\n""#);
    check_window(&fixture, Some(4), None, r#"4-4/4 false "four""#);
    check_window(&fixture, None, Some(1), r#"1-1/4 false "one\n""#);
    check_window(&fixture, Some(0), Some(1), r#"1-1/4 false "one\n""#);
    check_window(&fixture, Some(3), Some(99), r#"3-4/4 false "three\nfour""#);
    let order: Vec<String> = {
        let told = fixture.call("fs.read", json!({"path": "a", "startLine": 1, "endLine": 1}));
        told.json.as_object().unwrap().keys().cloned().collect()
    };
    let expected = [
        "ok",
        "path",
        "bytes",
        "sha256",
        "truncated",
        "startLine",
        "endLine",
        "totalLines",
        "content",
    ];
    assert_eq!(order, expected);
    fixture.check_refused(
        "fs.read",
        json!({"path": "a", "startLine": 5}),
        RefusalCode::InvalidArguments,
        &["startLine 5 is past the end: the file has 4 lines."],
    );
    fixture.check_refused(
        "fs.read",
        json!({"path": "a", "startLine": 3, "endLine": 2}),
        RefusalCode::InvalidArguments,
        &["endLine 2 is before startLine 3"],
    );
}

#[test]
fn a_window_over_the_limit_says_where_to_go_on() {
    let fixture = ToolsFixture::limited(12, 100);
    fixture.put("@project/a", "one\ntwo\nthree\nfour\nfive six seven\n8\n");
    check_window(&fixture, Some(1), Some(2), r#"1-2/6 false "one\ntwo\n""#);
    check_window(&fixture, Some(1), Some(4), r#"1-2/6 true "one\ntwo\n""#);
    let told = fixture.call("fs.read", json!({"path": "a", "startLine": 1, "endLine": 4})).json;
    let hint = told["hint"].as_str().unwrap();
    assert!(hint.contains("Go on with startLine 3 and endLine 4."), "{hint}");
    // Exactly the limit fits; one byte more does not.
    check_window(&fixture, Some(2), Some(3), r#"2-3/6 false "two\nthree\n""#);
    let told = fixture.call("fs.read", json!({"path": "a", "startLine": 5})).json;
    assert_eq!((&told["endLine"], &told["contentPreview"]), (&json!(5), &json!("five six sev")));
    let hint = told["hint"].as_str().unwrap();
    assert!(hint.contains("Line 5 alone") && hint.contains("startLine 6 and endLine 6"), "{hint}");
}

#[test]
fn what_is_no_text_is_refused_by_kind() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/zero", b"ab\0c").put("@project/latin", b"caf\xe9\nok\n");
    for path in ["zero", "latin"] {
        let told = fixture.check_refused(
            "fs.read",
            json!({"path": path}),
            RefusalCode::InvalidArguments,
            &["cannot be shown as text"],
        );
        assert_eq!(told.json["error"]["details"]["binary"], true);
        assert!(told.json["error"]["details"]["bytes"].is_u64());
    }
    let window = json!({"path": "zero", "startLine": 1, "endLine": 1});
    fixture.check_refused("fs.read", window, RefusalCode::InvalidArguments, &["byte 2 is NUL"]);
    // The limit cuts this character, so the file itself is valid.
    let small = ToolsFixture::limited(3, 9);
    small.put("@project/a", "aé中");
    assert_eq!(small.call("fs.read", json!({"path": "a"})).json["contentPreview"], "aé");
}

#[test]
fn what_is_not_there_is_refused() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/docs/Notes.md", "x");
    let missing = json!({"path": "docs/notes.md"});
    let says = ["There is no `@project/docs/notes.md`.", "Did you mean `@project/docs/Notes.md`?"];
    fixture.check_refused("fs.read", missing, RefusalCode::NotFound, &says);
    fixture.check_refused(
        "fs.read",
        json!({"path": "docs"}),
        RefusalCode::InvalidArguments,
        &["folder"],
    );
    fixture.check_refused("fs.list", json!({"path": "nowhere"}), RefusalCode::NotFound, &[]);
    fixture.check_refused("fs.read", json!({"path": "../x"}), RefusalCode::Sandbox, &["`..`"]);
    fs::File::create(fixture.real("@project/huge")).unwrap().set_len(1 << 40).unwrap();
    fixture.check_refused(
        "fs.read",
        json!({"path": "huge"}),
        RefusalCode::ReadLimit,
        &["larger than"],
    );
}

#[test]
fn a_folder_is_listed() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/a/b.md", "x").put("@project/c.md", "x");
    let told = fixture.call("fs.list", json!({"path": "@project"}));
    assert_eq!(
        told.text(),
        r#"{"ok":true,"path":"@project","entries":["a/","artifacts/","c.md"]}"#
    );
    let deep = fixture.call("fs.list", json!({"path": "@project", "depth": 99})).json;
    assert_eq!(deep["entries"], json!(["a/", "a/b.md", "artifacts/", "c.md"]));
    for index in 0..201 {
        fixture.put(&format!("@project/many/{index:03}"), "");
    }
    let many = fixture.call("fs.list", json!({"path": "many"})).json;
    assert_eq!(many["entriesPreview"].as_array().unwrap().len(), 200);
    assert_eq!(many["truncated"], true);
    fs::remove_file(fixture.real("@project/many/200")).unwrap();
    let all = fixture.call("fs.list", json!({"path": "many"})).json;
    assert_eq!(all["entries"].as_array().unwrap().len(), 200);
}

#[test]
fn files_are_searched() {
    let fixture = ToolsFixture::new();
    fixture.put("@project/a.md", "one\nTwo x\nthree\n").put("@project/b.txt", "two y\n");
    let places = |arguments| {
        let told = fixture.call("fs.search", arguments).json;
        let found = told["matches"].as_array().unwrap().clone();
        let place = |found: &serde_json::Value| {
            format!("{}:{}:{}", found["path"].as_str().unwrap(), found["line"], found["column"])
        };
        found.iter().map(place).collect::<Vec<_>>()
    };
    assert_eq!(places(json!({"query": "two"})), ["@project/a.md:2:1", "@project/b.txt:1:1"]);
    assert_eq!(places(json!({"pattern": "two", "globs": ["*.md"]})), ["@project/a.md:2:1"]);
    assert_eq!(places(json!({"query": "two", "caseSensitive": true})), ["@project/b.txt:1:1"]);
    assert_eq!(
        places(json!({"query": "^t.* [xy]$", "regex": true, "path": "a.md"})),
        ["@project/a.md:2:1"]
    );
    assert_eq!(places(json!({"query": "two", "maxMatches": 1})), ["@project/a.md:2:1"]);
    assert_eq!(
        places(json!({"query": "seq", "path": "@state/logs"})),
        ["@state/logs/execution.jsonl:1:3"]
    );
    let told = fixture.call("fs.search", json!({"query": "two x", "before": 0, "after": 9})).json;
    assert_eq!(told["matches"][0]["before"], json!([]));
    assert_eq!(told["matches"][0]["after"], json!(["three"]));
    assert_eq!(told["stats"], json!({"filesScanned": 2, "matchesFound": 1}));
    let bad = json!({"query": "(", "regex": true});
    fixture.check_refused(
        "fs.search",
        bad,
        RefusalCode::InvalidArguments,
        &["not a usable expression"],
    );
    fixture.check_refused(
        "fs.search",
        json!({"query": "x", "path": "@pkg/no"}),
        RefusalCode::NotFound,
        &[],
    );
}

#[test]
fn a_question_is_handed_on() {
    let fixture = ToolsFixture::new();
    let arguments = json!({"question": "Which?", "kind": "choice", "options": [{"value": "a"}]});
    match fixture.plan("ui.ask_user", arguments) {
        CallPlan::Ask(question) => assert_eq!(question.kind, QuestionKind::Choice),
        other => panic!("{other:?}"),
    }
    let none = json!({"question": "Which?", "kind": "choice"});
    fixture.check_refused("ui.ask_user", none, RefusalCode::InvalidArguments, &["needs `options`"]);
}

#[test]
fn tools_that_are_switched_off_answer_so() {
    let mut fixture = ToolsFixture::new();
    fixture.policy.fs.enabled = false;
    let says = ["switched off", "Available: `ui.ask_user`."];
    fixture.check_refused("fs.read", json!({"path": "a"}), RefusalCode::ToolNotAvailable, &says);
    fixture.check_refused(
        "fs.bite",
        json!({}),
        RefusalCode::ToolNotAvailable,
        &["There is no tool"],
    );
}

#[test]
fn a_search_leaves_out_secrets_that_may_not_be_read() {
    use crewagent_core::policy::rules::{RuleSet, Source};

    let ask = vec!["fs.*(secrets)".parse().unwrap()];
    let rules = vec![RuleSet { ask, ..RuleSet::none(Source::Settings) }];
    let asking = ToolsFixture {
        policy: crewagent_core::policy::Policy { rules, ..Default::default() },
        ..ToolsFixture::new()
    };
    for (fixture, expected) in [(asking, 1), (ToolsFixture::new(), 3)] {
        fixture.put("@project/.env", "token=1\n").put("@project/a.md", "token\n");
        fixture.put("@project/keys/id_rsa", "token\n");
        let told = fixture.call("fs.search", json!({"query": "token"})).json;
        assert_eq!(told["stats"]["matchesFound"], expected, "{told}");
        let alone = json!({"query": "token", "path": "@project/.env"});
        let told = fixture.call("fs.search", alone).json;
        assert_eq!(told["ok"], expected == 3, "{told}");
    }
}
