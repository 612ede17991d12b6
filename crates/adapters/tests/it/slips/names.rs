//! Slips 26 to 41: other names of tools and keys, and values of the wrong shape.

use serde_json::json;

use super::check::check_group;
use super::play::{
    END, EPICS, GENERATE, STATUS, STORY, STORY_TEXT, TARGET, TARGET_TEXT, UPDATE, complete,
    completion, ready, target,
};
use super::reply::{Reply, call};
use super::slip::{Slip, Worth, slip};

const READ: &str = "artifacts/epics.md, lines 1-7 of 7";
const WINDOW: &str = "artifacts/epics.md, lines 1-2 of 7";
const CHANGED: &str = "Changed @project/artifacts/sprint-status.yaml";

/// Returns a call that reads the epics, spelt in another way, and what is answered.
fn reads(number: usize, reply: Reply, answer: &str) -> Slip {
    slip(number, Worth::Digit(0)).errs(reply, &[answer]).recorded(r#""name":"fs_read""#)
}

/// Returns a slip whose call changes the sprint status.
fn changes(number: usize, reply: Reply) -> Slip {
    slip(number, Worth::Digit(0))
        .at(UPDATE)
        .errs(reply, &[CHANGED, "4|  1-2-user-authentication: ready-for-dev"])
        .then(vec![complete(json!({}), &[])])
}

/// Returns a slip whose call does not change the sprint status at first.
fn misses(slip: Slip) -> Slip {
    slip.at(UPDATE)
}

pub(crate) fn slips() -> Vec<Slip> {
    let mut all = names();
    all.extend(values());
    all.extend(contents());
    all
}

fn names() -> Vec<Slip> {
    vec![
        reads(26, call("read_file", json!({ "file_path": EPICS })), READ),
        reads(27, call("functions.fs_read", json!({ "path": EPICS })), READ),
        slip(28, Worth::Digit(1)).errs(
            call("run_shell", json!({ "command": "cat artifacts/epics.md" })),
            &["There is no tool", "run_shell", "Available: ", "(E_TOOL_NOT_AVAILABLE)"],
        ),
        reads(
            29,
            call("fs_read", json!({ "path": EPICS, "start_line": 1, "end_line": 2 })),
            WINDOW,
        ),
        slip(30, Worth::Digit(1)).errs(
            call("fs_read", json!({ "path": EPICS, "encoding": "utf-8" })),
            &["unknown key", "encoding", "Parameters: `path`, `startLine`, `endLine`."],
        ),
    ]
}

fn values() -> Vec<Slip> {
    let edits = ready()["edits"].to_string();
    let texts = call("fs_apply_patch", json!({ "path": STATUS, "edits": edits }))
        .and("complete_node", json!({ "variables": "{\"sprintNote\":\"marked\"}" }));
    let bare = json!({ "path": STATUS, "old_str": "1-2-user-authentication: backlog",
        "new_str": "1-2-user-authentication: ready-for-dev" });
    vec![
        slip(31, Worth::Digit(0))
            .at(UPDATE)
            .errs(texts, &[&format!("currentNodeId: {END}"), "\"sprintNote\":\"marked\""])
            .leaves(),
        changes(32, call("fs_apply_patch", bare)),
        reads(
            33,
            call("fs_read", json!({ "path": EPICS, "startLine": "1", "endLine": "2" })),
            WINDOW,
        ),
        slip(34, Worth::Digit(1)).errs(
            call("fs_write", json!({ "path": TARGET })),
            &["`content` is missing", "(E_INVALID_ARGS)"],
        ),
        slip(35, Worth::Digit(1)).errs(
            call("fs_write", json!({ "path": TARGET, "content": { "key": "1-2" } })),
            &["`content` must be a string, but it is an object"],
        ),
        slip(36, Worth::Digit(0))
            .errs(
                call(
                    "complete_node",
                    json!({ "variables": target(), "files": { TARGET: TARGET_TEXT } }),
                ),
                &["currentNodeId: step-02-discover-inputs"],
            )
            .leaves(),
    ]
}

fn contents() -> Vec<Slip> {
    let edit = |path: &str, old: &str, new: &str| json!({ "path": path, "edits": [{ "old": old, "new": new }] });
    let numbered = edit(
        STATUS,
        "4|  1-2-user-authentication: backlog",
        "4|  1-2-user-authentication: ready-for-dev",
    );
    let nowhere = edit(STATUS, "1-2-user-login: backlog", "1-2-user-login: ready-for-dev");
    let twice = edit(STATUS, "backlog", "ready-for-dev");
    let escaped = edit(STORY, r"matches \\d+.", "matches one or more digits.");
    let raw = edit(STORY, r"matches \d+.", "matches one or more digits.");
    let holes = json!({ "path": "artifacts/stories/{{storyKey}}.md", "content": STORY_TEXT });
    let placeholder = completion(target(), &[(TARGET, "<text>")]);
    vec![
        changes(37, call("fs_apply_patch", numbered)),
        misses(slip(38, Worth::Digit(1))).errs(
            call("fs_apply_patch", nowhere).and("fs_apply_patch", twice),
            &[
                "The nearest lines:\n",
                "|  1-2-user-authentication: backlog",
                "(E_PRECONDITION_FAILED)",
                "2",
            ],
        ),
        slip(39, Worth::Digit(1))
            .at(GENERATE)
            .after(call("fs_write", json!({ "path": STORY, "content": STORY_TEXT })))
            .errs(
                call("fs_apply_patch", escaped),
                &["The nearest lines:\n", r"|The code matches \d+."],
            )
            .then(vec![call("fs_apply_patch", raw), complete(json!({ "storyFile": STORY }), &[])])
            .file(STORY, &STORY_TEXT.replace(r"\d+", "one or more digits")),
        slip(40, Worth::Digit(1)).errs(
            call("complete_node", placeholder),
            &["is a placeholder; send the text of the file"],
        ),
        slip(41, Worth::Digit(0))
            .at(GENERATE)
            .errs(call("fs_write", holes), &[&format!("Wrote @project/{STORY}")])
            .then(vec![complete(json!({ "storyFile": STORY }), &[])]),
    ]
}

#[test]
fn other_names_and_shapes_are_understood_or_explained() {
    check_group(&slips());
}
