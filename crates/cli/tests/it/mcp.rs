//! `crewagent mcp`, and runs with a tool server.
#![cfg(unix)]

use std::fs;
use std::process::Stdio;

use crewagent_testkit::eventually;
use crewagent_testkit::mcp::{BEHAVIOUR, serve};
use serde_json::Value as Json;

use crate::support::{CliFixture, Ran};

/// Plays the tool server of these tests: this program, with a variable set. Without the variable it does nothing.
#[test]
fn play() {
    if let Ok(behaviour) = std::env::var(BEHAVIOUR) {
        serve(&behaviour);
    }
}

/// Adds the server of these tests.
fn add(world: &CliFixture, name: &str, behaviour: &str) -> Ran {
    let program = std::env::current_exe().unwrap();
    let behaviour = format!("{BEHAVIOUR}={behaviour}");
    let words =
        ["mcp", "add", name, "--enable", "--env", &behaviour, "--", program.to_str().unwrap()];
    let plays = ["--exact", "mcp::play", "--nocapture", "--test-threads", "1"];
    world.run(&[&words[..], &plays].concat())
}

fn settings(world: &CliFixture) -> String {
    fs::read_to_string(world.path("store/config.toml")).unwrap()
}

fn json(ran: &Ran) -> Json {
    serde_json::from_str(&ran.out).unwrap_or_else(|_| panic!("{ran:?}"))
}

#[test]
fn a_server_is_added_enabled_disabled_and_removed() {
    let world = CliFixture::new();
    assert!(world.run(&["mcp"]).out.starts_with("No MCP servers are set up."));
    let added = world.run(&[
        "mcp",
        "add",
        "notes",
        "--env",
        "API_KEY=hunter2-hunter2",
        "--env",
        "MODE=fast",
        "--",
        "npx",
        "-y",
        "server",
    ]);
    assert_eq!(added.code, 0, "{added:?}");
    assert!(added.out.contains("crewagent mcp test notes"), "{}", added.out);
    assert!(!settings(&world).contains("hunter2"), "{}", settings(&world));
    assert!(settings(&world).contains("${API_KEY}") && settings(&world).contains("fast"));
    let kept = fs::read_to_string(world.path("store/credentials.toml")).unwrap();
    assert!(kept.contains("mcp:notes:API_KEY") && kept.contains("hunter2-hunter2"));
    let listed = json(&world.run(&["mcp", "list", "--json"]));
    assert_eq!(listed["servers"][0]["enabled"], false);
    assert_eq!(listed["servers"][0]["reachedBy"], "npx -y server");
    let enabled = world.run(&["mcp", "enable", "notes"]);
    assert!(
        enabled.out.contains("crewagent config set policy.mcp.enabled true"),
        "{}",
        enabled.out
    );
    assert!(world.run(&["mcp", "list"]).out.contains("kept out by policy"));
    assert_eq!(world.run(&["config", "set", "policy.mcp.enabled", "true"]).code, 0);
    assert_eq!(world.run(&["mcp", "enable", "notes"]).out.trim(), "enabled notes");
    let disabled = world.run(&["mcp", "disable", "notes"]);
    assert_eq!(disabled.out.trim(), "disabled notes");
    let removed = world.run(&["mcp", "rm", "notes", "--yes"]);
    assert_eq!(removed.out.trim(), "removed notes and 1 secret");
    assert!(!fs::read_to_string(world.path("store/credentials.toml")).unwrap().contains("hunter2"));
    assert_eq!(world.run(&["mcp", "rm", "notes", "--yes"]).code, 2);
}

#[test]
fn servers_of_other_tools_are_taken_over() {
    let world = CliFixture::new();
    let file = r#"{"mcpServers": {
        "My Files": {"command": "npx", "args": ["-y", "files"], "env": {"FILES_TOKEN": "t0p-s3cret"}},
        "web": {"url": "https://example.com/mcp", "headers": {"Authorization": "Bearer abc-def-ghi"}},
        "old": {"type": "sse", "url": "https://example.com/sse"}
    }}"#;
    world.write("mcp.json", file);
    let ran = world.run(&["mcp", "add", "--from", "mcp.json"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    assert!(ran.out.contains("My-Files (called `My Files` there)"), "{}", ran.out);
    assert!(ran.err.contains("left out `old`"), "{}", ran.err);
    let text = settings(&world);
    assert!(text.contains("Bearer ${AUTHORIZATION}") && text.contains("${FILES_TOKEN}"), "{text}");
    for shown in [&text, &ran.out, &ran.err, &world.run(&["mcp", "list"]).out] {
        assert!(!shown.contains("s3cret") && !shown.contains("abc-def"), "{shown}");
    }
    for (name, content) in [("none.json", "{}"), ("bad.json", "{"), ("list.json", "[]")] {
        world.write(name, content);
        assert_eq!(world.run(&["mcp", "add", "--from", name]).code, 2, "{name}");
    }
}

#[test]
fn what_is_wrong_with_a_server_is_told_before_it_is_written() {
    let world = CliFixture::new();
    for wrong in [
        &["mcp", "add", "a.b", "--", "x"][..],
        &["mcp", "add", "a"],
        &["mcp", "add", "a", "--url", "ftp://x"],
        &["mcp", "add", "a", "--env", "NO", "--", "x"],
        &["mcp", "add", "a", "--", "x", "${"],
        &["mcp", "test", "a"],
        &["mcp", "enable", "a"],
    ] {
        assert_eq!(world.run(wrong).code, 2, "{wrong:?}");
    }
    assert!(!world.path("store/config.toml").exists());
}

#[test]
fn a_server_is_tried_out() {
    let world = CliFixture::new();
    assert_eq!(add(&world, "s", "tame").code, 0);
    let ran = world.run(&["mcp", "test", "s"]);
    assert_eq!(ran.code, 0, "{ran:?}");
    for part in [
        "handshake  test 1.0.0, protocol ",
        "15 tools, 0 resources",
        "mcp.s.echo",
        "The server works.",
    ] {
        assert!(ran.out.contains(part), "{part}: {}", ran.out);
    }
    assert_eq!(add(&world, "q", "quits").code, 0);
    let ran = world.run(&["mcp", "test", "q"]);
    assert_eq!(ran.code, 1, "{ran:?}");
    assert!(
        ran.out.contains("It fails at: handshake") && ran.out.contains("no licence"),
        "{}",
        ran.out
    );
    let report = json(&world.run(&["mcp", "test", "q", "--json"]));
    assert_eq!((&report["ok"], &report["failed"]), (&false.into(), &"handshake".into()));
}

/// Creates a package whose agent may use tool servers, with the server.
fn fixture() -> CliFixture {
    let world = CliFixture::with_tiny();
    let agents = world.path("tiny/agents.json");
    let text = fs::read_to_string(&agents).unwrap();
    let mut json: Json = serde_json::from_str(&text).unwrap();
    json["agents"][0]["tools"]["mcp"]["enabled"] = true.into();
    fs::write(&agents, json.to_string()).unwrap();
    assert_eq!(add(&world, "s", "tame").code, 0);
    assert_eq!(world.run(&["config", "set", "policy.mcp.enabled", "true"]).code, 0);
    world
}

#[test]
fn a_run_uses_the_tools_of_a_server() {
    let world = fixture();
    // A server's log line may arrive after its answer, and is shown with a later call at the latest.
    let scenario = r#"{"scenario": "echo", "nodes": {"step-01-ask": [{"times": 8, "calls": [{"mcp.s.echo": {"text": "hello there"}}]}]}, "otherwise": {"say": "Done."}}"#;
    world.write("echo.yaml", scenario);
    let ran = world.run_tiny("echo.yaml", &["--no-input"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.out.contains("15 tools of the MCP server s"), "{}", ran.out);
    assert!(ran.out.contains("✓ mcp.s.echo text=hello there"), "{}", ran.out);
    let id = world.run_id();
    let logs = world.run(&["runs", "logs", &id]).out;
    assert!(
        logs.contains("✓ mcp.s.echo") && logs.contains("s info: echoing hello there"),
        "{logs}"
    );
    let events = world.run(&["runs", "logs", &id, "--json"]).out;
    for kind in ["tools.listed", "server.logged", "tool.started", "tool.finished"] {
        assert!(events.contains(&format!("\"type\":\"{kind}\"")), "{kind}");
    }
}

#[test]
fn a_process_that_is_killed_in_a_call_does_not_make_it_again() {
    let world = fixture();
    let notes = world.path("notes");
    let call = format!(r#"{{"mcp.s.hang": {{"file": {:?}}}}}"#, notes.to_str().unwrap());
    let scenario = format!(
        r#"{{"scenario": "hang", "nodes": {{"step-01-ask": [{{"calls": [{call}]}}, {{"when": {{"refused": "E_UNKNOWN_OUTCOME"}}, "say": "Nobody knows. What now?"}}]}}}}"#
    );
    world.write("hang.yaml", scenario);
    let args = ["run", "tiny", "--project", "project", "--model", "scripted:hang.yaml", "--json"];
    let mut child =
        world.command().args(args).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    eventually(|| !fs::read_to_string(&notes).unwrap_or_default().is_empty());
    child.kill().unwrap();
    child.wait().unwrap();
    let ran = world.run(&["resume", "latest", "--model", "scripted:hang.yaml", "--json"]);
    assert_eq!(ran.code, 3, "{ran:?}");
    assert!(ran.out.contains("Nobody knows."), "{}", ran.out);
    assert_eq!(fs::read_to_string(&notes).unwrap(), "hang\n");
}
