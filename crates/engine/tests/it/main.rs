//! The engine against the disk: the gate, packing, and the store.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod bombs;
mod fixtures;
mod folder;
mod gate;
mod mutation;
mod pack;
mod store;
mod support;
