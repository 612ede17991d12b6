//! ZIP writer whose output depends only on names and contents.

use std::io::{self, Write};

use flate2::{Compress, Compression, Crc, FlushCompress, Status};

use crate::{PackageLimits, is_suspicious};

/// 1980-01-01 00:00, the epoch of the format.
const DOS_TIME: u16 = 0;
const DOS_DATE: u16 = 1 << 5 | 1;
/// Made on Unix by version 2.0, and needs 2.0 to be read.
const MADE_BY: u16 = 3 << 8 | 20;
const NEEDED: u16 = 20;
const UTF8_NAME: u16 = 1 << 11;
const MODE: u32 = 0o100_644 << 16;
const LEVEL: u32 = 9;

/// Writer of an archive, which adds files in the order of the calls.
pub struct ArchiveWriter<W> {
    out: W,
    written: u64,
    directory: Vec<u8>,
    entries: u64,
    deflate: Compress,
    /// True if a number did not fit its field.
    overflowed: bool,
}

impl<W: Write> ArchiveWriter<W> {
    /// Starts an empty archive.
    pub fn new(out: W) -> Self {
        let deflate = Compress::new(Compression::new(LEVEL), false);
        Self { out, written: 0, directory: Vec::new(), entries: 0, deflate, overflowed: false }
    }

    /// Adds a file, compressed where that makes it smaller.
    pub fn add(&mut self, name: &str, content: &[u8]) -> io::Result<()> {
        let packed = self.deflated(content)?;
        let (method, data) = packed.as_deref().map_or((0_u16, content), |packed| (8, packed));
        let mut crc = Crc::new();
        crc.update(content);
        let offset = self.field(self.written);
        // Fields that the local header and the directory share.
        let mut common = Vec::with_capacity(26);
        let flags = if name.is_ascii() { 0 } else { UTF8_NAME };
        for short in [NEEDED, flags, method, DOS_TIME, DOS_DATE] {
            common.extend(short.to_le_bytes());
        }
        for long in [crc.sum(), self.field(data.len() as u64), self.field(content.len() as u64)] {
            common.extend(long.to_le_bytes());
        }
        let name_len = u16::try_from(name.len()).map_err(io::Error::other)?;
        common.extend(name_len.to_le_bytes());
        common.extend([0; 2]);

        let local = [b"PK\x03\x04".as_slice(), &common, name.as_bytes()].concat();
        self.put(&local)?;
        self.put(data)?;

        self.directory.extend(b"PK\x01\x02");
        self.directory.extend(MADE_BY.to_le_bytes());
        self.directory.extend(&common);
        // No comment, disk 0, no internal attributes.
        self.directory.extend([0; 6]);
        self.directory.extend(MODE.to_le_bytes());
        self.directory.extend(offset.to_le_bytes());
        self.directory.extend(name.as_bytes());
        self.entries += 1;
        Ok(())
    }

    /// Writes the directory and returns the number of bytes written; `None` if the archive became too large.
    pub fn finish(mut self) -> io::Result<Option<(W, u64)>> {
        let offset = self.field(self.written);
        let size = self.field(self.directory.len() as u64);
        let Some(entries) = u16::try_from(self.entries).ok().filter(|entries| *entries < u16::MAX)
        else {
            return Ok(None);
        };
        let directory = std::mem::take(&mut self.directory);
        self.put(&directory)?;
        let mut end = b"PK\x05\x06\0\0\0\0".to_vec();
        end.extend(entries.to_le_bytes());
        end.extend(entries.to_le_bytes());
        end.extend(size.to_le_bytes());
        end.extend(offset.to_le_bytes());
        end.extend([0; 2]);
        self.put(&end)?;
        Ok((!self.overflowed).then_some((self.out, self.written)))
    }

    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.written += bytes.len() as u64;
        self.out.write_all(bytes)
    }

    fn field(&mut self, value: u64) -> u32 {
        // The largest value means that a ZIP64 field holds the number.
        u32::try_from(value).ok().filter(|value| *value < u32::MAX).unwrap_or_else(|| {
            self.overflowed = true;
            0
        })
    }

    /// Deflates the content; `None` if that saves nothing, or saves so much that the gate would take it for a bomb.
    fn deflated(&mut self, content: &[u8]) -> io::Result<Option<Vec<u8>>> {
        self.deflate.reset();
        let mut packed = Vec::with_capacity(content.len());
        let status = self
            .deflate
            .compress_vec(content, &mut packed, FlushCompress::Finish)
            .map_err(io::Error::other)?;
        let ratio_is_fine =
            !is_suspicious(content.len() as u64, packed.len() as u64, &PackageLimits::default());
        Ok(Some(packed).filter(|packed| {
            status == Status::StreamEnd && packed.len() < content.len() && ratio_is_fine
        }))
    }
}
