//! Work that looks at a flag now and then, ended by a deadline or by the user.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::{Duration, Instant};

use crate::model::Cancel;

/// How often the user's wish is looked at.
const GLANCE: Duration = Duration::from_millis(50);

/// How the work ended.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ended<R> {
    /// By itself, or because the user wished so.
    InTime(R),
    /// The deadline came first; what it gave is worth nothing.
    TooLate,
}

/// Does the work with a flag that is raised when the time is over, or when the user stops the run.
pub(crate) fn within<R>(
    limit: Duration,
    cancel: &Cancel,
    work: impl FnOnce(&AtomicBool) -> R,
) -> Ended<R> {
    let raised = AtomicBool::new(false);
    let late = AtomicBool::new(false);
    let result = std::thread::scope(|scope| {
        let (finished, is_finished) = mpsc::channel::<()>();
        // Without a watcher the work takes as long as it takes, and only the user's wish is not heard.
        let _ = std::thread::Builder::new().spawn_scoped(scope, || {
            let end = Instant::now().checked_add(limit);
            // Moved in, so that the watcher sees the other end go.
            let is_finished = is_finished;
            while is_finished.recv_timeout(GLANCE.min(limit)) == Err(RecvTimeoutError::Timeout) {
                let over = end.is_some_and(|end| Instant::now() >= end);
                if over || cancel.is_cancelled() {
                    late.store(over, Ordering::SeqCst);
                    raised.store(true, Ordering::SeqCst);
                    break;
                }
            }
        });
        let result = work(&raised);
        drop(finished);
        result
    });
    if late.load(Ordering::SeqCst) { Ended::TooLate } else { Ended::InTime(result) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until_raised(flag: &AtomicBool) {
        while !flag.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
    }

    #[test]
    fn work_that_ends_in_time_gives_its_result() {
        assert_eq!(within(Duration::from_secs(60), &Cancel::default(), |_| 7), Ended::InTime(7));
    }

    #[test]
    fn the_flag_is_raised_when_the_time_is_over() {
        let ended = within(Duration::from_millis(1), &Cancel::default(), until_raised);
        assert_eq!(ended, Ended::TooLate);
    }

    #[test]
    fn the_flag_is_raised_when_the_user_stops() {
        let cancel = Cancel::default();
        cancel.cancel();
        let ended = within(Duration::from_secs(60), &cancel, until_raised);
        assert_eq!(ended, Ended::InTime(()));
    }
}
