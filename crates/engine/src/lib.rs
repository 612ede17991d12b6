//! Everything around the pure rules of `crewagent-core`: the store, tools, journals, and the runtime that drives runs.
//!
//! A package is opened by [`crewagent_source::Source`] and installed in a [`store::Store`].

pub mod blobs;
pub mod cancel;
pub mod changes;
pub mod clock;
pub mod control;
pub mod conversation;
pub mod doctor;
mod documents;
mod driver;
pub mod export;
pub mod host;
pub mod journal;
pub mod model;
pub mod runtime;
pub mod step_log;
pub mod store;
pub mod tool_server;
pub mod tools;
pub mod workers;

use crewagent_files::durable;
pub use crewagent_files::{disk, mounts, private};
