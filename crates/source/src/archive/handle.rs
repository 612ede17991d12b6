//! Open file that is read at offsets, so that threads share it without sharing a cursor.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

/// Bytes of the directory read at a time.
const WINDOW: usize = 64 * 1024;

/// Open archive.
#[derive(Debug)]
pub(crate) struct ArchiveHandle {
    file: File,
    len: u64,
}

impl ArchiveHandle {
    pub(crate) fn new(file: File) -> io::Result<Self> {
        let len = file.metadata()?.len();
        Ok(Self { file, len })
    }

    /// Returns the size of the file when it was opened.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// Fills the buffer; returns fewer bytes only at the end of the file.
    pub(crate) fn read_at(&self, mut buffer: &mut [u8], mut offset: u64) -> io::Result<usize> {
        let mut done = 0;
        while !buffer.is_empty() {
            match read_once(&self.file, buffer, offset) {
                Ok(0) => break,
                Ok(count) => {
                    buffer = &mut buffer[count..];
                    offset += count as u64;
                    done += count;
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(done)
    }
}

#[cfg(unix)]
fn read_once(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, offset)
}

#[cfg(windows)]
fn read_once(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
}

/// Bytes that may be read through one window. The directory of a package needs a fraction of it; only a hostile
/// archive makes the ZIP reader load more into memory.
const MOST_READ: u64 = 64 * 1024 * 1024;

/// Reader with its own cursor that buffers the bytes around it, because the directory is read in small pieces with a
/// seek before each.
pub(crate) struct ArchiveWindow<'a> {
    handle: &'a ArchiveHandle,
    position: u64,
    start: u64,
    bytes: Vec<u8>,
    allowed: u64,
}

impl<'a> ArchiveWindow<'a> {
    pub(crate) fn new(handle: &'a ArchiveHandle) -> Self {
        Self { handle, position: 0, start: 0, bytes: Vec::new(), allowed: MOST_READ }
    }

    fn cached(&self) -> &[u8] {
        let from =
            self.position.checked_sub(self.start).and_then(|from| usize::try_from(from).ok());
        from.and_then(|from| self.bytes.get(from..)).unwrap_or_default()
    }
}

impl Read for ArchiveWindow<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.cached().is_empty() {
            self.bytes.resize(WINDOW, 0);
            let count = self.handle.read_at(&mut self.bytes, self.position)?;
            self.bytes.truncate(count);
            self.start = self.position;
        }
        let cached = self.cached();
        let count = cached.len().min(buffer.len());
        buffer[..count].copy_from_slice(&cached[..count]);
        let Some(allowed) = self.allowed.checked_sub(count as u64) else {
            return Err(io::Error::new(
                io::ErrorKind::InvalidData,
                "it is larger than any package needs",
            ));
        };
        self.allowed = allowed;
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for ArchiveWindow<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.handle.len.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}
