//! Reads and writes that give nothing new.

use crewagent_core::tool::render::render;
use serde_json::{Value as Json, json};

use super::fixture::{CallOutcome, ToolsFixture};

fn fixture() -> ToolsFixture {
    let fixture = ToolsFixture { owns_all: false, ..ToolsFixture::new() };
    fixture.put("@project/a.md", "one\ntwo\nthree\n");
    fixture
}

/// Makes a call, and returns its outcome and the text that a model reads.
fn call(fixture: &ToolsFixture, name: &str, arguments: Json) -> (CallOutcome, String) {
    let text = arguments.to_string();
    let outcome = fixture.call(name, arguments);
    let rendered = render(name, &text, outcome.text()).into_owned();
    (outcome, rendered)
}

fn check_pointer(fixture: &ToolsFixture, name: &str, arguments: Json, expected: &str) {
    let (outcome, text) = call(fixture, name, arguments);
    assert_eq!(text, expected);
    assert!(outcome.answer.repeats, "{}", outcome.json);
    assert_eq!(outcome.json["ok"], true);
    assert!(outcome.json.get("content").is_none());
}

fn check_content(fixture: &ToolsFixture, arguments: Json) {
    let (outcome, _) = call(fixture, "fs.read", arguments);
    assert!(outcome.json["content"].is_string(), "{}", outcome.json);
    assert!(!outcome.answer.repeats);
}

#[test]
fn a_text_that_was_read_is_not_sent_again() {
    let fixture = fixture();
    check_content(&fixture, json!({"path": "a.md"}));
    check_pointer(&fixture, "fs.read", json!({"path": "a.md"}), "a.md: unchanged, shown above.");
    let window = json!({"path": "@project/a.md", "startLine": 2, "endLine": 3});
    check_pointer(&fixture, "fs.read", window, "a.md: unchanged, shown above.");
    fixture.put("@project/a.md", "other\n");
    check_content(&fixture, json!({"path": "a.md"}));
}

#[test]
fn a_window_that_was_not_shown_is_sent() {
    let fixture = fixture();
    check_content(&fixture, json!({"path": "a.md", "startLine": 1, "endLine": 2}));
    check_content(&fixture, json!({"path": "a.md", "startLine": 2}));
    check_content(&fixture, json!({"path": "a.md"}));
    let window = json!({"path": "a.md", "startLine": 1, "endLine": 1});
    check_pointer(&fixture, "fs.read", window, "a.md: unchanged, shown above.");
}

#[test]
fn a_text_that_the_model_wrote_is_not_sent_back_unless_with_numbers() {
    let fixture = fixture();
    let text = "line\n".repeat(74);
    call(&fixture, "fs.write", json!({"path": "artifacts/x.md", "content": text}));
    check_pointer(
        &fixture,
        "fs.read",
        json!({"path": "artifacts/x.md"}),
        "artifacts/x.md: exactly what you wrote above (74 lines). With startLine you get numbered lines.",
    );
    check_content(&fixture, json!({"path": "artifacts/x.md", "startLine": 1}));
    call(
        &fixture,
        "fs.write",
        json!({"path": "artifacts/x.md", "content": "z\n", "mode": "append"}),
    );
    check_content(&fixture, json!({"path": "artifacts/x.md"}));
}

#[test]
fn a_list_or_a_search_with_the_same_answer_is_not_sent_again() {
    let fixture = fixture();
    for (name, arguments) in [
        ("fs.list", json!({"path": "@project"})),
        ("fs.search", json!({"query": "two"})),
        ("fs.search", json!({"query": "nowhere"})),
    ] {
        assert!(!call(&fixture, name, arguments.clone()).0.answer.repeats);
        check_pointer(&fixture, name, arguments.clone(), "Same answer as above.");
        check_pointer(&fixture, name, arguments, "Same answer as above.");
    }
    let other = call(&fixture, "fs.search", json!({"query": "nothing"}));
    assert!(!other.0.answer.repeats, "another search has an answer of its own");
    fixture.put("@project/b.md", "two\n");
    assert!(!call(&fixture, "fs.list", json!({"path": "@project"})).0.answer.repeats);
}

#[test]
fn the_beginning_of_a_long_file_is_not_sent_again() {
    let fixture = ToolsFixture { owns_all: false, ..ToolsFixture::limited(64, 1 << 20) };
    fixture.put("@project/long.md", "0123456789\n".repeat(100));
    let (first, _) = call(&fixture, "fs.read", json!({"path": "long.md"}));
    assert!(first.json["contentPreview"].is_string());
    check_pointer(&fixture, "fs.read", json!({"path": "long.md"}), "Same answer as above.");
    let shown = &first.answer.shown[0];
    let inside = json!({"path": "long.md", "startLine": 1, "endLine": shown.end});
    check_pointer(&fixture, "fs.read", inside, "long.md: unchanged, shown above.");
    check_content(&fixture, json!({"path": "long.md", "startLine": 50, "endLine": 51}));
}

#[test]
fn a_write_of_the_same_bytes_changes_nothing() {
    let fixture = fixture();
    let same = json!({"path": "a.md", "content": "one\ntwo\nthree\n"});
    check_pointer(&fixture, "fs.write", same, "Unchanged: the file has exactly this content.");
}

#[test]
fn a_digest_that_was_asked_for_is_told() {
    let fixture = fixture();
    let read = json!({"path": "a.md", "sha256": true});
    let first = call(&fixture, "fs.read", json!({"path": "a.md"})).0;
    let (outcome, text) = call(&fixture, "fs.read", read);
    assert!(outcome.answer.repeats);
    let digest = first.json["sha256"].as_str().unwrap();
    assert_eq!(text, format!("a.md: unchanged, shown above. sha256 {digest}"));
}
