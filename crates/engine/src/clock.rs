//! Clock port, so that tests can supply their own time.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

/// Source of the current time.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// Returns the system clock.
    pub fn system() -> Self {
        Self(Arc::new(Timestamp::now))
    }

    /// Returns a clock that starts at `start` and advances by `milliseconds` on every read.
    pub fn stepping(start: Timestamp, milliseconds: i64) -> Self {
        let next = AtomicI64::new(start.as_millisecond());
        Self(Arc::new(move || {
            let now = next.fetch_add(milliseconds, Ordering::SeqCst);
            Timestamp::from_millisecond(now).unwrap_or(Timestamp::MAX)
        }))
    }

    /// Returns the current time, cut to whole milliseconds so that a recorded time equals the one that was used.
    pub fn now(&self) -> Timestamp {
        let now = (self.0)();
        Timestamp::from_millisecond(now.as_millisecond()).unwrap_or(now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Clock")
    }
}

/// Formats a time for events: milliseconds, always the same length.
pub(crate) fn for_events(time: Timestamp) -> String {
    format!("{time:.3}")
}

/// Formats a time for documents: whole seconds.
pub(crate) fn for_people(time: Timestamp) -> String {
    format!("{time:.0}")
}
