//! The clock, as a port: tests bring their own.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use jiff::Timestamp;

/// Tells the time.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// The system's clock.
    pub fn system() -> Self {
        Self(Arc::new(Timestamp::now))
    }

    /// A clock that starts here and moves by so many milliseconds each time it is looked at.
    pub fn stepping(start: Timestamp, milliseconds: i64) -> Self {
        let next = AtomicI64::new(start.as_millisecond());
        Self(Arc::new(move || {
            let now = next.fetch_add(milliseconds, Ordering::SeqCst);
            Timestamp::from_millisecond(now).unwrap_or(Timestamp::MAX)
        }))
    }

    /// The time, in whole milliseconds: what is recorded is what was seen.
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

/// A time as events have it: to the millisecond, always of the same length.
pub(crate) fn for_events(time: Timestamp) -> String {
    format!("{time:.3}")
}

/// A time as documents have it: to the second.
pub(crate) fn for_people(time: Timestamp) -> String {
    format!("{time:.0}")
}
