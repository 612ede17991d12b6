//! A server on the loopback that says exactly the bytes it is told to, and closes as it is told to.

use std::io::{Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::Value as Json;

/// One thing that the server does.
#[derive(Clone, Debug)]
pub(crate) enum Act {
    /// Sends bytes.
    Send(Vec<u8>),
    /// Sends bytes one at a time.
    Drip(Vec<u8>),
    /// Sends the same bytes again and again, with a pause after each, until the other side goes away.
    Repeat(Vec<u8>, Duration),
    /// Does nothing until the other side goes away.
    Hang,
    /// Ends the connection in good order.
    Close,
    /// Ends it rudely.
    Reset,
}

/// A server that gives its first answer to the first request, its second to the second, and its last to all others.
pub(crate) struct Server {
    address: SocketAddr,
    shared: Arc<Shared>,
}

struct Shared {
    answers: Vec<Vec<Act>>,
    received: Mutex<Vec<Received>>,
    /// How many connections the other side has closed while the server was saying something.
    left: Mutex<usize>,
    connections: AtomicUsize,
    changed: Condvar,
    is_over: AtomicBool,
}

/// A request.
#[derive(Clone, Debug)]
pub(crate) struct Received {
    /// The first line and the headers, in lower case.
    pub(crate) head: String,
    pub(crate) body: Json,
}

impl Server {
    pub(crate) fn start(answers: Vec<Vec<Act>>) -> Self {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let address = listener.local_addr().unwrap();
        let shared = Arc::new(Shared {
            answers,
            received: Mutex::default(),
            left: Mutex::default(),
            connections: AtomicUsize::new(0),
            changed: Condvar::new(),
            is_over: AtomicBool::new(false),
        });
        let own = shared.clone();
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if own.is_over.load(Ordering::SeqCst) {
                    return;
                }
                own.connections.fetch_add(1, Ordering::SeqCst);
                let shared = own.clone();
                std::thread::spawn(move || shared.serve(stream.unwrap()));
            }
        });
        Self { address, shared }
    }

    /// The base URL of its models.
    pub(crate) fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// What was asked so far.
    pub(crate) fn received(&self) -> Vec<Received> {
        self.shared.received.lock().unwrap().clone()
    }

    /// How many connections were made.
    pub(crate) fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Waits until this many requests have come.
    pub(crate) fn wait_for(&self, requests: usize) {
        let received = self.shared.received.lock().unwrap();
        let patience = Duration::from_secs(20);
        let waited =
            self.shared.changed.wait_timeout_while(received, patience, |all| all.len() < requests);
        assert!(!waited.unwrap().1.timed_out(), "the server waits for request {requests}");
    }

    /// Waits until the other side has left this many connections in the middle of an answer.
    pub(crate) fn wait_for_leaving(&self, connections: usize) {
        let left = self.shared.left.lock().unwrap();
        let patience = Duration::from_secs(20);
        let waited =
            self.shared.changed.wait_timeout_while(left, patience, |left| *left < connections);
        assert!(!waited.unwrap().1.timed_out(), "the connection is still open");
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // The listener looks at the flag when somebody comes.
        let _ = TcpStream::connect(self.address);
    }
}

impl Shared {
    fn serve(&self, mut stream: TcpStream) {
        stream.set_nodelay(true).unwrap();
        while let Some(request) = receive(&mut stream) {
            let mut received = self.received.lock().unwrap();
            let number = received.len().min(self.answers.len() - 1);
            received.push(request);
            drop(received);
            self.changed.notify_all();
            for act in &self.answers[number] {
                if !self.perform(act, &mut stream) {
                    return;
                }
            }
        }
    }

    /// Whether the connection goes on.
    fn perform(&self, act: &Act, stream: &mut TcpStream) -> bool {
        match act {
            Act::Send(bytes) => stream.write_all(bytes).is_ok() || self.was_left(),
            Act::Drip(bytes) => {
                bytes.iter().all(|byte| stream.write_all(&[*byte]).is_ok()) || self.was_left()
            }
            Act::Repeat(bytes, pause) => {
                while stream.write_all(bytes).is_ok() {
                    stream.set_read_timeout(Some(*pause)).unwrap();
                    if stream.read(&mut [0]).is_ok_and(|count| count == 0) {
                        break;
                    }
                }
                self.was_left()
            }
            Act::Hang => {
                let _ = stream.read(&mut [0]);
                self.was_left()
            }
            Act::Close => {
                let _ = stream.shutdown(Shutdown::Both);
                false
            }
            Act::Reset => {
                let linger = Some(Duration::ZERO);
                rustix::net::sockopt::set_socket_linger(&*stream, linger).unwrap();
                false
            }
        }
    }

    fn was_left(&self) -> bool {
        *self.left.lock().unwrap() += 1;
        self.changed.notify_all();
        false
    }
}

/// The next request of a connection; none when the other side is done.
fn receive(stream: &mut TcpStream) -> Option<Received> {
    let mut bytes = Vec::new();
    let mut buffer = vec![0; 64 << 10];
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => bytes.extend_from_slice(&buffer[..count]),
        }
        if !bytes[0].is_ascii_uppercase() {
            // Somebody wants to speak in secret.
            return None;
        }
    };
    let head = String::from_utf8_lossy(&bytes[..end]).to_lowercase();
    let length = head.lines().find_map(|line| line.strip_prefix("content-length: "));
    let length: usize = length.unwrap_or("0").trim().parse().unwrap();
    let mut body = bytes.split_off(end + 4);
    while body.len() < length {
        match stream.read(&mut buffer) {
            Ok(0) | Err(_) => return None,
            Ok(count) => body.extend_from_slice(&buffer[..count]),
        }
    }
    Some(Received { head, body: serde_json::from_slice(&body).unwrap_or(Json::Null) })
}

/// A whole answer with a length.
pub(crate) fn answer(status: &str, headers: &[(&str, &str)], body: &[u8]) -> Act {
    let mut bytes = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n", body.len());
    for (name, value) in headers {
        bytes.push_str(&format!("{name}: {value}\r\n"));
    }
    bytes.push_str("\r\n");
    Act::Send([bytes.as_bytes(), body].concat())
}

/// The head of a stream of events, whose end is the end of the connection.
pub(crate) fn stream_head() -> Act {
    Act::Send(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n".to_vec(),
    )
}

/// Events as they travel.
pub(crate) fn events(data: &[Json]) -> Vec<u8> {
    let lines = data.iter().map(|json| format!("data: {json}\n\n"));
    lines.collect::<String>().into_bytes()
}

/// A stream of these events, with `[DONE]` and an end.
pub(crate) fn stream(data: &[Json]) -> Vec<Act> {
    let mut bytes = events(data);
    bytes.extend_from_slice(b"data: [DONE]\n\n");
    vec![stream_head(), Act::Send(bytes), Act::Close]
}
