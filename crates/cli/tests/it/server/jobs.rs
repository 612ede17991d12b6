//! Concurrent requests to a run: crossing inputs, an early stop, a change of the driving process.

use serde_json::{Value as Json, json};

use super::api::{let_in, project};
use super::client::{Browser, Events, Frame};
use super::model::Speaker;
use super::resume::serve;
use super::{tiny, tiny_run};
use crate::support::CliFixture;

/// Follows a stream until this event arrives.
fn until(events: &mut Events, kind: &str) -> Json {
    let found = events.find(|frame| frame.data["event"]["type"] == kind);
    found.unwrap_or_else(|| panic!("{kind} is never told")).data["event"].clone()
}

/// Starts a run of the tiny package that waits for its first answer.
fn waiting(world: &CliFixture, browser: &Browser) -> (String, Events) {
    let project = project(world, browser);
    let started = browser.post("/api/runs", &tiny_run(world, &project, "tiny.yaml")).good();
    let id = started["runId"].as_str().unwrap().to_owned();
    let mut events = browser.stream(&format!("run/{id}"), None);
    until(&mut events, "question");
    events.find(|frame| frame.data["event"]["phase"] == "WaitingUser").unwrap();
    // The worker becomes idle right after that.
    while browser.get(&format!("/api/runs/{id}")).good()["atWork"] == true {
        assert!(events.any(|frame| frame.name == "notice"));
    }
    (id, events)
}

/// Counts the inputs of the user to a run.
fn inputs(browser: &Browser, id: &str) -> usize {
    let page = browser.get(&format!("/api/runs/{id}/events?limit=5000")).good();
    let events = page["events"].as_array().unwrap();
    events.iter().filter(|event| event["type"] == "user.input").count()
}

#[test]
fn words_for_a_question_never_answer_another_one() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let (id, mut events) = waiting(&world, &browser);
    let say = format!("/api/runs/{id}/say");
    let other = json!({ "text": "a brief", "answers": "call_7_7" });
    assert_eq!(browser.post(&say, &other).code(), "changed");
    let page = browser.get(&format!("/api/runs/{id}/events")).good();
    let mut all = page["events"].as_array().unwrap().iter();
    let asked = all.find(|event| event["type"] == "question").unwrap();
    let answer = json!({ "text": "a brief", "answers": asked["callId"] });
    // The first input is the answer; the other is late.
    let codes = std::thread::scope(|scope| {
        let both = [0, 1].map(|_| scope.spawn(|| browser.post(&say, &answer).status));
        let mut codes = both.map(|thread| thread.join().unwrap());
        codes.sort_unstable();
        codes
    });
    assert_eq!(codes, [200, 409]);
    events.find(|frame| frame.data["event"]["phase"] == "Completed").unwrap();
    assert_eq!(inputs(&browser, &id), 1);
}

#[test]
fn a_run_at_work_is_stopped_although_the_settings_cannot_be_read() {
    let (world, speaker) = (tiny(), Speaker::new(0));
    let server = serve(&world, &speaker, 0);
    let browser = server.browser();
    let project = project(&world, &browser);
    let body = json!({ "project": project["id"], "package": "tiny" });
    let started = browser.post("/api/runs", &body).good();
    let id = started["runId"].as_str().unwrap().to_owned();
    let mut events = browser.stream(&format!("run/{id}"), None);
    until(&mut events, "assistant.delta");
    std::fs::write(world.path("store/config.toml"), "this is = = no settings").unwrap();
    let stopped = browser.post(&format!("/api/runs/{id}/stop"), &json!({})).good();
    assert_eq!(stopped, json!({ "wasAtWork": true }));
    events.find(|frame| frame.data["event"]["phase"] == "Paused").unwrap();
}

#[test]
fn a_model_that_cannot_be_had_is_not_remembered() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let (id, mut events) = waiting(&world, &browser);
    let say = format!("/api/runs/{id}/say");
    let wrong = json!({ "text": "a brief", "model": "nobody" });
    assert_ne!(browser.post(&say, &wrong).status, 200);
    assert_eq!(inputs(&browser, &id), 0, "words that no model hears are not taken");
    browser.post(&say, &json!({ "text": "a brief" })).good();
    events.find(|frame| frame.data["event"]["phase"] == "Completed").unwrap();
}

#[test]
fn the_model_that_was_asked_for_answers_after_a_restart_too() {
    let world = tiny();
    let (server, browser) = let_in(&world);
    let (id, _) = waiting(&world, &browser);
    server.kill();
    // There is no default model: only the run itself knows its own.
    let (_server, browser) = let_in(&world);
    let mut events = browser.stream(&format!("run/{id}"), None);
    browser.post(&format!("/api/runs/{id}/say"), &json!({ "text": "a brief" })).good();
    events.find(|frame| frame.data["event"]["phase"] == "Completed").unwrap();
}

#[test]
fn a_model_that_is_chosen_on_the_way_is_the_one_of_the_run_from_there_on() {
    let world = tiny();
    let (server, browser) = let_in(&world);
    let (id, mut events) = waiting(&world, &browser);
    world.write("other.yaml", "scenario: another one\notherwise: { say: I am another one. }\n");
    let other = format!("scripted:{}", world.path("other.yaml").display());
    let say = format!("/api/runs/{id}/say");
    browser.post(&say, &json!({ "text": "a brief", "model": other })).good();
    let resumed = until(&mut events, "run.resumed");
    assert_eq!(resumed["settings"]["model"], other.as_str());
    let said = until(&mut events, "assistant.message");
    assert_eq!(said["content"], "I am another one.");
    server.kill();
    let ran = world.run(&["resume", &id, "--input", "And now?", "--json"]);
    assert!(ran.out.matches("I am another one.").count() > 0, "{ran:?}");
}

#[test]
fn lists_tell_a_run_that_asks_for_leave_from_one_that_asks_a_question() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let project = project(&world, &browser);
    let mut body = tiny_run(&world, &project, "tiny.yaml");
    body["bounds"] = json!({ "tools": { "askWrites": true } });
    let started = browser.post("/api/runs", &body).good();
    let id = started["runId"].as_str().unwrap();
    let mut events = browser.stream(&format!("run/{id}"), None);
    for (kind, words) in [("text", Some("a brief")), ("approval", None)] {
        let asks = |frame: &Frame| frame.name == "notice" && frame.data["asks"] == kind;
        // A notice comes before the journal is written, from which lists are read; the worker is idle after that.
        let rests = |frame: &Frame| asks(frame) && frame.data["atWork"] == false;
        assert!(events.any(|frame| rests(&frame)), "{kind} is never told");
        assert_eq!(browser.get("/api/runs").good()["runs"][0]["asks"], kind);
        if let Some(text) = words {
            browser.post(&format!("/api/runs/{id}/say"), &json!({ "text": text })).good();
        }
    }
}

#[test]
fn a_run_that_a_conversation_has_left_can_be_followed_in_other_hands() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let project = project(&world, &browser);
    let body = json!({ "project": project["id"], "package": "tiny" });
    let conversation = browser.post("/api/conversations", &body).good();
    let conversation = conversation["id"].as_str().unwrap();
    let model = format!("scripted:{}", world.path("tiny.yaml").display());
    let body = json!({ "package": "tiny", "model": model });
    let came = browser.post(&format!("/api/conversations/{conversation}/runs"), &body).good();
    let run = came["runId"].as_str().unwrap();
    let mut events = browser.stream(&format!("conversation/{conversation},run/{run}"), None);
    until(&mut events, "question");
    events.find(|frame| frame.data["event"]["phase"] == "WaitingUser").unwrap();
    let say = format!("/api/conversations/{conversation}/say");
    browser.post(&say, &json!({ "text": "/menu" })).good();
    // It is free at once, and the process that resumes it is reported.
    let ran = world.run(&["resume", run, "--input", "a brief", "--model", &model]);
    assert_eq!(ran.code, 0, "{}", ran.err);
    events.find(|frame| frame.data["event"]["phase"] == "Completed").unwrap();
    let shown = browser.get(&format!("/api/runs/{run}")).good();
    assert_eq!((&shown["status"], &shown["atWork"]), (&json!("completed"), &json!(false)));
}

#[test]
fn what_rests_here_is_not_in_use_by_somebody_else() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let (id, _events) = waiting(&world, &browser);
    let shown = browser.get(&format!("/api/runs/{id}")).good();
    let project = format!("/api/projects/{}", shown["project"].as_str().unwrap());
    browser.delete(&project).good();
    assert_eq!(browser.get(&format!("/api/runs/{id}")).code(), "not-found");
}
