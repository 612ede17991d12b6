//! Standard output and standard error: no panic when the reader is gone, no colour where it does not help.

use std::fmt;
use std::io::{self, BufWriter, Write};

use anstream::AutoStream;

/// The two streams of this process. Colour is dropped in a pipe and under `NO_COLOR`.
pub(crate) struct Console {
    out: BufWriter<AutoStream<io::Stdout>>,
    err: AutoStream<io::Stderr>,
    failed: Option<io::Error>,
}

/// The stream of a message: results can be piped, notes are for the user.
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

    /// Prints one line on standard output. An error is kept and ends the program quietly at the next flush.
    pub(crate) fn line(&mut self, text: impl fmt::Display) {
        if self.failed.is_none() {
            self.failed = writeln!(self.out, "{text}").err();
        }
    }

    /// Prints text that contains its own newlines.
    pub(crate) fn text(&mut self, text: &str) {
        if self.failed.is_none() {
            self.failed = self.out.write_all(text.as_bytes()).err();
        }
    }

    /// Prints one line on either stream.
    pub(crate) fn line_to(&mut self, stream: Stream, text: impl fmt::Display) {
        match stream {
            Stream::Result => self.line(text),
            Stream::Notes => self.error(text),
        }
    }

    /// Prints one line on standard error, after all earlier output.
    pub(crate) fn error(&mut self, text: impl fmt::Display) {
        if self.failed.is_none() {
            self.failed = self.out.flush().err();
        }
        // An error on standard error cannot be reported.
        let _ = writeln!(self.err, "{text}");
    }

    /// Flushes the output so far.
    pub(crate) fn show(&mut self) {
        if self.failed.is_none() {
            self.failed = self.out.flush().err();
        }
    }

    /// Returns true if standard output has failed.
    pub(crate) fn is_gone(&self) -> bool {
        self.failed.is_some()
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.failed.take().map_or_else(|| self.out.flush(), Err)
    }
}
