//! Whole packages through the checker: the examples, and one broken package for every code.
#![allow(clippy::disallowed_methods, clippy::disallowed_types, reason = "tests read real files")]

mod laws;
mod packages;
mod schemas;
mod support;
