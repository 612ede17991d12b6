//! Tests of the API: the document against the routes, and each resource through its requests.

use serde_json::{Value as Json, json};

use super::client::{Browser, Events};
use super::{UiServer, tiny, tiny_run};
use crate::support::{CliFixture, example};

/// Starts a server, and returns it with a logged-in browser.
pub(super) fn let_in(world: &CliFixture) -> (UiServer, Browser) {
    let server = UiServer::start(world, 0);
    let browser = server.browser();
    (server, browser)
}

pub(super) fn project(world: &CliFixture, browser: &Browser) -> Json {
    let path = world.path("project");
    browser.post("/api/projects", &json!({ "path": path.to_str().unwrap() })).good()
}

/// Follows a stream until the run is in this phase.
pub(super) fn until(events: &mut Events, phase: &str) {
    let found = events.find(|frame| frame.data["event"]["phase"] == phase);
    assert!(found.is_some(), "{phase} is never told");
}

/// Completes a run of the tiny package, and returns its id.
pub(super) fn completed(world: &CliFixture, browser: &Browser) -> String {
    let project = project(world, browser);
    let started = browser.post("/api/runs", &tiny_run(world, &project, "tiny.yaml")).good();
    let id = started["runId"].as_str().unwrap().to_owned();
    let mut events = browser.stream(&format!("run/{id}"), None);
    until(&mut events, "WaitingUser");
    browser.post(&format!("/api/runs/{id}/say"), &json!({ "text": "a brief" })).good();
    until(&mut events, "Completed");
    assert!(events.any(|frame| frame.data["event"]["type"] == "run.finished"));
    id
}

#[test]
fn every_request_of_the_document_is_there_and_knows_its_methods() {
    let world = CliFixture::new();
    let (_server, browser) = let_in(&world);
    let document = browser.get("/api/openapi.json").good();
    assert_eq!(document["openapi"], "3.1.0");
    let turn = &document["paths"]["/api/runs/{id}/requests/{turn}"]["get"]["parameters"][1];
    assert_eq!((&turn["name"], &turn["schema"]["type"]), (&json!("turn"), &json!("integer")));
    let paths = document["paths"].as_object().unwrap();
    assert!(paths.len() > 50, "{}", paths.len());
    for (path, methods) in paths {
        let real = path.replace("{id}", "x").replace("{turn}", "1").replace("{code}", "BM101");
        let real = real.replace("{reference}", "x").replace("{sha256}", "x").replace("{name}", "x");
        assert!(!real.contains('{'), "{path}");
        for method in ["GET", "POST", "PUT", "PATCH", "DELETE"] {
            if path == "/api/events" || path == "/api/leave" {
                continue;
            }
            let answer = browser.send(method, &real, &[("content-type", "text/odd")], b"");
            let is_there = methods.get(method.to_lowercase()).is_some();
            let is_known = answer.status != 405 && !answer.text().contains("no such request");
            assert_eq!(is_known, is_there, "{method} {path}: {}", answer.text());
        }
    }
    assert_eq!(browser.get("/api/nothing").code(), "not-found");
}

#[test]
fn every_schema_that_the_document_names_is_in_it() {
    fn look(value: &Json, document: &Json) {
        match value {
            Json::Object(fields) => {
                if let Some(name) = fields.get("$ref").and_then(Json::as_str) {
                    let path = name.strip_prefix('#').unwrap_or_else(|| panic!("{name}"));
                    assert!(document.pointer(path).is_some(), "{name} is missing");
                }
                fields.values().for_each(|inner| look(inner, document));
            }
            Json::Array(items) => items.iter().for_each(|inner| look(inner, document)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    let world = CliFixture::new();
    let (_server, browser) = let_in(&world);
    let document = browser.get("/api/openapi.json").good();
    look(&document, &document);
}

#[test]
fn a_run_can_be_held_to_less_than_the_settings_allow() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let project = project(&world, &browser);
    let mut body = tiny_run(&world, &project, "tiny.yaml");
    body["bounds"] = json!({ "tools": { "deny": ["fs.sarch"] } });
    let wrong = browser.post("/api/runs", &body);
    assert_eq!(wrong.code(), "invalid");
    assert!(wrong.text().contains("fs.search"), "{}", wrong.text());
    body["bounds"] = json!({ "tools": { "askWrites": true } });
    let id = browser.post("/api/runs", &body).good()["runId"].as_str().unwrap().to_owned();
    let mut events = browser.stream(&format!("run/{id}"), None);
    until(&mut events, "WaitingUser");
    browser.post(&format!("/api/runs/{id}/say"), &json!({ "text": "a brief" })).good();
    let asked = events.find(|frame| frame.data["event"]["kind"] == "approval");
    assert!(asked.is_some(), "the write is not asked about");
    assert!(!world.path("project/artifacts/brief.md").exists());
}

#[test]
fn a_run_can_be_looked_at_from_every_side() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let id = completed(&world, &browser);
    let at = |what: &str| format!("/api/runs/{id}{what}");
    let shown = browser.get(&at("")).good();
    assert_eq!((&shown["status"], &shown["turns"]), (&json!("completed"), &json!(7)));
    assert_eq!(shown["spent"], json!({ "turns": shown["turns"], "usage": shown["usage"] }));
    assert_eq!(shown["path"].as_array().unwrap().len(), 3);
    assert_eq!(shown["graph"]["nodes"].as_array().unwrap().len(), 3);
    let list = browser.get("/api/runs?status=completed").good();
    assert_eq!((&list["total"], &list["runs"][0]["id"]), (&json!(1), &json!(id)));
    assert_eq!(browser.get("/api/runs?status=failed").good()["total"], 0);

    let first = browser.get(&at("/events?limit=3")).good();
    assert_eq!(
        (&first["events"][0]["type"], &first["more"]),
        (&json!("run.started"), &json!(true))
    );
    let rest = browser.get(&at("/events?after=3")).good();
    assert_eq!((&rest["events"][0]["seq"], &rest["more"]), (&json!(4), &json!(false)));
    let state = browser.get(&at("/state")).good();
    assert!(state["documents"][0]["text"].as_str().unwrap().contains("stepsCompleted"));

    let requests = browser.get(&at("/requests")).good();
    let requests = requests["requests"].as_array().unwrap();
    assert!(requests.len() == 7 && requests.iter().all(|one| one["exact"] == true), "{requests:?}");
    let request = browser.get(&at("/requests/1")).good();
    let layers: Vec<&str> = request["messages"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["layer"].as_str().unwrap())
        .collect();
    assert_eq!(layers, ["system", "system", "directive"]);

    let file = browser.get(&at("/export"));
    assert_eq!((file.status, &file.body[..2]), (200, &b"PK"[..]));
    let home = world.folder.path().to_str().unwrap();
    assert!(!String::from_utf8_lossy(&file.body).contains(home));

    let scenario = browser.get(&at("/scenario")).good();
    assert!(scenario["text"].as_str().unwrap().contains("step-02-write"));

    let artifacts = browser.get(&at("/artifacts")).good();
    assert_eq!(artifacts["artifacts"][1]["path"], "artifacts/brief.md");
    let changes = browser.get(&at("/changes")).good();
    let brief = &changes["files"][0];
    assert_eq!((&brief["path"], &brief["created"]), (&json!("artifacts/brief.md"), &json!(true)));
    let images = browser.get(&at("/changes/images?path=artifacts/brief.md")).good();
    assert_eq!(images["after"]["text"], "# Brief\n");
    assert!(images.get("before").is_none());
    let revert = json!({ "path": "artifacts/brief.md", "ifMatchSha256": brief["now"] });
    browser.post(&at("/changes/revert"), &revert).good();
    assert!(!world.path("project/artifacts/brief.md").exists());
    assert_eq!(browser.post(&at("/changes/revert"), &revert).code(), "changed");

    assert_eq!(browser.delete(&at("")).status, 200);
    assert_eq!(browser.get(&at("")).code(), "not-found");
}

#[test]
fn a_conversation_goes_from_a_menu_to_a_run_and_back() {
    let world = tiny();
    let model = format!("scripted:{}", world.path("tiny.yaml").display());
    let (_server, browser) = let_in(&world);
    let project = project(&world, &browser);
    let content = browser.get("/api/packages/tiny").good();
    let agent = &content["agents"][0];
    let body = json!({ "project": project["id"], "package": "tiny", "agent": agent["id"], "model": model });
    let conversation = browser.post("/api/conversations", &body).good();
    let at =
        |what: &str| format!("/api/conversations/{}{what}", conversation["id"].as_str().unwrap());
    let shown = browser.get(&at("")).good();
    assert_eq!((&shown["mode"], &shown["menu"]), (&json!("agent"), &agent["menu"]));
    let menu = browser.post(&at("/say"), &json!({ "text": "/menu" })).good();
    assert_eq!((&menu["kind"], &menu["lines"]), (&json!("menu"), &agent["menu"]));
    let mut events =
        browser.stream(&format!("conversation/{}", conversation["id"].as_str().unwrap()), None);
    let came = browser.post(&at("/say"), &json!({ "text": "1" })).good();
    assert_eq!(came["kind"], "started", "{came}");
    let run = came["runId"].as_str().unwrap();
    // The stream brings the run along.
    let question = events.find(|frame| frame.data["event"]["type"] == "question").unwrap();
    assert_eq!(question.data["journal"], json!({ "kind": "run", "id": run }));
    until(&mut events, "WaitingUser");
    assert_eq!(browser.get(&at("")).good()["activeRun"], run);
    // Both addresses are those of the run.
    browser.post(&format!("/api/runs/{run}/say"), &json!({ "text": "a brief" })).good();
    until(&mut events, "Completed");
    let left = browser.post(&at("/say"), &json!({ "text": "/pause" })).good();
    assert_eq!(left, json!({ "kind": "left", "runId": run }));
    assert_eq!(browser.get(&at("")).good()["mode"], "agent");
    let came = browser.post(&at("/enter"), &json!({ "run": run })).good();
    assert_eq!(came["kind"], "resumed");
    let launched = browser.post(&at("/runs"), &json!({ "package": "tiny" }));
    assert!(matches!(launched.status, 200 | 409), "{}", launched.text());
    let renamed = browser.json("PATCH", &at(""), &json!({ "title": "Briefs" })).good();
    assert_eq!(renamed["title"], "Briefs");
    assert_eq!(
        browser.get("/api/conversations?words=brief").good()["conversations"][0]["title"],
        "Briefs"
    );
    browser.post(&at("/stop"), &json!({})).good();
    let mut removed = browser.delete(&at(""));
    while removed.status == 409 {
        removed = browser.delete(&at(""));
    }
    assert!(removed.good()["runs"].as_array().unwrap().iter().any(|id| id == run));
}

#[test]
fn a_run_is_named_after_what_its_user_said_until_somebody_renames_it() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let id = completed(&world, &browser);
    let list = browser.get("/api/runs").good();
    assert_eq!(list["runs"][0]["title"], "a brief");
    let at = format!("/api/runs/{id}");
    let renamed = browser.json("PATCH", &at, &json!({ "title": " The  brief\tof May " })).good();
    assert_eq!(renamed["title"], "The brief of May");
    assert_eq!(browser.json("PATCH", &at, &json!({ "title": " " })).code(), "invalid");
    let visit = browser.get(&at).good()["path"][0]["seq"].clone();
    let forked = browser.post(&format!("{at}/fork"), &json!({ "event": visit })).good();
    let fork = browser.get(&format!("/api/runs/{}", forked["runId"].as_str().unwrap())).good();
    assert_eq!((&fork["forkOf"], &fork["title"]), (&json!(id), &json!("The brief of May")));
}

#[test]
fn the_catalog_has_the_workflows_and_agents_of_all_packages_the_last_imported_first() {
    let world = CliFixture::new();
    let (_server, browser) = let_in(&world);
    for name in ["create-story-micro", "hello-branch"] {
        browser.post("/api/packages/import", &json!({ "path": example(name) })).good();
    }
    let catalog = browser.get("/api/catalog").good();
    let packages = catalog["packages"].as_array().unwrap();
    let names: Vec<&Json> = packages.iter().map(|one| &one["name"]).collect();
    assert_eq!(names, ["hello-branch", "create-story-micro"]);
    for package in packages {
        let reference = package["reference"].as_str().unwrap();
        let content = browser.get(&format!("/api/packages/{reference}")).good();
        for part in ["workflows", "agents"] {
            let names = |of: &Json| -> Vec<Json> {
                of[part].as_array().unwrap().iter().map(|one| one["name"].clone()).collect()
            };
            assert_eq!(names(package), names(&content), "{reference}");
            assert!(!names(package).is_empty(), "{reference}");
        }
    }
}

#[test]
fn a_package_is_judged_before_it_is_imported() {
    let world = CliFixture::new();
    let (_server, browser) = let_in(&world);
    let path = json!({ "path": example("create-story-micro") });
    let report = browser.post("/api/packages/inspect", &path).good();
    assert_eq!(report["valid"], true);
    assert_eq!(browser.get("/api/packages").good()["packages"], json!([]));
    let imported = browser.post("/api/packages/import", &path).good();
    assert_eq!(imported["outcome"], "new");
    let reference = imported["package"]["reference"].as_str().unwrap();
    let content = browser.get(&format!("/api/packages/{reference}")).good();
    assert_eq!(content, report["content"]);
    let drawn = browser.get(&format!("/api/packages/{reference}/graph?format=svg")).good();
    assert!(drawn["text"].as_str().unwrap().starts_with("<svg"));
    let kind = [("content-type", "application/octet-stream")];
    let bad = browser.send("POST", "/api/packages/import-file", &kind, b"not a package").good();
    assert_eq!((&bad["outcome"], &bad["report"]["valid"]), (&json!("rejected"), &json!(false)));
    let finding = &bad["report"]["findings"][0];
    let page = browser.get(&format!("/api/codes/{}", finding["code"].as_str().unwrap())).good();
    assert!(page["explanation"].as_str().unwrap().len() > 100);
    let packed = json!({ "path": example("create-story-micro"), "output": world.path("x.bmad") });
    browser.post("/api/packages/pack", &packed).good();
    let file = std::fs::read(world.path("x.bmad")).unwrap();
    let again = browser.send("POST", "/api/packages/import-file", &kind, &file).good();
    assert_eq!(again["outcome"], "already-there");
    assert_eq!(browser.delete(&format!("/api/packages/{reference}?confirm=true")).status, 200);
    assert_eq!(browser.get(&format!("/api/packages/{reference}")).code(), "not-found");
    let new = json!({ "path": world.path("mine"), "name": "mine", "template": "loop" });
    assert_eq!(browser.post("/api/packages/new", &new).good()["name"], "mine");
    assert_eq!(browser.post("/api/packages/new", &new).code(), "refused");
}

#[test]
fn a_key_goes_in_and_never_comes_out() {
    let world = CliFixture::new();
    let (_server, browser) = let_in(&world);
    let key = "sk-very-secret-1234";
    let model = json!({
        "model": "m1", "baseUrl": "http://127.0.0.1:9/v1", "key": key, "useIt": true,
        "price": { "input": 1.5, "output": 2.0 },
    });
    let set = browser.json("PUT", "/api/models/mine", &model);
    assert_eq!(set.good()["key"], "credentials.toml");
    let listed = browser.get("/api/models");
    assert_eq!(listed.good()["default"], "mine");
    let test = browser.post("/api/models/mine/test", &json!({}));
    assert_eq!(test.good()["ok"], false);
    for answer in [set, listed, test, browser.get("/api/settings"), browser.get("/api/app")] {
        assert!(!answer.text().contains(key), "{}", answer.text());
    }
    let without = browser.json("PUT", "/api/models/other", &json!({ "model": "m" }));
    assert_eq!(without.code(), "invalid");
    // A refused request writes nothing, and its message does not name the settings file.
    let nowhere = json!({ "model": "m", "baseUrl": "not a url", "noKey": true });
    let wrong = browser.json("PUT", "/api/models/other", &nowhere);
    assert_eq!(wrong.code(), "invalid");
    let words = wrong.text();
    assert!(
        words.contains("begins with https://") && words.contains("Nothing was changed"),
        "{words}"
    );
    assert!(!words.contains("config.toml") && !words.contains("line"), "{words}");
    assert_eq!(browser.get("/api/models").good()["models"].as_array().unwrap().len(), 1);
    assert_eq!(browser.delete("/api/models/mine").status, 200);
    assert_eq!(browser.delete("/api/models/mine").code(), "not-found");
}

#[test]
fn a_setting_that_does_not_fit_is_refused_with_the_reason() {
    let world = CliFixture::new();
    let (_server, browser) = let_in(&world);
    let set = |value: Json| {
        browser.json("PATCH", "/api/settings", &json!({ "key": "run.max-turns", "value": value }))
    };
    let value = |list: &Json| {
        let found = list["settings"].as_array().unwrap().iter();
        found.clone().find(|one| one["key"] == "run.max-turns").unwrap()["value"].clone()
    };
    assert_eq!(value(&set(json!(7)).good()), 7);
    assert_eq!(value(&browser.get("/api/settings").good()), 7);
    assert_eq!(set(json!(0)).code(), "invalid");
    assert_eq!(value(&set(Json::Null).good()), 50);
    let unknown = browser.json("PATCH", "/api/settings", &json!({ "key": "a.b", "value": 1 }));
    assert_eq!(unknown.code(), "not-found");
}

#[test]
fn a_project_that_moved_is_found_again() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let project = project(&world, &browser);
    let at = format!("/api/projects/{}", project["id"].as_str().unwrap());
    std::fs::rename(world.path("project"), world.path("moved")).unwrap();
    assert_eq!(browser.get(&at).good()["exists"], false);
    let moved = json!({ "path": world.path("moved") });
    assert_eq!(browser.post(&format!("{at}/relink"), &moved).good()["exists"], true);
    let folders =
        browser.get(&format!("/api/folders?path={}", world.folder.path().display())).good();
    assert!(folders["folders"].as_array().unwrap().iter().any(|one| one["name"] == "moved"));
    assert_eq!(browser.post("/api/projects", &json!({ "path": "moved" })).code(), "invalid");
    assert_eq!(browser.delete(&at).status, 200);
    assert_eq!(browser.get(&at).code(), "not-found");
}

#[test]
fn the_sample_runs_without_a_key() {
    let world = CliFixture::new();
    let (_server, browser) = let_in(&world);
    let path = json!({ "path": world.path("sample") });
    let sample = browser.post("/api/sample", &path).good();
    assert_eq!(browser.post("/api/sample", &path).code(), "refused");
    let body = json!({
        "project": sample["project"]["id"], "package": sample["package"], "model": sample["model"],
    });
    let run = browser.post("/api/runs", &body).good();
    let id = run["runId"].as_str().unwrap();
    let mut events = browser.stream(&format!("run/{id}"), None);
    until(&mut events, "WaitingUser");
    let answer = json!({ "text": sample["answer"] });
    browser.post(&format!("/api/runs/{id}/say"), &answer).good();
    until(&mut events, "Completed");
    assert_eq!(browser.get("/api/doctor").good()["ok"], true);
}

#[cfg(unix)]
#[test]
fn what_another_process_has_is_not_spoken_to() {
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
    let mut events = browser.stream(&format!("run/{run}"), None);
    until(&mut events, "WaitingUser");
    // The server releases the run when no more input arrives.
    events.find(|frame| frame.data["event"]["type"] == "run.finished").unwrap();
    // The test process is the other one.
    let project = project["id"].as_str().unwrap();
    let lock = world.path(&format!("store/projects/{project}/runs/{run}/lock"));
    let lock = std::fs::File::open(lock).unwrap();
    lock.lock().unwrap();
    for path in [format!("/api/runs/{run}/say"), format!("/api/conversations/{conversation}/say")] {
        let answer = browser.post(&path, &json!({ "text": "x" }));
        assert_eq!((answer.status, answer.code().as_str()), (409, "in-use"), "{path}");
    }
    lock.unlock().unwrap();
    browser.post(&format!("/api/runs/{run}/say"), &json!({ "text": "a brief" })).good();
    until(&mut events, "Completed");
}

#[test]
fn settings_that_are_wrong_are_told_as_such() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let path = world.write("store/config.toml", "[run]\nmax-turns = 0\n");
    for request in ["/api/runs", "/api/packages", "/api/models"] {
        let answer = browser.get(request);
        assert_eq!((answer.status, answer.code().as_str()), (422, "refused"), "{request}");
        assert!(answer.text().contains("line 2"), "{}", answer.text());
    }
    std::fs::remove_file(path).unwrap();
    browser.get("/api/runs").good();
    // The app cannot do what the commands advise.
    let record = browser.get("/api/app").good();
    let problem = record["modelProblem"].as_str().unwrap();
    assert!(problem.contains("in the settings") && !problem.contains("--model"), "{problem}");
    for request in ["/api/runs/20260101-000000-aaaaa", "/api/packages/none", "/api/projects/none"] {
        let answer = browser.get(request);
        assert_eq!(answer.code(), "not-found", "{request}");
        assert!(
            !answer.text().contains("crewagent ") && answer.text().contains("hint"),
            "{request}"
        );
    }
}

#[test]
fn settings_that_are_changed_at_the_same_time_are_all_kept() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let values = [
        ("run.max-turns", json!(40)),
        ("run.user-name", json!("Ana")),
        ("run.mode", json!("guided")),
        ("run.max-tokens", json!(1000)),
    ];
    std::thread::scope(|scope| {
        for (key, value) in &values {
            let body = json!({ "key": key, "value": value });
            scope.spawn(|| browser.json("PATCH", "/api/settings", &{ body }).good());
        }
    });
    let settings = browser.get("/api/settings").good();
    for (key, value) in &values {
        let all = settings["settings"].as_array().unwrap();
        let kept = all.iter().find(|one| one["key"] == *key).unwrap();
        assert_eq!(kept["value"], *value, "{key}");
    }
}

#[test]
fn a_file_is_only_replaced_by_a_package_when_that_is_said() {
    let world = tiny();
    let (_server, browser) = let_in(&world);
    let mine = world.write("mine.txt", "mine");
    let pack = |replace: bool| {
        let body = json!({ "path": world.path("tiny"), "output": mine, "replace": replace });
        browser.post("/api/packages/pack", &body)
    };
    assert_eq!(pack(false).code(), "refused");
    assert_eq!(std::fs::read(&mine).unwrap(), b"mine");
    pack(true).good();
    assert_eq!(std::fs::read(&mine).unwrap()[..2], b"PK"[..]);
}

#[test]
fn a_package_that_is_needed_is_not_removed_without_a_word() {
    let world = tiny();
    assert_eq!(world.run_tiny("tiny.yaml", &[]).code, 3);
    let (_server, browser) = let_in(&world);
    let id = world.run_id();
    let projects = browser.get("/api/projects").good();
    let project = projects["projects"][0]["id"].as_str().unwrap();
    let lock = world.path(&format!("store/projects/{project}/runs/{id}/lock"));
    // As long as a process has the run, its package stays.
    let held = std::fs::File::open(lock).unwrap();
    held.lock().unwrap();
    let busy = browser.delete("/api/packages/tiny?confirm=true");
    assert_eq!(busy.code(), "busy");
    assert!(busy.text().contains(&id), "{}", busy.text());
    let ran = world.run(&["package", "rm", "tiny", "--yes"]);
    assert!(ran.code != 0 && ran.err.contains(&id), "{ran:?}");
    held.unlock().unwrap();
    let asked = browser.delete("/api/packages/tiny").good();
    assert_eq!(asked, json!({ "removed": false, "unfinished": 1 }));
    browser.get("/api/packages/tiny").good();
    let removed = browser.delete("/api/packages/tiny?confirm=true").good();
    assert_eq!(removed, json!({ "removed": true, "unfinished": 1 }));
    assert_eq!(browser.get("/api/packages/tiny").code(), "not-found");
}
