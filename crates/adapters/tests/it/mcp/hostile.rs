//! Whole conversations with misbehaving servers: each continues, and every result is typed.

use crewagent_core::event::{EventKind, Phase, ToolEvent, ToolsListed};

use super::*;

fn check_survives(behaviour: &str, more: &str, call: (&str, Json), expected: RefusalCode) {
    let fixture = McpFixture::new(&table("s", behaviour, more));
    let talked = fixture.converse(&scenario(&[call]), fixture.settings());
    assert_eq!(talked.rest.phase, Phase::WaitingUser, "{behaviour}: {:?}", talked.rest);
    let answers = talked.answers();
    assert_eq!(answers.len(), 1, "{behaviour}");
    assert_eq!(code(&answers[0]), Some(expected), "{behaviour}: {}", answers[0]);
}

#[test]
fn a_conversation_survives_every_server() {
    let echo = || ("mcp.s.echo", json!({ "text": "x" }));
    check_survives("quits", "", echo(), RefusalCode::ToolNotAvailable);
    check_survives("mute", "startup-timeout = \"1s\"", echo(), RefusalCode::ToolNotAvailable);
    let none = json!({});
    let timeout = "call-timeout = \"1s\"";
    check_survives("tame", timeout, ("mcp.s.hang", none.clone()), RefusalCode::Timeout);
    for gone in ["mcp.s.crash", "mcp.s.flood", "mcp.s.line"] {
        check_survives("tame", "", (gone, none.clone()), RefusalCode::UnknownOutcome);
    }
    check_survives("tame", "", ("mcp.s.fail", none.clone()), RefusalCode::ToolFailed);
    check_survives("tame", "", ("mcp.s.ask", none.clone()), RefusalCode::ToolFailed);
    check_survives("tame", "", ("mcp.s.refuse", none.clone()), RefusalCode::ToolFailed);
    check_survives("tame", "", ("mcp.s.echo", none.clone()), RefusalCode::InvalidArguments);
    check_survives("tame", "", ("mcp.s.ech", none.clone()), RefusalCode::ToolNotAvailable);
    check_survives("tame", "", ("mcp.t.echo", none), RefusalCode::ToolNotAvailable);
}

#[test]
fn a_hostile_list_is_cleaned_and_capped() {
    let fixture = McpFixture::new(&table("s", "hostile", ""));
    let calls =
        [("mcp.s.echo", json!({ "text": "x" })), ("mcp__s__fs_read", json!({ "text": "y" }))];
    let talked = fixture.converse(&scenario(&calls), fixture.settings());
    let listed = talked.listed();
    assert_eq!(listed.len(), 1);
    let (_, names, error) = &listed[0];
    assert_eq!((names.len(), error), (256, &None));
    for event in &talked.events {
        let line = serde_json::to_string(event).unwrap();
        assert!(!line.contains('\u{202e}') && !line.contains("\\u001b"), "{line:.200}");
    }
    // The first of two tools with one name is called; a shared wire name means only one of them.
    assert_eq!(talked.answers()[0]["content"], "x");
}

#[test]
fn a_tool_that_is_not_described_as_it_should_be_costs_itself_alone() {
    let fixture = McpFixture::new(&table("s", "sloppy", ""));
    let talked =
        fixture.converse(&scenario(&[("mcp.s.echo", json!({ "text": "x" }))]), fixture.settings());
    assert_eq!(talked.answers()[0]["content"], "x");
    let left_out = talked.events.iter().find_map(|event| match &event.kind {
        EventKind::Tool(ToolEvent::Listed(ToolsListed { left_out, .. })) => Some(left_out),
        _ => None,
    });
    let left_out = left_out.unwrap();
    assert_eq!(left_out.len(), 4, "{left_out:?}");
    assert!(left_out[0].starts_with("`bare`: it is not described"), "{left_out:?}");
    assert!(left_out[0].contains("inputSchema"), "{left_out:?}");
}

#[test]
fn a_chatty_server_fills_no_journal() {
    let fixture = McpFixture::new(&table("s", "chatty", ""));
    let talked =
        fixture.converse(&scenario(&[("mcp.s.echo", json!({ "text": "x" }))]), fixture.settings());
    let is_log = |event: &&Event| matches!(event.kind, EventKind::Tool(ToolEvent::Logged(_)));
    let logs = talked.events.iter().filter(is_log).count();
    assert!((1..=103).contains(&logs), "{logs}");
}

#[test]
fn a_server_that_the_policy_keeps_out_is_not_started() {
    let fixture = McpFixture::new(&table("s", "quits", ""));
    for policy in ["{\"enabled\":false}", "{\"enabled\":true,\"allowedServers\":[\"t\"]}"] {
        let mut settings = fixture.settings();
        settings.policy.mcp = serde_json::from_str(policy).unwrap();
        let talked = fixture.converse(&scenario(&[("mcp.s.echo", json!({}))]), settings);
        assert_eq!(talked.listed(), []);
        assert_eq!(code(&talked.answers()[0]), Some(RefusalCode::ToolNotAvailable));
    }
}

#[test]
fn a_long_result_is_cut_and_kept() {
    let fixture = McpFixture::new(&table("s", "tame", ""));
    let talked = fixture.converse(&scenario(&[("mcp.s.big", json!({}))]), fixture.settings());
    let answer = &talked.answers()[0];
    assert_eq!((&answer["truncated"], &answer["bytes"]), (&json!(true), &json!(1 << 20)));
    assert_eq!(answer["contentPreview"].as_str().unwrap().len(), 128 << 10);
    let blob = answer["sha256"].as_str().unwrap();
    let id = crewagent_engine::store::RunId::parse(talked.run.id()).unwrap();
    let view = fixture.store.conversations().runs().look(&id).unwrap();
    let kept = view.blobs.text(crewagent_format::integrity::Digest::parse(blob).unwrap()).unwrap();
    assert_eq!(kept.len(), 1 << 20);
}
