//! The gate and packing, against real folders and hostile archives.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests start programs, and one that cannot go on fails"
)]

mod bombs;
mod fixtures;
mod folder;
mod foreign;
mod gate;
mod mutation;
mod pack;
mod support;
