//! Parallel loop over many files, in small blocks, stopped by the first error.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// Items that a thread takes at a time: few enough to balance the load, enough to stay within one folder.
const BLOCK: usize = 16;
/// Thread limit; more threads only wait for the disk.
const MAX_THREADS: usize = 8;

/// Calls `work` for every index below `count`, each thread with its own state from `start`. Of several errors it
/// returns the one with the lowest index.
pub fn for_each<S, E: Send>(
    count: usize,
    start: impl Fn() -> S + Sync,
    work: impl Fn(&mut S, usize) -> Result<(), E> + Sync,
) -> Result<(), E> {
    let next = AtomicUsize::new(0);
    let stopped = AtomicBool::new(false);
    let error: Mutex<Option<(usize, E)>> = Mutex::new(None);
    let run = || {
        let mut state = start();
        while !stopped.load(Ordering::Relaxed) {
            let from = next.fetch_add(BLOCK, Ordering::Relaxed);
            if from >= count {
                return;
            }
            for index in from..count.min(from + BLOCK) {
                let Err(found) = work(&mut state, index) else { continue };
                stopped.store(true, Ordering::Relaxed);
                let mut error = error.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
                if error.as_ref().is_none_or(|(earlier, _)| index < *earlier) {
                    *error = Some((index, found));
                }
                return;
            }
        }
    };
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = cores.min(MAX_THREADS).min(count.div_ceil(BLOCK));
    std::thread::scope(|scope| {
        for _ in 1..threads {
            scope.spawn(run);
        }
        run();
    });
    match error.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
        Some((_, error)) => Err(error),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_is_visited_once() {
        for count in [0, 1, BLOCK, 1000] {
            let visits: Vec<AtomicUsize> = (0..count).map(|_| AtomicUsize::new(0)).collect();
            let visit = |(): &mut (), index: usize| {
                visits[index].fetch_add(1, Ordering::Relaxed);
                Ok::<(), ()>(())
            };
            assert_eq!(for_each(count, || (), visit), Ok(()));
            assert!(visits.iter().all(|visits| visits.load(Ordering::Relaxed) == 1));
        }
    }

    #[test]
    fn an_error_stops_the_work_and_is_told() {
        let fail = |(): &mut (), index: usize| if index == 3 { Err(index) } else { Ok(()) };
        assert_eq!(for_each(1000, || (), fail), Err(3));
    }
}
