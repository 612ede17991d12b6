//! The guard: every change of the state document is a proposal, and only a legal one becomes a [`StateTransition`].
//!
//! Mistakes in the new text alone are refused as `E_INVALID_FRONTMATTER` or `E_SCHEMA_VALIDATION`, violations of the
//! old document and the graph as `E_INVALID_TRANSITION`, and missing files or variables as `E_PRECONDITION_FAILED`. A
//! refusal names every mistake, so that one correction is enough.

mod answer;
mod change;
pub(crate) mod gates;
mod needs;
mod outputs;
mod record;
mod route;
mod rules;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::Arc;

use crewagent_format::id::{NodeId, WorkflowId};
use crewagent_format::package::Workflow;
use crewagent_format::package::graph::{Edge, Node};
use schemars::JsonSchema;
use serde::ser::SerializeMap as _;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::{Map, Value as Json};

use super::document::{Proposed, StateDocument};
use super::gate_visit::GateVisit;
use super::next::Next;
use super::project_path::ProjectPath;
use crate::policy::StateTool;
use crate::refusal::Refusal;
use change::StateDifference;
use needs::Needs;
pub use outputs::{FoundOutput, VisitOutputs};

/// Change of the state document that a tool proposes.
#[derive(Clone, Copy)]
pub struct Proposal<'a> {
    pub old: &'a StateDocument,
    pub new: &'a Proposed,
    pub workflow: &'a Workflow,
    /// Returns whether the path exists in the project; none if it cannot be looked at.
    pub exists: &'a dyn Fn(&ProjectPath) -> Option<bool>,
    /// Files created or changed under the artifacts folder since the last transition.
    pub created: &'a [ProjectPath],
    /// Current time, as RFC 3339.
    pub now: &'a str,
    /// Rule for declared outputs and variables that are missing.
    pub missing: MissingRule,
    pub outputs: VisitOutputs<'a>,
    pub variables: VisitVariables<'a>,
    pub confirmation: Confirmation,
    /// Decisions of the user in this visit.
    pub gate: &'a GateVisit,
    pub author: Author,
}

/// Names of variables that count as set in this visit of the node, besides those whose value the change alters.
#[derive(Clone, Copy, Debug)]
pub struct VisitVariables<'a> {
    /// Set before the change: by an earlier call of this visit or, at the first visit, by the user.
    pub before: &'a BTreeSet<String>,
    /// Named by the change itself, with whatever value.
    pub named: &'a [String],
}

impl VisitVariables<'static> {
    /// Returns the variables of a visit in which nothing was set.
    pub fn none() -> Self {
        static NOTHING: BTreeSet<String> = BTreeSet::new();
        Self { before: &NOTHING, named: &[] }
    }
}

/// Facts that the declarations of a node are checked against.
#[derive(Clone, Copy)]
pub struct NodeVisit<'a> {
    pub workflow: &'a Workflow,
    /// Returns whether the path exists in the project; none if it cannot be looked at.
    pub exists: &'a dyn Fn(&ProjectPath) -> Option<bool>,
    pub variables: &'a Map<String, Json>,
    /// Variables before the change that is checked.
    pub old_variables: &'a Map<String, Json>,
    pub set: VisitVariables<'a>,
    /// Nodes that were completed before.
    pub done: &'a [String],
    pub outputs: VisitOutputs<'a>,
    /// Current time, as RFC 3339.
    pub now: &'a str,
    pub author: Author,
}

impl<'a> NodeVisit<'a> {
    /// Returns the facts after a proposed change.
    fn after(proposal: &Proposal<'a>, new: &'a StateDocument) -> Self {
        Self {
            workflow: proposal.workflow,
            exists: proposal.exists,
            variables: new.variables(),
            old_variables: proposal.old.variables(),
            set: proposal.variables,
            done: &proposal.old.front().steps_completed,
            outputs: proposal.outputs,
            now: proposal.now,
            author: proposal.author,
        }
    }
}

/// Declarations of a node that are not fulfilled yet.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MissingParts {
    pub files: Vec<String>,
    pub variables: Vec<String>,
}

/// Returns what a node still lacks before it may be left.
pub fn missing_parts(visit: &NodeVisit<'_>, node: &Node) -> MissingParts {
    let Needs { outputs, variables, .. } = Needs::of(visit, node);
    let variables = variables.into_iter().map(|variable| variable.name).collect();
    let files = outputs.open.into_iter().map(|output| output.name).collect();
    MissingParts { files, variables }
}

/// Author of a proposed change.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// A model with this kind of state tools.
    Model(StateTool),
    /// The runtime, after a called workflow is complete.
    Runtime,
}

/// Treatment of a missing output or variable that a node declares, when it is left or, at the end, completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum MissingRule {
    /// The change is refused.
    #[default]
    Enforce,
    /// The change is made, with a warning.
    Warn,
    /// Not checked.
    Off,
}

/// Consent of the user to change the state of a completed workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Confirmation {
    /// The user has not agreed: the change is refused with `E_STATE_CHANGE_REQUIRES_CONFIRMATION`.
    Needed,
    /// The user agreed to this change.
    Given,
}

/// Legal change with a complete state document. Only [`check`] makes one, and no other code may change the node of a
/// run.
#[derive(Clone, Debug)]
pub struct StateTransition {
    document: StateDocument,
    current_node_id: String,
    moved: Option<Move>,
    completion: Completion,
    recorded: Vec<FilledValue>,
    warnings: Vec<String>,
    allowed_next: Vec<Next>,
    /// Workflow that the current node calls.
    calls: Option<WorkflowId>,
    /// Variables that the change sets.
    set: Vec<String>,
    /// Outputs that count although they are old.
    kept: Vec<ProjectPath>,
}

/// A move along an edge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Move {
    pub from: NodeId,
    pub to: NodeId,
    pub label: String,
}

/// Effect of a change on the completion of the workflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Completion {
    Running,
    /// This change completed the workflow.
    Reached,
    /// The workflow was complete before.
    Kept,
}

/// Value that the runtime wrote because the model left it out.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FilledValue {
    /// Key of the frontmatter.
    pub key: &'static str,
    /// Value that was added or set.
    pub value: Json,
}

impl StateTransition {
    /// Returns the document to write, completed by the runtime.
    pub fn document(&self) -> &StateDocument {
        &self.document
    }

    /// Returns the document alone.
    pub fn into_document(self) -> StateDocument {
        self.document
    }

    /// Returns the text to write.
    pub fn text(&self) -> &Arc<str> {
        self.document.text()
    }

    /// Returns the move, if the change makes one.
    pub fn moved(&self) -> Option<&Move> {
        self.moved.as_ref()
    }

    /// Returns the completion of the workflow after the change.
    pub fn completion(&self) -> Completion {
        self.completion
    }

    /// Returns the values that the runtime wrote.
    pub fn recorded(&self) -> &[FilledValue] {
        &self.recorded
    }

    /// Returns the tolerated problems, for the log.
    pub fn warnings(&self) -> &[String] {
        &self.warnings
    }

    /// Returns the names of the variables that the change sets, with the same value or another.
    pub fn set(&self) -> &[String] {
        &self.set
    }

    /// Returns the outputs that count although this visit did not write them, because the change keeps them.
    pub fn kept_outputs(&self) -> &[ProjectPath] {
        &self.kept
    }

    /// Returns the moves from the new node.
    pub fn allowed_next(&self) -> &[Next] {
        &self.allowed_next
    }
}

/// Serializes the `state` of a tool's answer: `{currentNodeId, stepsCompleted, allowedNext, complete, recorded}`,
/// `calls` if the node calls a workflow, and `kept` and `warnings` if there are some.
impl Serialize for StateTransition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut state = serializer.serialize_map(None)?;
        state.serialize_entry("currentNodeId", &self.current_node_id)?;
        state.serialize_entry("stepsCompleted", &self.document.front().steps_completed)?;
        state.serialize_entry("allowedNext", &self.allowed_next)?;
        if let Some(workflow) = &self.calls {
            state.serialize_entry("calls", workflow)?;
        }
        state.serialize_entry("complete", &(self.completion != Completion::Running))?;
        state.serialize_entry("recorded", &self.recorded)?;
        if !self.kept.is_empty() {
            state.serialize_entry("kept", &self.kept)?;
        }
        if !self.warnings.is_empty() {
            state.serialize_entry("warnings", &self.warnings)?;
        }
        state.end()
    }
}

/// Checks a proposal by every rule, and completes the document of a legal one. A refusal changes nothing.
pub fn check(proposal: &Proposal<'_>) -> Result<StateTransition, Refusal> {
    let new = proposal
        .new
        .as_ref()
        .map_err(|error| answer::situated(error.refusal(), proposal, proposal.old))?;
    let verdict = judge(proposal, new)?;
    confirm(proposal, new)?;
    let (document, recorded) = record::keep(proposal, new, &verdict)?;
    let graph = &proposal.workflow.graph;
    let completion = match (proposal.old.is_complete(graph), document.is_complete(graph)) {
        (_, false) => Completion::Running,
        (false, true) => Completion::Reached,
        (true, true) => Completion::Kept,
    };
    let current_node_id = document.current_node_id(graph).to_owned();
    let calls = proposal.workflow.calls.get(current_node_id.as_str());
    let calls = calls.filter(|_| completion == Completion::Running);
    Ok(StateTransition {
        set: needs::set_names(proposal, new),
        // Only the runtime leaves a node that calls a workflow.
        allowed_next: if calls.is_some() { Vec::new() } else { document.allowed_next(graph) },
        calls: calls.map(|call| call.workflow.clone()),
        current_node_id,
        moved: verdict.edge.map(|edge| Move {
            from: edge.from.clone(),
            to: edge.to.clone(),
            label: edge.label.clone(),
        }),
        completion,
        recorded,
        kept: verdict.kept,
        warnings: verdict.warnings,
        document,
    })
}

/// Effect of a legal change.
#[derive(Default)]
struct LegalChange<'a> {
    /// Edge that the change takes.
    edge: Option<&'a Edge>,
    /// Last node that the change completes.
    completed: Option<&'a Node>,
    kept: Vec<ProjectPath>,
    warnings: Vec<String>,
}

fn judge<'a>(proposal: &Proposal<'a>, new: &'a StateDocument) -> Result<LegalChange<'a>, Refusal> {
    if !changes_state(proposal.old, new) && !rules::hides_line(proposal.old, new) {
        return Ok(LegalChange::default());
    }
    let change = StateDifference::between(&proposal.workflow.graph, proposal.old, new)
        .ok_or_else(|| answer::lost(proposal))?;
    let mut violations = rules::broken(&change, proposal);
    let edge = match route::taken(&change) {
        Ok(edge) => edge,
        Err(violation) => {
            violations.insert(0, violation);
            None
        }
    };
    gates::broken(&change, edge, proposal, &mut violations);
    let mut needs = Vec::new();
    if proposal.missing != MissingRule::Off {
        let concerned = [change.left(), change.completed()].into_iter().flatten();
        let visit = NodeVisit::after(proposal, new);
        needs.extend(concerned.map(|node| Needs::of(&visit, node)));
    }
    let demanded: Vec<&Needs> = match proposal.missing {
        MissingRule::Enforce => needs.iter().filter(|needs| needs.is_open()).collect(),
        MissingRule::Warn | MissingRule::Off => Vec::new(),
    };
    if !violations.is_empty() || !demanded.is_empty() {
        let refusal = answer::refusal(proposal, &change, &violations, &demanded);
        return Err(answer::situated(refusal, proposal, new));
    }
    let warnings = needs.iter().flat_map(Needs::warnings).collect();
    let kept = needs.into_iter().flat_map(|needs| needs.outputs.kept).collect();
    Ok(LegalChange { edge, completed: change.completed(), kept, warnings })
}

/// Checks that the user agreed to this change of a completed workflow; each change needs its own approval.
fn confirm(proposal: &Proposal<'_>, new: &StateDocument) -> Result<(), Refusal> {
    if is_frozen(proposal) && proposal.old.text() != new.text() {
        return Err(answer::unconfirmed(proposal.old, new));
    }
    Ok(())
}

fn is_frozen(proposal: &Proposal<'_>) -> bool {
    proposal.confirmation == Confirmation::Needed
        && proposal.old.is_complete(&proposal.workflow.graph)
}

fn changes_state(old: &StateDocument, new: &StateDocument) -> bool {
    !old.frontmatter().says_the_same(new.frontmatter())
}
