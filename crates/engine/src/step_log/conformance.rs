//! The suite that every step log must pass, whichever host stores its records. A host crate implements
//! [`StepLogFixture`] and calls `step_log_conformance!`.
#![allow(clippy::unwrap_used, clippy::panic, reason = "a test that cannot go on fails")]

use std::cell::RefCell;

use crewagent_core::event::{Event, EventKind, Phase, PhaseChanged, RunFailed, UserInput};

use super::{Halt, Once, StepContext, StepLog, StepRecord, StepWork};

/// A host with one run that is opened by several processes.
pub trait StepLogFixture {
    /// Creates a run without events.
    fn new() -> Self;

    /// Opens the run in a process that ends when this returns.
    fn process<R>(&self, work: impl FnOnce(&mut dyn StepLog) -> R) -> R;

    /// Does the same on a disk that stays unchanged from this operation on. Returns none if the run cannot be opened.
    fn dying<R>(&self, operation: usize, work: impl FnOnce(&mut dyn StepLog) -> R) -> Option<R>;

    /// Returns all recorded events.
    fn recorded(&self) -> Vec<Event>;
}

/// Defines one test for each property, for a fixture.
#[macro_export]
macro_rules! step_log_conformance {
    ($fixture:ty) => {
        $crate::step_log_conformance! { $fixture:
            a_step_is_recorded_once_and_replayed
            work_that_failed_is_done_again
            what_may_happen_once_is_in_doubt_after_a_death
            an_intent_is_durable_before_the_work
            keys_out_of_order_do_not_fit
            derived_events_are_emitted_once
            derived_events_that_were_lost_are_emitted_by_the_next
            signals_come_in_their_order
            what_was_flushed_outlives_the_process
            epochs_grow
            events_are_numbered_and_dated
        }
    };
    ($fixture:ty: $($test:ident)*) => {
        $(#[test]
        fn $test() {
            $crate::step_log::conformance::$test::<$fixture>();
        })*
    };
}

/// A fixture, and the events that its last process emitted.
struct Harness<F> {
    fixture: F,
    emitted: RefCell<Vec<Event>>,
}

impl<F: StepLogFixture> Harness<F> {
    fn new() -> Self {
        Self { fixture: F::new(), emitted: RefCell::default() }
    }

    fn process<R>(&self, work: impl FnOnce(&mut Process<'_>) -> R) -> R {
        self.emitted.borrow_mut().clear();
        self.fixture.process(|log| work(&mut Process { log, emitted: &self.emitted }))
    }

    fn dying<R>(&self, operation: usize, work: impl FnOnce(&mut Process<'_>) -> R) -> Option<R> {
        self.emitted.borrow_mut().clear();
        let emitted = &self.emitted;
        self.fixture.dying(operation, |log| work(&mut Process { log, emitted }))
    }

    fn emitted(&self) -> Vec<Event> {
        self.emitted.borrow().clone()
    }

    fn recorded(&self) -> Vec<Event> {
        self.fixture.recorded()
    }
}

/// A process that owns the run and listens to its events.
struct Process<'p> {
    log: &'p mut dyn StepLog,
    emitted: &'p RefCell<Vec<Event>>,
}

impl Process<'_> {
    fn step(&mut self, key: &str, work: &mut StepWork<'_>) -> Result<StepRecord, Halt> {
        self.log.step(key, work, &mut |event| self.emitted.borrow_mut().push(event.clone()))
    }

    fn once(
        &mut self,
        key: &str,
        intent: EventKind,
        work: &mut StepWork<'_>,
    ) -> Result<Once, Halt> {
        let mut listener = |event: &Event| self.emitted.borrow_mut().push(event.clone());
        self.log.once(key, &mut || Ok(intent.clone()), work, &mut listener)
    }

    fn emit(&mut self, kind: EventKind) {
        self.log.emit(kind, &mut |event| self.emitted.borrow_mut().push(event.clone()));
    }

    fn signal(&mut self, kind: EventKind) -> Result<StepRecord, Halt> {
        self.log.signal(kind, &mut |event| self.emitted.borrow_mut().push(event.clone()))
    }

    fn recorded_signal(&mut self) -> Option<StepRecord> {
        self.log.recorded_signal()
    }

    fn flush(&mut self) -> Result<(), Halt> {
        self.log.flush()
    }

    fn is_replaying(&self) -> bool {
        self.log.is_replaying()
    }

    fn epoch(&self) -> u64 {
        self.log.epoch()
    }
}

fn emission(words: &str) -> EventKind {
    EventKind::from(RunFailed { message: words.to_owned(), partial: None })
}

fn phase(phase: Phase) -> EventKind {
    EventKind::from(PhaseChanged { phase, reason: None, message: None })
}

fn input(words: &str) -> EventKind {
    EventKind::from(UserInput { text: words.into(), for_node_id: None, call_id: None })
}

/// Performs a step whose result has this text.
fn say(log: &mut Process<'_>, key: &str, words: &str) -> Result<StepRecord, Halt> {
    log.step(key, &mut |_| Ok(emission(words)))
}

/// Replays a step that must be recorded.
fn again(log: &mut Process<'_>, key: &str) -> EventKind {
    let recorded = log.step(key, &mut |_| panic!("{key} is done again"));
    recorded.unwrap().kind
}

/// Fails the test, because this work must not be done.
fn never(_: &mut dyn StepContext) -> Result<EventKind, Halt> {
    panic!("it is done again")
}

fn dead() -> Halt {
    Halt::Unfit("the process is dead".to_owned())
}

/// Checks that a later process gets the record instead of the work.
pub fn a_step_is_recorded_once_and_replayed<F: StepLogFixture>() {
    let harness = Harness::<F>::new();
    let first = harness.process(|log| {
        assert!(!log.is_replaying());
        let first = say(log, "t0/llm/1", "one").unwrap();
        say(log, "t0/llm/2", "two").unwrap();
        first
    });
    for _ in 0..2 {
        harness.process(|log| {
            assert!(log.is_replaying());
            let given = log.step("t0/llm/1", &mut |_| panic!("it is done again")).unwrap();
            assert_eq!(given, first, "kind and time are those of the record");
            assert_eq!(again(log, "t0/llm/2"), emission("two"));
            assert!(!log.is_replaying());
        });
    }
    let keys = harness.recorded().into_iter().filter_map(|event| event.key);
    assert_eq!(keys.collect::<Vec<_>>(), ["t0/llm/1", "t0/llm/2"]);
}

/// Checks that failed work leaves no record.
pub fn work_that_failed_is_done_again<F: StepLogFixture>() {
    let harness = Harness::<F>::new();
    harness.process(|log| {
        assert!(log.step("t0/llm/1", &mut |_| Err(dead())).is_err());
        // A retry in the same process works as well.
        assert_eq!(say(log, "t0/llm/1", "one").unwrap().kind, emission("one"));
        assert!(log.step("t0/llm/2", &mut |_| Err(dead())).is_err());
    });
    harness.process(|log| {
        assert_eq!(again(log, "t0/llm/1"), emission("one"));
        assert_eq!(say(log, "t0/llm/2", "two").unwrap().kind, emission("two"));
    });
}

/// Checks that work with an intent but no result is in doubt for every later process.
pub fn what_may_happen_once_is_in_doubt_after_a_death<F: StepLogFixture>() {
    let harness = Harness::<F>::new();
    harness.process(|log| {
        let done =
            log.once("t0/tool/1/a", emission("will"), &mut |_| Ok(emission("done"))).unwrap();
        assert!(matches!(done, Once::Done(done) if done.kind == emission("done")));
        assert!(log.once("t0/tool/1/b", emission("will"), &mut |_| Err(dead())).is_err());
    });
    // The outcome stays in doubt, whatever follows.
    for next in ["three", "never"] {
        harness.process(|log| {
            let done = log.once("t0/tool/1/a", emission("will"), &mut never).unwrap();
            assert!(matches!(done, Once::Done(done) if done.kind == emission("done")));
            assert_eq!(
                log.once("t0/tool/1/b", emission("will"), &mut never).unwrap(),
                Once::InDoubt
            );
            if !log.is_replaying() {
                say(log, "t0/llm/2", next).unwrap();
            } else {
                assert_eq!(again(log, "t0/llm/2"), emission("three"));
            }
        });
    }
}

/// Checks that the work is done at most once, wherever the process dies.
pub fn an_intent_is_durable_before_the_work<F: StepLogFixture>() {
    for operation in 0..40 {
        let harness = Harness::<F>::new();
        let happened = RefCell::new(0);
        let operate = |log: &mut Process<'_>| {
            let done = log.once("t0/tool/1/a", emission("will"), &mut |_| {
                *happened.borrow_mut() += 1;
                Ok(emission("done"))
            });
            done.is_ok()
        };
        harness.dying(operation, operate);
        let before = *happened.borrow();
        harness.process(operate);
        assert!(before <= 1 && *happened.borrow() <= 1, "after {operation} operations");
    }
}

/// Checks that a program with other keys is rejected.
pub fn keys_out_of_order_do_not_fit<F: StepLogFixture>() {
    let harness = Harness::<F>::new();
    harness.process(|log| {
        say(log, "t0/llm/1", "one").unwrap();
        log.signal(input("hello")).unwrap();
        say(log, "t1/llm/2", "two").unwrap();
    });
    harness.process(|log| {
        let other = log.step("t0/llm/2", &mut |_| panic!("it is done"));
        assert!(matches!(other, Err(Halt::Unfit(_))), "{other:?}");
    });
    harness.process(|log| {
        again(log, "t0/llm/1");
        let skipped = log.step("t1/llm/2", &mut |_| panic!("it is done"));
        assert!(matches!(skipped, Err(Halt::Unfit(_))), "a signal was passed over: {skipped:?}");
    });
    assert_eq!(harness.recorded().iter().filter(|event| event.key.is_some()).count(), 2);
}

/// Checks that replay does not emit derived events again.
pub fn derived_events_are_emitted_once<F: StepLogFixture>() {
    let harness = Harness::<F>::new();
    let program = |log: &mut Process<'_>| {
        log.emit(phase(Phase::Running));
        let _ = say(log, "t0/llm/1", "one").unwrap();
        log.emit(phase(Phase::WaitingUser));
        log.emit(emission("a note"));
    };
    harness.process(|log| {
        program(log);
        log.flush().unwrap();
    });
    assert_eq!(harness.emitted().len(), 4);
    for _ in 0..3 {
        harness.process(|log| {
            program(log);
            log.flush().unwrap();
        });
        assert_eq!(harness.emitted(), [], "what is recorded is not emitted again");
        let record: Vec<EventKind> =
            harness.recorded().into_iter().map(|event| event.kind).collect();
        let expected =
            [phase(Phase::Running), emission("one"), phase(Phase::WaitingUser), emission("a note")];
        assert_eq!(record, expected);
    }
}

/// Checks that the next process emits derived events that were not written.
pub fn derived_events_that_were_lost_are_emitted_by_the_next<F: StepLogFixture>() {
    let harness = Harness::<F>::new();
    let program = |log: &mut Process<'_>| {
        let _ = say(log, "t0/llm/1", "one").unwrap();
        log.emit(phase(Phase::WaitingUser));
        log.emit(emission("a note"));
    };
    // The process ends before it writes them.
    harness.process(program);
    assert_eq!(harness.recorded().len(), 1);
    harness.process(|log| {
        program(log);
        log.flush().unwrap();
    });
    let emitted: Vec<EventKind> = harness.emitted().into_iter().map(|event| event.kind).collect();
    assert_eq!(emitted, [phase(Phase::WaitingUser), emission("a note")]);
    assert_eq!(harness.recorded().len(), 3);
}

/// Checks that signals are replayed at their position.
pub fn signals_come_in_their_order<F: StepLogFixture>() {
    let harness = Harness::<F>::new();
    harness.process(|log| {
        say(log, "t0/llm/1", "one").unwrap();
        assert_eq!(log.recorded_signal(), None);
        log.signal(input("first")).unwrap();
        log.signal(input("second")).unwrap();
        say(log, "t2/llm/2", "two").unwrap();
    });
    harness.process(|log| {
        assert_eq!(log.recorded_signal(), None, "a step comes first");
        again(log, "t0/llm/1");
        assert_eq!(log.recorded_signal().unwrap().kind, input("first"));
        assert_eq!(log.recorded_signal().unwrap().kind, input("second"));
        assert_eq!(log.recorded_signal(), None);
        again(log, "t2/llm/2");
        assert!(!log.is_replaying());
    });
}

/// Checks that flushed records survive, wherever the process dies.
pub fn what_was_flushed_outlives_the_process<F: StepLogFixture>() {
    for operation in 0..60 {
        let harness = Harness::<F>::new();
        let flushed = RefCell::new(0);
        harness.dying(operation, |log| {
            for (n, key) in ["a", "b", "c"].into_iter().enumerate() {
                if say(log, key, key).is_err() {
                    return;
                }
                log.emit(emission("noted"));
                if log.flush().is_err() {
                    return;
                }
                *flushed.borrow_mut() = 2 * (n + 1);
            }
        });
        let recorded = harness.recorded();
        let numbers: Vec<u64> = recorded.iter().map(|event| event.seq).collect();
        assert_eq!(numbers, (1..=numbers.len() as u64).collect::<Vec<_>>());
        assert!(recorded.len() >= *flushed.borrow(), "after {operation} operations");
        harness.process(|log| {
            for key in ["a", "b", "c"] {
                assert_eq!(say(log, key, key).unwrap().kind, emission(key));
            }
        });
    }
}

/// Checks that every process has a higher epoch.
pub fn epochs_grow<F: StepLogFixture>() {
    let harness = Harness::<F>::new();
    let mut last = 0;
    for _ in 0..4 {
        let epoch = harness.process(|log| log.epoch());
        assert!(epoch > last, "{epoch} after {last}");
        last = epoch;
    }
}

/// Checks the numbers and times of events and deltas.
pub fn events_are_numbered_and_dated<F: StepLogFixture>() {
    let harness = Harness::<F>::new();
    harness.process(|log| {
        log.emit(phase(Phase::Running));
        log.step("a", &mut |context| {
            context.emit_delta(emission("a delta"));
            context.emit(emission("noted inside"));
            Ok(emission("a"))
        })
        .unwrap();
    });
    let emitted = harness.emitted();
    let numbers: Vec<(u64, Option<u64>)> =
        emitted.iter().map(|event| (event.seq, event.part)).collect();
    assert_eq!(numbers, [(1, None), (2, Some(1)), (2, None), (3, None)]);
    assert!(emitted.iter().all(|event| event.run_id.is_some() && event.time.ends_with('Z')));
    let recorded = harness.recorded();
    assert_eq!(recorded.len(), 3, "deltas are not recorded");
    assert!(recorded.iter().all(|event| emitted.contains(event)));
}
