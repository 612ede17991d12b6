//! Forks, and reverts of a run's changes.

use serde_json::{Value as Json, json};

use super::api::{completed, let_in, project, until};
use super::client::{Browser, Events};
use super::{tiny, tiny_run};
use crate::support::CliFixture;

const BRIEF: &str = "artifacts/brief.md";

/// Returns the event by which a run came to a node.
fn visit(run: &Json, node: &str) -> Json {
    let path = run["path"].as_array().unwrap();
    path.iter().find(|visit| visit["node"] == node).unwrap()["seq"].clone()
}

/// Completes a run and waits until no process drives it.
fn at_rest(world: &CliFixture, browser: &Browser) -> String {
    let id = completed(world, browser);
    let mut events = browser.stream(&format!("run/{id}"), None);
    let shown = || browser.get(&format!("/api/runs/{id}")).good();
    while shown()["atWork"] == true {
        until_notice(&mut events);
    }
    id
}

/// Waits until a change of a run's status is reported.
fn until_notice(events: &mut Events) {
    assert!(events.any(|frame| frame.name == "notice"));
}

#[test]
fn a_run_is_forked_at_a_node_and_goes_on_at_once() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let id = at_rest(&world, &browser);
    let at = |what: &str| format!("/api/runs/{id}{what}");
    let before = browser.get(&at("/events")).good();
    let event = visit(&browser.get(&at("")).good(), "step-02-write");
    let preview = browser.get(&at(&format!("/fork?event={event}"))).good();
    assert_eq!(
        (&preview["node"], &preview["documents"], &preview["variables"]),
        (&json!("step-02-write"), &json!(1), &json!({ "topic": "a brief" }))
    );
    assert_eq!(preview["artifacts"], json!(["artifacts/request.md"]));

    let rests = browser.post(&at("/fork"), &json!({ "event": event })).good();
    let rests = browser.get(&format!("/api/runs/{}", rests["runId"].as_str().unwrap())).good();
    assert_eq!(
        (&rests["status"], &rests["currentNode"]),
        (&json!("paused"), &json!("step-02-write"))
    );
    let origin = json!({ "run": id, "event": event, "node": "step-02-write" });
    assert_eq!(rests["forkedFrom"], origin);

    std::fs::remove_file(world.path(&format!("project/{BRIEF}"))).unwrap();
    let model = format!("scripted:{}", world.path("tiny.yaml").display());
    let body = json!({ "event": event, "start": true, "model": model });
    let forked = browser.post(&at("/fork"), &body).good();
    let fork = forked["runId"].as_str().unwrap();
    let mut events = browser.stream(&format!("run/{fork}"), None);
    until(&mut events, "Completed");
    assert!(world.path(&format!("project/{BRIEF}")).is_file());
    let shown = browser.get(&format!("/api/runs/{fork}")).good();
    assert_eq!((&shown["forkedFrom"], &shown["turns"]), (&origin, &json!(4)));
    let requests = browser.get(&format!("/api/runs/{fork}/requests")).good();
    let requests = requests["requests"].as_array().unwrap();
    assert!(requests.len() == 4 && requests.iter().all(|one| one["exact"] == true), "{requests:?}");
    assert_eq!(browser.get(&at("/events")).good(), before, "the old run is not touched");
}

#[test]
fn what_cannot_be_forked_says_why() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let id = at_rest(&world, &browser);
    let no_visit = browser.post(&format!("/api/runs/{id}/fork"), &json!({ "event": 2 }));
    assert_eq!(no_visit.code(), "not-found");
    assert_eq!(browser.get("/api/runs/20200101-000000-abcde/fork?event=1").code(), "not-found");
    // A run in progress writes the same files.
    world.write("slow.yaml", "scenario: slow\npace: { characters: 1, milliseconds: 60000 }\nnodes:\n  step-01-ask:\n    - say: \"Hello.\"\n");
    let place = project(&world, &browser);
    let started = browser.post("/api/runs", &tiny_run(&world, &place, "slow.yaml")).good();
    let slow = started["runId"].as_str().unwrap();
    let mut events = browser.stream(&format!("run/{slow}"), None);
    assert!(events.any(|frame| frame.data["event"]["type"] == "turn.started"));
    let busy = browser.post(&format!("/api/runs/{slow}/fork"), &json!({ "event": 1 }));
    assert_eq!(busy.code(), "busy");
    browser.post(&format!("/api/runs/{slow}/stop"), &json!({})).good();
    until(&mut events, "Paused");
    while browser.get(&format!("/api/runs/{slow}")).good()["atWork"] == true {
        until_notice(&mut events);
    }
    browser.post(&format!("/api/runs/{slow}/fork"), &json!({ "event": 1 })).good();
}

#[test]
fn a_hunk_is_taken_back_unless_the_page_is_out_of_date() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let id = completed(&world, &browser);
    let at = |what: &str| format!("/api/runs/{id}{what}");
    let hunks = browser.get(&at(&format!("/changes/hunks?path={BRIEF}"))).good();
    let hunk = &hunks["hunks"][0];
    assert_eq!((&hunks["created"], &hunks["isCurrent"]), (&json!(true), &json!(true)));
    assert_eq!(hunk["lines"], json!([{ "side": "now", "text": "# Brief" }]));
    let range = json!({
        "oldStart": hunk["oldStart"], "oldLines": hunk["oldLines"],
        "newStart": hunk["newStart"], "newLines": hunk["newLines"],
    });
    let body = json!({ "path": BRIEF, "ifMatchSha256": hunks["now"], "hunk": range });
    world.write(&format!("project/{BRIEF}"), "mine\n# Brief\n");
    assert_eq!(browser.post(&at("/changes/revert-hunk"), &body).code(), "changed");
    world.write(&format!("project/{BRIEF}"), "# Brief\n");
    browser.post(&at("/changes/revert-hunk"), &body).good();
    assert!(!world.path(&format!("project/{BRIEF}")).exists());
    assert_eq!(browser.get(&at("/changes/hunks?path=secret.md")).code(), "not-found");
    assert_eq!(browser.get(&at("/changes/hunks?path=../secret.md")).code(), "not-found");
}

#[test]
fn a_step_is_taken_back_but_for_what_somebody_else_changed() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let id = completed(&world, &browser);
    let at = |what: &str| format!("/api/runs/{id}{what}");
    let first = visit(&browser.get(&at("")).good(), "step-01-ask");
    world.write("project/artifacts/request.md", "my own\n");
    let way = browser.get(&at(&format!("/changes/back?visit={first}&onward=true"))).good();
    let files = way["files"].as_array().unwrap();
    let prospects: Vec<&Json> = files.iter().map(|file| &file["prospect"]).collect();
    assert_eq!(prospects, [&json!("ready"), &json!("conflict")]);
    let agreed: Vec<Json> = files
        .iter()
        .map(|file| json!({ "path": file["path"], "ifMatchSha256": file["now"] }))
        .collect();
    let body = json!({ "visit": first, "onward": true, "files": agreed });
    let went = browser.post(&at("/changes/back"), &body).good();
    assert_eq!(went["files"][0], json!({ "path": BRIEF }));
    assert!(went["files"][1]["left"].as_str().unwrap().contains("changed it since"));
    assert!(!world.path(&format!("project/{BRIEF}")).exists());
    assert!(world.path("project/artifacts/request.md").exists());
    let step = browser.get(&at(&format!("/changes/back?visit={first}"))).good();
    assert_eq!(step["files"].as_array().unwrap().len(), 1);
}
