//! Chat completions: what is sent, and what is made of the answers.

mod errors;
mod hostile;
mod real;
mod requests;
mod streams;
mod wire;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crewagent_core::chat::fault::Fault;
use crewagent_core::chat::names::Names;
use crewagent_core::chat::profile::NameForm;
use crewagent_core::policy::Policy;
use crewagent_core::tool::schema::tools;
use serde_json::{Value as Json, json};

/// Where the answers are kept.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/chat").join(name)
}

/// Whether what is expected is written anew: `UPDATE_CHAT=1 cargo test -p crewagent-core --test it chat::`.
fn is_update() -> bool {
    std::env::var_os("UPDATE_CHAT").is_some()
}

/// The names of our tools.
fn names() -> Names {
    Names::new(NameForm::Plain, &tools(&Policy::default()))
}

fn fault_as_json(fault: &Fault) -> Json {
    let mut json = json!({ "kind": format!("{:?}", fault.kind) });
    if let Some(status) = fault.status {
        json["status"] = status.into();
    }
    if let Some(said) = &fault.said {
        json["said"] = said.as_str().into();
    }
    if let Some(wait) = fault.retry_after {
        json["retryAfterMs"] = u64::try_from(wait.as_millis()).unwrap().into();
    }
    json
}

#[test]
fn every_line_of_the_checklist_about_answers_is_covered() {
    let streams = streams::cases().into_iter().map(|case| case.expected);
    let errors = errors::cases().into_iter().map(|(_, case)| case);
    let mut covered = BTreeSet::new();
    for case in streams.chain(errors) {
        let lines = case["covers"].as_array().cloned().unwrap_or_default();
        covered.extend(lines.iter().map(|line| line.as_str().unwrap().to_owned()));
    }
    // S11 is about sockets, which are the engine's.
    let lines =
        (1..=10).map(|line| format!("S{line}")).chain((1..=7).map(|line| format!("E{line}")));
    let missing: Vec<String> = lines.filter(|line| !covered.contains(line)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
