//! Tests of requests that are rendered incrementally.

use std::sync::Arc;

use crewagent_core::call::schema;
use crewagent_core::message::ToolCall;
use crewagent_core::policy::Policy;
use serde_json::{Map, Value as Json, json};

use super::*;

pub(super) const SOURCE: &str = "p/m";

pub(super) fn tools() -> (ToolNames, Arc<[ToolSpec]>) {
    let tools: Arc<[ToolSpec]> = schema::tools(&Policy::default()).into_iter().take(1).collect();
    (ToolNames::new(crate::profile::NameForm::Plain, &tools), tools)
}

pub(super) fn call(id: &str, name: &str, arguments: &str) -> ToolCall {
    ToolCall { id: id.into(), name: name.into(), arguments: arguments.into(), extra: Map::new() }
}

fn calls(calls: Vec<ToolCall>) -> Message {
    Message::Assistant { content: None, tool_calls: calls, from: None, extra: Map::new() }
}

fn answer(id: &str, content: &str) -> Message {
    Message::Tool { tool_call_id: id.into(), content: content.into() }
}

fn options(profile: &Profile) -> Options<'_> {
    Options {
        model: "m",
        source: SOURCE,
        profile,
        max_output: None,
        temperature: None,
        stream: true,
        tools: true,
    }
}

pub(super) fn request(profile: &Profile, may_call: bool, messages: &[Message]) -> Json {
    let (names, tools) = tools();
    let messages: Vec<Arc<Message>> = messages.iter().cloned().map(Arc::new).collect();
    let options = Options { tools: may_call, ..options(profile) };
    let mut body = Body::default();
    serde_json::from_slice(body.render(&options, &names, &messages, &tools)).unwrap()
}

/// Checks the body that is sent for these messages.
fn check_sent(profile: &Profile, messages: &[Message], expected: Json) {
    assert_eq!(request(profile, true, messages)["messages"], expected);
}

fn generic() -> &'static Profile {
    Profile::built_in("generic").unwrap()
}

#[test]
fn everything_else_comes_before_the_messages() {
    let (names, tools) = tools();
    let mut body = Body::default();
    let messages = [Arc::new(Message::user("hi"))];
    let text = body.render(&options(generic()), &names, &messages, &tools);
    let text = String::from_utf8(text.to_vec()).unwrap();
    assert!(
        text.starts_with(
            r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"tools":["#
        ),
        "{text}"
    );
    assert!(text.ends_with(r#","messages":[{"role":"user","content":"hi"}]}"#), "{text}");
}

#[test]
fn one_more_message_leaves_the_bytes_before_it_alone() {
    let (names, tools) = tools();
    let mut body = Body::default();
    let mut messages = vec![Arc::new(Message::user("hi"))];
    let before = body.render(&options(generic()), &names, &messages, &tools).to_vec();
    let at = body.bytes.as_ptr();
    body.bytes.reserve(10_000);
    let moved = body.bytes.as_ptr();
    messages.push(Arc::new(calls(vec![call("a", "fs.read", "{}")])));
    messages.push(Arc::new(answer("a", "{}")));
    let after = body.render(&options(generic()), &names, &messages, &tools).to_vec();
    assert!(after.starts_with(&before[..before.len() - 2]));
    assert!(at == moved || body.bytes.as_ptr() == moved);
    assert_eq!(body.thread.called(), ["fs_read"]);
}

#[test]
fn what_was_lent_is_gone_on_with_or_rendered_anew() {
    let (names, tools) = tools();
    let mut messages = vec![Arc::new(Message::user("hi"))];
    let mut bodies = [Body::default(), Body::default()];
    for body in &mut bodies {
        body.render(&options(generic()), &names, &messages, &tools);
    }
    let [returned, lost] = &mut bodies;
    let lent = returned.lend();
    returned.give_back(lent.clone());
    assert_eq!(lost.lend(), lent);
    messages.push(Arc::new(calls(vec![call("a", "fs.read", "{}")])));
    messages.push(Arc::new(answer("a", "{}")));
    let [one, other] =
        bodies.map(|mut body| body.render(&options(generic()), &names, &messages, &tools).to_vec());
    assert_eq!(one, other);
    assert!(one.starts_with(&lent[..lent.len() - 2]));
}

#[test]
fn answers_that_miss_are_made_up_and_others_dropped() {
    let unknown: Json = crewagent_core::prompt::interrupted().into();
    check_sent(
        generic(),
        &[
            Message::user("go"),
            answer("x", "orphan"),
            calls(vec![
                call("a", "fs.read", "{}"),
                call("b", "fs.read", "{}"),
                call("b", "fs.read", "{}"),
            ]),
            answer("b", "first"),
            answer("c", "orphan"),
            Message::user(" "),
            answer("b", "second"),
            answer("b", "third"),
            Message::user("on"),
            answer("a", "late"),
        ],
        json!([
            { "role": "user", "content": "go" },
            { "role": "assistant", "content": null, "tool_calls": [
                { "id": "a", "type": "function", "function": { "name": "fs_read", "arguments": "{}" } },
                { "id": "b", "type": "function", "function": { "name": "fs_read", "arguments": "{}" } },
                { "id": "b_2", "type": "function", "function": { "name": "fs_read", "arguments": "{}" } },
            ] },
            { "role": "tool", "tool_call_id": "a", "content": unknown },
            { "role": "tool", "tool_call_id": "b", "content": "first" },
            { "role": "tool", "tool_call_id": "b_2", "content": "second" },
            { "role": "user", "content": "on" },
        ]),
    );
}

#[test]
fn there_is_always_something_to_answer() {
    let nothing = json!([{ "role": "user", "content": "Go on." }]);
    check_sent(generic(), &[], nothing);
    check_sent(
        generic(),
        &[Message::system("rules"), Message::user("\n")],
        json!([{ "role": "system", "content": "rules" }, { "role": "user", "content": "(nothing)" }]),
    );
    check_sent(
        generic(),
        &[Message::user("a"), Message::user(" ")],
        json!([{ "role": "user", "content": "a" }]),
    );
    check_sent(
        generic(),
        &[
            Message::user("a"),
            Message::assistant("b"),
            Message::user(" "),
            Message::assistant("c"),
            Message::user(" "),
            Message::user("d"),
        ],
        json!([
            { "role": "user", "content": "a" },
            { "role": "assistant", "content": "b" },
            { "role": "user", "content": "(nothing)" },
            { "role": "assistant", "content": "c" },
            { "role": "user", "content": "d" },
        ]),
    );
}

#[test]
fn fields_of_the_profile_win_and_cannot_change_what_a_request_is() {
    let fields = json!({ "fields": { "max_tokens": 5, "messages": [], "model": "x", "top_k": 3, "seed": null } });
    let profile = generic().with(fields.as_object().unwrap()).unwrap();
    let (names, tools) = tools();
    let options = Options {
        max_output: Some(9),
        temperature: Some(f64::NAN),
        stream: false,
        tools: false,
        ..options(&profile)
    };
    let mut body = Body::default();
    let body: Json = serde_json::from_slice(body.render(&options, &names, &[], &tools)).unwrap();
    let expected = json!({ "model": "m", "max_tokens": 5, "top_k": 3,
        "messages": [{ "role": "user", "content": "Go on." }] });
    assert_eq!(body, expected);
}

#[test]
fn one_more_turn_costs_what_is_new() {
    let (names, tools) = tools();
    let options = options(generic());
    let mut body = Body::default();
    let mut messages = vec![Arc::new(Message::system("rules"))];
    for turn in 0..200 {
        let id = format!("call_{turn}");
        messages.push(Arc::new(calls(vec![call(&id, "fs.read", "{}")])));
        messages.push(Arc::new(answer(&id, &"x".repeat(1_250))));
        body.render(&options, &names, &messages, &tools);
        // Everything is rendered already.
        let next = body.thread.rewind(messages.len(), body.head, &mut body.bytes);
        assert_eq!(next, messages.len());
    }
    assert!(body.bytes.len() > 250_000);
}
