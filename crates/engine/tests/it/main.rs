//! The engine against the disk: the store, tools, runs, and proofs.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests start programs, and one that cannot go on fails"
)]

mod bindings;
mod changes;
mod disk;
mod disk_hook;
mod export;
mod forecasts;
mod forks;
mod golden;
mod golden_fixture;
mod journal;
mod known_files;
mod mounts;
mod nudges;
mod outputs;
mod proofs;
mod repairs;
mod runs;
mod search;
mod sessions;
mod step_log;
mod store;
mod strict;
mod support;
mod tiers;
mod tools;
