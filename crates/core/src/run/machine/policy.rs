//! The policy of the current agent, and what the model is told of it.

use crewagent_format::package::{Package, Workflow};

use super::Machine;
use crate::policy::{Policy, StateTool};
use crate::settings::StateTools;
use crate::state::run_state::RunState;
use crate::tool::Tool;

impl Machine {
    /// Returns a run of the same workflow that has not started, in another state. What was read of the package stays.
    pub(crate) fn anew_in(&self, run_state: RunState) -> Self {
        Self { run_state, ..self.clone() }
    }

    /// Returns the policy of the current agent.
    pub fn policy(&self) -> Policy {
        let policy =
            self.settings.policy.tightened(self.agent().and_then(|agent| agent.tools.as_ref()));
        if self.workflow().is_some() {
            let policy = policy.with_state(self.told_state_tool());
            let tells_gates = self.takes_drafts();
            Policy { tells_moves: self.tells_moves, tells_gates, ..policy }
        } else {
            // A conversation has no state to guard or patch.
            Policy { strict: false, tells_moves: true, ..policy }
        }
    }

    /// Returns the manner in which the model is told to change the state.
    fn told_state_tool(&self) -> StateTool {
        let is_asked_for = |workflow: &Workflow| workflow.front.tells_document_edits();
        match self.settings.state_tools {
            StateTools::Document => StateTool::Patch,
            StateTools::Auto if self.workflow().is_some_and(is_asked_for) => StateTool::Patch,
            StateTools::Auto | StateTools::Tool => StateTool::Runtime,
        }
    }
}

/// Returns true if a step of the package speaks of tools that move or delete files.
pub(super) fn names_moves(package: &Package) -> bool {
    let names = [Tool::Move, Tool::Delete].map(|tool| [tool.name(), tool.wire_name()]);
    let steps = package.workflows().iter().flat_map(|workflow| workflow.steps.values());
    let mut steps = steps.map(|step| step.body());
    steps.any(|text| names.iter().flatten().any(|name| text.contains(name)))
}
