//! When a call has to end: at its time, or when the user wishes so. Long work asks now and then.

use std::time::{Duration, Instant};

use crate::model::Cancel;

/// The end of a call.
#[derive(Clone, Debug, Default)]
pub struct Deadline {
    /// None is never.
    end: Option<Instant>,
    cancel: Cancel,
}

impl Deadline {
    /// After this time, or when the user stops the run.
    pub fn after(limit: Duration, cancel: &Cancel) -> Self {
        Self { end: Instant::now().checked_add(limit), cancel: cancel.clone() }
    }

    /// When the user stops the run, and not before.
    pub fn whenever(cancel: &Cancel) -> Self {
        Self { end: None, cancel: cancel.clone() }
    }

    /// The same, but not later than this from now.
    #[must_use]
    pub fn within(&self, limit: Duration) -> Self {
        let limited = Self::after(limit, &self.cancel);
        let end = [self.end, limited.end].into_iter().flatten().min();
        Self { end, ..limited }
    }

    /// Waits until it is over.
    pub(crate) async fn over(&self) {
        match self.end {
            None => self.cancel.cancelled().await,
            Some(end) => tokio::select! {
                () = tokio::time::sleep_until(end.into()) => {}
                () = self.cancel.cancelled() => {}
            },
        }
    }

    /// Whether to end now.
    pub fn is_over(&self) -> bool {
        self.cancel.is_cancelled() || self.is_late()
    }

    /// Whether the time is over.
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
