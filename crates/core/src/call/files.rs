//! The arguments of `fs.read`, `fs.list`, `fs.search`, `fs.write`, `fs.move` and `fs.delete`.

use crewagent_format::wording::kind;
use serde_json::{Map, Value as Json};

use super::params::{Params, Problems};
use super::{
    CopyPlace, DeleteCall, ListCall, MoveCall, ReadCall, SearchCall, TextCopy, Tool, WriteCall,
    WriteMode,
};
use crate::state::document::STATE_FILE;
use crate::vpath::{Mount, VPath, WritablePath};

/// Maximum number of globs of a search.
const MAX_GLOBS: usize = 100;
/// Maximum size of the name of a section, in bytes.
const MAX_SECTION: usize = 256;

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
    let mut known = Tool::Write.parameters().to_vec();
    // Told where drafts are; understood everywhere.
    known.extend(COPY_PARAMETERS);
    let params = Params::open(arguments, &known, problems);
    let path = params.writable("path", problems);
    let mode = params.choice("mode", &MODES, problems).unwrap_or_default();
    let copy = copy(&params, mode, problems);
    let content = match copy {
        Some(_) => None,
        None => params.required_text("content", problems),
    };
    let if_match = params.digest("ifMatchSha256", problems);
    if mode == WriteMode::Create && if_match.is_some() {
        problems.mistake(
            "`mode` create makes a file that does not exist yet, so `ifMatchSha256` cannot hold",
        );
    }
    let content = match copy {
        Some(_) => String::new(),
        None => content?.to_owned(),
    };
    Some(WriteCall { path: path?, content, mode, if_match, copies: copy.into_iter().collect() })
}

/// Parameters of a write that takes its text from another file.
pub(super) const COPY_PARAMETERS: [&str; 3] = ["from", "ifFromSha256", "section"];

/// Reads the text that is copied from another file; none if the call has a content.
pub(super) fn copy(
    params: &Params<'_>,
    mode: WriteMode,
    problems: &mut Problems,
) -> Option<TextCopy> {
    let from = params.text("from", problems).map(str::trim).filter(|text| !text.is_empty());
    let if_from = params.digest("ifFromSha256", problems);
    let section = params.text("section", problems).map(str::trim).map(str::to_owned);
    let section = section.filter(|text| !text.is_empty());
    let has_content =
        params.get("content").and_then(Json::as_str).is_some_and(|text| !text.is_empty());
    let name = |key: &str| params.name(key);
    let Some(from) = from else {
        if if_from.is_some() || section.is_some() {
            let (from, two) = (name("from"), [name("ifFromSha256"), name("section")].join(" and "));
            problems.mistake(format!("{two} belong to {from}, which names the file to copy"));
        }
        return None;
    };
    if has_content {
        let (content, from) = (name("content"), name("from"));
        problems.mistake(format!("{content} and {from} are both there; give one"));
    }
    if section.as_ref().is_some_and(|section| section.len() > MAX_SECTION) {
        problems.mistake(format!("{} has more than {MAX_SECTION} bytes", name("section")));
    }
    let place = match (section, mode) {
        (Some(section), _) => CopyPlace::Section(section),
        (None, WriteMode::Append) => CopyPlace::End,
        (None, WriteMode::Overwrite | WriteMode::Create) => CopyPlace::Whole,
    };
    let from = problems.take(VPath::parse(from))?;
    Some(TextCopy { from, if_from, place })
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
