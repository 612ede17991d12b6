//! Journal of a run: one event a line, flushed before anything depends on it, repaired when it is opened.

mod payloads;
mod reader;
mod scan;
mod tail;

use std::fs::File;
use std::io::{self, Seek, SeekFrom};

use crewagent_core::event::{Event, EventKind, ModelEvent};
use thiserror::Error;

pub use self::reader::{JournalReader, RecordOffset};
pub use self::scan::{Judged, LineEnd, MAX_RECORD, TrailingBytes, recover};
pub use self::tail::{JournalTail, tail};

use self::scan::JournalScan;
use crate::blobs::{BlobError, Blobs};
use crate::disk::{DiskError, Folder, Opening};

/// File name of the journal.
pub const JOURNAL: &str = "execution.jsonl";
/// Size in bytes above which a text is stored as a blob.
pub const INLINE_LIMIT: usize = 32 * 1024;
/// Bytes read at a time.
const CHUNK: usize = 256 * 1024;

/// Open journal. Its owner is the only writer of the file.
#[derive(Debug)]
pub struct Journal {
    folder: Folder,
    blobs: Blobs,
    handle: FileHandle,
    /// Size of the flushed part.
    flushed: u64,
    /// Bytes written and not yet flushed, kept because a failed flush leaves their fate on the disk unknown.
    pending: Vec<u8>,
    /// Tells if the last record still needs its newline.
    end: LineEnd,
    /// Number of the last event.
    last: u64,
}

#[derive(Debug)]
enum FileHandle {
    /// The file ends after the last valid record.
    Ready(File),
    /// The file may have bytes after the last valid record.
    Dirty(File),
    /// A flush failed, so the state that the system reports through the old handle cannot be trusted.
    Lost,
}

/// Content of a journal when it was opened.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Recovered {
    pub events: Vec<Event>,
    /// Repairs and damage, as messages.
    pub notes: Vec<String>,
}

/// Error of reading or writing a journal.
#[derive(Debug, Error)]
pub enum JournalError {
    #[error(transparent)]
    Disk(#[from] DiskError),
    /// A long text cannot be stored as a blob.
    #[error(transparent)]
    Blob(#[from] BlobError),
    /// A record exceeds the size that can be read back.
    #[error("a record of {bytes} bytes is too long for the journal, which takes {MAX_RECORD}")]
    TooLong { bytes: usize },
    /// An event has the wrong number, or is a delta, which a journal never holds.
    #[error("the journal expects event {expected}, not {found}")]
    Order { expected: u64, found: u64 },
    #[error("an event cannot be written as JSON: {0}")]
    Json(#[from] serde_json::Error),
}

impl JournalError {
    /// Returns the underlying disk error, if any.
    pub fn disk(&self) -> Option<&DiskError> {
        match self {
            Self::Disk(error) | Self::Blob(BlobError::Disk(error)) => Some(error),
            Self::Blob(BlobError::Missing(_) | BlobError::Damaged(_) | BlobError::NotText(_))
            | Self::TooLong { .. }
            | Self::Order { .. }
            | Self::Json(_) => None,
        }
    }
}

impl Journal {
    /// Writes the first events into a folder without a journal. The name is durable once the folder is flushed.
    pub(crate) fn create(
        folder: &Folder,
        blobs: &Blobs,
        events: &[Event],
    ) -> Result<(), JournalError> {
        let mut buffer = Vec::new();
        format(blobs, 0, events, &mut buffer)?;
        folder.write(JOURNAL, &buffer, Opening::New)?;
        Ok(())
    }

    /// Opens the journal in a folder and repairs it. A missing journal is created.
    pub fn open(folder: Folder, blobs: Blobs) -> Result<(Self, Recovered), JournalError> {
        let mut file = match folder.open(JOURNAL, Opening::Change) {
            Ok(file) => file,
            Err(error) if error.is_missing() => return Self::begin(folder, blobs),
            Err(error) => return Err(error.into()),
        };
        let judged = judge(&folder, &mut file)?;
        let quarantine = set_right(&folder, &mut file, &judged)?;
        file.seek(SeekFrom::Start(judged.good)).map_err(folder.failed("read", JOURNAL))?;
        let notes = judged.notes(&quarantine);
        let journal = Self {
            folder,
            blobs,
            handle: FileHandle::Ready(file),
            flushed: judged.good,
            pending: Vec::new(),
            end: judged.end,
            last: judged.events.len() as u64,
        };
        Ok((journal, Recovered { events: judged.events, notes }))
    }

    fn begin(folder: Folder, blobs: Blobs) -> Result<(Self, Recovered), JournalError> {
        folder.ensure()?;
        let file = folder.write(JOURNAL, b"", Opening::New)?;
        folder.sync()?;
        let notes = vec!["the journal was missing; a new one was begun".to_owned()];
        let handle = FileHandle::Ready(file);
        let pending = Vec::new();
        let journal =
            Self { folder, blobs, handle, flushed: 0, pending, end: LineEnd::There, last: 0 };
        Ok((journal, Recovered { events: Vec::new(), notes }))
    }

    /// Reads a journal without repairing it. A record that is being written is left out.
    pub fn read(folder: &Folder) -> Result<Recovered, JournalError> {
        let mut file = folder.open(JOURNAL, Opening::Read)?;
        let judged = judge(folder, &mut file)?;
        let notes = match judged.rest {
            TrailingBytes::Nothing
            | TrailingBytes::Repeated { .. }
            | TrailingBytes::Torn { .. } => Vec::new(),
            TrailingBytes::Damaged { bytes } => vec![format!(
                "the journal is damaged behind record {}; what follows ({bytes} bytes) is not shown",
                judged.events.len()
            )],
        };
        Ok(Recovered { events: judged.events, notes })
    }

    /// Returns the number of the last event; 0 if there is none.
    pub fn last_seq(&self) -> u64 {
        self.last
    }

    /// Moves the long texts of an event into blobs, as the journal stores it.
    pub fn settle(&self, mut event: Event) -> Result<Event, BlobError> {
        payloads::each(&mut event, |payload| self.blobs.keep(payload, INLINE_LIMIT))?;
        Ok(event)
    }

    /// Appends events with one write and one flush. After an error none of them counts.
    pub fn append(&mut self, events: &[Event]) -> Result<(), JournalError> {
        let (length, end, last) = (self.pending.len(), self.end, self.last);
        self.write(events)?;
        self.sync().inspect_err(|_| {
            self.pending.truncate(length);
            (self.end, self.last) = (end, last);
        })
    }

    /// Appends events with one write. They survive the end of this process; surviving a power cut takes
    /// [`Journal::sync`]. After an error none of them counts.
    pub fn write(&mut self, events: &[Event]) -> Result<(), JournalError> {
        if events.is_empty() {
            return Ok(());
        }
        let mut buffer = Vec::new();
        if self.end == LineEnd::Missing {
            buffer.push(b'\n');
        }
        format(&self.blobs, self.last, events, &mut buffer)?;
        let mut file = self.repaired()?;
        if let Err(error) = self.put(&mut file, &buffer) {
            self.handle = FileHandle::Dirty(file);
            return Err(error.into());
        }
        self.handle = FileHandle::Ready(file);
        self.pending.extend_from_slice(&buffer);
        self.end = LineEnd::There;
        self.last += events.len() as u64;
        Ok(())
    }

    /// Flushes what was written. After an error it still counts, and is written again before the next flush.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        if self.pending.is_empty() {
            return Ok(());
        }
        let file = self.repaired()?;
        let flushed = self.folder.disk().sync_data(&file, self.folder.label_of(JOURNAL));
        // On failure the handle is dropped, and the next caller reopens the file.
        flushed.map_err(self.folder.failed("flush", JOURNAL))?;
        self.handle = FileHandle::Ready(file);
        self.flushed += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }

    /// Takes the file out of the handle, truncated to what counts and positioned at its end. The handle is `Lost`
    /// until the caller puts the file back.
    fn repaired(&mut self) -> Result<File, DiskError> {
        match std::mem::replace(&mut self.handle, FileHandle::Lost) {
            FileHandle::Ready(file) => Ok(file),
            FileHandle::Dirty(mut file) => {
                let good = self.flushed + self.pending.len() as u64;
                match self.cut(&mut file, good) {
                    Ok(()) => Ok(file),
                    Err(error) => {
                        self.handle = FileHandle::Dirty(file);
                        Err(error)
                    }
                }
            }
            FileHandle::Lost => {
                let mut file = self.folder.open(JOURNAL, Opening::Change)?;
                self.cut(&mut file, self.flushed)?;
                if !self.pending.is_empty() {
                    self.put(&mut file, &self.pending)?;
                }
                Ok(file)
            }
        }
    }

    fn cut(&self, file: &mut File, length: u64) -> Result<(), DiskError> {
        let label = self.folder.label_of(JOURNAL);
        let cut = self.folder.disk().truncate(file, &label, length);
        cut.and_then(|()| file.seek(SeekFrom::Start(length)).map(drop))
            .map_err(self.folder.failed("repair", JOURNAL))
    }

    fn put(&self, file: &mut File, bytes: &[u8]) -> Result<(), DiskError> {
        let label = self.folder.label_of(JOURNAL);
        let written = self.folder.disk().write_all(file, &label, bytes);
        written.map_err(self.folder.failed("write", JOURNAL))
    }
}

/// Formats events as lines. Their numbers must continue after `last`.
fn format(
    blobs: &Blobs,
    last: u64,
    events: &[Event],
    buffer: &mut Vec<u8>,
) -> Result<(), JournalError> {
    for (expected, event) in (last + 1..).zip(events) {
        let is_piece =
            matches!(event.kind, EventKind::Model(ModelEvent::Delta(_))) || event.part.is_some();
        if event.seq != expected || is_piece {
            return Err(JournalError::Order { expected, found: event.seq });
        }
        let mut event = event.clone();
        payloads::each(&mut event, |payload| blobs.keep(payload, INLINE_LIMIT))?;
        let start = buffer.len();
        serde_json::to_writer(&mut *buffer, &event)?;
        let bytes = buffer.len() - start;
        if bytes > MAX_RECORD {
            return Err(JournalError::TooLong { bytes });
        }
        buffer.push(b'\n');
    }
    Ok(())
}

/// Reads and judges a journal in chunks.
fn judge(folder: &Folder, file: &mut File) -> Result<Judged, JournalError> {
    let label = folder.label_of(JOURNAL);
    let mut scan = JournalScan::default();
    let mut buffer = vec![0; CHUNK];
    loop {
        match folder.disk().read(file, &label, &mut buffer) {
            Ok(0) => return Ok(scan.finish()),
            Ok(count) => scan.feed(&buffer[..count]),
            Err(error) => return Err(folder.failed("read", JOURNAL)(error).into()),
        }
    }
}

/// Truncates what does not count and flushes the rest: the previous process may have died between a write and its
/// flush, and everything read from now on must be durable. Returns the name of the file with the damaged records.
fn set_right(folder: &Folder, file: &mut File, judged: &Judged) -> Result<String, JournalError> {
    let label = folder.label_of(JOURNAL);
    let quarantine = match judged.rest {
        TrailingBytes::Damaged { .. } => move_aside(folder, file, judged.good)?,
        TrailingBytes::Nothing | TrailingBytes::Torn { .. } | TrailingBytes::Repeated { .. } => {
            String::new()
        }
    };
    if judged.rest != TrailingBytes::Nothing {
        folder
            .disk()
            .truncate(file, &label, judged.good)
            .map_err(folder.failed("repair", JOURNAL))?;
    }
    folder.disk().sync_data(file, &label).map_err(folder.failed("flush", JOURNAL))?;
    folder.sync()?;
    Ok(quarantine)
}

/// Copies everything after offset `good` to a file beside the journal.
fn move_aside(folder: &Folder, file: &mut File, good: u64) -> Result<String, JournalError> {
    const TEMP: &str = ".execution.jsonl.damaged.tmp";
    let disk = folder.disk();
    let mut copy = folder.open(TEMP, Opening::Fresh)?;
    file.seek(SeekFrom::Start(good)).map_err(folder.failed("read", JOURNAL))?;
    let mut buffer = vec![0; CHUNK];
    loop {
        let count = disk
            .read(file, folder.label_of(JOURNAL), &mut buffer)
            .map_err(folder.failed("read", JOURNAL))?;
        if count == 0 {
            break;
        }
        disk.write_all(&mut copy, folder.label_of(TEMP), &buffer[..count])
            .map_err(folder.failed("write", TEMP))?;
    }
    disk.sync_file(&copy, folder.label_of(TEMP)).map_err(folder.failed("flush", TEMP))?;
    drop(copy);
    let name = free_name(folder)?;
    folder.rename(TEMP, &name)?;
    folder.sync()?;
    Ok(name)
}

fn free_name(folder: &Folder) -> Result<String, DiskError> {
    for number in 1..10_000 {
        let name = format!("{JOURNAL}.damaged-{number}");
        if folder.size_of(&name)?.is_none() {
            return Ok(name);
        }
    }
    let error = io::Error::new(io::ErrorKind::AlreadyExists, "too many damaged copies are there");
    Err(folder.failed("repair", JOURNAL)(error))
}
