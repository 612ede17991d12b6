//! Reads a journal forward in batches, while another process may be appending to it.

use std::io::{Read as _, Seek as _, SeekFrom};

use crewagent_core::event::Event;
use crewagent_format::integrity::Digest;

use super::{JOURNAL, JournalError, MAX_RECORD};
use crate::disk::{Deed, Folder, Opening};

/// Cursor in a journal. It opens the file for each read only.
#[derive(Debug)]
pub struct JournalReader {
    folder: Folder,
    /// Offset of the next record.
    offset: u64,
    /// Number of the last record read.
    seq: u64,
    /// Line of the last record read.
    last: Option<JournalLine>,
}

/// Position after a record, to continue from later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordOffset {
    /// Number of the record.
    pub seq: u64,
    line: JournalLine,
}

/// Line of a journal by its byte range, with the digest of its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct JournalLine {
    start: u64,
    end: u64,
    sha256: Digest,
}

impl JournalReader {
    /// Starts at the beginning of the journal in `folder`.
    pub fn new(folder: Folder) -> Self {
        Self { folder, offset: 0, seq: 0, last: None }
    }

    /// Returns the number of the last record read.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// Returns the offset of the next record.
    pub fn offset(&self) -> u64 {
        self.offset
    }

    /// Returns the current position; `None` before the first record.
    pub fn place(&self) -> Option<RecordOffset> {
        self.last.map(|line| RecordOffset { seq: self.seq, line })
    }

    /// Moves to an earlier position and returns true if its record is still there: the journal may have been
    /// truncated or rewritten since.
    pub fn go_to(&mut self, place: &RecordOffset) -> Result<bool, JournalError> {
        let JournalLine { start, end, sha256 } = place.line;
        let found = self.piece(start, end - start)?;
        let is_there = Digest::of(&found) == sha256;
        if is_there {
            (self.offset, self.seq, self.last) = (end, place.seq, Some(place.line));
        }
        Ok(is_there)
    }

    /// Reads the next records, about `bytes` in total, but at least one if there is one. Returns none at the end, or
    /// before a record that is incomplete or unreadable.
    pub fn next(&mut self, bytes: usize) -> Result<Vec<Event>, JournalError> {
        self.next_few(bytes, usize::MAX)
    }

    /// Reads like [`JournalReader::next`], but at most `most` records (at least one).
    pub fn next_few(&mut self, bytes: usize, most: usize) -> Result<Vec<Event>, JournalError> {
        let mut window = bytes.max(1) as u64;
        loop {
            let piece = self.piece(self.offset, window)?;
            let is_all = (piece.len() as u64) < window;
            let mut events = Vec::new();
            let mut taken = 0;
            let mut last = None;
            for line in piece.split_inclusive(|byte| *byte == b'\n') {
                let count = events.len();
                // A window that was widened for one long record may hold many short ones.
                let is_enough = count >= most.max(1) || (count > 0 && taken >= bytes);
                if is_enough || !self.takes(line, &mut events) {
                    break;
                }
                if events.len() > count {
                    last = Some((taken, line));
                }
                taken += line.len();
            }
            if let Some((before, line)) = last {
                let start = self.offset + before as u64;
                let end = start + line.len() as u64;
                self.last = Some(JournalLine { start, end, sha256: Digest::of(line) });
            }
            self.offset += taken as u64;
            // A long record may need a wider window.
            if !events.is_empty() || is_all || window > MAX_RECORD as u64 {
                return Ok(events);
            }
            if taken == 0 {
                window *= 8;
            }
        }
    }

    fn piece(&self, offset: u64, window: u64) -> Result<Vec<u8>, JournalError> {
        let mut file = self.folder.open(JOURNAL, Opening::Read)?;
        let mut piece = Vec::new();
        self.folder
            .disk()
            .run(self.folder.label_of(JOURNAL), Deed::Read, || {
                file.seek(SeekFrom::Start(offset))?;
                (&mut file).take(window).read_to_end(&mut piece)
            })
            .map_err(self.folder.failed("read", JOURNAL))?;
        Ok(piece)
    }

    /// Reads one line and returns false if reading must stop there. A repeated record is skipped silently.
    fn takes(&mut self, line: &[u8], events: &mut Vec<Event>) -> bool {
        let Some(line) = line.strip_suffix(b"\n") else { return false };
        let line = line.strip_prefix("\u{feff}".as_bytes()).unwrap_or(line);
        if line.iter().all(u8::is_ascii_whitespace) {
            return true;
        }
        let Ok(event) = serde_json::from_slice::<Event>(line) else { return false };
        if event.seq == self.seq + 1 {
            self.seq = event.seq;
            events.push(event);
            return true;
        }
        event.seq <= self.seq
    }
}
