//! Tests of the scripted model, with handmade requests.

mod files;
mod golden;
mod record;
mod replies;

use std::sync::Arc;

use crewagent_core::event::{Channel, Reply};
use crewagent_core::message::{Message, ToolCall};
use serde_json::{Map, Value as Json, json};

use super::Scripted;
use crewagent_engine::cancel::{Cancel, Deadline};
use crewagent_engine::model::{
    Delta, Model as _, ModelError, ModelErrorKind, Progress, Request, RequestCache, TurnPosition,
};

/// Returns a request at a node, with the messages before it.
fn request(node: &str, node_turn: u64, messages: Vec<Message>) -> Request {
    Request {
        messages: Arc::new(messages.into_iter().map(Arc::new).collect()),
        tools: Arc::from([]),
        place: TurnPosition {
            frame: None,
            workflow: None,
            is_conversation: false,
            turn: node_turn + 10,
            node_id: Some(node.to_owned()),
            node_turn,
            input: None,
            variables: Map::new(),
        },
        sha256: String::new(),
    }
}

fn with_input(mut request: Request, input: &str) -> Request {
    request.place.input = Some(input.into());
    request
}

/// Returns messages that end with these results of tools.
fn answered(answers: &[Json]) -> Vec<Message> {
    let call = |at: usize| ToolCall {
        id: format!("c{at}"),
        name: "fs.read".to_owned(),
        arguments: "{}".into(),
        extra: Map::new(),
    };
    let tool_calls = (0..answers.len()).map(call).collect();
    let mut messages = vec![
        Message::user("go"),
        Message::Assistant { content: None, tool_calls, from: None, extra: Map::new() },
    ];
    messages.extend(answers.iter().enumerate().map(|(at, answer)| Message::Tool {
        tool_call_id: format!("c{at}"),
        content: answer.to_string().into(),
    }));
    messages
}

fn refusal(code: &str) -> Json {
    json!({ "ok": false, "error": { "code": code, "message": "No." } })
}

fn scripted(text: &str) -> Scripted {
    Scripted::parse("s.yaml", text).unwrap()
}

fn ask(model: &Scripted, request: &Request) -> Result<Reply, ModelError> {
    model.reply(request, &mut RequestCache::default(), &mut |_| {}, &Deadline::default())
}

fn say(model: &Scripted, request: &Request) -> String {
    ask(model, request).unwrap().content.unwrap_or_default()
}

/// Checks the message if a request does not fit the scenario.
fn check_derailed(text: &str, request: &Request, expected: &str) {
    let error = ask(&scripted(text), request).unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Script);
    assert_eq!(error.message, expected);
}

fn deltas(model: &Scripted, request: &Request) -> Vec<(Channel, String)> {
    let mut pieces = Vec::new();
    let mut tell = |progress: Progress| {
        let Delta { channel, text } = words(progress);
        pieces.push((channel, text));
    };
    model.reply(request, &mut RequestCache::default(), &mut tell, &Deadline::default()).unwrap();
    pieces
}

fn words(progress: Progress) -> Delta {
    match progress {
        Progress::Delta(delta) => delta,
        Progress::Retry(again) => panic!("tried again: {again:?}"),
    }
}
