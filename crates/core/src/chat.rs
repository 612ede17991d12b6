//! Chat completions without the wire: how a request is written for a provider, and how its answer is read.
//!
//! Providers agree on the outline and differ in the details. What they differ in is data, a [`profile::Profile`];
//! nothing here asks who the provider is.

pub mod assemble;
pub mod body;
pub mod fault;
mod ids;
mod json;
pub mod leak;
pub mod names;
pub mod prices;
pub mod profile;
pub mod retry;
pub mod schema;
pub mod usage;
