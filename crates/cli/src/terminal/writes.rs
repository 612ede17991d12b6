//! The changes that a tool call made in the project, shown when it has finished.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use crewagent_core::event::{Event, EventKind, FileIntent, ToolEvent, ToolFinished, ToolStarted};
use crewagent_engine::blobs::Blobs;
use crewagent_format::integrity::Digest;

use super::diff::{DiffBounds, diff};
use crate::paint::{self, QUIET};

/// Maximum of changed lines shown of an existing file.
const CHANGED: usize = 20;
/// Maximum of lines shown of a new file.
const NEW: usize = 6;
/// Maximum of files shown of one call.
const FILES: usize = 5;
/// A larger file is not compared, in bytes.
const LARGE: u64 = 1 << 20;

/// The announced changes of the calls in progress.
#[derive(Debug)]
pub(crate) struct Writes {
    blobs: Blobs,
    project: PathBuf,
    intents: BTreeMap<String, Vec<FileIntent>>,
}

impl Writes {
    /// Creates it for a run whose previous file contents are in `blobs`.
    pub(crate) fn new(blobs: Blobs, project: &Path) -> Self {
        Self { blobs, project: project.to_owned(), intents: BTreeMap::new() }
    }

    /// Returns the changes of a call when it has finished.
    pub(crate) fn event(&mut self, event: &Event) -> Option<String> {
        match &event.kind {
            EventKind::Tool(ToolEvent::Started(ToolStarted {
                call_id,
                intent: Some(intent),
                ..
            })) => {
                let ours = |file: &&FileIntent| file.path.starts_with("@project/");
                let files = intent.files.iter().filter(ours).cloned().collect();
                self.intents.insert(call_id.clone(), files);
                None
            }
            EventKind::Tool(ToolEvent::Finished(ToolFinished { call_id, answer, .. })) => {
                let files = self.intents.remove(call_id)?;
                answer.refused.is_none().then(|| self.changes(&files))
            }
            EventKind::Run(_)
            | EventKind::Conversation(_)
            | EventKind::User(_)
            | EventKind::Frame(_)
            | EventKind::State(_)
            | EventKind::Model(_)
            | EventKind::Tool(_) => None,
        }
    }

    fn changes(&self, files: &[FileIntent]) -> String {
        let mut out = String::new();
        for file in files.iter().take(FILES) {
            let Some(change) = self.change(file) else { continue };
            if files.len() > 1 {
                let path = paint::printable(&file.path);
                out.push_str(&format!("    {}\n", paint::styled(QUIET, path)));
            }
            out.push_str(&change);
        }
        if let Some(more @ 1..) = files.len().checked_sub(FILES) {
            let more = format!("… {}", paint::counted(more, ("more file", "个文件未显示")));
            out.push_str(&format!("    {}\n", paint::styled(QUIET, more)));
        }
        out
    }

    /// Returns the difference of a file, if both versions are available and text.
    fn change(&self, file: &FileIntent) -> Option<String> {
        let path = self.project.join(file.path.strip_prefix("@project/")?);
        let after = match &file.after {
            None if path.exists() => return None,
            None => Vec::new(),
            Some(_) if std::fs::metadata(&path).ok()?.len() > LARGE => return None,
            Some(_) => std::fs::read(&path).ok()?,
        };
        // Another process may have changed the file since.
        if file.after.as_ref().is_some_and(|known| Digest::of(&after).to_string() != *known) {
            return None;
        }
        let (before, lines) = match &file.before {
            Some(digest) => (self.blobs.get(Digest::parse(digest)?).ok()?, CHANGED),
            None => (Vec::new(), NEW),
        };
        let (before, after) = (String::from_utf8(before).ok()?, String::from_utf8(after).ok()?);
        Some(diff(&before, &after, DiffBounds { lines, columns: paint::width() }))
    }
}
