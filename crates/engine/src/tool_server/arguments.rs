//! Checks the arguments of a call against the schema of the tool before they are sent.

use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::tool::server_tool::{ServerTool, cleaned};
use jsonschema::error::ValidationErrorKind;
use jsonschema::{PatternOptions, ValidationError};
use serde_json::{Map, Value as Json};

use super::effort::is_bounded;

/// Limit of steps back in one comparison of a text with a pattern.
const BACKTRACKS: usize = 10_000;
/// Limit of errors in one refusal.
const MOST_TOLD: usize = 8;
/// Limit in bytes of the sentence about one error.
const TOLD_BYTES: usize = 300;

/// Refuses arguments that do not fit, with every error. A schema that is invalid, refers to another document or needs too
/// many steps is left to the server, which knows best what it means.
pub(super) fn check(tool: &ServerTool, arguments: &Map<String, Json>) -> Result<(), Refusal> {
    let arguments = Json::Object(arguments.clone());
    if !is_bounded(&tool.parameters, &arguments) {
        return Ok(());
    }
    let patterns = PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS);
    let options = jsonschema::options().with_pattern_options(patterns);
    let Ok(schema) = options.build(&tool.parameters) else { return Ok(()) };
    let mut told = Vec::new();
    let is_told = |error: &ValidationError<'_>| {
        !matches!(error.kind(), ValidationErrorKind::BacktrackLimitExceeded { .. })
    };
    for error in schema.iter_errors(&arguments).filter(is_told).take(MOST_TOLD) {
        let place = error.instance_path().to_string();
        let place = if place.is_empty() { String::new() } else { format!("`{place}`: ") };
        // The value itself may be long, and the model knows it.
        told.push(cleaned(&format!("{place}{}", error.masked()), TOLD_BYTES));
    }
    if told.is_empty() {
        return Ok(());
    }
    let message = format!("The arguments do not fit `{}`: {}.", tool.name(), told.join("; "));
    let needed = tool.parameters["required"].as_array().into_iter().flatten();
    let needed: Vec<String> =
        needed.filter_map(Json::as_str).take(20).map(|name| format!("`{name}`")).collect();
    let hint = match needed.as_slice() {
        [] => "Correct them and call it again.".to_owned(),
        [..] => format!("Correct them and call it again; it needs {}.", needed.join(", ")),
    };
    Err(Refusal::new(RefusalCode::InvalidArguments, message).hint(hint))
}

#[cfg(test)]
mod tests {
    use crewagent_core::tool::server_tool::ToolUse;
    use serde_json::json;

    use super::*;

    fn check_fits(schema: Json, arguments: Json, expected: Option<&str>) {
        let tool = ServerTool {
            server: "s".parse().unwrap(),
            tool: "t".to_owned(),
            used: ToolUse::Tool,
            description: String::new(),
            parameters: schema,
        };
        let Json::Object(arguments) = arguments else { panic!() };
        let refusal = check(&tool, &arguments).err();
        assert_eq!(refusal.as_ref().map(|refusal| refusal.message.as_str()), expected);
    }

    #[test]
    fn arguments_fit_the_schema_of_the_tool() {
        let schema = json!({
            "type": "object",
            "properties": { "a": { "type": "number" } },
            "required": ["a"],
            "additionalProperties": false
        });
        check_fits(schema.clone(), json!({ "a": 1 }), None);
        check_fits(
            schema.clone(),
            json!({ "a": "x" }),
            Some("The arguments do not fit `mcp.s.t`: `/a`: value is not of type \"number\"."),
        );
        check_fits(
            schema,
            json!({}),
            Some("The arguments do not fit `mcp.s.t`: \"a\" is a required property."),
        );
    }

    #[test]
    fn a_schema_that_would_take_for_ever_is_left_to_the_server() {
        let twice = |at: usize| {
            let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
            (format!("d{at}"), json!({ "allOf": [next, next] }))
        };
        let mut defs: Map<String, Json> = (0..40).map(twice).collect();
        defs.insert("d40".to_owned(), json!({ "type": "string" }));
        let schema = json!({ "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": defs });
        check_fits(schema.clone(), json!({ "a": 1 }), None);
        // Reading the schema takes no longer than the schema is.
        check_fits(schema, json!({ "b": 1 }), None);
    }

    #[test]
    fn a_schema_that_is_none_is_left_to_the_server() {
        check_fits(json!({ "type": "wobbly" }), json!({}), None);
        check_fits(json!({ "$ref": "https://example.com/schema.json" }), json!({}), None);
    }
}
