//! Checks the arguments of a call against the schema of the tool before they are sent.

use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::tool::server_tool::{ServerTool, cleaned};
use serde_json::{Map, Value as Json};

/// Limit of errors in one refusal.
const MOST_TOLD: usize = 8;
/// Limit in bytes of the sentence about one error.
const TOLD_BYTES: usize = 300;

/// Refuses arguments that do not fit, with every error. A schema that is invalid or refers to another document is left
/// to the server, which knows best what it means.
pub(super) fn check(tool: &ServerTool, arguments: &Map<String, Json>) -> Result<(), Refusal> {
    let Ok(schema) = jsonschema::validator_for(&tool.parameters) else { return Ok(()) };
    let arguments = Json::Object(arguments.clone());
    let mut told = Vec::new();
    for error in schema.iter_errors(&arguments).take(MOST_TOLD) {
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
    fn a_schema_that_is_none_is_left_to_the_server() {
        check_fits(json!({ "type": "wobbly" }), json!({}), None);
        check_fits(json!({ "$ref": "https://example.com/schema.json" }), json!({}), None);
    }
}
