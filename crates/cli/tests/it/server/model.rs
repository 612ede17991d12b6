//! Model whose reply continues when the test allows it.

use std::io::Write as _;
use std::net::TcpStream;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use crewagent_testkit::model_server::{AfterAnswer, ModelServer};

/// Parts of the reply: the first is sent at once, the second when the test allows it.
pub(crate) const WORDS: [&str; 2] = ["Once upon a time ", "there was a run."];
/// Time limit of every wait.
const TIMEOUT: Duration = Duration::from_secs(60);

pub(crate) struct Speaker {
    http: ModelServer,
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    /// Number of requests that will still fail.
    failing: usize,
    may_go_on: bool,
    /// Number of replies whose first part was sent.
    begun: usize,
}

impl Speaker {
    /// Starts a server whose first requests fail.
    pub(crate) fn new(failing: usize) -> Self {
        let state = Arc::new((Mutex::new(State { failing, ..State::default() }), Condvar::new()));
        let shared = Arc::clone(&state);
        let http = ModelServer::start(move |_, _, socket| {
            let fails = {
                let mut state = shared.0.lock().unwrap();
                let fails = state.failing > 0;
                state.failing -= usize::from(fails);
                fails
            };
            match if fails { refuse(socket) } else { speak(socket, &shared) } {
                Ok(()) => AfterAnswer::KeepAlive,
                Err(_) => AfterAnswer::Close,
            }
        });
        Self { http: http.unwrap(), state }
    }

    pub(crate) fn url(&self) -> String {
        self.http.url()
    }

    /// Sends whole replies from here on.
    pub(crate) fn go_on(&self) {
        self.state.0.lock().unwrap().may_go_on = true;
        self.state.1.notify_all();
    }

    /// Waits until a reply has begun.
    pub(crate) fn wait_for_words(&self) {
        let state = self.state.0.lock().unwrap();
        let waits = |state: &mut State| state.begun == 0;
        drop(self.state.1.wait_timeout_while(state, TIMEOUT, waits).unwrap());
    }
}

fn refuse(socket: &mut TcpStream) -> std::io::Result<()> {
    socket.write_all(
        b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 0\r\ncontent-length: 2\r\n\r\n{}",
    )
}

fn speak(socket: &mut TcpStream, shared: &(Mutex<State>, Condvar)) -> std::io::Result<()> {
    socket.write_all(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n",
    )?;
    piece(socket, &delta(WORDS[0]))?;
    let mut state = shared.0.lock().unwrap();
    state.begun += 1;
    shared.1.notify_all();
    let waits = |state: &mut State| !state.may_go_on;
    drop(shared.1.wait_timeout_while(state, TIMEOUT, waits).unwrap());
    piece(socket, &delta(WORDS[1]))?;
    let end = r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#;
    piece(socket, &format!("data: {end}\n\ndata: [DONE]\n\n"))?;
    socket.write_all(b"0\r\n\r\n")
}

fn delta(words: &str) -> String {
    let delta = serde_json::json!({ "choices": [{ "index": 0, "delta": { "content": words } }] });
    format!("data: {delta}\n\n")
}

fn piece(socket: &mut TcpStream, text: &str) -> std::io::Result<()> {
    write!(socket, "{:x}\r\n{text}\r\n", text.len())
}
