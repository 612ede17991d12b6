//! Tests of the chat adapter with servers of other authors. `cargo xtask real-models` installs them and runs these
//! tests.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests start programs, and one that cannot go on fails"
)]

mod ask;
mod errors;
mod litellm;
mod llama;
mod runs;
mod servers;
