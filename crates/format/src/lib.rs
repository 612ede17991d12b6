//! The package format: what a package is, how its files are read and checked, what a mistake in it is called.
//!
//! This crate does no IO, reads no clock and draws no randomness. Files come in as values, a checked package or findings
//! go out as values. It knows nothing of runs.

pub mod code;
pub mod condition;
pub mod diagnostic;
pub mod frontmatter;
pub mod id;
pub mod integrity;
pub mod package;
pub mod path;
pub mod placeholder;
pub mod scaffold;
pub mod schema;
mod shape;
pub mod syntax;
pub mod text;
pub mod version;
pub mod wording;
