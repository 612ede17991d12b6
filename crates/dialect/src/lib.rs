//! Dialects of model providers: writes requests for a provider and reads its answers.
//!
//! Providers agree on the outline and differ in the details. The differences are data, a [`profile::Profile`]; no code
//! here depends on the provider's name. The crate is as pure as the core: it opens no socket and reads no clock.

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
