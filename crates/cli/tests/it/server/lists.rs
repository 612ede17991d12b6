//! Lists and pages: entries that are not shown are not read, and none is left out.

use std::fs;

use crewagent_testkit::eventually;
use serde_json::{Value as Json, json};

use super::api::{let_in, project};
use super::client::Browser;
use super::{tiny, tiny_run};

/// Starts a run, and waits until it is idle.
fn rested(browser: &Browser, body: &Json) -> String {
    let id = browser.post("/api/runs", body).good()["runId"].as_str().unwrap().to_owned();
    let mut events = browser.stream(&format!("run/{id}"), None);
    assert!(events.any(|frame| frame.data["event"]["type"] == "run.finished"));
    // A stream may deliver an event before the journal has it.
    let path = format!("/api/runs/{id}/events");
    let is_last = |page: &Json| {
        page["events"]
            .as_array()
            .unwrap()
            .last()
            .is_some_and(|event| event["type"] == "run.finished")
    };
    eventually(|| is_last(&browser.get(&path).good()));
    id
}

#[test]
fn a_list_reads_what_it_shows_and_counts_the_rest() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let project = project(&world, &browser);
    let body = tiny_run(&world, &project, "tiny.yaml");
    let mut ids = [rested(&browser, &body), rested(&browser, &body)];
    ids.sort();
    let project = project["id"].as_str().unwrap();
    // The older one is unreadable now, which only a list that reads it would report.
    let older = world.path(&format!("store/projects/{project}/runs/{}/run.json", ids[0]));
    fs::write(older, "{}").unwrap();
    let listed = |query: &str| browser.get(&format!("/api/runs?{query}")).good();
    let one = listed("limit=1");
    assert_eq!((&one["runs"][0]["id"], &one["total"]), (&json!(ids[1]), &json!(2)));
    assert_eq!(one["damaged"], json!([]));
    let all = listed("");
    assert_eq!((all["runs"].as_array().unwrap().len(), &all["total"]), (1, &json!(2)));
    assert_eq!(all["damaged"][0]["name"], ids[0].as_str());
    // The status of a run is only in the run itself.
    let waiting = listed("status=waiting-user&limit=1");
    assert_eq!((&waiting["total"], &waiting["damaged"][0]["name"]), (&json!(1), &json!(ids[0])));
    let projects = browser.get("/api/projects").good();
    assert_eq!(projects["projects"][0]["runs"], 2);
}

#[test]
fn projects_are_listed_by_their_last_use_with_what_waits_in_them() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let first = project(&world, &browser);
    let folder = world.path("aardvark");
    fs::create_dir(&folder).unwrap();
    let body = json!({ "path": folder.to_str().unwrap() });
    let second = browser.post("/api/projects", &body).good();
    let listed = || {
        let list = browser.get("/api/projects").good();
        let all = list["projects"].as_array().unwrap().iter();
        all.map(|one| (one["id"].clone(), one["waiting"].clone())).collect::<Vec<_>>()
    };
    let (first_id, second_id) = (first["id"].clone(), second["id"].clone());
    assert_eq!(listed(), [(second_id.clone(), json!(0)), (first_id.clone(), json!(0))]);
    rested(&browser, &tiny_run(&world, &first, "tiny.yaml"));
    assert_eq!(listed(), [(first_id, json!(1)), (second_id, json!(0))]);
}

#[test]
fn conversations_are_listed_and_searched_as_far_as_is_asked() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let project = project(&world, &browser);
    for title in ["An evening", "A morning"] {
        let body = json!({ "project": project["id"] });
        let conversation = browser.post("/api/conversations", &body).good();
        let at = format!("/api/conversations/{}", conversation["id"].as_str().unwrap());
        browser.json("PATCH", &at, &json!({ "title": title })).good();
    }
    let titles = |query: &str| {
        let list = browser.get(&format!("/api/conversations?{query}")).good();
        let all = list["conversations"].as_array().unwrap().iter();
        let mut titles: Vec<String> =
            all.map(|one| one["title"].as_str().unwrap().to_owned()).collect();
        titles.sort();
        (titles, list["more"].as_bool().unwrap())
    };
    assert_eq!(titles(""), (vec!["A morning".to_owned(), "An evening".to_owned()], false));
    assert!(matches!(titles("limit=1"), (one, true) if one.len() == 1));
    assert_eq!(titles("words=EVEN"), (vec!["An evening".to_owned()], false));
    assert!(matches!(titles("words=n&limit=1"), (one, true) if one.len() == 1));
}

#[test]
fn pages_of_events_are_the_journal() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let project = project(&world, &browser);
    let id = rested(&browser, &tiny_run(&world, &project, "tiny.yaml"));
    let page = |query: &str| browser.get(&format!("/api/runs/{id}/events?{query}")).good();
    let whole = page("");
    assert_eq!(whole["more"], false);
    let (mut events, mut after) = (Vec::new(), 0);
    loop {
        let page = page(&format!("after={after}&limit=3"));
        let next = page["events"].as_array().unwrap();
        events.extend(next.iter().cloned());
        if page["more"] == false {
            assert_eq!(page["cursor"], whole["cursor"]);
            break;
        }
        assert_eq!(next.len(), 3);
        after = next[2]["seq"].as_u64().unwrap();
    }
    assert_eq!(json!(events), whole["events"]);
    // From an offset at which no page ended.
    let rest = page("after=4");
    assert_eq!(rest["events"].as_array().unwrap()[..], events[4..]);
    assert_eq!(page("after=100000")["events"], json!([]));
}

#[test]
fn a_page_of_events_ends_when_it_is_long() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let project = project(&world, &browser);
    let id = rested(&browser, &tiny_run(&world, &project, "tiny.yaml"));
    let folder = format!("store/projects/{}/runs/{id}", project["id"].as_str().unwrap());
    let journal = world.path(&format!("{folder}/state/logs/execution.jsonl"));
    let mut text = fs::read_to_string(&journal).unwrap();
    let count = text.lines().count() as u64;
    let last: Json = serde_json::from_str(text.lines().next_back().unwrap()).unwrap();
    for seq in count + 1..=count + 12 {
        let words = "x".repeat(1 << 20);
        let event = json!({
            "v": last["v"], "type": "error", "time": last["time"], "runId": last["runId"], "seq": seq,
            "message": words,
        });
        text.push_str(&format!("{event}\n"));
    }
    fs::write(&journal, text).unwrap();
    let (mut after, mut pages) = (0, 0);
    loop {
        let answer = browser.get(&format!("/api/runs/{id}/events?after={after}&limit=5000"));
        assert!(answer.body.len() < 7 << 20, "{}", answer.body.len());
        let page = answer.good();
        pages += 1;
        let events = page["events"].as_array().unwrap();
        assert_eq!(events[0]["seq"], after + 1);
        after = events.last().unwrap()["seq"].as_u64().unwrap();
        if page["more"] == false {
            break;
        }
    }
    assert_eq!((after, pages > 2), (count + 12, true));
}
