//! Everything around the pure rules of `crewagent-core`: the store, tools, journals, and the runtime that drives runs.
//!
//! A package is opened by [`crewagent_source::Source`] and installed in a [`store::Store`].

pub mod blobs;
pub mod cancel;
pub mod changes;
pub mod clock;
pub mod control;
pub mod conversation;
pub mod disk;
pub mod doctor;
mod documents;
mod driver;
mod durable;
pub mod export;
pub mod host;
pub mod journal;
pub mod model;
pub mod mounts;
pub mod private;
pub mod runtime;
pub mod step_log;
pub mod store;
pub mod tool_server;
pub mod tools;
pub mod workers;
