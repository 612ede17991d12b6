//! The state document of a run: what it says, how it is changed, and which changes are legal.

pub mod call;
pub mod complete;
pub mod document;
mod edits;
#[cfg(test)]
mod fixture;
pub mod guard;
pub mod next;
pub mod output;
pub mod patch;
pub mod project_path;
pub mod run_state;
