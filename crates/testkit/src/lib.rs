//! What tests need and programs do not: archives with every mistake, and packages of every size.

pub mod archive;
pub mod package;
pub mod report;
