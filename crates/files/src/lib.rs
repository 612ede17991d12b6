//! Files as a run touches them: every operation can be hooked by a test, nothing leads out of a mount, and what must
//! survive a crash is flushed.

pub mod disk;
pub mod durable;
pub mod mounts;
pub mod private;
