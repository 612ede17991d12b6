//! Standard output and standard error, without panics when the reader has gone and without colour where it does not help.

use std::fmt;
use std::io::{self, BufWriter, Write};

use anstream::AutoStream;

/// The two streams of this process. Colour goes away by itself in a pipe and under `NO_COLOR`.
pub(crate) struct Console {
    out: BufWriter<AutoStream<io::Stdout>>,
    err: AutoStream<io::Stderr>,
    failed: Option<io::Error>,
}

/// Where something belongs: a result can be piped on, notes are for whoever watches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stream {
    /// Standard output.
    Result,
    /// Standard error.
    Notes,
}

impl Console {
    pub(crate) fn new() -> Self {
        Self {
            out: BufWriter::new(AutoStream::auto(io::stdout())),
            err: AutoStream::auto(io::stderr()),
            failed: None,
        }
    }

    /// One line on standard output. A failure is remembered and ends the program quietly at the next flush.
    pub(crate) fn line(&mut self, text: impl fmt::Display) {
        if self.failed.is_none() {
            self.failed = writeln!(self.out, "{text}").err();
        }
    }

    /// Text that brings its own line ends.
    pub(crate) fn text(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(text.as_bytes()).err();
        }
    }

    /// One line on either stream.
    pub(crate) fn line_to(&mut self, stream: Stream, text: impl fmt::Display) {
        match stream {
            Stream::Result => self.line(text),
            Stream::Notes => self.error(text),
        }
    }

    /// One line on standard error, after everything that was said before.
    pub(crate) fn error(&mut self, text: impl fmt::Display) {
        if self.failed.is_none() {
            self.failed = self.out.flush().err();
        }
        // Nobody to tell when standard error is gone.
        let _ = writeln!(self.err, "{text}");
    }

    /// Shows what was said so far to whoever watches.
    pub(crate) fn show(&mut self) {
        if self.failed.is_none() {
            self.failed = self.out.flush().err();
        }
    }

    /// Whether standard output takes no more.
    pub(crate) fn is_gone(&self) -> bool {
        self.failed.is_some()
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.failed.take().map_or_else(|| self.out.flush(), Err)
    }
}
