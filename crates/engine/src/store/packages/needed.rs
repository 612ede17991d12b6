//! Runs and conversations that need a package, matched by its digest.

use crewagent_format::integrity::Digest;

use super::{FoundPackage, Packages};
use crate::store::runs::lock::holder;
use crate::store::runs::{Of, RunError, RunKind, RunRecord};
use crate::store::{RunId, Runs};

/// Runs and conversations that cannot resume without a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeededBy {
    /// Descriptions of those that a process holds at this moment.
    pub held: Vec<String>,
    /// Number of others: conversations, and runs that are not complete.
    pub unfinished: usize,
}

impl Packages<'_> {
    /// Collects the runs and conversations that need a package. Unreadable ones do not count.
    pub fn needed_by(&self, found: &FoundPackage) -> Result<NeededBy, RunError> {
        let mut needed = NeededBy::default();
        let digest = match found {
            FoundPackage::Installed(installed) => Some(installed.digest),
            FoundPackage::Damaged(damaged) => damaged.digest,
        };
        let Some(digest) = digest else { return Ok(needed) };
        for kind in [RunKind::Runs, RunKind::Conversations] {
            let runs = Runs::new(self.store, kind);
            for (folder, name) in runs.places_of(Of::All)? {
                let Ok(id) = RunId::parse(&name) else { continue };
                let record = RunRecord::read(&folder, &id).ok();
                if !record.is_some_and(|record| is_of(&record, digest)) {
                    continue;
                }
                let is_complete = kind == RunKind::Runs
                    && runs.summary(&id).is_ok_and(|summary| !summary.status.is_unfinished());
                if holder(&folder)?.is_some() {
                    needed.held.push(format!("{kind} {id}"));
                } else if !is_complete {
                    needed.unfinished += 1;
                }
            }
        }
        Ok(needed)
    }
}

fn is_of(record: &RunRecord, digest: Digest) -> bool {
    record.subject.package().is_some_and(|package| package.sha256 == digest)
}
