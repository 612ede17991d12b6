//! The real binary on real files.

mod bad_packages;
mod commands;
mod support;
