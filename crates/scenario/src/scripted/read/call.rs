//! Reads the calls of a reply: `fs.read: {path: …}`, or the long form with `tool`.

use crewagent_core::tool::Tool;
use crewagent_format::syntax::{Entry, Tree, Value};
use crewagent_format::wording::misspells;
use serde_json::{Map, Value as Json};

use crate::scripted::reading::ScriptReader;
use crate::scripted::scenario::{Arguments, JsonTemplate, ScriptCall};

const LONG: [&str; 5] = ["tool", "arguments", "raw", "id", "times"];

pub(super) fn calls(reading: &mut ScriptReader<'_>, tree: &Tree) -> Vec<ScriptCall> {
    let items = reading.list(tree, "`calls`").unwrap_or_default();
    items.iter().filter_map(|item| call(reading, item)).collect()
}

fn call(reading: &mut ScriptReader<'_>, tree: &Tree) -> Option<ScriptCall> {
    let entries = reading.any_map(tree, "a call")?;
    if tree.get("tool").is_some() {
        return long(reading, tree);
    }
    match entries {
        [Entry { key, key_span, .. }] if let Some(meant) = misspelled_tool(key) => {
            let message = format!(
                "there is no tool `{key}`; did you mean `{meant}`? To call it all the same, write `tool: {key}`"
            );
            reading.wrong(*key_span, message)
        }
        [Entry { key, tree, .. }] => {
            let arguments = Arguments::Value(arguments(reading, tree)?);
            Some(ScriptCall { tool: key.clone(), arguments, id: None, times: 1 })
        }
        [] | [_, _, ..] => reading.wrong(
            tree.span,
            "a call must be one tool with its arguments, such as `fs.read: {path: \"@project/a.md\"}`, or have a key `tool`",
        ),
    }
}

/// Returns the tool of the runtime that a name misspells. Any other name may be the tool of a server.
pub(crate) fn misspelled_tool(name: &str) -> Option<&'static str> {
    if Tool::resolve(name, |_| false).is_some() {
        return None;
    }
    Tool::ALL.into_iter().map(Tool::name).find(|known| misspells(name, known))
}

fn long(reading: &mut ScriptReader<'_>, tree: &Tree) -> Option<ScriptCall> {
    let entries = reading.map(tree, "a call", &LONG)?;
    let mut call = ScriptCall { tool: String::new(), arguments: empty(), id: None, times: 1 };
    for Entry { key, tree, .. } in entries {
        match key.as_str() {
            "tool" => call.tool = reading.text(tree, "`tool`")?.to_owned(),
            "arguments" => call.arguments = Arguments::Value(arguments(reading, tree)?),
            "raw" => call.arguments = Arguments::Raw(reading.template(tree, "`raw`")?),
            "id" => call.id = Some(reading.text(tree, "`id`")?.to_owned()),
            "times" => call.times = reading.times(tree, "`times`")?,
            _ => {}
        }
    }
    if tree.get("arguments").is_some() && tree.get("raw").is_some() {
        return reading.wrong(tree.span, "a call has either `arguments` or `raw`, not both");
    }
    if call.id.is_some() && call.times > 1 {
        return reading.wrong(tree.span, "calls alike cannot share one `id`; leave it out");
    }
    Some(call)
}

fn empty() -> Arguments {
    Arguments::Value(JsonTemplate::Plain(Json::Object(Map::new())))
}

/// Reads the arguments as a JSON value; absent ones are an empty object.
fn arguments(reading: &mut ScriptReader<'_>, tree: &Tree) -> Option<JsonTemplate> {
    match tree.value {
        Value::Null => Some(JsonTemplate::Plain(Json::Object(Map::new()))),
        Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::List(_) | Value::Map(_) => {
            shape(reading, tree)
        }
    }
}

fn shape(reading: &mut ScriptReader<'_>, tree: &Tree) -> Option<JsonTemplate> {
    match &tree.value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            Some(JsonTemplate::Plain(tree.to_json()))
        }
        Value::String(_) => reading.template(tree, "an argument").map(JsonTemplate::Text),
        Value::List(items) => {
            let items = items.iter().map(|item| shape(reading, item)).collect::<Option<_>>()?;
            Some(JsonTemplate::List(items))
        }
        Value::Map(entries) => {
            let entries = entries
                .iter()
                .map(|entry| Some((entry.key.clone(), shape(reading, &entry.tree)?)))
                .collect::<Option<_>>()?;
            Some(JsonTemplate::Map(entries))
        }
    }
}
