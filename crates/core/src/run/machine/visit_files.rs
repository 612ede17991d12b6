//! Files of the current visit of each open workflow: what a called workflow writes is written in the visit of its caller,
//! too.

use std::sync::Arc;

use jiff::Timestamp;

use crate::event::NodeEntered;
use crate::state::visit_files::{OutputAtEntry, VisitFiles};
use crate::vpath::Mount;

/// Visits of the open workflows, outermost first; at least one.
#[derive(Clone, Debug)]
pub(super) struct OpenVisits(Vec<Arc<VisitFiles>>);

impl Default for OpenVisits {
    fn default() -> Self {
        Self(vec![Arc::default()])
    }
}

impl OpenVisits {
    /// Opens a visit for the run's own workflow and for each of the calls.
    pub(super) fn open(&mut self, calls: usize) {
        self.0 = vec![Arc::default(); calls + 1];
    }

    /// Begins the visits anew at another position.
    pub(super) fn relocate(&mut self, calls: usize, now: Timestamp) {
        self.open(calls);
        self.begin(now);
    }

    /// Resumes the current visit, whose begin may have been lost with the journal.
    pub(super) fn resume(&mut self, now: Timestamp) {
        self.change_last(|visit| visit.since = visit.since.or(Some(now)));
    }

    /// Begins another visit of the active workflow.
    pub(super) fn begin(&mut self, now: Timestamp) {
        self.change_last(|visit| visit.begin(now));
    }

    /// Begins the first visit of a called workflow.
    pub(super) fn enter(&mut self, now: Timestamp) {
        self.0.push(Arc::default());
        self.begin(now);
    }

    /// Returns to the workflow that called the active one, which begins another visit if it moves.
    pub(super) fn leave(&mut self, moved_at: Option<Timestamp>) {
        if self.0.len() > 1 {
            self.0.pop();
        }
        if let Some(now) = moved_at {
            self.begin(now);
        }
    }

    /// Takes the survey of the current node.
    pub(super) fn survey(&mut self, entered: &NodeEntered) {
        self.change_last(|visit| take_survey(visit, entered));
    }

    /// Takes a file that the run wrote, or removed.
    pub(super) fn write(&mut self, path: &str, is_removed: bool) {
        for visit in &mut self.0 {
            Arc::make_mut(visit).write(path, is_removed);
        }
    }

    /// Returns the files of the current visit.
    pub(super) fn current(&self) -> Arc<VisitFiles> {
        self.0.last().cloned().unwrap_or_default()
    }

    /// Returns the files of the visit in which the active workflow was called.
    pub(super) fn of_caller(&self) -> Arc<VisitFiles> {
        self.0.iter().rev().nth(1).cloned().unwrap_or_default()
    }

    fn change_last(&mut self, change: impl FnOnce(&mut VisitFiles)) {
        if let Some(visit) = self.0.last_mut() {
            change(Arc::make_mut(visit));
        }
    }
}

/// Takes the survey of a node. Within one visit the first look at a file counts, and none counts after the run has
/// written it.
fn take_survey(visit: &mut VisitFiles, entered: &NodeEntered) {
    let is_untouched = |path: &str| !visit.changed.contains(path);
    let outputs: Vec<_> =
        entered.outputs.iter().filter(|output| is_untouched(&output.path)).collect();
    for output in outputs {
        let at_entry = || OutputAtEntry { sha256: output.sha256.clone(), own: output.own };
        visit.outputs.entry(output.path.clone()).or_insert_with(at_entry);
    }
    let package = format!("{}/", Mount::Package.name());
    for input in entered.inputs.iter().filter(|input| input.path.starts_with(&package)) {
        if let Some(sha256) = &input.sha256 {
            visit.templates.insert(sha256.clone(), input.path.clone());
        }
    }
}
