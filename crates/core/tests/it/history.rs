//! Histories of every golden and kept journal, and the law of its tail.
//!
//! The golden runs of the engine write the journals in `tests/history`; `cargo xtask accept golden` writes both. The
//! web app folds the same journals in `web/tests/unit/history.test.ts`.

use std::path::{Path, PathBuf};

use crewagent_core::event::Event;
use crewagent_core::run::history::{History, Tail};
use crewagent_testkit::accept::is_accepting;
use crewagent_testkit::fixture::repository;
use serde_json::{Value as Json, json};

const KEPT: &str = "crates/engine/tests/kept/0.1.0/run/state/logs/execution.jsonl";

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/history")
}

/// Returns every journal with its name.
fn journals() -> Vec<(String, Vec<Event>)> {
    let mut files = vec![("kept-0.1.0".to_owned(), repository().join(KEPT))];
    for entry in std::fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|extension| extension == "jsonl") {
            files.push((path.file_stem().unwrap().to_str().unwrap().to_owned(), path));
        }
    }
    files.sort();
    let events =
        |text: String| text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let read = |(name, path)| (name, events(std::fs::read_to_string(path).unwrap()));
    files.into_iter().map(read).collect()
}

/// Renders the parts of a history that views share.
fn rendered(history: &History) -> Json {
    let tail = history.tail();
    let visits = history.visits.iter().map(|visit| {
        json!({ "seq": visit.seq, "node": visit.node, "label": visit.label, "call": visit.frame_id() })
    });
    let changes = history.changes().iter().map(|change| change.file.path.as_str());
    json!({
        "state": history.position.state,
        "frames": history.position.frames().collect::<Vec<_>>(),
        "visits": visits.collect::<Vec<_>>(),
        "phase": tail.phase,
        "reason": tail.reason,
        "message": tail.message,
        "question": history.question.as_ref().map(|open| open.call_id.as_str()),
        "turns": history.turns,
        "usage": history.usage,
        "epoch": history.epoch,
        "changes": changes.collect::<Vec<_>>(),
        "runs": history.runs,
        "activeRun": history.active_run,
    })
}

#[test]
fn every_golden_journal_has_this_history() {
    let journals = journals();
    assert!(journals.len() >= 21, "{}", journals.len());
    for (name, events) in journals {
        let text = serde_json::to_string_pretty(&rendered(&History::of(&events))).unwrap() + "\n";
        let file = folder().join(format!("{name}.json"));
        if is_accepting("golden") {
            std::fs::write(&file, &text).unwrap();
        }
        let kept = std::fs::read_to_string(&file).unwrap_or_default();
        assert!(
            kept == text,
            "{} differs; `cargo xtask accept golden` writes it:\n{text}",
            file.display()
        );
    }
}

#[test]
fn the_last_events_alone_tell_the_tail_of_every_prefix() {
    for (name, events) in journals() {
        let mut history = History::default();
        for (at, event) in events.iter().enumerate() {
            history.take(event);
            let newest_first = events[..=at].iter().rev().cloned();
            assert_eq!(Tail::of(newest_first), history.tail(), "{name}, event {}", event.seq);
        }
    }
}
