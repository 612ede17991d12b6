//! Changes of a run to its project, and how the user reverts them: a whole file, one hunk, or all that a step wrote.
//!
//! Reverting is not part of a run: the user changes their own files, and no journal records it. Every write names the
//! digest that it expects, so that an outdated view changes nothing.

mod back;
mod hunks;

use std::collections::BTreeMap;

use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::run::history::{History, RecordedChange, Visit};
use crewagent_core::vpath::{Mount, VPath, WritablePath};
use crewagent_format::integrity::Digest;
use thiserror::Error;

pub use self::back::{Backward, Prospect, RevertOutcome, RevertScope};
pub use self::hunks::{Hunk, HunkLine, HunkRange, HunkSide, Hunks};
use crate::blobs::{BlobError, Blobs};
use crate::mounts::{Before, FileContent, MountError, Mounts};
use crate::store::{Holder, ProjectError, RunError, RunId, Store};
use crate::tools::KEPT;

/// Prefix of the paths of a project.
const PROJECT: &str = "@project/";

/// The changes that a run made to its project.
#[derive(Debug)]
pub struct RunChanges {
    files: BTreeMap<String, Vec<RunChange>>,
    visits: Vec<Visit>,
    mounts: Mounts,
    blobs: Blobs,
    id: RunId,
    /// Other process that works on the run.
    holder: Option<Holder>,
}

/// One recorded change of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunChange {
    /// Event that announced the change.
    pub seq: u64,
    pub call_id: String,
    /// Node that the run was at.
    pub node_id: Option<String>,
    pub time: String,
    /// Digest before; none if the file did not exist.
    pub before: Option<Digest>,
    /// Digest after; none if the file was removed.
    pub after: Option<Digest>,
}

/// Reasons why a change cannot be shown or reverted.
#[derive(Debug, Error)]
pub enum ChangesError {
    /// The run did not change this file, or not with this event.
    #[error("this run did not change `{0}`")]
    Unchanged(String),
    /// No visit of a node starts at this event.
    #[error("this run did not come to a node by event {0}")]
    NoVisit(u64),
    #[error("`{0}` cannot be compared line by line: it is no text, or too long")]
    NotText(String),
    /// The file has changed since the user looked at it.
    #[error("`{0}` has changed since you looked at it")]
    Stale(String),
    /// The guard of the mounts refuses the write.
    #[error("{}", .0.message)]
    Refused(Box<Refusal>),
    #[error(transparent)]
    Run(#[from] RunError),
    #[error(transparent)]
    Project(#[from] ProjectError),
    /// The earlier content of a file is not stored.
    #[error(transparent)]
    Blob(#[from] BlobError),
    #[error(transparent)]
    Mount(#[from] MountError),
}

impl From<Refusal> for ChangesError {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl RunChanges {
    /// Reads the changes of a run. The caller need not own it.
    pub fn of(store: &Store, id: &RunId) -> Result<Self, ChangesError> {
        let view = store.runs().look(id)?;
        let project = store.runs().project(&view.record)?;
        let history = History::of(&view.recovered.events);
        Ok(Self {
            files: made(&history),
            visits: history.visits,
            mounts: store.projects().mounts(&project)?,
            blobs: view.blobs,
            id: id.clone(),
            holder: view.holder.filter(|holder| holder.pid != Some(std::process::id())),
        })
    }

    /// Returns the changed files, each with its changes in order.
    pub fn files(&self) -> impl Iterator<Item = (&str, &[RunChange])> {
        self.files.iter().map(|(path, changes)| (path.as_str(), changes.as_slice()))
    }

    /// Returns the visits of the run.
    pub fn visits(&self) -> &[Visit] {
        &self.visits
    }

    /// Returns the changes of one file.
    pub fn file(&self, path: &str) -> Result<&[RunChange], ChangesError> {
        let found = self.files.get(path).map(Vec::as_slice);
        found.ok_or_else(|| ChangesError::Unchanged(path.to_owned()))
    }

    /// Returns the first and the last change of a file; with `seq`, both are the change that this event announced.
    pub fn span(
        &self,
        path: &str,
        seq: Option<u64>,
    ) -> Result<(&RunChange, &RunChange), ChangesError> {
        let changes = self.file(path)?;
        let found = match seq {
            Some(seq) => changes.iter().find(|change| change.seq == seq).map(|one| (one, one)),
            None => changes.first().zip(changes.last()),
        };
        found.ok_or_else(|| ChangesError::Unchanged(path.to_owned()))
    }

    /// Returns the current digest of a file; none if it is gone.
    pub fn now(&self, path: &str) -> Result<Option<Digest>, ChangesError> {
        Ok(self.mounts.read(&place(path)?, 0)?.ok().map(|content| content.sha256))
    }

    /// Returns the content that had this digest: the current file, or a version that a later change stored. Returns
    /// none if it is longer than `limit` or stored nowhere.
    pub fn image(
        &self,
        path: &str,
        wanted: Digest,
        limit: usize,
    ) -> Result<Option<Vec<u8>>, ChangesError> {
        if self.blobs.size(wanted).map_err(BlobError::from)?.is_some_and(|size| size > limit as u64)
        {
            return Ok(None);
        }
        let mut bytes = self.blobs.get(wanted).ok();
        if bytes.is_none()
            && let Ok(content) = self.mounts.read(&place(path)?, limit)?
            && content.sha256 == wanted
            && content.is_whole()
        {
            bytes = Some(content.bytes);
        }
        Ok(bytes.filter(|bytes| bytes.len() <= limit))
    }

    /// Restores a file to its content before the run, or before one of its changes. Its current digest must be `now`;
    /// none means that it must be gone.
    pub fn revert_file(
        &self,
        path: &str,
        seq: Option<u64>,
        now: Option<Digest>,
    ) -> Result<(), ChangesError> {
        let before = self.span(path, seq)?.0.before;
        self.put_back(path, before, now)
    }

    /// Gives a file the content with this digest, or removes it.
    fn put_back(
        &self,
        path: &str,
        before: Option<Digest>,
        now: Option<Digest>,
    ) -> Result<(), ChangesError> {
        self.check_free()?;
        match (before, now) {
            (Some(digest), now) => self.write(path, &self.blobs.get(digest)?, now),
            (None, Some(now)) => {
                let target = WritablePath::new(place(path)?)?;
                self.keep(&target, now)?;
                Ok(self.mounts.remove(&target, now)??)
            }
            (None, None) => Ok(()),
        }
    }

    /// Writes a file atomically. Its current digest must be `now`; none means that it must be gone.
    fn write(&self, path: &str, bytes: &[u8], now: Option<Digest>) -> Result<(), ChangesError> {
        self.check_free()?;
        let target = WritablePath::new(place(path)?)?;
        if let Some(now) = now {
            self.keep(&target, now)?;
        }
        match self.mounts.replace(&target, bytes, now.map_or(Before::Nothing, Before::Sha256))? {
            Err(refusal) if refusal.code == RefusalCode::Precondition => {
                Err(ChangesError::Stale(path.to_owned()))
            }
            answer => Ok(answer?),
        }
    }

    /// Refuses to change files below a run that another process works on: it would not notice.
    fn check_free(&self) -> Result<(), ChangesError> {
        match &self.holder {
            Some(holder) => {
                Err(RunError::InUse { id: self.id.clone(), holder: holder.clone() }.into())
            }
            None => Ok(()),
        }
    }

    /// Stores the current content, so that the work of the run can still be shown after a revert.
    fn keep(&self, target: &WritablePath, now: Digest) -> Result<(), ChangesError> {
        let old = self.mounts.target(target, KEPT)??.old;
        let is_it = |old: &FileContent| old.is_whole() && old.sha256 == now;
        if let Some(old) = old.filter(is_it) {
            self.blobs.put(&old.bytes)?;
        }
        Ok(())
    }
}

fn place(path: &str) -> Result<VPath, ChangesError> {
    VPath::new(Mount::Project, path).ok_or_else(|| ChangesError::Unchanged(path.to_owned()))
}

/// Returns the changes of every file of the project that were carried out, in order.
fn made(history: &History) -> BTreeMap<String, Vec<RunChange>> {
    let mut files: BTreeMap<String, Vec<RunChange>> = BTreeMap::new();
    for RecordedChange { seq, time, call_id, node_id, file } in history.changes() {
        let Some(path) = file.path.strip_prefix(PROJECT) else { continue };
        let digest = |text: &Option<String>| match text {
            Some(text) => Digest::parse(text).map(Some),
            None => Some(None),
        };
        let (Some(before), Some(after)) = (digest(&file.before), digest(&file.after)) else {
            continue;
        };
        let Some(call_id) = call_id else { continue };
        files.entry(path.to_owned()).or_default().push(RunChange {
            seq: *seq,
            call_id: call_id.clone(),
            node_id: node_id.clone(),
            time: time.clone(),
            before,
            after,
        });
    }
    files
}
