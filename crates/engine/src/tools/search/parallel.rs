//! Runs work on all cores, in small blocks from first to last.

use std::sync::atomic::{AtomicUsize, Ordering};

/// Number of threads beyond which they only wait for each other.
const MAX_THREADS: usize = 12;

/// Decision after an item.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Then {
    GoOn,
    Stop,
}

/// Calls `work` for every index below `count`, in blocks of this size, in several threads that each have a state from
/// `start`. A thread that gets [`Then::Stop`] leaves the rest to the others.
pub(super) fn for_each<S>(
    count: usize,
    block: usize,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Then + Sync,
) {
    let next = AtomicUsize::new(0);
    let run = || {
        let mut state = start();
        loop {
            let from = next.fetch_add(block, Ordering::Relaxed);
            if from >= count {
                return;
            }
            for index in from..count.min(from + block) {
                if work(&mut state, index) == Then::Stop {
                    return;
                }
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(MAX_THREADS).min(count.div_ceil(block));
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
}
