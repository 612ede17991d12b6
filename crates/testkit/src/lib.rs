//! Test support: broken archives, packages of every size, a model server on the loopback, a terminal, and MCP servers
//! that misbehave.
#![allow(clippy::disallowed_methods, reason = "tests start programs and connect to them")]

pub mod accept;
pub mod archive;
pub mod files;
pub mod fixture;
pub mod loopback;
pub mod mcp;
pub mod model_server;
pub mod package;
pub mod process;
#[cfg(unix)]
pub mod pty;
pub mod report;
pub mod screen;
pub mod shape;
mod wait;

pub use self::wait::eventually;
