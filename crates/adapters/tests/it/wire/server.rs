//! Server on the loopback that sends the exact bytes of a test, and closes as the test says.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crewagent_testkit::eventually;
use crewagent_testkit::model_server::{AfterAnswer, ModelServer};
use serde_json::Value as Json;

/// Action of the server.
#[derive(Clone, Debug)]
pub(crate) enum ServerAction {
    Send(Vec<u8>),
    /// Sends bytes one at a time.
    Drip(Vec<u8>),
    /// Sends the same bytes repeatedly, with a pause after each, until the client disconnects.
    Repeat(Vec<u8>, Duration),
    /// Does nothing until the client disconnects.
    Hang,
    /// Closes the connection properly.
    Close,
    /// Resets the connection.
    Reset,
}

/// Server that gives its first answer to the first request, its second to the second, and its last to all others.
pub(crate) struct Server {
    http: ModelServer,
    /// Number of connections that the client closed in the middle of an answer.
    left: Arc<AtomicUsize>,
}

#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// First line and headers, in lower case.
    pub(crate) head: String,
    pub(crate) body: Json,
}

impl Server {
    pub(crate) fn start(answers: Vec<Vec<ServerAction>>) -> Self {
        let left = Arc::<AtomicUsize>::default();
        let counter = Arc::clone(&left);
        let http = ModelServer::start(move |number, _, stream| {
            let actions = &answers[number.min(answers.len() - 1)];
            match actions.iter().all(|action| perform(action, stream, &counter)) {
                true => AfterAnswer::KeepAlive,
                false => AfterAnswer::Close,
            }
        });
        Self { http: http.unwrap(), left }
    }

    /// Returns the base URL of its models.
    pub(crate) fn url(&self) -> String {
        self.http.url()
    }

    /// Returns the requests so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        let requests = self.http.requests().into_iter();
        let received = requests.map(|request| Received {
            head: format!("{}\r\n{}", request.line, request.head).to_lowercase(),
            body: request.body,
        });
        received.collect()
    }

    /// Returns the number of connections so far.
    pub(crate) fn connections(&self) -> usize {
        self.http.connections()
    }

    /// Waits until this many requests have arrived.
    pub(crate) fn wait_for(&self, requests: usize) {
        self.http.wait_for_requests(requests);
    }

    /// Waits until the client has closed this many connections in the middle of an answer.
    pub(crate) fn wait_for_leaving(&self, connections: usize) {
        eventually(|| self.left.load(Ordering::SeqCst) >= connections);
    }
}

/// Performs an action. Returns true if the connection stays open.
fn perform(action: &ServerAction, stream: &mut TcpStream, left: &AtomicUsize) -> bool {
    let was_left = || {
        left.fetch_add(1, Ordering::SeqCst);
        false
    };
    match action {
        ServerAction::Send(bytes) => stream.write_all(bytes).is_ok() || was_left(),
        ServerAction::Drip(bytes) => {
            bytes.iter().all(|byte| stream.write_all(&[*byte]).is_ok()) || was_left()
        }
        ServerAction::Repeat(bytes, pause) => {
            while stream.write_all(bytes).is_ok() {
                stream.set_read_timeout(Some(*pause)).unwrap();
                if stream.read(&mut [0]).is_ok_and(|count| count == 0) {
                    break;
                }
            }
            was_left()
        }
        ServerAction::Hang => {
            let _ = stream.read(&mut [0]);
            was_left()
        }
        ServerAction::Close => {
            let _ = stream.shutdown(Shutdown::Both);
            false
        }
        ServerAction::Reset => {
            let linger = Some(Duration::ZERO);
            rustix::net::sockopt::set_socket_linger(&*stream, linger).unwrap();
            false
        }
    }
}

/// Returns a whole answer with a length.
pub(crate) fn answer(status: &str, headers: &[(&str, &str)], body: &[u8]) -> ServerAction {
    let mut bytes = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        bytes.push_str(&format!("{name}: {value}\r\n"));
    }
    bytes.push_str("\r\n");
    ServerAction::Send([bytes.as_bytes(), body].concat())
}

/// Returns the head of an event stream that ends with the connection.
pub(crate) fn stream_head() -> ServerAction {
    ServerAction::Send(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_vec(),
    )
}

/// Encodes events for the wire.
pub(crate) fn events(data: &[Json]) -> Vec<u8> {
    let lines = data.iter().map(|json| format!("data: {json}\n\n"));
    lines.collect::<String>().into_bytes()
}

/// Returns a stream of these events, with `[DONE]` and an end.
pub(crate) fn stream(data: &[Json]) -> Vec<ServerAction> {
    let mut bytes = events(data);
    bytes.extend_from_slice(b"data: [DONE]\n\n");
    vec![stream_head(), ServerAction::Send(bytes), ServerAction::Close]
}
