//! Tests of chat completions: the requests that are sent, and the replies that are read.
#![allow(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    clippy::unwrap_used,
    clippy::wildcard_enum_match_arm,
    reason = "tests read real files and stop at the first surprise"
)]

mod errors;
mod hostile;
mod real;
mod requests;
mod streams;
mod wire;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crewagent_core::call::schema::tools;
use crewagent_core::policy::Policy;
use crewagent_dialect::fault::Fault;
use crewagent_dialect::names::ToolNames;
use crewagent_dialect::profile::NameForm;
use proptest::test_runner::{Config as ProptestConfig, RngSeed};
use serde_json::{Value as Json, json};

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Returns a folder of recorded answers.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name)
}

/// Returns true if the expectations are to be updated.
fn is_update() -> bool {
    crewagent_testkit::accept::is_accepting("dialect")
}

/// Returns a configuration with the same cases on every machine and every day. `PROPTEST_CASES` and `PROPTEST_RNG_SEED`
/// ask for more and others.
fn property_cases(count: u32) -> ProptestConfig {
    let asked = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    ProptestConfig {
        cases: asked("PROPTEST_CASES").map_or(count, |cases: u64| cases as u32),
        rng_seed: RngSeed::Fixed(asked("PROPTEST_RNG_SEED").unwrap_or(1)),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

/// Returns the names of the runtime's tools.
fn names() -> ToolNames {
    ToolNames::new(NameForm::Plain, &tools(&Policy::default()))
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
    // S11 is about sockets, which belong to the adapters.
    let lines =
        (1..=10).map(|line| format!("S{line}")).chain((1..=7).map(|line| format!("E{line}")));
    let missing: Vec<String> = lines.filter(|line| !covered.contains(line)).collect();
    assert!(missing.is_empty(), "{missing:?}");
}
