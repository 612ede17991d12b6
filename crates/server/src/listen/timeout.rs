//! A socket with a write timeout. A client that does not read is disconnected; it can reconnect and resume.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Instant, Sleep};

/// A socket that fails when a write is not taken in time.
pub(super) struct WriteTimeout<S> {
    socket: S,
    timeout: Duration,
    /// Runs while a write is pending.
    alarm: Pin<Box<Sleep>>,
    is_waiting: bool,
}

impl<S> WriteTimeout<S> {
    pub(super) fn new(socket: S, timeout: Duration) -> Self {
        let alarm = Box::pin(tokio::time::sleep(timeout));
        Self { socket, timeout, alarm, is_waiting: false }
    }

    /// Returns the result of a write, or an error if it has been pending for too long.
    fn check<T>(
        &mut self,
        context: &mut Context<'_>,
        written: Poll<io::Result<T>>,
    ) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.is_waiting = false;
            return written;
        }
        if !self.is_waiting {
            self.is_waiting = true;
            self.alarm.as_mut().reset(Instant::now() + self.timeout);
        }
        ready!(self.alarm.as_mut().poll(context));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.get_mut().socket).poll_read(context, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        let written = Pin::new(&mut own.socket).poll_write(context, bytes);
        own.check(context, written)
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let own = self.get_mut();
        let written = Pin::new(&mut own.socket).poll_write_vectored(context, pieces);
        own.check(context, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        let flushed = Pin::new(&mut own.socket).poll_flush(context);
        own.check(context, flushed)
    }

    fn poll_shutdown(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let own = self.get_mut();
        let closed = Pin::new(&mut own.socket).poll_shutdown(context);
        own.check(context, closed)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

    use super::*;

    fn run<R>(work: impl Future<Output = R>) -> R {
        tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap().block_on(work)
    }

    #[test]
    fn a_client_that_does_not_read_is_disconnected() {
        run(async {
            let (near, _far) = tokio::io::duplex(16);
            let mut socket = WriteTimeout::new(near, Duration::from_millis(20));
            socket.write_all(&[0; 16]).await.unwrap();
            let error = socket.write_all(&[0; 1]).await.unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::TimedOut);
        });
    }

    #[test]
    fn a_client_that_reads_slowly_is_not() {
        run(async {
            let (near, mut far) = tokio::io::duplex(16);
            let mut socket = WriteTimeout::new(near, Duration::from_secs(60));
            let read = async {
                let mut all = Vec::new();
                far.read_to_end(&mut all).await.unwrap();
                all.len()
            };
            let written = async {
                for _ in 0..100 {
                    socket.write_all(&[0; 16]).await.unwrap();
                }
                drop(socket);
            };
            assert_eq!(tokio::join!(read, written).0, 1600);
        });
    }
}
