//! Tests of the replay model, with a handmade recording.

use crewagent_core::event::{
    Answer, AssistantMessage, EventKind, Phase, PhaseChanged, Reason, RunResumed, ToolFinished,
    TurnStarted, UserInput,
};
use crewagent_core::message::{Message, ToolCall};
use serde_json::{Map, json};

use super::*;
use crewagent_engine::model::TurnPosition;

const BRIEF: &str = "NODE_BRIEF\n- currentNodeId: a\n- outputs:\n  - artifacts/a.md";

fn event(kind: EventKind) -> Event {
    let time = "2026-11-15T09:30:00.000Z".to_owned();
    Event { seq: 1, part: None, time, run_id: None, key: None, kind }
}

fn started(turn: u64, sha256: &str, added: Vec<Message>) -> Event {
    let request = RequestSummary { messages: 3, bytes: 20, sha256: sha256.to_owned(), added };
    let node_id = Some("a".to_owned());
    event(EventKind::from(TurnStarted {
        turn,
        node_id,
        agent_id: Some("bob".to_owned()),
        request,
        ..TurnStarted::default()
    }))
}

fn message(turn: u64, reply: Reply) -> Event {
    event(EventKind::from(AssistantMessage { turn, reply }))
}

fn words(text: &str) -> Reply {
    Reply { content: Some(text.to_owned()), ..Reply::default() }
}

fn call(arguments: Payload) -> ToolCall {
    ToolCall { id: "c1".to_owned(), name: "fs.read".to_owned(), arguments, extra: Map::new() }
}

fn answer(turn: u64, result: &str) -> Event {
    let answer = Answer { result: result.into(), ..Answer::default() };
    let (call_id, tool) = ("c1".to_owned(), "fs.read".to_owned());
    event(EventKind::from(ToolFinished { turn, call_id, tool, answer }))
}

fn tool(content: &str) -> Message {
    Message::Tool { tool_call_id: "c1".to_owned(), content: content.into() }
}

fn asked(calls: Vec<ToolCall>) -> Message {
    Message::Assistant { content: None, tool_calls: calls, from: None, extra: Map::new() }
}

/// Returns a run of two turns with a restart between them.
fn recording() -> Vec<Event> {
    let first = vec![Message::system("Rules."), Message::user(BRIEF)];
    let resumed = EventKind::from(RunResumed { epoch: 2, ..RunResumed::default() });
    vec![
        started(1, "one", first),
        message(1, Reply { tool_calls: vec![call("{}".into())], ..Reply::default() }),
        event(resumed),
        answer(1, r#"{"ok":true,"content":"old text"}"#),
        started(2, "two", vec![Message::user("USER_INPUT\ngo on")]),
        message(2, words("Done.")),
    ]
}

fn replay(events: Vec<Event>) -> Replay {
    Replay::from_events(events, |_| None)
}

fn request(turn: u64, sha256: &str, messages: Vec<Message>) -> Request {
    Request {
        messages: Arc::new(messages.into_iter().map(Arc::new).collect()),
        tools: Arc::from([]),
        place: TurnPosition {
            turn,
            node_id: Some("a".to_owned()),
            node_turn: turn,
            ..TurnPosition::default()
        },
        sha256: sha256.to_owned(),
    }
}

fn ask(model: &Replay, request: &Request) -> Result<Reply, ModelError> {
    model.reply(request, &mut RequestCache::default(), &mut |_| {}, &Deadline::default())
}

fn check_error(model: &Replay, request: &Request, expected: &str) {
    let error = ask(model, request).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Script);
    assert_eq!(error.message, expected);
}

/// Checks the difference reported if the second request has other messages than the recorded ones.
fn check_difference(messages: Vec<Message>, expected: &str) {
    let expected = format!("The request of turn 2 at node `a` is not the recorded one. {expected}");
    check_error(&replay(recording()), &request(2, "other", messages), &expected);
}

/// Returns the messages of the second request as recorded.
fn second() -> Vec<Message> {
    vec![
        Message::system("Rules."),
        Message::user(BRIEF),
        asked(vec![call("{}".into())]),
        tool(r#"{"ok":true,"content":"old text"}"#),
        Message::user("USER_INPUT\ngo on"),
    ]
}

#[test]
fn the_same_requests_get_the_recorded_replies() {
    let model = replay(recording());
    assert_eq!(model.turns(), 2);
    let first = ask(&model, &request(1, "one", vec![])).unwrap();
    assert_eq!(first.tool_calls, [call("{}".into())]);
    let mut heard = Vec::new();
    let mut tell = |progress: Progress| heard.push(piece(progress).text);
    let second = model
        .reply(
            &request(2, "two", vec![]),
            &mut RequestCache::default(),
            &mut tell,
            &Deadline::default(),
        )
        .unwrap();
    assert_eq!(second, words("Done."));
    assert_eq!(heard, ["Done."]);
}

#[test]
fn a_turn_that_was_started_again_counts_as_it_was_last() {
    let mut events = vec![started(1, "before the crash", vec![])];
    events.extend(recording());
    assert!(ask(&replay(events), &request(1, "one", vec![])).is_ok());
}

#[test]
fn long_arguments_come_from_the_blobs() {
    let text: Arc<str> = r#"{"path":"@project/a"}"#.into();
    let sha256 = Digest::of(text.as_bytes());
    let blob = Payload::Blob { sha256, bytes: text.len() as u64 };
    let reply = Reply { tool_calls: vec![call(blob)], ..Reply::default() };
    let events = vec![started(1, "one", vec![]), message(1, reply)];
    let kept = text.clone();
    let model =
        Replay::from_events(events.clone(), move |digest| (digest == sha256).then(|| kept.clone()));
    let reply = ask(&model, &request(1, "one", vec![])).unwrap();
    assert_eq!(reply.tool_calls[0].arguments, Payload::Inline(text));
    check_error(
        &replay(events),
        &request(1, "one", vec![]),
        &format!(
            "The arguments of call `c1` (fs.read) are not in the recording: the blob {sha256} is missing."
        ),
    );
}

#[test]
fn a_recording_that_ends_says_so() {
    let mut events = recording();
    check_error(
        &replay(events.clone()),
        &request(3, "x", vec![]),
        "The recording has no turn 3; its last one is turn 2.",
    );
    events.push(started(3, "x", vec![]));
    check_error(
        &replay(events.clone()),
        &request(3, "x", vec![]),
        "The recording has no reply for turn 3: the run was cut off there",
    );
    events.push(event(EventKind::from(PhaseChanged {
        phase: Phase::Failed,
        reason: Some(Reason::Model),
        message: Some("The key is wrong.".to_owned()),
    })));
    check_error(
        &replay(events),
        &request(3, "x", vec![]),
        "The recording has no reply for turn 3: The key is wrong.",
    );
}

#[test]
fn a_message_of_the_runtime_that_changed_is_shown_by_line() {
    let mut messages = second();
    messages[4] = Message::user("USER_INPUT\ngo home");
    check_difference(
        messages,
        "In message 5 of 5 (user, USER_INPUT), line 2 differs (- recorded, + now):\n    USER_INPUT\n  - go on\n  + go home",
    );
    let mut messages = second();
    messages.pop();
    check_difference(
        messages,
        "The recorded message (user, USER_INPUT) is missing:\n  USER_INPUT\n  go on",
    );
}

#[test]
fn a_message_that_was_not_there_is_shown() {
    let mut messages = second();
    messages.push(Message::user("NOTE\nmore"));
    check_difference(messages, "Message 6 of 6 (user, NOTE) was not there:\n  NOTE\n  more");
    let mut messages = second();
    messages[1] = Message::user(BRIEF.replace("a.md", "b.md"));
    check_difference(
        messages,
        "Message 2 of 5 (user, NODE_BRIEF) was not there:\n  NODE_BRIEF\n  - currentNodeId: a\n  - outputs:\n    - artifacts/b.md",
    );
}

#[test]
fn words_of_the_user_are_known() {
    let mut events = recording();
    let text = "the blue one".into();
    events.push(event(EventKind::from(UserInput { text, for_node_id: None, call_id: None })));
    let mut messages = second();
    messages.insert(2, Message::user("USER_INPUT\n- forNodeId: a\nthe blue one"));
    let error = ask(&replay(events), &request(2, "other", messages)).unwrap_err();
    assert!(error.message.contains("Every message is known"), "{}", error.message);
}

#[test]
fn a_tool_that_answered_something_else_is_shown() {
    let mut messages = second();
    messages[3] = tool(r#"{"ok":true,"content":"new text"}"#);
    check_difference(
        messages,
        "In message 4 of 5 (tool, c1), `content`, line 1 differs (- recorded, + now):\n  - old text\n  + new text",
    );
    let mut messages = second();
    messages[3] = Message::Tool { tool_call_id: "c9".to_owned(), content: "{}".into() };
    check_difference(messages, "Message 4 of 5 (tool, c9) answers a call that was not recorded.");
}

#[test]
fn the_lines_of_an_answer_tell_more_than_its_digest() {
    let mut events = recording();
    events.insert(4, answer(1, r#"{"ok":true,"sha256":"aa","content":"one\ntwo\nthree"}"#));
    let mut messages = second();
    messages[3] = tool(r#"{"ok":true,"sha256":"bb","content":"one\n2\nthree"}"#);
    let error = ask(&replay(events), &request(2, "other", messages)).unwrap_err();
    assert_eq!(
        error.message,
        "The request of turn 2 at node `a` is not the recorded one. In message 4 of 5 (tool, c1), `content`, line 2 differs (- recorded, + now):\n    one\n  - two\n  + 2"
    );
}

#[test]
fn words_that_nobody_recorded_are_shown() {
    let mut messages = second();
    messages[2] = Message::assistant("I was never here.");
    check_difference(
        messages,
        "Message 3 of 5 (assistant) is not a recorded reply:\n  I was never here.",
    );
}

#[test]
fn when_all_messages_are_known_the_sizes_are_told() {
    let mut messages = second();
    messages.remove(0);
    let bytes: u64 = messages.iter().map(Message::bytes).sum();
    check_difference(
        messages,
        &format!(
            "It has 4 messages of {bytes} bytes, the recorded one had 3 of 20. Every message is known, so their order, an earlier message that is missing, or the tools differ."
        ),
    );
}

#[test]
fn thoughts_are_told_again() {
    let mut reply = words("Done.");
    reply.extra.insert("reasoning_content".to_owned(), json!("Hm."));
    let model = replay(vec![started(1, "one", vec![]), message(1, reply)]);
    let mut heard = Vec::new();
    let mut tell = |progress: Progress| {
        let delta = piece(progress);
        heard.push((delta.channel, delta.text));
    };
    model
        .reply(
            &request(1, "one", vec![]),
            &mut RequestCache::default(),
            &mut tell,
            &Deadline::default(),
        )
        .unwrap();
    let expected = [(Channel::Thinking, "Hm."), (Channel::Text, "Done.")];
    assert_eq!(heard, expected.map(|(channel, text)| (channel, text.to_owned())));
}

fn piece(progress: Progress) -> Delta {
    match progress {
        Progress::Delta(delta) => delta,
        Progress::Retry(again) => panic!("tried again: {again:?}"),
    }
}
