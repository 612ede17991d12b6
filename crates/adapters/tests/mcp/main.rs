//! Tests of the client with MCP servers of other authors, installed from npm and PyPI by
//! `cargo xtask nightly --only mcp`.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests start programs, and one that cannot go on fails"
)]
#![cfg(unix)]

mod everything;
mod others;
mod servers;
