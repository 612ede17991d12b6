//! Adapters behind the engine's ports: everything that a run needs of the network and of other processes.
//!
//! This is the only crate that opens outgoing sockets and starts processes for a run. [`names`] resolves the name of a
//! model, [`chat`] reaches models over HTTP, [`mcp`] reaches tool servers.
#![allow(clippy::disallowed_methods, reason = "this crate starts processes and opens sockets")]

pub mod chat;
mod io;
pub mod mcp;
pub mod names;
