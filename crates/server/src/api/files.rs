//! Files of a project, with the same checks that apply to models.

mod content;

use crewagent_core::vpath::{Mount, VPath, WritablePath};
use crewagent_engine::mounts::{Before, MountResult, Mounts};
use crewagent_format::integrity::Digest;

use super::Id;
use super::projects::project;
use crate::app::App;
use crate::endpoint::{ApiEndpoint, ParsedRequest, get, put};
use crate::problem::Problem;
use crate::wire::{FileEntry, FileList, FileQuery, FileText, WriteFile};

/// Names that a list holds.
const MAX_ENTRIES: usize = 5000;
/// A longer text is not shown.
const MAX_TEXT: usize = 4 << 20;

pub(super) fn endpoints() -> Vec<ApiEndpoint> {
    vec![
        get("/api/projects/{id}/files", "Lists a folder of a project", list),
        get("/api/projects/{id}/file", "Reads a file of a project", read),
        content::endpoint(),
        put("/api/projects/{id}/file", "Writes a file of a project, whole or not at all", write),
    ]
}

/// Returns the files of a project.
pub(super) fn mounts(app: &App, id: &str) -> Result<Mounts, Problem> {
    let store = app.store()?;
    let project = project(&store, id)?;
    Ok(store.projects().mounts(&project)?)
}

/// Parses a path in the project.
pub(super) fn place(path: &str) -> Result<VPath, Problem> {
    VPath::new(Mount::Project, path).ok_or_else(|| {
        Problem::invalid(format!("`{path}` is not a path in the project"))
            .hint("Name it from the root of the project, with `/` and without `..`.")
    })
}

/// Converts a refusal of the mounts.
pub(super) fn granted<T>(answer: MountResult<T>) -> Result<T, Problem> {
    Ok(answer??)
}

fn list(asked: ParsedRequest<Id, FileQuery>) -> Result<FileList, Problem> {
    let mounts = mounts(&asked.app, &asked.path.id)?;
    let folder = asked.query.path.unwrap_or_default();
    let listing = granted(mounts.list(&place(&folder)?, 1, MAX_ENTRIES))?;
    let below = if folder.is_empty() { String::new() } else { format!("{folder}/") };
    let mut entries: Vec<FileEntry> = listing
        .entries
        .iter()
        .map(|entry| {
            let name = entry.trim_end_matches('/').to_owned();
            FileEntry { is_file: !entry.ends_with('/'), path: format!("{below}{name}"), name }
        })
        .collect();
    entries.sort();
    Ok(FileList { entries, more: listing.more })
}

fn read(asked: ParsedRequest<Id, FileQuery>) -> Result<FileText, Problem> {
    let mounts = mounts(&asked.app, &asked.path.id)?;
    let path = asked.query.path.unwrap_or_default();
    text_of(&mounts, path)
}

fn text_of(mounts: &Mounts, path: String) -> Result<FileText, Problem> {
    let content = granted(mounts.read(&place(&path)?, MAX_TEXT))?;
    let (is_whole, sha256, bytes) = (content.is_whole(), content.sha256.to_string(), content.size);
    let text = String::from_utf8(content.bytes).ok().filter(|_| is_whole);
    Ok(FileText { path, sha256, bytes, text: text.filter(|text| !text.contains('\0')) })
}

fn write(asked: ParsedRequest<Id, (), WriteFile>) -> Result<FileText, Problem> {
    let mounts = mounts(&asked.app, &asked.path.id)?;
    let WriteFile { path, text, if_match_sha256 } = asked.body;
    let target = WritablePath::new(place(&path)?)?;
    let before = match &if_match_sha256 {
        Some(sha256) => Before::Sha256(digest(sha256)?),
        None => Before::Nothing,
    };
    granted(mounts.replace(&target, text.as_bytes(), before))?;
    text_of(&mounts, path)
}

pub(super) fn digest(text: &str) -> Result<Digest, Problem> {
    Digest::parse(text).ok_or_else(|| Problem::invalid(format!("`{text}` is not a SHA-256")))
}
