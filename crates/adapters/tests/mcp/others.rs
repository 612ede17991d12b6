//! Tests with `@modelcontextprotocol/server-filesystem` and `mcp-server-time`.

use std::fs;

use crewagent_engine::tool_server::ServerFault;
use serde_json::json;

use crate::servers::{ServerFixture, installed, kill, text};

#[test]
fn files_are_read_and_written_by_a_server() {
    let fixture = ServerFixture::node("server-filesystem", &["{scratch}/home"]);
    let home = fixture.path("home").canonicalize().unwrap();
    let names: Vec<String> = fixture.tools().into_iter().map(|tool| tool.tool).collect();
    assert!(names.iter().any(|name| name == "write_file"), "{names:?}");
    let file = home.join("note.txt");
    let written = json!({ "path": file, "content": "kept" });
    fixture.call("write_file", written).unwrap();
    assert_eq!(fs::read_to_string(&file).unwrap(), "kept");
    let read = fixture.call("read_text_file", json!({ "path": file })).unwrap();
    assert!(text(&read).contains("kept"), "{read:?}");
    // One megabyte, unchanged.
    let large = home.join("large.txt");
    fs::write(&large, "0123456789abcde\n".repeat(1 << 16)).unwrap();
    let read = fixture.call("read_text_file", json!({ "path": large })).unwrap();
    assert!(text(&read).len() >= 1 << 20);
    // The server refuses paths outside its folder, and the refusal arrives as an error.
    let outside = fixture.call("read_text_file", json!({ "path": "/etc/hosts" })).unwrap();
    assert!(outside.is_error && text(&outside).contains("denied"), "{outside:?}");
    // It is killed between two calls, and the next one restarts it.
    kill(&fixture.path("pid"));
    let read = match fixture.call("read_text_file", json!({ "path": file })) {
        Err(ServerFault::Lost(_)) => fixture.call("read_text_file", json!({ "path": file })),
        other => other,
    };
    assert!(text(&read.unwrap()).contains("kept"));
}

#[test]
fn a_server_in_python_tells_the_time() {
    let program = installed().join("time/bin/mcp-server-time");
    let table = format!("command = {program:?}\nargs = [\"--local-timezone\", \"UTC\"]\n");
    let fixture = ServerFixture::new(&table);
    let names: Vec<String> = fixture.tools().into_iter().map(|tool| tool.tool).collect();
    assert!(names.iter().any(|name| name == "convert_time"), "{names:?}");
    let arguments = json!({
        "source_timezone": "Europe/Berlin", "time": "12:00", "target_timezone": "Asia/Tokyo"
    });
    let converted = fixture.call("convert_time", arguments).unwrap();
    assert!(text(&converted).contains("Asia/Tokyo"), "{converted:?}");
    let wrong = json!({ "timezone": "Nowhere/Land" });
    match fixture.call("get_current_time", wrong) {
        Ok(output) => assert!(output.is_error, "{output:?}"),
        Err(fault) => assert!(matches!(fault, ServerFault::Refused { .. }), "{fault:?}"),
    }
}
