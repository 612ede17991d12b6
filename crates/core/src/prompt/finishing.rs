//! The call that finishes a node, made by the runtime from the node's declarations: it repairs packages that have none.

use crewagent_format::package::Workflow;
use crewagent_format::package::gate::Gate;
use crewagent_format::package::graph::{Edge, Node};
use serde_json::{Map, Value as Json, json};

use super::line::json_line;
use super::step_text;
use super::ways::{EdgeChoice, choice_of};
use crate::policy::StateTool;
use crate::state::document::{COMPLETE, STATE_FILE, STATUS};
use crate::state::output::Output;
use crate::tool::Tool;

/// Maximum size of a call, in bytes.
const CALL_BYTES: usize = 8 * 1024;
/// Longest part of an example value, in characters.
const EXAMPLE_CHARS: usize = 80;

/// Returns the call that finishes a node, with a placeholder `<…>` for every value that the model has to fill in.
pub fn finishing_call(
    workflow: &Workflow,
    node: &Node,
    variables: &Map<String, Json>,
    state: StateTool,
) -> String {
    let ways: Vec<&Edge> = workflow.graph.outgoing(node.id.as_str()).collect();
    let values = placeholders(workflow, node, &ways);
    match &node.gate {
        Some(gate) => written(Tool::Gate, &gate_call(gate, values)),
        None => completing_call(workflow, node, variables, state, &[]),
    }
}

/// Returns the call that leaves a node whose gate the user has opened, or that has none. Files in `saved` are not sent
/// with it.
pub fn completing_call(
    workflow: &Workflow,
    node: &Node,
    variables: &Map<String, Json>,
    state: StateTool,
    saved: &[String],
) -> String {
    let ways: Vec<&Edge> = workflow.graph.outgoing(node.id.as_str()).collect();
    let values = placeholders(workflow, node, &ways);
    match state {
        StateTool::Runtime => {
            written(Tool::CompleteNode, &completion(node, variables, &ways, values, saved))
        }
        StateTool::Patch => written(Tool::Patch, &patch(node, &ways, values)),
    }
}

/// Returns a call of a tool as a model is told it.
pub(super) fn written(tool: Tool, arguments: &Json) -> String {
    let (call, _) = json_line(arguments, usize::MAX);
    let call = if call.len() <= CALL_BYTES { call } else { GENERIC.to_owned() };
    format!("{} {call}", tool.wire_name())
}

/// Returns the arguments that show the work of a node to the user.
fn gate_call(gate: &Gate, values: Map<String, Json>) -> Json {
    let mut arguments = Map::new();
    if !gate.sections.is_empty() {
        let ids: Vec<&str> = gate.sections.iter().map(|section| section.id.as_str()).collect();
        arguments.insert("drafts".to_owned(), json!([format!("<{}>", ids.join("|"))]));
    } else if !gate.commit.is_empty() {
        arguments.insert("drafts".to_owned(), json!(["<name>"]));
    }
    arguments.insert("note".to_owned(), "<one sentence to the user>".into());
    if !values.is_empty() {
        arguments.insert("variables".to_owned(), values.into());
    }
    arguments.into()
}

/// Call of a node with more declarations than can be shown.
const GENERIC: &str =
    r#"{"variables":{"<name>":"<value>"},"files":[{"path":"<path>","content":"<text>"}]}"#;

/// Returns the declared variables, each with a placeholder: the values that the ways on depend on, else the example of
/// the step, else `…`: the name says what is meant.
fn placeholders(workflow: &Workflow, node: &Node, ways: &[&Edge]) -> Map<String, Json> {
    let Some(step) = workflow.steps.get(&node.id) else { return Map::new() };
    let examples = if ways.len() > 1 {
        // An example would suggest a branch.
        Map::new()
    } else {
        step_text::without_calls(step.body()).examples
    };
    let declared = step.front.sets_variables.iter().filter(|name| name.as_str() != STATUS);
    let placeholder = |name: &String| {
        let choices: Vec<String> = ways
            .iter()
            .filter_map(|edge| choice_of(edge))
            .filter(|choice| choice.variable == *name)
            .flat_map(EdgeChoice::words)
            .collect();
        // A way that no value is known for must not look closed.
        let is_open = !choices.is_empty() && ways.iter().any(|edge| choice_of(edge).is_none());
        let text = if is_open {
            format!("{}|…", choices.join("|"))
        } else if choices.is_empty() {
            examples.get(name).map_or_else(|| "…".to_owned(), example)
        } else {
            choices.join("|")
        };
        (name.clone(), Json::from(format!("<{text}>")))
    };
    declared.map(placeholder).collect()
}

fn example(value: &Json) -> String {
    let text = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
    crewagent_format::wording::cut(text.trim_matches(['<', '>']), EXAMPLE_CHARS)
}

fn completion(
    node: &Node,
    variables: &Map<String, Json>,
    ways: &[&Edge],
    values: Map<String, Json>,
    saved: &[String],
) -> Json {
    let mut arguments = Map::new();
    if !values.is_empty() {
        arguments.insert("variables".to_owned(), values.into());
    }
    let files: Vec<Json> = node
        .outputs
        .iter()
        .filter_map(|declared| path_of(declared, variables))
        .filter(|path| !saved.contains(path))
        .map(|path| json!({ "path": path, "content": "<text>" }))
        .collect();
    if !files.is_empty() {
        arguments.insert("files".to_owned(), files.into());
    }
    if ways.len() > 1 {
        if ways.iter().any(|edge| edge.condition_expr.is_none()) {
            arguments.insert("next".to_owned(), format!("<{}>", labels(ways)).into());
        }
        arguments.insert("reason".to_owned(), "<why>".into());
    }
    arguments.into()
}

/// Returns the path of a declared output, with placeholders where no variable fills them; none for a folder, a pattern
/// and a name that cannot be used.
fn path_of(declared: &str, variables: &Map<String, Json>) -> Option<String> {
    if declared.ends_with('/') || declared.contains(['*', '?']) {
        return None;
    }
    match Output::of(declared, variables) {
        Output::File(path) => Some(path.to_string()),
        Output::Open(_) => Some(declared.to_owned()),
        Output::Pattern(_) | Output::Outside(_) => None,
    }
}

fn patch(node: &Node, ways: &[&Edge], values: Map<String, Json>) -> Json {
    let mut update = Map::new();
    if !values.is_empty() {
        update.insert("variables".to_owned(), json!({ "set": values }));
    }
    match ways {
        [] => {
            let set = update.entry("variables").or_insert_with(|| json!({ "set": {} }));
            set["set"][STATUS] = COMPLETE.into();
        }
        [only] => {
            update.insert("currentNodeId".to_owned(), json!({ "set": only.to }));
        }
        several => {
            let nodes: Vec<&str> = several.iter().map(|edge| edge.to.as_str()).collect();
            let next = format!("<{}>", nodes.join("|"));
            update.insert("currentNodeId".to_owned(), json!({ "set": next }));
            let entry = json!({ "from": node.id, "to": next, "label": format!("<{}>", labels(several)), "reason": "<why>" });
            update.insert("decisionLog".to_owned(), json!({ "append": [entry] }));
        }
    }
    json!({ "path": STATE_FILE, "update": update })
}

fn labels(ways: &[&Edge]) -> String {
    let labels: Vec<&str> = ways.iter().map(|edge| edge.label.as_str()).collect();
    labels.join("|")
}
