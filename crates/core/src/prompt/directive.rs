//! `RUN_DIRECTIVE`: the workflow, and the occasion of this message.

use crewagent_format::id::WorkflowId;
use crewagent_format::package::Workflow;

use super::line::line;
use crate::policy::StateTool;
use crate::settings::Mode;
use crate::state::document::STATE_FILE;

/// Maximum size of the section, in bytes.
pub const DIRECTIVE_MAX_BYTES: usize = 8 * 1024;

/// Maximum size of names and paths, in bytes.
const FIELD_BYTES: usize = 1024 + 64;

/// Occasion of a directive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RunIntent {
    Start,
    Continue,
    /// The run resumes in another process.
    Resume,
}

/// Contents of a directive.
#[derive(Clone, Copy, Debug)]
pub struct Directive<'a> {
    pub intent: RunIntent,
    pub workflow: &'a Workflow,
    pub mode: Mode,
    pub state: StateTool,
}

/// Renders the directive of a node.
pub fn run_directive(directive: &Directive<'_>) -> String {
    let Directive { intent, workflow, mode, state } = directive;
    let mut text = opening(*intent, workflow);
    if *state == StateTool::Patch {
        let graph = line(workflow.graph_path.as_str(), FIELD_BYTES);
        text.push_str(&format!("\n- state: {STATE_FILE}\n- graph: @pkg/{graph}"));
    }
    text.push_str(match mode {
        Mode::Autopilot => "\n- autopilot: true",
        Mode::Guided => "\n- autopilot: false (each move is put to the user)",
    });
    text
}

/// Renders the directive of a completed workflow.
pub fn post_run_directive(intent: RunIntent, workflow: &Workflow) -> String {
    format!("{}\n\n{POST_RUN}", opening(intent, workflow))
}

fn opening(intent: RunIntent, workflow: &Workflow) -> String {
    let intent = match intent {
        RunIntent::Start => "start",
        RunIntent::Continue => "continue",
        RunIntent::Resume => "resume",
    };
    let name = line(workflow_name(workflow), FIELD_BYTES);
    format!("RUN_DIRECTIVE\n- intent: {intent}\n- workflow: {name}")
}

/// Returns the name of a workflow: its id, or what its document says that it is.
pub(super) fn workflow_name(workflow: &Workflow) -> &str {
    workflow.id.as_ref().map_or(workflow.front.workflow_type.as_str(), WorkflowId::as_str)
}

const POST_RUN: &str = "\
Protocol (post-run):
1) This workflow is already completed. Do NOT assume there is an active step to execute.
2) Continue as a normal conversation in Run mode: answer questions, review artifacts, and help the user iterate.
3) Tools are still available. Use tools when helpful.
4) If you need to modify @state/workflow.md (including changing completion status), you MUST ask the user for confirmation first.
5) If the user confirms a state change and the workflow becomes non-completed, resume the normal workflow protocol on subsequent turns.";
