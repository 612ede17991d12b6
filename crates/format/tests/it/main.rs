//! Whole packages through the checker: the examples, and one broken package for every code.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests read real files and stop at the first surprise"
)]

mod gates;
mod hostile;
mod laws;
mod packages;
mod rules;
mod schemas;
