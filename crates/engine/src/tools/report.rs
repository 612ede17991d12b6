//! Result of a change, file by file.

use crewagent_core::call::Call;
use crewagent_core::call::content_report::{ContentChange, ContentReport};
use crewagent_core::state::guard::{Completion, Move, StateTransition};
use crewagent_core::vpath::WritablePath;
use serde::Serialize;

use super::change::ContentDraft;

/// Result for one file.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileReport<'d> {
    path: &'d WritablePath,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes_written: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256_before: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    sha256_after: Option<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    deleted: bool,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    content: Option<ContentReport>,
    #[serde(skip_serializing_if = "Option::is_none")]
    moved_from: Option<&'d WritablePath>,
    #[serde(skip_serializing_if = "Option::is_none")]
    state: Option<&'d StateTransition>,
}

/// Results for several files.
#[derive(Serialize)]
pub(super) struct FileReports<'d> {
    files: Vec<FileReport<'d>>,
}

/// Result of completing a node.
#[derive(Serialize)]
pub(super) struct CompletionReport<'d> {
    moved: Option<&'d Move>,
    complete: bool,
    files: Vec<WrittenFile<'d>>,
    state: Option<&'d StateTransition>,
}

/// File that was written with the completion.
#[derive(Serialize)]
struct WrittenFile<'d> {
    path: &'d WritablePath,
    bytes: usize,
}

impl<'d> CompletionReport<'d> {
    /// Returns the report of a call whose last file is the state document.
    pub(super) fn new(drafts: &'d [ContentDraft]) -> Self {
        let state = drafts.iter().find_map(|draft| draft.transition.as_deref());
        let written = drafts.iter().filter(|draft| draft.transition.is_none());
        let file = |draft: &'d ContentDraft| WrittenFile {
            path: &draft.path,
            bytes: draft.after.as_ref().map_or(0, |bytes| bytes.len()),
        };
        Self {
            moved: state.and_then(StateTransition::moved),
            complete: state.is_some_and(|state| state.completion() != Completion::Running),
            files: written.map(file).collect(),
            state,
        }
    }
}

impl<'d> FileReports<'d> {
    /// Returns the reports in the order of the files.
    pub(super) fn new(call: &Call, drafts: &'d [ContentDraft]) -> Self {
        // The removal of the old file follows the creation of the new one.
        let sources = drafts.iter().skip(1).map(Some).chain([None]);
        let report = |(draft, source): (&'d ContentDraft, Option<&'d ContentDraft>)| {
            FileReport::new(call, draft, source.filter(|_| draft.source.is_some()))
        };
        Self { files: drafts.iter().zip(sources).map(report).collect() }
    }
}

impl<'d> FileReport<'d> {
    /// Returns the report of a file, which a move may have made from another one.
    pub(super) fn new(
        call: &Call,
        draft: &'d ContentDraft,
        source: Option<&'d ContentDraft>,
    ) -> Self {
        let bytes_written = match call {
            Call::Write(call) if draft.transition.is_none() && call.copies.is_empty() => {
                Some(call.content.len())
            }
            // The runtime may have added to the model's text.
            Call::Write(_) => draft.after.as_ref().map(|bytes| bytes.len()),
            Call::Patch(_)
            | Call::Move(_)
            | Call::Delete(_)
            | Call::State(_)
            | Call::Read(_)
            | Call::List(_)
            | Call::Search(_)
            | Call::AskUser(_)
            | Call::Gate(_) => None,
        };
        let before = draft.before.filter(|_| bytes_written.is_none());
        Self {
            path: &draft.path,
            bytes_written,
            sha256_before: before.map(|digest| digest.to_string()),
            sha256_after: draft.sha256.map(|digest| digest.to_string()),
            deleted: draft.after.is_none(),
            content: content(call, draft, source),
            moved_from: source.map(|source| &source.path),
            state: draft.transition.as_deref(),
        }
    }
}

/// Returns the report of a file that has a content afterwards. The state document has a report of its own.
fn content(
    call: &Call,
    draft: &ContentDraft,
    source: Option<&ContentDraft>,
) -> Option<ContentReport> {
    let after = draft.after.as_deref().filter(|_| draft.transition.is_none())?;
    let change = match draft.before {
        None if source.is_none() => ContentChange::New,
        before if before == draft.sha256 => ContentChange::Same,
        Some(_) | None => ContentChange::Changed,
    };
    let report = ContentReport::new(after, change);
    Some(match (call, source.unwrap_or(draft).old.as_deref()) {
        (Call::Write(call), _) => report.written(call, draft.old_size),
        (_, Some(old)) => report.patched(old, after),
        (_, None) => report,
    })
}
