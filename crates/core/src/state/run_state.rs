//! The state of a run: the contents of its state document, as a value that events, prompts and the journal share.

use crewagent_format::package::graph::Graph;
use crewagent_format::package::workflow::Decision;
use crewagent_format::wording::cut;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json};

use super::document::StateDocument;

/// Contents of a state document that the runtime acts on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct RunState {
    /// The node the run is at.
    pub current_node_id: String,
    /// The nodes that are done, in order.
    pub steps_completed: Vec<String>,
    /// Values for conditions and later steps.
    #[serde(default)]
    pub variables: Map<String, Json>,
    /// Number of decided branches.
    #[serde(default)]
    pub decisions: usize,
    /// The last decisions, at most ten, the newest last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub last_decisions: Vec<PastDecision>,
    /// Created files, from the root of the project.
    #[serde(default)]
    pub artifacts: Vec<String>,
    /// External documents, such as the artifacts of a calling workflow.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub input_documents: Vec<String>,
    /// True if the workflow is complete.
    pub complete: bool,
    /// Reason why it cannot be completed, if its status says so. It matters for a called workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// A branch that was taken.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct PastDecision {
    /// The node that was left.
    pub from: String,
    /// The node that was entered.
    pub to: String,
    /// The edge's label.
    pub label: String,
    /// Reason of the choice.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Largest number of decisions in a state.
const MOST_DECISIONS: usize = 10;
/// Longest part of a reason in a state, in characters.
const REASON_CHARS: usize = 200;

impl RunState {
    /// Returns true if both are at the same position, by the fields that every journal has; older journals lack the
    /// documents from outside, the decisions and the failure of a call.
    pub fn is_same_place(&self, other: &Self) -> bool {
        let known = |run_state: &Self| Self {
            input_documents: Vec::new(),
            last_decisions: Vec::new(),
            failed: None,
            ..run_state.clone()
        };
        self == other || known(self) == known(other)
    }

    /// Returns the state in a document. A node that is not in the graph counts as the entry.
    pub fn of(document: &StateDocument, graph: &Graph) -> Self {
        let front = document.front();
        let named = document.current_node_id(graph);
        let current = if graph.node(named).is_some() { named } else { graph.entry().as_str() };
        Self {
            current_node_id: current.to_owned(),
            steps_completed: front.steps_completed.clone(),
            variables: front.variables.clone(),
            decisions: front.decision_log.len(),
            last_decisions: last_decisions(&front.decision_log),
            artifacts: front.artifacts.clone(),
            input_documents: front.input_documents.clone(),
            complete: document.is_complete(graph),
            failed: document.failure(),
        }
    }
}

fn last_decisions(log: &[Decision]) -> Vec<PastDecision> {
    let past = |decision: &Decision| PastDecision {
        from: decision.from.clone(),
        to: decision.to.clone(),
        label: decision.label.clone(),
        reason: decision.reason.as_deref().map(|reason| cut(reason, REASON_CHARS)),
    };
    log.iter().skip(log.len().saturating_sub(MOST_DECISIONS)).map(past).collect()
}
