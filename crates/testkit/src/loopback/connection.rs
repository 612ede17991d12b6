//! One connection of the server: a request that is being read, and an answer that is being written.

use std::io::{self, Read as _, Write as _};
use std::time::{Duration, Instant};

use mio::net::TcpStream;

use super::frames::Frames;
use super::http::{HttpHead, Length};

/// Initial size of the buffer, enough for a request without history.
const ROOM: usize = 32 * 1024;
/// No request is longer.
const MAX_REQUEST: usize = 64 << 20;

/// A connection.
#[derive(Debug)]
pub(super) struct Connection {
    pub(super) stream: TcpStream,
    input: Vec<u8>,
    filled: usize,
    head: Option<HttpHead>,
    output: AnswerOutput,
}

/// An answer that is written piece by piece.
#[derive(Debug, Default)]
struct AnswerOutput {
    frames: Frames,
    /// Bytes that are written.
    written: usize,
    /// Pieces that are written or may be.
    released: usize,
    /// Time at which the next piece may be written, and the interval between two.
    pace: Option<(Instant, Duration)>,
    /// The note about this request.
    record: Option<usize>,
    /// True while it waits for the client to read.
    is_stuck: bool,
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum WriteResult {
    /// Everything is written. The time is the one before the last write, for the record with this number.
    Done(Option<(usize, Instant)>),
    /// The next piece is due at this time.
    Due(Instant),
    /// The client must read first.
    Stuck,
}

/// The result of a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadResult {
    /// A whole request is there.
    Request,
    /// Not yet.
    Part,
    /// The client closed the connection.
    End,
}

impl Connection {
    pub(super) fn new(stream: TcpStream) -> Self {
        let input = vec![0; ROOM];
        Self { stream, input, filled: 0, head: None, output: AnswerOutput::default() }
    }

    /// Reads the bytes that are available.
    pub(super) fn read(&mut self) -> io::Result<ReadResult> {
        loop {
            if self.filled == self.input.len() {
                if self.filled >= MAX_REQUEST {
                    return Err(io::ErrorKind::FileTooLarge.into());
                }
                self.input.resize(self.filled * 2, 0);
            }
            match self.stream.read(&mut self.input[self.filled..]) {
                Ok(0) => return Ok(ReadResult::End),
                Ok(count) => self.filled += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        let read = &self.input[..self.filled];
        if self.head.is_none() {
            self.head = HttpHead::parse(read);
        }
        match &self.head {
            Some(HttpHead { body: Length::Chunked, .. }) => Err(io::ErrorKind::Unsupported.into()),
            Some(head) if head.message_end(read).is_some() => Ok(ReadResult::Request),
            _ => Ok(ReadResult::Part),
        }
    }

    /// Returns the request that is there: method, path and body.
    pub(super) fn request(&self) -> Option<(&str, &str, &[u8])> {
        let head = self.head.as_ref()?;
        let end = head.message_end(&self.input[..self.filled])?;
        let (method, path) = head.target();
        Some((method, path, &self.input[head.end..end]))
    }

    /// Forgets the request, which is answered.
    pub(super) fn next_request(&mut self) {
        // A client sends the next request after the answer, so no bytes follow this one.
        self.filled = 0;
        self.head = None;
    }

    /// Answers: all at once, or the first piece at `begin` and each further one so much later.
    pub(super) fn answer(
        &mut self,
        frames: Frames,
        pace: Option<(Instant, Duration)>,
        record: Option<usize>,
    ) {
        self.output = AnswerOutput { frames, pace, record, ..AnswerOutput::default() };
    }

    /// Returns true if it waits for the client to read.
    pub(super) fn is_stuck(&self) -> bool {
        self.output.is_stuck
    }

    /// Writes as much as is due and fits.
    pub(super) fn write(&mut self, now: Instant) -> io::Result<WriteResult> {
        let output = &mut self.output;
        output.is_stuck = false;
        let pieces = output.frames.ends.len();
        if output.written == output.frames.bytes.len() {
            return Ok(WriteResult::Done(None));
        }
        match &mut output.pace {
            None => output.released = pieces,
            Some((due, step)) => {
                while *due <= now && output.released < pieces {
                    output.released += 1;
                    *due += *step;
                }
            }
        }
        let end = output.released.checked_sub(1).map_or(0, |last| output.frames.ends[last]);
        while output.written < end {
            let before = Instant::now();
            match self.stream.write(&output.frames.bytes[output.written..end]) {
                Ok(count) => output.written += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    output.is_stuck = true;
                    return Ok(WriteResult::Stuck);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
            if output.written == output.frames.bytes.len() {
                return Ok(WriteResult::Done(output.record.map(|record| (record, before))));
            }
        }
        Ok(output.pace.map_or(WriteResult::Stuck, |(due, _)| WriteResult::Due(due)))
    }
}
