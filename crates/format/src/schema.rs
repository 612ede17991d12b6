//! JSON Schemas of the five file kinds, generated from the types that read and write them.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Value as Json, json};

use crate::package::agents::Agents;
use crate::package::graph::Graph;
use crate::package::manifest::Manifest;
use crate::package::step::StepFront;
use crate::package::workflow::WorkflowFront;

/// Returns the schemas by file name, as published in `spec/schemas/`.
pub fn schemas() -> Vec<(&'static str, Json)> {
    vec![
        (
            "bmad.schema.json",
            package_document::<Manifest>("bmad.json: the manifest of a .bmad package"),
        ),
        (
            "agents.schema.json",
            package_document::<Agents>("agents.json: the agents of a .bmad package"),
        ),
        ("workflow-graph.schema.json", versioned_graph()),
        (
            "workflow.schema.json",
            frontmatter::<WorkflowFront>("workflow.md: the frontmatter of a workflow document"),
        ),
        ("step.schema.json", frontmatter::<StepFront>("steps/*.md: the frontmatter of a step")),
    ]
}

fn generate<T: JsonSchema>(title: &str) -> Schema {
    let mut schema = SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<T>();
    schema.insert("title".into(), title.into());
    RecursiveTransform(tidy).transform(&mut schema);
    schema
}

/// Generates the schema of a JSON file: an optional value is absent, never null.
pub fn json_document<T: JsonSchema>(title: &str) -> Json {
    let mut schema = generate::<T>(title);
    RecursiveTransform(without_null).transform(&mut schema);
    schema.to_value()
}

/// Generates the schema of a document of a package, which may name its schema for editors.
fn package_document<T: JsonSchema>(title: &str) -> Json {
    let mut schema = json_document::<T>(title);
    schema["properties"]["$schema"] =
        json!({ "description": "This schema, for editors; ignored.", "type": "string" });
    schema
}

/// Generates the schema of frontmatter: a key without a value counts as absent, and other keys are allowed.
fn frontmatter<T: JsonSchema>(title: &str) -> Json {
    generate::<T>(title).to_value()
}

/// Generates the schema of graphs, in which the keys of sub-workflows exist from 1.2 on.
fn versioned_graph() -> Json {
    let mut schema = package_document::<Graph>("workflow.graph.json: the graph of a workflow");
    schema["allOf"] = json!([{
        "if": { "properties": { "schemaVersion": { "pattern": r"^1\.1" } } },
        "then": {
            "properties": {
                "nodes": { "items": { "properties": { "subworkflowRef": false, "passContext": false, "resultVariables": false } } }
            }
        }
    }]);
    schema
}

/// Forbids blank texts where empty ones are forbidden, and removes formats that only Rust knows.
fn tidy(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if object.get("format").and_then(Json::as_str).is_some_and(|format| format.starts_with("uint"))
    {
        object.remove("format");
        object
            .remove("minimum")
            .filter(|least| *least != json!(0))
            .map(|least| object.insert("minimum".into(), least));
    }
    let text = object.get("type") == Some(&json!("string"));
    if text && object.get("minLength") == Some(&json!(1)) && !object.contains_key("pattern") {
        object.remove("minLength");
        object.insert("pattern".into(), r"\S".into());
    }
}

fn without_null(schema: &mut Schema) {
    let Some(object) = schema.as_object_mut() else { return };
    if let Some(Json::Array(types)) = object.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [only] = types.as_slice() {
            let only = only.clone();
            object.insert("type".into(), only);
        }
    }
    if let Some(Json::Array(options)) = object.get_mut("anyOf") {
        options.retain(|option| option.get("type") != Some(&json!("null")));
        if let [Json::Object(only)] = options.as_slice() {
            let only = only.clone();
            object.remove("anyOf");
            object.extend(only);
        }
    }
}
