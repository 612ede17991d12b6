//! A run: its history, the machine that decides what comes next, and the estimate of one to come.

pub mod estimate;
pub mod history;
pub mod machine;
