//! A run: the machine that decides what comes next, and views of its past.

pub mod machine;
pub mod moment;
pub mod trail;
pub mod visit;
