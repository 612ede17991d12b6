//! The engine against the disk: the gate, packing, and the store.
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "a test that cannot go on fails")]

mod bombs;
mod fixtures;
mod folder;
mod gate;
mod mounts;
mod mutation;
mod pack;
mod search;
mod store;
mod support;
