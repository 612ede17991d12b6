//! The forms in which models write calls. Each begins with a mark.

use serde_json::{Map, Value as Json};

use super::{LeakedCall, is_name, literal};

/// Maximum distance from its mark within which a form is recognised, in bytes.
const AHEAD: usize = 256;

/// Textual form of a call.
pub(super) struct CallForm {
    /// Returns true if a text begins in this form.
    pub(super) begins: fn(&str) -> bool,
    /// Reads the call at the beginning of a text.
    pub(super) read: fn(&str) -> Option<LeakedCalls>,
}

/// Calls that were read from a text.
pub(super) struct LeakedCalls {
    pub(super) calls: Vec<LeakedCall>,
    /// Byte offset at which it ends.
    pub(super) end: usize,
}

pub(super) const FORMS: &[CallForm] = &[
    CallForm { begins: begins_function, read: read_function },
    CallForm { begins: begins_tagged, read: read_tagged },
    CallForm { begins: begins_invoke, read: read_invoke },
    CallForm { begins: begins_list, read: read_list },
    CallForm { begins: begins_marked, read: read_marked },
    CallForm { begins: begins_channel, read: read_channel },
];

/// Tags around calls that mean nothing without them.
pub(super) const WRAPPINGS: &[&str] = &[
    "<tool_calls>",
    "</tool_calls>",
    "<tool_call>",
    "</tool_call>",
    "<function_calls>",
    "</function_calls>",
    "<minimax:tool_call>",
    "</minimax:tool_call>",
    "<｜DSML｜function_calls>",
    "</｜DSML｜function_calls>",
    "<｜DSML｜tool_calls>",
    "</｜DSML｜tool_calls>",
    "<|tool_calls_section_begin|>",
    "<|tool_calls_section_end|>",
    "<｜tool▁calls▁begin｜>",
    "<｜tool▁calls▁end｜>",
    "<|start|>assistant",
];

/// Recognises `<function=NAME>`, then parameters or JSON.
fn begins_function(text: &str) -> bool {
    text.strip_prefix("<function=").and_then(|rest| name(rest, ">")).is_some()
}

fn read_function(text: &str) -> Option<LeakedCalls> {
    let rest = text.strip_prefix("<function=")?;
    let (name, rest) = name(rest, ">")?;
    let (body, rest) = rest.split_once("</function>")?;
    let body = body.trim();
    let arguments = match body.starts_with('{') {
        true => first_json(body)?.0,
        false => Json::Object(parameters(body, "<parameter=", "</parameter>")?),
    };
    Some(found(text, rest, vec![(name.to_owned(), arguments.to_string())]))
}

/// Tags around calls: an opening mark and its closing one.
const TAGS: &[(&str, &str)] = &[
    ("<tool_call>", "</tool_call>"),
    ("<function_call>", "</function_call>"),
    ("<|tool_call|>", "<|/tool_call|>"),
    ("<|tool_call>", "<tool_call|>"),
    ("<|python_tag|>", "<|eom_id|>"),
    ("[TOOL_REQUEST]", "[END_TOOL_REQUEST]"),
];

/// Recognises a mark, then JSON, or a name and its `<arg_key>` and `<arg_value>`.
fn begins_tagged(text: &str) -> bool {
    TAGS.iter().any(|(open, _)| {
        text.strip_prefix(open).is_some_and(|rest| {
            let rest = ahead(rest).trim_start();
            rest.starts_with("{\"")
                || rest.starts_with("{'")
                || rest.starts_with("{ ")
                || rest.starts_with("{\n")
                || named(rest).is_some()
        })
    })
}

fn read_tagged(text: &str) -> Option<LeakedCalls> {
    let (open, close) = TAGS.iter().find(|(open, _)| text.starts_with(open))?;
    let rest = text.strip_prefix(open)?.trim_start();
    if rest.starts_with('{') {
        let (value, rest) = first_json(rest)?;
        let end = rest.trim_start();
        let rest = end.strip_prefix(close).unwrap_or(rest);
        return Some(found(text, rest, vec![call(&value)?]));
    }
    let (name, _) = named(rest)?;
    let (body, rest) = rest.split_once(close)?;
    let body = body.get(name.len()..)?;
    let mut arguments = Map::new();
    let mut left = body;
    while let Some((_, inner)) = left.split_once("<arg_key>") {
        let (key, inner) = inner.split_once("</arg_key>")?;
        let (value, inner) =
            inner.trim_start().strip_prefix("<arg_value>")?.split_once("</arg_value>")?;
        arguments.insert(key.trim().to_owned(), value.into());
        left = inner;
    }
    Some(found(text, rest, vec![(name.to_owned(), Json::Object(arguments).to_string())]))
}

/// Reads a name before an `<arg_key>`.
fn named(text: &str) -> Option<(&str, &str)> {
    let end = text.find(|c: char| !is_name(c))?;
    let (name, rest) = text.split_at(end);
    (!name.is_empty() && rest.trim_start().starts_with("<arg_key>")).then_some((name, rest))
}

/// Openings of `<invoke name="NAME">`, with the prefix of its parameters.
const INVOKES: &[(&str, &str, &str, &str)] = &[
    ("<invoke name=\"", "</invoke>", "<parameter name=\"", "</parameter>"),
    (
        "<｜DSML｜invoke name=\"",
        "</｜DSML｜invoke>",
        "<｜DSML｜parameter name=\"",
        "</｜DSML｜parameter>",
    ),
];

fn begins_invoke(text: &str) -> bool {
    INVOKES
        .iter()
        .any(|(open, ..)| text.strip_prefix(open).and_then(|rest| name(rest, "\"")).is_some())
}

fn read_invoke(text: &str) -> Option<LeakedCalls> {
    let (open, close, parameter, end) = INVOKES.iter().find(|(open, ..)| text.starts_with(open))?;
    let (name, rest) = name(text.strip_prefix(open)?, "\"")?;
    let (body, rest) = rest.split_once(close)?;
    let arguments = Json::Object(parameters(body, parameter, end)?);
    Some(found(text, rest, vec![(name.to_owned(), arguments.to_string())]))
}

/// Recognises `[TOOL_CALLS]`, then a list of calls, or names with `[ARGS]` and JSON.
fn begins_list(text: &str) -> bool {
    text.strip_prefix("[TOOL_CALLS]").is_some_and(|rest| {
        let rest = ahead(rest).trim_start();
        let bare = rest.trim_start_matches(is_name);
        let is_named =
            bare.len() < rest.len() && (bare.starts_with('{') || bare.starts_with("[ARGS]"));
        rest.starts_with("[{") || is_named
    })
}

fn read_list(text: &str) -> Option<LeakedCalls> {
    let mut rest = text.strip_prefix("[TOOL_CALLS]")?.trim_start();
    if rest.starts_with('[') {
        let (value, rest) = first_json(rest)?;
        let calls = value.as_array()?.iter().map(call).collect::<Option<Vec<_>>>()?;
        return Some(found(text, rest, calls));
    }
    let mut calls = Vec::new();
    loop {
        let end = rest.find(|c: char| !is_name(c))?;
        let (name, inner) = rest.split_at(end);
        let inner = inner.trim_start();
        let (arguments, after) = first_json(inner.strip_prefix("[ARGS]").unwrap_or(inner))?;
        if name.is_empty() || !arguments.is_object() {
            return None;
        }
        calls.push((name.to_owned(), arguments.to_string()));
        match after.trim_start().strip_prefix("[TOOL_CALLS]") {
            Some(more) => rest = more.trim_start(),
            None => return Some(found(text, after, calls)),
        }
    }
}

/// Marks around a name, between a name and its arguments, and after both.
const MARKS: &[(&str, &str, &str)] = &[
    ("<|tool_call_begin|>", "<|tool_call_argument_begin|>", "<|tool_call_end|>"),
    ("<｜tool▁call▁begin｜>", "<｜tool▁sep｜>", "<｜tool▁call▁end｜>"),
];

fn begins_marked(text: &str) -> bool {
    MARKS.iter().any(|(open, middle, _)| {
        text.strip_prefix(open).is_some_and(|rest| ahead(rest).contains(middle))
    })
}

fn read_marked(text: &str) -> Option<LeakedCalls> {
    let (open, middle, close) = MARKS.iter().find(|(open, ..)| text.starts_with(open))?;
    let (head, rest) = text.strip_prefix(open)?.split_once(middle)?;
    let mut name = head.trim();
    let mut body = rest.trim_start();
    if name == "function" && !body.starts_with('{') {
        // The name follows the mark, and the arguments are in a block of code.
        let end = body.find(|c: char| !is_name(c))?;
        (name, body) = body.split_at(end);
        body = body.trim_start().strip_prefix("```json").unwrap_or(body).trim_start();
    }
    let name = name.strip_prefix("functions.").unwrap_or(name);
    let name =
        name.split(':').next().filter(|name| !name.is_empty() && name.chars().all(is_name))?;
    let (arguments, rest) = first_json(body)?;
    let end = rest.trim_start().trim_start_matches('`').trim_start();
    let rest = end.strip_prefix(close)?;
    Some(found(text, rest, vec![(name.to_owned(), arguments.to_string())]))
}

/// Recognises `<|channel|>commentary to=functions.NAME … <|message|>`, then JSON.
fn begins_channel(text: &str) -> bool {
    text.strip_prefix("<|channel|>").is_some_and(|rest| {
        let rest = ahead(rest);
        rest.contains("to=") && rest.contains("<|message|>")
    })
}

fn read_channel(text: &str) -> Option<LeakedCalls> {
    let (head, rest) = text.strip_prefix("<|channel|>")?.split_once("<|message|>")?;
    let (_, target) = head.split_once("to=")?;
    let target = target.strip_prefix("functions.").unwrap_or(target);
    let end = target.find(|c: char| !is_name(c)).unwrap_or(target.len());
    let name = Some(&target[..end]).filter(|name| !name.is_empty())?;
    let (arguments, rest) = first_json(rest.trim_start())?;
    let rest = rest.trim_start().strip_prefix("<|call|>").unwrap_or(rest);
    Some(found(text, rest, vec![(name.to_owned(), arguments.to_string())]))
}

fn found(text: &str, rest: &str, calls: Vec<LeakedCall>) -> LeakedCalls {
    LeakedCalls { calls, end: text.len() - rest.len() }
}

/// Reads a call from JSON.
fn call(value: &Json) -> Option<LeakedCall> {
    let function = value.get("function").filter(|function| function.is_object()).unwrap_or(value);
    let name = function.get("name")?.as_str()?.trim();
    let arguments =
        ["arguments", "parameters", "args", "input"].iter().find_map(|key| function.get(*key));
    let arguments = match arguments {
        Some(Json::String(text)) => text.clone(),
        Some(Json::Null) | None => "{}".to_owned(),
        Some(value @ (Json::Bool(_) | Json::Number(_) | Json::Array(_) | Json::Object(_))) => {
            value.to_string()
        }
    };
    (!name.is_empty() && name.chars().all(is_name)).then(|| (name.to_owned(), arguments))
}

/// Reads `<parameter=KEY>VALUE</parameter>` and the like, until there are no more.
fn parameters(body: &str, open: &str, close: &str) -> Option<Map<String, Json>> {
    let mut parameters = Map::new();
    let mut rest = body;
    while let Some((_, inner)) = rest.split_once(open) {
        let (head, inner) = inner.split_once('>')?;
        let key = head.split('"').next().unwrap_or_default().trim();
        // Some models omit the end of the last parameter.
        let (value, after) = inner.split_once(close).unwrap_or((inner, ""));
        let value = value.strip_prefix('\n').unwrap_or(value);
        let value = value.strip_suffix('\n').unwrap_or(value);
        parameters.insert(key.to_owned(), value.into());
        rest = after;
    }
    Some(parameters)
}

/// Returns the JSON at the start of a text, and the rest.
fn first_json(text: &str) -> Option<(Json, &str)> {
    literal::value(text).ok()
}

/// Reads a name that ends with `end`.
fn name<'t>(text: &'t str, end: &str) -> Option<(&'t str, &'t str)> {
    let at = ahead(text).find(end)?;
    let name = text[..at].trim();
    (!name.is_empty() && name.chars().all(is_name)).then(|| (name, &text[at + end.len()..]))
}

fn ahead(text: &str) -> &str {
    &text[..text.floor_char_boundary(AHEAD)]
}
