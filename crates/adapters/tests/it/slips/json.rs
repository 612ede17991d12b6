//! Slips 42 to 55: arguments that are not quite JSON.

use serde_json::json;

use super::check::check_group;
use super::play::{EPICS, TARGET, TARGET_TEXT, completion, target};
use super::reply::{Reply, call, raw};
use super::slip::{Slip, Worth, slip};

const READ: &str = "artifacts/epics.md, lines 1-7 of 7";
const UNCLOSED: &str = "Either closing marks were forgotten: send the same call again, complete. Or the reply was cut at the output limit: send less at once, long files in pieces with fs_write and mode append.";

/// Returns a slip whose arguments are repaired in place, and shown to the model in the right form.
fn repaired(number: usize, name: &str, arguments: &str, answer: &str, recorded: &str) -> Slip {
    slip(number, Worth::Digit(0)).errs(raw(name, arguments), &[answer]).recorded(recorded)
}

fn read(number: usize, arguments: &str) -> Slip {
    repaired(number, "fs_read", arguments, READ, r#"{\"path\":\"artifacts/epics.md\"}"#)
}

/// Returns a slip whose arguments are refused with these words.
fn refused(number: usize, reply: Reply, answer: &[&str]) -> Slip {
    slip(number, Worth::Digit(1)).errs(reply, answer)
}

pub(crate) fn slips() -> Vec<Slip> {
    let mut all = repairs();
    all.extend(refusals());
    all
}

fn repairs() -> Vec<Slip> {
    let whole = completion(target(), &[(TARGET, TARGET_TEXT)]).to_string();
    let search = r#"{"query": "\d\.\d", "path": "artifacts/epics.md", "regex": true}"#;
    let python =
        r#"{"query": "Story", "path": "artifacts/epics.md", "regex": True, "globs": None}"#;
    let path = json!({ "path": EPICS }).to_string();
    vec![
        read(42, "{'path': 'artifacts/epics.md'}"),
        read(43, r#"{"path": "artifacts/epics.md",}"#),
        slip(44, Worth::Digit(0))
            .errs(
                raw("complete_node", &whole.replace("\\n", "\n")),
                &["currentNodeId: step-02-discover-inputs"],
            )
            .leaves(),
        repaired(45, "fs_search", search, "1 hit", r#"\"query\":\"\\\\d\\\\.\\\\d\""#),
        repaired(46, "fs_search", python, "1 hit", r#"\"regex\":true"#),
        read(47, r#"{path: "artifacts/epics.md"}"#),
        read(48, &format!("{path}}}")),
        read(49, &json!(path).to_string()),
        read(50, &json!({ "arguments": { "path": EPICS } }).to_string()),
    ]
}

fn refusals() -> Vec<Slip> {
    let whole = completion(target(), &[(TARGET, TARGET_TEXT)]).to_string();
    let quotes =
        r#"{"path": "artifacts/create-story/target.md", "content": "He said "yes" twice."}"#;
    let both = quotes.replace("He said", "# Target\nHe said");
    let cut = &whole[..whole.len() - 20];
    let twice = r#"{"path": "artifacts/epics.md", "startLine": 1, "path": "artifacts/prd.md"}"#;
    vec![
        refused(
            51,
            raw("complete_node", whole.trim_end_matches(['}', ']'])),
            &[
                "complete_node was not executed: its arguments end before they are closed (1 × \"]\", 2 × \"}\" missing).",
                UNCLOSED,
            ],
        ),
        refused(52, raw("fs_write", quotes), &["near", "yes", "quote"]),
        refused(53, raw("fs_write", &both), &["quote", "line break"]),
        refused(
            54,
            raw("complete_node", cut).cut(),
            &[
                "complete_node was not executed: its arguments end before they are closed (a string is open).",
                UNCLOSED,
            ],
        ),
        refused(55, raw("fs_read", twice), &["\"path\"", "twice"]),
    ]
}

#[test]
fn arguments_that_are_not_quite_json_are_repaired_or_explained() {
    check_group(&slips());
}

#[test]
fn a_call_in_good_form_is_not_changed() {
    check_group(&[
        slip(0, Worth::Digit(0)).errs(call("fs_read", json!({ "path": EPICS })), &[READ])
    ]);
}
