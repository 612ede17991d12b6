//! A run: what it runs with, what it costs, and the machine that decides what comes next.

pub mod machine;
pub mod settings;
pub mod trail;
pub mod usage;
