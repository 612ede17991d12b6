//! Models that answer from a file, without a network: a scenario, or a recorded run.
//!
//! [`scripted`] reads the scenario language of `docs/scenarios.md`, [`record`] writes a run as a scenario, and
//! [`replay`] answers as a recorded run was answered. [`sample`] is the package and the scenario of the demo.

pub mod record;
pub mod replay;
pub mod sample;
pub mod scripted;
