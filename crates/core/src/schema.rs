//! JSON Schemas of the package format and of the events of a run, generated from the types that read and write them.

use crewagent_format::schema::json_document;
use serde_json::{Value as Json, json};

use crate::event::Event;

/// Returns the schemas by file name, as published in `spec/schemas/`.
pub fn schemas() -> Vec<(&'static str, Json)> {
    let mut schemas = crewagent_format::schema::schemas();
    schemas.push(("event.schema.json", events()));
    schemas
}

/// Generates the schema of events. A model's message with only tool calls has `null` content, as in chat completions.
fn events() -> Json {
    let mut schema =
        json_document::<Event>("One line of `crewagent run --json`, and of a run's journal");
    for message in schema["$defs"]["Message"]["oneOf"].as_array_mut().into_iter().flatten() {
        if message["properties"]["role"]["const"] == "assistant" {
            message["properties"]["content"]["type"] = json!(["string", "null"]);
        }
    }
    schema
}
