//! Many concurrent runs, and the resources of an idle server.

use std::collections::BTreeSet;

use crewagent_testkit::process;
use serde_json::json;

use super::{UiServer, tiny, tiny_run};

/// Number of runs that must work.
const RUNS: usize = 100;
/// Maximum memory of an idle server, in KiB, without its program.
const IDLE: u64 = 20 << 10;

#[test]
fn a_hundred_runs_work_at_once_and_the_list_is_live() {
    let world = tiny();
    let server = UiServer::start(&world, 0);
    let browser = server.browser();
    let body = json!({ "path": world.path("project").to_str().unwrap() });
    let project = browser.post("/api/projects", &body).good();
    let mut list = browser.stream("", None);
    let mut waiting = BTreeSet::new();
    let run = tiny_run(&world, &project, "tiny.yaml");
    for _ in 0..RUNS {
        waiting
            .insert(browser.post("/api/runs", &run).good()["runId"].as_str().unwrap().to_owned());
    }
    assert_eq!(waiting.len(), RUNS);
    // Every one of them is reported as idle, on a stream that watches none of them.
    while !waiting.is_empty() {
        let frame = list.next().unwrap();
        if frame.name == "notice" && frame.data["phase"] == "WaitingUser" {
            waiting.remove(frame.data["journal"]["id"].as_str().unwrap());
        }
    }
    let listed = browser.get("/api/runs?status=waiting-user").good();
    assert_eq!(listed["total"], RUNS);
}

#[cfg(target_os = "linux")]
#[test]
fn a_server_that_does_nothing_is_small() {
    let world = tiny();
    let server = UiServer::start(&world, 0);
    let browser = server.browser();
    browser.get("/").body.clear();
    browser.get("/api/openapi.json").good();
    browser.get("/api/runs").good();
    let memory = process::own_memory(&server.pid().to_string());
    assert!(memory > 0 && memory < IDLE, "{memory} KiB");
}
