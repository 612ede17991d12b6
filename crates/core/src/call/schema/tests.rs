//! Tests of the list of tools: readable, plain, and the same as the parser of calls understands.
#![allow(clippy::disallowed_methods, reason = "the examples are files")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use super::*;
use crate::call::Call;
use crate::policy::FsPolicy;

/// Lists the tools as a model sees them: one name, one sentence, one schema.
fn listed(policy: &Policy) -> String {
    let mut text = String::new();
    for tool in tools(policy) {
        let schema = serde_json::to_string_pretty(&tool.parameters).unwrap();
        writeln!(text, "## {}\n\n{}\n\n{schema}\n", tool.name, tool.description).unwrap();
    }
    text
}

/// Returns the policy of a run that speaks of every tool.
fn run() -> Policy {
    Policy { tells_moves: true, ..Policy::default().with_state(StateTool::Runtime) }
}

/// Returns the tools as a request has them.
fn as_sent(policy: &Policy) -> Vec<String> {
    let sent = |tool: ToolSpec| {
        let name = Tool::named(&tool.name).unwrap().wire_name();
        json!({ "type": "function", "function": {
            "name": name, "description": tool.description, "parameters": tool.parameters,
        }})
        .to_string()
    };
    tools(policy).into_iter().map(sent).collect()
}

#[test]
fn models_are_told_this() {
    insta::assert_snapshot!(listed(&run()));
}

#[test]
fn a_list_of_tools_is_as_short_as_the_contract_says() {
    let bytes = |policy: &Policy| as_sent(policy).iter().map(String::len).collect::<Vec<_>>();
    let plain = Policy::default().with_state(StateTool::Runtime);
    assert_eq!(bytes(&plain), [254, 198, 244, 270, 378, 354, 522]);
    let all = |policy: &Policy| format!("[{}]", as_sent(policy).join(",")).len();
    assert_eq!(all(&plain), 2_228);
    assert_eq!(all(&Policy::default()), 1_705);
    let document = Policy::default().with_state(StateTool::Patch);
    assert_eq!(all(&document), 1_963);
    assert_eq!(as_sent(&run())[5].len(), 199);
    let gated = Policy { tells_gates: true, ..plain };
    assert_eq!(all(&gated), 2_685);
    for tool in tools(&gated) {
        check_plain(&tool.parameters, &tool.name);
    }
}

#[test]
fn the_policy_decides_which_tools_there_are_and_nothing_about_their_text() {
    let fs = FsPolicy { enabled: true, max_read_bytes: 111, max_write_bytes: 222 };
    assert_eq!(listed(&Policy { fs, ..Policy::default() }), listed(&Policy::default()));
    let off = Policy { fs: FsPolicy { enabled: false, ..fs }, ..Policy::default() };
    let names: Vec<String> = tools(&off).into_iter().map(|tool| tool.name).collect();
    assert_eq!(names, ["ui.ask_user"]);
}

/// Checks that a schema has nothing that some provider refuses.
fn check_plain(schema: &Json, at: &str) {
    let keys = schema.as_object().unwrap_or_else(|| panic!("{at} is no object"));
    let kind = keys["type"].as_str().unwrap_or_else(|| panic!("{at} has not one type"));
    let allowed: &[&str] = match kind {
        "object" => &["type", "description", "properties", "required"],
        "array" => &["type", "description", "items"],
        "string" => &["type", "description", "enum"],
        _ => &["type", "description"],
    };
    for key in keys.keys() {
        assert!(allowed.contains(&key.as_str()), "{at} has {key}");
    }
    match kind {
        "object" => {
            let properties = keys["properties"].as_object().unwrap();
            for name in keys["required"].as_array().unwrap() {
                assert!(properties.contains_key(name.as_str().unwrap()), "{at} lacks {name}");
            }
            properties.iter().for_each(|(name, value)| check_plain(value, &format!("{at}.{name}")));
        }
        "array" => check_plain(&keys["items"], &format!("{at}[]")),
        "string" => {
            let words = keys.get("enum").and_then(Json::as_array);
            assert!(words.is_none_or(|words| words.iter().all(Json::is_string)), "{at}");
        }
        "integer" | "boolean" => {}
        other => panic!("{at} is {other}"),
    }
}

#[test]
fn the_schemas_are_plain() {
    for tool in tools(&run()) {
        check_plain(&tool.parameters, &tool.name);
        assert!(jsonschema::meta::is_valid(&tool.parameters), "{}", tool.name);
        assert!(tool.description.len() < 400, "{}", tool.description);
    }
}

/// Returns a value that a schema allows, with all its keys except for some.
fn sample(schema: &Json, without: &[&str]) -> Json {
    match schema["type"].as_str().unwrap() {
        "object" => {
            let properties = schema["properties"].as_object().unwrap();
            let wanted = properties.iter().filter(|(name, _)| !without.contains(&name.as_str()));
            wanted.map(|(name, value)| (name.clone(), sample(value, without))).collect()
        }
        "array" => json!([sample(&schema["items"], without)]),
        "string" => schema["enum"].get(0).cloned().unwrap_or_else(|| "x".into()),
        "integer" => json!(1),
        _ => json!(false),
    }
}

/// Returns calls that use every property of a schema, and nothing else.
fn samples(tool: &ToolSpec) -> Vec<Json> {
    let whole = |without: &[&str]| sample(&tool.parameters, without);
    match tool.name.as_str() {
        "ui.ask_user" => vec![whole(&["fields"]), whole(&["options"])],
        "fs.move" => {
            let mut sample = whole(&[]);
            sample["to"] = "y".into();
            vec![sample]
        }
        _ => vec![whole(&[])],
    }
}

#[test]
fn calls_understand_every_property_and_refuse_what_is_required() {
    for tool in tools(&run()) {
        let schema = jsonschema::validator_for(&tool.parameters).unwrap();
        for sample in samples(&tool) {
            assert!(schema.is_valid(&sample), "{sample}");
            let call = Call::parse(&tool.name, &sample.to_string(), &run());
            assert!(call.is_ok(), "{sample} {call:?}");
            let mut more = sample.clone();
            more["more"] = json!(1);
            assert!(Call::parse(&tool.name, &more.to_string(), &run()).is_err());
        }
        for key in tool.parameters["required"].as_array().unwrap() {
            let mut less = samples(&tool).remove(0);
            less.as_object_mut().unwrap().remove(key.as_str().unwrap());
            let parsed = Call::parse(&tool.name, &less.to_string(), &run());
            assert!(parsed.is_err(), "{} without {key}", tool.name);
        }
        let known = tool.parameters["properties"].as_object().unwrap().keys();
        let told = Call::parse(&tool.name, r#"{"zzzzzz":1}"#, &run()).unwrap_err();
        for key in known {
            assert!(told.hint.as_ref().unwrap().contains(&format!("`{key}`")), "{key}");
        }
    }
}

fn markdown_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            markdown_files(&path, found);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            found.push(path);
        }
    }
}

#[test]
fn the_calls_that_a_package_shows_are_calls() {
    let package = "../engine/tests/golden/017-document-manner/package";
    let mut files = Vec::new();
    markdown_files(&Path::new(env!("CARGO_MANIFEST_DIR")).join(package), &mut files);
    let mut calls = 0;
    for file in files {
        let text = std::fs::read_to_string(&file).unwrap();
        for block in text.split("```json\n").skip(1) {
            let json = block.split("```").next().unwrap();
            if !json.contains("\"operation\"") {
                continue;
            }
            calls += 1;
            let parsed = Call::parse("fs.apply_patch", json, &Policy::default());
            assert!(parsed.is_ok(), "{}: {parsed:?}", file.display());
        }
    }
    assert!(calls >= 7, "{calls}");
}
