//! `fs.list`: lists the names in a folder.

use crewagent_core::vpath::VPath;
use serde::Serialize;

use crate::mounts::{MountResult, Mounts};

/// Limit of names in one answer; more give a preview.
pub const MAX_ENTRIES: usize = 200;
/// Limit of depth.
pub const MAX_DEPTH: usize = 16;
/// Limit in bytes of the names in one answer.
const MAX_BYTES: usize = 32 * 1024;

/// Arguments of `fs.list`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    pub path: VPath,
    /// 1 for the names in the folder, more for those in its subfolders.
    pub depth: usize,
}

/// Result of `fs.list`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ListResult {
    Whole {
        path: VPath,
        /// Relative to the folder; folders end in `/`.
        entries: Vec<String>,
    },
    /// The first of too many names.
    #[serde(rename_all = "camelCase")]
    Preview {
        path: VPath,
        /// Relative to the folder; folders end in `/`.
        entries_preview: Vec<String>,
        /// Always true.
        truncated: bool,
        /// Advice on how to see the rest.
        hint: String,
    },
}

/// Lists a folder.
pub fn list(mounts: &Mounts, request: &List) -> MountResult<ListResult> {
    let depth = request.depth.clamp(1, MAX_DEPTH);
    let listing = match mounts.list(&request.path, depth, MAX_ENTRIES)? {
        Ok(listing) => listing,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let (path, mut entries) = (request.path.clone(), listing.entries);
    let mut bytes = 0;
    let fitting = entries.iter().take_while(|entry| {
        bytes += entry.len();
        bytes <= MAX_BYTES
    });
    let fitting = fitting.count();
    if !listing.more && fitting == entries.len() {
        return Ok(Ok(ListResult::Whole { path, entries }));
    }
    entries.truncate(fitting);
    let hint = if depth > 1 {
        "There are more. List one folder at a time, or use fs.search with globs."
    } else {
        "There are more. Use fs.search with globs to find what you need."
    };
    let hint = hint.to_owned();
    Ok(Ok(ListResult::Preview { path, entries_preview: entries, truncated: true, hint }))
}
