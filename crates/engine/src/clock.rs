//! Clock port, so that tests can supply their own time.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::SystemTime;

use jiff::Timestamp;

/// Source of the current time.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> Timestamp + Send + Sync>);

impl Clock {
    /// Returns the system clock.
    pub fn system() -> Self {
        Self(Arc::new(now))
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

/// Returns the time of the system; a clock beyond the years that can be written counts as the last or first moment.
pub fn now() -> Timestamp {
    of_system(SystemTime::now())
}

fn of_system(time: SystemTime) -> Timestamp {
    let is_past = time < SystemTime::UNIX_EPOCH;
    let end = if is_past { Timestamp::UNIX_EPOCH } else { LAST };
    Timestamp::try_from(time).unwrap_or(end).min(LAST)
}

/// Last moment of a clock. Behind it there is room for the times that are reckoned from it, in every time zone.
const LAST: Timestamp = Timestamp::constant(250_000_000_000, 0);

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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_clock_at_the_end_of_the_years_can_be_read_and_written() {
        let end = SystemTime::UNIX_EPOCH + Duration::from_secs(253_402_300_790);
        let now = of_system(end);
        assert_eq!(for_events(now), "9892-03-08T12:26:40.000Z");
        assert!(now.checked_add(jiff::SignedDuration::from_hours(24 * 365)).is_ok());
    }
}
