//! Formats output for the user: findings, runs, tables.

mod findings;
pub(crate) mod flow;
pub(crate) mod header;
pub(crate) mod menu;
pub(crate) mod names;
pub(crate) mod question;
pub(crate) mod run;
mod served;
pub(crate) mod summary;
pub(crate) mod table;
mod tool;

pub(crate) use self::findings::{Amount, Bar, Manner, findings};
