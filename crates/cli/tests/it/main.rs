//! The real binary on real files.
#![allow(clippy::unwrap_used, reason = "a test stops at the first surprise")]

mod bad_packages;
mod commands;
mod support;
