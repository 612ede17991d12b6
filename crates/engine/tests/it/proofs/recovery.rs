//! D4: the process dies, the one that resumes dies as well, and the third completes the run.

use std::collections::BTreeMap;
use std::fs;

use super::fixture::{ProofFixture, check_kept, clock};
use super::kill::{Calm, check_readable, replies};
use super::record::{Scale, scale};
use super::twelve::three;
use super::{record, spread};
use crate::disk_hook::{Fault, Recorder};
use crate::golden_fixture::tree;

/// Operations of the first process and of the second one.
const FIRST: usize = 200;
const SECOND: usize = 50;

/// Everything that a process left behind.
struct Remains(BTreeMap<String, Vec<u8>>);

impl Remains {
    fn of(fixture: &ProofFixture) -> Self {
        let all = tree(fixture.root()).into_iter();
        let ours =
            |name: &String| name.starts_with("project/") || name.starts_with("home/projects/");
        Self(all.filter(|(name, _)| ours(name)).collect())
    }

    fn restore(&self, fixture: &ProofFixture) {
        fixture.clear();
        for (name, bytes) in &self.0 {
            let path = fixture.root().join(name);
            if name.ends_with('/') {
                fs::create_dir_all(path).unwrap();
            } else {
                fs::write(path, bytes).unwrap();
            }
        }
    }
}

/// Checks all deaths of the second process after one death of the first.
fn check_pairs(fixture: &ProofFixture, calm: &Calm, first: usize, seconds: &[usize]) {
    fixture.reset();
    let recorder = Recorder::new(Fault::Crash(first));
    let died = fixture.process(recorder.disk(), &clock(0));
    assert!(recorder.fired() > 0 && died.end.is_err(), "{first}: it did not die");
    let remains = Remains::of(fixture);
    for second in seconds {
        let pair = (first, *second);
        remains.restore(fixture);
        let recorder = Recorder::new(Fault::Crash(*second));
        let again = fixture.process(recorder.disk(), &clock(1));
        assert!(recorder.fired() > 0 && again.end.is_err(), "{pair:?}: it did not die");
        check_readable(fixture, &pair);
        let judged = fixture.judged();
        check_kept(&died.told, &judged, &pair);
        check_kept(&again.told, &judged, &pair);
        let third = fixture.process(Recorder::new(Fault::Never).disk(), &clock(2));
        if let Err(stopped) = &third.end {
            panic!("{pair:?}: {stopped:?}");
        }
        let known = replies(&judged.events);
        let asked = third.model.asked();
        assert!(asked.iter().all(|turn| !known.contains(turn)), "{pair:?}: asked again");
        fixture.picture().check(&calm.picture, &pair);
    }
}

#[test]
fn a_process_that_dies_while_it_takes_over_leaves_nothing_worse_than_it_was() {
    let calm = Calm::of(&ProofFixture::new(three()));
    assert!(calm.operations >= FIRST, "{} operations are too few", calm.operations);
    let (first, second) = match scale() {
        Scale::Sample => (7, 6),
        Scale::Full => (1, 1),
    };
    let firsts: Vec<usize> = (0..FIRST).step_by(first).collect();
    // The offset differs each time, so that all operations are covered.
    let seconds = |n: usize| (n % second..SECOND).step_by(second).collect::<Vec<usize>>();
    let pairs: usize = firsts.iter().map(|n| seconds(*n).len()).sum();
    spread(three, &firsts, |fixture, n| check_pairs(fixture, &calm, *n, &seconds(*n)));
    record::proven("D4", &format!("{pairs} pairs of deaths; 0 failures"));
}
