//! Shapes of JSON Schemas: two schemas have the same shape if they accept the same documents by the same keywords,
//! whatever their types are called and however they are described.

use crewagent_format::integrity::Digest;
use serde_json::{Map, Value as Json, json};

/// Returns a digest of the shape of a schema. References are looked up in `root`.
///
/// Descriptions, names of types, and the order of properties, required keys and alternatives do not count.
pub fn digest(schema: &Json, root: &Json) -> String {
    Digest::of(expand(schema, root, &mut Vec::new()).to_string().as_bytes()).short()
}

/// Replaces references by what they name; a reference inside itself becomes its distance to itself.
fn expand<'s>(schema: &'s Json, root: &'s Json, open: &mut Vec<&'s str>) -> Json {
    match schema {
        Json::Object(object) => {
            let mut shape = Map::new();
            for (key, value) in object {
                match key.as_str() {
                    "description" | "title" | "$defs" | "$schema" | "$ref" | "summary" => {}
                    // Names of properties, not keywords.
                    "properties" => {
                        let properties = value.as_object().into_iter().flatten();
                        let properties: Map<String, Json> = properties
                            .map(|(name, value)| (name.clone(), expand(value, root, open)))
                            .collect();
                        shape.insert(key.clone(), sorted(properties));
                    }
                    "required" | "oneOf" | "anyOf" | "allOf" | "enum" => {
                        let items = value.as_array().into_iter().flatten();
                        let mut items: Vec<Json> =
                            items.map(|item| expand(item, root, open)).collect();
                        items.sort_by_cached_key(Json::to_string);
                        shape.insert(key.clone(), items.into());
                    }
                    _ => {
                        shape.insert(key.clone(), expand(value, root, open));
                    }
                }
            }
            if let Some(name) = object.get("$ref").and_then(Json::as_str) {
                if let Some(above) = open.iter().rev().position(|known| *known == name) {
                    shape.insert("recursion".to_owned(), json!(above));
                } else if let Some(target) = name.strip_prefix('#').and_then(|at| root.pointer(at))
                {
                    open.push(name);
                    merge(&mut shape, expand(target, root, open));
                    open.pop();
                }
            }
            sorted(shape)
        }
        Json::Array(items) => items.iter().map(|item| expand(item, root, open)).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => schema.clone(),
    }
}

/// Adds the keywords of a referenced schema to those beside the reference.
fn merge(shape: &mut Map<String, Json>, target: Json) {
    let Json::Object(target) = target else { return };
    for (key, value) in target {
        match (shape.get_mut(&key), value) {
            (Some(Json::Object(there)), Json::Object(more)) => {
                there.extend(more);
                let merged = sorted(std::mem::take(there));
                shape.insert(key, merged);
            }
            (Some(Json::Array(there)), Json::Array(more)) => {
                there.extend(more);
                there.sort_by_cached_key(Json::to_string);
            }
            (Some(_), _) => {}
            (None, value) => {
                shape.insert(key, value);
            }
        }
    }
}

fn sorted(object: Map<String, Json>) -> Json {
    let mut members: Vec<(String, Json)> = object.into_iter().collect();
    members.sort_by(|a, b| a.0.cmp(&b.0));
    Json::Object(members.into_iter().collect())
}

/// Compares the lines of a kept file with those of today. `accept` writes them anew.
///
/// # Panics
/// If they differ.
pub fn check_kept(file: &std::path::Path, lines: &[String], accept: bool) {
    let text = lines.join("\n") + "\n";
    if accept {
        let written = std::fs::write(file, &text);
        assert!(written.is_ok(), "{} cannot be written: {written:?}", file.display());
    }
    let kept = std::fs::read_to_string(file).unwrap_or_default();
    let gone: Vec<&str> =
        kept.lines().filter(|line| !text.lines().any(|new| new == *line)).collect();
    assert!(kept == text, "these shapes changed: {gone:#?}; they are kept in {}", file.display());
}
