//! Everything around the pure rules of `crewagent-core`: packages on disk, the store, tools, journals, and the runtime
//! that drives runs.
//!
//! A package is opened by [`source::Source`], checked whole by [`inspect::inspect`], written by [`pack::pack`] and
//! installed in a [`store::Store`].

pub mod author;
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
pub mod inspect;
pub mod journal;
pub mod model;
pub mod mounts;
pub mod pack;
pub mod runtime;
pub mod source;
pub mod step_log;
pub mod store;
pub mod tool_server;
pub mod tools;
pub mod workers;

/// Returns the version of this runtime, which a package may restrict.
pub fn runtime_version() -> semver::Version {
    semver::Version::parse(env!("CARGO_PKG_VERSION"))
        .unwrap_or_else(|_| semver::Version::new(0, 0, 0))
}
