//! D5: the journal or the state document of a run is damaged while no process owns it. The run still completes, loses
//! at most the torn record, and reports the damage.

use std::fs;

use crewagent_core::event::{
    Event, EventKind, ModelEvent, RunEvent, RunResumed, ToolEvent, ToolStarted, TurnStarted,
};
use crewagent_engine::disk::Disk;
use crewagent_engine::journal::recover;
use crewagent_engine::runtime::{NoDocument, ResumeError};

use super::fixture::{Process, ProofFixture, Stopped, clock};
use super::kill::Calm;
use super::record;
use super::twelve::twelve;
use crate::disk_hook::{Fault, Recorder};

/// Plays until the process dies at this operation.
fn die(fixture: &ProofFixture, operation: usize) {
    fixture.reset();
    let recorder = Recorder::new(Fault::Crash(operation));
    let process = fixture.process(recorder.disk(), &clock(0));
    assert!(recorder.fired() > 0 && process.end.is_err());
}

/// Returns the notes of the second process about what it found.
fn notes(process: &Process) -> String {
    let notes = process.told.iter().find_map(|event: &Event| match &event.kind {
        EventKind::Run(RunEvent::Resumed(RunResumed { notes, .. })) => Some(notes.join("; ")),
        _ => None,
    });
    notes.expect("the run was resumed")
}

/// Returns the operations right after a move, before the next node has written anything.
fn after_moves(calm: &Calm) -> Vec<usize> {
    let moves =
        calm.log.iter().enumerate().filter(|(_, line)| {
            line.starts_with("rename ") && line.ends_with("-> @state/workflow.md")
        });
    // The sixth and the twelfth change only variables.
    let moves = moves.enumerate().filter(|(n, _)| !matches!(n + 1, 6 | 12)).map(|(_, (at, _))| at);
    // Late enough that the journal has the result of the move, and before the next node has written anything.
    let written = |at: usize| {
        (at + 1..calm.log.len())
            .filter(|n| calm.log[*n].starts_with("write ") && calm.log[*n].ends_with(".jsonl"))
            .nth(1)
            .unwrap_or(calm.log.len() - 1)
    };
    moves.map(written).collect()
}

fn go_on(fixture: &ProofFixture, calm: &Calm, case: &str) -> String {
    let process = fixture.process(Disk::real(), &clock(1));
    if let Err(stopped) = &process.end {
        panic!("{case}: {stopped:?}");
    }
    assert!(fixture.is_complete(), "{case}");
    fixture.picture().check(&calm.picture, &case);
    notes(&process)
}

struct Tail {
    name: &'static str,
    spoil: fn(&[u8]) -> Vec<u8>,
    /// Text that the notes must have, if any.
    said: &'static str,
    /// Number of records that may be lost.
    lost: usize,
}

fn with(journal: &[u8], more: &[u8]) -> Vec<u8> {
    [journal, more].concat()
}

const TAILS: [Tail; 9] = [
    Tail {
        name: "torn",
        spoil: |journal| journal[..journal.len() - 20].to_vec(),
        said: "torn",
        lost: 1,
    },
    Tail {
        name: "without its line end",
        spoil: |journal| journal[..journal.len() - 1].to_vec(),
        said: "",
        lost: 0,
    },
    Tail {
        name: "garbage",
        spoil: |journal| with(journal, b"\xff\xfe{{{\x07"),
        said: "torn",
        lost: 0,
    },
    Tail {
        name: "garbage lines",
        spoil: |journal| with(journal, b"x\ny\n{\n"),
        said: "torn",
        lost: 0,
    },
    Tail { name: "NULs", spoil: |journal| with(journal, &[0; 4096]), said: "torn", lost: 0 },
    Tail {
        name: "its end twice",
        spoil: |journal| {
            let ends: Vec<usize> = journal
                .iter()
                .enumerate()
                .filter_map(|(at, byte)| (*byte == b'\n').then_some(at + 1))
                .collect();
            with(journal, &journal[ends[ends.len() - 4]..])
        },
        said: "twice",
        lost: 0,
    },
    Tail {
        name: "a BOM",
        spoil: |journal| with("\u{feff}".as_bytes(), journal),
        said: "",
        lost: 0,
    },
    Tail {
        name: "a line of 50 MB",
        spoil: |journal| with(journal, &[b'x'; 50 << 20]),
        said: "torn",
        lost: 0,
    },
    Tail {
        name: "a record of 50 MB",
        spoil: |journal| {
            let mut all = with(journal, br#"{"seq":1,"type":"error","message":""#);
            all.resize(all.len() + (50 << 20), b'x');
            with(&all, b"\"}\n")
        },
        said: "torn",
        lost: 0,
    },
];

#[test]
fn a_spoiled_end_of_a_journal_costs_at_most_the_torn_record() {
    let fixture = ProofFixture::new(twelve());
    let calm = Calm::of(&fixture);
    let mut cases = 0;
    let places = if record::scale() == record::Scale::Full { 1..9 } else { 5..6 };
    for operation in places.map(|n| calm.operations * n / 9) {
        for tail in &TAILS {
            die(&fixture, operation);
            let path = fixture.journal_path().unwrap();
            let journal = fs::read(&path).unwrap();
            let events = recover(&journal).events;
            let is_intent = |event: &Event| {
                matches!(
                    &event.kind,
                    EventKind::Tool(ToolEvent::Started(ToolStarted { intent: Some(_), .. }))
                )
            };
            if tail.lost > 0 && events.last().is_some_and(is_intent) {
                // An intent is flushed before its change begins, so no crash tears it.
                continue;
            }
            let before = events.len();
            let spoiled = (tail.spoil)(&journal);
            let after = recover(&spoiled).events.len();
            let case = format!("{} after {operation} operations", tail.name);
            assert!(after + tail.lost >= before, "{case}: {after} of {before} events are left");
            fs::write(&path, spoiled).unwrap();
            let said = go_on(&fixture, &calm, &case);
            assert!(said.contains(tail.said), "{case}: `{said}`");
            assert!(!tail.said.is_empty() || said.is_empty(), "{case}: `{said}`");
            cases += 1;
        }
    }
    record::proven(
        "D5",
        &format!("{cases} damaged journal ends; nothing lost but torn records, each reported"),
    );
}

#[test]
fn without_a_journal_the_document_says_where_a_run_stands() {
    let fixture = ProofFixture::new(twelve());
    let calm = Calm::of(&fixture);
    for operation in after_moves(&calm) {
        die(&fixture, operation);
        fs::remove_file(fixture.journal_path().unwrap()).unwrap();
        let said = go_on(&fixture, &calm, &format!("no journal after {operation}"));
        assert!(said.contains("the journal was missing"), "{said}");
        assert!(said.contains("begins anew"), "{said}");
    }
}

#[test]
fn a_journal_that_is_damaged_in_the_middle_is_set_aside_and_the_document_counts() {
    let fixture = ProofFixture::new(twelve());
    let calm = Calm::of(&fixture);
    for (n, operation) in after_moves(&calm).into_iter().enumerate() {
        die(&fixture, operation);
        let path = fixture.journal_path().unwrap();
        let text = fs::read_to_string(&path).unwrap();
        let mut lines: Vec<&str> = text.lines().collect();
        let at = 1 + (n * 7) % (lines.len() - 2);
        lines[at] = "{\"seq\": 3, spoiled";
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let case = format!("line {at} of {} after {operation}", lines.len());
        let said = go_on(&fixture, &calm, &case);
        assert!(said.contains("the journal is damaged behind record"), "{case}: {said}");
        let damaged = path.with_file_name("execution.jsonl.damaged-1");
        assert!(fs::read_to_string(damaged).unwrap().starts_with("{\"seq\": 3, spoiled"), "{case}");
    }
}

#[test]
fn a_document_that_was_edited_by_hand_counts() {
    let fixture = ProofFixture::new(twelve());
    let calm = Calm::of(&fixture);
    // At the third node, which overwrites a file: sent back to it, the run repeats it.
    let operation = after_moves(&calm)[3];
    for (from, to) in
        [("kind: short", "kind: long"), ("currentNodeId: node-00005", "currentNodeId: node-00003")]
    {
        die(&fixture, operation);
        let path = fixture.run_folder().unwrap().join("state/workflow.md");
        let text = fs::read_to_string(&path).unwrap();
        assert!(text.contains(from), "{text}");
        let mut text = text.replace(from, to);
        if to.starts_with("currentNodeId") {
            text = text.replace("  - node-00003\n", "").replace("  - node-00004\n", "");
        }
        fs::write(&path, text).unwrap();
        let process = fixture.process(Disk::real(), &clock(1));
        process.end.as_ref().unwrap();
        assert!(fixture.is_complete());
        let said = notes(&process);
        assert!(said.contains("was changed outside of the run"), "{said}");
        let turns = process.told.iter().find_map(|event| match &event.kind {
            EventKind::Model(ModelEvent::TurnStarted(TurnStarted { node_id, .. })) => {
                node_id.clone()
            }
            _ => None,
        });
        let expected = to.strip_prefix("currentNodeId: ").unwrap_or("node-00005");
        assert_eq!(turns.as_deref(), Some(expected));
        let document = fixture.picture().document;
        assert!(!to.starts_with("kind") || document.contains("kind: long"), "{document}");
    }
}

#[test]
fn without_a_readable_document_a_run_is_not_taken_over_and_nothing_is_spoiled() {
    let fixture = ProofFixture::new(twelve());
    let calm = Calm::of(&fixture);
    die(&fixture, calm.operations / 2);
    let path = fixture.run_folder().unwrap().join("state/workflow.md");
    let good = fs::read(&path).unwrap();
    fs::remove_file(&path).unwrap();
    let process = fixture.process(Disk::real(), &clock(1));
    assert!(
        matches!(process.end, Err(Stopped::Resume(ResumeError::State(NoDocument::Unusable(_))))),
        "{:?}",
        process.end
    );
    for bad in [&b"no frontmatter"[..], b"---\n: [\n---\n", b"\xff\xfe", b"", &[0; 600]] {
        fs::write(&path, bad).unwrap();
        let process = fixture.process(Disk::real(), &clock(1));
        assert!(
            matches!(process.end, Err(Stopped::Resume(ResumeError::State(_)))),
            "{:?}",
            process.end
        );
        assert_eq!(fs::read(&path).unwrap(), bad);
    }
    fs::write(&path, good).unwrap();
    go_on(&fixture, &calm, "the document is back");
}
