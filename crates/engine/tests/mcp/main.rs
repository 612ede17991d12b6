//! The client against MCP servers that others wrote, installed from npm and PyPI by `cargo xtask test --only mcp`.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm,
    reason = "a test that cannot go on fails"
)]
#![cfg(unix)]

mod everything;
mod others;
mod servers;
