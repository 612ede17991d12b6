//! Thirty step files of 6.0.4 against a key that a person made by reading them, without knowing the program: `key.json`.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value as Json;

use crate::fixture::{json, text};
use crate::public::convert_public;

const KEY: &str = include_str!("key.json");

/// Number of answers, and of those that agree with the key.
#[derive(Debug, Default, PartialEq)]
struct Score {
    right: usize,
    all: usize,
}

impl Score {
    fn count(&mut self, is_right: bool, what: impl FnOnce() -> String) {
        self.all += 1;
        self.right += usize::from(is_right);
        if !is_right {
            println!("{}", what());
        }
    }
}

/// Node of a graph, with the names of the step files of its graph.
struct ConvertedStep {
    node: Json,
    /// Target and gate key of each edge: the name of a step file, `END`, or the id of a node without a file.
    edges: Vec<(String, Option<String>)>,
}

fn source_of(step: &str) -> Option<String> {
    let line = step.lines().find_map(|line| line.strip_prefix("source: "))?;
    let source: Json = serde_json::from_str(line).ok()?;
    Some(source["file"].as_str()?.to_owned())
}

fn base(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn converted_steps() -> Option<BTreeMap<String, ConvertedStep>> {
    let conversion = convert_public("6.0.4/src")?;
    let package = conversion.package.as_ref().unwrap();
    let paths = package.iter().map(|(path, _)| path.to_string());
    let mut steps = BTreeMap::new();
    for path in paths.filter(|path| path.ends_with("workflow.graph.json")) {
        let graph = json(&conversion, &path);
        let nodes = graph["nodes"].as_array().unwrap();
        let file = |node: &Json| source_of(&text(&conversion, node["file"].as_str().unwrap()));
        let names: BTreeMap<&str, String> = nodes
            .iter()
            .map(|node| {
                let id = node["id"].as_str().unwrap();
                let end = if node["type"] == "end" { "END" } else { id };
                (id, file(node).map_or(end.to_owned(), |file| base(&file).to_owned()))
            })
            .collect();
        for node in nodes {
            let Some(source) = file(node) else { continue };
            let edges = graph["edges"].as_array().unwrap().iter();
            let edges = edges.filter(|edge| edge["from"] == node["id"]).map(|edge| {
                let gate = edge["gate"].as_str().map(str::to_owned);
                (names[edge["to"].as_str().unwrap()].clone(), gate)
            });
            let step = ConvertedStep { node: node.clone(), edges: edges.collect() };
            steps.entry(source).or_insert(step);
        }
    }
    Some(steps)
}

fn check_options(file: &str, wanted: &Json, step: &ConvertedStep, score: &mut Score) {
    let found = step.node["gate"]["options"].as_array().cloned().unwrap_or_default();
    for option in wanted["options"].as_array().unwrap() {
        let key = option["key"].as_str().unwrap();
        let of_key: Vec<&str> = step
            .edges
            .iter()
            .filter(|(_, gate)| gate.as_deref() == Some(key))
            .map(|(to, _)| to.as_str())
            .collect();
        let does = found.iter().find(|one| one["key"] == key).map(|one| one["does"].clone());
        let does = match does.as_ref().and_then(Json::as_str) {
            Some("edge") if of_key == ["END"] => Some("end"),
            other => other,
        };
        let leads_there = option["to"].as_str().is_none_or(|to| of_key.contains(&base(to)));
        score.count(does == option["does"].as_str() && leads_there, || {
            format!("{file}: {key} is {does:?} to {of_key:?}, not {option}")
        });
    }
}

#[test]
fn a_careful_reader_agrees_about_steps_and_their_menus() {
    let Some(steps) = converted_steps() else { return };
    let key: Vec<Json> = serde_json::from_str(KEY).unwrap();
    let (mut options, mut commits, mut edges) =
        (Score::default(), Score::default(), Score::default());
    let mut invented = Vec::new();
    for wanted in &key {
        let file = wanted["file"].as_str().unwrap();
        let found = steps.iter().find(|(source, _)| source.ends_with(file));
        let (_, step) = found.unwrap_or_else(|| panic!("{file} has no node"));
        check_options(file, wanted, step, &mut options);
        let commit = step.node["gate"]["commit"][0]["at"].as_str();
        commits.count(commit == wanted["commit"].as_str(), || {
            format!("{file}: is saved by {commit:?}, not {}", wanted["commit"])
        });
        let there: BTreeSet<&str> = step.edges.iter().map(|(to, _)| to.as_str()).collect();
        let names = wanted["edges"].as_array().unwrap().iter().filter_map(Json::as_str);
        let names: BTreeSet<&str> = names.collect();
        for name in &names {
            edges.count(there.contains(name), || format!("{file}: no edge to {name}"));
        }
        invented.extend(there.difference(&names).map(|name| format!("{file} → {name}")));
    }
    println!("options {options:?}, commits {commits:?}, edges {edges:?}, more {invented:?}");
    // Of an option with several targets, such as that of a continue step, only the edges are known. One menu replaces a
    // section, which is read as appending.
    assert!(options.right >= 72 && options.all == 75, "{options:?}");
    assert!(commits.right >= 29 && commits.all == 30, "{commits:?}");
    assert!(edges.right >= 60 && edges.all == 63, "{edges:?}");
    assert!(invented.len() <= 2, "{invented:?}");
}
