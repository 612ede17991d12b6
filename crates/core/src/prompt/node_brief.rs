//! `NODE_BRIEF`: the current node, its inputs and outputs, the legal moves, and the step itself.

use std::sync::Arc;

use crewagent_format::package::Workflow;
use crewagent_format::package::graph::{Node, NodeKind};
use crewagent_format::package::step::Step;
use serde_json::{Map, Value as Json};

use super::line::{FittingItems, joined, line, listed, quoted, value};
use crate::policy::StateTool;
use crate::state::next::{Next, allowed_next};
use crate::state::output::Output;
use crate::vpath::{Mount, VPath, with_mounts};

/// Maximum size of the brief without the step's text, in bytes.
pub const BRIEF_MAX_BYTES: usize = 32 * 1024;
/// Maximum size of the step's text in the brief, in bytes, whatever the settings say.
pub const STEP_MAX_BYTES: usize = 64 * 1024;

/// Maximum size of the title, in bytes.
const TITLE_BYTES: usize = 256;
/// Maximum size of a declared file, a label or a reason, in bytes.
const NAME_BYTES: usize = 512;
/// Maximum size of a declared file's name that is resolved, in bytes.
const DECLARED_BYTES: usize = 4096;
/// Maximum size of a condition's text, in bytes.
const CONDITION_BYTES: usize = 1024;
/// Maximum size of a list, in bytes.
const LIST_BYTES: usize = 4 * 1024;
/// Maximum size of a list within a sentence, in bytes.
const WORDS_BYTES: usize = 2 * 1024;
/// Longest row of backticks in a text that is put between fences.
const MOST_BACKTICKS: usize = 64;

/// Presence of the step's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StepText {
    /// The text follows the brief if it is not too large.
    Inline {
        /// Largest text, in bytes.
        up_to: u64,
    },
    /// The text is in an earlier brief of this node.
    StandsAbove,
}

/// Renders the brief as a message to the model.
pub fn node_brief(
    workflow: &Workflow,
    node: &Node,
    variables: &Map<String, Json>,
    step_text: StepText,
    state: StateTool,
    not_executed: &[String],
) -> String {
    let file = format!("@pkg/{}", node.file);
    let step = workflow.steps.get(&node.id);
    let next = allowed_next(&workflow.graph, node.id.as_str(), variables);
    let mut text =
        format!("NODE_BRIEF\n- currentNodeId: {} (type={})\n", node.id, node.kind.word());
    if let Some(title) = node.title.as_deref().filter(|title| !title.trim().is_empty()) {
        text.push_str(&format!("- title: {}\n", line(title, TITLE_BYTES)));
    }
    text.push_str(&not_executed_line(not_executed));
    text.push_str(&format!("- stepFile: {file}\n"));
    let inputs = listed(&node.inputs, |declared| input_line(declared, variables), LIST_BYTES);
    list(&mut text, "inputsMap", inputs, &file);
    let outputs = listed(&node.outputs, |declared| output_line(declared, variables), LIST_BYTES);
    list(&mut text, "outputsMap", outputs, &file);
    if let Some(step) = step {
        let names = &step.front.sets_variables;
        let names = listed(names, |name| variable_line(name, variables), LIST_BYTES);
        list(&mut text, "setsVariables", names, &file);
    }
    if next.is_empty() {
        text.push_str(&format!("- allowedNext: none. {}\n", last_words(node, state)));
    } else {
        list(&mut text, "allowedNext", listed(&next, next_line, LIST_BYTES), &file);
    }
    text.push_str(&leaving(node, step));
    if node.kind == NodeKind::Decision || next.len() > 1 {
        text.push_str(&decision_rules(step, &next, state));
    }
    text.push_str(&step_part(step, step_text, &file));
    text
}

/// Names the calls that came behind the move to this node. Their contents would be an example of running ahead.
fn not_executed_line(calls: &[String]) -> String {
    let count = match calls.len() {
        0 => return String::new(),
        1 => "1 call".to_owned(),
        many => format!("{many} calls"),
    };
    let calls = joined(calls.iter().map(|call| line(call, NAME_BYTES)), ", ", WORDS_BYTES);
    format!("- notExecuted: {count} behind the move ({calls})\n")
}

fn list(text: &mut String, name: &str, items: FittingItems, file: &str) {
    if items.text.is_empty() && items.left_out == 0 {
        return;
    }
    text.push_str(&format!("- {name}:\n{}", items.text));
    if items.left_out > 0 {
        text.push_str(&format!("  … and {} more (read {file} and the graph)\n", items.left_out));
    }
}

/// Renders an input, which may also be a file of the package.
fn input_line(declared: &str, variables: &Map<String, Json>) -> String {
    match meaning(declared, variables) {
        output @ Output::Outside(_) => {
            let elsewhere = VPath::parse(declared).ok();
            let elsewhere = elsewhere.filter(|path| path.mount() != Mount::Project);
            let target = elsewhere.map_or_else(|| target(output), |path| path.to_string());
            map_line(declared, &target)
        }
        output @ (Output::File(_) | Output::Open(_)) => map_line(declared, &target(output)),
    }
}

fn output_line(declared: &str, variables: &Map<String, Json>) -> String {
    map_line(declared, &target(meaning(declared, variables)))
}

/// Resolves a declared file. A name that is too long for a path is not resolved.
fn meaning(declared: &str, variables: &Map<String, Json>) -> Output {
    if declared.len() > DECLARED_BYTES {
        return Output::Outside(format!("The name is longer than {DECLARED_BYTES} bytes."));
    }
    Output::of(declared, variables)
}

fn target(output: Output) -> String {
    match output {
        Output::File(path) => path.vpath().to_string(),
        Output::Open(why) => format!("not known yet: {why}"),
        Output::Outside(why) => format!("cannot be used: {why}"),
    }
}

fn map_line(declared: &str, target: &str) -> String {
    format!("  - {} -> {}", value(declared, NAME_BYTES), line(target, NAME_BYTES))
}

fn variable_line(name: &str, variables: &Map<String, Json>) -> String {
    let is_set = variables.get(name).is_some_and(|value| match value {
        Json::Null => false,
        Json::String(text) => !text.trim().is_empty(),
        Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_) => true,
    });
    format!("  - {} ({})", value(name, NAME_BYTES), if is_set { "set" } else { "not set yet" })
}

fn next_line(next: &Next) -> String {
    let mut line = format!("  - {} (label={}", next.to, value(&next.label, NAME_BYTES));
    if next.is_default {
        line.push_str(", default=true");
    }
    if let Some(condition) = &next.condition {
        line.push_str(&format!(", conditionText={}", quoted(condition, CONDITION_BYTES)));
    }
    line.push_str(if next.open { ", open=true)" } else { ", open=false)" });
    line
}

fn last_words(node: &Node, state: StateTool) -> String {
    let (what, status) = if node.kind == NodeKind::End {
        ("is an end node", "")
    } else {
        ("node has no way out", " and set workflowStatus to complete")
    };
    let how = match state {
        StateTool::Patch => format!("append {} to stepsCompleted{status}", node.id),
        StateTool::Runtime => format!("call runtime.complete_node with nodeId {}", node.id),
    };
    format!("This {what}: {how} to complete the workflow.")
}

/// Describes the requirements for leaving the node.
fn leaving(node: &Node, step: Option<&Arc<Step>>) -> String {
    let outputs = (!node.outputs.is_empty()).then_some("every file of outputsMap must exist");
    let variables = step
        .is_some_and(|step| !step.front.sets_variables.is_empty())
        .then_some("every variable of setsVariables must be set");
    let needs: Vec<&str> = outputs.into_iter().chain(variables).collect();
    if needs.is_empty() {
        return String::new();
    }
    format!("Before this node is left or completed, {}.\n", needs.join(" and "))
}

fn decision_rules(step: Option<&Arc<Step>>, next: &[Next], state: StateTool) -> String {
    let labels = next.iter().map(|next| value(&next.label, NAME_BYTES));
    let labels = joined(labels, " or ", WORDS_BYTES);
    let names = step.map(|step| step.front.sets_variables.as_slice()).unwrap_or_default();
    let names = names.iter().map(|name| format!("variables.{}", value(name, NAME_BYTES)));
    let names = joined(names, ", ", WORDS_BYTES);
    let set = if names.is_empty() { String::new() } else { format!("set {names} and ") };
    let how = match state {
        StateTool::Patch => format!(
            "- Then {set}append one entry to decisionLog in @state/workflow.md: from, to, label, reason.\n\
             - Move along the edge with that label, in the same patch."
        ),
        StateTool::Runtime => format!(
            "- Then {set}move along the edge that you decide for, in one call of runtime.complete_node: variables, next, and decision with label and reason."
        ),
    };
    format!(
        "\nDecision rules:\n\
         - If the inputs are unclear, ask the user to clarify: {labels}.\n\
         {how} An edge with open=false can be taken only once its condition holds.\n"
    )
}

fn step_part(step: Option<&Arc<Step>>, step_text: StepText, file: &str) -> String {
    let Some(step) = step else { return String::new() };
    let up_to = match step_text {
        StepText::StandsAbove => {
            return format!(
                "\nThe earlier NODE_BRIEF of this node has the instructions of {file}, or says to read them; they still hold."
            );
        }
        StepText::Inline { up_to } => up_to.min(STEP_MAX_BYTES as u64),
    };
    let body = with_mounts(step.body().trim());
    let fence = fence(&body).filter(|_| body.len() as u64 <= up_to);
    fence.map_or_else(
        || {
            format!(
                "\nThe step file has {} bytes and is not repeated here: read {file} with fs.read before you do anything else.",
                step.text.len()
            )
        },
        |fence| {
            format!(
                "\nThe instructions of {file} stand between the two fences; there is no need to read that file.\n{fence}\n{body}\n{fence}"
            )
        },
    )
}

/// Returns a row of backticks longer than every one in the text, so that the text cannot close it.
fn fence(text: &str) -> Option<String> {
    let longest = text.split(|c| c != '`').map(str::len).max().unwrap_or(0);
    (longest <= MOST_BACKTICKS).then(|| "`".repeat(longest.max(3) + 1))
}
