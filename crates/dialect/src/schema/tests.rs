//! Tests with foreign schemas and with our own.

use crewagent_core::call::schema::tools;
use crewagent_core::policy::Policy;
use proptest::prelude::*;
use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use serde_json::json;

use super::*;

const PLAIN: SchemaForm = SchemaForm::Plain;
const NARROW: SchemaForm = SchemaForm::Narrow;

/// Checks the form of a field `x` with this schema.
fn check_field(form: SchemaForm, schema: Json, expected: Json) {
    let written = sanitise(&json!({ "type": "object", "properties": { "x": schema } }), form);
    assert_eq!(written["properties"]["x"], expected, "{form:?} {schema}");
}

fn check_both(schema: Json, expected: Json) {
    check_field(PLAIN, schema.clone(), expected.clone());
    check_field(NARROW, schema, expected);
}

#[test]
fn the_schemas_of_our_tools_stay_as_they_are() {
    for tool in tools(&Policy::default()) {
        let plain = sanitise(&tool.parameters, PLAIN);
        assert_eq!(plain.to_string(), tool.parameters.to_string());
        let closed = r#","additionalProperties":false"#;
        let open = tool.parameters.to_string().replace(closed, "");
        assert_eq!(sanitise(&tool.parameters, NARROW).to_string(), open);
    }
}

#[test]
fn a_schema_that_says_nothing_is_an_object() {
    let nothing = json!({ "type": "object", "properties": {}, "required": [] });
    for schema in [
        json!({}),
        json!(true),
        json!(false),
        json!(null),
        json!("x"),
        json!([]),
        json!({ "type": "string" }),
    ] {
        assert_eq!(sanitise(&schema, PLAIN), nothing, "{schema}");
        assert_eq!(sanitise(&schema, NARROW), nothing, "{schema}");
    }
}

#[test]
fn null_is_no_type_and_no_value() {
    check_both(json!({ "type": ["integer", "null"] }), json!({ "type": "integer" }));
    check_both(
        json!({ "type": ["string", "null"], "enum": ["a", null] }),
        json!({ "type": "string", "enum": ["a"] }),
    );
    check_both(
        json!({ "description": "d", "anyOf": [{ "type": "integer", "minimum": 1 }, { "type": "null" }] }),
        json!({ "type": "integer", "description": "d", "minimum": 1 }),
    );
    check_both(json!({ "type": "boolean", "nullable": true }), json!({ "type": "boolean" }));
    check_field(PLAIN, json!({ "type": "null" }), json!({}));
}

#[test]
fn several_types_are_one_where_only_one_is_taken() {
    let schema = json!({ "type": ["string", "integer", "null"] });
    check_field(PLAIN, schema.clone(), json!({ "type": ["string", "integer"] }));
    check_field(NARROW, schema, json!({ "type": "string" }));
}

#[test]
fn values_that_are_no_words_are_described() {
    let schema = json!({ "type": "integer", "enum": [1, 2], "description": "How many." });
    check_field(PLAIN, schema.clone(), schema.clone());
    check_field(
        NARROW,
        schema,
        json!({ "type": "integer", "description": "How many. One of: 1, 2." }),
    );
    check_field(
        NARROW,
        json!({ "const": true }),
        json!({ "type": "boolean", "description": "One of: true." }),
    );
    check_both(json!({ "const": "a" }), json!({ "type": "string", "enum": ["a"] }));
    check_both(json!({ "type": "string", "enum": [1, {}] }), json!({ "type": "string" }));
}

#[test]
fn alternatives_of_words_are_one_list() {
    check_both(
        json!({ "oneOf": [{ "const": "a", "title": "A" }, { "enum": ["b", "a"], "type": "string" }] }),
        json!({ "type": "string", "enum": ["a", "b"] }),
    );
}

#[test]
fn other_alternatives_stay_or_the_first_one_does() {
    let schema =
        json!({ "description": "d", "oneOf": [{ "type": "string" }, { "type": "array" }, true] });
    check_field(
        PLAIN,
        schema.clone(),
        json!({ "description": "d", "anyOf": [{ "type": "string" }, { "type": "array", "items": {} }] }),
    );
    check_field(NARROW, schema, json!({ "type": "string", "description": "d" }));
}

#[test]
fn alternatives_of_an_object_are_its_fields() {
    let schema = json!({
        "type": "object",
        "properties": { "a": { "type": "string" } },
        "anyOf": [
            { "properties": { "b": { "type": "string" } }, "required": ["a", "b"] },
            { "properties": { "c": { "type": "string" } }, "required": ["a", "c"] },
        ],
    });
    let expected = json!({
        "type": "object",
        "properties": { "a": { "type": "string" }, "b": { "type": "string" }, "c": { "type": "string" } },
        "required": ["a"],
    });
    assert_eq!(sanitise(&schema, PLAIN), expected);
    assert_eq!(sanitise(&schema, NARROW), expected);
    check_both(schema, expected);
}

#[test]
fn required_fields_are_known_fields() {
    let schema =
        json!({ "type": "object", "properties": { "a": {} }, "required": ["a", "b", "a", 1] });
    assert_eq!(sanitise(&schema, PLAIN)["required"], json!(["a"]));
    check_both(
        json!({ "type": "object" }),
        json!({ "type": "object", "properties": {}, "required": [] }),
    );
    check_both(
        json!({ "type": "string", "properties": { "a": {} }, "required": ["a"] }),
        json!({ "type": "string" }),
    );
}

#[test]
fn true_is_anything_and_false_is_no_field() {
    check_field(PLAIN, json!(true), json!({}));
    check_field(NARROW, json!(true), json!({ "type": "string" }));
    let schema =
        json!({ "properties": { "a": false, "b": { "type": "string" } }, "required": ["a", "b"] });
    let expected =
        json!({ "type": "object", "properties": { "b": { "type": "string" } }, "required": ["b"] });
    assert_eq!(sanitise(&schema, PLAIN), expected);
    check_field(
        PLAIN,
        json!({ "type": "array", "items": true }),
        json!({ "type": "array", "items": {} }),
    );
}

#[test]
fn tuples_have_one_schema_for_all_items() {
    for key in ["items", "prefixItems"] {
        let same = json!({ "type": "array", key: [{ "type": "number" }, { "type": "number" }] });
        check_both(same, json!({ "type": "array", "items": { "type": "number" } }));
        let mixed = json!({ "type": "array", key: [{ "type": "number" }, { "type": "string" }] });
        let both = json!({ "anyOf": [{ "type": "number" }, { "type": "string" }] });
        check_field(PLAIN, mixed.clone(), json!({ "type": "array", "items": both }));
        check_field(NARROW, mixed, json!({ "type": "array", "items": { "type": "number" } }));
    }
    check_field(
        NARROW,
        json!({ "type": "array" }),
        json!({ "type": "array", "items": { "type": "string" } }),
    );
}

#[test]
fn references_are_put_in_place() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "properties": {
            "a": { "$ref": "#/$defs/Color", "description": "ours" },
            "b": { "$ref": "#/definitions/a%20b~1c" },
            "c": { "$ref": "https://example.com/x" },
            "d": { "allOf": [{ "$ref": "#/$defs/Point" }, { "properties": { "y": { "type": "number" } }, "required": ["y"] }] },
        },
        "$defs": {
            "Color": { "type": "string", "description": "theirs", "enum": ["red"] },
            "Point": { "type": "object", "properties": { "x": { "type": "number" } }, "required": ["x"] },
        },
        "definitions": { "a b/c": { "type": "integer" } },
    });
    let written = sanitise(&schema, PLAIN);
    assert_eq!(
        written["properties"],
        json!({
            "a": { "type": "string", "description": "ours", "enum": ["red"] },
            "b": { "type": "integer" },
            "c": {},
            "d": { "type": "object",
                "properties": { "x": { "type": "number" }, "y": { "type": "number" } }, "required": ["x", "y"] },
        })
    );
    assert!(!written.to_string().contains('$'), "{written}");
}

#[test]
fn a_schema_that_refers_to_itself_ends() {
    let schema = json!({
        "$ref": "#/$defs/Node",
        "$defs": { "Node": { "type": "object", "properties": {
            "next": { "$ref": "#/$defs/Node" }, "all": { "type": "array", "items": { "$ref": "#/$defs/Node" } } } } },
    });
    let end = json!({ "type": "object", "properties": {}, "required": [] });
    let expected = json!({ "type": "object", "required": [], "properties": {
        "next": end, "all": { "type": "array", "items": end } } });
    assert_eq!(sanitise(&schema, NARROW), expected);
    assert_eq!(sanitise(&json!({ "$ref": "#" }), PLAIN), end);
    check_both(
        json!({ "$ref": "#" }),
        json!({ "type": "object", "required": [], "properties": { "x": end } }),
    );
}

#[test]
fn what_is_not_surely_understood_goes() {
    let schema = json!({
        "type": "string", "description": "d", "title": "t", "format": "uri", "pattern": "^a$", "minLength": 1,
        "default": "a", "examples": ["a"], "x-order": 1, "deprecated": true, "minimum": 1, "uniqueItems": true,
        "if": {}, "not": false, "exclusiveMinimum": true,
    });
    let plain = json!({
        "type": "string", "description": "d", "title": "t", "format": "uri", "pattern": "^a$", "minLength": 1,
        "default": "a",
    });
    check_field(PLAIN, schema.clone(), plain);
    check_field(NARROW, schema, json!({ "type": "string", "description": "d" }));
    let open = json!({ "type": "object", "properties": {}, "required": [], "additionalProperties": { "type": ["string", "null"] } });
    let mut closed = open.clone();
    closed["additionalProperties"] = json!({ "type": "string" });
    check_field(PLAIN, open.clone(), closed);
    check_field(NARROW, open, json!({ "type": "object", "properties": {}, "required": [] }));
}

#[test]
fn hostile_schemas_are_cut() {
    let mut deep = json!({});
    for _ in 0..100 {
        deep = json!({ "properties": { "a": deep } });
    }
    assert!(sanitise(&deep, PLAIN).to_string().len() < 4_000);
    let mut nested = json!({ "type": "string" });
    for _ in 0..100 {
        nested = json!({ "allOf": [nested], "anyOf": [{ "$ref": "#" }, true] });
    }
    check_valid(&sanitise(&nested, PLAIN), PLAIN);

    // Each definition holds the next one twice: a billion schemas in a few lines.
    let mut defs = Map::new();
    for number in 0..30 {
        let next = json!({ "$ref": format!("#/$defs/d{}", number + 1) });
        defs.insert(
            format!("d{number}"),
            json!({ "properties": { "a": next, "b": next }, "description": "x".repeat(500) }),
        );
    }
    let bomb = json!({ "$ref": "#/$defs/d0", "$defs": defs });
    assert!(sanitise(&bomb, PLAIN).to_string().len() < 4 * LARGEST);

    let words: Vec<String> = (0..100_000).map(|number| format!("w{number}")).collect();
    let long = json!({ "required": words, "properties": {
        "a": { "enum": words }, "b": { "type": words }, "c": { "description": "é".repeat(1_000_000) } } });
    let written = sanitise(&long, NARROW);
    assert!(written.to_string().len() < 10_000);
    check_valid(&written, NARROW);
}

/// Checks that a schema keeps to its form.
fn check_valid(schema: &Json, form: SchemaForm) {
    assert!(jsonschema::meta::is_valid(schema), "{schema}");
    assert_eq!(schema["type"], "object");
    check_node(schema, form);
}

fn check_node(schema: &Json, form: SchemaForm) {
    let keys = schema.as_object().expect("no schema is a boolean");
    let kind = keys.get("type");
    if form == NARROW {
        assert!(kind.is_some_and(Json::is_string), "{schema}");
        for key in ["anyOf", "additionalProperties", "title", "default"] {
            assert!(!keys.contains_key(key), "{schema}");
        }
        if let Some(values) = keys.get("enum") {
            assert!(values.as_array().unwrap().iter().all(Json::is_string), "{schema}");
        }
    }
    for key in keys.keys() {
        assert!(keyword::is_known(key) || key == "anyOf", "{key} in {schema}");
        assert!(key != "const" && key != "prefixItems", "{schema}");
    }
    let is = |name: &str| kind.and_then(Json::as_str) == Some(name);
    let properties = keys.get("properties").and_then(Json::as_object);
    let required = keys.get("required").and_then(Json::as_array);
    assert!(!is("object") || (properties.is_some() && required.is_some()), "{schema}");
    assert!(!is("array") || keys["items"].is_object(), "{schema}");
    assert!(is("object") || kind.is_some_and(Json::is_array) || properties.is_none(), "{schema}");
    for name in required.into_iter().flatten() {
        assert!(properties.unwrap().contains_key(name.as_str().unwrap()), "{schema}");
    }
    let variants = keys.get("anyOf").and_then(Json::as_array);
    let children =
        properties.into_iter().flat_map(Map::values).chain(variants.into_iter().flatten());
    for child in children.chain(keys.get("items")) {
        check_node(child, form);
    }
    if let Some(child) = keys.get("additionalProperties").filter(|child| !child.is_boolean()) {
        check_node(child, form);
    }
}

/// Generates JSON that resembles a schema.
fn any_schema() -> impl Strategy<Value = Json> {
    let text = prop::sample::select(vec![
        "a",
        "b",
        "object",
        "string",
        "integer",
        "array",
        "null",
        "#",
        "#/properties/a",
        "#/anyOf/0",
    ]);
    let leaf = prop_oneof![
        Just(json!(null)),
        any::<bool>().prop_map(Json::from),
        (-2i64..5).prop_map(Json::from),
        Just(json!(1.5)),
        text.clone().prop_map(Json::from),
    ];
    let key = prop::sample::select(vec![
        "type",
        "type",
        "enum",
        "const",
        "properties",
        "properties",
        "required",
        "items",
        "prefixItems",
        "anyOf",
        "oneOf",
        "allOf",
        "$ref",
        "additionalProperties",
        "description",
        "minimum",
        "minItems",
        "default",
        "multipleOf",
        "a",
        "b",
    ]);
    let object = move |inner: BoxedStrategy<Json>| {
        prop::collection::vec((key.clone(), inner), 1..7).prop_map(|pairs| {
            Json::Object(pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
        })
    };
    let within = object.clone();
    let inner = leaf.prop_recursive(6, 60, 6, move |inner| {
        prop_oneof![1 => prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from), 3 => within(inner)]
    });
    object(inner.boxed())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1_000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn anything_becomes_a_schema_that_stays_as_it_is(schema in any_schema()) {
        for form in [PLAIN, NARROW] {
            let once = sanitise(&schema, form);
            check_valid(&once, form);
            prop_assert_eq!(sanitise(&once, form).to_string(), once.to_string());
        }
    }
}
