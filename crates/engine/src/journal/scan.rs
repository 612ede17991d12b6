//! Judges the bytes of a journal: which of them count, and what to do with the rest. Does no I/O, and buffers at most
//! one record.

use std::io::BufRead as _;

use crewagent_core::event::Event;
use serde::Deserialize;

/// Size in bytes above which a record is treated as damage.
pub const MAX_RECORD: usize = 16 << 20;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// Result of judging a journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// Valid events, numbered from 1 without a gap.
    pub events: Vec<Event>,
    /// Offset of their end.
    pub good: u64,
    /// Tells if the last of them still needs its newline.
    pub end: LineEnd,
    /// Number of repeated records that were ignored.
    pub repeated: u64,
    pub rest: TrailingBytes,
}

/// End of the last record.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineEnd {
    /// It has its newline, or there is no record.
    #[default]
    There,
    /// It is complete except for its newline.
    Missing,
}

/// Bytes after the last valid event.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TrailingBytes {
    #[default]
    Nothing,
    /// Unreadable bytes, as a crash in the middle of a write leaves them. They can be cut off.
    Torn { bytes: u64 },
    /// Records that the journal holds already. They can be cut off.
    Repeated { bytes: u64 },
    /// Records that do not continue the sequence. They are worth keeping, in another file.
    Damaged {
        /// Includes unreadable bytes between the records.
        bytes: u64,
    },
}

/// Judges a whole journal in memory.
pub fn recover(bytes: &[u8]) -> Judged {
    let mut scan = JournalScan::default();
    scan.feed(bytes);
    scan.finish()
}

/// Incremental judge of a journal that is read in chunks.
#[derive(Debug, Default)]
pub(super) struct JournalScan {
    judged: Judged,
    /// Offset of the current line.
    start: u64,
    /// Start of the current line, if it began in an earlier chunk.
    line: Vec<u8>,
    /// Bytes of the current line so far, if they exceed the size of a record.
    dropped: u64,
    mode: ScanMode,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ScanMode {
    #[default]
    Reading,
    /// After something unreadable: looks for a readable record.
    Searching,
    /// A readable record followed something unreadable, or the sequence broke.
    Damaged,
}

/// Fields that every record has, in whatever version it was written.
#[derive(Deserialize)]
struct RecordHead {
    #[serde(rename = "seq")]
    _seq: u64,
    #[serde(rename = "type")]
    _kind: serde::de::IgnoredAny,
}

enum ScanLine {
    Blank,
    Event(Box<Event>),
    /// Complete record that this version does not understand.
    Foreign,
    Garbage,
}

impl JournalScan {
    /// Consumes the next chunk.
    pub(super) fn feed(&mut self, mut piece: &[u8]) {
        while let Some((line, behind)) = split_line(piece) {
            piece = behind;
            if self.line.is_empty() && self.dropped == 0 {
                self.take(line, LineEnd::There);
                self.start += line.len() as u64;
            } else {
                self.hold(line);
                self.take_held(LineEnd::There);
            }
        }
        self.hold(piece);
    }

    /// Returns the verdict after the last chunk.
    pub(super) fn finish(mut self) -> Judged {
        if !self.line.is_empty() || self.dropped > 0 {
            self.take_held(LineEnd::Missing);
        }
        let bytes = self.start - self.judged.good;
        self.judged.rest = match self.mode {
            _ if bytes == 0 => TrailingBytes::Nothing,
            ScanMode::Reading => TrailingBytes::Repeated { bytes },
            ScanMode::Searching => TrailingBytes::Torn { bytes },
            ScanMode::Damaged => TrailingBytes::Damaged { bytes },
        };
        self.judged
    }

    /// Buffers a part of a line until the rest arrives; of an oversized line it counts only the bytes.
    fn hold(&mut self, part: &[u8]) {
        if self.dropped > 0 || self.line.len() + part.len() > MAX_RECORD + 1 {
            self.dropped += (self.line.len() + part.len()) as u64;
            self.line = Vec::new();
        } else {
            self.line.extend_from_slice(part);
        }
    }

    fn take_held(&mut self, end: LineEnd) {
        let line = std::mem::take(&mut self.line);
        if self.dropped > 0 {
            self.unreadable();
        } else {
            self.take(&line, end);
        }
        self.start += line.len() as u64 + self.dropped;
        self.dropped = 0;
    }

    fn unreadable(&mut self) {
        if self.mode == ScanMode::Reading {
            self.mode = ScanMode::Searching;
        }
    }

    fn take(&mut self, line: &[u8], end: LineEnd) {
        if self.mode == ScanMode::Damaged {
            return;
        }
        let text = if self.start == 0 { line.strip_prefix(BOM).unwrap_or(line) } else { line };
        match (read(text, end), self.mode) {
            (ScanLine::Blank, ScanMode::Reading) if self.judged.repeated == 0 => {
                self.accept(line, end)
            }
            (ScanLine::Blank, _) => {}
            (ScanLine::Garbage, _) => self.unreadable(),
            (ScanLine::Foreign, _)
            | (ScanLine::Event(_), ScanMode::Searching | ScanMode::Damaged) => {
                self.mode = ScanMode::Damaged;
            }
            (ScanLine::Event(event), ScanMode::Reading) => {
                let next = self.judged.events.last().map_or(1, |last| last.seq + 1);
                if event.seq == next {
                    self.judged.events.push(*event);
                    self.accept(line, end);
                } else if (1..next).contains(&event.seq) {
                    self.judged.repeated += 1;
                } else {
                    self.mode = ScanMode::Damaged;
                }
            }
        }
    }

    /// Marks everything up to the end of this line as valid.
    fn accept(&mut self, line: &[u8], end: LineEnd) {
        self.judged.good = self.start + line.len() as u64;
        self.judged.end = end;
    }
}

/// Splits off the first complete line, newline included.
fn split_line(piece: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut behind = piece;
    // `skip_until` is the fastest byte search in the standard library.
    let length = behind.skip_until(b'\n').ok()?;
    let line = piece.get(..length)?;
    line.ends_with(b"\n").then_some((line, behind))
}

fn read(line: &[u8], end: LineEnd) -> ScanLine {
    if line.len() > MAX_RECORD + 1 {
        return ScanLine::Garbage;
    }
    if line.iter().all(u8::is_ascii_whitespace) {
        return if end == LineEnd::There { ScanLine::Blank } else { ScanLine::Garbage };
    }
    // Skip the cost of a parser error for anything that cannot be a record.
    if !line.trim_ascii_start().starts_with(b"{") {
        return ScanLine::Garbage;
    }
    match serde_json::from_slice(line) {
        Ok(event) => ScanLine::Event(Box::new(event)),
        Err(_) if serde_json::from_slice::<RecordHead>(line).is_ok() => ScanLine::Foreign,
        Err(_) => ScanLine::Garbage,
    }
}

impl Judged {
    /// Describes repairs and damage. `quarantine` names the file that holds the damaged records.
    pub fn notes(&self, quarantine: &str) -> Vec<String> {
        let mut notes = Vec::new();
        let repeated = self.repeated;
        match repeated {
            0 => {}
            1 => {
                notes.push("one record of the journal stood there twice and was ignored".to_owned())
            }
            _ => notes.push(format!(
                "{repeated} records of the journal stood there twice and were ignored"
            )),
        }
        match self.rest {
            TrailingBytes::Nothing | TrailingBytes::Repeated { .. } => {}
            TrailingBytes::Torn { bytes } => notes.push(format!(
                "the last record of the journal was torn and was cut off ({bytes} bytes)"
            )),
            TrailingBytes::Damaged { bytes } => notes.push(format!(
                "the journal is damaged behind record {}; what follows ({bytes} bytes) was moved to `{quarantine}`",
                self.events.len()
            )),
        }
        notes
    }
}
