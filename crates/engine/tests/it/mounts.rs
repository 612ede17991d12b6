//! The file gate: what a model may open, and that nothing else is ever opened.

mod corpus;
mod durable;
pub(crate) mod fixture;
mod listing;
#[cfg(target_os = "linux")]
mod race;
mod reading;
#[cfg(unix)]
mod setups;
mod writing;
