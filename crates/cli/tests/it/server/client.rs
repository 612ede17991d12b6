//! Browser for tests: sends exact bytes and returns any answer.

use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use serde_json::Value as Json;

/// Time limit of every wait.
const TIMEOUT: Duration = Duration::from_secs(60);

/// Sender of requests as a page of the server makes them.
#[derive(Clone, Debug)]
pub(crate) struct Browser {
    port: u16,
    cookie: Option<String>,
}

/// Answer of the server.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        let found = self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }
}

impl Browser {
    pub(crate) fn new(port: u16) -> Self {
        Self { port, cookie: None }
    }

    pub(crate) fn keep_cookie(&mut self, answer: &Answer) {
        let cookie = answer.header("set-cookie").unwrap().split(';').next().unwrap();
        self.cookie = Some(cookie.to_owned());
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.send("GET", path, &[], b"")
    }

    pub(crate) fn delete(&self, path: &str) -> Answer {
        self.send("DELETE", path, &[], b"")
    }

    pub(crate) fn post(&self, path: &str, body: &Json) -> Answer {
        self.json("POST", path, body)
    }

    pub(crate) fn json(&self, method: &str, path: &str, body: &Json) -> Answer {
        let kind = [("content-type", "application/json")];
        self.send(method, path, &kind, body.to_string().as_bytes())
    }

    /// Sends a request with the headers of our own page and these.
    pub(crate) fn send(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Answer {
        let mut socket = self.connect();
        let head = self.head(method, path, headers, body.len());
        socket.write_all(head.as_bytes()).unwrap();
        // The server may have answered and closed the connection before it read everything.
        let _ = socket.write_all(body);
        read_answer(&mut BufReader::new(socket))
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let socket = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        socket.set_read_timeout(Some(TIMEOUT)).unwrap();
        socket.set_write_timeout(Some(TIMEOUT)).unwrap();
        socket
    }

    /// Writes the head of a request. Given headers replace those of our own page.
    pub(crate) fn head(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        length: usize,
    ) -> String {
        let own = format!("127.0.0.1:{}", self.port);
        let mut all: Vec<(String, String)> = vec![
            ("host".into(), own.clone()),
            ("origin".into(), format!("http://{own}")),
            ("sec-fetch-site".into(), "same-origin".into()),
            ("connection".into(), "close".into()),
            ("content-length".into(), length.to_string()),
        ];
        all.extend(self.cookie.iter().map(|cookie| ("cookie".into(), cookie.clone())));
        for (name, value) in headers {
            all.retain(|(known, _)| known != name);
            if !value.is_empty() {
                all.push(((*name).to_owned(), (*value).to_owned()));
            }
        }
        let lines: String =
            all.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("{method} {path} HTTP/1.1\r\n{lines}\r\n")
    }

    /// Opens a stream of events.
    pub(crate) fn stream(&self, watch: &str, last: Option<&str>) -> Events {
        let mut socket = self.connect();
        let id: Vec<(&str, &str)> = last.map(|last| ("last-event-id", last)).into_iter().collect();
        let head = self.head("GET", &format!("/api/events?watch={watch}"), &id, 0);
        socket.write_all(head.as_bytes()).unwrap();
        let mut reader = BufReader::new(socket);
        let (status, headers) = read_head(&mut reader);
        assert_eq!(status, 200, "{headers:?}");
        Events { reader: BufReader::new(Chunks { reader, left: 0 }) }
    }
}

pub(crate) fn read_answer(reader: &mut impl BufRead) -> Answer {
    let (status, headers) = read_head(reader);
    let is_chunked = headers.iter().any(|(name, value)| {
        name.eq_ignore_ascii_case("transfer-encoding") && value.eq_ignore_ascii_case("chunked")
    });
    let mut body = Vec::new();
    if is_chunked {
        Chunks { reader, left: 0 }.read_to_end(&mut body).unwrap();
    } else {
        reader.read_to_end(&mut body).unwrap();
    }
    Answer { status, headers, body }
}

fn read_head(reader: &mut impl BufRead) -> (u16, Vec<(String, String)>) {
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    let status = line.split(' ').nth(1).and_then(|status| status.parse().ok());
    let mut headers = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        match line.trim_end().split_once(": ") {
            Some((name, value)) => headers.push((name.to_owned(), value.to_owned())),
            None => break,
        }
    }
    (status.unwrap_or_else(|| panic!("no answer: {line:?}")), headers)
}

/// Body in chunks.
struct Chunks<R> {
    reader: R,
    left: usize,
}

impl<R: BufRead> Read for Chunks<R> {
    fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
        if self.left == 0 {
            let mut line = String::new();
            // The line end after the previous chunk.
            while line.trim().is_empty() {
                line.clear();
                if self.reader.read_line(&mut line)? == 0 {
                    return Ok(0);
                }
            }
            self.left = usize::from_str_radix(line.trim(), 16).map_err(std::io::Error::other)?;
            if self.left == 0 {
                return Ok(0);
            }
        }
        let most = buffer.len().min(self.left);
        let count = self.reader.read(&mut buffer[..most])?;
        self.left -= count;
        Ok(count)
    }
}

pub(crate) struct Events {
    reader: BufReader<Chunks<BufReader<TcpStream>>>,
}

/// Frame of a stream.
#[derive(Clone, Debug)]
pub(crate) struct Frame {
    pub(crate) name: String,
    pub(crate) id: String,
    pub(crate) data: Json,
}

/// Ends when the server closes the stream.
impl Iterator for Events {
    type Item = Frame;

    fn next(&mut self) -> Option<Frame> {
        let mut frame = Frame { name: String::new(), id: String::new(), data: Json::Null };
        loop {
            let mut line = String::new();
            match self.reader.read_line(&mut line) {
                Ok(0) | Err(_) => return None,
                Ok(_) => {}
            }
            let line = line.trim_end_matches('\n');
            if line.is_empty() {
                if frame.name.is_empty() {
                    continue;
                }
                return Some(frame);
            }
            match line.split_once(": ") {
                Some(("event", name)) => frame.name = name.to_owned(),
                Some(("id", id)) => frame.id = id.to_owned(),
                Some(("data", data)) => frame.data = serde_json::from_str(data).unwrap(),
                _ => {}
            }
        }
    }
}
