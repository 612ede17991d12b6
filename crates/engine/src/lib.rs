//! The world around the rules of `crewagent-core`: packages on disk, and the store that keeps them.
//!
//! A package comes in through [`source::Source`], is checked whole by [`inspect::inspect`], is written by
//! [`pack::pack`], and lives in a [`store::Store`].

pub mod author;
pub mod blobs;
pub mod cancel;
pub mod changes;
pub mod clock;
pub mod control;
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
pub mod session;
pub mod source;
pub mod step_log;
pub mod store;
pub mod tool_server;
pub mod tools;
pub mod workers;

/// The version of this runtime, which a package may have an opinion about.
pub fn runtime_version() -> semver::Version {
    semver::Version::parse(env!("CARGO_PKG_VERSION"))
        .unwrap_or_else(|_| semver::Version::new(0, 0, 0))
}
