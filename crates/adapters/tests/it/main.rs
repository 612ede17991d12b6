//! Tests of the adapters with servers on this computer, alone and under whole runs.
#![cfg(unix)]
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests start programs, and one that cannot go on fails"
)]

#[path = "../../../engine/tests/it/golden_fixture.rs"]
#[allow(dead_code, reason = "the engine's tests use the rest")]
mod golden_fixture;
mod mcp;
mod slips;
mod wire;
