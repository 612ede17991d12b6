//! Calls of other workflows: what the documents of caller and child say when one is made, and when it is over.
//!
//! Each call has a state document of its own. The frame of an open call stands in the document of its caller alone, so
//! that entering and returning are each one write, and following the frames from the run's own document leads to the
//! active one, whatever became of the process.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::document::{
    ChangeError, FAILED, FAILURE_REASON, Proposed, RunFacts, STATUS, StateDocument,
};
use super::edits::{merge_variables, push, set};
use super::standing::Standing;
use crate::id::AgentId;
use crate::package::graph::Graph;
use crate::package::{Call, Workflow};

/// Calls may be this deep.
pub const DEEPEST: usize = 8;

/// A call that has not returned, as `callStack` of the caller's document has it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Frame {
    /// The workflow that is called.
    pub workflow_id: String,
    /// The node of the caller that calls it.
    pub node_id: String,
    /// The number of the call in the run, from 1.
    #[schemars(range(min = 1))]
    pub call: u64,
}

/// A workflow that waits for one that it has called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Caller {
    /// The call.
    #[serde(flatten)]
    pub frame: Frame,
    /// Where the caller stands.
    pub state: Standing,
}

/// The first document of a child. With its context the caller passes a copy of its variables, and its artifacts as
/// documents that come from outside; how the caller itself is getting on is no variable of the child.
pub fn child_document(
    caller: &StateDocument,
    call: &Call,
    child: &Workflow,
    agent: &AgentId,
    now: &str,
) -> Result<StateDocument, ChangeError> {
    let front = caller.front();
    let mut facts = RunFacts {
        run_id: front.run_id.clone().unwrap_or_default(),
        project_name: front.project_name.clone().unwrap_or_default(),
        user_name: front.user_name.clone().unwrap_or_default(),
        now: now.to_owned(),
        active_agent_id: agent.to_string(),
        workflow_ref: call.workflow.to_string(),
        variables: Map::new(),
        input_documents: Vec::new(),
    };
    if call.pass_context {
        facts.variables = front.variables.clone();
        facts.variables.retain(|name, _| name != STATUS && name != FAILURE_REASON);
        facts.input_documents.clone_from(&front.artifacts);
    }
    StateDocument::start(child, &facts)
}

/// The caller's document when the call is made.
pub fn with_frame(
    caller: &StateDocument,
    frame: &Frame,
    now: &str,
) -> Result<StateDocument, ChangeError> {
    caller.edited(&[set(CALL_STACK, json!([frame])), set("updatedAt", now)])
}

/// The caller's document when the call is given up: it stays on its node, as if nothing had been called.
pub fn without_frame(caller: &StateDocument, now: &str) -> Result<StateDocument, ChangeError> {
    caller.edited(&[set(CALL_STACK, json!([])), set("updatedAt", now)])
}

/// What a return proposes.
#[derive(Debug)]
pub struct Return {
    /// The caller's document with everything that the child gives back, moved along the only edge.
    pub document: Proposed,
    /// What the child did not give back.
    pub warnings: Vec<String>,
}

/// The caller's document when the child is complete. The guard judges it like any other change.
pub fn returned(
    caller: &StateDocument,
    child: &StateDocument,
    call: &Call,
    graph: &Graph,
) -> Result<Return, ChangeError> {
    let node = caller.current_node_id(graph).to_owned();
    let mut edits = vec![set(CALL_STACK, json!([]))];
    let mut results = Map::new();
    let mut warnings = Vec::new();
    for name in &call.result_variables {
        match child.variables().get(name) {
            Some(value) => drop(results.insert(name.clone(), value.clone())),
            None => warnings.push(format!(
                "The workflow `{}` has not set its result variable `{name}`.",
                call.workflow
            )),
        }
    }
    edits.extend(merge_variables(caller.variables(), &results));
    let own = &caller.front().artifacts;
    let news = child.front().artifacts.iter().filter(|path| !own.contains(path));
    edits.extend(news.map(|path| push("artifacts", path.as_str())));
    edits.push(push("stepsCompleted", node.as_str()));
    if let Some(edge) = graph.outgoing(&node).next() {
        edits.push(set("currentNodeId", edge.to.as_str()));
    }
    let document = match caller.edited(&edits) {
        Ok(document) => Ok(document),
        Err(ChangeError::Document(error)) => Err(error),
        Err(error @ ChangeError::Edit(_)) => return Err(error),
    };
    Ok(Return { document, warnings })
}

/// The key of the frontmatter that holds the open call.
pub(crate) const CALL_STACK: &str = "callStack";

impl StateDocument {
    /// The call that is open at the current node. A frame that belongs to another node is left over from before somebody
    /// moved the run by hand, and counts for nothing.
    pub fn open_call(&self, workflow: &Workflow) -> Option<Frame> {
        let node = self.current_node_id(&workflow.graph);
        let call = workflow.calls.get(node)?;
        let stack = self.frontmatter().tree().get(CALL_STACK)?.tree.to_json();
        let frame = Frame::deserialize(stack.as_array()?.last()?).ok()?;
        let is_open =
            frame.node_id == node && frame.workflow_id == call.workflow.as_str() && frame.call > 0;
        is_open.then_some(frame)
    }

    /// Why the workflow cannot be completed, if its status says so.
    pub fn failure(&self) -> Option<String> {
        let text = |name: &str| {
            let key = self.frontmatter().tree().get(name).and_then(|entry| entry.tree.as_str());
            key.or_else(|| self.variables().get(name).and_then(Json::as_str)).map(str::trim)
        };
        let reason = text(FAILURE_REASON).filter(|reason| !reason.is_empty());
        (text(STATUS) == Some(FAILED)).then(|| reason.unwrap_or("it gives no reason").to_owned())
    }
}
