//! What tests need and programs do not: archives with every mistake, packages of every size, and a model on the
//! loopback.

pub mod archive;
pub mod loopback;
pub mod package;
pub mod process;
pub mod report;
