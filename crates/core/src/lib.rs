//! The rules of CrewAgent: which moves are legal, what a model reads, what a run records.
//!
//! This crate does no IO, reads no clock and draws no randomness. Everything it needs comes in as a value,
//! everything it decides goes out as a value.

pub mod adoption;
pub mod bindings;
pub mod call;
pub mod context;
pub mod draft;
pub mod event;
pub mod forecast;
pub mod fork;
pub mod frame_id;
pub mod gate;
pub mod intent;
pub mod menu;
pub mod message;
pub mod payload;
pub mod policy;
pub mod prompt;
pub mod question;
pub mod refusal;
pub mod run;
pub mod schema;
pub mod settings;
pub mod state;
pub mod tool;
pub mod usage;
pub mod vpath;
