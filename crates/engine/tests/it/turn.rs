//! What every engine for durable turns must keep, whoever keeps its records. The suite is written against
//! [`Turn`] alone; today the journal passes it.

use std::cell::RefCell;

use crewagent_core::event::{Event, EventKind, Phase, PhaseChanged, RunFailed, UserInput};
use crewagent_engine::clock::Clock;
use crewagent_engine::disk::Disk;
use crewagent_engine::step_log::journal::{Journaled, Records};
use crewagent_engine::step_log::{Halt, Moment, Once, Recorded, Turn};
use crewagent_engine::store::{NewRun, RunId, RunPackage, RunWorkflow, Store, Subject};
use tempfile::TempDir;

use crate::probe::{Fault, Recorder};
use crate::support::{package, scratch, write_all};

/// An engine whose processes come and go.
trait Engine {
    /// An engine with a run in which nothing has happened.
    fn new() -> Self;

    /// A process that has the run for a while. It tells what it tells, and is gone when this returns, however.
    fn process<R>(&self, work: impl FnOnce(&mut dyn Turn) -> R) -> R;

    /// The same, on a disk on which nothing changes from this operation on.
    fn dying<R>(&self, operation: usize, work: impl FnOnce(&mut dyn Turn) -> R) -> Option<R>;

    /// What the last process told.
    fn told(&self) -> Vec<Event>;

    /// What is recorded.
    fn recorded(&self) -> Vec<Event>;
}

fn said(words: &str) -> EventKind {
    EventKind::from(RunFailed { message: words.to_owned(), partial: None })
}

fn phase(phase: Phase) -> EventKind {
    EventKind::from(PhaseChanged { phase, reason: None, message: None })
}

fn input(words: &str) -> EventKind {
    EventKind::from(UserInput { text: words.into(), for_node_id: None, call_id: None })
}

/// A step whose work says these words.
fn say(turn: &mut dyn Turn, key: &str, words: &str) -> Result<Recorded, Halt> {
    turn.step(key, &mut |_| Ok(said(words)))
}

/// A step that must be recorded.
fn again(turn: &mut dyn Turn, key: &str) -> EventKind {
    let recorded = turn.step(key, &mut |_| panic!("{key} is done again"));
    recorded.unwrap().kind
}

/// Work that must not be done.
fn never(_: &mut Moment<'_>) -> Result<EventKind, Halt> {
    panic!("it is done again")
}

fn dead() -> Halt {
    Halt::Unfit("the process is dead".to_owned())
}

fn a_step_is_recorded_once_and_given_back<E: Engine>() {
    let engine = E::new();
    let first = engine.process(|turn| {
        assert!(turn.is_live());
        let first = say(turn, "t0/llm/1", "one").unwrap();
        say(turn, "t0/llm/2", "two").unwrap();
        first
    });
    for _ in 0..2 {
        engine.process(|turn| {
            assert!(!turn.is_live());
            let given = turn.step("t0/llm/1", &mut |_| panic!("it is done again")).unwrap();
            assert_eq!(given, first, "kind and time are those of the record");
            assert_eq!(again(turn, "t0/llm/2"), said("two"));
            assert!(turn.is_live());
        });
    }
    let keys = engine.recorded().into_iter().filter_map(|event| event.key);
    assert_eq!(keys.collect::<Vec<_>>(), ["t0/llm/1", "t0/llm/2"]);
}

fn work_that_failed_is_done_again<E: Engine>() {
    let engine = E::new();
    engine.process(|turn| {
        assert!(turn.step("t0/llm/1", &mut |_| Err(dead())).is_err());
        // In the same process as well.
        assert_eq!(say(turn, "t0/llm/1", "one").unwrap().kind, said("one"));
        assert!(turn.step("t0/llm/2", &mut |_| Err(dead())).is_err());
    });
    engine.process(|turn| {
        assert_eq!(again(turn, "t0/llm/1"), said("one"));
        assert_eq!(say(turn, "t0/llm/2", "two").unwrap().kind, said("two"));
    });
}

fn what_may_happen_once_is_in_doubt_after_a_death<E: Engine>() {
    let engine = E::new();
    engine.process(|turn| {
        let done = turn.once("t0/tool/1/a", said("will"), &mut |_| Ok(said("done"))).unwrap();
        assert!(matches!(done, Once::Done(done) if done.kind == said("done")));
        assert!(turn.once("t0/tool/1/b", said("will"), &mut |_| Err(dead())).is_err());
    });
    // The doubt stays, whatever follows and whoever asks.
    for next in ["three", "never"] {
        engine.process(|turn| {
            let done = turn.once("t0/tool/1/a", said("will"), &mut never).unwrap();
            assert!(matches!(done, Once::Done(done) if done.kind == said("done")));
            assert_eq!(turn.once("t0/tool/1/b", said("will"), &mut never).unwrap(), Once::InDoubt);
            if turn.is_live() {
                say(turn, "t0/llm/2", next).unwrap();
            } else {
                assert_eq!(again(turn, "t0/llm/2"), said("three"));
            }
        });
    }
}

fn an_intent_is_durable_before_the_work<E: Engine>() {
    for operation in 0..40 {
        let engine = E::new();
        let happened = RefCell::new(0);
        let act = |turn: &mut dyn Turn| {
            let done = turn.once("t0/tool/1/a", said("will"), &mut |_| {
                *happened.borrow_mut() += 1;
                Ok(said("done"))
            });
            done.is_ok()
        };
        engine.dying(operation, act);
        let before = *happened.borrow();
        engine.process(act);
        assert!(before <= 1 && *happened.borrow() <= 1, "after {operation} operations");
    }
}

fn keys_out_of_order_do_not_fit<E: Engine>() {
    let engine = E::new();
    engine.process(|turn| {
        say(turn, "t0/llm/1", "one").unwrap();
        turn.signal(input("hello")).unwrap();
        say(turn, "t1/llm/2", "two").unwrap();
    });
    engine.process(|turn| {
        let other = turn.step("t0/llm/2", &mut |_| panic!("it is done"));
        assert!(matches!(other, Err(Halt::Unfit(_))), "{other:?}");
    });
    engine.process(|turn| {
        again(turn, "t0/llm/1");
        let skipped = turn.step("t1/llm/2", &mut |_| panic!("it is done"));
        assert!(matches!(skipped, Err(Halt::Unfit(_))), "a signal was passed over: {skipped:?}");
    });
    assert_eq!(engine.recorded().iter().filter(|event| event.key.is_some()).count(), 2);
}

fn notes_are_told_once<E: Engine>() {
    let engine = E::new();
    let program = |turn: &mut dyn Turn| {
        turn.note(phase(Phase::Running));
        let _ = say(turn, "t0/llm/1", "one").unwrap();
        turn.note(phase(Phase::WaitingUser));
        turn.note(said("a note"));
    };
    engine.process(|turn| {
        program(turn);
        turn.flush().unwrap();
    });
    assert_eq!(engine.told().len(), 4);
    for _ in 0..3 {
        engine.process(|turn| {
            program(turn);
            turn.flush().unwrap();
        });
        assert_eq!(engine.told(), [], "what is recorded is not told again");
        let facts: Vec<EventKind> = engine.recorded().into_iter().map(|event| event.kind).collect();
        let expected =
            [phase(Phase::Running), said("one"), phase(Phase::WaitingUser), said("a note")];
        assert_eq!(facts, expected);
    }
}

fn notes_that_were_lost_are_told_by_the_next<E: Engine>() {
    let engine = E::new();
    let program = |turn: &mut dyn Turn| {
        let _ = say(turn, "t0/llm/1", "one").unwrap();
        turn.note(phase(Phase::WaitingUser));
        turn.note(said("a note"));
    };
    // It dies before they are written.
    engine.process(program);
    assert_eq!(engine.recorded().len(), 1);
    engine.process(|turn| {
        program(turn);
        turn.flush().unwrap();
    });
    let told: Vec<EventKind> = engine.told().into_iter().map(|event| event.kind).collect();
    assert_eq!(told, [phase(Phase::WaitingUser), said("a note")]);
    assert_eq!(engine.recorded().len(), 3);
}

fn signals_come_in_their_order<E: Engine>() {
    let engine = E::new();
    engine.process(|turn| {
        say(turn, "t0/llm/1", "one").unwrap();
        assert_eq!(turn.recorded_signal(), None);
        turn.signal(input("first")).unwrap();
        turn.signal(input("second")).unwrap();
        say(turn, "t2/llm/2", "two").unwrap();
    });
    engine.process(|turn| {
        assert_eq!(turn.recorded_signal(), None, "a step comes first");
        again(turn, "t0/llm/1");
        assert_eq!(turn.recorded_signal().unwrap().kind, input("first"));
        assert_eq!(turn.recorded_signal().unwrap().kind, input("second"));
        assert_eq!(turn.recorded_signal(), None);
        again(turn, "t2/llm/2");
        assert!(turn.is_live());
    });
}

fn what_was_flushed_outlives_the_process<E: Engine>() {
    for operation in 0..60 {
        let engine = E::new();
        let flushed = RefCell::new(0);
        engine.dying(operation, |turn| {
            for (n, key) in ["a", "b", "c"].into_iter().enumerate() {
                if say(turn, key, key).is_err() {
                    return;
                }
                turn.note(said("noted"));
                if turn.flush().is_err() {
                    return;
                }
                *flushed.borrow_mut() = 2 * (n + 1);
            }
        });
        let recorded = engine.recorded();
        let numbers: Vec<u64> = recorded.iter().map(|event| event.seq).collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
        assert!(recorded.len() >= *flushed.borrow(), "after {operation} operations");
        engine.process(|turn| {
            for key in ["a", "b", "c"] {
                assert_eq!(say(turn, key, key).unwrap().kind, said(key));
            }
        });
    }
}

fn epochs_grow<E: Engine>() {
    let engine = E::new();
    let mut last = 0;
    for _ in 0..4 {
        let epoch = engine.process(|turn| turn.epoch());
        assert!(epoch > last, "{epoch} after {last}");
        last = epoch;
    }
}

fn events_are_numbered_and_dated<E: Engine>() {
    let engine = E::new();
    engine.process(|turn| {
        turn.note(phase(Phase::Running));
        turn.step("a", &mut |moment| {
            moment.whisper(said("a whisper"));
            moment.note(said("noted inside"));
            Ok(said("a"))
        })
        .unwrap();
    });
    let told = engine.told();
    let numbers: Vec<(u64, Option<u64>)> =
        told.iter().map(|event| (event.seq, event.part)).collect();
    assert_eq!(numbers, [(1, None), (2, Some(1)), (2, None), (3, None)]);
    assert!(told.iter().all(|event| event.run_id.is_some() && event.time.ends_with('Z')));
    let recorded = engine.recorded();
    assert_eq!(recorded.len(), 3, "whispers are not recorded");
    assert!(recorded.iter().all(|event| told.contains(event)));
}

macro_rules! suite {
    ($engine:ty: $($test:ident)*) => {
        mod journaled {
            $(#[test] fn $test() { super::$test::<$engine>(); })*
        }
    };
}

suite! { super::InStore:
    a_step_is_recorded_once_and_given_back
    work_that_failed_is_done_again
    what_may_happen_once_is_in_doubt_after_a_death
    an_intent_is_durable_before_the_work
    keys_out_of_order_do_not_fit
    notes_are_told_once
    notes_that_were_lost_are_told_by_the_next
    signals_come_in_their_order
    what_was_flushed_outlives_the_process
    epochs_grow
    events_are_numbered_and_dated
}

/// The journal of a run in a store.
struct InStore {
    scratch: TempDir,
    id: RunId,
    told: RefCell<Vec<Event>>,
}

impl InStore {
    fn store(&self, disk: Disk) -> Store {
        Store::open(Some(self.scratch.path().join("home"))).unwrap().on(disk)
    }

    fn on<R>(&self, disk: Disk, work: impl FnOnce(&mut dyn Turn) -> R) -> Option<R> {
        self.told.borrow_mut().clear();
        let store = self.store(disk);
        let folder = store.runs().open(&self.id).ok()?;
        let clock = Clock::stepping("2026-11-15T09:00:00Z".parse().unwrap(), 250);
        let (past, epoch) = (folder.recovered.events, folder.epoch);
        let mut records = Records::new(folder.journal, clock, self.id.as_str(), epoch, past);
        let mut tell = |event: &Event| self.told.borrow_mut().push(event.clone());
        Some(work(&mut Journaled::new(&mut records, &mut tell)))
    }
}

impl Engine for InStore {
    fn new() -> Self {
        let scratch = scratch();
        let project = scratch.path().join("project");
        std::fs::create_dir(&project).unwrap();
        write_all(&scratch.path().join("source"), package());
        let store = Store::open(Some(scratch.path().join("home"))).unwrap();
        let source = scratch.path().join("source");
        let installed = store.packages().import(&source, &mut || ()).unwrap().installed;
        let id = RunId::parse("20261115-090000-aaaaa").unwrap();
        let run = store.runs().create(NewRun {
            project: store.projects().of(&project).unwrap().id,
            subject: Subject::Workflow {
                package: RunPackage::of(&installed),
                workflow: RunWorkflow { id: None, document: "workflow.md".into() },
                agent_id: "worker".into(),
            },
            conversation: None,
            created: "2026-11-15T09:00:00Z".parse().unwrap(),
            documents: vec![(None, "---\nschemaVersion: \"1.1\"\n---\n".into())],
            events: Vec::new(),
            id: id.clone(),
        });
        run.unwrap().close();
        Self { scratch, id, told: RefCell::default() }
    }

    fn process<R>(&self, work: impl FnOnce(&mut dyn Turn) -> R) -> R {
        self.on(Disk::real(), work).unwrap()
    }

    fn dying<R>(&self, operation: usize, work: impl FnOnce(&mut dyn Turn) -> R) -> Option<R> {
        self.on(Recorder::new(Fault::Crash(operation)).disk(), work)
    }

    fn told(&self) -> Vec<Event> {
        self.told.borrow().clone()
    }

    fn recorded(&self) -> Vec<Event> {
        self.store(Disk::real()).runs().look(&self.id).unwrap().recovered.events
    }
}
