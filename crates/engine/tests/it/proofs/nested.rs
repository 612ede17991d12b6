//! The same proofs over a run whose workflow calls another one twice: nested-review, with a question and a stop point
//! inside of the frames.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use crewagent_engine::disk::Disk;
use serde_json::{Value as Json, json};

use super::fixture::{ProofFixture, clock};
use super::kill::{Calm, check_every_death};
use super::power::check_every_power_cut;
use super::record;
use super::twelve::{Piece, Reaction, calls, update, write};
use crate::disk_hook::{Fault, Recorder};
use crate::golden_fixture::tree;

fn file(name: &str, content: &str) -> (String, String) {
    (name.to_owned(), content.to_owned())
}

/// Returns a reply that sets variables and moves on.
fn moves(variables: &Json, to: &str) -> Reaction {
    calls([update(json!({
        "variables": { "set": variables },
        "currentNodeId": { "set": to },
    }))])
}

fn completes() -> Reaction {
    calls([update(json!({ "stepsCompleted": { "append": ["end-99"] } }))])
}

pub(crate) fn nested() -> Piece {
    nested_of(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/examples/nested-review"))
}

/// Returns the same piece with the package in this folder.
pub(crate) fn nested_of(folder: &Path) -> Piece {
    let package = tree(folder)
        .into_iter()
        .filter(|(name, _)| !name.ends_with('/'))
        .map(|(name, bytes)| (name, String::from_utf8(bytes).unwrap()))
        .collect();
    let project = vec![
        file("docs/notes.md", "# Notes\n\nNothing breaks.\n"),
        file("docs/rollback.md", "# Rollback\n\nStop, then start.\n"),
    ];
    let mut nodes = BTreeMap::new();
    child(&mut nodes);
    caller(&mut nodes);
    Piece::new(package, project, nodes)
}

fn child(nodes: &mut BTreeMap<String, Vec<Reaction>>) {
    let mut at = |node: &str, reactions: Vec<Reaction>| {
        nodes.insert(format!("document-review/{node}"), reactions);
    };
    at(
        "step-01-read",
        vec![
            calls([("fs.read", json!({ "path": "@state/workflow.md" }))]),
            calls([("ui.ask_user", json!({ "question": "Which colour has {docKey}?" }))]),
            calls([write(
                "@project/artifacts/reviews/{docKey}-notes.md",
                "{answer}\n",
                "overwrite",
            )]),
            moves(&json!({ "docVerdict": "pending" }), "decide-02-verdict"),
        ],
    );
    at(
        "decide-02-verdict",
        vec![moves(&json!({ "docVerdict": "pass", "docBlockers": 0 }), "end-99")],
    );
    at(
        "end-99",
        vec![
            calls([write("@project/artifacts/reviews/{docKey}.md", "pass\n", "overwrite")]),
            completes(),
        ],
    );
}

fn caller(nodes: &mut BTreeMap<String, Vec<Reaction>>) {
    let mut at = |node: &str, reactions: Vec<Reaction>| {
        nodes.insert(format!("release-readiness/{node}"), reactions);
    };
    let scope = json!({
        "releaseName": "Shop", "releaseNotesPath": "docs/notes.md", "rollbackPlanPath": "docs/rollback.md",
        "docKey": "release-notes", "docPath": "docs/notes.md", "docPurpose": "Users learn what changes.",
    });
    at(
        "step-01-scope",
        vec![
            calls([write("@project/artifacts/release/scope.md", "Shop\n", "overwrite")]),
            moves(&scope, "call-02-review-notes"),
        ],
    );
    let second = json!({
        "notesVerdict": "pass", "notesBlockers": 0,
        "docKey": "rollback-plan", "docPath": "docs/rollback.md", "docPurpose": "It can be taken back.",
    });
    at(
        "step-03-record-notes",
        vec![
            calls([write("@project/artifacts/release/readiness.md", "notes: pass\n", "overwrite")]),
            moves(&second, "call-04-review-rollback"),
        ],
    );
    at(
        "decide-05-readiness",
        vec![
            calls([write("@project/artifacts/release/readiness.md", "all: pass\n", "overwrite")]),
            moves(&json!({ "rollbackVerdict": "pass", "rollbackBlockers": 0 }), "end-99"),
        ],
    );
    at(
        "end-99",
        vec![
            calls([write("@project/artifacts/release/summary.md", "ready\n", "overwrite")]),
            completes(),
        ],
    );
}

#[test]
fn a_run_that_is_killed_in_any_call_goes_on_in_that_call() {
    let (points, operations) = check_every_death(nested);
    record::proven(
        "D8",
        &format!(
            "{points} deaths at {operations} operations inside and between two calls; 0 failures"
        ),
    );
}

#[test]
fn a_power_cut_in_any_call_loses_nothing_that_was_flushed() {
    let (states, resumed) = check_every_power_cut(nested);
    record::proven(
        "D9",
        &format!("{states} states, {resumed} of them resumed to the end; 0 lost, 0 unreadable"),
    );
}

/// Cuts the journal anywhere, even inside a frame: the documents count.
#[test]
fn whatever_is_left_of_the_journal_the_documents_say_that_the_run_is_complete() {
    let fixture = ProofFixture::new(nested());
    let calm = Calm::of(&fixture);
    let path = fixture.journal_path().unwrap();
    let whole = fs::read_to_string(&path).unwrap();
    for left in 1..whole.lines().count() {
        let kept: String = whole.split_inclusive('\n').take(left).collect();
        let last = kept.lines().last().unwrap_or_default().to_owned();
        fs::write(&path, kept).unwrap();
        let process = fixture.process(Disk::real(), &clock(1));
        process.end.unwrap_or_else(|stopped| panic!("{left} {last}: {stopped:?}"));
        fixture.picture().check(&calm.picture, &(left, &last));
    }
}

#[test]
fn without_a_journal_the_documents_say_in_which_call_a_run_stands() {
    let fixture = ProofFixture::new(nested());
    let calm = Calm::of(&fixture);
    let changed = |(at, line): (usize, &String)| {
        (line.starts_with("rename ") && line.contains("workflow.md")).then_some(at)
    };
    let points: Vec<usize> = calm.log.iter().enumerate().filter_map(changed).collect();
    assert!(points.len() > 10, "{:?}", calm.log);
    for point in points {
        fixture.reset();
        let recorder = Recorder::new(Fault::CrashAfter(point));
        assert!(fixture.process(recorder.disk(), &clock(0)).end.is_err());
        let Some(journal) = fixture.journal_path().filter(|path| path.exists()) else { continue };
        fs::remove_file(journal).unwrap();
        let second = fixture.process(Disk::real(), &clock(1));
        second.end.unwrap_or_else(|stopped| panic!("{point} {}: {stopped:?}", calm.log[point]));
        assert!(fixture.is_complete());
        // A number reserved for a frame that was never entered is not used again.
        let picture = fixture.picture();
        assert_eq!(picture.project, calm.picture.project, "{}", calm.log[point]);
        assert_eq!(picture.artifacts, calm.picture.artifacts, "{}", calm.log[point]);
    }
}
