//! Waiting in tests for another thread or process.

use std::thread;
use std::time::{Duration, Instant};

/// A condition that does not hold by then never will.
const TIMEOUT: Duration = Duration::from_secs(120);
/// Pause between two checks.
const INTERVAL: Duration = Duration::from_millis(5);

/// Waits until a condition holds, and panics if it does not within two minutes.
#[track_caller]
pub fn eventually(mut condition: impl FnMut() -> bool) {
    let deadline = Instant::now() + TIMEOUT;
    while !condition() {
        assert!(Instant::now() < deadline, "the condition did not hold within {TIMEOUT:?}");
        thread::park_timeout(INTERVAL);
    }
}
