//! A model on this machine whose words come when the test says so.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

/// What it says: the first part at once, the second when it may.
pub(crate) const WORDS: [&str; 2] = ["Once upon a time ", "there was a run."];
/// Nothing that a test waits for takes longer.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Speaker {
    port: u16,
    state: Arc<(Mutex<State>, Condvar)>,
}

#[derive(Default)]
struct State {
    /// Requests that are still to fail.
    failing: usize,
    may_go_on: bool,
    /// Replies whose first part was said.
    begun: usize,
}

impl Speaker {
    /// Fails so many times first.
    pub(crate) fn new(failing: usize) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::new((Mutex::new(State { failing, ..State::default() }), Condvar::new()));
        let shared = Arc::clone(&state);
        std::thread::spawn(move || {
            for socket in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                std::thread::spawn(move || answer(socket, &shared));
            }
        });
        Self { port, state }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://127.0.0.1:{}/v1", self.port)
    }

    /// From here on replies come whole.
    pub(crate) fn go_on(&self) {
        self.state.0.lock().unwrap().may_go_on = true;
        self.state.1.notify_all();
    }

    /// Waits until a reply has begun.
    pub(crate) fn wait_for_words(&self) {
        let state = self.state.0.lock().unwrap();
        let waits = |state: &mut State| state.begun == 0;
        drop(self.state.1.wait_timeout_while(state, PATIENCE, waits).unwrap());
    }
}

/// Answers the requests of one connection.
fn answer(mut socket: TcpStream, shared: &(Mutex<State>, Condvar)) {
    let mut reader = BufReader::new(socket.try_clone().unwrap());
    while read_request(&mut reader) {
        let fails = {
            let mut state = shared.0.lock().unwrap();
            let fails = state.failing > 0;
            state.failing -= usize::from(fails);
            fails
        };
        let answered = if fails { refuse(&mut socket) } else { speak(&mut socket, shared) };
        if answered.is_err() {
            return;
        }
    }
}

fn read_request(reader: &mut BufReader<TcpStream>) -> bool {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if !reader.read_line(&mut line).is_ok_and(|count| count > 0) {
            return false;
        }
        let line = line.trim().to_lowercase();
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        if line.is_empty() {
            return reader.read_exact(&mut vec![0; length]).is_ok();
        }
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
    drop(shared.1.wait_timeout_while(state, PATIENCE, waits).unwrap());
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
