//! `fs.list`: the names in a folder.

use crewagent_core::vpath::VPath;
use serde::Serialize;

use crate::mounts::{Answer, Mounts};

/// Names in one answer; past it there is a preview.
pub const MAX_ENTRIES: usize = 200;
/// Folders are listed at most this deep.
pub const MAX_DEPTH: usize = 16;
/// Bytes of names in one answer.
const MAX_BYTES: usize = 32 * 1024;

/// What is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct List {
    /// The folder.
    pub path: VPath,
    /// 1 for its own names, more for those of the folders in it.
    pub depth: usize,
}

/// The result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum Listed {
    /// All names.
    Whole {
        /// The folder.
        path: VPath,
        /// Relative to it; folders end in `/`.
        entries: Vec<String>,
    },
    /// The first names of too many.
    #[serde(rename_all = "camelCase")]
    Preview {
        /// The folder.
        path: VPath,
        /// Relative to it; folders end in `/`.
        entries_preview: Vec<String>,
        /// Always true.
        truncated: bool,
        /// What to do about it.
        hint: String,
    },
}

/// Lists a folder.
pub fn list(mounts: &Mounts, request: &List) -> Answer<Listed> {
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
        return Ok(Ok(Listed::Whole { path, entries }));
    }
    entries.truncate(fitting);
    let hint = if depth > 1 {
        "There are more. List one folder at a time, or use fs.search with globs."
    } else {
        "There are more. Use fs.search with globs to find what you need."
    };
    let hint = hint.to_owned();
    Ok(Ok(Listed::Preview { path, entries_preview: entries, truncated: true, hint }))
}
