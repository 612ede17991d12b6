//! A run: what it runs with, what it costs, and the machine that decides what comes next.

pub mod fork;
pub mod machine;
pub mod moment;
pub mod settings;
pub mod trail;
pub mod usage;
pub mod visit;
