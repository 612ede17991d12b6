//! The bytes of an answer on their way to the parser: counted, timed and bounded.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use futures_util::Stream;
use thiserror::Error;
use tokio::time::Instant;

/// Maximum size of an event, in bytes.
const EVENT: usize = 16 << 20;

/// Maximum size of an answer, in bytes, with everything around its text.
const ANSWER: usize = 64 << 20;

/// Counter of received bytes, with the time of the last ones.
#[derive(Clone, Debug)]
pub(super) struct Meter(Arc<Counts>);

#[derive(Debug)]
struct Counts {
    begun: Instant,
    answer: AtomicUsize,
    event: AtomicUsize,
    /// Time of the last bytes, in milliseconds since the start.
    last: AtomicU64,
}

impl Meter {
    /// Creates a counter at zero.
    pub(super) fn new(begun: Instant) -> Self {
        Self(Arc::new(Counts {
            begun,
            answer: AtomicUsize::new(0),
            event: AtomicUsize::new(0),
            last: AtomicU64::new(0),
        }))
    }

    /// Returns the time of the last bytes, if any arrived.
    pub(super) fn last(&self) -> Option<Instant> {
        let counts = &*self.0;
        let last = counts.begun + Duration::from_millis(counts.last.load(Ordering::Relaxed));
        (counts.answer.load(Ordering::Relaxed) > 0).then_some(last)
    }

    /// Notes that an event is complete.
    pub(super) fn event(&self) {
        self.0.event.store(0, Ordering::Relaxed);
    }

    /// Counts bytes, or fails if they are too many.
    pub(super) fn take(&self, bytes: usize) -> Result<(), Broken> {
        let now = u64::try_from(self.0.begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.0.last.store(now, Ordering::Relaxed);
        let answer = self.0.answer.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let event = self.0.event.fetch_add(bytes, Ordering::Relaxed) + bytes;
        // One read may bring the end of one event and all of the next ones, so it does not count against the event.
        if answer > ANSWER || event - bytes > EVENT { Err(Broken::TooLong) } else { Ok(()) }
    }
}

/// Reason why no more bytes arrive.
#[derive(Debug, Error)]
pub(super) enum Broken {
    #[error("the answer is too long")]
    TooLong,
    #[error("{0}")]
    Lost(String),
}

/// Body of an answer with a blank line appended, so that the last event counts even if the server forgot it.
pub(super) struct Metered<S> {
    inner: Option<S>,
    meter: Meter,
}

impl<S> Metered<S> {
    pub(super) fn new(inner: S, meter: Meter) -> Self {
        Self { inner: Some(inner), meter }
    }
}

impl<S> Stream for Metered<S>
where
    S: Stream<Item = reqwest::Result<Bytes>> + Unpin,
{
    type Item = Result<Bytes, Broken>;

    fn poll_next(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Option<Self::Item>> {
        let this = self.get_mut();
        let Some(inner) = &mut this.inner else { return Poll::Ready(None) };
        match Pin::new(inner).poll_next(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(Some(Ok(bytes))) => {
                let taken = this.meter.take(bytes.len());
                Poll::Ready(Some(taken.map(|()| bytes)))
            }
            Poll::Ready(Some(Err(error))) => {
                this.inner = None;
                Poll::Ready(Some(Err(Broken::Lost(super::failure::causes(&error)))))
            }
            Poll::Ready(None) => {
                this.inner = None;
                Poll::Ready(Some(Ok(Bytes::from_static(b"\n\n"))))
            }
        }
    }
}
