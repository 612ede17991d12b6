//! `--json`: one event a line, valid by the published schema.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;

use serde_json::Value as Json;

use crate::support::{CliFixture, repository};

fn schema() -> jsonschema::Validator {
    let path = repository().join("spec/schemas/event.schema.json");
    let schema = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    jsonschema::validator_for(&schema).unwrap()
}

/// Parses every line as an event and validates it.
fn events(text: &str) -> Vec<Json> {
    let schema = schema();
    let event = |line: &str| {
        let event: Json = serde_json::from_str(line).unwrap();
        let errors: Vec<String> =
            schema.iter_errors(&event).map(|error| error.to_string()).collect();
        assert!(errors.is_empty(), "{line}: {errors:?}");
        event
    };
    text.lines().map(event).collect()
}

fn types(events: &[Json]) -> Vec<&str> {
    events.iter().map(|event| event["type"].as_str().unwrap()).collect()
}

#[test]
fn each_line_is_an_event_of_the_schema() {
    let world = CliFixture::with_tiny();
    let ran = world.run_tiny("tiny.yaml", &["--json", "--input", "a flyer"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    let events = events(&ran.out);
    let types = types(&events);
    assert_eq!((types[0], *types.last().unwrap()), ("run.started", "run.finished"));
    for kind in [
        "turn.started",
        "assistant.delta",
        "assistant.message",
        "tool.started",
        "tool.finished",
        "state.changed",
        "phase.changed",
        "question",
        "user.input",
    ] {
        assert!(types.contains(&kind), "{kind}: {types:?}");
    }
    for event in &events {
        assert!(event["seq"].is_u64() && event["time"].is_string() && event["runId"].is_string());
    }
    assert!(ran.err.contains("crewagent resume"), "how to go on is no event: {}", ran.err);
}

#[test]
fn the_journal_is_what_was_told_without_the_pieces() {
    let world = CliFixture::with_tiny();
    let told = world.run_tiny("tiny.yaml", &["--json", "--input", "a flyer"]);
    let told = events(&told.out);
    let logs = events(&world.run(&["runs", "logs", "--json"]).out);
    let whole: Vec<&Json> = told.iter().filter(|event| event.get("part").is_none()).collect();
    assert_eq!(logs.iter().collect::<Vec<_>>(), whole);
    let numbers: Vec<u64> = logs.iter().map(|event| event["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=logs.len() as u64).collect::<Vec<_>>());
}

#[test]
fn a_failure_is_an_event_too() {
    let world = CliFixture::with_tiny();
    world.write("down.yaml", "scenario: down\notherwise: { fault: { fail: auth } }\n");
    let ran = world.run_tiny("down.yaml", &["--json"]);
    assert_eq!(ran.code, 5, "{ran:?}");
    let events = events(&ran.out);
    assert!(types(&events).contains(&"error"));
    let last = events.last().unwrap();
    assert_eq!((&last["type"], &last["phase"]), (&"run.finished".into(), &"Failed".into()));
}

#[test]
fn thoughts_cut_replies_and_long_texts_fit_the_schema_too() {
    let world = CliFixture::with_tiny();
    world.write("wide.yaml", "scenario: wide\nnodes:\n  step-01-ask:\n    - think: \"Hm.\"\n      say: \"One.\"\n      finish: length\n      calls:\n        - fs.list: { path: \"@project\" }\n    - calls:\n        - fs.write: { path: \"@project/big.txt\", content: \"{{repeat:x:100000}}\" }\n        - { tool: nope, raw: \"{\" }\n    - say: \"\"\n      times: 2\n");
    let ran = world.run_tiny("wide.yaml", &["--json"]);
    let events = events(&ran.out);
    assert!(ran.out.contains("\"channel\":\"thinking\""), "{}", ran.out);
    assert!(!types(&events).is_empty());
}

#[test]
fn a_reader_who_leaves_pauses_the_run() {
    let world = CliFixture::with_tiny();
    let mut child = world
        .command()
        .args(["run", "tiny", "--project", "project", "--model", "scripted:tiny.yaml"])
        .args(["--json", "--input", "x"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{output:?}");
    let shown = world.run(&["runs", "show"]);
    assert!(shown.out.contains("Paused"), "{}", shown.out);
    let more = world.run(&["resume", "--model", "scripted:tiny.yaml", "--input", "x"]);
    assert_eq!(more.code, 0, "{more:?}");
}

#[test]
fn events_come_as_they_happen() {
    let world = CliFixture::with_tiny();
    world.write("hang.yaml", "scenario: hang\notherwise: { say: Wait., fault: { hang: true } }\n");
    let mut child = world
        .command()
        .args(["run", "tiny", "--project", "project", "--model", "scripted:hang.yaml", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    // The model never ends its reply; its deltas still arrive.
    while !line.contains("assistant.delta") {
        line.clear();
        assert!(lines.read_line(&mut line).unwrap() > 0, "no piece came");
    }
    child.kill().unwrap();
    lines.read_to_string(&mut line).unwrap();
    child.wait().unwrap();
}

#[test]
fn every_event_is_documented_with_an_example_of_the_schema() {
    let text = std::fs::read_to_string(repository().join("docs/events.md")).unwrap();
    let examples: Vec<&str> =
        text.split("```json\n").skip(1).map(|rest| rest.split("\n```").next().unwrap()).collect();
    let documented = events(&examples.join("\n"));
    let titles: Vec<&str> = text.lines().filter_map(|line| line.strip_prefix("## ")).collect();
    assert_eq!(&titles[1..], types(&documented), "each example stands under its title");
    let path = repository().join("spec/schemas/event.schema.json");
    let schema: Json = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let variants = schema["oneOf"].as_array().unwrap().iter();
    let known: Vec<&str> =
        variants.map(|one| one["properties"]["type"]["const"].as_str().unwrap()).collect();
    assert_eq!(types(&documented), known);
}
