//! JSON Schemas of the five file kinds, generated from the types that read and write them.

use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema};
use serde_json::{Map, Value as Json, json};

use crate::package::agents::Agents;
use crate::package::graph::Graph;
use crate::package::manifest::Manifest;
use crate::package::step::StepFront;
use crate::package::workflow::WorkflowFront;

/// Returns the schemas by file name, as published in `spec/schemas/`.
pub fn schemas() -> Vec<(&'static str, Json)> {
    vec![
        ("bmad.schema.json", versioned_manifest()),
        ("agents.schema.json", versioned_agents()),
        ("workflow-graph.schema.json", versioned_graph()),
        ("workflow.schema.json", versioned_workflow()),
        ("step.schema.json", versioned_step()),
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

/// Generates the schema of manifests, which have configuration from 1.3 on.
fn versioned_manifest() -> Json {
    let mut schema = package_document::<Manifest>("bmad.json: the manifest of a .bmad package");
    let keys = ["config", "configFrom", "artifactRoots", "aliases", "provenance"];
    schema["allOf"] = json!([{ "if": BEFORE_1_3.stated(), "then": forbidden(&keys) }]);
    schema
}

/// Generates the schema of agents, which have some keys from 1.3 on.
fn versioned_agents() -> Json {
    let mut schema = package_document::<Agents>("agents.json: the agents of a .bmad package");
    let items = schema.pointer_mut("/$defs/MenuItem/properties");
    let item = later(items, &["yolo", "source"]);
    let metadata = forbidden(&["capabilities"]);
    let in_agents =
        |inner: Json| json!({ "properties": { "agents": { "items": { "properties": inner } } } });
    schema["allOf"] = json!([
        { "if": BEFORE_1_3.stated(), "then": in_agents(json!({ "metadata": metadata })) },
        { "if": SINCE_1_3.stated(), "then": in_agents(json!({ "menu": { "items": item } })) }
    ]);
    schema
}

/// Generates the schema of graphs, which have sub-workflows from 1.2 on and gates from 1.3 on.
fn versioned_graph() -> Json {
    let mut schema = package_document::<Graph>("workflow.graph.json: the graph of a workflow");
    let called = forbidden(&["subworkflowRef", "passContext", "resultVariables"]);
    let gated = forbidden(&["gate", "waitsForUser", "auto", "calls", "maxVisits"]);
    schema["allOf"] = json!([
        {
            "if": BEFORE_1_2.stated(),
            "then": { "properties": { "nodes": { "items": called } } }
        },
        {
            "if": BEFORE_1_3.stated(),
            "then": {
                "properties": { "nodes": { "items": gated }, "edges": { "items": forbidden(&["gate"]) } }
            }
        }
    ]);
    schema["$defs"]["GateOption"]["if"] = json!({ "properties": { "does": { "const": "call" } } });
    schema["$defs"]["GateOption"]["then"] = json!({ "required": ["call"] });
    schema["$defs"]["GateOption"]["else"] = forbidden(&["call"]);
    schema
}

/// Generates the schema of workflow documents, some of whose keys have an effect from 1.3 on.
fn versioned_workflow() -> Json {
    let title = "workflow.md: the frontmatter of a workflow document";
    let mut schema = frontmatter::<WorkflowFront>(title);
    let keys = later(schema.pointer_mut("/properties"), &["brief", "mirror", "bindings"]);
    schema["allOf"] = json!([{ "if": SINCE_1_3.stated(), "then": keys }]);
    schema
}

/// Generates the schema of steps, some of whose keys have an effect from 1.3 on.
fn versioned_step() -> Json {
    let mut schema = frontmatter::<StepFront>("steps/*.md: the frontmatter of a step");
    let keys = later(schema.pointer_mut("/properties"), &["bindings", "needs", "resumeOnly"]);
    schema["allOf"] = json!([{ "if": SINCE_1_3.stated(), "then": keys }]);
    schema
}

/// Versions of a document, as a pattern of `schemaVersion`.
struct Versions(&'static str);

const BEFORE_1_2: Versions = Versions(r"^1\.1");
const BEFORE_1_3: Versions = Versions(r"^1\.[12]");
const SINCE_1_3: Versions = Versions(r"^1\.3");

impl Versions {
    /// Returns the schema of documents that state one of these versions.
    fn stated(&self) -> Json {
        json!({ "properties": { "schemaVersion": { "pattern": self.0 } } })
    }
}

/// Returns the schema of objects without these keys.
fn forbidden(keys: &[&str]) -> Json {
    let keys: Map<String, Json> =
        keys.iter().map(|key| ((*key).to_owned(), json!(false))).collect();
    json!({ "properties": keys })
}

/// Moves keys of an open object out of its properties into the schema of a later version: before it, they may have any
/// value.
fn later(properties: Option<&mut Json>, keys: &[&str]) -> Json {
    let mut moved = Map::new();
    if let Some(Json::Object(properties)) = properties {
        for key in keys {
            moved.extend(properties.shift_remove(*key).map(|schema| ((*key).to_owned(), schema)));
        }
    }
    json!({ "properties": moved })
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
