//! Calls that fail in every way a server can fail.

use super::*;
use crewagent_testkit::eventually;

#[test]
fn a_server_that_goes_away_is_started_again() {
    let fixture = McpFixture::new(&table("s", "tame", ""));
    let (server, file) = (fixture.server(), fixture.path("notes"));
    let file = file.to_str().unwrap();
    let fault = call(&server, "crash", json!({ "file": file })).unwrap_err();
    assert!(matches!(fault, ServerFault::Lost(_)), "{fault:?}");
    assert_eq!(text(&call(&server, "echo", json!({ "text": "again" })).unwrap()), "again");
    // Nothing was sent twice.
    assert_eq!(fs::read_to_string(file).unwrap(), "crash\n");
    let log: Vec<String> = server.logs().after(&mut 0).into_iter().map(|line| line.text).collect();
    assert!(log.iter().any(|line| line == "out of cheese"), "{log:?}");
}

#[test]
fn a_server_that_keeps_going_away_is_left_alone_for_a_while() {
    let fixture = McpFixture::new(&table("s", "tame", ""));
    let server = fixture.server();
    let crash = || call(&server, "crash", json!({})).unwrap_err();
    let faults: Vec<ServerFault> = (0..3).map(|_| crash()).collect();
    let is_lost = |fault: &ServerFault| matches!(fault, ServerFault::Lost(_));
    assert!(is_lost(&faults[0]) && is_lost(&faults[1]), "{faults:?}");
    assert!(matches!(faults[2], ServerFault::Unavailable { .. }), "{faults:?}");
}

#[test]
fn a_call_that_is_not_answered_ends_in_time() {
    let fixture = McpFixture::new(&table("s", "tame", "call-timeout = \"1s\""));
    let server = fixture.server();
    offer(&server);
    assert_eq!(call(&server, "hang", json!({})).unwrap_err(), ServerFault::TimedOut);
    // The server is notified, and can still be called.
    assert_eq!(text(&call(&server, "echo", json!({ "text": "x" })).unwrap()), "x");
}

#[test]
fn a_call_ends_when_the_user_stops_and_the_server_is_told() {
    let fixture = McpFixture::new(&table("s", "tame", ""));
    let notes = fixture.path("notes");
    let table = table("s", notes.to_str().unwrap(), "");
    let fixture = McpFixture::new(&table);
    let server = fixture.server();
    offer(&server);
    let cancel = Cancel::default();
    let deadline = Deadline::after(TIMEOUT, &cancel);
    let fault = std::thread::scope(|scope| {
        let called = scope.spawn(|| {
            let arguments = json!({ "file": notes.to_str().unwrap() });
            call_until(&server, "hang", arguments, &deadline).unwrap_err()
        });
        wait_for(&notes, "hang\n");
        cancel.cancel();
        called.join().unwrap()
    });
    assert_eq!(fault, ServerFault::Stopped);
    wait_for(&notes, "hang\ncancelled\n");
}

#[test]
fn a_flood_ends_the_call() {
    let fixture = McpFixture::new(&table("s", "tame", ""));
    let server = fixture.server();
    for tool in ["flood", "line"] {
        let fault = call(&server, tool, json!({})).unwrap_err();
        let ServerFault::Lost(why) = &fault else { panic!("{fault:?}") };
        assert!(why.contains("it sent "), "{why}");
    }
}

#[test]
fn a_message_of_too_many_values_ends_the_call() {
    let fixture = McpFixture::new(&table("s", "tame", ""));
    let fault = call(&fixture.server(), "values", json!({})).unwrap_err();
    let ServerFault::Lost(why) = &fault else { panic!("{fault:?}") };
    assert!(why.contains("more than 500000 values"), "{why}");
}

#[test]
fn what_is_no_result_is_no_success() {
    let fixture = McpFixture::new(&table("s", "tame", ""));
    let server = fixture.server();
    let fault = |tool: &str| call(&server, tool, json!({})).unwrap_err();
    assert_eq!(fault("ask"), ServerFault::NeedsInput("Which branch?".to_owned()));
    assert_eq!(fault("begin"), ServerFault::NoResult("task".to_owned()));
    assert_eq!(fault("nonsense"), ServerFault::NoResult("no content".to_owned()));
}

#[test]
fn calls_of_many_threads_go_over_one_connection() {
    let fixture = McpFixture::new(&table("s", "tame", ""));
    let server = fixture.server();
    std::thread::scope(|scope| {
        for thread in 0..8 {
            let server = &server;
            scope.spawn(move || {
                for n in 0..20 {
                    let said = format!("{thread}/{n}");
                    let output = call(server, "echo", json!({ "text": said })).unwrap();
                    assert_eq!(text(&output), said);
                }
            });
        }
    });
}

/// Waits until a file has this content.
fn wait_for(file: &std::path::Path, content: &str) {
    eventually(|| fs::read_to_string(file).ok().as_deref() == Some(content));
}
