//! The whole path: a link, a cookie, a run, its events, an answer, the end.

use std::process::Stdio;

use serde_json::json;

use super::client::Browser;
use super::{UiServer, tiny, tiny_run};
use crate::support::CliFixture;

#[test]
fn a_run_goes_from_its_start_to_its_end() {
    let world = tiny();
    let server = UiServer::start(&world, 0);
    let browser = server.browser();
    let record = browser.get("/api/app").good();
    assert_eq!(record["version"], env!("CARGO_PKG_VERSION"));
    let project = browser
        .post("/api/projects", &json!({ "path": world.path("project").to_str().unwrap() }))
        .good();
    let started = browser.post("/api/runs", &tiny_run(&world, &project, "tiny.yaml")).good();
    let id = started["runId"].as_str().unwrap().to_owned();
    let mut events = browser.stream(&format!("run/{id}"), None);
    assert_eq!(events.next().unwrap().name, "hello");
    let question = events.by_ref().find(|frame| frame.data["event"]["type"] == "question").unwrap();
    assert_eq!(question.data["event"]["question"], "What should be made, and for whom?");
    events.by_ref().find(|frame| frame.data["event"]["phase"] == "WaitingUser").unwrap();
    let said = json!({ "text": "a brief for Ana" });
    let answer = browser.post(&format!("/api/runs/{id}/say"), &said);
    assert_eq!(answer.good(), json!({ "kind": "work" }));
    events.by_ref().find(|frame| frame.data["event"]["phase"] == "Completed").unwrap();
    assert!(world.path("project/artifacts/brief.md").is_file());
    assert_eq!(Browser::new(server.port).get("/api/app").code(), "unauthorized");
}

#[test]
fn the_demo_in_the_browser_has_everything_that_it_needs() {
    let world = CliFixture::new();
    let mut command = world.command();
    command.args(["demo", "--ui", "--no-open"]);
    command.stdout(Stdio::piped()).stderr(Stdio::null());
    let server = UiServer::of_plain(command);
    let browser = server.browser();
    let app = browser.get("/api/app").good();
    assert!(app["model"].as_str().unwrap().starts_with("scripted:"), "{app}");
    assert!(app.get("modelProblem").is_none(), "{app}");
    let projects = browser.get("/api/projects").good();
    assert_eq!(projects["projects"].as_array().unwrap().len(), 1, "{projects}");
    let packages = browser.get("/api/packages").good();
    assert_eq!(packages["packages"][0]["name"], "create-story-micro", "{packages}");
}
