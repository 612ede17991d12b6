//! Tests of requests by provider: one file for every line of the checklist, `R` for requests and `H` for history.
//!
//! `cargo xtask accept dialect` updates the expectations; read the difference.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crewagent_core::message::Message;
use crewagent_core::tool::ToolSpec;
use crewagent_dialect::body::{Body, Options};
use crewagent_dialect::names::ToolNames;
use crewagent_dialect::profile::{Profile, endpoint};
use serde::Deserialize;
use serde_json::{Map, Value as Json, json};

use super::{folder, is_update};

/// Case of a request, with the expected body.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    #[serde(default)]
    about: Option<String>,
    profile: String,
    /// Changes of the user to the profile.
    #[serde(default)]
    changes: Map<String, Json>,
    #[serde(default = "model")]
    model: String,
    #[serde(default)]
    max_output: Option<u64>,
    #[serde(default)]
    temperature: Option<f64>,
    #[serde(default)]
    stream: bool,
    #[serde(default = "yes")]
    may_call: bool,
    messages: Vec<Message>,
    #[serde(default)]
    tools: Vec<Tool>,
}

#[derive(Deserialize)]
struct Tool {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    parameters: Json,
}

fn model() -> String {
    "m".to_owned()
}

fn yes() -> bool {
    true
}

impl Request {
    fn sent(self) -> Json {
        let built_in = Profile::built_in(&self.profile).unwrap();
        let profile = built_in.with(&self.changes).unwrap();
        let profile = profile.for_model(&self.model);
        let tools = self.tools.into_iter().map(|tool| ToolSpec {
            name: tool.name,
            description: tool.description,
            parameters: tool.parameters,
        });
        let tools: Arc<[ToolSpec]> = tools.collect();
        let names = ToolNames::new(profile.names, &tools);
        let messages: Vec<Arc<Message>> = self.messages.into_iter().map(Arc::new).collect();
        let options = Options {
            model: &self.model,
            source: &format!("{}/{}", self.profile, self.model),
            profile: &profile,
            max_output: self.max_output,
            temperature: self.temperature,
            stream: self.stream,
            tools: self.may_call,
        };
        serde_json::from_slice(Body::default().render(&options, &names, &messages, &tools)).unwrap()
    }
}

/// Returns the outcome of a case: a request, an address, or a field of a profile.
fn outcome(case: &Json) -> Json {
    let mut case = case.as_object().unwrap().clone();
    case.shift_remove("expected");
    let text = |key: &str| case.get(key).and_then(Json::as_str);
    if let (Some(base_url), Some(path)) = (text("base_url"), text("path")) {
        return endpoint(base_url, path)
            .map_or_else(|problem| json!({ "refused": problem }), Json::from);
    }
    if let (Some(profile), Some(field)) = (text("profile"), text("field")) {
        let profile = json!(Profile::built_in(profile).unwrap());
        return profile[field].clone();
    }
    let request: Request = serde_json::from_value(case.into()).unwrap();
    assert!(request.about.as_ref().is_none_or(|about| !about.is_empty()));
    request.sent()
}

fn files() -> Vec<PathBuf> {
    let mut files: Vec<PathBuf> =
        std::fs::read_dir(folder("requests")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    files
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap().to_string_lossy().into_owned()
}

#[test]
fn every_line_of_the_checklist_has_a_file() {
    let covered: BTreeSet<String> =
        files().iter().map(|file| stem(file).split('-').next().unwrap().to_owned()).collect();
    let lines =
        (1..=12).map(|line| format!("R{line}")).chain((1..=11).map(|line| format!("H{line}")));
    assert_eq!(covered, lines.collect());
}

#[test]
fn requests_are_what_providers_take() {
    let update = is_update();
    for file in files() {
        let mut document: Json =
            serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
        for (number, case) in document["cases"].as_array_mut().unwrap().iter_mut().enumerate() {
            let outcome = outcome(case);
            if update {
                case["expected"] = outcome;
                continue;
            }
            // Compared as texts, because the order of the keys matters.
            let (found, expected) = (format!("{outcome:#}"), format!("{:#}", case["expected"]));
            assert_eq!(found, expected, "case {} of {}", number + 1, stem(&file));
        }
        if update {
            std::fs::write(&file, format!("{document:#}\n")).unwrap();
        }
    }
}
