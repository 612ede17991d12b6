//! Tests of repairs: what is repaired, what never is, and what the model is told.

use proptest::prelude::*;
use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use serde_json::json;

use super::*;

#[track_caller]
fn check(text: &str, expected: Json, repairs: &[Repair]) {
    match read(text) {
        Ok((value, mut needed)) => {
            assert_eq!(value, expected, "{text}");
            needed.sort_unstable();
            assert_eq!(needed, repairs, "{text}");
        }
        Err(broken) => panic!("{text}: {broken:?}"),
    }
}

#[track_caller]
fn check_broken(text: &str, says: &[&str]) -> BrokenJson {
    let broken = read(text).expect_err(text);
    assert_eq!(broken.unclosed, None, "{text}: {broken:?}");
    let told = broken.faults.join("; ");
    for part in says {
        assert!(told.contains(part), "{told} lacks {part}");
    }
    broken
}

#[track_caller]
fn check_unclosed(text: &str, missing: &str) -> BrokenJson {
    let broken = read(text).expect_err(text);
    assert_eq!(broken.unclosed.as_deref(), Some(missing), "{text}: {broken:?}");
    broken
}

#[test]
fn a_code_fence_or_a_byte_order_mark_around_is_dropped() {
    let expected = json!({"path": "a"});
    for text in [
        "```json\n{\"path\":\"a\"}\n```",
        "```\n{\"path\":\"a\"}```",
        "  ```JSON\r\n{\"path\":\"a\"}\r\n```  \n",
        "````json\n{\"path\":\"a\"}\n````",
        "```{\"path\":\"a\"}```",
    ] {
        check(text, expected.clone(), &[Repair::CodeFence]);
    }
    check("\u{feff}{\"path\":\"a\"}", expected.clone(), &[Repair::ByteOrderMark]);
    check(
        " \u{feff} ```json\n{\"path\":\"a\"}\n```",
        expected,
        &[Repair::ByteOrderMark, Repair::CodeFence],
    );
    check("```\n{\"a\":\"```\"}\n```", json!({"a": "```"}), &[Repair::CodeFence]);
    check_broken("```json\n{\"path\":\"a\"}", &["a code fence is open"]);
    check_broken("Here: ```json\n{\"path\":\"a\"}\n```", &["must be one JSON object"]);
    check_broken("```json\n{\"path\":\"a\"}\n``` Done", &["a code fence is open"]);
    check_broken("```\n```", &["there is no object"]);
    check_broken("```", &["there is no object"]);
}

#[test]
fn a_trailing_comma_is_dropped() {
    let comma = &[Repair::TrailingComma];
    check(r#"{"a":1,}"#, json!({"a": 1}), comma);
    check("{\"a\":[1,2,\n],\n}", json!({"a": [1, 2]}), comma);
    check(r#"{"a":1},"#, json!({"a": 1}), comma);
    check_broken(r#"{"a":1,,}"#, &["a comma too many"]);
    check_broken(r#"{"a":1,,"b":2}"#, &["a comma too many"]);
    check_broken(r#"{,"a":1}"#, &["a comma too many"]);
    check_broken(r#"{"a":[,]}"#, &["a comma too many"]);
}

#[test]
fn raw_control_characters_in_texts_are_escaped() {
    let control = &[Repair::ControlCharacter];
    check("{\"a\":\"x\ny\r\n\tz\"}", json!({"a": "x\ny\r\n\tz"}), control);
    check("{\"a\u{0}\":\"\u{1f}\"}", json!({"a\u{0}": "\u{1f}"}), control);
    check("{\"a\":\"\n\"}", json!({"a": "\n"}), control);
    // Others need no escape.
    check(
        "{\"a\":\"\u{7f}\u{85}\u{2028}\",}",
        json!({"a": "\u{7f}\u{85}\u{2028}"}),
        &[Repair::TrailingComma],
    );
}

#[test]
fn single_quotes_are_understood_where_no_double_quote_stands_outside() {
    let single = &[Repair::SingleQuotes];
    check("{'a':'b','c':['d', 1]}", json!({"a": "b", "c": ["d", 1]}), single);
    check(r#"{'a':'say "hi"'}"#, json!({"a": "say \"hi\""}), single);
    check(r"{'a':'it\'s'}", json!({"a": "it's"}), single);
    check(r#"{'a':'\"'}"#, json!({"a": "\""}), single);
    check("{'a':'x\ny'}", json!({"a": "x\ny"}), &[Repair::ControlCharacter, Repair::SingleQuotes]);
    check_broken(r#"{'a':"b"}"#, &["mixed"]);
    check_broken(r#"{"a":'b'}"#, &["mixed"]);
    check_broken("{'a':'it's'}", &["a single quote stands inside a text in single quotes"]);
    check(r#"'{"a":1}'"#, json!("{\"a\":1}"), single);
}

#[test]
fn words_of_python_are_translated() {
    let python = &[Repair::PythonWord];
    check(
        r#"{"a":True,"b":False,"c":None,"d":[None,true]}"#,
        json!({"a": true, "b": false, "c": null, "d": [null, true]}),
        python,
    );
    check(r#"{"a":"True","b":None}"#, json!({"a": "True", "b": null}), python);
    for word in ["TRUE", "undefined", "NaN", "yes", "Nones", "README.md", "-x", "nulll"] {
        let says: &[&str] = match word.starts_with('-') {
            true => &["not a number"],
            false => &["this word is not a value"],
        };
        check_broken(&format!("{{\"a\":{word}}}"), says);
    }
}

#[test]
fn a_key_may_stand_without_quotes() {
    let bare = &[Repair::BareKey];
    check(r#"{path:"a", startLine : 3}"#, json!({"path": "a", "startLine": 3}), bare);
    check(r#"{variables.set:{"x":1}}"#, json!({"variables.set": {"x": 1}}), bare);
    check(r#"{名:1,$x:2,_y-z:3}"#, json!({"名": 1, "$x": 2, "_y-z": 3}), bare);
    check_broken(r#"{path "a"}"#, &["a key in double quotes is expected here"]);
    check_broken(r#"{path}"#, &["a key in double quotes is expected here"]);
    check_broken(r#"{a b:1}"#, &["a key in double quotes is expected here"]);
    check_broken(r#"{:1}"#, &["a key in double quotes is expected here"]);
    check_broken(&format!("{{{}:1}}", "k".repeat(1000)), &["a key in double quotes"]);
}

#[test]
fn an_escape_that_json_does_not_know_stands_for_itself() {
    let escape = &[Repair::UnknownEscape];
    check(r#"{"a":"\d+\.\w"}"#, json!({"a": r"\d+\.\w"}), escape);
    check(r#"{"a":"C:\users\x"}"#, json!({"a": r"C:\users\x"}), escape);
    check(r#"{"a":"\'"}"#, json!({"a": r"\'"}), escape);
    check(r#"{"a":"\世"}"#, json!({"a": "\\世"}), escape);
    check(r#"{"a":"\u12"}"#, json!({"a": r"\u12"}), escape);
    check(r#"{"a":"\u+123"}"#, json!({"a": r"\u+123"}), escape);
    check(
        r#"{"a":"\\ \" \/ \b\f\n\r\t \u0041\ud83d\ude00 \d"}"#,
        json!({"a": "\\ \" / \u{8}\u{c}\n\r\t A😀 \\d"}),
        escape,
    );
    check(
        "{\"a\":\"\\\n\"}",
        json!({"a": "\\\n"}),
        &[Repair::ControlCharacter, Repair::UnknownEscape],
    );
    check_broken(r#"{"a":"\ud800"}"#, &["does not make a character"]);
    check_broken(r#"{"a":"\udc00\ud800x"}"#, &["does not make a character"]);
}

#[test]
fn closing_marks_too_many_at_the_end_are_dropped() {
    let mark = &[Repair::ClosingMark];
    check(r#"{"a":1}}"#, json!({"a": 1}), mark);
    check("{\"a\":[1]}\n ]} }\n", json!({"a": [1]}), mark);
    check_broken(r#"{"a":{"b":1}},"c":2}"#, &["something follows the object"]);
    check_broken(r#"{"a":1} {"b":2}"#, &["something follows the object; send exactly one"]);
    check_broken(r#"{"a":1]}"#, &["this `]` closes nothing"]);
    check_broken(r#"{"a":[1}]}"#, &["a `]` is missing before this `}`"]);
    check_broken(r#"{"a":1})"#, &["something follows"]);
}

#[test]
fn a_key_is_repeated_only_with_the_same_value() {
    check(
        r#"{"a":{"x":[1,"y"]},"a":{"x":[1,"y"]}}"#,
        json!({"a": {"x": [1, "y"]}}),
        &[Repair::RepeatedKey],
    );
    let broken = check_broken(r#"{"path":"a","path":"b"}"#, &["`path` is there twice"]);
    assert_eq!(
        broken.faults,
        [
            r#"at line 1, column 13, near "{\"path\":\"a\",\"path\":\"b\"}": the key `path` is there twice, with two values"#
        ]
    );
    check_broken(r#"{"a":1,"a":2,"a":3}"#, &["`a` is there twice"]);
}

#[test]
fn all_repairs_work_together() {
    check(
        "```json\n{path: 'a\tb', 'all': True, re: '\\d', }}\n```",
        json!({"path": "a\tb", "all": true, "re": "\\d"}),
        &[
            Repair::CodeFence,
            Repair::TrailingComma,
            Repair::ControlCharacter,
            Repair::SingleQuotes,
            Repair::PythonWord,
            Repair::BareKey,
            Repair::UnknownEscape,
            Repair::ClosingMark,
        ],
    );
}

#[test]
fn what_is_unclosed_is_never_closed() {
    check_unclosed(r#"{"path":"a.md","content":"x"#, "a string is open");
    check_unclosed(r#"{"path":"a.md","#, "1 × \"}\" missing");
    check_unclosed(r#"{"path":"a.md""#, "1 × \"}\" missing");
    check_unclosed(r#"{"path""#, "1 × \"}\" missing");
    check_unclosed(r#"{"path":"#, "1 × \"}\" missing");
    check_unclosed(r#"{"path"#, "a string is open");
    check_unclosed("{", "1 × \"}\" missing");
    check_unclosed(r#"{"variables":{"a":"b""#, "2 × \"}\" missing");
    check_unclosed(r#"{"edits":[{"old":"a","new":"b"}"#, "1 × \"]\", 1 × \"}\" missing");
    check_unclosed(r#"{"edits":[{"old":"a""#, "1 × \"]\", 2 × \"}\" missing");
    check_unclosed(r#"{"a":"C:\dir\"}"#, "a string is open");
    check_unclosed("```json\n{\"a\":1", "1 × \"}\" missing");
    check_unclosed("{'a': 'b", "a string is open");
    check_unclosed("{a: True", "1 × \"}\" missing");
    check_unclosed(r#""{\"a\":1"#, "a string is open");
    check_unclosed(r#"{"a":"x\"#, "a string is open");
    check_unclosed(r#"{"a":"x\u00"#, "a string is open");
}

#[test]
fn what_is_missing_inside_is_never_added() {
    check_broken(r#"{"a":1 "b":2}"#, &["a comma is missing here"]);
    check_broken(r#"{"a":"x" "b":"y"}"#, &["a comma is missing here"]);
    check_broken("{\"a\":\"x\"\n\"b\":\"y\"}", &["a comma is missing here"]);
    check_broken(r#"{"a":"x" b:"y"}"#, &["a comma is missing here"]);
    check_broken(r#"{"a":["x" "y"]}"#, &["a comma is missing here"]);
    check_broken(r#"{"a":{"b":1}"c":2}"#, &["a comma is missing here"]);
    check_broken(r#"{"a":[{} {}]}"#, &["a comma is missing here"]);
    check_broken(r#"{"a" 1}"#, &["a colon is missing after the key"]);
    check_broken(r#"{"a","b":1}"#, &["a colon is missing", "a value is missing here"]);
    check_broken(r#"{"a"}"#, &["a colon is missing", "a value is missing here"]);
    check_broken(r#"{"a":}"#, &["a value is missing here"]);
    check_broken(r#"{"a":,"b":1}"#, &["a value is missing here"]);
    check_broken(r#"{"a"::1}"#, &["this cannot be read as JSON"]);
    check_broken("path=a.md", &["at line 1, column 1", "must be one JSON object"]);
    for number in ["01", ".5", "+1", "1.", "0x1f", "1_000", "1e999", "--1"] {
        check_broken(&format!("{{\"a\":{number}}}"), &["not a number as JSON writes it"]);
    }
}

#[test]
fn a_quote_inside_a_text_is_named_and_never_escaped() {
    let inner = &["a double quote stands inside a text; write \\\" for it"];
    for text in [
        r#"{"a":"say "hi""}"#,
        r#"{"a":"say "hi" to","b":1}"#,
        r#"{"a":"say "hi", then go","b":1}"#,
        r#"{"a":["say "hi"", "b"]}"#,
        r#"{"a":"<a href="x">"}"#,
        r#"{"a":"x" y}"#,
        r#"{"a":"""doc"""}"#,
    ] {
        let broken = check_broken(text, inner);
        assert_eq!(broken.faults.len(), 1, "{broken:?}");
    }
    check_unclosed(r#"{"a":"say "hi" and th"#, "a string is open");
}

#[test]
fn every_fault_is_named_also_those_that_would_have_been_repaired() {
    let broken = check_broken(
        "{\"path\":\"a\",\n\"content\":\"line\nsay \"hi\" now\",}",
        &["write \\n for a line break", "write \\\" for it", "a comma after the last item"],
    );
    assert_eq!(broken.faults.len(), 3, "{broken:?}");
    assert!(broken.faults[0].starts_with("at line 2, column 16, near "), "{broken:?}");
    assert!(broken.faults[1].starts_with("at line 3, column 5, near "), "{broken:?}");
    // Also if the quote comes first.
    check_broken(
        "{\"content\":\"say \"hi\"\nnow\"}",
        &["write \\n for a line break", "write \\\" for it"],
    );
    let broken = check_unclosed("{\"content\":\"line\nnow", "a string is open");
    assert_eq!(broken.faults.len(), 1, "{broken:?}");
    check_broken(
        r#"{'a':True 'b':"\d",'c':}"#,
        &[
            "double quotes",
            "written small",
            "comma is missing",
            "mixed",
            "a backslash itself",
            "value is missing",
        ],
    );
}

#[test]
fn hostile_texts_end_soon() {
    let many = 200_000;
    for text in ["[", "{\"a\":", "[{\"a\":["] {
        check_broken(&text.repeat(many), &["they are nested more than 64 levels deep"]);
    }
    let deep = |depth: usize| format!("{{\"a\":{}1{},}}", "[".repeat(depth), "]".repeat(depth));
    assert!(read(&deep(63)).is_ok());
    check_broken(&deep(64), &["levels deep"]);
    for text in [
        "\"", "' ", "\" ,", "\"\"", "\\", "}", "]", ",", ":", "\" \"", "\",", "\n", "x ",
        "\u{feff}",
    ] {
        for head in ["", "{", "{\"a\":\"", "{'a':'", "{\"a\":[", "```", "{\"a\":\"x\"y"] {
            let is_read = read(&format!("{head}{}", text.repeat(many))).is_ok();
            assert_eq!(is_read, head == "{" && text == "}", "{head} {text}");
        }
    }
    let wide = format!("{{\"a\":[{}]}}", "1,".repeat(MAX_VALUES + 1));
    check_broken(&wide, &["values"]);
    let long = format!("{{\"a\":\"{}\n\"}}", "x".repeat(1 << 20));
    assert!(read(&long).is_ok());
    assert!(check_broken(&format!("{{{}", "\u{1}\"世".repeat(10)), &[]).faults.len() <= 20);
}

fn config() -> ProptestConfig {
    ProptestConfig {
        rng_seed: RngSeed::Fixed(7),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn any_text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[a\"'\\\\{}\\[\\],:\n \tud0]{0,12}"]
}

fn any_value() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::from),
        any::<i64>().prop_map(Json::from),
        any_text().prop_map(Json::from),
    ];
    leaf.prop_recursive(4, 24, 5, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Json::from),
            prop::collection::btree_map(any_text(), inner, 0..5)
                .prop_map(|map| Json::Object(map.into_iter().collect())),
        ]
    })
}

fn any_object() -> impl Strategy<Value = Json> {
    prop::collection::btree_map(any_text(), any_value(), 0..5)
        .prop_map(|map| Json::Object(map.into_iter().collect()))
}

/// Writes a value as a careless model does: words of Python, trailing commas.
fn careless(value: &Json) -> String {
    match value {
        Json::String(_) => value.to_string(),
        Json::Array(items) => {
            let items: Vec<String> = items.iter().map(|item| careless(item) + ", ").collect();
            format!("[{}]", items.concat())
        }
        Json::Object(entries) => {
            let entries: Vec<String> = entries
                .iter()
                .map(|(key, value)| {
                    format!("{} : {},\n", Json::from(key.as_str()), careless(value))
                })
                .collect();
            format!("{{{}}}", entries.concat())
        }
        Json::Null => "None".to_owned(),
        Json::Bool(value) => if *value { "True" } else { "False" }.to_owned(),
        Json::Number(number) => number.to_string(),
    }
}

proptest! {
    #![proptest_config(config())]

    #[test]
    fn strict_json_is_read_as_it_is(value in any_object()) {
        prop_assert_eq!(read(&value.to_string()).unwrap(), (value, Vec::new()));
    }

    #[test]
    fn careless_json_has_the_value_that_is_meant(value in any_object()) {
        let text = format!("```json\n{}}}\n```", careless(&value));
        prop_assert_eq!(read(&text).unwrap().0, value);
    }

    #[test]
    fn a_text_that_is_cut_anywhere_is_never_repaired(value in any_object(), at in any::<prop::sample::Index>()) {
        let text = value.to_string();
        let mut end = at.index(text.len()).max(1);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        prop_assert!(read(&text[..end.max(1)]).is_err());
    }

    #[test]
    fn any_text_is_read_or_refused_with_a_reason(text in any_text(), more in any_text()) {
        for text in [text.clone(), format!("{{{text}}}"), format!("{{\"a\":\"{text}\",{more}}}")] {
            match read(&text) {
                Ok((value, _)) => prop_assert!(serde_json::from_str::<Json>(&value.to_string()).is_ok()),
                Err(broken) => prop_assert!(broken.unclosed.is_some() || !broken.faults.is_empty()),
            }
        }
    }

    #[test]
    fn a_repair_changes_no_text_that_serde_reads(text in any_text()) {
        let text = format!("{{\"a\":{text}}}");
        if let (Ok(strict), Ok((value, _))) = (serde_json::from_str::<Json>(&text), read(&text)) {
            prop_assert_eq!(strict, value);
        }
    }
}
