//! Dialects of model providers: how a request is written for a provider, and how its answer is read.
//!
//! Providers agree on the outline and differ in the details. What they differ in is data, a [`profile::Profile`];
//! no code here asks who the provider is. The crate is as pure as the core: it opens no socket and reads no clock.

pub mod assemble;
pub mod body;
pub mod fault;
mod ids;
mod json;
pub mod names;
pub mod prices;
pub mod profile;
pub mod retry;
pub mod schema;
pub mod usage;
