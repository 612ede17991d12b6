//! Formats output for the user: findings, runs, tables.

mod findings;
pub(crate) mod flow;
pub(crate) mod forecast;
pub(crate) mod header;
pub(crate) mod menu;
pub(crate) mod names;
pub(crate) mod question;
pub(crate) mod run;
pub(crate) mod source_report;
pub(crate) mod summary;
pub(crate) mod table;
mod tool;
mod tool_server;

pub(crate) use self::findings::{Amount, Bar, ReportOptions, findings, path_of};
