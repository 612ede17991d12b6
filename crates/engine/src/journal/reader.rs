//! Reads a journal from front to back in pieces, while another may be adding to it.

use std::io::{Read as _, Seek as _, SeekFrom};

use crewagent_core::event::Event;

use super::{JOURNAL, JournalError, MAX_RECORD};
use crate::disk::{Deed, Folder, Opening};

/// A place in a journal. It opens the file only to read on.
#[derive(Debug)]
pub struct Reader {
    folder: Folder,
    /// Where the next record begins.
    offset: u64,
    /// The number of the last record that was passed.
    seq: u64,
}

impl Reader {
    /// The beginning of the journal in a folder.
    pub fn new(folder: Folder) -> Self {
        Self { folder, offset: 0, seq: 0 }
    }

    /// The number of the last record that was passed.
    pub fn seq(&self) -> u64 {
        self.seq
    }

    /// The next records, of about so many bytes together, but at least one if there is one. None at the end, and
    /// in front of a record that is being written or cannot be read.
    pub fn next(&mut self, bytes: usize) -> Result<Vec<Event>, JournalError> {
        let mut window = bytes.max(1) as u64;
        loop {
            let piece = self.piece(window)?;
            let is_all = (piece.len() as u64) < window;
            let mut events = Vec::new();
            let mut taken = 0;
            for line in piece.split_inclusive(|byte| *byte == b'\n') {
                if !self.takes(line, &mut events) {
                    break;
                }
                taken += line.len();
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

    fn piece(&self, window: u64) -> Result<Vec<u8>, JournalError> {
        let mut file = self.folder.open(JOURNAL, Opening::Read)?;
        let mut piece = Vec::new();
        self.folder
            .disk()
            .run(self.folder.label_of(JOURNAL), Deed::Read, || {
                file.seek(SeekFrom::Start(self.offset))?;
                (&mut file).take(window).read_to_end(&mut piece)
            })
            .map_err(self.folder.failed("read", JOURNAL))?;
        Ok(piece)
    }

    /// Whether a line was passed. One that stands there again is passed in silence.
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
