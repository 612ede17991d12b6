//! Property tests of rendered answers: any text has a form, of bounded size, and nothing is made up.

use proptest::prelude::*;
use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use serde_json::{Map, Value as Json, json};

use super::render;
use crate::tool::Tool;

fn value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        prop_oneof![Just(0_u64), Just(1), Just(7), Just(u64::MAX)].prop_map(Json::from),
        "[a-c\\\\\"|\n中…]{0,8}".prop_map(Json::from),
    ];
    leaf.prop_recursive(3, 24, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::from),
            fields(inner).prop_map(Json::Object),
        ]
    })
}

/// Generates objects with the keys that answers have.
fn fields(value: impl Strategy<Value = Json>) -> impl Strategy<Value = Map<String, Json>> {
    let keys = vec![
        "ok",
        "path",
        "bytes",
        "content",
        "contentPreview",
        "startLine",
        "totalLines",
        "entries",
        "matches",
        "line",
        "text",
        "before",
        "after",
        "files",
        "changed",
        "lines",
        "moreLines",
        "holes",
        "movedFrom",
        "deleted",
        "state",
        "answer",
        "words",
        "note",
        "error",
        "code",
        "message",
        "details",
        "nearest",
        "truncated",
        "head",
        "hint",
    ];
    prop::collection::vec((prop::sample::select(keys), value), 0..8)
        .prop_map(|pairs| pairs.into_iter().map(|(key, value)| (key.to_owned(), value)).collect())
}

fn answer() -> impl Strategy<Value = Json> {
    (fields(value()), prop_oneof![3 => Just(Some(true)), 1 => Just(Some(false)), 1 => Just(None)])
        .prop_map(|(mut fields, ok)| {
            if let Some(ok) = ok {
                fields.insert("ok".to_owned(), ok.into());
            }
            Json::Object(fields)
        })
}

fn tool() -> impl Strategy<Value = &'static str> {
    prop::sample::select(Tool::ALL.map(Tool::name).to_vec())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 2000,
        rng_seed: RngSeed::Fixed(1),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn any_answer_has_a_text_of_bounded_size(tool in tool(), answer in answer(), end in any::<prop::sample::Index>()) {
        let result = answer.to_string();
        let text = render(tool, &result, &result);
        // A line has a number of at most twenty digits, and a file a sentence around it.
        prop_assert!(text.len() <= 40 * result.len() + 200, "{}", text);
        let head = &result[..result.floor_char_boundary(end.index(result.len() + 1))];
        let cut = json!({ "truncated": true, "bytes": 1, "head": head, "note": "cut" }).to_string();
        let text = render(tool, "", &cut);
        prop_assert!(text.ends_with("cut"));
    }

    #[test]
    fn text_that_is_no_answer_stays(tool in tool(), text in "[^{]\\PC{0,40}") {
        prop_assert_eq!(render(tool, &text, &text), text.as_str());
    }

    #[test]
    fn lines_of_a_file_stand_in_its_answer(content in "([a-c\\\\\"|中]{0,5}\n){1,9}") {
        let result = json!({ "ok": true, "path": "@project/a", "bytes": content.len(), "content": content });
        let text = render("fs.read", "{}", &result.to_string()).into_owned();
        let lines: Vec<&str> = text.lines().skip(1).collect();
        prop_assert_eq!(lines.len(), content.lines().count());
        for (at, (shown, line)) in lines.iter().zip(content.lines()).enumerate() {
            prop_assert_eq!(*shown, format!("{}|{line}", at + 1));
        }
    }
}
