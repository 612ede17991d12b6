//! Calls of other workflows: the documents of caller and child on entry and on return.
//!
//! Each call has a state document of its own. The frame of an open call is in the document of its caller alone, so that
//! entering and returning are each one write, and following the frames from the run's own document leads to the active
//! one, even after a crash.

use crewagent_format::frontmatter::Edit;
use crewagent_format::id::AgentId;
use crewagent_format::package::graph::Graph;
use crewagent_format::package::{Subworkflow, Workflow};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value as Json, json};

use super::complete::with_auto_end;
use super::document::{
    ChangeError, FAILED, FAILURE_REASON, InitialValues, Proposed, STATUS, StateDocument,
};
use super::edits::{merge_variables, push, set};
use super::project_path::ProjectPath;
use super::run_state::RunState;
use crate::frame_id::FrameId;

/// Maximum depth of calls.
pub const DEEPEST: usize = 8;

/// A call that has not returned, as in `callStack` of the caller's document.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Frame {
    /// The workflow that is called.
    pub workflow_id: String,
    /// The node of the caller that calls it.
    pub node_id: String,
    /// The number of the call in the run, from 1.
    #[serde(rename = "call")]
    #[schemars(range(min = 1))]
    pub id: FrameId,
}

/// A workflow that waits for one that it has called.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Caller {
    /// The call.
    #[serde(flatten)]
    pub frame: Frame,
    /// State of the caller.
    pub state: RunState,
}

/// Returns the first document of a child. With its context the caller passes a copy of its variables, and its artifacts
/// as documents from outside; the caller's own status is no variable of the child.
pub fn child_document(
    caller: &StateDocument,
    call: &Subworkflow,
    child: &Workflow,
    agent: &AgentId,
    now: &str,
) -> Result<StateDocument, ChangeError> {
    let front = caller.front();
    let mut values = InitialValues {
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
        values.variables = front.variables.clone();
        values.variables.retain(|name, _| name != STATUS && name != FAILURE_REASON);
        values.input_documents.clone_from(&front.artifacts);
    }
    StateDocument::start(child, &values)
}

/// Returns the caller's document when the call is made. Files created since its last change become its artifacts.
pub fn with_frame(
    caller: &StateDocument,
    frame: &Frame,
    created: &[ProjectPath],
    now: &str,
) -> Result<StateDocument, ChangeError> {
    let mut edits = vec![set(CALL_STACK, json!([frame])), set("updatedAt", now)];
    edits.extend(new_artifacts(caller, created.iter().map(ProjectPath::as_str)));
    caller.edited(&edits)
}

/// Returns the caller's document when the call is given up: it stays at its node and keeps the child's artifacts.
pub fn without_frame(
    caller: &StateDocument,
    child: &StateDocument,
    created: &[ProjectPath],
    now: &str,
) -> Result<StateDocument, ChangeError> {
    let mut edits = vec![set(CALL_STACK, json!([])), set("updatedAt", now)];
    let made = child.front().artifacts.iter().map(String::as_str);
    edits.extend(new_artifacts(caller, made.chain(created.iter().map(ProjectPath::as_str))));
    caller.edited(&edits)
}

/// Returns the edits that add artifacts missing in the document.
fn new_artifacts<'p>(document: &StateDocument, made: impl Iterator<Item = &'p str>) -> Vec<Edit> {
    let mut known: Vec<&str> = document.front().artifacts.iter().map(String::as_str).collect();
    let mut edits = Vec::new();
    for path in made {
        if !known.contains(&path) {
            known.push(path);
            edits.push(push("artifacts", path));
        }
    }
    edits
}

/// Proposal of a return.
#[derive(Debug)]
pub struct Return {
    /// Document of the caller with every value that the child returns, moved along the only edge.
    pub document: Proposed,
    /// Values that the child did not return.
    pub warnings: Vec<String>,
}

/// Returns the caller's document when the child is complete. The guard checks it like any other change.
pub fn returned(
    caller: &StateDocument,
    child: &StateDocument,
    call: &Subworkflow,
    graph: &Graph,
) -> Result<Return, ChangeError> {
    let node = caller.current_node_id(graph).to_owned();
    let mut edits = vec![set(CALL_STACK, json!([]))];
    let mut results = Map::new();
    let mut warnings = Vec::new();
    let of_the_child = |name: &&String| *name == STATUS || *name == FAILURE_REASON;
    for name in call.result_variables.iter().filter(|name| !of_the_child(name)) {
        match child.variables().get(name) {
            Some(value) => drop(results.insert(name.clone(), value.clone())),
            None => warnings.push(format!(
                "The workflow `{}` has not set its result variable `{name}`.",
                call.workflow
            )),
        }
    }
    edits.extend(merge_variables(caller.variables(), &results));
    edits.extend(new_artifacts(caller, child.front().artifacts.iter().map(String::as_str)));
    edits.push(push("stepsCompleted", node.as_str()));
    if let Some(edge) = graph.outgoing(&node).next() {
        edits.push(set("currentNodeId", edge.to.as_str()));
    }
    let document = match caller.edited(&edits) {
        Ok(document) => Ok(with_auto_end(caller, document, graph)?),
        Err(ChangeError::Document(error)) => Err(error),
        Err(error @ ChangeError::Edit(_)) => return Err(error),
    };
    Ok(Return { document, warnings })
}

/// Key of the frontmatter that holds the open call.
pub(crate) const CALL_STACK: &str = "callStack";

impl StateDocument {
    /// Returns the call that is open at the current node. A frame of another node is stale, because the user moved the
    /// run by hand, and is ignored.
    pub fn open_call(&self, workflow: &Workflow) -> Option<Frame> {
        let node = self.current_node_id(&workflow.graph);
        let call = workflow.calls.get(node)?;
        let stack = self.frontmatter().tree().get(CALL_STACK)?.tree.to_json();
        let frame = Frame::deserialize(stack.as_array()?.last()?).ok()?;
        let is_open = frame.node_id == node
            && frame.workflow_id == call.workflow.as_str()
            && frame.id.number() > 0;
        is_open.then_some(frame)
    }

    /// Returns the reason why the workflow cannot be completed, if its status is a failure.
    pub fn failure(&self) -> Option<String> {
        let texts = |name: &str| {
            let key = self.frontmatter().tree().get(name).and_then(|entry| entry.tree.as_str());
            let variable = self.variables().get(name).and_then(Json::as_str);
            [variable, key].map(|text| text.unwrap_or_default().trim())
        };
        let reason = texts(FAILURE_REASON).into_iter().find(|reason| !reason.is_empty());
        let is_failed = texts(STATUS).contains(&FAILED);
        is_failed.then(|| reason.unwrap_or("it gives no reason").to_owned())
    }
}

#[cfg(test)]
mod tests {
    use crewagent_format::id::WorkflowId;

    use super::*;
    use crate::state::fixture;

    const NOW: &str = "2026-11-15T10:00:00Z";

    fn call(results: &[&str]) -> Subworkflow {
        Subworkflow {
            workflow: WorkflowId::new("review").unwrap(),
            pass_context: true,
            result_variables: results.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    fn frame(node: &str) -> Frame {
        Frame { workflow_id: "review".into(), node_id: node.into(), id: FrameId::new(3) }
    }

    fn document(front: &str) -> StateDocument {
        let text = format!("---\nschemaVersion: \"1.2\"\nworkflowType: t\n{front}---\nBody.\n");
        StateDocument::read(text).unwrap()
    }

    fn caller() -> StateDocument {
        document(
            "currentNodeId: step-01-select-story\nstepsCompleted: []\nvariables:\n  topic: login\n  workflowStatus: running\n  failureReason: none\nartifacts: [artifacts/a.md]\nrunId: run-1\n",
        )
    }

    #[test]
    fn a_child_gets_the_callers_context_but_not_how_the_caller_is_getting_on() {
        let child = fixture::create_story();
        let agent = AgentId::new("sm").unwrap();
        let made = child_document(&caller(), &call(&[]), &child, &agent, NOW).unwrap();
        assert_eq!(Json::from(made.variables().clone()), json!({ "topic": "login" }));
        assert_eq!(made.front().input_documents, ["artifacts/a.md"]);
        assert!(made.front().artifacts.is_empty());
        assert_eq!(made.front().run_id.as_deref(), Some("run-1"));
        assert_eq!(made.front().active_agent_id.as_deref(), Some("sm"));
        let alone = Subworkflow { pass_context: false, ..call(&[]) };
        let made = child_document(&caller(), &alone, &child, &agent, NOW).unwrap();
        assert!(made.variables().is_empty() && made.front().input_documents.is_empty());
    }

    #[test]
    fn a_return_brings_results_artifacts_and_the_move() {
        let child = document(
            "currentNodeId: end-99\nstepsCompleted: [end-99]\nvariables: {verdict: pass, other: 1}\nartifacts: [artifacts/a.md, artifacts/b.md]\n",
        );
        let graph = fixture::create_story().graph;
        let created = [ProjectPath::parse("artifacts/late.md").unwrap()];
        let open = with_frame(&caller(), &frame("step-01-select-story"), &created, NOW).unwrap();
        assert_eq!(open.front().artifacts, ["artifacts/a.md", "artifacts/late.md"]);
        let Return { document, warnings } =
            returned(&open, &child, &call(&["verdict", "score", "workflowStatus"]), &graph)
                .unwrap();
        let after = document.unwrap();
        assert_eq!(after.variables()["verdict"], "pass");
        assert!(!after.variables().contains_key("other"));
        assert_eq!(
            after.front().artifacts,
            ["artifacts/a.md", "artifacts/late.md", "artifacts/b.md"]
        );
        assert_eq!(after.variables()["workflowStatus"], "running");
        assert_eq!(after.front().steps_completed, ["step-01-select-story"]);
        assert_eq!(after.front().current_node_id, "step-02-discover-inputs");
        assert!(after.text().contains("callStack: []"), "{}", after.text());
        assert_eq!(warnings.len(), 1, "{warnings:?}");
        assert!(warnings[0].contains("`score`"), "{warnings:?}");
    }

    fn check_failure(front: &str, expected: Option<&str>) {
        let text = format!("currentNodeId: a\nstepsCompleted: []\n{front}");
        assert_eq!(document(&text).failure().as_deref(), expected, "{front}");
    }

    #[test]
    fn a_workflow_says_that_it_failed_as_a_key_or_as_a_variable() {
        check_failure("", None);
        check_failure("workflowStatus: running\nfailureReason: old\n", None);
        check_failure("workflowStatus: failed\n", Some("it gives no reason"));
        check_failure("workflowStatus: failed\nfailureReason: No file.\n", Some("No file."));
        // The model sets it as a variable, even if the template has it as a key.
        check_failure(
            "workflowStatus: running\nfailureReason: \"\"\nvariables: {workflowStatus: failed, failureReason: Why.}\n",
            Some("Why."),
        );
        check_failure(
            "variables: {workflowStatus: failed, failureReason: \"No file.\"}\n",
            Some("No file."),
        );
    }

    #[test]
    fn only_the_frame_of_the_current_node_counts() {
        let mut workflow = fixture::create_story();
        let node = workflow.graph.entry().clone();
        let other = "step-02-discover-inputs";
        workflow.calls = std::sync::Arc::new([(node.clone(), call(&[]))].into());
        let open = with_frame(&caller(), &frame(node.as_str()), &[], NOW).unwrap();
        assert_eq!(open.open_call(&workflow), Some(frame(node.as_str())));
        let child = document(
            "currentNodeId: a\nstepsCompleted: []\nartifacts: [artifacts/a.md, artifacts/half.md]\n",
        );
        let closed = without_frame(&open, &child, &[], NOW).unwrap();
        assert_eq!(closed.front().artifacts, ["artifacts/a.md", "artifacts/half.md"]);
        assert_eq!(closed.open_call(&workflow), None);
        let elsewhere = with_frame(&caller(), &frame(other), &[], NOW).unwrap();
        assert_eq!(elsewhere.open_call(&workflow), None);
        for stack in ["callStack: 3\n", "callStack: [1]\n", "callStack: [{call: 0}]\n"] {
            let text = format!("currentNodeId: {node}\nstepsCompleted: []\n{stack}");
            assert_eq!(document(&text).open_call(&workflow), None, "{stack}");
        }
    }
}
