//! `fs.search`: lines that match, with ripgrep's libraries, through the mounts.
//!
//! First all names below the path are listed on all cores, in an order that depends on the names alone; then the
//! files are searched on all cores. A file is opened through its mount at the moment it is read, so nothing that
//! happened to its name since the listing leads out. The result depends on the tree only, not on the threads.

mod globs;
mod ignored;
mod lines;
mod parallel;
mod pattern;
mod scan;
mod walk;

use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::vpath::VPath;
use serde::Serialize;

use self::globs::Globs;
use self::pattern::Pattern;
use self::scan::Scan;
use self::walk::Files;
use crate::cancel::Deadline;
use crate::mounts::{Answer, Kind, Mounts};

/// Where to search, unless asked for otherwise.
pub const DEFAULT_PATH: &str = "@project";
/// Matches in one answer, unless asked for otherwise.
pub const DEFAULT_MATCHES: usize = 50;
/// Matches in one answer at most.
pub const MAX_MATCHES: usize = 500;
/// Lines before and after a match, unless asked for otherwise.
pub const DEFAULT_CONTEXT: usize = 1;
/// Lines before and after a match at most.
pub const MAX_CONTEXT: usize = 20;
/// Bytes of text in one answer.
const MAX_BYTES: usize = 256 * 1024;
/// What a match costs beside its text.
const MATCH_BYTES: usize = 64;

/// How a query is read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// As it stands.
    #[default]
    Literal,
    /// As a regular expression.
    Regex,
}

/// Whether capital letters matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    /// They do not.
    #[default]
    Ignored,
    /// They do.
    Respected,
}

/// What is asked for. Numbers over their limit are lowered to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// What to look for, within a line.
    pub query: String,
    /// Where: a folder, or a file.
    pub path: VPath,
    /// Which files: names such as `*.md`, or paths such as `src/**/*.rs` or `@project/docs/**`; `!` excludes.
    pub globs: Vec<String>,
    /// How the query is read.
    pub syntax: Syntax,
    /// Whether capital letters matter.
    pub case: Case,
    /// Lines to show before a match.
    pub before: usize,
    /// Lines to show after a match.
    pub after: usize,
    /// Matches to show.
    pub max_matches: usize,
}

impl Search {
    /// A search for a text, with every setting at its default.
    pub fn new(query: impl Into<String>, path: VPath) -> Self {
        Self {
            query: query.into(),
            path,
            globs: Vec::new(),
            syntax: Syntax::default(),
            case: Case::default(),
            before: DEFAULT_CONTEXT,
            after: DEFAULT_CONTEXT,
            max_matches: DEFAULT_MATCHES,
        }
    }
}

/// The result.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Found {
    /// One for each line that matches: file by file, those of a folder before those of its folders.
    pub matches: Vec<Match>,
    /// Whether there are more.
    pub truncated: bool,
    /// What was looked at.
    pub stats: Stats,
    /// What to do about matches or files that are missing.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A line that matches.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Match {
    /// The file.
    pub path: VPath,
    /// The number of the line, from 1.
    pub line: u64,
    /// Where in the line the first match begins, in characters, from 1.
    pub column: usize,
    /// The line, or the part of it around the match.
    pub text: String,
    /// The lines before it.
    pub before: Vec<String>,
    /// The lines after it.
    pub after: Vec<String>,
}

/// What was looked at until the search ended, which is at the first file that has one match too many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Files that were searched, binary ones too.
    pub files_scanned: usize,
    /// Lines that match in them.
    pub matches_found: usize,
}

/// Searches. Ends early with a refusal when the time is over.
pub fn search(mounts: &Mounts, request: &Search, deadline: &Deadline) -> Answer<Found> {
    let request = Search {
        before: request.before.min(MAX_CONTEXT),
        after: request.after.min(MAX_CONTEXT),
        max_matches: request.max_matches.clamp(1, MAX_MATCHES),
        ..request.clone()
    };
    let prepared = Pattern::new(&request)
        .and_then(|pattern| Ok((pattern, Globs::new(&request.globs, &request.path)?)));
    let (pattern, globs) = match prepared {
        Ok(prepared) => prepared,
        Err(refusal) => return Ok(Err(*refusal)),
    };
    let stat = match mounts.stat(&request.path)? {
        Ok(stat) => stat,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mut scan = Scan::new(&pattern, &request, deadline);
    let files = if stat.kind == Kind::Folder {
        let failed = |error| Mounts::failure("search", &request.path, error);
        let tree = mounts.tree(&request.path);
        let files = walk::walk(tree, request.path.relative(), &globs, deadline).map_err(failed)?;
        scan.files(tree, &files).map_err(failed)?;
        files
    } else {
        let (file, size) = match mounts.open_named(&request.path)? {
            Ok(opened) => opened,
            Err(refusal) => return Ok(Err(refusal)),
        };
        scan.file(file, size).map_err(|error| Mounts::failure("read", &request.path, error))?;
        Files::single(request.path.relative())
    };
    if deadline.is_over() {
        return Ok(Err(stopped()));
    }
    Ok(Ok(assemble(scan, &files, &request)))
}

/// Takes as many matches as were asked for, and as fit.
fn assemble(scan: Scan<'_>, files: &Files, request: &Search) -> Found {
    let outcome = scan.finish(files.len());
    let mut found = Found {
        matches: Vec::new(),
        truncated: files.cut || outcome.matches_found > request.max_matches,
        stats: Stats { files_scanned: outcome.files_scanned, matches_found: outcome.matches_found },
        hint: None,
    };
    let mut bytes = 0;
    for (index, line) in outcome.lines {
        if found.matches.len() == request.max_matches {
            break;
        }
        let Some(path) = VPath::new(request.path.mount(), &files.path(index)) else { continue };
        bytes += MATCH_BYTES + path.relative().len() + line.bytes();
        if bytes > MAX_BYTES {
            found.truncated = true;
            break;
        }
        let lines::Line { number, column, text, before, after } = line;
        found.matches.push(Match { path, line: number, column, text, before, after });
    }
    found.hint = hint(found.truncated, files.skipped + outcome.files_skipped);
    found
}

fn hint(truncated: bool, skipped: usize) -> Option<String> {
    let narrow =
        "There are more matches; use a longer query, globs or a path to narrow the search.";
    let skipped = match skipped {
        0 => None,
        1 => Some("One file or folder cannot be read, or has a line of many megabytes.".to_owned()),
        count => Some(format!(
            "{count} files or folders cannot be read, or have a line of many megabytes."
        )),
    };
    match (truncated, skipped) {
        (false, skipped) => skipped,
        (true, None) => Some(narrow.to_owned()),
        (true, Some(skipped)) => Some(format!("{narrow} {skipped}")),
    }
}

/// Arguments that cannot be used, and why.
fn invalid(message: String) -> Box<Refusal> {
    Box::new(Refusal::new(RefusalCode::InvalidArguments, message))
}

fn stopped() -> Refusal {
    Refusal::new(RefusalCode::Timeout, "The search was stopped before it was done.")
        .hint("Use globs or a path to narrow the search.")
}
