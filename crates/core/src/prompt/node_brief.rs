//! `NODE_BRIEF`: the current node, its outputs, the ways on, the step itself, and the call that finishes it.

use crewagent_format::package::Workflow;
use crewagent_format::package::graph::Node;
use serde_json::{Map, Value as Json};

use super::directive::workflow_name;
use super::finishing::finishing_call;
use super::gate::gate_lines;
use super::line::{fence, folded, joined, json_line, line, value};
use super::progress::WorkflowProgress;
use super::step_text;
use super::ways::allowed_next;
use crate::event::{InputState, NodeEntered, SurveyedOutput};
use crate::policy::StateTool;
use crate::state::run_state::PastDecision;
use crate::tool::render::counted;

/// Maximum size of the brief without the step's text, in bytes.
pub const BRIEF_MAX_BYTES: usize = 32 * 1024;
/// Maximum size of the step's text in the brief, in bytes, whatever the settings say.
pub const STEP_MAX_BYTES: usize = 64 * 1024;

/// Maximum size of a file, a label or a variable, in bytes.
const NAME_BYTES: usize = 512;
/// Maximum size of a list, in bytes.
const LIST_BYTES: usize = 4 * 1024;

/// Contents of a brief.
#[derive(Clone, Copy, Debug)]
pub struct Brief<'a> {
    pub workflow: &'a Workflow,
    pub node: &'a Node,
    pub variables: &'a Map<String, Json>,
    pub survey: &'a NodeEntered,
    pub progress: WorkflowProgress,
    /// Decision by which the node was left the last time, if it is visited again.
    pub left_along: Option<&'a PastDecision>,
    /// Workflow that called this one, with the variables that it gets back.
    pub caller: Option<CalledBy<'a>>,
    /// Calls behind the move to this node, which were not carried out.
    pub not_executed: &'a [String],
    pub state: StateTool,
    /// Largest text of a step that is shown, in bytes.
    pub step_bytes: u64,
}

/// Workflow that called another one.
#[derive(Clone, Copy, Debug)]
pub struct CalledBy<'a> {
    pub workflow: &'a Workflow,
    /// Variables that are given back.
    pub results: &'a [String],
}

/// Renders the brief.
pub fn node_brief(brief: &Brief<'_>) -> String {
    let Brief { workflow, node, variables, survey, .. } = brief;
    let mut text = format!("NODE_BRIEF\n- currentNodeId: {}", node.id);
    let WorkflowProgress { step, of, may_grow } = brief.progress;
    let more = if may_grow { "+" } else { "" };
    text.push_str(&format!(", step {step} of {of}{more}{}\n", visit(brief)));
    text.push_str(&called_by(brief.caller));
    text.push_str(&not_executed_line(brief.not_executed));
    text.push_str(&outputs_line(&survey.outputs));
    text.push_str(&stale_variables(brief));
    text.push_str(&files_line(brief));
    text.push_str(&needs_lines(brief));
    text.push_str(&allowed_next(&workflow.graph, node));
    text.push_str(&gate_lines(node));
    text.push_str(&step_part(brief));
    let call = finishing_call(workflow, node, variables, brief.state);
    let values = if call.contains('<') { ", with your own values for <…>" } else { "" };
    text.push_str(&format!("To finish{values}: {call}"));
    if workflow.graph.outgoing(node.id.as_str()).next().is_none() && brief.caller.is_none() {
        text.push_str("\nSay your last words to the user in the same reply.");
    }
    text
}

fn visit(brief: &Brief<'_>) -> String {
    let visit = brief.survey.visit;
    if visit < 2 {
        return String::new();
    }
    let how = brief.left_along.map(|decision| {
        let label = value(&decision.label, NAME_BYTES);
        let reason = decision.reason.as_deref().map(|reason| folded(reason, NAME_BYTES));
        let reason = reason.map(|reason| format!(": \"{reason}\"")).unwrap_or_default();
        format!(" (left along {label}{reason})")
    });
    format!(", visit {visit}{}", how.unwrap_or_default())
}

fn called_by(caller: Option<CalledBy<'_>>) -> String {
    let Some(CalledBy { workflow, results }) = caller else { return String::new() };
    let name = line(workflow_name(workflow), NAME_BYTES);
    let results = joined(results.iter().map(|name| value(name, NAME_BYTES)), ", ", LIST_BYTES);
    let gives = if results.is_empty() { String::new() } else { format!("; gives back {results}") };
    format!("- calledBy: {name}{gives}\n")
}

/// Names the calls that came behind the move to this node. Their contents would be an example of running ahead.
fn not_executed_line(calls: &[String]) -> String {
    let count = match calls.len() {
        0 => return String::new(),
        1 => "1 call".to_owned(),
        many => format!("{many} calls"),
    };
    let calls = joined(calls.iter().map(|call| line(call, NAME_BYTES)), ", ", LIST_BYTES);
    format!("- notExecuted: {count} behind the move ({calls})\n")
}

fn outputs_line(outputs: &[SurveyedOutput]) -> String {
    if outputs.is_empty() {
        return String::new();
    }
    let output = |output: &SurveyedOutput| {
        let path = value(&output.path, NAME_BYTES);
        let state = if !output.exists {
            "missing".to_owned()
        } else {
            let whose = if output.own { "written by this run" } else { "not from this run" };
            format!("exists, {}, {whose}", counted(output.bytes, "byte"))
        };
        format!("{path} ({state})")
    };
    format!("- outputs: {}\n", joined(outputs.iter().map(output), ", ", LIST_BYTES))
}

/// Names the declared variables that an earlier visit or another node has set: they do not count here.
fn stale_variables(brief: &Brief<'_>) -> String {
    if brief.survey.visit < 2 {
        return String::new();
    }
    let step = brief.workflow.steps.get(&brief.node.id);
    let declared = step.map(|step| step.front.sets_variables.as_slice()).unwrap_or_default();
    let stale = declared.iter().filter_map(|name| {
        let (was, _) = json_line(brief.variables.get(name)?, NAME_BYTES);
        Some(format!("{} (was {was}; set it anew)", value(name, NAME_BYTES)))
    });
    let stale = joined(stale, ", ", LIST_BYTES);
    if stale.is_empty() { stale } else { format!("- setsVariables: {stale}\n") }
}

/// Names the files of the package that the step has names for.
fn files_line(brief: &Brief<'_>) -> String {
    let step = brief.workflow.steps.get(&brief.node.id);
    let bindings = step.into_iter().flat_map(|step| &step.front.bindings);
    let files = bindings.filter(|(_, value)| value.starts_with("@pkg/"));
    let file = |(name, path): (&String, &String)| {
        let input = brief.survey.inputs.iter().find(|input| input.path == *path);
        let size = input.filter(|input| input.state != InputState::Missing);
        let size = size.map(|input| format!(" ({})", counted(input.bytes, "byte")));
        let path = value(path, NAME_BYTES);
        format!("{} = {path}{}", value(name, NAME_BYTES), size.unwrap_or_default())
    };
    let files = joined(files.map(file), ", ", LIST_BYTES);
    if files.is_empty() { files } else { format!("- files: {files}\n") }
}

/// Says what the step asks for and this runtime does not have.
fn needs_lines(brief: &Brief<'_>) -> String {
    let step = brief.workflow.steps.get(&brief.node.id);
    let needs = step.into_iter().flat_map(|step| &step.front.needs);
    let line = |need: &String| Some(format!("- needs: {}\n", without(need)?));
    needs.filter_map(line).collect()
}

/// Returns the advice for a step that asks for an ability.
fn without(need: &str) -> Option<&'static str> {
    Some(match need {
        "subagent" => {
            "this step asks for subagents. There are none: do this part yourself, one after the other, in this conversation, and say so."
        }
        "web" => {
            "this step asks for the web. There is no access: work from the files and from what the user says, name what you could not check, and never invent sources."
        }
        "browser" => {
            "this step asks for a browser. There is none: work from the files and from what the user says, and name what you could not check."
        }
        "shell" | "git" => {
            "this step asks for commands. None can be run: read the files instead, or ask the user to run a command and to tell you its result."
        }
        "script" => {
            "this step asks for a script. It is not run: read it if you have to, do by yourself what it is for, and say so."
        }
        _ => return None,
    })
}

fn step_part(brief: &Brief<'_>) -> String {
    let file = format!("@pkg/{}", brief.node.file);
    let Some(step) = brief.workflow.steps.get(&brief.node.id) else {
        return format!("- stepFile: {file}\n");
    };
    match full_step(brief.workflow, brief.node, brief.state, brief.step_bytes) {
        Some(FencedStep { body, fence }) => {
            format!("- stepFile: {file}, in full:\n{fence}\n{body}\n{fence}\n")
        }
        None => format!(
            "- stepFile: {file} ({}): read it with fs_read before you do anything else.\n",
            counted(step.text.len() as u64, "byte")
        ),
    }
}

/// Text of a step with a fence that it cannot close.
#[derive(Clone, Debug)]
pub struct FencedStep {
    body: String,
    fence: String,
}

/// Returns the text of a step, if the brief shows it in full.
pub fn full_step(
    workflow: &Workflow,
    node: &Node,
    state: StateTool,
    step_bytes: u64,
) -> Option<FencedStep> {
    let step = workflow.steps.get(&node.id)?;
    let body = match state {
        StateTool::Runtime => step_text::without_calls(step.body()).text,
        StateTool::Patch => step_text::verbatim(step.body()),
    };
    let up_to = step_bytes.min(STEP_MAX_BYTES as u64);
    let fence = fence(&body).filter(|_| body.len() as u64 <= up_to)?;
    Some(FencedStep { body, fence })
}
