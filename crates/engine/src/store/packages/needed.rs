//! Runs and conversations that need a package, matched by its digest, and packages that none of them needs.

use std::collections::BTreeMap;

use crewagent_format::integrity::Digest;

use super::{FoundPackage, Installed, Packages};
use crate::store::runs::lock::holder;
use crate::store::runs::{Of, RunError, RunKind, RunRecord};
use crate::store::{RunId, Runs};

/// Runs and conversations that cannot resume without a package.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NeededBy {
    /// Descriptions of those that a process holds at this moment.
    pub held: Vec<String>,
    /// Others: runs that are not complete.
    pub runs: Vec<RunId>,
    /// Number of other conversations.
    pub conversations: usize,
}

impl NeededBy {
    /// Returns the number of runs and conversations that no process holds.
    pub fn unfinished(&self) -> usize {
        self.runs.len() + self.conversations
    }

    fn is_empty(&self) -> bool {
        self.held.is_empty() && self.unfinished() == 0
    }
}

impl Packages<'_> {
    /// Collects the runs and conversations that need a package. Unreadable ones do not count.
    pub fn needed_by(&self, found: &FoundPackage) -> Result<NeededBy, RunError> {
        let digest = match found {
            FoundPackage::Installed(installed) => Some(installed.digest),
            FoundPackage::Damaged(damaged) => damaged.digest,
        };
        let Some(digest) = digest else { return Ok(NeededBy::default()) };
        Ok(self.needs(&[digest])?.remove(&digest).unwrap_or_default())
    }

    /// Returns the packages whose name and version a later import has, too, and that no unfinished run and no
    /// conversation needs.
    pub fn superseded(&self) -> Result<Vec<Installed>, RunError> {
        let mut installed = self.list()?.installed;
        // The last of a name and version is the one that they mean.
        let is_last: Vec<bool> = (0..installed.len())
            .map(|at| {
                installed.get(at + 1).is_none_or(|next| {
                    (&next.name, &next.version) != (&installed[at].name, &installed[at].version)
                })
            })
            .collect();
        let mut is_last = is_last.into_iter();
        installed.retain(|_| !is_last.next().unwrap_or(true));
        let digests: Vec<Digest> = installed.iter().map(|one| one.digest).collect();
        let needs = self.needs(&digests)?;
        installed.retain(|one| needs.get(&one.digest).is_none_or(NeededBy::is_empty));
        Ok(installed)
    }

    /// Collects the runs and conversations that need these packages.
    fn needs(&self, digests: &[Digest]) -> Result<BTreeMap<Digest, NeededBy>, RunError> {
        let mut needs: BTreeMap<Digest, NeededBy> = BTreeMap::new();
        for kind in [RunKind::Runs, RunKind::Conversations] {
            let runs = Runs::new(self.store, kind);
            for (folder, name) in runs.places_of(Of::All)? {
                let Ok(id) = RunId::parse(&name) else { continue };
                let record = RunRecord::read(&folder, &id).ok();
                let digest = record.and_then(|record| Some(record.subject.package()?.sha256));
                let Some(digest) = digest.filter(|digest| digests.contains(digest)) else {
                    continue;
                };
                let needed = needs.entry(digest).or_default();
                if holder(&folder)?.is_some() {
                    needed.held.push(format!("{kind} {id}"));
                } else if kind == RunKind::Conversations {
                    needed.conversations += 1;
                } else if runs.summary(&id).map_or(true, |summary| summary.status.is_unfinished()) {
                    needed.runs.push(id);
                }
            }
        }
        Ok(needs)
    }
}
