//! Cancellation and deadlines. Long work polls them; async work awaits them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use tokio::sync::Notify;

/// A flag that the user sets to cancel work. Copies share it.
#[derive(Clone, Debug, Default)]
pub struct Cancel(Arc<Flag>);

#[derive(Debug, Default)]
struct Flag {
    is_set: AtomicBool,
    changed: Notify,
}

impl Cancel {
    /// Cancels the work of every holder of a copy.
    pub fn cancel(&self) {
        self.0.is_set.store(true, Ordering::SeqCst);
        self.0.changed.notify_waiters();
    }

    /// Clears the flag, so that new work can start.
    pub(crate) fn renew(&self) {
        self.0.is_set.store(false, Ordering::SeqCst);
    }

    /// Returns true if the work is to stop.
    pub fn is_cancelled(&self) -> bool {
        self.0.is_set.load(Ordering::SeqCst)
    }

    /// Waits until the flag is set.
    pub async fn cancelled(&self) {
        // The waiter is registered before the flag is read, so that a change in between is not missed.
        let changed = self.0.changed.notified();
        if !self.is_cancelled() {
            changed.await;
        }
    }
}

/// A time limit for a call, and the flag that may end it earlier.
#[derive(Clone, Debug, Default)]
pub struct Deadline {
    /// None means that there is no limit.
    end: Option<Instant>,
    cancel: Cancel,
}

impl Deadline {
    /// Returns a deadline after this time, or when the user stops the run.
    pub fn after(limit: Duration, cancel: &Cancel) -> Self {
        Self { end: Instant::now().checked_add(limit), cancel: cancel.clone() }
    }

    /// Returns a deadline that only the user sets, by stopping the run.
    pub fn whenever(cancel: &Cancel) -> Self {
        Self { end: None, cancel: cancel.clone() }
    }

    /// Returns the earlier of this deadline and one after `limit`.
    #[must_use]
    pub fn within(&self, limit: Duration) -> Self {
        let limited = Self::after(limit, &self.cancel);
        let end = [self.end, limited.end].into_iter().flatten().min();
        Self { end, ..limited }
    }

    /// Waits until the deadline has passed or the work is cancelled.
    pub async fn over(&self) {
        match self.end {
            None => self.cancel.cancelled().await,
            Some(end) => tokio::select! {
                () = tokio::time::sleep_until(end.into()) => {}
                () = self.cancel.cancelled() => {}
            },
        }
    }

    /// Returns true if the deadline has passed or the work is cancelled.
    pub fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.is_late()
    }

    /// Returns true if the deadline has passed.
    pub fn is_late(&self) -> bool {
        self.end.is_some_and(|end| Instant::now() >= end)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_over_when_the_time_is() {
        let deadline = Deadline::after(Duration::ZERO, &Cancel::default());
        assert!(deadline.is_late() && deadline.is_over());
        assert!(!Deadline::after(Duration::from_secs(60), &Cancel::default()).is_over());
        assert!(!Deadline::after(Duration::MAX, &Cancel::default()).is_over());
    }

    #[test]
    fn the_sooner_end_counts() {
        let long = Deadline::after(Duration::from_secs(60), &Cancel::default());
        assert!(long.within(Duration::ZERO).is_late());
        let short = Deadline::after(Duration::ZERO, &Cancel::default());
        assert!(short.within(Duration::from_secs(60)).is_late());
    }

    #[test]
    fn it_is_over_when_the_user_stops() {
        let cancel = Cancel::default();
        let deadline = Deadline::after(Duration::from_secs(60), &cancel);
        cancel.cancel();
        assert!(deadline.is_over() && !deadline.is_late());
    }
}
