//! Reverts a step: every file that it wrote gets its earlier content. Files that were changed outside of the run since
//! stay as they are.

use crewagent_format::integrity::Digest;
use schemars::JsonSchema;
use serde::Serialize;

use super::{ChangesError, RunChange, RunChanges};

/// Range of events whose changes are reverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RevertScope {
    /// One visit of a node, named by the event that led there.
    Step(u64),
    /// That visit and everything after it.
    Onward(u64),
}

/// A file in the plan of a revert.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Backward {
    /// Path from the root of the project.
    pub path: String,
    /// Digest to restore; none removes the file.
    pub target: Option<Digest>,
    /// Current digest; none if the file is gone.
    pub now: Option<Digest>,
    pub prospect: Prospect,
    /// Nodes that wrote the file later; the revert discards their changes too.
    pub later: Vec<String>,
}

/// Possible treatment of a file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Prospect {
    /// It can be reverted.
    Ready,
    /// It is as it was.
    Done,
    /// It was changed or removed outside of the run.
    Conflict,
    /// Its earlier content is lost.
    Lost,
}

/// Result of the revert for one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RevertOutcome {
    Reverted,
    /// The file was left alone, for this reason.
    Left(String),
}

impl RunChanges {
    /// Plans a revert without changing anything.
    pub fn plan_revert(&self, scope: RevertScope) -> Result<Vec<Backward>, ChangesError> {
        let (from, to) = self.bounds(scope)?;
        let mut files = Vec::new();
        for (path, changes) in self.files() {
            if let Some(file) = self.backward(path, changes, from, to)? {
                files.push(file);
            }
        }
        Ok(files)
    }

    /// Reverts the files that the user agreed to, if they still have these digests. All others are left alone.
    pub fn revert(
        &self,
        scope: RevertScope,
        agreed: &[(String, Option<Digest>)],
    ) -> Result<Vec<(String, RevertOutcome)>, ChangesError> {
        self.check_free()?;
        let way = self.plan_revert(scope)?;
        let mut outcomes = Vec::new();
        for (path, digest) in agreed {
            let file = way.iter().find(|file| file.path == *path);
            let outcome = match file {
                None => RevertOutcome::Left("the run did not write it there".to_owned()),
                Some(file) if file.prospect == Prospect::Done => RevertOutcome::Reverted,
                Some(file) if file.prospect == Prospect::Ready && file.now == *digest => {
                    match self.put_back(path, file.target, *digest) {
                        Ok(()) => RevertOutcome::Reverted,
                        // The disk may fail for one file and not for the next.
                        Err(error) => RevertOutcome::Left(error.to_string()),
                    }
                }
                Some(file) if file.prospect == Prospect::Lost => {
                    RevertOutcome::Left("what it was is kept nowhere".to_owned())
                }
                Some(_) => RevertOutcome::Left("somebody has changed it since".to_owned()),
            };
            outcomes.push((path.clone(), outcome));
        }
        Ok(outcomes)
    }

    /// Returns the first event of a scope, and the first one after it.
    fn bounds(&self, scope: RevertScope) -> Result<(u64, u64), ChangesError> {
        let (RevertScope::Step(seq) | RevertScope::Onward(seq)) = scope;
        let at = self.visits().iter().position(|visit| visit.seq == seq);
        let at = at.ok_or(ChangesError::NoVisit(seq))?;
        let next = self.visits().get(at + 1).map_or(u64::MAX, |visit| visit.seq);
        Ok((seq, if matches!(scope, RevertScope::Step(_)) { next } else { u64::MAX }))
    }

    fn backward(
        &self,
        path: &str,
        changes: &[RunChange],
        from: u64,
        to: u64,
    ) -> Result<Option<Backward>, ChangesError> {
        let first = changes.iter().position(|change| (from..to).contains(&change.seq));
        let Some(first) = first else { return Ok(None) };
        let target = changes[first].before;
        let now = self.now(path)?;
        let later = changes[first..].iter().filter(|change| change.seq >= to);
        let mut nodes: Vec<String> = later.filter_map(|change| change.node_id.clone()).collect();
        nodes.dedup();
        // The current content is the run's own, usually from its last change.
        let is_known = changes[first..].iter().any(|one| one.after == now);
        let prospect = match (now, target) {
            _ if now == target => Prospect::Done,
            (_, Some(digest)) if self.blobs.get(digest).is_err() => Prospect::Lost,
            _ if is_known => Prospect::Ready,
            _ => Prospect::Conflict,
        };
        let path = path.to_owned();
        Ok(Some(Backward { path, target, now, prospect, later: nodes }))
    }
}
