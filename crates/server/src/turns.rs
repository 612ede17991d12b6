//! Heavy requests, one at a time: each takes much memory while it is at work, and a few may wait.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::problem::Problem;
use crate::wire::Code;

/// Requests that may wait or be at work.
const MAX_TAKEN: usize = 16;

/// The queue of heavy requests.
#[derive(Debug, Default)]
pub(crate) struct Turns {
    taken: AtomicUsize,
    running: Mutex<()>,
}

impl Turns {
    /// Does the work when no other is done. Refuses it if too many wait.
    pub(crate) fn take<R>(&self, work: impl FnOnce() -> Result<R, Problem>) -> Result<R, Problem> {
        let before = self.taken.fetch_add(1, Ordering::SeqCst);
        let result = if before < MAX_TAKEN {
            let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
            work()
        } else {
            Err(Problem::new(Code::Busy, "too many requests of this kind wait already")
                .hint("Try again in a moment."))
        };
        self.taken.fetch_sub(1, Ordering::SeqCst);
        result
    }
}

#[cfg(test)]
mod tests {
    use crewagent_testkit::eventually;

    use super::*;

    #[test]
    fn one_is_at_work_a_few_wait_and_the_rest_is_refused() {
        let turns = &Turns::default();
        let (at_work, most) = (&AtomicUsize::new(0), &AtomicUsize::new(0));
        let work = move || {
            most.fetch_max(at_work.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
            at_work.fetch_sub(1, Ordering::SeqCst);
            Ok(())
        };
        std::thread::scope(|scope| {
            let waiting = turns.take(|| {
                let waiting: Vec<_> =
                    (1..MAX_TAKEN).map(|_| scope.spawn(move || turns.take(work))).collect();
                eventually(|| turns.taken.load(Ordering::SeqCst) == MAX_TAKEN);
                assert!(turns.take(|| Ok(())).is_err());
                assert_eq!(most.load(Ordering::SeqCst), 0);
                Ok(waiting)
            });
            assert!(waiting.unwrap().into_iter().all(|one| one.join().unwrap().is_ok()));
        });
        assert_eq!(most.load(Ordering::SeqCst), 1);
        assert_eq!(turns.taken.load(Ordering::SeqCst), 0);
    }
}
