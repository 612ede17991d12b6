//! `STATE_SUMMARY`: what the state document holds and this message does not show elsewhere.

use serde_json::{Map, Value as Json};

use super::configuration::config_line;
use super::gate::saved_line;
use super::line::{folded, joined, json_line, line, value};
use crate::bindings::Bindings;
use crate::event::SavedDraft;
use crate::state::document::COMPLETE;
use crate::state::run_state::{PastDecision, RunState};

/// Maximum size of the section, in bytes.
pub const SUMMARY_MAX_BYTES: usize = 32 * 1024;

/// Maximum size of a node's id, in bytes.
const NODE_BYTES: usize = 256;
/// Maximum size of a path, in bytes.
const NAME_BYTES: usize = 512;
/// Maximum size of all variables together, in bytes.
const VARIABLES_BYTES: usize = 8 * 1024;
/// Maximum size of a variable that is left when all of them do not fit, in bytes.
const VALUE_BYTES: usize = 512;
/// Maximum size of the list of nodes and of the list of files, in bytes.
const LIST_BYTES: usize = 4 * 1024;
/// Maximum size of a reason, in bytes.
const REASON_BYTES: usize = 512;
/// Largest number of files that are named.
const MOST_ARTIFACTS: usize = 10;

/// Contents of a summary beside the state itself.
#[derive(Clone, Copy, Debug, Default)]
pub struct SummaryOf<'a> {
    /// True at an end node, where the whole course matters.
    pub is_end: bool,
    /// Return of the workflow that was called last.
    pub last_call: Option<&'a str>,
    /// Paths that are shown elsewhere in the message.
    pub shown: &'a [String],
    /// Values that are fixed for the run.
    pub config: Option<&'a Bindings>,
    /// Drafts that the run has saved.
    pub saved: &'a [SavedDraft],
}

/// Renders the state; none if there is nothing to say.
pub fn state_summary(run_state: &RunState, of: &SummaryOf<'_>) -> Option<String> {
    let mut text = String::from("STATE_SUMMARY");
    if run_state.complete {
        text.push_str(&format!("\n- workflowStatus: {COMPLETE}"));
    }
    let variables = variables(&run_state.variables);
    if !variables.is_empty() {
        text.push_str(&format!("\n- variables: {variables}"));
    }
    if let Some(config) = of.config.and_then(config_line) {
        text.push_str(&format!("\n- config: {config}"));
    }
    let is_whole = of.is_end || run_state.complete;
    let decisions = &run_state.last_decisions;
    let shown = if is_whole {
        decisions.as_slice()
    } else {
        decisions.last_chunk::<1>().map_or(&[][..], |one| one)
    };
    for decision in shown {
        text.push_str(&format!("\n- lastDecision: {}", decided(decision)));
    }
    if let Some(call) = of.last_call {
        text.push_str(&format!("\n- lastCall: {}", line(call, LIST_BYTES)));
    }
    let artifacts = artifacts(run_state, of.shown);
    if !artifacts.is_empty() {
        text.push_str(&format!("\n- artifacts: {artifacts}"));
    }
    let saved = saved_line(of.saved);
    if !saved.is_empty() {
        text.push_str(&format!("\n- drafts: {saved}"));
    }
    if is_whole && !run_state.steps_completed.is_empty() {
        let steps = run_state.steps_completed.iter().map(|step| value(step, NODE_BYTES));
        text.push_str(&format!("\n- stepsCompleted: {}", joined(steps, ", ", LIST_BYTES)));
    }
    if !run_state.input_documents.is_empty() {
        let documents = run_state.input_documents.iter().map(|path| value(path, NAME_BYTES));
        text.push_str(&format!("\n- inputDocuments: {}", joined(documents, ", ", LIST_BYTES)));
    }
    (text.len() > "STATE_SUMMARY".len()).then_some(text)
}

fn decided(decision: &PastDecision) -> String {
    let PastDecision { from, to, label, reason } = decision;
    let (from, to) = (value(from, NODE_BYTES), value(to, NODE_BYTES));
    let mut text = format!("{from} -> {to} ({})", value(label, NAME_BYTES));
    if let Some(reason) = reason {
        text.push_str(&format!(": {}", folded(reason, REASON_BYTES)));
    }
    text
}

/// Returns the newest files that are not shown elsewhere, and the number of the others.
fn artifacts(run_state: &RunState, shown: &[String]) -> String {
    let all: Vec<&String> =
        run_state.artifacts.iter().filter(|path| !shown.contains(path)).collect();
    let more = all.len().saturating_sub(MOST_ARTIFACTS);
    let newest = all.iter().skip(more).map(|path| value(path, NAME_BYTES));
    let newest = joined(newest, ", ", LIST_BYTES);
    if more > 0 { format!("{newest} and {more} older ones") } else { newest }
}

/// Returns the variables as one line of JSON. Where they do not fit, long values are cut, and the last ones are left out.
fn variables(variables: &Map<String, Json>) -> String {
    if variables.is_empty() {
        return String::new();
    }
    let (whole, _) = json_line(&Json::Object(variables.clone()), usize::MAX);
    if whole.len() <= VARIABLES_BYTES {
        return whole;
    }
    let mut parts = Vec::new();
    let (mut bytes, mut left_out) = (2, 0_usize);
    for (name, json) in variables {
        let (name, _) = json_line(&Json::from(name.as_str()), VALUE_BYTES);
        let (shown, _) = json_line(json, VALUE_BYTES);
        let part = format!("{name}:{shown}");
        if left_out > 0 || bytes + part.len() + 1 > VARIABLES_BYTES {
            left_out += 1;
        } else {
            bytes += part.len() + 1;
            parts.push(part);
        }
    }
    let more = if left_out > 0 {
        format!(" and {left_out} more in @state/workflow.md")
    } else {
        String::new()
    };
    format!("{{{}}} (cut){more}", parts.join(","))
}
