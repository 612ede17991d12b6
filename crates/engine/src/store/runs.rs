//! Runs of the store: each one a folder that one process at a time owns.

mod create;
mod error;
mod list;
pub(super) mod lock;
mod record;

use std::fmt;
use std::time::SystemTime;

use crewagent_core::event::Event;
use crewagent_core::frame_id::FrameId;
use crewagent_core::run::history::History;

pub(super) use self::list::JournalEnding;

pub use self::create::NewRun;
pub use self::error::RunError;
pub use self::list::{Of, RunListing, RunSummary, Spent, Status};
pub use self::lock::Holder;
pub use self::record::{RunPackage, RunRecord, RunSubject, RunWorkflow};

use self::create::now;
use self::lock::{LockResult, LockWait, RunLock};
use super::ids::{ProjectId, RunId};
use super::packages::Installed;
use super::projects::{CONVERSATIONS, Project, ProjectError, Projects, REMOVED, RUNS};
use super::{Store, title};
use crate::blobs::Blobs;
use crate::disk::{DiskError, Folder};
use crate::journal::{JOURNAL, Journal, JournalReader, Recovered};
use crate::mounts::{Mounts, OpenError, Roots};

/// Names in a run's folder.
const STATE: &str = "state";
const LOGS: &str = "state/logs";
const BLOBS: &str = "blobs";
const STATE_DOCUMENT: &str = "workflow.md";
const CALLS: &str = "calls";
/// Empty folder, used as the package mount of a conversation without one.
const NO_PACKAGE: &str = "no-package";

/// Access to the runs of a store, or to its conversations.
#[derive(Clone, Copy, Debug)]
pub struct Runs<'s> {
    store: &'s Store,
    kind: RunKind,
}

/// Kind of runs, each with its own folder in a project.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunKind {
    /// Runs of workflows.
    Runs,
    Conversations,
}

impl fmt::Display for RunKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Runs => "run",
            Self::Conversations => "conversation",
        })
    }
}

impl RunKind {
    /// Returns the name of the CLI command for them.
    pub fn command(self) -> &'static str {
        match self {
            Self::Runs => "runs",
            Self::Conversations => "chats",
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Runs => RUNS,
            Self::Conversations => CONVERSATIONS,
        }
    }
}

/// Run that this process owns until the value is dropped.
#[derive(Debug)]
pub struct RunFolder {
    pub record: RunRecord,
    pub journal: Journal,
    /// Content of the journal when it was opened.
    pub recovered: Recovered,
    pub blobs: Blobs,
    /// Number of the owning process, from 1.
    pub epoch: u64,
    folder: Folder,
    lock: RunLock,
}

/// Run that a process reads without owning it.
#[derive(Debug)]
pub struct RunView {
    pub record: RunRecord,
    /// Content of its journal; a record that is being written is left out.
    pub recovered: Recovered,
    pub blobs: Blobs,
    /// Process that holds it.
    pub holder: Option<Holder>,
}

impl RunFolder {
    /// Returns its folder in the store.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Opens the mounts of the run, on the same disk.
    pub fn mounts(&self, roots: &Roots) -> Result<Mounts, OpenError> {
        Mounts::open_with(roots, self.folder.disk().clone())
    }

    /// Releases the run.
    pub fn close(self) {
        drop(self.lock);
    }
}

impl<'s> Runs<'s> {
    pub(super) fn new(store: &'s Store, kind: RunKind) -> Self {
        Self { store, kind }
    }

    /// Opens a run as its owner, and repairs its journal.
    pub fn open(&self, id: &RunId) -> Result<RunFolder, RunError> {
        let folder = self.folder(id)?;
        let mut lock = match RunLock::take(&folder, LockWait::Briefly) {
            Ok(LockResult::Ours(lock)) => lock,
            Ok(LockResult::Theirs(holder)) => {
                return Err(RunError::InUse { id: id.clone(), holder });
            }
            // Removed in the meantime.
            Err(error) if error.is_missing() => return Err(self.unknown(id.as_str())),
            Err(error) => return Err(error.into()),
        };
        let record = self.read_record(&folder, id)?;
        flush_way(&folder)?;
        let blobs = Blobs::new(folder.join(BLOBS));
        let (journal, recovered) = Journal::open(folder_of(&folder, LOGS), blobs.clone())?;
        let epoch = last_epoch(&recovered.events).max(lock.last_holder().epoch) + 1;
        lock.sign(&folder, &Holder { pid: Some(std::process::id()), since: now(), epoch })?;
        Ok(RunFolder { record, journal, recovered, blobs, epoch, folder, lock })
    }

    /// Reads a run without owning it.
    pub fn look(&self, id: &RunId) -> Result<RunView, RunError> {
        let folder = self.folder(id)?;
        Ok(RunView {
            record: self.read_record(&folder, id)?,
            recovered: Journal::read(&folder_of(&folder, LOGS))?,
            blobs: Blobs::new(folder.join(BLOBS)),
            holder: lock::holder(&folder)?,
        })
    }

    /// Returns the blobs of a run.
    pub fn blobs(&self, id: &RunId) -> Result<Blobs, RunError> {
        Ok(Blobs::new(self.folder(id)?.join(BLOBS)))
    }

    /// Returns a reader of the events of a run; reading needs no ownership.
    pub fn journal(&self, id: &RunId) -> Result<JournalReader, RunError> {
        Ok(JournalReader::new(folder_of(&self.folder(id)?, LOGS)))
    }

    /// Reads the current state documents of a run, its own first, then those of its frames; each with its path relative
    /// to the run's folder.
    pub fn documents(&self, id: &RunId) -> Result<Vec<(String, String)>, RunError> {
        let path = |frame: Option<FrameId>| match frame {
            Some(frame) => format!("{STATE}/{CALLS}/{frame}/{STATE_DOCUMENT}"),
            None => format!("{STATE}/{STATE_DOCUMENT}"),
        };
        let documents = self.documents_by_frame(id)?;
        Ok(documents.into_iter().map(|(frame, text)| (path(frame), text)).collect())
    }

    /// Reads the state documents, each with the frame that it belongs to; `None` for the run's own.
    pub(crate) fn documents_by_frame(
        &self,
        id: &RunId,
    ) -> Result<Vec<(Option<FrameId>, String)>, RunError> {
        let state = self.folder(id)?.join(STATE);
        let calls = state.join(CALLS);
        let mut numbers: Vec<u64> =
            calls.names()?.iter().filter_map(|name| name.parse().ok()).collect();
        numbers.sort_unstable();
        let below = numbers
            .into_iter()
            .map(|number| (calls.join(&number.to_string()), Some(FrameId::new(number))));
        let mut documents = Vec::new();
        for (folder, call) in std::iter::once((state, None)).chain(below) {
            match folder.read(STATE_DOCUMENT, list::MAX_DOCUMENT) {
                Ok(bytes) => documents.push((call, String::from_utf8_lossy(&bytes).into_owned())),
                Err(error) if error.is_missing() => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(documents)
    }

    /// Reads the record of a run.
    pub fn record(&self, id: &RunId) -> Result<RunRecord, RunError> {
        self.read_record(&self.folder(id)?, id)
    }

    /// Finds the run that the user means: by its id, its start or its last characters.
    pub fn find(&self, reference: &str) -> Result<RunId, RunError> {
        self.find_in(Of::All, reference)
    }

    /// Finds a run among these.
    pub fn find_in(&self, of: Of<'_>, reference: &str) -> Result<RunId, RunError> {
        let mut found = Vec::new();
        for (_, name) in self.places_of(of)? {
            if name == reference {
                return RunId::parse(&name).map_err(|_| self.unknown(reference));
            }
            if name.starts_with(reference) || name.ends_with(&format!("-{reference}")) {
                found.push(name);
            }
        }
        match &found[..] {
            [name] if !reference.is_empty() => {
                RunId::parse(name).map_err(|_| self.unknown(reference))
            }
            [] | [_] => Err(self.unknown(reference)),
            _ => Err(RunError::Ambiguous {
                kind: self.kind,
                reference: reference.to_owned(),
                candidates: found,
            }),
        }
    }

    /// Removes a run unless a process holds it; works for an unreadable run too.
    pub fn remove(&self, id: &RunId) -> Result<(), RunError> {
        let folder = self.folder(id)?;
        let lock = match RunLock::take(&folder, LockWait::Briefly)? {
            LockResult::Ours(lock) => lock,
            LockResult::Theirs(holder) => return Err(RunError::InUse { id: id.clone(), holder }),
        };
        // Windows cannot rename a folder that contains an open file.
        let lock = (!cfg!(windows)).then_some(lock);
        let Some(runs) = folder.above() else { return Err(self.unknown(id.as_str())) };
        let removed = runs.join(&format!("{REMOVED}{id}"));
        removed.remove_tree()?;
        folder.rename_to(&removed)?;
        runs.sync()?;
        removed.remove_tree()?;
        drop(lock);
        Ok(())
    }

    /// Sets its title. A blank one changes nothing.
    pub fn rename(&self, id: &RunId, title: &str) -> Result<(), RunError> {
        title::write(&self.folder(id)?, title)
    }

    /// Returns the project of a run.
    pub fn project(&self, record: &RunRecord) -> Result<Project, RunError> {
        match self.projects().get(&record.project_id) {
            Err(ProjectError::Unknown { .. }) => Err(RunError::NoProject {
                id: record.run_id.clone(),
                project: record.project_id.clone(),
            }),
            other => Ok(other?),
        }
    }

    /// Finds the package of a run by its digest; a conversation may have none.
    pub fn package(&self, record: &RunRecord) -> Result<Option<Installed>, RunError> {
        let Some(package) = record.subject.package() else { return Ok(None) };
        let RunPackage { name, version, sha256 } = package;
        let found = self.store.packages().find_by_digest(name, version, *sha256)?;
        let found = found.ok_or_else(|| RunError::PackageGone {
            id: record.run_id.clone(),
            package: package.reference(),
            digits: sha256.short(),
        })?;
        Ok(Some(found))
    }

    /// Returns the folders behind the mounts of a run. An error names what is missing and what to do.
    pub fn roots(&self, record: &RunRecord) -> Result<Roots, RunError> {
        let project = self.project(record)?.folder()?.to_owned();
        let folder = self.folder(&record.run_id)?;
        let package = match self.package(record)? {
            Some(package) => package.files_folder(),
            None => folder.join(NO_PACKAGE).path().to_owned(),
        };
        let state = folder.join(STATE).path().to_owned();
        Ok(Roots { project, package, state })
    }

    fn unknown(&self, reference: &str) -> RunError {
        RunError::Unknown { kind: self.kind, reference: reference.to_owned() }
    }

    fn projects(&self) -> Projects<'s> {
        self.store.projects()
    }

    /// Lists the ids.
    pub fn ids(&self, of: Of<'_>) -> Result<Vec<RunId>, RunError> {
        let places = self.places_of(of)?;
        Ok(places.iter().filter_map(|(_, name)| RunId::parse(name).ok()).collect())
    }

    /// Returns all folders, readable or not, with their names.
    pub(super) fn places_of(&self, of: Of<'_>) -> Result<Vec<(Folder, String)>, DiskError> {
        match of {
            Of::All => self.places(),
            Of::Project(id) => places_in(&self.projects().folder().join(id.as_str()), self.kind),
        }
    }

    /// Returns the process that holds a run.
    pub fn holder(&self, id: &RunId) -> Result<Option<Holder>, RunError> {
        Ok(lock::holder(&self.folder(id)?)?)
    }

    /// Reads the record and checks that it is of this kind.
    fn read_record(&self, folder: &Folder, id: &RunId) -> Result<RunRecord, RunError> {
        let record = RunRecord::read(folder, id)?;
        let is_conversation = matches!(record.subject, RunSubject::Conversation { .. });
        if is_conversation != (self.kind == RunKind::Conversations) {
            let reason = format!("its record is not that of a {}", self.kind);
            return Err(RunError::Damaged { id: id.clone(), reason });
        }
        Ok(record)
    }

    /// Returns the folders of all projects, readable or not, with their names.
    fn places(&self) -> Result<Vec<(Folder, String)>, DiskError> {
        let all = self.projects().folder();
        let mut places = Vec::new();
        for project in all.names()?.into_iter().filter(|name| !name.starts_with('.')) {
            places.extend(places_in(&all.join(&project), self.kind)?);
        }
        Ok(places)
    }

    fn locate(&self, id: &RunId) -> Result<Option<Folder>, DiskError> {
        let all = self.projects().folder();
        for project in all.names()?.into_iter().filter(|name| !name.starts_with('.')) {
            let folder = all.join(&project).join(self.kind.name()).join(id.as_str());
            if folder.exists()? {
                return Ok(Some(folder));
            }
        }
        Ok(None)
    }

    pub(super) fn folder(&self, id: &RunId) -> Result<Folder, RunError> {
        self.locate(id)?.ok_or_else(|| self.unknown(id.as_str()))
    }
}

impl RunView {
    /// Folds its events.
    pub fn history(&self) -> History {
        History::of(&self.recovered.events)
    }

    /// Returns the runs that were started from it, in order.
    pub fn runs(&self) -> Vec<RunId> {
        self.history().runs.iter().filter_map(|id| RunId::parse(id).ok()).collect()
    }

    /// Returns the run that input went to when the conversation was left.
    pub fn active_run(&self) -> Option<RunId> {
        self.history().active_run.and_then(|id| RunId::parse(&id).ok())
    }
}

/// Reads the record and the end of the journal of the run in a folder.
pub(super) fn glance(folder: &Folder, id: &RunId) -> Result<(RunRecord, JournalEnding), RunError> {
    Ok((RunRecord::read(folder, id)?, JournalEnding::of(folder)?))
}

/// Returns the modification time of the journal, which is cheaper than reading its last event.
pub(super) fn written(folder: &Folder) -> Option<SystemTime> {
    folder_of(folder, LOGS).written(JOURNAL).ok()?
}

/// Opens the events and the blobs of the run in a folder.
pub(super) fn readable(folder: &Folder) -> (JournalReader, Blobs) {
    (JournalReader::new(folder_of(folder, LOGS)), Blobs::new(folder.join(BLOBS)))
}

/// Returns the folders of one project.
fn places_in(project: &Folder, kind: RunKind) -> Result<Vec<(Folder, String)>, DiskError> {
    let runs = project.join(kind.name());
    let names = runs.names()?.into_iter().filter(|name| !name.starts_with('.'));
    Ok(names.map(|name| (runs.join(&name), name)).collect())
}

/// Returns a folder several levels below.
fn folder_of(folder: &Folder, below: &str) -> Folder {
    below.split('/').fold(folder.clone(), |folder, name| folder.join(name))
}

/// Flushes the folders of a run and above it: the previous process may have died between a rename and its flush, and
/// everything that this one builds on must be durable.
fn flush_way(run: &Folder) -> Result<(), DiskError> {
    run.join(STATE).sync()?;
    let mut folder = Some(run.clone());
    // The run, `runs`, the project, `projects`.
    for _ in 0..4 {
        let Some(here) = folder else { break };
        here.sync()?;
        folder = here.above();
    }
    Ok(())
}

/// Returns the number of the last process in the journal.
fn last_epoch(events: &[Event]) -> u64 {
    events.iter().rev().find_map(|event| event.kind.epoch()).unwrap_or(1)
}
