//! Slips 56 to 73: moves that lack something, lead nowhere, or are made in another manner.

use serde_json::json;

use super::check::check_group;
use super::play::{
    DECIDE, DISCOVER, END, EXTRACT, INPUTS, SELECT, SUMMARY, TARGET, TARGET_TEXT, UPDATE, branch,
    complete, completion, found, ready, story, target,
};
use super::reply::{Reply, call, says};
use super::slip::{Slip, Worth, slip, slip_in};

const STATE: &str = "@state/workflow.md";
const NOT_REACHED: &str = "Not executed: the call before it was refused. Correct that first.";

/// Returns a slip that leaves the node which declares nothing, by an edit of the state document.
fn edits(number: usize, reply: Reply) -> Slip {
    leaving(slip(number, Worth::Digit(0)).at(UPDATE).after(call("fs_apply_patch", ready())), reply)
}

fn leaving(slip: Slip, reply: Reply) -> Slip {
    slip.errs(reply, &["currentNodeId: end-99"]).leaves()
}

fn patch(update: serde_json::Value) -> Reply {
    let operation = "updateFrontmatter";
    call("fs_apply_patch", json!({ "path": STATE, "operation": operation, "update": update }))
}

/// Returns a change of the text of the state document.
fn text_edit() -> Reply {
    let (old, new) = (format!("currentNodeId: {UPDATE}"), format!("currentNodeId: {END}"));
    call("fs_apply_patch", json!({ "path": STATE, "edits": [{ "old": old, "new": new }] }))
}

pub(crate) fn slips() -> Vec<Slip> {
    let mut all = unmet();
    all.extend(documents());
    all.extend(running_ahead());
    all
}

fn unmet() -> Vec<Slip> {
    let mut blank = target();
    blank["storyKey"] = "".into();
    blank["epicNum"] = serde_json::Value::Null;
    let mut ahead = completion(target(), &[(TARGET, TARGET_TEXT)]);
    ahead["next"] = EXTRACT.into();
    let decides = |arguments| call("complete_node", arguments);
    let ways = ["`greenfield` -> step-03a-greenfield (", "`brownfield` -> step-03b-brownfield ("];
    vec![
        slip(56, Worth::Digit(1)).errs(
            call("complete_node", json!({})),
            &[
                "missing files: `artifacts/create-story/target.md`",
                "unset variables: `storyKey`, `epicNum`, `storyNum`, `storyTitle`, `sprintStatusPath`",
            ],
        ),
        slip(57, Worth::Digit(1)).errs(
            complete(blank, &[(TARGET, TARGET_TEXT)]),
            &["storyKey is empty.", "epicNum is empty."],
        ),
        slip(58, Worth::Digit(1)).errs(
            call("complete_node", ahead),
            &["No other way leads on from `step-01-select-story` than to step-02-discover-inputs. Nothing was changed. Leave `next` out to go there."],
        ),
        slip_in(branch(), 59, Worth::Digit(1)).at(DECIDE).errs(
            decides(json!({ "variables": { "projectType": "greenfield" }, "next": "grenfield" })),
            &ways,
        ),
        slip_in(branch(), 60, Worth::Digit(0))
            .at(DECIDE)
            .errs(
                decides(json!({ "variables": { "projectType": "greenfield" } })),
                &["currentNodeId: step-03a-greenfield"],
            )
            .leaves(),
        slip_in(branch(), 61, Worth::Digit(1)).at(DECIDE).errs(
            decides(json!({ "variables": { "projectType": "Greenfield" } })),
            &["no condition of its edges holds", ways[0], ways[1]],
        ),
    ]
}

fn documents() -> Vec<Slip> {
    let half = format!(
        "---\ncurrentNodeId: {DISCOVER}\nvariables:\n  storyKey: 1-2-user-authentication\n---\n"
    );
    vec![
        slip(62, Worth::Digit(0))
            .after(call("fs_write", json!({ "path": TARGET, "content": TARGET_TEXT })))
            .errs(
                patch(json!({ "variables": { "set": target() }, "artifacts": { "append": [TARGET] },
                    "stepsCompleted": { "append": [SELECT] }, "currentNodeId": { "set": DISCOVER } })),
                &["currentNodeId: step-02-discover-inputs"],
            )
            .leaves(),
        slip(63, Worth::Digit(0))
            .at(DISCOVER)
            .after(call("fs_write", json!({ "path": INPUTS, "content": "# Inputs\n" })))
            .errs(
                patch(json!({ "variables": found(), "artifacts": [TARGET, INPUTS],
                    "stepsCompleted": [SELECT, DISCOVER], "currentNodeId": EXTRACT })),
                &["currentNodeId: step-03-extract-context"],
            )
            .leaves(),
        edits(64, patch(json!({ "stepsCompleted": { "append": [UPDATE] } }))),
        slip(65, Worth::Digit(1)).at(UPDATE).after(call("fs_apply_patch", ready()))
            .errs(
                patch(json!({ "stepsCompleted": { "append": [UPDATE, END] } })),
                &["step-05-update-sprint-status", "end-99", "(E_INVALID_TRANSITION)"],
            )
            .then(vec![complete(json!({}), &[])]),
        slip(66, Worth::Digit(1)).errs(
            call("fs_write", json!({ "path": STATE, "content": half })),
            &["The runtime keeps @state/workflow.md. To finish this node: complete_node {\"variables\":{\"storyKey\":\"<"],
        ).never("schemaVersion"),
        edits(67, text_edit()),
        edits(68, text_edit()).strict(),
        slip(69, Worth::Digit(1)).errs(
            call("complete_node", json!({ "nodeId": DISCOVER, "variables": target() })),
            &["The run is at `step-01-select-story`, not at `step-02-discover-inputs`."],
        ),
    ]
}

fn running_ahead() -> Vec<Slip> {
    let first = complete(target(), &[(TARGET, TARGET_TEXT)]);
    let ahead = first
        .clone()
        .and("fs_write", json!({ "path": INPUTS, "content": "# Made up\n" }))
        .and("complete_node", completion(found(), &[]));
    let replies = story().visits.into_iter().flat_map(|(_, replies)| replies);
    let whole = replies.reduce(|all, reply| all.and_all(&reply)).unwrap();
    let early =
        complete(target(), &[]).and("fs_write", json!({ "path": TARGET, "content": TARGET_TEXT }));
    let silent = complete(json!({}), &[(SUMMARY, "# Story created\n")]);
    vec![
        slip(70, Worth::Digit(0))
            .errs(
                ahead,
                &["- notExecuted: 2 calls behind the move (fs_write artifacts/create-story/inputs.md, complete_node)"],
            )
            .never("Made up")
            .leaves(),
        slip(71, Worth::Digit(0))
            .errs(
                whole,
                &["- notExecuted: 6 calls behind the move (complete_node, complete_node, complete_node, fs_apply_patch artifacts/sprint-status.yaml, complete_node, complete_node)"],
            )
            .leaves(),
        slip(72, Worth::Digit(1))
            .errs(early, &["missing files: `artifacts/create-story/target.md`", NOT_REACHED]),
        slip(73, Worth::Digit(1))
            .at(END)
            .after(silent)
            .errs(call("complete_node", json!({})), &["Nothing is left to complete."])
            .then(vec![says("The story is ready.")]),
    ]
}

#[test]
fn moves_are_repaired_and_never_illegal() {
    check_group(&slips());
}
