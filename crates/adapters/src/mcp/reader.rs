//! Bounded input from a server: a line without an end, or a flood without an answer, ends the connection.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crewagent_format::syntax::json::{MAX_VALUES, ValueCounter};
use tokio::io::{AsyncRead, ReadBuf};

/// Maximum size of a message, in bytes.
const MESSAGE: usize = 16 << 20;
/// Maximum number of bytes that a server may write within [`WINDOW`].
const FLOOD: usize = 64 << 20;
const WINDOW: Duration = Duration::from_secs(10);

/// Reason why a connection ended, set by the task that knows it.
#[derive(Clone, Debug, Default)]
pub(super) struct EndReason(Arc<Mutex<Option<String>>>);

impl EndReason {
    pub(super) fn set(&self, why: impl Into<String>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(why.into());
    }

    pub(super) fn take(&self) -> Option<String> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).take()
    }
}

/// End of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Separator {
    Line,
    BlankLine,
    None,
}

/// Size of the current message of a stream, in bytes and in JSON values: a tree takes many times the bytes of its text.
#[derive(Debug)]
pub(super) struct MessageSize {
    separator: Separator,
    bytes: usize,
    values: ValueCounter,
    /// True if the current line has only its end so far.
    is_blank: bool,
}

impl MessageSize {
    pub(super) fn new(separator: Separator) -> Self {
        Self { separator, bytes: 0, values: ValueCounter::default(), is_blank: true }
    }

    /// Counts bytes that arrived. Returns the reason to stop if the message is too large.
    pub(super) fn read(&mut self, bytes: &[u8]) -> Option<String> {
        for (at, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
            let ends = match self.separator {
                Separator::Line => true,
                Separator::BlankLine => self.is_blank,
                Separator::None => false,
            };
            if at > 0 && ends {
                *self = Self::new(self.separator);
            }
            self.is_blank = (self.is_blank || at > 0) && line.iter().all(|byte| *byte == b'\r');
            self.bytes += line.len();
            self.values.read(line);
            if self.bytes > MESSAGE {
                return Some(format!("it sent a message of more than {} MiB", MESSAGE >> 20));
            }
            if self.values.is_over() {
                return Some(format!("it sent a message of more than {MAX_VALUES} values"));
            }
        }
        None
    }
}

/// Reader with limits.
pub(super) struct Bounded<R> {
    inner: R,
    reason: EndReason,
    message: MessageSize,
    window: (Instant, usize),
}

impl<R> Bounded<R> {
    pub(super) fn new(inner: R, reason: EndReason) -> Self {
        let message = MessageSize::new(Separator::Line);
        Self { inner, reason, message, window: (Instant::now(), 0) }
    }

    /// Counts bytes that arrived at this time. Returns the reason to stop if they are too many.
    fn count(&mut self, bytes: &[u8], now: Instant) -> Option<String> {
        let (began, read) = &mut self.window;
        if now.duration_since(*began) > WINDOW {
            (*began, *read) = (now, 0);
        }
        *read += bytes.len();
        let is_flood = *read > FLOOD;
        let flood =
            || format!("it sent more than {} MiB in {} seconds", FLOOD >> 20, WINDOW.as_secs());
        self.message.read(bytes).or_else(|| is_flood.then(flood))
    }
}

impl<R: AsyncRead + Unpin> AsyncRead for Bounded<R> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let polled = Pin::new(&mut self.inner).poll_read(context, buffer);
        if let Poll::Ready(Ok(())) = polled
            && let Some(why) = self.count(&buffer.filled()[before..], Instant::now())
        {
            self.reason.set(why.clone());
            return Poll::Ready(Err(io::Error::other(why)));
        }
        polled
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_without_an_end_is_too_much() {
        let mut reader = Bounded::new(tokio::io::empty(), EndReason::default());
        let (piece, now) = (vec![b'x'; MESSAGE / 2], Instant::now());
        assert_eq!(reader.count(&piece, now), None);
        assert_eq!(reader.count(b"\n", now), None);
        assert_eq!(reader.count(&piece, now), None);
        assert_eq!(reader.count(&piece, now), None);
        assert!(reader.count(b"x", now).unwrap().contains("16 MiB"));
    }

    #[test]
    fn a_message_has_a_budget_of_values_and_of_bytes_until_it_ends() {
        let half = "1,".repeat(MAX_VALUES / 2 + 1);
        let check = |separator: Separator, between: &str, expected: bool| {
            let mut size = MessageSize::new(separator);
            assert_eq!(size.read(half.as_bytes()), None);
            assert_eq!(size.read(between.as_bytes()), None);
            assert_eq!(size.read(half.as_bytes()).is_some(), expected, "{separator:?} {between:?}");
        };
        for (between, ends_line, ends_event) in [
            ("", false, false),
            ("\n", true, false),
            ("\r\n\r\n", true, true),
            ("\n\n", true, true),
        ] {
            check(Separator::Line, between, !ends_line);
            check(Separator::BlankLine, between, !ends_event);
            check(Separator::None, between, true);
        }
        let mut size = MessageSize::new(Separator::None);
        assert!(size.read(&vec![b' '; MESSAGE + 1]).unwrap().contains("16 MiB"));
    }

    #[test]
    fn a_flood_of_lines_is_too_much() {
        let mut reader = Bounded::new(tokio::io::empty(), EndReason::default());
        let began = Instant::now();
        reader.window = (began, FLOOD - 1);
        let end = began + WINDOW;
        assert_eq!(reader.count(b"\n", end), None);
        assert!(reader.count(b"\n", end).unwrap().contains("in 10 seconds"));
        let later = end + Duration::from_millis(1);
        assert_eq!(reader.count(b"\n", later), None, "another window");
    }
}
