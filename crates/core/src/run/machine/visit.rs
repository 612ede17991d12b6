//! Variables of the current visit: a node must set what it declares itself, each time it is visited.

use std::collections::BTreeSet;

use crate::event::StateChange;
use crate::state::run_state::RunState;

/// Variables that were set since the node was entered, and those that the user gave.
#[derive(Clone, Debug, Default)]
pub(super) struct VisitedVariables {
    set: BTreeSet<String>,
    /// Variables that each open workflow started with, outermost first: given by the user, or by its caller.
    given: Vec<BTreeSet<String>>,
}

impl VisitedVariables {
    /// Returns what a state document alone tells: which call set a variable is not known, but before the first node is
    /// completed no other node can have set one.
    pub(super) fn resumed(state: &RunState) -> Self {
        let mut variables = Self::default();
        if state.steps_completed.is_empty() {
            variables.enter(state);
        }
        variables
    }

    /// Begins a workflow with its variables.
    pub(super) fn enter(&mut self, state: &RunState) {
        self.set.clear();
        self.given.push(state.variables.keys().cloned().collect());
    }

    /// Returns to the workflow that called the active one.
    pub(super) fn leave(&mut self) {
        self.set.clear();
        self.given.pop();
    }

    /// Takes a change of the state. A move begins another visit.
    pub(super) fn take(&mut self, change: &StateChange) {
        if change.moved.is_some() {
            self.set.clear();
        } else {
            self.set.extend(change.set.iter().cloned());
        }
    }

    /// Returns the variables that count as set at the current node. Those that the user gave count at its first visit.
    pub(super) fn counted(&self, state: &RunState) -> BTreeSet<String> {
        let was_here = state.steps_completed.contains(&state.current_node_id);
        let given = self.given.last().filter(|_| !was_here).into_iter().flatten();
        self.set.iter().chain(given).cloned().collect()
    }
}
