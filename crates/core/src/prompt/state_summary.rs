//! `STATE_SUMMARY`: what the state document says, bounded; the document has the rest.

use serde_json::{Map, Value as Json};

use super::line::{json_line, line, listed, value};
use crate::state::document::{COMPLETE, STATE_FILE};
use crate::state::run_state::RunState;

/// The layer has at most this many bytes.
pub const SUMMARY_MAX_BYTES: usize = 32 * 1024;

/// The id of a node has at most this many bytes.
const NODE_BYTES: usize = 256;
/// A path or the name of a variable has at most this many bytes.
const NAME_BYTES: usize = 512;
/// The value of a variable has at most this many bytes.
const VALUE_BYTES: usize = 1024;
/// All variables together have at most this many bytes.
const VARIABLES_BYTES: usize = 8 * 1024;
/// The list of nodes and each list of files have at most this many bytes each.
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

/// A list in its own order. When it does not fit, its end is shown: the newest matters most.
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
