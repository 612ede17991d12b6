//! MCP servers through the API: added, tested, switched, removed; and the policy for their tools.
#![cfg(unix)]

use std::fs;
use std::process::Command;
use std::time::{Duration, Instant};

use crewagent_testkit::eventually;
use crewagent_testkit::mcp::BEHAVIOUR;
use serde_json::{Value as Json, json};

use super::api::let_in;
use super::client::Browser;
use crate::support::CliFixture;

/// Returns the settings of the tests' server, which is this program with a behaviour.
fn program(behaviour: &str) -> Json {
    let command = std::env::current_exe().unwrap();
    json!({ "way": {
        "kind": "stdio",
        "command": command.to_str().unwrap(),
        "args": ["--exact", "mcp::play", "--nocapture", "--test-threads", "1"],
        "env": [{ "name": BEHAVIOUR, "value": behaviour }],
    } })
}

fn at(name: &str) -> String {
    format!("/api/mcp/servers/{name}")
}

fn set(browser: &Browser, name: &str, body: &Json) -> Json {
    browser.json("PUT", &at(name), body).good()
}

fn allow_servers(browser: &Browser) {
    let on = json!({ "key": "policy.mcp.enabled", "value": true });
    browser.json("PATCH", "/api/settings", &on).good();
}

#[test]
fn a_server_is_set_up_tried_out_switched_and_removed() {
    let world = CliFixture::new();
    let (_server, browser) = let_in(&world);
    assert_eq!(browser.get("/api/mcp").good(), json!({ "servers": [], "policyEnabled": false }));
    let item = set(&browser, "s", &program("tame"));
    assert_eq!((&item["state"], &item["way"]["kind"]), (&json!("disabled"), &json!("stdio")));
    assert!(item.get("last").is_none() && item["line"].as_str().unwrap().contains("mcp::play"));
    let report = browser.post(&format!("{}/test", at("s")), &json!({})).good();
    assert_eq!(report["ok"], true, "{report}");
    let steps: Vec<&str> = report["steps"]
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["name"].as_str().unwrap())
        .collect();
    assert_eq!(steps, ["settings", "start", "handshake", "list"]);
    let echo = |report: &Json| {
        let tools = report["tools"].as_array().unwrap();
        tools.iter().find(|tool| tool["name"] == "echo").unwrap()["rule"].clone()
    };
    assert_eq!(report["tools"].as_array().unwrap().len(), 15);
    assert_eq!(echo(&report)["verdict"], "deny", "the policy has servers off");

    // The result is kept, and returned with the current rules.
    let on = browser.json("PATCH", &at("s"), &json!({ "enabled": true })).good();
    assert_eq!(on["state"], "kept-out");
    allow_servers(&browser);
    let ask = json!({ "key": "policy.ask", "value": ["mcp.s.echo"] });
    browser.json("PATCH", "/api/settings", &ask).good();
    let list = browser.get("/api/mcp").good();
    assert_eq!(
        (&list["policyEnabled"], &list["servers"][0]["state"]),
        (&json!(true), &json!("enabled"))
    );
    let rule = echo(&list["servers"][0]["last"]);
    assert_eq!((&rule["verdict"], &rule["by"]), (&json!("ask"), &json!("settings")));
    let survey = browser.get("/api/tools").good();
    let row = |name: &str| {
        let rows = survey["tools"].as_array().unwrap().iter();
        rows.clone().find(|row| row["tool"] == name).cloned().unwrap_or_else(|| panic!("{name}"))
    };
    assert_eq!(
        (&row("mcp.s.*")["verdict"], &row("mcp.s.echo")["verdict"]),
        (&json!("allow"), &json!("ask"))
    );
    assert_eq!(row("mcp.s.echo")["rule"], json!({ "pattern": "mcp.s.echo", "from": "settings" }));
    assert_eq!(row("mcp.s.note")["by"], "settings", "offered, and named by no rule");
    // The command line returns the same.
    let told: Json = serde_json::from_str(&world.run(&["mcp", "list", "--json"]).out).unwrap();
    assert_eq!(
        (&told["servers"][0]["name"], &told["servers"][0]["allowed"]),
        (&json!("s"), &json!(true))
    );

    browser.delete(&at("s")).good();
    assert_eq!(browser.get("/api/mcp").good()["servers"], json!([]));
    for answer in [
        browser.delete(&at("s")),
        browser.json("PATCH", &at("s"), &json!({ "enabled": true })),
        browser.post(&format!("{}/test", at("s")), &json!({})),
    ] {
        assert_eq!((answer.status, answer.code().as_str()), (404, "not-found"));
    }
}

#[test]
fn a_server_that_fails_is_reported_as_the_command_line_does() {
    let world = CliFixture::new();
    let (_server, browser) = let_in(&world);
    set(&browser, "q", &program("quits"));
    let report = browser.post(&format!("{}/test", at("q")), &json!({})).good();
    let told: Json = serde_json::from_str(&world.run(&["mcp", "test", "q", "--json"]).out).unwrap();
    assert_eq!((&report["ok"], &told["ok"]), (&json!(false), &json!(false)));
    let failed: Vec<&Json> = report["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|one| one["status"] == "failed")
        .collect();
    assert_eq!((failed.len(), &failed[0]["name"]), (1, &told["failed"]));
    assert_eq!(failed[0]["message"], told["problem"]);
    assert_eq!(report["log"], told["log"]);
    assert!(report["log"].to_string().contains("no licence"), "{report}");
    let missing = json!({ "way": { "kind": "stdio", "command": "/no/such/program" } });
    set(&browser, "m", &missing);
    let report = browser.post(&format!("{}/test", at("m")), &json!({})).good();
    assert_eq!(report["steps"][1]["status"], "failed", "{report}");
    assert!(report["steps"][1]["message"].as_str().unwrap().contains("is it installed"));
}

#[test]
fn a_server_that_does_not_answer_holds_up_nobody_and_is_tried_once_at_a_time() {
    let world = CliFixture::new();
    let (mut server, browser) = let_in(&world);
    let started = world.path("started");
    let mut mute = program("mute");
    mute["startupTimeout"] = json!("1h");
    let mut words = vec![json!("-c"), json!("touch \"$0\"; exec \"$@\"")];
    words.push(json!(started.to_str().unwrap()));
    words.push(mute["way"]["command"].take());
    words.extend(mute["way"]["args"].as_array().unwrap().clone());
    mute["way"]["command"] = json!("sh");
    mute["way"]["args"] = json!(words);
    assert_eq!(set(&browser, "m", &mute)["startupTimeout"], "1h");
    let test = format!("{}/test", at("m"));
    let waiting = std::thread::spawn({
        let (browser, test) = (browser.clone(), test.clone());
        move || browser.post(&test, &json!({})).status
    });
    eventually(|| started.exists());
    // Other servers can be tested, and a second test of the same server is refused.
    set(&browser, "s", &program("tame"));
    assert_eq!(browser.post(&format!("{}/test", at("s")), &json!({})).good()["ok"], true);
    let busy = browser.post(&test, &json!({}));
    assert_eq!((busy.status, busy.code().as_str()), (409, "busy"), "{}", busy.text());
    // Shutdown cancels the test long before its timeout.
    let began = Instant::now();
    let told = Command::new("kill").args(["-INT", &server.pid().to_string()]).status().unwrap();
    assert!(told.success());
    assert_eq!(server.wait(), Some(0));
    let _ = waiting.join();
    assert!(began.elapsed() < Duration::from_secs(90), "{:?}", began.elapsed());
}

#[test]
fn secrets_go_in_and_never_come_out() {
    let world = CliFixture::new();
    let (_server, browser) = let_in(&world);
    let body = json!({ "way": {
        "kind": "http",
        "url": "https://example.com/mcp",
        "headers": [
            { "name": "Authorization", "value": "Bearer abc-def-ghi" },
            { "name": "X-Region", "value": "eu" },
        ],
    } });
    let item = set(&browser, "web", &body);
    let header = |item: &Json, at: usize| item["way"]["headers"][at].clone();
    assert_eq!(
        header(&item, 0),
        json!({ "name": "Authorization", "value": "Bearer ${AUTHORIZATION}", "stored": true })
    );
    assert_eq!(header(&item, 1), json!({ "name": "X-Region", "value": "eu", "stored": false }));
    let kept = fs::read_to_string(world.path("store/credentials.toml")).unwrap();
    assert!(kept.contains("abc-def-ghi"));
    // The page can send back what it received: the secret stays.
    let again = json!({ "way": item["way"], "enabled": true });
    assert_eq!(set(&browser, "web", &again)["way"], item["way"]);
    assert_eq!(fs::read_to_string(world.path("store/credentials.toml")).unwrap(), kept);
    // A password that a user wrote into the settings by hand is not shown, and can be kept.
    let config = world.path("store/config.toml");
    let text = fs::read_to_string(&config).unwrap();
    let by_hand =
        "\n[mcp.servers.db]\ncommand = \"x\"\nenv = { DSN = \"pg://me:hunter2@host/db\" }\n";
    fs::write(&config, text + by_hand).unwrap();
    let list = browser.get("/api/mcp").good();
    let db = &list["servers"][0];
    assert_eq!(db["way"]["env"], json!([{ "name": "DSN", "stored": false }]));
    let kept = set(&browser, "db", &json!({ "way": db["way"] }));
    assert_eq!(kept["way"]["env"], json!([{ "name": "DSN", "value": "${DSN}", "stored": true }]));
    for path in ["/api/mcp", "/api/settings", "/api/tools", "/api/doctor"] {
        let text = browser.get(path).text();
        assert!(!text.contains("abc-def") && !text.contains("hunter2"), "{path}: {text}");
    }
    assert!(!fs::read_to_string(&config).unwrap().contains("hunter2"));
    browser.delete(&at("web")).good();
    assert!(!fs::read_to_string(world.path("store/credentials.toml")).unwrap().contains("abc-def"));
}

#[test]
fn what_is_wrong_with_a_server_is_told_and_nothing_is_written() {
    let world = CliFixture::new();
    let (_server, browser) = let_in(&world);
    let stdio = |more: Json| {
        let mut way = json!({ "kind": "stdio", "command": "x" });
        way.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        json!({ "way": way })
    };
    for (name, body) in [
        ("a.b", stdio(json!({}))),
        ("a__b", stdio(json!({}))),
        ("a", stdio(json!({ "command": " " }))),
        ("a", stdio(json!({ "args": ["${"] }))),
        ("a", stdio(json!({ "env": [{ "name": "A" }] }))),
        ("a", stdio(json!({ "env": [{ "name": "1A", "value": "x" }] }))),
        (
            "a",
            stdio(
                json!({ "env": [{ "name": "A", "value": "1" }, { "name": "A ", "value": "2" }] }),
            ),
        ),
        ("a", stdio(json!({ "cwd": "here" }))),
        ("a", stdio(json!({ "shell": true }))),
        ("a", json!({ "way": { "kind": "http", "url": "ftp://x" } })),
        ("a", json!({ "way": { "kind": "http", "url": "http://me:pw@x/" } })),
        (
            "a",
            json!({ "way": { "kind": "http", "url": "http://x", "headers": [{ "name": "Host", "value": "y" }] } }),
        ),
        ("a", json!({ "way": { "kind": "stdio", "command": "x" }, "startupTimeout": "soon" })),
    ] {
        let answer = browser.json("PUT", &at(name), &body);
        assert_eq!((answer.status, answer.code().as_str()), (400, "invalid"), "{name} {body}");
    }
    assert!(!world.path("store/config.toml").exists());
}

#[test]
fn servers_of_another_tool_are_looked_at_before_they_are_taken_over() {
    let world = CliFixture::new();
    let (_server, browser) = let_in(&world);
    let text = r#"{"mcpServers": {
        "My Files": {"command": "npx", "args": ["-y", "files"], "env": {"FILES_TOKEN": "t0p-s3cret"}},
        "old": {"type": "sse", "url": "https://example.com/sse"}
    }}"#;
    let seen = browser.post("/api/mcp/import", &json!({ "text": text, "save": false })).good();
    assert_eq!(
        seen["servers"],
        json!([{ "called": "My Files", "name": "My-Files", "line": "npx -y files", "replaces": false, "secrets": ["FILES_TOKEN"] }])
    );
    assert!(seen["problems"][0].as_str().unwrap().contains("old"));
    assert!(!world.path("store").join("config.toml").exists());
    let saved = browser.post("/api/mcp/import", &json!({ "text": text, "save": true })).good();
    assert_eq!(saved["servers"], seen["servers"]);
    let list = browser.get("/api/mcp").good();
    assert_eq!(list["servers"][0]["state"], "disabled");
    let again = browser.post("/api/mcp/import", &json!({ "text": text, "save": false })).good();
    assert_eq!(again["servers"][0]["replaces"], true);
    for answer in [&seen, &saved, &list] {
        assert!(!answer.to_string().contains("s3cret"), "{answer}");
    }
    let empty = browser.post("/api/mcp/import", &json!({ "text": "{}", "save": true }));
    assert_eq!(empty.code(), "invalid");
}

#[test]
fn another_page_cannot_set_up_or_start_a_program() {
    let world = CliFixture::new();
    let (server, browser) = let_in(&world);
    let marker = world.path("started");
    let body = json!({ "way": { "kind": "stdio", "command": "touch", "args": [marker.to_str().unwrap()] } });
    set(&browser, "s", &body);
    let before = fs::read_to_string(world.path("store/config.toml")).unwrap();
    let stranger = Browser::new(server.port);
    let file = json!({ "text": "{\"mcpServers\": {\"x\": {\"command\": \"y\"}}}", "save": true });
    let requests = [
        ("GET", "/api/mcp".to_owned(), json!({})),
        ("GET", "/api/tools".to_owned(), json!({})),
        ("PUT", at("t"), body),
        ("PATCH", at("s"), json!({ "enabled": true })),
        ("DELETE", at("s"), json!({})),
        ("POST", format!("{}/test", at("s")), json!({})),
        ("POST", "/api/mcp/import".to_owned(), file),
    ];
    for (method, path, body) in &requests {
        let kind = ("content-type", "application/json");
        let bytes = body.to_string();
        for headers in [
            [kind, ("origin", "https://evil.test")],
            [kind, ("sec-fetch-site", "cross-site")],
            [kind, ("host", "evil.test")],
        ] {
            let answer = browser.send(method, path, &headers, bytes.as_bytes());
            assert_eq!(answer.code(), "forbidden", "{method} {path} {headers:?}");
        }
        let answer = stranger.send(method, path, &[kind], bytes.as_bytes());
        assert_eq!(answer.code(), "unauthorized", "{method} {path}");
        if *method != "GET" && *method != "DELETE" {
            let form = [("content-type", "text/plain")];
            assert_eq!(browser.send(method, path, &form, bytes.as_bytes()).code(), "wrong-type");
        }
    }
    assert_eq!(fs::read_to_string(world.path("store/config.toml")).unwrap(), before);
    assert!(!marker.exists(), "nothing was started");
    // Adding a server starts nothing either; testing it does.
    browser.post(&format!("{}/test", at("s")), &json!({})).good();
    assert!(marker.exists());
}

#[test]
fn the_agent_of_a_package_can_only_tighten_what_tools_may_do() {
    let world = super::tiny();
    let (_server, browser) = let_in(&world);
    allow_servers(&browser);
    let survey = |query: &str| {
        let answer = browser.get(&format!("/api/tools{query}")).good();
        let rows = answer["tools"].as_array().unwrap().clone();
        let row = rows.iter().find(|row| row["tool"] == "mcp.*").unwrap();
        (row["verdict"].clone(), row["by"].clone())
    };
    assert_eq!(survey(""), (json!("allow"), json!("settings")));
    let package = browser.get("/api/packages/tiny").good();
    let agent = package["agents"][0]["id"].as_str().unwrap().to_owned();
    assert_eq!(survey(&format!("?package=tiny&agent={agent}")), (json!("deny"), json!("agent")));
    assert_eq!(survey("?package=tiny"), (json!("allow"), json!("settings")));
    assert_eq!(browser.get("/api/tools?package=tiny&agent=nobody").code(), "not-found");
    assert_eq!(browser.get("/api/tools?agent=x").code(), "invalid");
    assert_eq!(browser.get("/api/tools?package=nothing").code(), "not-found");
}
