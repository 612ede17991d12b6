//! Repeats: what stands in the context is pointed at instead of being sent again.

use crewagent_core::event::{Answer, ShownFile};
use crewagent_core::run::machine::{KnownFiles, SAME_ANSWER};
use crewagent_core::vpath::VPath;
use crewagent_format::integrity::Digest;
use serde::Serialize;

use super::change::ContentDraft;
use super::done;
use super::read::{FileExcerpt, Shown};

/// Result of a read whose text stands in the context.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct UnchangedFile<'e> {
    path: &'e VPath,
    bytes: u64,
    sha256: &'e str,
    total_lines: usize,
    /// Place where the text stands.
    unchanged: &'static str,
    note: String,
}

/// Result of a call whose answer stands in the context.
#[derive(Serialize)]
struct UnchangedAnswer {
    unchanged: &'static str,
    note: &'static str,
}

/// Returns the answer of a read: the text, or a pointer to it.
pub(super) fn read_answer(excerpt: &FileExcerpt, known: &KnownFiles) -> Answer {
    let FileExcerpt { path, bytes, sha256, window, total_lines, .. } = excerpt;
    let asked = match window {
        Some(Shown { start_line, end_line }) => (*start_line as u64, *end_line as u64),
        None => (1, *total_lines as u64),
    };
    let shown = |end: u64| ShownFile {
        path: path.to_string(),
        sha256: sha256.clone(),
        start: asked.0,
        end,
        written: false,
    };
    if let Some(place) = known.place_of(path, sha256, asked, window.is_some()) {
        let (path, total_lines) = (path, *total_lines);
        let (unchanged, note) = (place.name(), place.note(path, total_lines));
        let answer = UnchangedFile { path, bytes: *bytes, sha256, total_lines, unchanged, note };
        return Answer { shown: vec![shown(asked.1)], repeats: true, ..done(&answer, Vec::new()) };
    }
    let end = match &excerpt.content_preview {
        None => asked.1,
        // A line that was cut does not count as shown.
        Some(text) => {
            let whole = text.bytes().filter(|byte| *byte == b'\n').count() as u64;
            (asked.0 + whole).saturating_sub(1)
        }
    };
    Answer { shown: vec![shown(end)], ..done(excerpt, Vec::new()) }
}

/// Returns a pointer instead of an answer that stands in the context under this digest.
pub(super) fn unless_repeated(answer: Answer, known: Option<Digest>) -> Answer {
    let is_same = answer.refused.is_none()
        && !answer.repeats
        && known.is_some_and(|known| known == answer.result.digest());
    if !is_same {
        return answer;
    }
    let same = done(&UnchangedAnswer { unchanged: "answer", note: SAME_ANSWER }, Vec::new());
    Answer { shown: answer.shown, repeats: true, ..same }
}

/// Returns the file of a draft whose whole text stands in the call.
pub(super) fn written_text(draft: &ContentDraft) -> Option<ShownFile> {
    let after = draft.after.as_deref().filter(|_| draft.is_whole_text)?;
    let ended = after.iter().filter(|byte| **byte == b'\n').count();
    let is_open = after.last().is_some_and(|byte| *byte != b'\n');
    Some(ShownFile {
        path: draft.path.to_string(),
        sha256: draft.sha256?.to_string(),
        start: 1,
        end: (ended + usize::from(is_open)) as u64,
        written: true,
    })
}
