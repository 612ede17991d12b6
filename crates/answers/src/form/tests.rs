//! Tests of forms as models write them, with answers as users write them.

use serde_json::json;

use super::*;

/// Returns a form with one field of each kind.
fn order() -> Form {
    Form::read(&json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "An order",
        "type": "object",
        "properties": {
            "name": {"type": "string", "title": "Your name", "minLength": 2, "maxLength": 5},
            "age": {"type": "integer", "minimum": 18, "exclusiveMaximum": 100},
            "weight": {"type": "number", "exclusiveMinimum": 0},
            "zip": {"type": "string", "pattern": "^\\d{5}$"},
            "gift": {"type": "boolean", "default": false},
            "size": {"enum": ["small", "large", 3], "default": "small"},
            "extras": {"type": "array", "items": {"type": "string", "enum": ["tea", "cake", "a, b"]}, "maxItems": 2},
            "note": {"type": ["string", "null"], "format": "markdown"}
        },
        "required": ["name", "age", "note"],
        "additionalProperties": false
    }))
    .unwrap()
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(order().answer(text).map(|value| value.to_string()), Ok(expected.to_owned()));
}

#[track_caller]
fn check_wrong(text: &str, says: &[&str]) {
    let error = order().answer(text).unwrap_err();
    for part in says {
        assert!(error.contains(part), "{part}\nis not in\n{error}");
    }
}

#[track_caller]
fn check_schema(field: Json, says: &str) {
    let schema = json!({"type": "object", "properties": {"f": field}});
    let mistakes = Form::read(&schema).unwrap_err().join("; ");
    assert!(mistakes.contains(says), "{says}\nis not in\n{mistakes}");
}

#[test]
fn an_answer_is_typed_and_stands_in_the_order_of_the_fields() {
    check(
        r#"{"zip": "12345", "extras": ["cake"], "gift": true, "age": 20, "name": "Ada", "weight": 1.5, "size": 3, "note": ""}"#,
        r#"{"name":"Ada","age":20,"weight":1.5,"zip":"12345","gift":true,"size":3,"extras":["cake"],"note":""}"#,
    );
    check(
        r#"{"name": "Ada", "age": "20", "gift": "是", "size": "LARGE", "extras": "cake, tea", "weight": null}"#,
        r#"{"name":"Ada","age":20,"gift":true,"size":"large","extras":["cake","tea"],"note":null}"#,
    );
    check(
        "Your Name: Ada\nage： 20.0\n\nweight: 3\nGIFT: no\nextras: a, b\nsize: large\n",
        r#"{"name":"Ada","age":20,"weight":3,"gift":false,"size":"large","extras":["a, b"],"note":null}"#,
    );
}

#[test]
fn every_mistake_is_told_at_once() {
    check_wrong(
        r#"{"name": "Bartholomew", "age": 12, "weight": 0, "zip": "٣٤٥٦٧", "gift": "maybe", "size": "huge", "extras": ["tea", "cake", "a, b"], "nmae": 1, "x": 1}"#,
        &[
            "There is no field \"nmae\"; did you mean `name`?",
            "There is no field \"x\"; the fields are `name`, `age`,",
            "`name` must have at most 5 characters; you wrote 11.",
            "`age` must be at least 18; you wrote 12.",
            "`weight` must be more than 0; you wrote 0.",
            "`zip` must match the pattern ^\\d{5}$; you wrote \"٣٤٥٦٧\".",
            "`gift` must be yes or no; you wrote \"maybe\".",
            "`size` must be one of: small, large, 3; you wrote \"huge\".",
            "`extras` must be at most 2 of: 1 tea, 2 cake, 3 a, b; you chose 3.",
        ],
    );
    check_wrong(
        r#"{"name": 5, "age": 20.5, "gift": 1, "extras": {}}"#,
        &[
            "`name` must be text, in quotes; you wrote 5.",
            "`age` must be a whole number; you wrote 20.5.",
            "`gift` must be yes or no; you wrote 1.",
            "`extras` must be at most 2 of: 1 tea, 2 cake, 3 a, b; you wrote {}.",
        ],
    );
    check_wrong(
        "{}",
        &["`name` is missing: it must be text of 2 to 5 characters.", "`age` is missing"],
    );
    check_wrong(r#"{"name": " ", "age": 100}"#, &["`name` is missing", "must be less than 100"]);
    check_wrong(
        "name: Ada\nname: Bob\nage 20",
        &["`name` is there twice.", "\"age 20\" does not say which field"],
    );
    check_wrong("{name: Ada}", &["not JSON", "Write a line for each field"]);
    check_wrong("age: nan", &["`age` must be a whole number; you wrote \"nan\"."]);
    let many: String = (0..40).map(|n| format!("field{n}: 1\n")).collect();
    check_wrong(&many, &["And 22 more."]);
}

#[test]
fn a_form_with_one_field_takes_its_value_alone() {
    let form =
        Form::read(&json!({"properties": {"n": {"type": "integer"}}, "required": ["n"]})).unwrap();
    for text in ["3", " 3 ", "3.0", r#"{"n": 3}"#, r#"{"n": "3"}"#] {
        assert_eq!(form.answer(text), Ok(json!({"n": 3})), "{text}");
    }
    let error = form.answer("three: 3").unwrap_err();
    assert_eq!(error, "`n` must be a whole number; you wrote \"three: 3\".");
    let words = Form::read(&json!({"properties": {"topic": {}}})).unwrap();
    assert_eq!(words.answer("topic: {x}"), Ok(json!({"topic": "topic: {x}"})));
    assert_eq!(words.answer("{x"), Ok(json!({"topic": "{x"})));
    assert_eq!(words.answer(" "), Ok(json!({})));
}

#[test]
fn a_number_is_a_place_only_in_words_and_where_no_number_is_offered() {
    let form = |field: Json| Form::read(&json!({"properties": {"n": field}})).unwrap();
    let list = |values: Json| json!({"type": "array", "items": {"enum": values}});
    let (numbers, words) = (json!([2, 4, 8]), json!(["tea", "cake", "milk"]));
    for (field, text, expected) in [
        (json!({"enum": numbers}), "4", Some(json!(4))),
        (json!({"enum": numbers}), r#"{"n": 4}"#, Some(json!(4))),
        (json!({"enum": numbers}), r#"{"n": 4.0}"#, Some(json!(4))),
        (json!({"enum": numbers}), r#"{"n": "4"}"#, Some(json!(4))),
        (json!({"enum": numbers}), "3", None),
        (json!({"enum": numbers}), r#"{"n": 3}"#, None),
        (json!({"enum": numbers}), r#"{"n": "3"}"#, None),
        (json!({"enum": ["2", "4", "8"]}), "3", None),
        (json!({"enum": ["auto", 2, 8]}), "1", None),
        (json!({"enum": words}), "3", Some(json!("milk"))),
        (json!({"enum": words}), r#""milk""#, Some(json!("milk"))),
        (json!({"enum": words}), r#"{"n": 3}"#, None),
        (json!({"enum": words}), r#"{"n": "3"}"#, None),
        (list(numbers.clone()), "8, 2", Some(json!([8, 2]))),
        (list(numbers.clone()), "[8, 2, 8]", Some(json!([8, 2]))),
        (list(numbers.clone()), "1, 2", None),
        (list(numbers.clone()), r#"{"n": [1, 2]}"#, None),
        (list(words.clone()), "3, 1", Some(json!(["milk", "tea"]))),
        (list(words.clone()), r#"["milk", "Tea"]"#, Some(json!(["milk", "tea"]))),
        (list(words.clone()), r#"{"n": "milk, tea"}"#, Some(json!(["milk", "tea"]))),
        (list(words.clone()), r#"{"n": [3]}"#, None),
        (list(words.clone()), r#"{"n": ["3"]}"#, None),
        (list(words.clone()), r#"{"n": "3, 1"}"#, None),
    ] {
        let answer = form(field.clone()).answer(text).ok().map(|answer| answer["n"].clone());
        assert_eq!(answer, expected, "{field} {text}");
    }
}

#[test]
fn what_is_outside_of_the_subset_is_refused_by_name() {
    check_schema(json!({"type": "object"}), "make each of its parts a field of its own");
    check_schema(json!({"type": "null"}), "but it is \"null\"");
    check_schema(
        json!({"type": ["string", "integer"]}),
        "`schema.properties.f.type` must be one type",
    );
    check_schema(json!("string"), "`schema.properties.f` must be an object, but it is a string");
    check_schema(
        json!({"type": "integer", "multipleOf": 2}),
        "has \"multipleOf\", which is not supported there; a field of type `integer` may have `default`, `exclusiveMaximum`",
    );
    check_schema(json!({"type": "integer", "pattern": "x"}), "has \"pattern\"");
    check_schema(json!({"type": "string", "enum": ["a"], "minLength": 3}), "has \"minLength\"");
    check_schema(json!({"type": "string", "pattern": "(?=a)"}), "without look-around");
    check_schema(json!({"type": "string", "pattern": "(a"}), "is not a regular expression");
    check_schema(
        json!({"type": "string", "pattern": "(a{1000}){1000}"}),
        "is not a regular expression",
    );
    check_schema(json!({"type": "string", "pattern": "a".repeat(1025)}), "at most 1024 bytes");
    check_schema(
        json!({"type": "string", "minLength": -1}),
        "`schema.properties.f.minLength` must be a whole number",
    );
    check_schema(json!({"type": "string", "minLength": 3, "maxLength": 2}), "no text fits");
    check_schema(json!({"type": "number", "minimum": 3, "exclusiveMaximum": 3}), "no number fits");
    check_schema(
        json!({"type": "integer", "minimum": 1.2, "maximum": 1.8}),
        "no whole number fits",
    );
    check_schema(
        json!({"type": "number", "exclusiveMinimum": true}),
        "must be a number, but it is",
    );
    check_schema(
        json!({"type": "integer", "enum": [1, 1.5]}),
        "has \"1.5\", which is not a integer",
    );
    check_schema(json!({"enum": []}), "must be a list of 1 to 100 values");
    check_schema(json!({"oneOf": []}), "f.oneOf` must be a list of 1 to 100 values");
    check_schema(json!({"oneOf": [{"type": "string"}]}), "must be a list of choices such as");
    check_schema(json!({"oneOf": [{"const": "a", "pattern": "x"}]}), "has \"pattern\"");
    check_schema(json!({"oneOf": [{"const": "a"}], "enum": ["a"]}), "has \"oneOf\"");
    check_schema(
        json!({"oneOf": [{"const": "a", "title": "Both"}, {"const": "b", "title": "Both"}]}),
        "has \"Both\" twice",
    );
    check_schema(json!({"enum": ["a", "b"], "enumNames": ["A"]}), "a name for each value");
    check_schema(json!({"enum": ["1", 1]}), "has \"1\" twice");
    check_schema(json!({"type": "array", "items": {"type": "string"}}), "must have an `enum`");
    check_schema(json!({"type": "array", "items": {"enum": ["a"]}, "minItems": 2}), "nothing fits");
    check_schema(
        json!({"type": "integer", "minimum": 3, "default": 2}),
        "`schema.properties.f.default` does not fit its own field: `f` must be at least 3; you wrote 2",
    );
    for (schema, says) in [
        (json!([]), "`schema` must be an object"),
        (json!({"type": "array"}), "`schema.type` must be `object`"),
        (json!({"properties": {}}), "`schema.properties` must name the fields"),
        (json!({"properties": {"a": {}}, "required": ["b"]}), "names \"b\", which is not in"),
        (json!({"properties": {"a": {}}, "required": "a"}), "must be a list of names"),
        (json!({"properties": {"a": {}}, "anyOf": []}), "has \"anyOf\""),
        (json!({"properties": {"": {}}}), "must be one line of 1 to 128 bytes"),
    ] {
        let mistakes = Form::read(&schema).unwrap_err().join("; ");
        assert!(mistakes.contains(says), "{mistakes}");
    }
    let many: serde_json::Map<String, Json> = (0..51).map(|n| (n.to_string(), json!({}))).collect();
    assert!(Form::read(&json!({"properties": many})).unwrap_err()[0].contains("more than 50"));
}

#[test]
fn what_fits_is_told_in_a_few_words() {
    let form = order();
    let describe: Vec<String> = form.fields().iter().map(Field::describe).collect();
    assert_eq!(
        describe,
        [
            "text of 2 to 5 characters",
            "a whole number of at least 18 and of less than 100",
            "a number of more than 0",
            "text that matches ^\\d{5}$",
            "yes or no",
            "one of: small, large, 3",
            "at most 2 of: 1 tea, 2 cake, 3 a, b",
            "text (markdown)",
        ]
    );
}

#[test]
fn a_form_is_recorded_as_its_schema() {
    let form = order();
    let text = serde_json::to_string(&form).unwrap();
    assert_eq!(text, form.schema().to_string());
    assert_eq!(serde_json::from_str::<Form>(&text).unwrap(), form);
    assert!(serde_json::from_str::<Form>(r#"{"type": "string"}"#).is_err());
}

#[test]
fn a_choice_with_titles_is_made_by_title_by_value_or_by_number() {
    let titled = json!([
        {"const": "new", "title": "A new one", "description": "From nothing"},
        {"const": 2, "title": "The second"}
    ]);
    let form = Form::read(&json!({"properties": {
        "one": {"oneOf": titled},
        "some": {"type": "array", "items": {"anyOf": titled}},
        "named": {"type": "string", "enum": ["x", "y"], "enumNames": ["An x", "A y"]}
    }}))
    .unwrap();
    for (text, answer) in [
        (
            r#"{"one": "A new one", "some": ["new", "the second"], "named": "a y"}"#,
            ["new", "2", "y"],
        ),
        ("one: new\nsome: The second, new\nnamed: 1", ["new", "new", "x"]),
    ] {
        let answer = answer.map(|value| value.to_owned());
        let got = form.answer(text).unwrap();
        let last = got["some"].as_array().unwrap().last().unwrap();
        let shown = |value: &Json| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        assert_eq!([&got["one"], last, &got["named"]].map(shown), answer);
    }
    assert!(form.fields()[0].describe().contains("A new one"), "{}", form.fields()[0].describe());
}
