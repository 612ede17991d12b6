//! Content of one entry: located by its local header, inflated up to the size it declares.

use std::io;
use std::sync::Arc;

use flate2::{Crc, Decompress, FlushDecompress, Status};

use super::handle::ArchiveHandle;
use crate::CHUNK;

/// Compression method of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Method {
    Stored,
    Deflate,
}

/// Location and size of an entry that passed the gate.
#[derive(Clone, Debug)]
pub(crate) struct ArchiveEntry {
    pub(crate) method: Method,
    /// Offset of the packed bytes.
    pub(crate) data: u64,
    pub(crate) packed: u64,
    pub(crate) size: u64,
    pub(crate) crc: u32,
}

/// Buffers that one thread reuses for its entries.
pub(crate) struct Scratch {
    inflate: Decompress,
    packed: Vec<u8>,
    unpacked: Vec<u8>,
}

impl Scratch {
    pub(crate) fn new() -> Self {
        Self { inflate: Decompress::new(false), packed: Vec::new(), unpacked: Vec::new() }
    }
}

/// Returns the error for an entry whose bytes contradict its header.
fn corrupt(why: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, why.into())
}

impl ArchiveEntry {
    /// Reads the whole content.
    pub(crate) fn read(
        &self,
        handle: &ArchiveHandle,
        scratch: &mut Scratch,
    ) -> io::Result<Arc<[u8]>> {
        let size =
            usize::try_from(self.size).map_err(|_| corrupt("it is too large for this machine"))?;
        let mut content: Arc<[u8]> = std::iter::repeat_n(0, size).collect();
        let mut reader = self.reader(handle, scratch);
        if let Some(buffer) = Arc::get_mut(&mut content) {
            reader.fill(buffer)?;
        }
        reader.finish()?;
        Ok(content)
    }

    /// Passes the content to `take` in chunks, so that a large file needs little memory.
    pub(crate) fn stream(
        &self,
        handle: &ArchiveHandle,
        scratch: &mut Scratch,
        take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut buffer = std::mem::take(&mut scratch.unpacked);
        buffer.resize(CHUNK, 0);
        let mut reader = self.reader(handle, scratch);
        let mut left = self.size;
        let mut result = Ok(());
        while left > 0 && result.is_ok() {
            let piece = &mut buffer[..CHUNK.min(usize::try_from(left).unwrap_or(CHUNK))];
            left -= piece.len() as u64;
            result = reader.fill(piece).and_then(|()| take(piece));
        }
        result = result.and_then(|()| reader.finish());
        scratch.unpacked = buffer;
        result
    }

    fn reader<'a>(
        &'a self,
        handle: &'a ArchiveHandle,
        scratch: &'a mut Scratch,
    ) -> EntryReader<'a> {
        scratch.inflate.reset(false);
        scratch.packed.clear();
        EntryReader {
            entry: self,
            handle,
            inflate: &mut scratch.inflate,
            input: &mut scratch.packed,
            taken: 0,
            offset: self.data,
            left: self.packed,
            ended: false,
            crc: Crc::new(),
        }
    }
}

struct EntryReader<'a> {
    entry: &'a ArchiveEntry,
    handle: &'a ArchiveHandle,
    inflate: &'a mut Decompress,
    /// Packed bytes read so far, of which `taken` are consumed.
    input: &'a mut Vec<u8>,
    taken: usize,
    offset: u64,
    /// Packed bytes still in the file.
    left: u64,
    ended: bool,
    crc: Crc,
}

impl EntryReader<'_> {
    fn fill(&mut self, buffer: &mut [u8]) -> io::Result<()> {
        let mut done = 0;
        while done < buffer.len() {
            match self.read(&mut buffer[done..])? {
                0 => return Err(corrupt("it holds less than the size in the archive's directory")),
                count => done += count,
            }
        }
        self.crc.update(buffer);
        Ok(())
    }

    /// Checks, after the declared size was read, that nothing follows and the checksum matches.
    fn finish(&mut self) -> io::Result<()> {
        if self.read(&mut [0])? != 0 {
            return Err(corrupt("it holds more than the size in the archive's directory"));
        }
        if self.left > 0 || self.taken < self.input.len() {
            return Err(corrupt(
                "its packed content ends before the packed size in the archive's directory",
            ));
        }
        if self.crc.sum() != self.entry.crc {
            return Err(corrupt("its content does not match its checksum"));
        }
        Ok(())
    }

    fn refill(&mut self) -> io::Result<()> {
        let count = CHUNK.min(usize::try_from(self.left).unwrap_or(CHUNK));
        self.input.resize(count, 0);
        self.taken = 0;
        if self.handle.read_at(self.input, self.offset)? < count {
            return Err(corrupt("the archive ends in the middle of it"));
        }
        self.offset += count as u64;
        self.left -= count as u64;
        Ok(())
    }

    fn inflate(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.taken == self.input.len() && self.left > 0 {
                self.refill()?;
            }
            let (read, written) = (self.inflate.total_in(), self.inflate.total_out());
            let status = self
                .inflate
                .decompress(&self.input[self.taken..], buffer, FlushDecompress::None)
                .map_err(|_| corrupt("its packed content is damaged"))?;
            let read = (self.inflate.total_in() - read) as usize;
            let written = (self.inflate.total_out() - written) as usize;
            self.taken += read;
            self.ended = status == Status::StreamEnd;
            if self.ended || written > 0 {
                return Ok(written);
            }
            if read == 0 {
                return Err(corrupt("its packed content is cut off"));
            }
        }
    }

    /// Reads some bytes of the content; 0 at its end.
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self.entry.method {
            Method::Deflate if self.ended => Ok(0),
            Method::Deflate => self.inflate(buffer),
            Method::Stored => {
                if self.taken == self.input.len() {
                    self.refill()?;
                }
                let kept = &self.input[self.taken..];
                let count = kept.len().min(buffer.len());
                buffer[..count].copy_from_slice(&kept[..count]);
                self.taken += count;
                Ok(count)
            }
        }
    }
}
