//! Estimates the effort of checking arguments before they are checked. A schema of a few lines, whose references double
//! again and again, would keep the check busy for years, and nothing can interrupt it.

use serde_json::Value as Json;

/// Maximum steps of a check: schemas met, at every value that they apply to.
const STEPS: usize = 100_000;
/// Maximum nesting of schemas and references.
const DEPTH: usize = 128;
/// Steps that comparing a text with a pattern counts for.
const PATTERN: usize = 100;

/// Returns true if arguments can be checked with few steps, as far as can be told. Where schemas have names of their own
/// it cannot, and neither where a schema counts what others left over.
pub(super) fn is_bounded(schema: &Json, arguments: &Json) -> bool {
    !has_keyword(schema, "unevaluated")
        && Walk { root: schema, left: STEPS }.visit(schema, arguments, 0).is_some()
}

/// Returns true if a key anywhere begins like this.
fn has_keyword(schema: &Json, start: &str) -> bool {
    match schema {
        Json::Object(fields) => {
            fields.iter().any(|(key, inner)| key.starts_with(start) || has_keyword(inner, start))
        }
        Json::Array(items) => items.iter().any(|item| has_keyword(item, start)),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => false,
    }
}

/// Walk over the schemas that apply to the arguments. `None` ends it: there is too much, or it cannot be told.
struct Walk<'s> {
    root: &'s Json,
    left: usize,
}

impl<'s> Walk<'s> {
    fn visit(&mut self, schema: &'s Json, value: &Json, depth: usize) -> Option<()> {
        self.spend(1 + value.as_str().map_or(0, |text| text.len() >> 12))?;
        let Json::Object(keywords) = schema else { return Some(()) };
        let is_renamed = ["$id", "id"].iter().any(|key| schema[*key].is_string());
        if depth > DEPTH || (is_renamed && !std::ptr::eq(schema, self.root)) {
            return None;
        }
        for (keyword, inner) in keywords {
            match keyword.as_str() {
                "$ref" | "$dynamicRef" | "$recursiveRef" => {
                    self.visit(self.target(inner)?, value, depth + 1)?;
                }
                "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" => {
                    self.visit_each(inner, value, depth)?;
                }
                "dependentSchemas" | "dependencies" => {
                    for inner in inner.as_object().into_iter().flat_map(|it| it.values()) {
                        self.visit(inner, value, depth + 1)?;
                    }
                }
                "properties" => {
                    for (name, inner) in inner.as_object().into_iter().flatten() {
                        if let Some(value) = value.get(name) {
                            self.visit(inner, value, depth + 1)?;
                        }
                    }
                }
                "patternProperties" => {
                    for inner in inner.as_object().into_iter().flat_map(|it| it.values()) {
                        self.spend(PATTERN * value.as_object().map_or(0, |fields| fields.len()))?;
                        self.visit_parts(inner, value, depth)?;
                    }
                }
                "pattern" => self.spend(PATTERN)?,
                "additionalProperties"
                | "items"
                | "additionalItems"
                | "prefixItems"
                | "contains"
                | "propertyNames" => self.visit_parts(inner, value, depth)?,
                "enum" | "required" => self.spend(inner.as_array().map_or(0, Vec::len))?,
                _ => {}
            }
        }
        Some(())
    }

    /// Visits a schema, or each in a list, at a value.
    fn visit_each(&mut self, schemas: &'s Json, value: &Json, depth: usize) -> Option<()> {
        match schemas.as_array() {
            Some(schemas) => {
                schemas.iter().try_for_each(|schema| self.visit(schema, value, depth + 1))
            }
            None => self.visit(schemas, value, depth + 1),
        }
    }

    /// Visits a schema, or each in a list, at every part of a value.
    fn visit_parts(&mut self, schemas: &'s Json, value: &Json, depth: usize) -> Option<()> {
        match value {
            Json::Array(items) => {
                items.iter().try_for_each(|item| self.visit_each(schemas, item, depth))
            }
            Json::Object(fields) => {
                fields.values().try_for_each(|field| self.visit_each(schemas, field, depth))
            }
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Some(()),
        }
    }

    fn spend(&mut self, steps: usize) -> Option<()> {
        self.left = self.left.checked_sub(steps)?;
        Some(())
    }

    /// Returns the schema that a reference within the document names by its place.
    fn target(&self, reference: &Json) -> Option<&'s Json> {
        let place = reference.as_str()?.strip_prefix('#')?;
        self.root.pointer(&place.replace("%24", "$").replace("%7B", "{").replace("%7D", "}"))
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Map, json};

    use super::*;

    fn check_bounded(schema: &Json, arguments: &Json, expected: bool) {
        assert_eq!(is_bounded(schema, arguments), expected, "{schema}");
    }

    /// Makes definitions each of which refers twice to the next one.
    fn doubling(times: usize) -> Map<String, Json> {
        let twice = |at: usize| {
            let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
            (format!("d{at}"), json!({ "allOf": [next, next] }))
        };
        let last = (format!("d{times}"), json!({ "type": "object" }));
        (0..times).map(twice).chain([last]).collect()
    }

    #[test]
    fn references_that_double_are_counted_where_they_apply() {
        let schema = |times: usize| json!({ "$ref": "#/$defs/d0", "$defs": doubling(times) });
        check_bounded(&schema(10), &json!({}), true);
        check_bounded(&schema(40), &json!({}), false);
        let inner =
            json!({ "properties": { "a": { "$ref": "#/$defs/d0" } }, "$defs": doubling(40) });
        check_bounded(&inner, &json!({ "a": 1 }), false);
        check_bounded(&inner, &json!({ "b": 1 }), true);
        let parts = json!({ "items": { "$ref": "#/$defs/d0" }, "$defs": doubling(14) });
        check_bounded(&parts, &json!([1]), true);
        check_bounded(&parts, &json!([1, 2, 3, 4, 5, 6, 7]), false);
    }

    #[test]
    fn a_schema_that_refers_to_itself_is_bounded_by_the_arguments() {
        let tree = json!({ "properties": { "left": { "$ref": "#" }, "right": { "$ref": "#" } } });
        check_bounded(&tree, &json!({ "left": { "left": {} }, "right": {} }), true);
        check_bounded(&json!({ "allOf": [{ "$ref": "#" }] }), &json!({}), false);
        let twice = json!({ "allOf": [{ "$ref": "#" }, { "$ref": "#" }] });
        let nested = json!({ "properties": { "a": twice } });
        let deep = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({ "a": inner }));
        check_bounded(&nested, &deep(8), true);
        check_bounded(&nested, &deep(40), false);
    }

    #[test]
    fn what_cannot_be_told_is_not_bounded() {
        check_bounded(&json!({ "$ref": "https://example.com/schema.json" }), &json!({}), false);
        check_bounded(&json!({ "$ref": "#/$defs/missing" }), &json!({}), false);
        check_bounded(&json!({ "allOf": [{ "$id": "https://example.com/a" }] }), &json!({}), false);
        check_bounded(&json!({ "unevaluatedProperties": false }), &json!({}), false);
        check_bounded(
            &json!({ "$id": "https://example.com/a", "type": "object" }),
            &json!({}),
            true,
        );
    }
}
