//! The OpenAPI document, made from the endpoints themselves. `cargo xtask accept types` accepts other shapes.

use schemars::generate::SchemaSettings;
use serde_json::{Map, Value as Json, json};

use crate::endpoint::{ApiEndpoint, BodyContent};
use crate::wire::Fault;

/// Builds the document of the whole API.
pub(crate) fn document(endpoints: &[ApiEndpoint]) -> Json {
    let settings = SchemaSettings::draft2020_12()
        .with(|settings| settings.definitions_path = "/components/schemas".into());
    let mut generator = settings.into_generator();
    let fault = generator.subschema_for::<Fault>();
    let mut paths = Map::new();
    for endpoint in endpoints {
        let mut operation = Map::new();
        operation.insert("operationId".into(), operation_id(endpoint).into());
        operation.insert("summary".into(), endpoint.summary.into());
        let mut parameters: Vec<Json> = in_path(endpoint.path)
            .map(|name| {
                // The only number in a path.
                let kind = if name == "turn" { "integer" } else { "string" };
                json!({ "name": name, "in": "path", "required": true, "schema": { "type": kind } })
            })
            .collect();
        if let Some(query) = endpoint.query {
            // A schema of its own: its properties are the parameters.
            let schema = query(
                &mut SchemaSettings::draft2020_12()
                    .with(|settings| settings.inline_subschemas = true)
                    .into_generator(),
            );
            parameters.extend(in_query(schema.as_value()));
        }
        if !parameters.is_empty() {
            operation.insert("parameters".into(), parameters.into());
        }
        if let Some(content) = content(endpoint.body, &mut generator) {
            operation.insert("requestBody".into(), json!({ "required": true, "content": content }));
        }
        let mut good = json!({ "description": "Done." });
        if let Some(content) = content(endpoint.answer, &mut generator) {
            good["content"] = content;
        }
        let bad = json!({
            "description": "Not granted: the code says why.",
            "content": { "application/json": { "schema": fault } },
        });
        operation.insert("responses".into(), json!({ "200": good, "default": bad }));
        let methods = paths.entry(endpoint.path.to_owned()).or_insert_with(|| json!({}));
        methods[endpoint.method.as_str().to_lowercase()] = operation.into();
    }
    let schemas = generator.take_definitions(true);
    json!({
        "openapi": "3.1.0",
        "info": {
            "title": "CrewAgent",
            "version": env!("CARGO_PKG_VERSION"),
            "description": "The local API of CrewAgent. Every request needs the cookie that a link from `crewagent ui` is exchanged for.",
        },
        "paths": paths,
        "components": { "schemas": schemas },
    })
}

fn content(content: BodyContent, generator: &mut schemars::SchemaGenerator) -> Option<Json> {
    match content {
        BodyContent::Nothing => None,
        BodyContent::Json(schema) => {
            Some(json!({ "application/json": { "schema": schema(generator) } }))
        }
        BodyContent::Bytes(kind) => Some(json!({ kind: {} })),
    }
}

/// Returns the names between braces.
fn in_path(path: &str) -> impl Iterator<Item = &str> {
    path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'))
}

fn in_query(schema: &Json) -> Vec<Json> {
    let required = |name: &str| {
        schema["required"].as_array().is_some_and(|names| names.iter().any(|one| one == name))
    };
    let Some(properties) = schema["properties"].as_object() else { return Vec::new() };
    let parameter = |(name, schema): (&String, &Json)| json!({ "name": name, "in": "query", "required": required(name), "schema": schema });
    properties.iter().map(parameter).collect()
}

/// Returns an id such as `postRunsIdSay`.
fn operation_id(endpoint: &ApiEndpoint) -> String {
    let mut id = endpoint.method.as_str().to_lowercase();
    for part in endpoint.path.trim_start_matches("/api/").split(['/', '-', '.']) {
        let part = part.trim_matches(['{', '}']);
        let mut letters = part.chars();
        id.extend(letters.next().into_iter().flat_map(char::to_uppercase));
        id.push_str(letters.as_str());
    }
    id
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use crewagent_testkit::shape::{check_kept, digest};

    #[test]
    fn every_request_keeps_its_shape() {
        let document = super::document(&crate::api::endpoints());
        let mut lines = Vec::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for (method, operation) in methods.as_object().unwrap() {
                lines.push(format!("{} {method} {path}", digest(operation, &document)));
            }
        }
        let accept = crewagent_testkit::accept::is_accepting("types");
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/openapi/shapes.txt");
        check_kept(&file, &lines, accept);
    }
}
