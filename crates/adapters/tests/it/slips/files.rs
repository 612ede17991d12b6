//! Slips 79 to 92: loops, and files and variables of others.

use serde_json::json;

use super::check::check_group;
use super::play::{
    DISCOVER, EPICS, EPICS_TEXT, INPUTS, REVIEW, STATUS, STATUS_TEXT, TARGET, TARGET_TEXT, UPDATE,
    complete, completion, found, ready, review, target,
};
use super::reply::{Reply, call};
use super::slip::{Slip, Worth, slip, slip_in};

const SECOND: &str = "This is the second time; a third identical call stops the run.";
const SAME: &str = "Same answer as above.";
const STILL: &str = "Still nothing was done. Reply with this call and nothing else, with your own values for <…>: complete_node {";

fn read(path: &str) -> Reply {
    call("fs_read", json!({ "path": path }))
}

fn write(path: &str, content: &str) -> Reply {
    call("fs_write", json!({ "path": path, "content": content }))
}

pub(crate) fn slips() -> Vec<Slip> {
    let mut all = loops();
    all.extend(overwritten());
    all.extend(places());
    all.extend(variables());
    all
}

fn loops() -> Vec<Slip> {
    let refused = read("artifacts/prd.md");
    let list = call("fs_list", json!({ "path": "artifacts" }));
    let (one, other) = (read(EPICS), read("notes.md"));
    let epics = "artifacts/epics.md: unchanged, shown above";
    let notes = "notes.md: unchanged, shown above";
    vec![
        slip(79, Worth::Stop("loop"))
            .errs(refused.clone(), &["(ENOENT)"])
            .errs(refused.clone(), &["(ENOENT)", SECOND])
            .errs(refused, &[])
            .answered("There is no PRD."),
        slip(80, Worth::Digit(3))
            .after(list.clone())
            .errs(list.clone(), &[SAME])
            .errs(list.clone(), &[SAME])
            .errs(list, &[SAME, STILL]),
        slip(81, Worth::Digit(3))
            .given("notes.md", "# Notes\n")
            .after(one.clone())
            .after(other.clone())
            .errs(one.clone(), &[epics])
            .errs(other, &[notes])
            .errs(one, &[epics, STILL]),
        slip(82, Worth::Digit(1)).errs(
            read(STATUS),
            &["artifacts/sprint-status.yaml: unchanged, shown above under INPUTS."],
        ),
        slip(83, Worth::Digit(1)).errs(
            read("@state/workflow.md")
                .and_all(&read("@pkg/workflow.graph.json"))
                .and_all(&read("@pkg/steps/step-01-select-story.md")),
            &[
                "@state/workflow.md, lines 1-",
                "@pkg/workflow.graph.json, lines 1-",
                "@pkg/steps/step-01-select-story.md",
            ],
        ),
    ]
}

fn overwritten() -> Vec<Slip> {
    let ready_text =
        STATUS_TEXT.replace("authentication: backlog", "authentication: ready-for-dev");
    let changed = STATUS_TEXT.replace("1-1-project-setup: done", "1-1-project-setup: review");
    let after = ready_text.replace("1-1-project-setup: done", "1-1-project-setup: review");
    let unread = format!(
        "artifacts/epics.md is the user's: 7 lines, {} bytes, and you have not read it. Nothing was written. Change parts with fs_apply_patch, or send the same call again to replace all of it.",
        EPICS_TEXT.len()
    );
    vec![
        slip(84, Worth::Digit(1)).errs(write(EPICS, "# Epics\n"), &[&unread]),
        slip(85, Worth::Digit(1)).at(UPDATE).errs(
            write(STATUS, "1-2-user-authentication: ready-for-dev\n"),
            &["artifacts/sprint-status.yaml is the user's: 5 lines, 128 bytes, and your text keeps 0 of its 5 lines. Nothing was written. Change parts with fs_apply_patch, or send the same call again to replace all of it."],
        ),
        slip(86, Worth::Digit(1))
            .at(UPDATE)
            .meanwhile(STATUS, changed)
            .errs(
                write(STATUS, &ready_text),
                &["artifacts/sprint-status.yaml is the user's", "changed since", "Nothing was written."],
            )
            .then(vec![call("fs_apply_patch", ready()), complete(json!({}), &[])])
            .file(STATUS, &after),
    ]
}

fn places() -> Vec<Slip> {
    let stray = write("artifacts/target.md", TARGET_TEXT)
        .and("complete_node", json!({ "variables": target() }));
    vec![
        slip(87, Worth::Digit(1))
            .errs(stray, &["missing files: `artifacts/create-story/target.md`"])
            .stray("artifacts/target.md", TARGET_TEXT),
        slip(88, Worth::Digit(1))
            .errs(read("/project/artifacts/epics.md"), &["@project/artifacts/epics.md"])
            .then(vec![read(EPICS), complete(target(), &[(TARGET, TARGET_TEXT)])]),
        slip(89, Worth::Digit(1)).errs(
            write("@pkg/steps/step-01-select-story.md", "# Nothing to do\n"),
            &["@pkg", "read-only", "(E_SANDBOX_VIOLATION)"],
        ),
    ]
}

fn variables() -> Vec<Slip> {
    let mut early = target();
    early["epicsPath"] = EPICS.into();
    let mut late = found();
    late.as_object_mut().unwrap().remove("epicsPath");
    let notes = "artifacts/draft-review/review.md";
    vec![
        slip_in(review(), 90, Worth::Digit(1)).at(REVIEW).errs(
            call("complete_node", completion(json!({}), &[(notes, "# Round 2\n")])),
            &["reviewVerdict is from the last visit (\"revise\"). Set it anew."],
        ),
        slip(91, Worth::Digit(1))
            .at(DISCOVER)
            .prepared(vec![complete(early, &[(TARGET, TARGET_TEXT)])])
            .errs(
                complete(late, &[(INPUTS, "# Inputs\n")]),
                &["epicsPath is from another node (\"artifacts/epics.md\"). Set it anew."],
            ),
        slip(92, Worth::Digit(0))
            .errs(
                complete(target(), &[(TARGET, TARGET_TEXT)]).beside("好的，我来完成这一步。"),
                &["currentNodeId: step-02-discover-inputs"],
            )
            .leaves(),
    ]
}

#[test]
fn loops_are_told_and_the_files_of_others_are_kept() {
    check_group(&slips());
}
