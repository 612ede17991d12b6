//! `fs.search`: finds matching lines with ripgrep's libraries, through the mounts.
//!
//! First all cores list the names below the path, in an order that depends on the names alone; then all cores search
//! the files. A file is opened through its mount when it is read, so that a name that changed since the listing cannot
//! lead out of the mount. The result depends on the tree alone, not on the threads.

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
use self::pattern::QueryPattern;
use self::scan::SearchScan;
use self::walk::SearchFiles;
use crate::cancel::Deadline;
use crate::mounts::{EntryKind, MountResult, Mounts};

/// Default path.
pub const DEFAULT_PATH: &str = "@project";
/// Default limit of matches in one answer.
pub const DEFAULT_MATCHES: usize = 50;
/// Largest limit of matches in one answer.
pub const MAX_MATCHES: usize = 500;
/// Default number of lines before and after a match.
pub const DEFAULT_CONTEXT: usize = 1;
/// Largest number of lines before and after a match.
pub const MAX_CONTEXT: usize = 20;
/// Limit in bytes of the text in one answer.
const MAX_BYTES: usize = 256 * 1024;
/// Bytes counted for a match beside its text.
const MATCH_BYTES: usize = 64;

/// Syntax of a query.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Syntax {
    /// Plain text.
    #[default]
    Literal,
    /// A regular expression.
    Regex,
}

/// Treatment of upper and lower case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Case {
    #[default]
    Ignored,
    Respected,
}

/// Arguments of `fs.search`. Numbers over their limit are lowered to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Search {
    /// Text to find within a line.
    pub query: String,
    /// Folder or file to search.
    pub path: VPath,
    /// Files to search: names such as `*.md`, or paths such as `src/**/*.rs` or `@project/docs/**`; `!` excludes.
    pub globs: Vec<String>,
    pub syntax: Syntax,
    pub case: Case,
    /// Lines to show before a match.
    pub before: usize,
    /// Lines to show after a match.
    pub after: usize,
    /// Matches to show.
    pub max_matches: usize,
    /// True if files that usually hold secrets are left out, because a rule keeps the model from reading them.
    pub hides_secrets: bool,
}

impl Search {
    /// Returns a search for a text, with all other arguments at their defaults.
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
            hides_secrets: false,
        }
    }
}

/// Result of `fs.search`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct SearchResult {
    /// One entry for each matching line: file by file, those of a folder before those of its subfolders.
    pub matches: Vec<Match>,
    /// True if there are more matches.
    pub truncated: bool,
    pub stats: Stats,
    /// Advice on missing matches or files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

/// A matching line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Match {
    pub path: VPath,
    /// Number of the line, from 1.
    pub line: u64,
    /// Column in which the first match starts, in characters, from 1.
    pub column: usize,
    /// Text of the line, or the part around the match.
    pub text: String,
    pub before: Vec<String>,
    pub after: Vec<String>,
}

/// Counts up to the end of the search, which is the first file with one match too many.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Stats {
    /// Searched files, including binary ones.
    pub files_scanned: usize,
    /// Matching lines in them.
    pub matches_found: usize,
}

/// Searches the files. Returns a refusal if the deadline passes.
pub fn search(mounts: &Mounts, request: &Search, deadline: &Deadline) -> MountResult<SearchResult> {
    let request = Search {
        before: request.before.min(MAX_CONTEXT),
        after: request.after.min(MAX_CONTEXT),
        max_matches: request.max_matches.clamp(1, MAX_MATCHES),
        ..request.clone()
    };
    let prepared = QueryPattern::new(&request).and_then(|pattern| {
        Ok((pattern, Globs::new(&request.globs, &request.path, request.hides_secrets)?))
    });
    let (pattern, globs) = match prepared {
        Ok(prepared) => prepared,
        Err(refusal) => return Ok(Err(*refusal)),
    };
    let stat = match mounts.stat(&request.path)? {
        Ok(stat) => stat,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let mut scan = SearchScan::new(&pattern, &request, deadline);
    let files = if stat.kind == EntryKind::Folder {
        let failed = |error| Mounts::failure("search", &request.path, error);
        let tree = mounts.tree(&request.path);
        let files = walk::walk(tree, request.path.relative(), &globs, deadline).map_err(failed)?;
        scan.files(tree, &files).map_err(failed)?;
        files
    } else {
        if globs.excludes(request.path.relative()) {
            let message =
                format!("`{}` may hold secrets, and a rule keeps it from searches.", request.path);
            let refusal = Refusal::new(RefusalCode::ToolNotAvailable, message);
            return Ok(Err(
                refusal.hint("Read it with fs.read, which asks the user or says why not.")
            ));
        }
        let (file, size) = match mounts.open_named(&request.path)? {
            Ok(opened) => opened,
            Err(refusal) => return Ok(Err(refusal)),
        };
        scan.file(file, size).map_err(|error| Mounts::failure("read", &request.path, error))?;
        SearchFiles::single(request.path.relative())
    };
    if deadline.is_over() {
        return Ok(Err(stopped()));
    }
    Ok(Ok(assemble(scan, &files, &request)))
}

/// Collects as many matches as the call asks for and the answer can hold.
fn assemble(scan: SearchScan<'_>, files: &SearchFiles, request: &Search) -> SearchResult {
    let outcome = scan.finish(files.len());
    let mut found = SearchResult {
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
        let lines::MatchLine { number, column, text, before, after } = line;
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

/// Returns the refusal of invalid arguments.
fn invalid(message: String) -> Box<Refusal> {
    Box::new(Refusal::new(RefusalCode::InvalidArguments, message))
}

fn stopped() -> Refusal {
    Refusal::new(RefusalCode::Timeout, "The search was stopped before it was done.")
        .hint("Use globs or a path to narrow the search.")
}
