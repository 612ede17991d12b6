//! Judges the bytes of a journal: what of them counts, and what is to become of the rest. No disk, no memory beyond
//! one record.

use std::io::BufRead as _;

use crewagent_core::event::Event;
use serde::Deserialize;

/// A longer record is damage.
pub const MAX_RECORD: usize = 16 << 20;

const BOM: &[u8] = "\u{feff}".as_bytes();

/// What a journal holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Judged {
    /// The events that count, numbered from 1 without a gap.
    pub events: Vec<Event>,
    /// How many bytes from the start they take.
    pub good: u64,
    /// Whether the last of them still needs its line end.
    pub end: LineEnd,
    /// How many records stood there again and were ignored.
    pub repeated: u64,
    /// What is behind them.
    pub rest: Rest,
}

/// How the last record ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum LineEnd {
    /// With its line, or there is none.
    #[default]
    There,
    /// It is whole, but the line end is missing.
    Missing,
}

/// What is behind the events that count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Rest {
    /// Nothing.
    #[default]
    Nothing,
    /// Something without meaning, as a crash in the middle of a write leaves it. It can be cut off.
    Torn {
        /// Its size.
        bytes: u64,
    },
    /// Records that stand there already. They can be cut off.
    Repeated {
        /// Their size.
        bytes: u64,
    },
    /// Records that no longer follow from those before. They are worth keeping, somewhere else.
    Damaged {
        /// Their size, with what is between them.
        bytes: u64,
    },
}

/// Judges a whole journal.
pub fn recover(bytes: &[u8]) -> Judged {
    let mut scan = Scan::default();
    scan.feed(bytes);
    scan.finish()
}

/// A journal that comes in pieces.
#[derive(Debug, Default)]
pub(super) struct Scan {
    judged: Judged,
    /// Where the line begins that is being read.
    start: u64,
    /// What has come of it, if it began in an earlier piece.
    line: Vec<u8>,
    /// What has come of it, if that is more than a record may have.
    dropped: u64,
    /// What the lines are for, now.
    mode: Mode,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Mode {
    #[default]
    Reading,
    /// After something unreadable: does anything readable follow?
    Searching,
    /// It does.
    Damaged,
}

/// What a record has, whoever wrote it.
#[derive(Deserialize)]
struct Head {
    #[serde(rename = "seq")]
    _seq: u64,
    #[serde(rename = "type")]
    _kind: serde::de::IgnoredAny,
}

enum Line {
    Blank,
    Event(Box<Event>),
    /// A whole record that this version does not understand.
    Foreign,
    Garbage,
}

impl Scan {
    /// Takes the next piece.
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

    /// Judges what came.
    pub(super) fn finish(mut self) -> Judged {
        if !self.line.is_empty() || self.dropped > 0 {
            self.take_held(LineEnd::Missing);
        }
        let bytes = self.start - self.judged.good;
        self.judged.rest = match self.mode {
            _ if bytes == 0 => Rest::Nothing,
            Mode::Reading => Rest::Repeated { bytes },
            Mode::Searching => Rest::Torn { bytes },
            Mode::Damaged => Rest::Damaged { bytes },
        };
        self.judged
    }

    /// Keeps a part of a line until the rest comes; of one that is too long, only its length.
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
        if self.mode == Mode::Reading {
            self.mode = Mode::Searching;
        }
    }

    fn take(&mut self, line: &[u8], end: LineEnd) {
        if self.mode == Mode::Damaged {
            return;
        }
        let text = if self.start == 0 { line.strip_prefix(BOM).unwrap_or(line) } else { line };
        match (read(text, end), self.mode) {
            (Line::Blank, Mode::Reading) if self.judged.repeated == 0 => self.accept(line, end),
            (Line::Blank, _) => {}
            (Line::Garbage, _) => self.unreadable(),
            (Line::Foreign, _) | (Line::Event(_), Mode::Searching | Mode::Damaged) => {
                self.mode = Mode::Damaged;
            }
            (Line::Event(event), Mode::Reading) => {
                let next = self.judged.events.last().map_or(1, |last| last.seq + 1);
                if event.seq == next {
                    self.judged.events.push(*event);
                    self.accept(line, end);
                } else if (1..next).contains(&event.seq) {
                    self.judged.repeated += 1;
                } else {
                    self.mode = Mode::Damaged;
                }
            }
        }
    }

    /// Everything up to the end of this line counts.
    fn accept(&mut self, line: &[u8], end: LineEnd) {
        self.judged.good = self.start + line.len() as u64;
        self.judged.end = end;
    }
}

/// The first line with its end, and what is behind it.
fn split_line(piece: &[u8]) -> Option<(&[u8], &[u8])> {
    let mut behind = piece;
    // The fastest search that the standard library has.
    let length = behind.skip_until(b'\n').ok()?;
    let line = piece.get(..length)?;
    line.ends_with(b"\n").then_some((line, behind))
}

fn read(line: &[u8], end: LineEnd) -> Line {
    if line.len() > MAX_RECORD + 1 {
        return Line::Garbage;
    }
    if line.iter().all(u8::is_ascii_whitespace) {
        return if end == LineEnd::There { Line::Blank } else { Line::Garbage };
    }
    // Anything else cannot be a record, and is not worth a parser's error.
    if !line.trim_ascii_start().starts_with(b"{") {
        return Line::Garbage;
    }
    match serde_json::from_slice(line) {
        Ok(event) => Line::Event(Box::new(event)),
        Err(_) if serde_json::from_slice::<Head>(line).is_ok() => Line::Foreign,
        Err(_) => Line::Garbage,
    }
}

impl Judged {
    /// What was wrong, in words. `aside` is where damaged records have been moved.
    pub fn notes(&self, aside: &str) -> Vec<String> {
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
            Rest::Nothing | Rest::Repeated { .. } => {}
            Rest::Torn { bytes } => notes.push(format!(
                "the last record of the journal was torn and was cut off ({bytes} bytes)"
            )),
            Rest::Damaged { bytes } => notes.push(format!(
                "the journal is damaged behind record {}; what follows ({bytes} bytes) was moved to `{aside}`",
                self.events.len()
            )),
        }
        notes
    }
}
