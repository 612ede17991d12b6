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
    fn it_is_over_when_the_user_stops() {
        let cancel = Cancel::default();
        let deadline = Deadline::after(Duration::from_secs(60), &cancel);
        cancel.cancel();
        assert!(deadline.is_over() && !deadline.is_late());
    }
}
