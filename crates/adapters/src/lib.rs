//! What a run needs of the network and of other processes: the adapters behind the engine's ports.
//!
//! The only crate that opens outgoing sockets and starts processes for a run. [`names`] says which model a name means,
//! [`chat`] reaches models over HTTP, [`mcp`] reaches tool servers.
#![allow(clippy::disallowed_methods, reason = "this crate starts processes and opens sockets")]

pub mod chat;
mod io;
pub mod mcp;
pub mod names;
