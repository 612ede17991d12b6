//! Missing declarations of a node: outputs that are not in the project, variables that are not set.

use crewagent_format::id::NodeId;
use crewagent_format::package::graph::Node;
use crewagent_format::wording::{joined, ticked};

use super::Proposal;
use crate::state::document::StateDocument;
use crate::state::output::Output;

/// Requirements that are missing before a node may be left, or a last node completed.
pub(super) struct Needs {
    pub(super) node: NodeId,
    /// Missing outputs, as files or, if the name is unusable, with the reason.
    pub(super) outputs: Vec<String>,
    pub(super) variables: Vec<String>,
    /// Outputs that cannot be checked.
    skipped: Vec<String>,
}

impl Needs {
    /// Checks every declaration of the node. The graph's outputs count, not the step's.
    pub(super) fn of(proposal: &Proposal<'_>, node: &Node, document: &StateDocument) -> Self {
        let mut needs = Self {
            node: node.id.clone(),
            outputs: Vec::new(),
            variables: Vec::new(),
            skipped: Vec::new(),
        };
        for declared in &node.outputs {
            match Output::of(declared, document.variables()) {
                Output::File(path) if (proposal.exists)(&path) => {}
                Output::File(path) => needs.outputs.push(path.to_string()),
                Output::Outside(why) => needs.outputs.push(format!("{declared} ({why})")),
                Output::Open(why) => needs.skipped.push(format!("`{declared}`: {why}")),
            }
        }
        let step = proposal.workflow.steps.get(&node.id);
        let declared = step.map(|step| step.front.sets_variables.as_slice()).unwrap_or_default();
        needs
            .variables
            .extend(declared.iter().filter(|name| !document.has_variable(name)).cloned());
        needs
    }

    /// Returns true if a requirement is missing.
    pub(super) fn is_open(&self) -> bool {
        !self.outputs.is_empty() || !self.variables.is_empty()
    }

    /// Describes the missing requirements.
    pub(super) fn words(&self) -> String {
        let mut parts = Vec::new();
        if !self.outputs.is_empty() {
            parts.push(format!("missing files: {}", ticked(&self.outputs)));
        }
        if !self.variables.is_empty() {
            parts.push(format!("unset variables: {}", ticked(&self.variables)));
        }
        format!("`{}` is not done: {}.", self.node, parts.join("; "))
    }

    /// Returns warnings for tolerated and unchecked requirements.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.is_open() {
            warnings.push(self.words());
        }
        if !self.skipped.is_empty() {
            warnings.push(format!(
                "`{}` declares outputs that were not checked: {}.",
                self.node,
                joined(self.skipped.iter().cloned())
            ));
        }
        warnings
    }
}
