//! Starting, listing and ending servers.

use std::time::Instant;

use crewagent_engine::store::KeySource;
use crewagent_engine::tool_server::ServerLayer;
use crewagent_testkit::eventually;

use super::*;

/// Returns the layer at which a server fails, and its message.
fn failure(servers: &str) -> (ServerLayer, String) {
    let fault = offer(&McpFixture::new(servers).server()).listed.clone().unwrap_err();
    let ServerFault::Unavailable { layer, message } = fault else { panic!("{fault:?}") };
    (layer, message)
}

fn check_fails(servers: &str, layer: ServerLayer, expected: &str) {
    let (found, message) = failure(servers);
    assert_eq!(found, layer, "{message}");
    assert!(message.contains(expected), "{message}");
}

/// Checks a server that is silent from a layer on. On a machine too busy to reach that layer it gets more time.
fn check_times_out(behaviour: &str, layer: ServerLayer, expected: &str) {
    for seconds in [1, 10, 100] {
        let limit = format!("startup-timeout = \"{seconds}s\"");
        let (found, message) = failure(&table("s", behaviour, &limit));
        if found < layer {
            continue;
        }
        assert_eq!(found, layer, "{message}");
        assert!(message.contains(&format!("{expected} within {seconds} seconds")), "{message}");
        return;
    }
    panic!("`{behaviour}` never reached {layer:?}");
}

#[test]
fn a_server_that_cannot_be_used_names_the_layer() {
    check_fails(
        "[mcp.servers.s]\ncommand = \"crewagent-no-such\"\n",
        ServerLayer::Start,
        "in PATH?",
    );
    let missing = "[mcp.servers.s]\ncommand = \"x\"\nargs = [\"${CREWAGENT_NOT_SET}\"]\n";
    check_fails(missing, ServerLayer::Settings, "`CREWAGENT_NOT_SET` is not set");
    check_fails(&table("s", "quits", ""), ServerLayer::Handshake, "no licence found");
    check_times_out("mute", ServerLayer::Handshake, "it did not answer the handshake");
    check_times_out("unlisted", ServerLayer::List, "it did not say which tools it has");
    let nobody = "[mcp.servers.s]\nurl = \"http://127.0.0.1:1/mcp\"\n";
    check_fails(nobody, ServerLayer::Handshake, "");
}

#[test]
fn a_server_that_failed_is_not_started_again_at_once() {
    let fixture = McpFixture::new(&table("s", "quits", ""));
    let server = fixture.server();
    let began = Instant::now();
    for _ in 0..20 {
        let fault = call(&server, "echo", json!({ "text": "x" })).unwrap_err();
        assert!(matches!(fault, ServerFault::Unavailable { .. }), "{fault:?}");
    }
    // It logs one line a start. The wait after the first failure is a second, and each further one is longer.
    let starts = server.logs().after(&mut 0).len() as u64;
    assert!((1..=1 + began.elapsed().as_secs()).contains(&starts), "{starts} starts");
}

#[test]
fn a_server_says_what_it_has() {
    let fixture = McpFixture::new(&table("s", "tame", ""));
    let server = fixture.server();
    let offer = offer(&server);
    assert_eq!(offer.about.title, "test 1.0.0");
    let names: Vec<&str> =
        offer.listed.as_ref().unwrap().tools.iter().map(|tool| tool.tool.as_str()).collect();
    assert_eq!(&names[..4], ["ask", "begin", "big", "crash"]);
}

#[test]
fn a_list_without_an_end_ends() {
    let fixture = McpFixture::new(&table("s", "endless", ""));
    let listed = offer(&fixture.server()).listed.clone().unwrap();
    assert_eq!(listed.tools.len(), 1);
}

#[test]
fn a_server_gets_the_variables_it_needs_and_no_others() {
    let secrets = "SECRET_KEY = \"${SECRET_KEY}\"\nPLAIN = \"value\"\n";
    let fixture = McpFixture::new(&(table("s", "tame", "") + secrets));
    let key = crewagent_engine::store::key_of("hunter2-hunter2").unwrap();
    let stored = crewagent_engine::store::stored_name(&"s".parse().unwrap(), "SECRET_KEY");
    fixture.store.secrets().put(&KeySource::File, &stored, &key).unwrap();
    let server = fixture.server();
    let output = call(&server, "environment", json!({})).unwrap();
    let variables = text(&output);
    assert!(variables.contains("PLAIN=value"), "{variables}");
    assert!(variables.contains("PATH="), "{variables}");
    // It was passed on, and is masked in the output.
    assert!(variables.contains("SECRET_KEY=•••"), "{variables}");
    // Cargo runs the tests and sets variables that a server must not see.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!variables.contains("CARGO_"), "{variables}");
}

/// Returns true if a process exists and is no zombie.
fn is_alive(pid: &str) -> bool {
    let Ok(stat) = fs::read_to_string(format!("/proc/{pid}/stat")) else { return false };
    stat.rsplit_once(") ").is_some_and(|(_, rest)| !rest.starts_with('Z'))
}

#[test]
#[cfg(target_os = "linux")]
fn what_a_server_started_ends_with_it() {
    // Like `npx` and `uvx`: a program that starts the server as its child, and one that outlives its input.
    let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let pids = scratch.path().join("pids");
    let wrapper = scratch.path().join("wrapper.sh");
    let script = format!(
        // A program in the background has no input unless it is given one.
        "#!/bin/sh\nexec 3<&0\nsleep 1000 &\necho $! >> {0}\n\"$@\" <&3 &\necho $! >> {0}\nwait\n",
        pids.display()
    );
    fs::write(&wrapper, script).unwrap();
    let plain = table("s", "tame", "");
    let program = std::env::current_exe().unwrap();
    let plain = plain
        .replace(&format!("command = {:?}", program.to_str().unwrap()), "command = \"sh\"")
        .replace(
            "args = [",
            &format!("args = [{:?}, {:?}, ", wrapper.to_str().unwrap(), program.to_str().unwrap()),
        );
    let fixture = McpFixture::new(&plain);
    let server = fixture.server();
    let output = call(&server, "echo", json!({ "text": "hello" })).unwrap();
    assert_eq!(text(&output), "hello");
    let started: Vec<String> =
        fs::read_to_string(&pids).unwrap().lines().map(str::to_owned).collect();
    assert_eq!(started.len(), 2);
    assert!(started.iter().all(|pid| is_alive(pid)), "{started:?}");
    drop(server);
    eventually(|| !started.iter().any(|pid| is_alive(pid)));
}
