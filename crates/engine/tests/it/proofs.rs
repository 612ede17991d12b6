//! The proofs of `docs/reliability.md`: runs that are killed, starved and cut off at every operation on the disk.

mod damage;
mod faults;
pub(crate) mod fixture;
mod gated;
mod kept;
mod kill;
mod mirror;
mod nested;
mod power;
pub(crate) mod record;
mod recovery;
pub(crate) mod twelve;

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use self::fixture::ProofFixture;
use self::twelve::Piece;

/// Works on many cases with all cores, each with a fixture of its own. Counts all failures, not only the first.
fn spread<C: Sync>(piece: fn() -> Piece, cases: &[C], work: impl Fn(&ProofFixture, &C) + Sync) {
    let next = AtomicUsize::new(0);
    let failures = Mutex::new(Vec::new());
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        for _ in 0..cores {
            scope.spawn(|| {
                let fixture = ProofFixture::new(piece());
                while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let worked = catch_unwind(AssertUnwindSafe(|| work(&fixture, case)));
                    failures.lock().unwrap().extend(worked.err().map(words));
                }
            });
        }
    });
    let failures = failures.into_inner().unwrap();
    let first = failures.iter().take(3).map(String::as_str).collect::<Vec<_>>().join("\n\n");
    assert!(failures.is_empty(), "{} of {} cases failed:\n{first}", failures.len(), cases.len());
}

/// Returns the message of a panic.
fn words(panic: Box<dyn Any + Send>) -> String {
    match panic.downcast::<String>() {
        Ok(words) => *words,
        Err(panic) => {
            panic.downcast::<&str>().map_or_else(|_| String::new(), |words| (*words).to_owned())
        }
    }
}
