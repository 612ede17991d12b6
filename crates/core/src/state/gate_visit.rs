//! What the user decided at the gate of a node, in its current visit.

use std::collections::BTreeSet;

/// Recorded decisions at the gate of a visit. A run that is resumed from its state alone knows none, and asks again.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct GateVisit {
    /// Keys of the options that the user chose.
    pub chosen: BTreeSet<String>,
    /// True if the user said something.
    pub has_spoken: bool,
    /// Names of the drafts that were saved in files of the project.
    pub saved: BTreeSet<String>,
}

impl GateVisit {
    /// Returns the record of a visit in which nothing was decided.
    pub const fn none() -> Self {
        Self { chosen: BTreeSet::new(), has_spoken: false, saved: BTreeSet::new() }
    }

    /// Returns true if an edge with this gate may be taken.
    pub fn opens(&self, gate: Option<&String>) -> bool {
        gate.is_none_or(|key| self.chosen.contains(key))
    }
}
