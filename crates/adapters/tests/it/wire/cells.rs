//! Cells of the fault matrix: the server's behaviour and the required outcome.

use std::time::Duration;

use crewagent_engine::model::ModelErrorKind::{
    self, Auth, Malformed, Network, Rate, Rejected, Timeout, Window,
};
use crewagent_engine::model::Timeouts;
use serde_json::{Value as Json, json};

use super::server::{ServerAction, answer, events, stream, stream_head};
use super::timeouts;

/// Server with one fault.
pub(crate) struct Cell {
    pub(crate) name: String,
    pub(crate) answers: Vec<Vec<ServerAction>>,
    pub(crate) outcome: Outcome,
    /// Maximum number of requests until the outcome.
    pub(crate) requests: usize,
    /// Timeouts of the client. Only the one that the cell is about is short.
    pub(crate) timeouts: Timeouts,
}

impl Cell {
    fn with(self, timeouts: Timeouts) -> Self {
        Self { timeouts, ..self }
    }
}

/// Required outcome.
pub(crate) enum Outcome {
    /// This text.
    Text(&'static str),
    /// These calls: name and arguments.
    Calls(Vec<(String, String)>),
    /// An error of this kind, whose message has these parts.
    Error(ModelErrorKind, &'static [&'static str]),
}

/// Maximum number of requests that the tests' options allow.
pub(crate) const TRIES: usize = 3;

fn cell(name: &str, answers: Vec<Vec<ServerAction>>, outcome: Outcome, requests: usize) -> Cell {
    Cell { name: name.to_owned(), answers, outcome, requests, timeouts: timeouts() }
}

/// Returns the whole matrix.
pub(crate) fn cells() -> Vec<Cell> {
    let mut all = statuses();
    all.extend(waits());
    all.extend(bodies());
    all.extend(silences());
    all.extend(framing());
    all.extend(endings());
    all.extend(calls());
    all.extend(arguments());
    all
}

pub(crate) fn words(text: &str) -> Json {
    json!({"choices": [{"index": 0, "delta": {"content": text}}]})
}

pub(crate) fn finish(reason: &str) -> Json {
    json!({"choices": [{"index": 0, "delta": {}, "finish_reason": reason}]})
}

/// Returns a valid answer.
pub(crate) fn fine() -> Vec<ServerAction> {
    stream(&[words("Hel"), words("lo."), finish("stop")])
}

fn error(status: &str, headers: &[(&str, &str)], message: &str) -> Vec<ServerAction> {
    let body = json!({"error": {"message": message, "type": "error", "code": null}}).to_string();
    let headers = [&[("content-type", "application/json")], headers].concat();
    vec![answer(status, &headers, body.as_bytes())]
}

fn statuses() -> Vec<Cell> {
    let long = "This model's maximum context length is 4096 tokens. However, your messages resulted in 9000 tokens.";
    let mut all = vec![
        cell(
            "400 (context length)",
            vec![error("400 Bad Request", &[], long)],
            Outcome::Error(Window, &["4096", "window"]),
            1,
        ),
        cell(
            "400 (something else)",
            vec![error("400 Bad Request", &[], "no such field")],
            Outcome::Error(Rejected, &["no such field"]),
            1,
        ),
        cell(
            "401",
            vec![error("401 Unauthorized", &[], "Incorrect API key provided: sk-secret-key")],
            Outcome::Error(Auth, &["key", "HTTP 401"]),
            1,
        ),
        cell(
            "402",
            vec![error("402 Payment Required", &[], "Insufficient Balance")],
            Outcome::Error(Rate, &["credit"]),
            1,
        ),
        cell(
            "403",
            vec![error("403 Forbidden", &[], "not allowed")],
            Outcome::Error(Auth, &["key"]),
            1,
        ),
        cell(
            "404 model",
            vec![error("404 Not Found", &[], "The model `tiny` does not exist")],
            Outcome::Error(Rejected, &["name of the model"]),
            1,
        ),
        cell(
            "404 path",
            vec![vec![answer(
                "404 Not Found",
                &[("content-type", "text/plain")],
                b"404 page not found",
            )]],
            Outcome::Error(Rejected, &["address"]),
            1,
        ),
        cell(
            "301",
            vec![vec![answer(
                "301 Moved Permanently",
                &[("location", "https://elsewhere.example/v1")],
                b"",
            )]],
            Outcome::Error(Rejected, &["elsewhere.example", "not followed"]),
            1,
        ),
    ];
    for status in [
        "408 Request Timeout",
        "409 Conflict",
        "500 Internal Server Error",
        "502 Bad Gateway",
        "503 Service Unavailable",
        "504 Gateway Timeout",
        "529 Overloaded",
    ] {
        let once = vec![error(status, &[], "try later"), fine()];
        all.push(cell(&format!("{status}, once"), once, Outcome::Text("Hello."), 2));
        let ever = vec![error(status, &[], "try later")];
        all.push(cell(
            &format!("{status}, for ever"),
            ever,
            Outcome::Error(Network, &["try later", "tried 3 times"]),
            TRIES,
        ));
    }
    all
}

fn waits() -> Vec<Cell> {
    let limited = |headers: &[(&str, &str)]| error("429 Too Many Requests", headers, "slow down");
    vec![
        cell("429, no Retry-After", vec![limited(&[]), fine()], Outcome::Text("Hello."), 2),
        cell(
            "429, Retry-After in seconds",
            vec![limited(&[("retry-after", "0.05")]), fine()],
            Outcome::Text("Hello."),
            2,
        ),
        cell(
            "429, Retry-After as a date",
            vec![limited(&[("retry-after", "Thu, 01 Jan 2026 00:00:00 GMT")]), fine()],
            Outcome::Text("Hello."),
            2,
        ),
        cell(
            "429, retry-after-ms",
            vec![limited(&[("retry-after-ms", "20")]), fine()],
            Outcome::Text("Hello."),
            2,
        ),
        cell(
            "429, absurd Retry-After",
            vec![limited(&[("retry-after", "99999999")])],
            Outcome::Error(Rate, &["slow down"]),
            1,
        ),
        cell(
            "429, senseless Retry-After",
            vec![limited(&[("retry-after", "soon")]), fine()],
            Outcome::Text("Hello."),
            2,
        ),
        cell("429 for ever", vec![limited(&[])], Outcome::Error(Rate, &["tried 3 times"]), TRIES),
    ]
}

fn bodies() -> Vec<Cell> {
    let page =
        b"<!doctype html><html><head><title>Welcome</title></head><body>Sign in</body></html>";
    let whole = json!({"choices": [{"message": {"role": "assistant", "content": "Hello."}, "finish_reason": "stop"}]});
    let refused = json!({"error": {"message": "Streaming is not supported", "code": 400}});
    vec![
        cell(
            "200 with a page",
            vec![vec![answer("200 OK", &[("content-type", "text/html")], page)]],
            Outcome::Error(Rejected, &["address"]),
            TRIES,
        ),
        cell(
            "200 with an error in the stream",
            vec![stream(&[
                words("Hel"),
                json!({"error": {"message": "The engine died", "code": 500}}),
            ])],
            Outcome::Error(Network, &["The engine died"]),
            TRIES,
        ),
        cell(
            "200 with an error in the stream, once",
            vec![stream(&[json!({"error": {"message": "overloaded", "code": 503}})]), fine()],
            Outcome::Text("Hello."),
            2,
        ),
        cell(
            "an empty body",
            vec![vec![answer("200 OK", &[("content-type", "text/event-stream")], b"")]],
            Outcome::Error(Network, &["broke off"]),
            TRIES,
        ),
        cell(
            "a whole reply where a stream was asked for",
            vec![vec![answer(
                "200 OK",
                &[("content-type", "application/json")],
                whole.to_string().as_bytes(),
            )]],
            Outcome::Text("Hello."),
            1,
        ),
        cell(
            "no streaming",
            vec![
                vec![answer(
                    "400 Bad Request",
                    &[("content-type", "application/json")],
                    refused.to_string().as_bytes(),
                )],
                vec![answer(
                    "200 OK",
                    &[("content-type", "application/json")],
                    whole.to_string().as_bytes(),
                )],
            ],
            Outcome::Text("Hello."),
            2,
        ),
    ]
}

fn silences() -> Vec<Cell> {
    let short = Duration::from_millis(400);
    let first_byte = Timeouts { first_byte: short, ..timeouts() };
    let idle = Timeouts { idle: short, ..timeouts() };
    let call = Timeouts { call: short, ..timeouts() };
    vec![
        cell(
            "headers, then silence",
            vec![vec![stream_head(), ServerAction::Hang]],
            Outcome::Error(Timeout, &["did not begin to answer", "first-byte-timeout"]),
            2,
        )
        .with(first_byte),
        cell(
            "no headers",
            vec![vec![ServerAction::Hang]],
            Outcome::Error(Timeout, &["did not begin to answer"]),
            2,
        )
        .with(first_byte),
        cell(
            "silence in the middle",
            vec![vec![
                stream_head(),
                ServerAction::Send(events(&[words("Hel")])),
                ServerAction::Hang,
            ]],
            Outcome::Error(Timeout, &["fell silent", "idle-timeout"]),
            TRIES,
        )
        .with(idle),
        cell(
            "only keep-alives",
            vec![vec![
                stream_head(),
                ServerAction::Repeat(b": keep-alive\n\n".to_vec(), Duration::from_millis(20)),
            ]],
            Outcome::Error(Timeout, &["did not finish", "call-timeout"]),
            1,
        )
        .with(call),
        cell(
            "an endless line",
            vec![vec![
                stream_head(),
                ServerAction::Send(b"data: ".to_vec()),
                ServerAction::Repeat(vec![b'x'; 1 << 20], Duration::from_millis(1)),
            ]],
            Outcome::Error(Malformed, &["too long"]),
            1,
        ),
        cell(
            "not HTTP",
            vec![vec![
                ServerAction::Send(b"SSH-2.0-OpenSSH_9.6\r\n".to_vec()),
                ServerAction::Close,
            ]],
            Outcome::Error(Network, &["cannot be reached"]),
            TRIES,
        ),
    ]
}

fn framing() -> Vec<Cell> {
    let fancy = "\u{feff}: hello\r\ndata:{\"choices\":[{\"delta\":\r\ndata: {\"content\":\"Hel\"}}]}\r\n\r\n: ping\r\n\r\n\
                 event: message\r\nid: 7\r\ndata: {\"choices\":[{\"delta\":{\"content\":\"lo.\"},\"finish_reason\":\"stop\"}]}\r\n\r\n";
    let split = events(&[words("Grüße 🌍"), finish("stop")]);
    let usage = json!({"choices": [], "usage": {"prompt_tokens": 5, "completion_tokens": 2}});
    let mut late = events(&[words("Hello."), finish("stop")]);
    late.extend_from_slice(b"data: [DONE]\n\ndata: [DONE]\n\ndata: {\"choices\":[{\"delta\":{\"content\":\"more\"}}]}\n\n");
    vec![
        cell(
            "one byte at a time",
            vec![vec![
                stream_head(),
                ServerAction::Drip(events(&[words("Hel"), words("lo."), finish("stop")])),
                ServerAction::Close,
            ]],
            Outcome::Text("Hello."),
            1,
        ),
        cell(
            "characters split over chunks",
            vec![vec![stream_head(), ServerAction::Drip(split), ServerAction::Close]],
            Outcome::Text("Grüße 🌍"),
            1,
        ),
        cell(
            "BOM, CRLF, comments, data without a space and over many lines",
            vec![vec![
                stream_head(),
                ServerAction::Send(fancy.as_bytes().to_vec()),
                ServerAction::Close,
            ]],
            Outcome::Text("Hello."),
            1,
        ),
        cell(
            "[DONE] twice and data after it",
            vec![vec![stream_head(), ServerAction::Send(late), ServerAction::Close]],
            Outcome::Text("Hello."),
            1,
        ),
        cell(
            "a chunk of usage without choices",
            vec![stream(&[words("Hello."), finish("stop"), usage])],
            Outcome::Text("Hello."),
            1,
        ),
        cell(
            "invalid UTF-8",
            vec![vec![
                stream_head(),
                ServerAction::Send(b"data: {\"choices\":\xff}\n\n".to_vec()),
                ServerAction::Close,
            ]],
            Outcome::Error(Malformed, &["none of chat completions"]),
            TRIES,
        ),
    ]
}

fn endings() -> Vec<Cell> {
    let started = events(&[words("Hel")]);
    let mut torn = started.clone();
    torn.extend_from_slice(b"data: {\"choices\":[{\"delta\":{\"con");
    let mut unfinished = events(&[words("Hel"), words("lo.")]);
    unfinished.extend_from_slice(b"data: [DONE]\n\n");
    let mut tight = events(&[words("Hello.")]);
    tight.extend_from_slice(b"data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"stop\"}]}");
    vec![
        cell(
            "the end inside JSON",
            vec![vec![stream_head(), ServerAction::Send(torn.clone()), ServerAction::Close]],
            Outcome::Error(Network, &["broke off", "tried 3 times"]),
            TRIES,
        ),
        cell(
            "the end inside JSON, once",
            vec![vec![stream_head(), ServerAction::Send(torn), ServerAction::Close], fine()],
            Outcome::Text("Hello."),
            2,
        ),
        cell(
            "EOF without finish and without [DONE]",
            vec![vec![stream_head(), ServerAction::Send(started.clone()), ServerAction::Close]],
            Outcome::Error(Network, &["broke off"]),
            TRIES,
        ),
        cell(
            "[DONE] without finish",
            vec![vec![stream_head(), ServerAction::Send(unfinished), ServerAction::Close]],
            Outcome::Text("Hello."),
            1,
        ),
        cell(
            "finish without [DONE], last event without a blank line",
            vec![vec![stream_head(), ServerAction::Send(tight), ServerAction::Close]],
            Outcome::Text("Hello."),
            1,
        ),
        cell(
            "a reset",
            vec![vec![stream_head(), ServerAction::Send(started), ServerAction::Reset]],
            Outcome::Error(Network, &["broke off"]),
            TRIES,
        ),
        cell(
            "a reset before the answer, once",
            vec![vec![ServerAction::Reset], fine()],
            Outcome::Text("Hello."),
            2,
        ),
        cell(
            "content filter",
            vec![stream(&[words("Hello."), finish("content_filter")])],
            Outcome::Text("Hello."),
            1,
        ),
        cell(
            "an unknown end",
            vec![stream(&[words("Hello."), finish("eos")])],
            Outcome::Text("Hello."),
            1,
        ),
    ]
}

fn call(fields: Json) -> Json {
    json!({"choices": [{"index": 0, "delta": {"tool_calls": [fields]}}]})
}

fn called(calls: &[(&str, &str)]) -> Outcome {
    Outcome::Calls(
        calls.iter().map(|(name, arguments)| (name.to_string(), arguments.to_string())).collect(),
    )
}

const LIST: &str = r#"{"path":"@project/"}"#;

/// Returns a call of `fs.list` in one piece.
fn whole(id: &str, index: u64, arguments: &str) -> Json {
    let function = json!({"name": "fs_list", "arguments": arguments});
    call(json!({"index": index, "id": id, "type": "function", "function": function}))
}

/// Returns a cell with a well-formed stream, whatever its content.
fn one(name: &str, data: Vec<Json>, outcome: Outcome) -> Cell {
    cell(name, vec![stream(&data)], outcome, 1)
}

fn calls() -> Vec<Cell> {
    let list = LIST;
    vec![
        one(
            "fragmented arguments",
            vec![
                whole("a", 0, "{\"pa"),
                call(json!({"index": 0, "function": {"arguments": "th\":\"@project/\"}"}})),
                finish("tool_calls"),
            ],
            called(&[("fs.list", list)]),
        ),
        one(
            "a second call on a used index",
            vec![whole("a", 0, list), whole("b", 0, list), finish("tool_calls")],
            called(&[("fs.list", list), ("fs.list", list)]),
        ),
        one(
            "no index, finish stop",
            vec![
                call(json!({"id": "a", "function": {"name": "fs_list", "arguments": list}})),
                finish("stop"),
            ],
            called(&[("fs.list", list)]),
        ),
        one(
            "no id",
            vec![
                call(json!({"index": 0, "function": {"name": "fs_list", "arguments": list}})),
                finish("tool_calls"),
            ],
            called(&[("fs.list", list)]),
        ),
        one(
            "empty and equal ids",
            vec![whole("", 0, list), whole("", 1, list), finish("tool_calls")],
            called(&[("fs.list", list), ("fs.list", list)]),
        ),
        one(
            "no name",
            vec![
                call(json!({"index": 0, "id": "a", "function": {"arguments": list}})),
                finish("tool_calls"),
            ],
            called(&[("unknown", list)]),
        ),
        one(
            "a name in pieces",
            vec![
                call(json!({"index": 0, "id": "a", "function": {"name": "fs_"}})),
                call(json!({"index": 0, "function": {"name": "list", "arguments": list}})),
                finish("tool_calls"),
            ],
            called(&[("fs.list", list)]),
        ),
        one(
            "an unknown tool",
            vec![
                call(
                    json!({"index": 0, "id": "a", "function": {"name": "rm_rf", "arguments": "{}"}}),
                ),
                finish("tool_calls"),
            ],
            called(&[("rm_rf", "{}")]),
        ),
        one(
            "words and calls together",
            vec![words("Hello."), whole("a", 0, list), finish("tool_calls")],
            called(&[("fs.list", list)]),
        ),
        one(
            "200 calls",
            (0..200)
                .map(|at| whole(&format!("c{at}"), at, list))
                .chain([finish("tool_calls")])
                .collect(),
            called(&vec![("fs.list", list); 200]),
        ),
    ]
}

fn arguments() -> Vec<Cell> {
    let list = LIST;
    let arguments = |text: &str| vec![whole("a", 0, text), finish("tool_calls")];
    let wrote = |arguments: Json| {
        let function = json!({"name": "fs_list", "arguments": arguments});
        vec![call(json!({"index": 0, "id": "a", "function": function})), finish("stop")]
    };
    let big = format!(r#"{{"path":"@project/","x":"{}"}}"#, "y".repeat(5 << 20));
    vec![
        one(
            "arguments that are no JSON",
            arguments("path=@project/"),
            called(&[("fs.list", "path=@project/")]),
        ),
        one(
            "cut arguments under tool_calls",
            arguments(r#"{"path":"@pro"#),
            called(&[("fs.list", r#"{"path":"@pro"#)]),
        ),
        one(
            "length in the middle of a call",
            vec![whole("a", 0, r#"{"path":"@pro"#), finish("length")],
            called(&[("fs.list", r#"{"path":"@pro"#)]),
        ),
        one(
            "arguments encoded twice",
            arguments(&json!(list).to_string()),
            called(&[("fs.list", list)]),
        ),
        one("null arguments", wrote(Json::Null), called(&[("fs.list", "{}")])),
        one(
            "arguments as an object",
            wrote(json!({"path": "@project/"})),
            called(&[("fs.list", list)]),
        ),
        one("arguments as a list", arguments("[1]"), called(&[("fs.list", "[1]")])),
        one("arguments of 5 MB", arguments(&big), called(&[("fs.list", &big)])),
    ]
}
