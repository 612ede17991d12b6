//! Creates a run: writes it to a hidden staging folder, flushes it, and publishes it with one rename.

use crewagent_core::bindings::Bindings;
use crewagent_core::event::{Event, EventKind, RunEvent};
use crewagent_core::frame_id::FrameId;
use crewagent_core::prompt::PROMPT_VERSION;
use jiff::Timestamp;

use super::lock::{Holder, LockResult, LockWait, RunLock};
use super::record::{RECORD, RunRecord, RunSubject, SCHEMA_VERSION};
use super::{
    BLOBS, CALLS, LOGS, NO_PACKAGE, ProjectId, RunError, RunFolder, RunId, Runs, STATE,
    STATE_DOCUMENT, folder_of,
};
use crate::blobs::Blobs;
use crate::disk::{DiskError, Folder, Opening};
use crate::journal::Journal;
use crate::store::projects::{REMOVED, STAGING};

/// Number of attempts, because another process may take the staging folder for a leftover.
const ATTEMPTS: usize = 8;
/// Epoch of the process that creates a run.
const FIRST: u64 = 1;

/// Initial content of a run.
#[derive(Clone, Debug)]
pub struct NewRun {
    /// Id that its document and its events refer to already; see [`RunId::fresh`].
    pub id: RunId,
    pub project: ProjectId,
    pub subject: RunSubject,
    /// Conversation that starts it.
    pub conversation: Option<RunId>,
    /// Values that the texts of the package are filled with.
    pub bindings: Bindings,
    /// Document that it continues with, from the root of the project.
    pub adopted: Option<String>,
    pub created: Timestamp,
    /// State documents, each with the frame that it belongs to; `None` for the run's own. A conversation has none.
    pub documents: Vec<(Option<FrameId>, String)>,
    /// First events.
    pub events: Vec<Event>,
}

impl Runs<'_> {
    /// Creates a run atomically, owned by this process.
    pub fn create(&self, new: NewRun) -> Result<RunFolder, RunError> {
        let project = self.projects().folder().join(new.project.as_str());
        if !project.exists()? {
            return Err(RunError::NoProject { id: new.id, project: new.project });
        }
        if self.locate(&new.id)?.is_some() {
            return Err(RunError::Exists(new.id));
        }
        let runs = project.join(self.kind.name());
        runs.ensure()?;
        clear(&runs)?;
        let (staging, lock) = create_staging(&runs, &new.id)?;
        let folder = runs.join(new.id.as_str());
        match fill(&staging, &new, lock).and_then(|made| publish(&staging, &folder, made)) {
            Ok(run) => Ok(run),
            Err(error) => {
                // A leftover is removed when the next run of the project is created.
                let _ = staging.remove_tree();
                Err(error)
            }
        }
    }
}

pub(super) fn now() -> Option<Timestamp> {
    Timestamp::from_second(crate::clock::now().as_second()).ok()
}

/// Creates a hidden empty folder with a lock, which tells it from the leftover of a crash.
fn create_staging(runs: &Folder, id: &RunId) -> Result<(Folder, RunLock), RunError> {
    let mut last = None;
    for attempt in 1..=ATTEMPTS {
        let staging = runs.join(&format!("{STAGING}{id}.{attempt}"));
        // Before it is locked, another process may take it for a leftover.
        let locked = staging.create().and_then(|()| RunLock::create(&staging));
        match locked {
            Ok(LockResult::Ours(lock)) if staging.exists()? => return Ok((staging, lock)),
            Ok(LockResult::Ours(_)) => {}
            Ok(LockResult::Theirs(holder)) => {
                last = Some(RunError::InUse { id: id.clone(), holder })
            }
            Err(error) => {
                let kind = error.error.kind();
                let is_lost =
                    error.is_missing() || matches!(kind, std::io::ErrorKind::AlreadyExists);
                if !is_lost {
                    return Err(error.into());
                }
                last = Some(error.into());
            }
        }
    }
    Err(last.unwrap_or_else(|| RunError::Exists(id.clone())))
}

/// Writes and flushes the initial content of a run.
fn fill(
    staging: &Folder,
    new: &NewRun,
    mut lock: RunLock,
) -> Result<(RunRecord, RunLock), RunError> {
    let holder = Holder { pid: Some(std::process::id()), since: now(), epoch: FIRST };
    lock.sign(staging, &holder)?;
    let record = RunRecord {
        schema_version: SCHEMA_VERSION,
        prompt_version: PROMPT_VERSION,
        run_id: new.id.clone(),
        project_id: new.project.clone(),
        subject: new.subject.clone(),
        created: new.created,
        conversation: new.conversation.clone(),
        bindings: new.bindings.clone(),
        adopted: new.adopted.clone(),
        fork_of: new.events.first().and_then(fork_of),
    };
    let text = record
        .text()
        .map_err(|error| RunError::Damaged { id: new.id.clone(), reason: error.to_string() })?;
    staging.write(RECORD, &text, Opening::New)?;
    let (state, logs) = (staging.join(STATE), folder_of(staging, LOGS));
    let blobs = staging.join(BLOBS);
    for folder in [&state, &logs, &blobs] {
        folder.create()?;
    }
    for (call, text) in &new.documents {
        let Some(call) = call else {
            state.write(STATE_DOCUMENT, text.as_bytes(), Opening::New)?;
            continue;
        };
        let folder = state.join(CALLS).join(&call.to_string());
        folder.ensure()?;
        folder.write(STATE_DOCUMENT, text.as_bytes(), Opening::New)?;
        folder.sync()?;
    }
    Journal::create(&logs, &Blobs::new(blobs.clone()), &new.events)?;
    if new.subject.package().is_none() {
        staging.join(NO_PACKAGE).create()?;
    }
    for folder in [&logs, &state, &blobs, staging] {
        folder.sync()?;
    }
    Ok((record, lock))
}

/// Returns the run that a first event names as its origin.
fn fork_of(first: &Event) -> Option<RunId> {
    let EventKind::Run(RunEvent::Started(started)) = &first.kind else { return None };
    RunId::parse(&started.forked_from.as_ref()?.run).ok()
}

/// Publishes the run. Undoes what may not be durable, so that an error means that there is no run.
fn publish(
    staging: &Folder,
    folder: &Folder,
    (record, lock): (RunRecord, RunLock),
) -> Result<RunFolder, RunError> {
    // Windows cannot rename a folder that contains an open file.
    let lock = (!cfg!(windows)).then_some(lock);
    staging.rename_to(folder)?;
    let opened = flushed(folder, record, lock);
    if opened.is_err() {
        let _ = folder.rename_to(staging);
    }
    opened
}

fn flushed(
    folder: &Folder,
    record: RunRecord,
    lock: Option<RunLock>,
) -> Result<RunFolder, RunError> {
    if let Some(runs) = folder.above() {
        runs.sync()?;
    }
    let lock = match lock.map_or_else(
        || RunLock::take(folder, LockWait::Briefly),
        |lock| Ok(LockResult::Ours(lock)),
    )? {
        LockResult::Ours(lock) => lock,
        LockResult::Theirs(holder) => return Err(RunError::InUse { id: record.run_id, holder }),
    };
    let blobs = Blobs::new(folder.join(BLOBS));
    let (journal, recovered) = Journal::open(folder_of(folder, LOGS), blobs.clone())?;
    Ok(RunFolder { record, journal, recovered, blobs, epoch: FIRST, folder: folder.clone(), lock })
}

/// Removes leftovers of processes that died while they created or removed a run.
fn clear(runs: &Folder) -> Result<(), DiskError> {
    for name in runs.names()? {
        if !name.starts_with(STAGING) && !name.starts_with(REMOVED) {
            continue;
        }
        let folder = runs.join(&name);
        // A process that still works on it holds its lock. A leftover that cannot be removed does no harm.
        let Ok(LockResult::Ours(lock)) = RunLock::take(&folder, LockWait::None) else { continue };
        // Windows cannot rename a folder that contains an open file.
        let lock = (!cfg!(windows)).then_some(lock);
        // Rename it first: while its files are deleted one by one, its owner could start to use it again.
        let old = runs.join(&format!("{REMOVED}{}", name.trim_start_matches('.')));
        if name.starts_with(REMOVED) {
            let _ = folder.remove_tree();
        } else if folder.rename_to(&old).is_ok() {
            let _ = old.remove_tree();
        }
        drop(lock);
    }
    Ok(())
}
