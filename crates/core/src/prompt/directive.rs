//! `RUN_DIRECTIVE`: the workflow, its position, and the protocol.

use crewagent_format::id::{AgentId, WorkflowId};
use crewagent_format::package::Workflow;
use crewagent_format::package::graph::Node;

use super::ARTIFACTS_ROOT;
use super::line::line;
use crate::frame_id::FrameId;
use crate::policy::StateTool;
use crate::state::document::STATE_FILE;

/// Maximum size of the layer, in bytes.
pub const DIRECTIVE_MAX_BYTES: usize = 8 * 1024;

/// Maximum size of names and paths, in bytes.
const FIELD_BYTES: usize = 1024 + 64;

/// Contents of a directive.
#[derive(Clone, Copy, Debug)]
pub struct Directive<'a> {
    pub intent: RunIntent,
    pub workflow: &'a Workflow,
    pub active: ActiveNode<'a>,
    pub agent: &'a AgentId,
    pub autopilot: Autopilot,
    pub protocol: Protocol,
    pub state: StateTool,
    pub caller: Option<CalledBy<'a>>,
}

/// Workflow that called another one.
#[derive(Clone, Copy, Debug)]
pub struct CalledBy<'a> {
    pub workflow: &'a Workflow,
    /// Node of the caller that makes the call.
    pub node: &'a str,
    /// Number of the call in the run.
    pub frame: FrameId,
}

/// Occasion of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunIntent {
    Start,
    Continue,
    /// The run resumes in another process.
    Resume,
}

/// Position of a run.
#[derive(Clone, Copy, Debug)]
pub enum ActiveNode<'a> {
    Node(&'a Node),
    /// The workflow is complete; no node is active.
    Completed,
}

/// Mode of a run: with or without questions before each move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Autopilot {
    /// The model asks only for missing information.
    On,
    /// The model asks before each move.
    Off,
}

/// Presence of the protocol, which appears once in a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protocol {
    /// The protocol follows the fields.
    Included,
    /// The protocol is in an earlier directive.
    StandsAbove,
}

/// Renders the directive as a message to the model.
pub fn run_directive(directive: &Directive<'_>) -> String {
    let workflow = directive.workflow;
    let mut text = String::from("RUN_DIRECTIVE\n- runType: bmad-micro\n");
    let mut field = |name: &str, value: &str| {
        text.push_str(&format!("- {name}: {}\n", line(value, FIELD_BYTES)));
    };
    field("intent", intent_word(directive.intent));
    field("workflow", name(workflow));
    field("state", STATE_FILE);
    field("graph", &format!("@pkg/{}", workflow.graph_path));
    field("artifactsRoot", ARTIFACTS_ROOT);
    if let ActiveNode::Node(node) = directive.active {
        field("currentNodeId", node.id.as_str());
    }
    field("effectiveAgentId", directive.agent.as_str());
    field("autopilot", autopilot_word(directive.autopilot));
    if let Some(CalledBy { workflow, node, frame }) = directive.caller {
        field("calledBy", &format!("{} at {node} (call {frame})", name(workflow)));
    }
    text.push('\n');
    text.push_str(&protocol(directive));
    if directive.caller.is_some() && directive.protocol == Protocol::Included {
        text.push_str(CALLED);
    }
    text
}

fn name(workflow: &Workflow) -> &str {
    workflow.id.as_ref().map_or(workflow.document_path.as_str(), WorkflowId::as_str)
}

fn intent_word(intent: RunIntent) -> &'static str {
    match intent {
        RunIntent::Start => "start",
        RunIntent::Continue => "continue",
        RunIntent::Resume => "resume",
    }
}

fn autopilot_word(autopilot: Autopilot) -> &'static str {
    match autopilot {
        Autopilot::On => "true",
        Autopilot::Off => "false",
    }
}

fn protocol(directive: &Directive<'_>) -> String {
    match (directive.protocol, directive.active) {
        (Protocol::StandsAbove, _) => "The protocol above still holds.".to_owned(),
        (Protocol::Included, ActiveNode::Completed) => POST_RUN.to_owned(),
        (Protocol::Included, ActiveNode::Node(_)) => {
            let pace = match directive.autopilot {
                Autopilot::On => AUTOPILOT,
                Autopilot::Off => GUIDED,
            };
            let way = match directive.state {
                StateTool::Patch => "update @state/workflow.md frontmatter.",
                StateTool::Runtime => "call runtime.complete_node.",
            };
            format!("{PROTOCOL} {way}\n{PROTOCOL_MORE}\n{pace}")
        }
    }
}

const PROTOCOL: &str = "\
Protocol:
1) Read @state/workflow.md frontmatter to get currentNodeId.
2) Read the graph and open the step file for currentNodeId.
3) Follow the step instructions exactly.
4) If the step requires user answers, ask the user and WAIT.
5) Only after you have required inputs: write artifacts under @project/artifacts/... and";

const PROTOCOL_MORE: &str = "\
6) NODE_BRIEF and STATE_SUMMARY show what 1) and 2) would give you now. Read those files only for what is left out there.";

const AUTOPILOT: &str = "7) Autopilot is on: continue from node to node until you need user input or the workflow ends. Do not ask whether to continue.";

const GUIDED: &str = "7) Autopilot is off: each move needs the user's word. Say in words what was done and what comes next, then make the move; the runtime asks the user and tells you the answer.";

const CALLED: &str = "
Another workflow has called this one. @state/workflow.md is the state of this call; when it is complete the runtime goes back to the caller by itself, with what is to be given back. If this workflow cannot be completed whatever you or the user do, set variables.workflowStatus to failed and variables.failureReason to one sentence.";

const POST_RUN: &str = "\
Protocol (post-run):
1) This workflow is already completed. Do NOT assume there is an active step to execute.
2) Continue as a normal conversation in Run mode: answer questions, review artifacts, and help the user iterate.
3) Tools are still available. Use tools when helpful.
4) If you need to modify @state/workflow.md (including changing completion status), you MUST ask the user for confirmation first.
5) If the user confirms a state change and the workflow becomes non-completed, resume the normal workflow protocol on subsequent turns.";
