//! The public versions, in the folder that the environment variable `CREWAGENT_BMAD` names: `6.0.4`, `6.11.0`, and a
//! project with each of them, `6.0.4-installed`, `6.11.0-installed`. `cargo xtask bmad` makes it. The folder `src` of a
//! version is its tree.

use std::collections::BTreeMap;
use std::path::PathBuf;

use crewagent_convert::{Conversion, ConvertOptions, convert};
use serde_json::{Value as Json, json as list};

use crate::fixture::{agent, converted, findings_text, json, read, source_part, text};

/// Variable that names the folder.
const VARIABLE: &str = "CREWAGENT_BMAD";

fn public(name: &str) -> Option<PathBuf> {
    let Some(folder) = std::env::var_os(VARIABLE) else {
        println!("skipped: {VARIABLE} names no folder with the public versions");
        return None;
    };
    let folder = PathBuf::from(folder).join(name);
    if !folder.is_dir() {
        println!("skipped: {} is not there", folder.display());
        return None;
    }
    Some(folder)
}

pub(crate) fn convert_public(name: &str) -> Option<Conversion> {
    let files = read(&public(name)?);
    let conversion = converted(&files, name);
    println!("{name}: {:?}\n{}", conversion.report.counts, findings_text(&conversion));
    assert!(conversion.package.is_some(), "{name} gave no package");
    Some(conversion)
}

/// Agents, menu items, and workflows that a version has.
fn check_counts(name: &str, agents: usize, items: usize, workflows: usize) {
    let Some(conversion) = convert_public(name) else { return };
    let counts = conversion.report.counts;
    assert_eq!(counts.agents, agents, "agents");
    assert_eq!((counts.menu_items_resolved, counts.menu_items), (items, items), "menu items");
    assert_eq!(counts.workflows, workflows, "workflows");
}

#[test]
fn the_tree_of_the_step_file_version_is_whole() {
    check_counts("6.0.4/src", 10, 33, 35);
}

#[test]
fn the_installation_of_the_step_file_version_is_whole() {
    check_counts("6.0.4-installed", 10, 73, 35);
}

#[test]
fn the_tree_of_the_skill_version_is_whole() {
    check_counts("6.11.0/src", 5, 22, 44);
}

#[test]
fn the_installation_of_the_skill_version_is_whole() {
    check_counts("6.11.0-installed", 5, 22, 44);
}

fn graphs(conversion: &Conversion) -> BTreeMap<String, Json> {
    let package = conversion.package.as_ref().unwrap();
    let graphs = package.iter().filter(|(path, _)| path.as_str().ends_with("workflow.graph.json"));
    graphs.map(|(path, _)| (path.to_string(), json(conversion, path.as_str()))).collect()
}

#[test]
fn a_tree_and_its_installation_give_equal_graphs() {
    for version in ["6.0.4", "6.11.0"] {
        let (Some(tree), Some(installed)) = (
            convert_public(&format!("{version}/src")),
            convert_public(&format!("{version}-installed")),
        ) else {
            return;
        };
        let (tree, installed) = (graphs(&tree), graphs(&installed));
        let names = |graphs: &BTreeMap<String, Json>| graphs.keys().cloned().collect::<Vec<_>>();
        assert_eq!(names(&tree), names(&installed), "{version}");
        for (name, graph) in &tree {
            assert_eq!(graph, &installed[name], "{version} {name}");
        }
    }
}

#[test]
fn every_node_has_its_source_byte_for_byte_and_every_file_is_told() {
    for name in ["6.0.4", "6.0.4/src", "6.0.4-installed", "6.11.0/src", "6.11.0-installed"] {
        let Some(folder) = public(name) else { return };
        let files = read(&folder);
        let conversion = converted(&files, name);
        let report = &conversion.report;
        for path in files.paths() {
            assert!(report.files.contains_key(path), "{name}: {path} is not in the report");
        }
        for workflow in &report.workflows {
            for node in &workflow.nodes {
                let Some(at) = &node.at else { continue };
                let (file, lines) = at.rsplit_once(':').unwrap();
                let first: usize = lines.split('-').next().unwrap().parse().unwrap();
                let step =
                    text(&conversion, &format!("workflows/{}/steps/{}.md", workflow.id, node.id));
                let source = std::str::from_utf8(files.get(file).unwrap()).unwrap();
                let start: usize = source.split_inclusive('\n').take(first - 1).map(str::len).sum();
                assert!(source[start..].starts_with(source_part(&step)), "{name} {at}");
            }
        }
    }
}

#[test]
fn two_conversions_are_equal_to_the_byte() {
    for name in ["6.0.4", "6.11.0-installed"] {
        let Some(folder) = public(name) else { return };
        let files = read(&folder);
        let options = ConvertOptions { name: name.to_owned(), ..ConvertOptions::default() };
        let (one, other) = (convert(&files, &options), convert(&files, &options));
        assert_eq!(one.package, other.package);
    }
}

#[test]
fn agents_of_a_tree_and_its_installation_say_the_same() {
    for version in ["6.0.4", "6.11.0"] {
        let (Some(tree), Some(installed)) = (
            convert_public(&format!("{version}/src")),
            convert_public(&format!("{version}-installed")),
        ) else {
            return;
        };
        let words = |value: &Json| {
            let lines: Vec<&str> = match value.as_array() {
                Some(items) => items.iter().filter_map(Json::as_str).collect(),
                None => value.as_str().into_iter().collect(),
            };
            lines.join(" ").split_whitespace().collect::<Vec<_>>().join(" ")
        };
        for id in tree.report.agents.iter().map(|agent| &agent.id) {
            let (mut one, mut other) = (agent(&tree, id), agent(&installed, id));
            for agent in [&mut one, &mut other] {
                // An installation keeps skills apart from their modules.
                agent["metadata"].as_object_mut().unwrap().remove("module");
            }
            for key in ["metadata", "critical_actions", "prompts"] {
                assert_eq!(one[key], other[key], "{version} {id} {key}");
            }
            for key in ["role", "identity", "communication_style", "principles"] {
                let (one, other) = (&one["persona"][key], &other["persona"][key]);
                assert_eq!(words(one), words(other), "{version} {id} {key}");
            }
            let targets = |agent: &Json| -> Vec<Json> {
                let items = agent["menu"].as_array().unwrap().iter();
                let with_target = items.filter(|item| !item["source"].is_null());
                with_target
                    .map(|item| {
                        list!([item["workflow"], item["exec"], item["action"], item["data"]])
                    })
                    .collect()
            };
            let own = targets(&one);
            assert!(targets(&other).starts_with(&own), "{version} {id}");
        }
    }
}
