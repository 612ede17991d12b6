//! Models that answer from a file, without a network: a scenario, or a recorded run.
//!
//! [`scripted`] reads the scenario language of `docs/scenarios.md`, [`record`] writes a run as a scenario, and
//! [`replay`] answers with the replies of a recorded run. [`sample`] holds the package and the scenario of the demo.
//! [`walk`] plays every edge of a package without a scenario.

pub mod record;
pub mod replay;
pub mod sample;
pub mod scripted;
pub mod walk;
