//! The host on this computer: runs are folders of the store, and their logs are journals.

use super::{Host, HostError, OpenRun, RunFiles};
use crate::clock::Clock;
use crate::step_log::JournalLog;
use crate::store::{NewRun, RunFolder, RunId, Runs};

/// The store as a host.
#[derive(Debug)]
pub struct LocalHost<'s> {
    runs: Runs<'s>,
    clock: Clock,
}

impl<'s> LocalHost<'s> {
    /// Returns the host of these runs. The clock dates their events.
    pub fn new(runs: Runs<'s>, clock: Clock) -> Self {
        Self { runs, clock }
    }

    fn opened(&self, mut folder: RunFolder) -> Result<OpenRun<JournalLog>, HostError> {
        let roots = self.runs.roots(&folder.record)?;
        let mounts = folder.mounts(&roots)?;
        let recovered = std::mem::take(&mut folder.recovered);
        let (record, blobs) = (folder.record.clone(), folder.blobs.clone());
        let own = Some(folder.folder().clone());
        let log = JournalLog::new(folder, self.clock.clone());
        let files = RunFiles { mounts, blobs, project: roots.project, folder: own };
        Ok(OpenRun { record, log, events: recovered.events, notes: recovered.notes, files })
    }
}

impl Host for LocalHost<'_> {
    type Log = JournalLog;

    fn create(&self, new: NewRun) -> Result<OpenRun<JournalLog>, HostError> {
        self.opened(self.runs.create(new)?)
    }

    fn open(&self, id: &RunId) -> Result<OpenRun<JournalLog>, HostError> {
        self.opened(self.runs.open(id)?)
    }
}
