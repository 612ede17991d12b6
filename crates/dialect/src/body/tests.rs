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
    let unknown = "Failed: The run was interrupted before this call was answered, so it is not known whether it took \
                   effect. Look at the current state of the files before you repeat it. (E_UNKNOWN_OUTCOME)";
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
fn answers_are_sent_as_models_read_them() {
    let read = json!({"ok": true, "path": "@project/a.md", "bytes": 8, "totalLines": 2, "content": "one\n\\d+\n"});
    let chosen = json!({"ok": true, "answer": "b"}).to_string();
    let asked = call("c", "ui_ask_user", r#"{"question":"?","options":["a","b"]}"#);
    let of_server = r#"{"ok":true,"content":"x"}"#;
    let messages = [
        Message::user("go"),
        calls(vec![call("a", "fs.read", "{}"), call("b", "mcp.x.y", "{}"), asked]),
        answer("a", &read.to_string()),
        answer("b", of_server),
        answer("c", &chosen),
    ];
    let sent = request(generic(), true, &messages);
    let text = |place: usize| sent["messages"][place]["content"].as_str().unwrap();
    assert_eq!(text(2), "@project/a.md, lines 1-2 of 2\n1|one\n2|\\d+");
    assert_eq!(text(3), of_server);
    assert_eq!(text(4), "The user chose: b.");
}

fn with(changes: Json) -> Profile {
    generic().with(changes.as_object().unwrap()).unwrap()
}

#[test]
fn neighbouring_messages_of_the_user_become_one() {
    let empty =
        Message::Assistant { content: None, tool_calls: vec![], from: None, extra: Map::new() };
    let messages = [
        Message::user("anchor"),
        empty,
        Message::user("nudge"),
        Message::assistant("hi"),
        Message::system("late rules"),
        Message::user("a"),
        Message::user(" "),
        Message::user("b"),
    ];
    check_sent(
        generic(),
        &messages,
        json!([
            { "role": "user", "content": "anchor\n\nnudge" },
            { "role": "assistant", "content": "hi" },
            { "role": "user", "content": "late rules\n\na\n\nb" },
        ]),
    );
    check_sent(
        &with(json!({ "users": "as-they-stand" })),
        &messages,
        json!([
            { "role": "user", "content": "anchor" },
            { "role": "user", "content": "nudge" },
            { "role": "assistant", "content": "hi" },
            { "role": "user", "content": "late rules" },
            { "role": "user", "content": "a" },
            { "role": "user", "content": "b" },
        ]),
    );
}

#[test]
fn rules_can_open_the_first_message_of_the_user() {
    let profile = with(json!({ "systems": "in-user" }));
    let rules = [Message::system("rules"), Message::system("persona")];
    let [first, second] = rules.clone();
    check_sent(
        &profile,
        &[first, second, Message::user("go"), Message::assistant("hi"), Message::system("late")],
        json!([
            { "role": "user", "content": "rules\n\npersona\n\ngo" },
            { "role": "assistant", "content": "hi" },
            { "role": "user", "content": "late" },
        ]),
    );
    check_sent(
        &profile,
        &rules,
        json!([{ "role": "user", "content": "rules\n\npersona\n\nGo on." }]),
    );
    let [first, _] = rules;
    check_sent(
        &profile,
        &[first, Message::user(" "), Message::assistant("hi")],
        json!([
            { "role": "user", "content": "rules\n\n(nothing)" },
            { "role": "assistant", "content": "hi" },
            { "role": "user", "content": "Go on." },
        ]),
    );
}

#[test]
fn the_model_is_never_first() {
    check_sent(
        generic(),
        &[Message::system("rules"), Message::assistant("hi"), Message::user("go")],
        json!([
            { "role": "system", "content": "rules" },
            { "role": "user", "content": "Go on." },
            { "role": "assistant", "content": "hi" },
            { "role": "user", "content": "go" },
        ]),
    );
}

#[test]
fn another_message_of_the_user_changes_only_the_last_one() {
    let (names, tools) = tools();
    let options = options(generic());
    let mut body = Body::default();
    let mut messages = vec![Arc::new(Message::user("a")), Arc::new(Message::assistant("b"))];
    messages.push(Arc::new(Message::user("c")));
    let before = body.render(&options, &names, &messages, &tools).to_vec();
    messages.push(Arc::new(Message::user("d")));
    let after = body.render(&options, &names, &messages, &tools).to_vec();
    assert!(after.starts_with(before.strip_suffix(br#""}]}"#).unwrap()));
    messages.push(Arc::new(Message::assistant("e")));
    let last = body.render(&options, &names, &messages, &tools).to_vec();
    assert!(last.starts_with(after.strip_suffix(b"]}").unwrap()));
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
