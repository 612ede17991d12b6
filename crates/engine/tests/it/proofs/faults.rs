//! D3: the disk fails at every operation of a run, once and permanently, with every error it has. The process reports
//! it or continues; afterwards everything can be read, and without the fault the run completes.

use std::sync::Arc;

use crewagent_core::event::{EventKind, UserEvent};
use crewagent_engine::disk::Disk;
use crewagent_engine::runtime::{Runtime, SettingsChange};
use crewagent_engine::step_log::Halt;
use crewagent_engine::store::RunId;
use crewagent_engine::tool_server::ToolServers;

use super::fixture::{ProofFixture, check_kept, clock};
use super::kill::{Calm, check_readable};
use super::record::{Scale, scale};
use super::twelve::{Piece, three, twelve};
use super::{record, spread};
use crate::disk_hook::{Fault, Recorder};
use crate::golden_fixture::{GoldenFixture, drive, ticking};

/// EIO, ENOSPC, EDQUOT, EMFILE, EROFS, EACCES, as Linux numbers them.
const ERRORS: [i32; 6] = [5, 28, 122, 24, 30, 13];

fn check_fault(fixture: &ProofFixture, calm: &Calm, fault: Fault) {
    fixture.reset();
    let recorder = Recorder::new(fault);
    let first = fixture.process(recorder.disk(), &clock(0));
    assert!(recorder.fired() > 0, "{fault:?} did not happen");
    let operation = &calm.log[at(fault)];
    check_readable(fixture, &(fault, operation));
    check_kept(&first.told, &fixture.judged(), &(fault, operation));
    if first.end.is_ok() {
        assert!(fixture.is_complete(), "{fault:?} ({operation}): it says that it is done");
    }
    let second = fixture.process(Recorder::new(Fault::Never).disk(), &clock(1));
    if let Err(stopped) = &second.end {
        panic!("{fault:?} ({operation}): {stopped:?}, after {:?}", first.end);
    }
    assert!(fixture.is_complete(), "{fault:?} ({operation})");
    fixture.picture().check(&calm.picture, &(fault, operation, first.end));
}

fn at(fault: Fault) -> usize {
    match fault {
        Fault::Once(at, _) | Fault::Always(at, _) | Fault::Short(at, _) => at,
        Fault::Never | Fault::Crash(_) | Fault::Torn(_) | Fault::CrashAfter(_) => 0,
    }
}

#[test]
fn a_disk_that_fails_anywhere_is_said_and_survived() {
    let piece: fn() -> Piece = match scale() {
        Scale::Sample => three,
        Scale::Full => twelve,
    };
    let (faults, operations) = check_every_fault(piece);
    record::proven(
        "D3",
        &format!(
            "{faults} faults over {operations} operations, reads and opens too; 0 unreadable, 0 that did not resume"
        ),
    );
}

/// Lets the disk fail at every operation, or a sample of them. Returns the numbers of faults and of operations.
pub(crate) fn check_every_fault(piece: fn() -> Piece) -> (usize, usize) {
    let scale = scale();
    let calm = Calm::of(&ProofFixture::new(piece()));
    let mut cases = Vec::new();
    let step = if scale == Scale::Full { 1 } else { (calm.operations / 60).max(2) };
    for n in (0..calm.operations).step_by(step) {
        let errors = match scale {
            Scale::Sample => vec![ERRORS[n / step % 6]],
            Scale::Full => ERRORS.to_vec(),
        };
        for error in errors {
            cases.extend([Fault::Once(n, error), Fault::Always(n, error)]);
        }
        if calm.log[n].starts_with("write ") {
            cases.extend([Fault::Short(n, 0), Fault::Short(n, 1), Fault::Short(n, 600)]);
        }
    }
    spread(piece, &cases, |fixture, fault| check_fault(fixture, &calm, *fault));
    (cases.len(), calm.operations)
}

#[test]
fn words_that_cannot_be_recorded_are_not_said() {
    let golden_fixture = GoldenFixture::set("002-branch-greenfield");
    let words = &golden_fixture.script.inputs[0];
    // Up to the first question, with the number of operations that it takes.
    let begin = |recorder: &Arc<Recorder>| {
        golden_fixture.reset_project();
        let store = golden_fixture.store(recorder.disk());
        let mut run = Runtime::new(&store, ToolServers::none())
            .by(ticking())
            .start(&golden_fixture.plan())
            .unwrap();
        drive(&mut run, &golden_fixture.model, &mut Vec::new()).unwrap();
        run
    };
    let calm = Recorder::new(Fault::Never);
    drop(begin(&calm));
    let recorder = Recorder::new(Fault::Once(calm.count(), 28));
    let mut run = begin(&recorder);
    let id = RunId::parse(run.id()).unwrap();
    let said = run.say(words, &mut |event| panic!("{event:?} was told"));
    assert!(matches!(said, Err(Halt::Log(_))), "{said:?}");
    assert!(run.is_broken());
    // Leaving the run does not record the input either.
    run.finish(&run.rest().unwrap(), &mut |_| {}).unwrap();
    drop(run);
    let store = golden_fixture.store(Disk::real());
    let runtime = Runtime::new(&store, ToolServers::none()).by(ticking());
    let mut run = runtime.resume(&id, &SettingsChange::default()).unwrap();
    run.say(words, &mut |_| {}).unwrap();
    drive(&mut run, &golden_fixture.model, &mut Vec::new()).unwrap();
    let events = store.runs().look(&id).unwrap().recovered.events;
    let inputs =
        events.iter().filter(|event| matches!(event.kind, EventKind::User(UserEvent::Input(_))));
    assert_eq!(inputs.count(), 1);
}
