//! Looks at the files of the project by which the guard judges the outputs of a node.

use std::cell::RefCell;
use std::sync::Arc;

use crewagent_core::refusal::Refusal;
use crewagent_core::state::guard::FoundOutput;
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::vpath::VPath;
use crewagent_format::integrity::Digest;

use super::change::ContentDraft;
use crate::disk::DiskErrorKind;
use crate::mounts::{EntryKind, MountError, MountResult, Mounts};

/// Largest file whose text is looked at, in bytes: a longer one is more than a placeholder.
const SHORT: usize = 4096;

/// Files of the project, together with those that the judged call writes.
pub(crate) struct ProjectLook<'l> {
    pub(crate) exists: &'l dyn Fn(&ProjectPath) -> Option<bool>,
    pub(crate) look: &'l dyn Fn(&ProjectPath) -> Option<FoundOutput>,
}

/// A file as a call writes it.
pub(crate) struct SentFile {
    path: VPath,
    bytes: Arc<[u8]>,
}

impl SentFile {
    /// Returns the file that a draft leaves; none for the state document, and for one that is removed.
    pub(super) fn of(draft: &ContentDraft) -> Option<Self> {
        let bytes = draft.after.clone().filter(|_| draft.transition.is_none())?;
        Some(Self { path: draft.path.path().clone(), bytes })
    }

    /// Returns a file with this content.
    pub(super) fn new(path: VPath, bytes: Arc<[u8]>) -> Self {
        Self { path, bytes }
    }

    fn found(&self) -> FoundOutput {
        let text = std::str::from_utf8(&self.bytes).ok();
        FoundOutput {
            bytes: Some(self.bytes.len() as u64),
            sha256: Some(Digest::of(&self.bytes).to_string()),
            text: text.filter(|text| text.len() <= SHORT).map(str::to_owned),
            modified: None,
            is_sent: true,
        }
    }
}

/// Judges a change by the files of the project, and by those that the call `sends`. If the disk fails, returns its error
/// instead of treating the file as missing.
pub(crate) fn with_project<T>(
    mounts: &Mounts,
    sends: &[SentFile],
    judge: impl FnOnce(ProjectLook<'_>) -> Result<T, Refusal>,
) -> MountResult<T> {
    let failure: RefCell<Option<MountError>> = RefCell::new(None);
    let found = |result: Result<Option<FoundOutput>, MountError>| match result {
        Ok(file) => file,
        Err(error) => {
            if error.kind != DiskErrorKind::Denied {
                failure.replace(Some(error));
            }
            None
        }
    };
    let sent = |path: &ProjectPath| {
        sends.iter().find(|file| file.path == *path.vpath()).map(SentFile::found)
    };
    let exists = |path: &ProjectPath| match mounts.exists(path.vpath()) {
        _ if sent(path).is_some() => Some(true),
        Ok(there) => Some(there == Ok(true)),
        Err(error) => found(Err(error)).map(|_| true),
    };
    let look = |path: &ProjectPath| sent(path).or_else(|| found(look(mounts, path)));
    let result = judge(ProjectLook { exists: &exists, look: &look });
    match failure.into_inner() {
        Some(error) => Err(error),
        None => Ok(result),
    }
}

/// Looks at a file or folder; none if it cannot be looked at.
fn look(mounts: &Mounts, path: &ProjectPath) -> Result<Option<FoundOutput>, MountError> {
    let Ok(stat) = mounts.stat(path.vpath())? else { return Ok(None) };
    let folder = FoundOutput {
        bytes: None,
        sha256: None,
        text: None,
        modified: stat.modified,
        is_sent: false,
    };
    if stat.kind == EntryKind::Folder {
        return Ok(Some(folder));
    }
    let content = match mounts.read(path.vpath(), SHORT) {
        Ok(Ok(content)) => content,
        Ok(Err(_)) => return Ok(None),
        // One file that the system does not give is not the end of a run.
        Err(error) if super::unreadable(&error).is_some() => return Ok(None),
        Err(error) => return Err(error),
    };
    let is_whole = content.is_whole();
    Ok(Some(FoundOutput {
        bytes: Some(content.size),
        sha256: Some(content.sha256.to_string()),
        text: String::from_utf8(content.bytes).ok().filter(|_| is_whole),
        ..folder
    }))
}
