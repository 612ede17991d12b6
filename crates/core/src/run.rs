//! A run: its history, and the machine that decides what comes next.

pub mod history;
pub mod machine;
