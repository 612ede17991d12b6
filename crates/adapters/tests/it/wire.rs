//! Tests of the chat-completions adapter with a server of exact bytes: row L1 of the reliability bar.

mod cells;
mod economy;
mod runs;
pub(crate) mod server;

use std::sync::Arc;
use std::time::{Duration, Instant};

use crewagent_adapters::chat::{Chat, Client, StepName, StepStatus, test_connection};
use crewagent_core::call::schema;
use crewagent_core::event::Reply;
use crewagent_core::message::Message;
use crewagent_core::policy::Policy;
use crewagent_dialect::profile::{CallsInText, Profile};
use crewagent_engine::cancel::{Cancel, Deadline};
use crewagent_engine::model::{Endpoint, Timeouts};
use crewagent_engine::model::{
    Model as _, ModelError, ModelErrorKind, Progress, Request, RequestCache, TurnPosition,
};
use secrecy::SecretString;

use self::cells::{Cell, Outcome, cells, fine, words};
use self::server::{Server, ServerAction, events, stream_head};

const KEY: &str = "sk-secret-key";

/// Returns timeouts that no cell exceeds, however busy the machine is, and short waits before a retry.
pub(crate) fn timeouts() -> Timeouts {
    Timeouts { retries: 2, longest_wait: Duration::from_millis(200), ..Timeouts::default() }
}

/// Returns a model at a base URL.
pub(crate) fn endpoint(url: String) -> Endpoint {
    Endpoint {
        name: "tiny".to_owned(),
        base_url: url,
        model: "tiny-1".to_owned(),
        profile_name: "generic".to_owned(),
        profile: Profile::default(),
        key: Some(SecretString::from(KEY)),
        headers: Vec::new(),
        max_output: None,
        temperature: None,
        window: None,
        price: None,
        timeouts: timeouts(),
    }
}

pub(crate) fn chat(url: String) -> Chat {
    chat_with(url, timeouts())
}

pub(crate) fn chat_with(url: String, timeouts: Timeouts) -> Chat {
    Chat::new(Endpoint { timeouts, ..endpoint(url) }, &Client::new().unwrap()).unwrap()
}

fn request() -> Request {
    Request {
        messages: Arc::new(vec![
            Arc::new(Message::system("Rules.")),
            Arc::new(Message::user("Go.")),
        ]),
        tools: schema::tools(&Policy::default()).into(),
        place: TurnPosition::default(),
        sha256: String::new(),
    }
}

/// Returns the reply, the text emitted since the last attempt, and the number of attempts.
fn ask(chat: &Chat) -> (Result<Reply, ModelError>, String, usize) {
    let (mut told, mut tries) = (String::new(), 0);
    let mut tell = |progress: Progress| match progress {
        Progress::Delta(delta) => told.push_str(&delta.text),
        Progress::Retry(_) => {
            told.clear();
            tries += 1;
        }
    };
    let reply =
        chat.reply(&request(), &mut RequestCache::default(), &mut tell, &Deadline::default());
    (reply, told, tries)
}

fn check(cell: &Cell) {
    let server = Server::start(cell.answers.clone());
    let (reply, told, _) = ask(&chat_with(server.url(), cell.timeouts));
    let name = &cell.name;
    match (&cell.outcome, reply) {
        (Outcome::Text(expected), Ok(reply)) => {
            assert_eq!(reply.content.as_deref(), Some(*expected), "{name}");
            assert_eq!(told, *expected, "{name}");
            assert!(reply.tool_calls.is_empty(), "{name}");
        }
        (Outcome::Calls(expected), Ok(reply)) => {
            let calls = reply.tool_calls.iter();
            let found: Vec<_> = calls
                .map(|call| (call.name.clone(), call.arguments.inline().unwrap().to_string()))
                .collect();
            assert!(found == *expected, "{name}: {:.300}", format!("{found:?}"));
            let mut ids: Vec<_> = reply.tool_calls.iter().map(|call| &call.id).collect();
            ids.sort();
            ids.dedup();
            assert_eq!(ids.len(), expected.len(), "{name}: the ids are not unique");
            assert!(ids.iter().all(|id| !id.is_empty()), "{name}: an id is empty");
        }
        (Outcome::Error(kind, parts), Err(error)) => {
            assert_eq!(error.kind, *kind, "{name}: {}", error.message);
            for part in *parts {
                assert!(
                    error.message.contains(part),
                    "{name}: {:?} has no {part:?}",
                    error.message
                );
            }
            assert!(!error.message.contains(KEY), "{name}: {}", error.message);
        }
        (_, Ok(reply)) => panic!("{name}: a reply: {reply:?}"),
        (_, Err(error)) => panic!("{name}: {:?} {}", error.kind, error.message),
    }
    let requests = server.received().len();
    assert!(requests <= cell.requests, "{name}: {requests} requests");
}

#[test]
fn every_fault_of_a_server_has_its_outcome() {
    let cells = cells();
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..8 {
            scope.spawn(|| {
                while let Some(cell) =
                    cells.get(next.fetch_add(1, std::sync::atomic::Ordering::SeqCst))
                {
                    check(cell);
                }
            });
        }
    });
}

#[test]
fn a_server_that_is_not_there_is_named() {
    let gone = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let url = format!("http://{}/v1", gone.local_addr().unwrap());
    drop(gone);
    let (reply, _, tries) = ask(&chat(url));
    let error = reply.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert!(
        error.message.contains("no connection") && error.message.contains("server runs"),
        "{}",
        error.message
    );
    assert_eq!(tries, 2);
}

#[test]
fn a_host_without_an_address_is_named() {
    // No resolver is asked for a label that is too long.
    let (reply, _, tries) = ask(&chat(format!("http://{}.invalid/v1", "a".repeat(70))));
    let error = reply.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert!(error.message.contains("no address"), "{}", error.message);
    assert_eq!(tries, 1);
}

#[test]
fn a_plain_server_under_https_is_named() {
    let server = Server::start(vec![vec![ServerAction::Close]]);
    let (reply, _, tries) = ask(&chat(server.url().replace("http:", "https:")));
    let error = reply.unwrap_err();
    assert_eq!(error.kind, ModelErrorKind::Network);
    assert!(error.message.contains("cannot be reached"), "{}", error.message);
    assert!(tries <= 2);
}

#[test]
fn the_words_before_a_loss_are_kept_with_the_error() {
    let torn =
        vec![stream_head(), ServerAction::Send(events(&[words("Hel")])), ServerAction::Close];
    let server = Server::start(vec![torn]);
    let (reply, told, tries) = ask(&chat(server.url()));
    assert_eq!(reply.unwrap_err().partial.as_deref(), Some("Hel"));
    assert_eq!((told.as_str(), tries), ("Hel", 2));
}

#[test]
fn connections_are_kept_and_used_again() {
    let body = br#"{"choices":[{"message":{"content":"Hello."},"finish_reason":"stop"}]}"#;
    let server = Server::start(vec![vec![server::answer(
        "200 OK",
        &[("content-type", "application/json")],
        body,
    )]]);
    let chat = chat(server.url());
    for _ in 0..5 {
        ask(&chat).0.unwrap();
    }
    assert_eq!(server.received().len(), 5);
    assert_eq!(server.connections(), 1);
}

/// Starts a server that always says this text.
fn says(text: &str) -> Server {
    let message = serde_json::json!({ "content": text });
    let body = serde_json::json!({ "choices": [{ "message": message, "finish_reason": "stop" }] });
    let json = ("content-type", "application/json");
    Server::start(vec![vec![server::answer("200 OK", &[json], body.to_string().as_bytes())]])
}

fn reading_text(server: &Server, calls_in_text: CallsInText) -> Endpoint {
    let profile = Profile { calls_in_text, ..Profile::default() };
    Endpoint { profile, ..endpoint(server.url()) }
}

#[test]
fn calls_in_blocks_of_code_count_at_a_node_and_marked_ones_everywhere() {
    let call = r#"{"name": "fs_read", "arguments": {"path": "a.md"}}"#;
    let block = format!("I read it.\n```json\n{call}\n```");
    let marked = format!("I read it.\n<tool_call>{call}</tool_call>");
    for (text, node_id, calls) in [
        (&block, Some("step-01"), 1),
        (&block, None, 0),
        (&marked, Some("step-01"), 1),
        (&marked, None, 1),
    ] {
        let server = says(text);
        let model = reading_text(&server, CallsInText::All);
        let chat = Chat::new(model, &Client::new().unwrap()).unwrap();
        let place = TurnPosition { node_id: node_id.map(str::to_owned), ..TurnPosition::default() };
        let request = Request { place, ..request() };
        let mut cache = RequestCache::default();
        let reply = chat.reply(&request, &mut cache, &mut |_| {}, &Deadline::default()).unwrap();
        assert_eq!(
            (reply.tool_calls.len(), reply.text_calls),
            (calls, calls),
            "{text} {node_id:?}"
        );
        let words = if calls == 0 { text } else { "I read it." };
        assert_eq!(reply.content.as_deref(), Some(words), "{text} {node_id:?}");
    }
}

#[test]
fn a_connection_test_tells_calls_that_are_written_as_text() {
    let check = |text: &str, mode: CallsInText, status: StepStatus, part: &str| {
        let server = says(text);
        let client = Client::new().unwrap();
        let steps = test_connection(&reading_text(&server, mode), None, &client, &mut |_| {});
        let steps = steps.unwrap();
        let tools = steps.iter().find(|step| step.name == StepName::Tools).unwrap();
        assert_eq!(tools.status, status, "{text} {mode:?}: {steps:?}");
        assert!(tools.message.contains(part), "{text} {mode:?}: {}", tools.message);
    };
    let block = "```python\ntest_note(text='blue')\n```";
    check(block, CallsInText::All, StepStatus::Ok, "from where it is taken");
    check(block, CallsInText::Tagged, StepStatus::Failed, "where it is not executed");
    let marked = r#"<tool_call>{"name": "test_note", "arguments": {"text": "blue"}}</tool_call>"#;
    check(marked, CallsInText::Tagged, StepStatus::Ok, "from where it is taken");
    check(marked, CallsInText::Never, StepStatus::Failed, "where it is not executed");
    check("I noted it.", CallsInText::All, StepStatus::Failed, "answered in words");
}

/// Cancels a request once its answer has reached this state. Returns the error and the time that took.
fn cancelled_after(
    answers: Vec<Vec<ServerAction>>,
    reached: &dyn Fn(&Server),
) -> (ModelError, Duration) {
    let server = Server::start(answers);
    let chat = chat_with(server.url(), Timeouts::default());
    let cancel = Cancel::default();
    let until = Deadline::whenever(&cancel);
    std::thread::scope(|scope| {
        let asked = scope.spawn(|| {
            let error = chat
                .reply(&request(), &mut RequestCache::default(), &mut |_| {}, &until)
                .unwrap_err();
            (error, Instant::now())
        });
        reached(&server);
        let begun = Instant::now();
        cancel.cancel();
        let (error, ended) = asked.join().unwrap();
        (error, ended - begun)
    })
}

#[test]
fn a_request_is_stopped_at_once_whatever_it_waits_for() {
    let limited = server::answer("429 Too Many Requests", &[("retry-after", "30")], b"{}");
    let talking = ServerAction::Repeat(events(&[words("more ")]), Duration::from_millis(5));
    let states: [(&str, Vec<ServerAction>); 5] = [
        ("before the headers", vec![ServerAction::Hang]),
        ("before the first byte", vec![stream_head(), ServerAction::Hang]),
        (
            "in the middle of silence",
            vec![stream_head(), ServerAction::Send(events(&[words("Hel")])), ServerAction::Hang],
        ),
        ("in the middle of words", vec![stream_head(), talking]),
        ("before another try", vec![limited]),
    ];
    for (name, actions) in states {
        let (error, took) = cancelled_after(vec![actions], &|server| server.wait_for(1));
        assert_eq!(error.kind, ModelErrorKind::Cancelled, "{name}: {}", error.message);
        // The shortest of these waits would take 30 seconds.
        assert!(took < Duration::from_secs(15), "{name}: {took:?}");
    }
}

#[test]
fn a_stopped_request_closes_its_connection() {
    let server = Server::start(vec![vec![stream_head(), ServerAction::Hang]]);
    let chat = chat(server.url());
    let cancel = Cancel::default();
    let until = Deadline::whenever(&cancel);
    std::thread::scope(|scope| {
        scope.spawn(|| {
            chat.reply(&request(), &mut RequestCache::default(), &mut |_| {}, &until).unwrap_err()
        });
        server.wait_for(1);
        cancel.cancel();
        server.wait_for_leaving(1);
    });
}

#[test]
fn what_a_refusal_teaches_is_remembered() {
    let refused =
        br#"{"error":{"message":"Unrecognized request argument supplied: stream_options"}}"#;
    let json = ("content-type", "application/json");
    let server =
        Server::start(vec![vec![server::answer("400 Bad Request", &[json], refused)], fine()]);
    let chat = chat(server.url());
    for _ in 0..2 {
        ask(&chat).0.unwrap();
    }
    let asked: Vec<bool> = server
        .received()
        .iter()
        .map(|request| request.body.get("stream_options").is_some())
        .collect();
    assert_eq!(asked, [true, false, false]);
}

#[test]
fn a_key_travels_in_its_header_alone() {
    let server = Server::start(vec![fine()]);
    ask(&chat(server.url())).0.unwrap();
    let received = &server.received()[0];
    assert!(received.head.starts_with("post /v1/chat/completions http/1.1"), "{}", received.head);
    assert!(received.head.contains(&format!("authorization: bearer {KEY}")), "{}", received.head);
    assert!(!received.body.to_string().contains(KEY));
    let without = Endpoint { key: None, ..endpoint(server.url()) };
    ask(&Chat::new(without, &Client::new().unwrap()).unwrap()).0.unwrap();
    assert!(!server.received()[1].head.contains("authorization"));
    assert!(!format!("{:?}", endpoint(server.url())).contains(KEY));
}
