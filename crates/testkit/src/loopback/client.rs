//! The least that a client can be: one connection, a request, and its answer to the last byte.

use std::io::{self, IoSlice, Read as _, Write as _};
use std::net::{Ipv4Addr, TcpStream};

use super::http::HttpHead;

/// A connection to a server on the loopback.
#[derive(Debug)]
pub struct LoopbackClient {
    stream: TcpStream,
    answer: Vec<u8>,
}

impl LoopbackClient {
    /// Connects to a port of the loopback.
    pub fn connect(port: u16) -> io::Result<Self> {
        let stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port))?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, answer: Vec::with_capacity(64 * 1024) })
    }

    /// Sends a request and reads its answer. The body is returned as sent, with its chunks if it has any.
    pub fn send(&mut self, method: &str, path: &str, body: &[u8]) -> io::Result<&[u8]> {
        let head = format!(
            "{method} {path} HTTP/1.1\r\nhost: 127.0.0.1\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
            body.len()
        );
        let mut slices = [IoSlice::new(head.as_bytes()), IoSlice::new(body)];
        let mut left = &mut slices[..];
        while !left.is_empty() {
            let count = self.stream.write_vectored(left)?;
            if count == 0 {
                return Err(io::ErrorKind::WriteZero.into());
            }
            IoSlice::advance_slices(&mut left, count);
        }
        self.read_answer()
    }

    fn read_answer(&mut self) -> io::Result<&[u8]> {
        self.answer.clear();
        let mut head = None;
        let mut piece = [0; 32 * 1024];
        loop {
            let count = self.stream.read(&mut piece)?;
            if count == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            self.answer.extend_from_slice(&piece[..count]);
            if head.is_none() {
                head = HttpHead::parse(&self.answer);
            }
            let Some(head) = &head else { continue };
            if let Some(end) = head.message_end(&self.answer) {
                if !head.start.contains(" 200 ") {
                    return Err(io::Error::other(head.start.clone()));
                }
                return Ok(&self.answer[head.end..end]);
            }
        }
    }
}
