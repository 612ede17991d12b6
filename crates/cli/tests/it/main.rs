//! The real binary on real files.
#![allow(clippy::disallowed_methods, reason = "the tests start the program")]
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bad_packages;
mod bad_runs;
mod calls;
mod commands;
mod conversation;
mod conversation_terminal;
mod crash;
mod demo;
mod events;
mod forks;
mod fuzz_corpus;
mod golden;
mod interrupts;
mod language;
mod mcp;
mod models;
mod notes;
mod record;
mod records;
mod removals;
mod runs;
mod server;
mod sources;
mod support;
mod system;
mod terminal;
mod tiers;
mod tutorials;
