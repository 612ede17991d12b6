//! Conversions of whole sources: fixtures of our own in `tests/sources`, hostile ones, and the public versions.
#![allow(
    clippy::disallowed_methods,
    clippy::expect_used,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "tests read fixtures, stop at the first surprise, and say why they are skipped"
)]

mod fixture;
mod hostile;
mod key;
mod layout;
mod public;
mod shapes;
mod step_files;
