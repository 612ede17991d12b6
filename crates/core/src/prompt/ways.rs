//! The ways on from a node, as conditions to fulfil.

use crewagent_format::package::graph::{Edge, Graph, Node};
use serde_json::Value as Json;

use super::line::{folded, json_line, listed, value};

/// Maximum size of a label, in bytes.
const NAME_BYTES: usize = 512;
/// Maximum size of a condition's text, in bytes.
const CONDITION_BYTES: usize = 1024;
/// Maximum size of the list, in bytes.
const LIST_BYTES: usize = 6 * 1024;

/// Values of one variable that open an edge.
pub(super) struct EdgeChoice {
    pub(super) variable: String,
    pub(super) values: Vec<Json>,
}

impl EdgeChoice {
    /// Returns the values as words.
    pub(super) fn words(self) -> Vec<String> {
        let word = |value: Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        self.values.into_iter().map(word).collect()
    }
}

/// Reads the condition of an edge, if it compares one variable with values: `==`, or `in` a list.
pub(super) fn choice_of(edge: &Edge) -> Option<EdgeChoice> {
    let rule = edge.condition_expr.as_ref()?.as_json().as_object()?;
    let (operator, arguments) = rule.iter().next().filter(|_| rule.len() == 1)?;
    let [first, second] = arguments.as_array()?.as_slice() else { return None };
    let variable = |json: &Json| Some(json.get("var")?.as_str()?.to_owned());
    match operator.as_str() {
        "==" | "===" => {
            let (variable, value) = match (variable(first), variable(second)) {
                (Some(name), None) => (name, second),
                (None, Some(name)) => (name, first),
                (Some(_), Some(_)) | (None, None) => return None,
            };
            let is_simple = !value.is_object() && !value.is_array();
            is_simple.then(|| EdgeChoice { variable, values: vec![value.clone()] })
        }
        "in" => {
            let values = second.as_array()?.clone();
            Some(EdgeChoice { variable: variable(first)?, values })
        }
        _ => None,
    }
}

/// Renders the lines about the ways on; nothing where there is only one, because then there is nothing to choose.
pub(super) fn allowed_next(graph: &Graph, node: &Node) -> String {
    let ways: Vec<&Edge> = graph.outgoing(node.id.as_str()).collect();
    match ways.as_slice() {
        [] => "- allowedNext: none, this is the end\n".to_owned(),
        [_] => String::new(),
        several => {
            let is_ruled = several.iter().all(|edge| edge.condition_expr.is_some());
            let how = if is_ruled { ", as your variables decide" } else { "" };
            let lines = listed(several, |edge| way(edge), LIST_BYTES);
            let more = match lines.left_out {
                0 => String::new(),
                more => format!("  … and {more} more (read the graph)\n"),
            };
            format!("- allowedNext{how}:\n{}{more}", lines.text)
        }
    }
}

fn way(edge: &Edge) -> String {
    let default = if edge.is_default { " (default)" } else { "" };
    let mut text = format!("  - {} -> {}{default}", value(&edge.label, NAME_BYTES), edge.to);
    if let Some(key) = &edge.gate {
        text.push_str(&format!(" (the user chooses {})", value(key, NAME_BYTES)));
    }
    let condition = edge.condition_text.as_deref().map(|text| folded(text, CONDITION_BYTES));
    let condition = condition.filter(|text| !text.is_empty());
    let rule = edge.condition_expr.as_ref().map(|rule| match choice_of(edge) {
        Some(choice) => format!("set {}", setting(&choice)),
        None => json_line(rule.as_json(), CONDITION_BYTES).0,
    });
    let is_choice = choice_of(edge).is_some();
    match (rule, condition) {
        (Some(rule), Some(condition)) if is_choice => {
            text.push_str(&format!(": {rule}; {condition}"))
        }
        (_, Some(condition)) => text.push_str(&format!(": {condition}")),
        (Some(rule), None) => text.push_str(&format!(": {rule}")),
        (None, None) => {}
    }
    text
}

fn setting(choice: &EdgeChoice) -> String {
    let values: Vec<String> =
        choice.values.iter().map(|value| json_line(value, NAME_BYTES).0).collect();
    format!("{} to {}", value(&choice.variable, NAME_BYTES), values.join(" or "))
}
