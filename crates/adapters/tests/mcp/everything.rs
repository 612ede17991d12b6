//! Tests with `@modelcontextprotocol/server-everything`, over both transports.

use std::time::Duration;

use crewagent_engine::cancel::{Cancel, Deadline};
use crewagent_engine::tool_server::{ResultPart, ServerFault, ToolServer as _};
use serde_json::json;

use crate::servers::{Listening, ServerFixture, TIMEOUT, kill, text};

fn over_stdio() -> ServerFixture {
    ServerFixture::node("server-everything", &["stdio"])
}

/// Checks the behaviour that every transport must have.
fn check_everything(fixture: &ServerFixture) {
    let tools = fixture.tools();
    let names: Vec<&str> = tools.iter().map(|tool| tool.tool.as_str()).collect();
    for name in ["echo", "get-sum", "get-tiny-image", "read_resource"] {
        assert!(names.contains(&name), "{names:?}");
    }
    let offer = fixture.offer();
    assert!(offer.about.title.contains("everything"), "{:?}", offer.about);
    let echoed = fixture.call("echo", json!({ "message": "größer" })).unwrap();
    assert!(text(&echoed).contains("größer"));
    let sum = fixture.call("get-sum", json!({ "a": 2, "b": 40 })).unwrap();
    assert!(text(&sum).contains("42"), "{sum:?}");
    let image = fixture.call("get-tiny-image", json!({})).unwrap();
    let is_image = |part: &ResultPart| matches!(part, ResultPart::Attachment { kind: "image", mime: Some(mime), bytes: Some(1..), .. } if mime == "image/png");
    assert!(image.parts.iter().any(is_image), "{image:?}");
    let weather = fixture.call("get-structured-content", json!({ "location": "Chicago" })).unwrap();
    assert!(weather.structured.is_some(), "{weather:?}");
    let resource = fixture.read(&offer.resources[0].uri).unwrap();
    assert!(!text(&resource).is_empty());
    // Errors of the server, unchanged.
    match fixture.call("get-sum", json!({ "a": "x" })) {
        Ok(output) => assert!(output.is_error, "{output:?}"),
        Err(fault) => assert!(matches!(fault, ServerFault::Refused { .. }), "{fault:?}"),
    }
    let unknown = fixture.call("no-such-tool", json!({}));
    assert!(unknown.is_err() || unknown.unwrap().is_error);
    // A slow result arrives.
    let slow = json!({ "duration": 1, "steps": 2 });
    let slow = fixture.call("trigger-long-running-operation", slow).unwrap();
    assert!(text(&slow).contains("completed"), "{slow:?}");
    check_cancel(fixture);
    // A long text passes in both directions.
    let long = "x".repeat(1 << 20);
    let echoed = fixture.call("echo", json!({ "message": long })).unwrap();
    assert!(text(&echoed).len() > 1 << 20);
}

/// Checks that a cancelled call ends at once and leaves the connection intact.
fn check_cancel(fixture: &ServerFixture) {
    let cancel = Cancel::default();
    let deadline = Deadline::after(TIMEOUT, &cancel);
    std::thread::scope(|scope| {
        let called = scope.spawn(|| {
            let slow = json!({ "duration": 100, "steps": 2 });
            fixture.call_until("trigger-long-running-operation", slow, &deadline)
        });
        // The first call is on its way once a later one is answered.
        fixture.call("echo", json!({ "message": "after" })).unwrap();
        cancel.cancel();
        assert_eq!(called.join().unwrap().unwrap_err(), ServerFault::Stopped);
    });
    let short = Deadline::after(Duration::from_millis(100), &Cancel::default());
    let slow = json!({ "duration": 100, "steps": 2 });
    let late = fixture.call_until("trigger-long-running-operation", slow, &short);
    assert_eq!(late.unwrap_err(), ServerFault::TimedOut);
    assert!(text(&fixture.call("echo", json!({ "message": "still" })).unwrap()).contains("still"));
}

#[test]
fn everything_works_over_stdio() {
    check_everything(&over_stdio());
}

#[test]
fn everything_works_over_http() {
    let listening = Listening::everything();
    check_everything(&ServerFixture::new(&format!("url = {:?}\n", listening.url)));
}

#[test]
fn a_server_that_is_killed_in_a_call_is_started_again() {
    let fixture = over_stdio();
    fixture.offer();
    let fault = std::thread::scope(|scope| {
        let called = scope.spawn(|| {
            let slow = json!({ "duration": 100, "steps": 2 });
            fixture.call("trigger-long-running-operation", slow)
        });
        fixture.call("echo", json!({ "message": "after" })).unwrap();
        kill(&fixture.path("pid"));
        called.join().unwrap().unwrap_err()
    });
    assert!(matches!(fault, ServerFault::Lost(_)), "{fault:?}");
    let again = fixture.call("echo", json!({ "message": "again" })).unwrap();
    assert!(text(&again).contains("again"));
}

#[test]
fn a_server_over_http_that_is_killed_is_a_typed_error() {
    let mut listening = Listening::everything();
    let fixture = ServerFixture::new(&format!("url = {:?}\n", listening.url));
    fixture.tools();
    listening.end();
    let fault = fixture.call("echo", json!({ "message": "x" })).unwrap_err();
    let is_typed = matches!(fault, ServerFault::Lost(_) | ServerFault::Unavailable { .. });
    assert!(is_typed, "{fault:?}");
}

#[test]
fn what_it_logs_is_heard() {
    let fixture = over_stdio();
    fixture.offer();
    let log: Vec<String> =
        fixture.server.logs().after(&mut 0).into_iter().map(|line| line.text).collect();
    assert!(log.iter().any(|line| line.contains("STDIO")), "{log:?}");
}
