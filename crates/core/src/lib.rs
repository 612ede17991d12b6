//! The rules of CrewAgent: what a package is, which moves are legal, what a mistake is called.
//!
//! This crate does no IO, reads no clock and draws no randomness. Everything it needs comes in as a value,
//! everything it decides goes out as a value.

pub mod call;
pub mod code;
pub mod condition;
pub mod context;
pub mod diagnostic;
pub mod event;
pub mod fork;
pub mod frame_id;
pub mod frontmatter;
pub mod id;
pub mod integrity;
pub mod intent;
pub mod menu;
pub mod message;
pub mod package;
pub mod path;
pub mod payload;
pub mod policy;
pub mod prompt;
pub mod question;
pub mod refusal;
pub mod run;
pub mod scaffold;
pub mod schema;
pub mod settings;
mod shape;
pub mod state;
pub mod syntax;
pub mod text;
pub mod tool;
pub mod usage;
pub mod version;
pub mod vpath;
pub mod wording;
