//! Files of one visit of a node: how its outputs stood when it was entered, and what the run changed since.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Files that count as outputs of a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum OutputRule {
    /// Files that this visit created or changed, and that have a content.
    #[default]
    Changed,
    /// Files that exist.
    Exist,
}

impl OutputRule {
    /// Returns the rule of runs that were recorded before there was a choice.
    pub(crate) fn of_older_runs() -> Self {
        Self::Exist
    }
}

/// Output as it was when its node was entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OutputAtEntry {
    /// Digest; none if there was no file.
    pub sha256: Option<String>,
    /// True if the run wrote it last.
    pub own: bool,
}

/// Recorded facts about the files of a visit.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct VisitFiles {
    /// Begin of the visit.
    pub since: Option<Timestamp>,
    /// Outputs as they were when the node was entered.
    pub outputs: BTreeMap<String, OutputAtEntry>,
    /// Files of the project that the run changed in this visit.
    pub changed: BTreeSet<String>,
    /// Files of the project that the run removed, in this visit or before.
    pub removed: BTreeSet<String>,
    /// Files of the package that the step names, by digest.
    pub templates: BTreeMap<String, String>,
}

impl VisitFiles {
    /// Returns the files of a visit of which nothing is known.
    pub const fn none() -> Self {
        Self {
            since: None,
            outputs: BTreeMap::new(),
            changed: BTreeSet::new(),
            removed: BTreeSet::new(),
            templates: BTreeMap::new(),
        }
    }

    /// Begins another visit. Files that the run removed stay removed.
    pub(crate) fn begin(&mut self, now: Timestamp) {
        let removed = std::mem::take(&mut self.removed);
        *self = Self { since: Some(now), removed, ..Self::default() };
    }

    /// Takes a file that the run wrote, or removed.
    pub(crate) fn write(&mut self, path: &str, is_removed: bool) {
        self.changed.insert(path.to_owned());
        if is_removed {
            self.removed.insert(path.to_owned());
        } else {
            self.removed.remove(path);
        }
    }

    /// Returns true if the run changed the file in this visit, or a file below the folder.
    pub fn has_changed(&self, path: &str) -> bool {
        let below = format!("{path}/");
        let mut inside =
            self.changed.range(below.clone()..).take_while(|one| one.starts_with(&below));
        self.has_written(path) || inside.any(|one| self.has_written(one))
    }

    /// Returns true if the run wrote the file in this visit, and did not remove it since.
    pub fn has_written(&self, path: &str) -> bool {
        self.changed.contains(path) && !self.removed.contains(path)
    }
}
