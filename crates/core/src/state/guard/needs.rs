//! Missing declarations of a node: outputs that this visit did not write, variables that it did not set.

use crewagent_format::id::NodeId;
use crewagent_format::package::graph::Node;
use crewagent_format::wording::{joined, quoted_up_to, ticked};
use serde_json::Value as Json;

use super::outputs::JudgedOutputs;
use super::{Author, NodeVisit, Proposal};
use crate::state::document::{STATUS, StateDocument};
use crate::state::output::{Output, is_blank};

/// Longest part of a value that is shown, in characters.
const SHOWN_CHARS: usize = 60;

/// Requirements that are missing before a node may be left, or a last node completed.
pub(super) struct Needs {
    pub(super) node: NodeId,
    pub(super) outputs: JudgedOutputs,
    pub(super) variables: Vec<UnsetVariable>,
    author: Author,
}

/// Declared variable that does not count as set.
pub(super) struct UnsetVariable {
    pub(super) name: String,
    gap: VariableGap,
}

/// Reason why a variable does not count as set.
enum VariableGap {
    Missing,
    /// It is blank, or a placeholder.
    Empty,
    /// It has this value from an earlier visit of the node.
    EarlierVisit(String),
    /// It has this value from another node.
    OtherNode(String),
}

impl Needs {
    /// Checks every declaration of the node. The graph's outputs count, not the step's.
    pub(super) fn of(visit: &NodeVisit<'_>, node: &Node) -> Self {
        let mut needs = Self {
            node: node.id.clone(),
            outputs: JudgedOutputs::default(),
            variables: Vec::new(),
            author: visit.author,
        };
        for declared in &node.outputs {
            let output = Output::of(declared, visit.variables);
            needs.outputs.judge(visit, node, declared, output);
        }
        needs.outputs.check_kept(visit);
        let step = visit.workflow.steps.get(&node.id);
        let declared = step.map(|step| step.front.sets_variables.as_slice()).unwrap_or_default();
        // The runtime itself records that a workflow is complete.
        let declared = declared.iter().filter(|name| name.as_str() != STATUS);
        needs.variables.extend(declared.filter_map(|name| {
            let gap = gap(visit, node, name)?;
            Some(UnsetVariable { name: name.clone(), gap })
        }));
        needs
    }

    /// Returns true if a requirement is missing.
    pub(super) fn is_open(&self) -> bool {
        !self.outputs.open.is_empty() || !self.variables.is_empty()
    }

    /// Describes the missing requirements.
    pub(super) fn words(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.outputs.missing());
        let unset = self.variables.iter().filter(|one| matches!(one.gap, VariableGap::Missing));
        let unset: Vec<&str> = unset.map(|one| one.name.as_str()).collect();
        if !unset.is_empty() {
            parts.push(format!("unset variables: {}", ticked(&unset)));
        }
        let mut sentences = vec![if parts.is_empty() {
            format!("`{}` is not done.", self.node)
        } else {
            format!("`{}` is not done: {}.", self.node, parts.join("; "))
        }];
        sentences.extend(self.outputs.sentences(self.author));
        sentences.extend(self.variables.iter().filter_map(UnsetVariable::sentence));
        sentences.join(" ")
    }

    /// Returns warnings for tolerated and unchecked requirements.
    pub(super) fn warnings(&self) -> Vec<String> {
        let mut warnings = Vec::new();
        if self.is_open() {
            warnings.push(self.words());
        }
        if !self.outputs.skipped.is_empty() {
            warnings.push(format!(
                "`{}` declares outputs that were not checked: {}.",
                self.node,
                joined(self.outputs.skipped.iter().cloned())
            ));
        }
        warnings
    }
}

impl UnsetVariable {
    /// Says what is wrong with a variable that has a value.
    fn sentence(&self) -> Option<String> {
        let name = &self.name;
        match &self.gap {
            VariableGap::Missing => None,
            VariableGap::Empty => Some(format!("{name} is empty.")),
            VariableGap::EarlierVisit(value) => {
                Some(format!("{name} is from the last visit ({value}). Set it anew."))
            }
            VariableGap::OtherNode(value) => {
                Some(format!("{name} is from another node ({value}). Set it anew."))
            }
        }
    }
}

/// Returns why a variable does not count as set; none if it does.
fn gap(visit: &NodeVisit<'_>, node: &Node, name: &str) -> Option<VariableGap> {
    let Some(value) = visit.variables.get(name).filter(|value| !value.is_null()) else {
        let is_named = visit.set.named.iter().any(|named| named == name);
        return Some(if is_named { VariableGap::Empty } else { VariableGap::Missing });
    };
    if is_empty(value) {
        return Some(VariableGap::Empty);
    }
    if is_set(visit, name) {
        return None;
    }
    let shown = match value.as_str() {
        Some(text) => quoted_up_to(text, SHOWN_CHARS),
        None => crewagent_format::wording::cut(&value.to_string(), SHOWN_CHARS),
    };
    let was_here = visit.done.iter().any(|id| id == node.id.as_str());
    Some(if was_here { VariableGap::EarlierVisit(shown) } else { VariableGap::OtherNode(shown) })
}

fn is_set(visit: &NodeVisit<'_>, name: &str) -> bool {
    let is_named = visit.set.named.iter().any(|named| named == name);
    let has_changed = || visit.variables.get(name) != visit.old_variables.get(name);
    is_named || visit.set.before.contains(name) || has_changed()
}

/// Returns the names of the variables that a change sets: those that it names, and those whose value it alters.
pub(super) fn set_names(proposal: &Proposal<'_>, document: &StateDocument) -> Vec<String> {
    let old = proposal.old.variables();
    let is_new = |name: &String, value: &Json| {
        proposal.variables.named.contains(name) || old.get(name) != Some(value)
    };
    let all = document.variables().iter();
    all.filter(|(name, value)| is_new(name, value)).map(|(name, _)| name.clone()).collect()
}

/// Returns true if a value is blank, or a placeholder that was copied instead of filled in.
fn is_empty(value: &Json) -> bool {
    value.as_str().is_some_and(is_blank)
}
