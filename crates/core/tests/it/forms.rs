//! Forms with any input: the answer fits the schema that the model wrote, or the user gets an error message.

use crewagent_core::call::Call;
use crewagent_core::policy::Policy;
use crewagent_core::question::form::{Form, Unsaid};
use crewagent_testkit::fixture::cases;
use proptest::prelude::*;
use proptest::sample::select;
use serde_json::{Map, Value as Json, json};

fn text_field() -> impl Strategy<Value = Json> {
    let patterns = ["^\\d+$", "^[A-Z]{2,4}$", "a|b", "\\S", "^\\w+\\s?\\w*$", "[^x]$"];
    (0..3_u64, 3..6_u64, prop::option::of(select(patterns.to_vec()))).prop_map(
        |(least, most, pattern)| {
            let mut field = json!({"type": "string", "minLength": least, "maxLength": most});
            if let Some(pattern) = pattern {
                field["pattern"] = pattern.into();
            }
            field
        },
    )
}

fn number_field() -> impl Strategy<Value = Json> {
    let lower = select(&["minimum", "exclusiveMinimum"]);
    let upper = select(&["maximum", "exclusiveMaximum"]);
    (select(&["number", "integer"]), lower, -4..3_i32, upper, -1..5_i32)
        .prop_map(|(of, lower, least, upper, most)| json!({"type": of, lower: least, upper: most}))
}

fn choice_field() -> impl Strategy<Value = Json> {
    let values = vec![json!("a"), json!("B"), json!(1), json!(2.5), json!(true), json!("2")];
    let picked = prop::sample::subsequence(values, 1..=4);
    let shape = (any::<bool>(), any::<bool>());
    (picked, shape, 0..3_u64).prop_map(|(values, (is_list, is_titled), least)| {
        let title = |value: &Json| json!({"const": value, "title": format!("The {value}")});
        let choice = match is_titled {
            true => json!({"oneOf": values.iter().map(title).collect::<Vec<_>>()}),
            false => json!({"enum": values}),
        };
        match is_list {
            true => {
                json!({"type": "array", "items": choice, "minItems": least, "uniqueItems": true})
            }
            false => choice,
        }
    })
}

fn field() -> impl Strategy<Value = Json> {
    let others = vec![json!({"type": "boolean"}), json!({"type": ["string", "null"]}), json!({})];
    let kinds = prop_oneof![text_field(), number_field(), choice_field(), select(others)];
    (kinds, prop::option::weighted(0.2, value())).prop_map(|(mut field, default)| {
        if let Some(default) = default {
            field["default"] = default;
        }
        field
    })
}

fn value() -> impl Strategy<Value = Json> {
    let scalar = prop_oneof![
        (-6..6_i64).prop_map(Json::from),
        (-6.0..6.0_f64).prop_map(Json::from),
        select(vec![json!(null), json!(true), json!(1e300), json!(2.0), json!(u64::MAX)]),
        words().prop_map(Json::from),
    ];
    prop_oneof![4 => scalar.clone(), 1 => prop::collection::vec(scalar, 0..3).prop_map(Json::from)]
}

fn words() -> impl Strategy<Value = String> {
    let known = [
        "a", "b", "1", "2", "1,2", "yes", "否", "true", "AB", "2.5", "-3", "", " ", "x y", "12",
        "1e2", "inf",
    ];
    prop_oneof![3 => select(known.to_vec()).prop_map(str::to_owned), 1 => "[a-zA-Z0-9 .:{},一]{0,6}"]
}

fn schema() -> impl Strategy<Value = Json> {
    (prop::collection::vec(field(), 1..4), any::<u8>()).prop_map(|(fields, required)| {
        let names = ["f", "g", "h"];
        let required: Vec<&str> = (0..fields.len())
            .filter(|at| required & (1 << at) != 0)
            .map(|at| names[at])
            .collect();
        let named = names.iter().map(|name| (*name).to_owned()).zip(fields);
        let properties: Map<String, Json> = named.collect();
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    })
}

fn answer() -> impl Strategy<Value = String> {
    let name = || select(&["f", "g", "h", "F", "k"]);
    let object = prop::collection::vec((name(), value()), 0..4).prop_map(|pairs| {
        let pairs = pairs.into_iter().map(|(name, value)| (name.to_owned(), value));
        Json::Object(pairs.collect()).to_string()
    });
    let lines = prop::collection::vec((name(), words()), 0..4).prop_map(|pairs| {
        pairs.iter().map(|(name, words)| format!("{name}: {words}\n")).collect::<String>()
    });
    prop_oneof![3 => object, 3 => lines, 2 => words(), 1 => any::<String>()]
}

proptest! {
    #![proptest_config(cases(2_000))]

    #[test]
    fn an_answer_fits_the_schema_or_is_refused(schema in schema(), texts in prop::collection::vec(answer(), 1..6)) {
        let Ok(form) = Form::read(&schema) else { return Ok(()) };
        let validator = jsonschema::validator_for(&schema).unwrap();
        for text in texts {
            match form.answer(&text) {
                Ok(answer) => {
                    prop_assert!(validator.is_valid(&answer), "{text:?} became {answer}\n{schema}");
                    // An answer is read back as the same answer.
                    prop_assert_eq!(form.answer(&answer.to_string()), Ok(answer));
                }
                Err(why) => prop_assert!(why.ends_with(['.', '?']) && why.len() < 8_192, "{why}"),
            }
        }
        for field in form.fields() {
            if let (Unsaid::Is(value), Json::Object(mut schema)) = (&field.unsaid, schema["properties"][&field.name].clone()) {
                schema.remove("default");
                let is_null = value.is_null();
                prop_assert!(is_null || jsonschema::validator_for(&Json::Object(schema)).unwrap().is_valid(value));
            }
        }
    }

    #[test]
    fn no_schema_whatever_is_a_surprise(text in any::<String>(), field in value()) {
        for schema in [json!({"properties": {text.clone(): field.clone()}}), json!({"properties": field, "required": [text]})] {
            if let Ok(form) = Form::read(&schema) {
                prop_assert!(!form.fields().is_empty());
            }
        }
    }
}

#[test]
fn one_text_answers_a_form_of_plain_texts() {
    let ask = |arguments: Json| {
        let call = Call::parse("ui.ask_user", &arguments.to_string(), &Policy::default()).unwrap();
        match call {
            Call::AskUser(question) => question,
            other => panic!("{other:?}"),
        }
    };
    let fields = ask(json!({ "question": "Who reads it?", "fields": ["reader", "purpose"] }));
    assert!(fields.takes_own_words("The team, to plan the week."));
    assert!(!fields.takes_own_words(r#"{"reader": "#), "broken JSON is asked for again");
    assert!(!fields.takes_own_words(" "));
    let number = json!({ "properties": { "count": { "type": "integer" } } });
    let typed = ask(json!({ "question": "How many?", "schema": number }));
    assert!(!typed.takes_own_words("a few"), "the type matters");
}
