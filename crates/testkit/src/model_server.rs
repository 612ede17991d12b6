//! A fake model server on the loopback: it parses requests, records them, and lets the test write the answers.

use std::io::{self, Read as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use serde_json::Value as Json;

use crate::eventually;

/// A request to the server.
#[derive(Clone, Debug)]
pub struct HttpRequest {
    /// The request line.
    pub line: String,
    /// The headers, one a line.
    pub head: String,
    /// The body; null when it is no JSON.
    pub body: Json,
}

/// The fate of a connection after an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AfterAnswer {
    /// The next request is read.
    KeepAlive,
    /// The connection is dropped.
    Close,
}

/// A running server. It ends with this value.
#[derive(Debug)]
pub struct ModelServer {
    address: SocketAddr,
    shared: Arc<RequestLog>,
}

#[derive(Debug, Default)]
struct RequestLog {
    requests: Mutex<Vec<HttpRequest>>,
    connections: AtomicUsize,
    is_over: AtomicBool,
}

impl ModelServer {
    /// Starts a server whose answers this function writes. It gets the number of the request, from 0.
    pub fn start<A>(answer: A) -> io::Result<Self>
    where
        A: Fn(usize, &HttpRequest, &mut TcpStream) -> AfterAnswer + Send + Sync + 'static,
    {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        let address = listener.local_addr()?;
        let (shared, answer) = (Arc::<RequestLog>::default(), Arc::new(answer));
        let own = Arc::clone(&shared);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                if own.is_over.load(Ordering::SeqCst) {
                    return;
                }
                own.connections.fetch_add(1, Ordering::SeqCst);
                let (shared, answer) = (Arc::clone(&own), Arc::clone(&answer));
                thread::spawn(move || shared.serve(stream, &*answer));
            }
        });
        Ok(Self { address, shared })
    }

    /// Returns the base URL of its models.
    pub fn url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Returns the requests so far.
    pub fn requests(&self) -> Vec<HttpRequest> {
        self.shared.requests().clone()
    }

    /// Returns the number of connections so far.
    pub fn connections(&self) -> usize {
        self.shared.connections.load(Ordering::SeqCst)
    }

    /// Waits until this many requests have arrived.
    #[track_caller]
    pub fn wait_for_requests(&self, count: usize) {
        eventually(|| self.shared.requests().len() >= count);
    }
}

impl Drop for ModelServer {
    fn drop(&mut self) {
        self.shared.is_over.store(true, Ordering::SeqCst);
        // The listener checks the flag on the next connection.
        let _ = TcpStream::connect(self.address);
    }
}

impl RequestLog {
    fn requests(&self) -> std::sync::MutexGuard<'_, Vec<HttpRequest>> {
        self.requests.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn serve(
        &self,
        mut stream: TcpStream,
        answer: &dyn Fn(usize, &HttpRequest, &mut TcpStream) -> AfterAnswer,
    ) {
        let _ = stream.set_nodelay(true);
        while let Some(request) = read_request(&mut stream) {
            let mut requests = self.requests();
            let number = requests.len();
            requests.push(request.clone());
            drop(requests);
            if answer(number, &request, &mut stream) == AfterAnswer::Close {
                return;
            }
        }
    }
}

/// Reads the next request of a connection. Returns none when the client is done.
fn read_request(stream: &mut TcpStream) -> Option<HttpRequest> {
    let (mut bytes, mut buffer) = (Vec::new(), vec![0; 64 << 10]);
    let end = loop {
        if let Some(end) = bytes.windows(4).position(|four| four == b"\r\n\r\n") {
            break end;
        }
        read_more(stream, &mut buffer, &mut bytes)?;
        if !bytes[0].is_ascii_uppercase() {
            // The client starts a TLS handshake.
            return None;
        }
    };
    let text = String::from_utf8_lossy(&bytes[..end]).into_owned();
    let (line, head) = text.split_once("\r\n").unwrap_or((&text, ""));
    let length = head.lines().find_map(|header| {
        let (name, value) = header.split_once(':')?;
        name.eq_ignore_ascii_case("content-length").then(|| value.trim().parse().ok())?
    });
    let mut body = bytes.split_off(end + 4);
    while body.len() < length.unwrap_or(0) {
        read_more(stream, &mut buffer, &mut body)?;
    }
    let body = serde_json::from_slice(&body).unwrap_or(Json::Null);
    Some(HttpRequest { line: line.to_owned(), head: format!("{head}\r\n"), body })
}

fn read_more(stream: &mut TcpStream, buffer: &mut [u8], bytes: &mut Vec<u8>) -> Option<()> {
    match stream.read(buffer) {
        Ok(0) | Err(_) => None,
        Ok(count) => {
            bytes.extend_from_slice(&buffer[..count]);
            Some(())
        }
    }
}
