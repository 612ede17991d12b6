//! End of a journal, for lists of runs: a few kilobytes of each, newest event first.

use std::io::{Read, Seek, SeekFrom};

use crewagent_core::event::Event;

use super::{JOURNAL, JournalError, MAX_RECORD};
use crate::disk::{Deed, Folder, Opening};

/// Bytes read at first; the window grows only if it holds no complete record.
const WINDOW: u64 = 64 * 1024;

/// Last events of a journal.
#[derive(Debug, Default)]
pub struct JournalTail {
    bytes: Vec<u8>,
    /// End of the next older line.
    end: usize,
    /// True if the window starts at the beginning of the journal.
    is_whole: bool,
    /// Number of unreadable lines so far.
    unreadable: usize,
}

/// Reads the end of the journal in a folder, which another process may be writing.
pub fn tail(folder: &Folder) -> Result<JournalTail, JournalError> {
    let mut file = folder.open(JOURNAL, Opening::Read)?;
    let size = file.seek(SeekFrom::End(0)).map_err(folder.failed("read", JOURNAL))?;
    let mut window = WINDOW;
    loop {
        let start = size.saturating_sub(window);
        let mut bytes = Vec::new();
        folder
            .disk()
            .run(folder.label_of(JOURNAL), Deed::Read, || {
                file.seek(SeekFrom::Start(start))?;
                (&mut file).take(window).read_to_end(&mut bytes)
            })
            .map_err(folder.failed("read", JOURNAL))?;
        let end = bytes.len();
        let tail = JournalTail { bytes, end, is_whole: start == 0, unreadable: 0 };
        if start == 0 || tail.has_line() || window > 4 * MAX_RECORD as u64 {
            return Ok(tail);
        }
        window *= 8;
    }
}

impl JournalTail {
    /// Returns true if at least one record is complete: the window has a newline with another one before it.
    fn has_line(&self) -> bool {
        self.bytes.iter().filter(|byte| **byte == b'\n').nth(1).is_some()
    }

    /// Returns the number of complete lines that were skipped because they are not events.
    pub fn unreadable(&self) -> usize {
        self.unreadable
    }

    fn line(&mut self) -> Option<std::ops::Range<usize>> {
        if self.end == 0 {
            return None;
        }
        let end = self.end;
        let body = self.bytes[..end].strip_suffix(b"\n").map_or(end, <[u8]>::len);
        let start = self.bytes[..body].iter().rposition(|byte| *byte == b'\n').map(|at| at + 1);
        let start = match start {
            Some(start) => start,
            None if self.is_whole => 0,
            // The window begins in the middle of this line.
            None => {
                self.end = 0;
                return None;
            }
        };
        self.end = start;
        Some(start..body)
    }
}

/// Yields events from the newest to the oldest, within the window.
impl Iterator for JournalTail {
    type Item = Event;

    fn next(&mut self) -> Option<Event> {
        while let Some(range) = self.line() {
            let is_last = range.end == self.bytes.len();
            let line = &self.bytes[range];
            let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
            match serde_json::from_slice(line) {
                Ok(event) => return Some(event),
                Err(_) if line.iter().all(u8::is_ascii_whitespace) => {}
                // The writing process may not have completed it yet.
                Err(_) if is_last => {}
                Err(_) => self.unreadable += 1,
            }
        }
        None
    }
}
