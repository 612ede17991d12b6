//! D1: the process dies before, after or in the middle of every operation of a run of twelve nodes; another one resumes
//! it, and nothing is missing and nothing happened twice.

use std::collections::BTreeMap;

use crewagent_core::event::{
    AssistantMessage, Event, EventKind, FrameEvent, ModelEvent, RunEvent, StateEvent, ToolEvent,
    UserEvent,
};
use crewagent_core::state::document::StateDocument;
use crewagent_engine::journal::TrailingBytes;

use super::fixture::{Picture, ProofFixture, check_kept, clock};
use super::record::{Scale, scale};
use super::twelve::{Piece, three_asking, twelve};
use super::{record, spread};
use crate::disk_hook::{Fault, Recorder};

/// The run without a fault.
pub(crate) struct Calm {
    pub(crate) picture: Picture,
    pub(crate) operations: usize,
    /// Number of times that each file was renamed into place, by mount path.
    pub(crate) writes: BTreeMap<String, usize>,
    pub(crate) log: Vec<String>,
    told: BTreeMap<&'static str, usize>,
}

impl Calm {
    pub(crate) fn of(fixture: &ProofFixture) -> Self {
        fixture.reset();
        let recorder = Recorder::new(Fault::Never);
        let process = fixture.process(recorder.disk(), &clock(0));
        process.end.unwrap();
        assert!(fixture.is_complete());
        Self {
            picture: fixture.picture(),
            operations: recorder.count(),
            writes: writes(&[&recorder]),
            log: recorder.log(),
            told: told_once(&fixture.judged().events),
        }
    }
}

/// Counts how often each file below a mount was renamed into place.
fn writes(recorders: &[&Recorder]) -> BTreeMap<String, usize> {
    let mut writes = BTreeMap::new();
    let all = recorders.iter().flat_map(|recorder| recorder.renamed());
    for name in all.filter(|name| name.starts_with('@')) {
        *writes.entry(name).or_default() += 1;
    }
    writes
}

/// Counts the events in the journal that may occur only once, over all processes.
pub(crate) fn told_once(events: &[Event]) -> BTreeMap<&'static str, usize> {
    let mut told = BTreeMap::new();
    for event in events {
        let kind = match event.kind {
            EventKind::Run(RunEvent::Started(_)) => "run.started",
            EventKind::User(UserEvent::Input(_)) => "user.input",
            EventKind::Model(ModelEvent::Replied(_)) => "assistant.message",
            EventKind::Tool(ToolEvent::Finished(_)) => "tool.finished",
            EventKind::State(StateEvent::Changed(_)) => "state.changed",
            EventKind::Frame(FrameEvent::Entered(_)) => "workflow.entered",
            EventKind::Frame(FrameEvent::Left(_)) => "workflow.left",
            EventKind::User(UserEvent::Asked(_)) => "question",
            _ => continue,
        };
        *told.entry(kind).or_default() += 1;
    }
    told
}

/// Returns the turns whose replies are recorded.
pub(crate) fn replies(events: &[Event]) -> Vec<u64> {
    let turn = |event: &Event| match event.kind {
        EventKind::Model(ModelEvent::Replied(AssistantMessage { turn, .. })) => Some(turn),
        _ => None,
    };
    events.iter().filter_map(turn).collect()
}

/// Checks that journal and document can be read after a process has died.
pub(crate) fn check_readable(fixture: &ProofFixture, case: &dyn std::fmt::Debug) {
    if let Some(run) = fixture.run_folder() {
        let document = std::fs::read_to_string(run.join("state/workflow.md")).unwrap();
        StateDocument::read(document).unwrap_or_else(|error| panic!("{case:?}: {error}"));
        let rest = fixture.judged().rest;
        assert!(
            matches!(rest, TrailingBytes::Nothing | TrailingBytes::Torn { .. }),
            "{case:?}: {rest:?}"
        );
    }
}

fn check_kill(fixture: &ProofFixture, calm: &Calm, fault: Fault) {
    fixture.reset();
    let recorder = Recorder::new(fault);
    let first = fixture.process(recorder.disk(), &clock(0));
    assert!(recorder.fired() > 0, "{fault:?} did not happen");
    assert!(first.end.is_err(), "{fault:?}: a dead process came to its end");
    check_readable(fixture, &fault);
    let judged = fixture.judged();
    assert!(
        judged.rest == TrailingBytes::Nothing || matches!(fault, Fault::Torn(_)),
        "{fault:?}: {:?}",
        judged.rest
    );
    check_kept(&first.told, &judged, &fault);
    let recorded = replies(&judged.events);

    let after = Recorder::new(Fault::Never);
    let second = fixture.process(after.disk(), &clock(1));
    if let Err(stopped) = &second.end {
        panic!("{fault:?} ({}): {stopped:?}", calm.log[at(fault)]);
    }
    assert!(fixture.is_complete(), "{fault:?}");
    fixture.picture().check(&calm.picture, &(fault, &calm.log[at(fault)]));
    assert_eq!(writes(&[&recorder, &after]), calm.writes, "{fault:?}: a write happened twice");
    let again = second.model.asked().into_iter().find(|turn| recorded.contains(turn));
    assert_eq!(again, None, "{fault:?}: a reply that is recorded was asked for again");
    let told = told_once(&fixture.judged().events);
    assert_eq!(told, calm.told, "{fault:?} ({})", calm.log[at(fault)]);
}

fn at(fault: Fault) -> usize {
    match fault {
        Fault::Crash(at) | Fault::CrashAfter(at) | Fault::Torn(at) => at,
        Fault::Never | Fault::Once(..) | Fault::Always(..) | Fault::Short(..) => 0,
    }
}

/// Kills a run at every operation, or a sample of them. Returns the numbers of deaths and of operations.
pub(crate) fn check_every_death(piece: fn() -> Piece) -> (usize, usize) {
    let fixture = ProofFixture::new(piece());
    let calm = Calm::of(&fixture);
    let is_full = scale() == Scale::Full;
    let mut cases: Vec<Fault> = Vec::new();
    for n in 0..calm.operations {
        if is_full || n % 18 == 0 {
            cases.push(Fault::Crash(n));
        }
        // These leave much the same as a death at the next operation.
        if is_full || n % 48 == 0 {
            cases.push(Fault::CrashAfter(n));
        }
        if calm.log[n].starts_with("write ") && (is_full || n % 24 == 0) {
            cases.push(Fault::Torn(n));
        }
    }
    spread(piece, &cases, |fixture, fault| check_kill(fixture, &calm, *fault));
    (cases.len(), calm.operations)
}

#[test]
fn a_run_that_is_killed_at_any_operation_loses_nothing_and_does_nothing_twice() {
    let (points, operations) = check_every_death(twelve);
    record::proven(
        "D1",
        &format!(
            "{points} points: before, after and in the middle of each of {operations} operations; 0 failures"
        ),
    );
}

#[test]
fn a_write_that_needs_the_users_word_happens_once_wherever_the_process_dies() {
    let fixture = ProofFixture::new(three_asking());
    let calm = Calm::of(&fixture);
    assert_eq!(calm.told["question"], 4, "three changes and a question of the model");
    let step = if scale() == Scale::Full { 1 } else { 4 };
    let at_each = |n| [Fault::Crash(n), Fault::CrashAfter(n)];
    let cases: Vec<Fault> = (0..calm.operations).step_by(step).flat_map(at_each).collect();
    spread(three_asking, &cases, |fixture, fault| check_kill(fixture, &calm, *fault));
}
