//! The state document of a run: its contents, its changes, and the rules that make a change legal.

pub mod complete;
pub mod document;
mod edits;
#[cfg(test)]
mod fixture;
pub mod frame;
pub mod gate_visit;
pub mod guard;
pub mod meaning;
pub mod mirror;
pub mod next;
pub mod output;
pub mod patch;
pub mod project_path;
pub mod run_state;
pub mod visit_files;
