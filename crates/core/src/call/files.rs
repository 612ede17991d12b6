//! The arguments of `fs.read`, `fs.list`, `fs.search`, `fs.write`, `fs.move` and `fs.delete`.

use crewagent_format::wording::kind;
use serde_json::{Map, Value as Json};

use super::params::{Params, Problems};
use super::{DeleteCall, ListCall, MoveCall, ReadCall, SearchCall, Tool, WriteCall, WriteMode};
use crate::state::document::STATE_FILE;
use crate::vpath::{Mount, VPath, WritablePath};

/// Maximum number of globs of a search.
const MAX_GLOBS: usize = 100;

pub(super) fn read(arguments: &Map<String, Json>, problems: &mut Problems) -> Option<ReadCall> {
    let mut known = Tool::Read.parameters().to_vec();
    // The answer always has the digest; this flag shows it to the model, where the answer is rendered.
    known.push("sha256");
    let params = Params::open(arguments, &known, problems);
    params.flag("sha256", problems);
    let path = params.path("path", problems);
    let start = params.number("startLine", problems);
    let end = params.number("endLine", problems);
    Some(ReadCall { path: path?, start, end })
}

pub(super) fn list(arguments: &Map<String, Json>, problems: &mut Problems) -> Option<ListCall> {
    let params = Params::open(arguments, Tool::List.parameters(), problems);
    let path = params.path("path", problems);
    let depth = params.number("depth", problems);
    Some(ListCall { path: path?, depth })
}

pub(super) fn search(arguments: &Map<String, Json>, problems: &mut Problems) -> Option<SearchCall> {
    let params = Params::open(arguments, Tool::Search.parameters(), problems);
    let query = params.required_text("query", problems);
    if query.is_some_and(str::is_empty) {
        problems.mistake("`query` is empty");
    }
    let path = match params.get("path") {
        Some(_) => params.path("path", problems),
        None => VPath::new(Mount::Project, ""),
    };
    let globs = globs(&params, problems);
    let regex = params.flag("regex", problems);
    let case_sensitive = params.flag("caseSensitive", problems);
    let before = params.number("before", problems);
    let after = params.number("after", problems);
    let max_matches = params.number("maxMatches", problems);
    Some(SearchCall {
        query: query?.to_owned(),
        path: path?,
        globs,
        regex,
        case_sensitive,
        before,
        after,
        max_matches,
    })
}

/// Reads a list of texts; one text alone is a list of one.
fn globs(params: &Params<'_>, problems: &mut Problems) -> Vec<String> {
    let items = match params.structure("globs").as_deref() {
        None => return Vec::new(),
        Some(Json::String(one)) if one.trim().is_empty() => return Vec::new(),
        Some(one @ Json::String(_)) => vec![one.clone()],
        Some(_) => params.list("globs", problems).unwrap_or_default(),
    };
    if items.len() > MAX_GLOBS {
        problems.mistake(format!("`globs` has more than {MAX_GLOBS} items"));
        return Vec::new();
    }
    let mut globs = Vec::new();
    for item in &items {
        match item.as_str() {
            Some(glob) => globs.push(glob.to_owned()),
            None => {
                problems
                    .mistake(format!("`globs` must hold strings, but one item is {}", kind(item)));
            }
        }
    }
    globs
}

pub(super) fn write(arguments: &Map<String, Json>, problems: &mut Problems) -> Option<WriteCall> {
    const MODES: [(&str, WriteMode); 3] = [
        ("overwrite", WriteMode::Overwrite),
        ("append", WriteMode::Append),
        ("create", WriteMode::Create),
    ];
    let params = Params::open(arguments, Tool::Write.parameters(), problems);
    let path = params.writable("path", problems);
    let content = params.required_text("content", problems);
    let mode = params.choice("mode", &MODES, problems).unwrap_or_default();
    let if_match = params.digest("ifMatchSha256", problems);
    if mode == WriteMode::Create && if_match.is_some() {
        problems.mistake(
            "`mode` create makes a file that does not exist yet, so `ifMatchSha256` cannot hold",
        );
    }
    Some(WriteCall { path: path?, content: content?.to_owned(), mode, if_match })
}

/// Reads the arguments of `fs.move`.
pub(super) fn relocate(arguments: &Map<String, Json>, problems: &mut Problems) -> Option<MoveCall> {
    let params = Params::open(arguments, Tool::Move.parameters(), problems);
    let path = params.writable("path", problems);
    let to = params.writable("to", problems);
    let if_match = params.digest("ifMatchSha256", problems);
    check_ends(path.as_ref(), to.as_ref(), problems);
    Some(MoveCall { path: path?, to: to?, if_match })
}

/// Reads the arguments of `fs.delete`.
pub(super) fn delete(arguments: &Map<String, Json>, problems: &mut Problems) -> Option<DeleteCall> {
    let params = Params::open(arguments, Tool::Delete.parameters(), problems);
    let path = params.writable("path", problems);
    let if_match = params.digest("ifMatchSha256", problems);
    check_ends(path.as_ref(), None, problems);
    Some(DeleteCall { path: path?, if_match })
}

/// Refuses to move or delete the state document, to move a file onto it, and to move a file to its own path.
pub(super) fn check_ends(
    from: Option<&WritablePath>,
    to: Option<&WritablePath>,
    problems: &mut Problems,
) {
    if [from, to].into_iter().flatten().any(|path| path.path().is_state_document()) {
        problems.mistake(format!(
            "`{STATE_FILE}` can be neither moved nor deleted, nor can a file take its place; leave it as it is"
        ));
    }
    if from.is_some() && from == to {
        problems.mistake("the new path is the one that the file has already; name another one");
    }
}
