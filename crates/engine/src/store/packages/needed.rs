//! Runs and conversations that need a package, matched by its digest.

use crewagent_core::integrity::Digest;

use super::{Found, Packages};
use crate::store::runs::lock::holder;
use crate::store::runs::{Of, RunError, RunRecord, Shelf};
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
    pub fn needed_by(&self, found: &Found) -> Result<NeededBy, RunError> {
        let mut needed = NeededBy::default();
        let digest = match found {
            Found::Installed(installed) => Some(installed.digest),
            Found::Damaged(damaged) => damaged.digest,
        };
        let Some(digest) = digest else { return Ok(needed) };
        for shelf in [Shelf::Runs, Shelf::Conversations] {
            let runs = Runs::new(self.store, shelf);
            for (folder, name) in runs.places_of(Of::All)? {
                let Ok(id) = RunId::parse(&name) else { continue };
                let facts = RunRecord::read(&folder, &id).ok();
                if !facts.is_some_and(|facts| is_of(&facts, digest)) {
                    continue;
                }
                let is_complete = shelf == Shelf::Runs
                    && runs.summary(&id).is_ok_and(|summary| !summary.status.is_unfinished());
                if holder(&folder)?.is_some() {
                    needed.held.push(format!("{shelf} {id}"));
                } else if !is_complete {
                    needed.unfinished += 1;
                }
            }
        }
        Ok(needed)
    }
}

fn is_of(facts: &RunRecord, digest: Digest) -> bool {
    facts.subject.package().is_some_and(|package| package.sha256 == digest)
}
