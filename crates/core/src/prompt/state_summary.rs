//! `STATE_SUMMARY`: a bounded summary of the state document.

use serde_json::{Map, Value as Json};

use super::line::{json_line, line, listed, value};
use crate::state::document::{COMPLETE, STATE_FILE};
use crate::state::run_state::RunState;

/// Maximum size of the layer, in bytes.
pub const SUMMARY_MAX_BYTES: usize = 32 * 1024;

/// Maximum size of a node's id, in bytes.
const NODE_BYTES: usize = 256;
/// Maximum size of a path or a variable's name, in bytes.
const NAME_BYTES: usize = 512;
/// Maximum size of a variable's value, in bytes.
const VALUE_BYTES: usize = 1024;
/// Maximum size of all variables together, in bytes.
const VARIABLES_BYTES: usize = 8 * 1024;
/// Maximum size of the list of nodes and of each list of files, in bytes.
const LIST_BYTES: usize = 6 * 1024;

/// Renders the state as a message to the model.
pub fn state_summary(run_state: &RunState) -> String {
    let mut text = String::from("STATE_SUMMARY\n");
    // After completion no node is active; naming one would invite work on it.
    if run_state.complete {
        text.push_str(&format!("- workflowStatus: {COMPLETE}\n"));
    } else {
        let node = line(&run_state.current_node_id, NODE_BYTES);
        text.push_str(&format!("- currentNodeId: {node}\n"));
    }
    newest(&mut text, "stepsCompleted", &run_state.steps_completed, NODE_BYTES);
    variables(&mut text, &run_state.variables);
    text.push_str(&format!("- decisionLogCount: {}\n", run_state.decisions));
    newest(&mut text, "artifacts", &run_state.artifacts, NAME_BYTES);
    if !run_state.input_documents.is_empty() {
        newest(&mut text, "inputDocuments", &run_state.input_documents, NAME_BYTES);
    }
    text.truncate(text.trim_end().len());
    text
}

/// Appends a list in its own order. If it does not fit, its end is shown, because the newest matters most.
fn newest(text: &mut String, name: &str, items: &[String], cap: usize) {
    if items.is_empty() {
        text.push_str(&format!("- {name}: none\n"));
        return;
    }
    let line = |item: &String| format!("  - {}", value(item, cap));
    let shown = listed(items.iter().rev(), line, LIST_BYTES);
    text.push_str(&format!("- {name}:\n"));
    if shown.left_out > 0 {
        text.push_str(&format!(
            "  … and {} more before these (read {STATE_FILE})\n",
            shown.left_out
        ));
    }
    for shown in shown.text.lines().rev() {
        text.push_str(shown);
        text.push('\n');
    }
}

fn variables(text: &mut String, variables: &Map<String, Json>) {
    if variables.is_empty() {
        text.push_str("- variables: none\n");
        return;
    }
    let shown = listed(variables, |(name, value)| variable(name, value), VARIABLES_BYTES);
    text.push_str("- variables:\n");
    text.push_str(&shown.text);
    if shown.left_out > 0 {
        text.push_str(&format!("  … and {} more (read {STATE_FILE})\n", shown.left_out));
    }
}

fn variable(name: &str, json: &Json) -> String {
    let name = value(name, NAME_BYTES);
    let (shown, bytes) = json_line(json, VALUE_BYTES);
    if shown.ends_with('…') {
        format!("  - {name}: {shown} (cut, {bytes} bytes; read {STATE_FILE})")
    } else {
        format!("  - {name}: {shown}")
    }
}
