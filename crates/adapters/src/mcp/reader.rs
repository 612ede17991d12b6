//! Bounded input from a server: a line without an end, or a flood without an answer, ends the connection.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use tokio::io::{AsyncRead, ReadBuf};

/// Maximum size of a message, in bytes.
const LINE: usize = 16 << 20;
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

/// Reader with limits.
pub(super) struct Bounded<R> {
    inner: R,
    reason: EndReason,
    line: usize,
    window: (Instant, usize),
}

impl<R> Bounded<R> {
    pub(super) fn new(inner: R, reason: EndReason) -> Self {
        Self { inner, reason, line: 0, window: (Instant::now(), 0) }
    }

    /// Counts bytes that arrived at this time. Returns the reason to stop if they are too many.
    fn count(&mut self, bytes: &[u8], now: Instant) -> Option<String> {
        let (began, read) = &mut self.window;
        if now.duration_since(*began) > WINDOW {
            (*began, *read) = (now, 0);
        }
        *read += bytes.len();
        let pieces = bytes.split(|byte| *byte == b'\n');
        for (at, piece) in pieces.enumerate() {
            self.line = if at == 0 { self.line + piece.len() } else { piece.len() };
            if self.line > LINE {
                return Some(format!("it sent a message of more than {} MiB", LINE >> 20));
            }
        }
        let is_flood = *read > FLOOD;
        is_flood.then(|| {
            format!("it sent more than {} MiB in {} seconds", FLOOD >> 20, WINDOW.as_secs())
        })
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
        let (piece, now) = (vec![b'x'; LINE / 2], Instant::now());
        assert_eq!(reader.count(&piece, now), None);
        assert_eq!(reader.count(b"\n", now), None);
        assert_eq!(reader.count(&piece, now), None);
        assert_eq!(reader.count(&piece, now), None);
        assert!(reader.count(b"x", now).unwrap().contains("16 MiB"));
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
