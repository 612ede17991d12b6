//! Writes ZIP archives byte by byte, invalid ones too.
//!
//! Every field of an entry can be set to a false value, so that a test describes the defect of an archive in one line.
//! Every tool reads an archive without such settings.

use std::io::Write;

use flate2::write::DeflateEncoder;
use flate2::{Compress, Compression, Crc, FlushCompress};

/// The mode of a plain file.
pub const FILE_MODE: u32 = 0o100_644;
/// The mode of a folder.
pub const FOLDER_MODE: u32 = 0o040_755;
/// The mode of a symbolic link.
pub const LINK_MODE: u32 = 0o120_777;
/// Set in the flags of an encrypted entry.
pub const ENCRYPTED: u16 = 1;
/// Set in the flags of an entry whose sizes follow its content.
pub const SIZES_FOLLOW: u16 = 1 << 3;

const UNIX: u16 = 3 << 8 | 20;
const UTF8_NAME: u16 = 1 << 11;
const DOS_DATE: u16 = 1 << 5 | 1;

/// One entry, correct until a setting makes it wrong.
#[derive(Clone, Debug)]
pub struct ZipEntry {
    name: Vec<u8>,
    local_name: Option<Vec<u8>>,
    packed: Vec<u8>,
    size: u64,
    crc: u32,
    method: u16,
    flags: u16,
    mode: u32,
    made_by: u16,
    listed_packed: Option<u64>,
    listed_size: Option<u64>,
    listed_offset: Option<u32>,
    extra: Vec<u8>,
    local: Lies,
    listed_extra: Vec<u8>,
    behind: Option<Vec<u8>>,
}

/// Values of the local header that differ from the directory.
#[derive(Clone, Debug, Default)]
struct Lies {
    flags: u16,
    crc: Option<u32>,
    /// Packed and unpacked.
    sizes: Option<(u32, u32)>,
    extra: Vec<u8>,
}

impl ZipEntry {
    /// Makes a file, deflated.
    pub fn file(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Self {
        let content = content.as_ref();
        Self { packed: deflated(content), method: 8, ..Self::stored(name, content) }
    }

    /// Makes a file that is not compressed.
    pub fn stored(name: impl AsRef<[u8]>, content: impl AsRef<[u8]>) -> Self {
        let (name, content) = (name.as_ref(), content.as_ref());
        Self {
            name: name.to_vec(),
            local_name: None,
            packed: content.to_vec(),
            size: content.len() as u64,
            crc: checksum(content),
            method: 0,
            flags: if name.is_ascii() { 0 } else { UTF8_NAME },
            mode: FILE_MODE,
            made_by: UNIX,
            listed_packed: None,
            listed_size: None,
            listed_offset: None,
            extra: Vec::new(),
            local: Lies::default(),
            listed_extra: Vec::new(),
            behind: None,
        }
    }

    /// Makes a folder; its name should end in `/`.
    pub fn folder(name: impl AsRef<[u8]>) -> Self {
        Self::stored(name, b"").mode(FOLDER_MODE)
    }

    /// Makes a symbolic link.
    pub fn link(name: impl AsRef<[u8]>, target: &str) -> Self {
        Self::stored(name, target).mode(LINK_MODE)
    }

    /// Makes an entry whose packed bytes are given, with the size they claim to have unpacked.
    pub fn packed(name: impl AsRef<[u8]>, packed: Vec<u8>, size: u64) -> Self {
        Self { packed, size, method: 8, ..Self::stored(name, b"") }
    }

    /// Sets the Unix mode.
    #[must_use]
    pub fn mode(mut self, mode: u32) -> Self {
        self.mode = mode;
        self
    }

    /// Sets the system that the entry says it was made on, 0 for DOS and 3 for Unix.
    #[must_use]
    pub fn system(mut self, system: u8) -> Self {
        self.made_by = u16::from(system) << 8 | 20;
        self
    }

    /// Sets flags.
    #[must_use]
    pub fn flags(mut self, flags: u16) -> Self {
        self.flags |= flags;
        self
    }

    /// Sets the number of the compression method.
    #[must_use]
    pub fn method(mut self, method: u16) -> Self {
        self.method = method;
        self
    }

    /// Sets a checksum that need not be right.
    #[must_use]
    pub fn crc(mut self, crc: u32) -> Self {
        self.crc = crc;
        self
    }

    /// Sets an unpacked size that need not be right.
    #[must_use]
    pub fn size(mut self, size: u64) -> Self {
        self.size = size;
        self
    }

    /// Gives the directory another unpacked size than the local header.
    #[must_use]
    pub fn listed_size(mut self, size: u64) -> Self {
        self.listed_size = Some(size);
        self
    }

    /// Sets a packed size that need not be right, in both headers.
    #[must_use]
    pub fn packed_size(mut self, size: u64) -> Self {
        self.listed_packed = Some(size);
        self
    }

    /// Gives the local header another name than the directory.
    #[must_use]
    pub fn local_name(mut self, name: impl AsRef<[u8]>) -> Self {
        self.local_name = Some(name.as_ref().to_vec());
        self
    }

    /// Points the directory to this place instead of the local header.
    #[must_use]
    pub fn offset(mut self, offset: u32) -> Self {
        self.listed_offset = Some(offset);
        self
    }

    /// Adds an extra field to both headers.
    #[must_use]
    pub fn extra(mut self, id: u16, data: &[u8]) -> Self {
        self.extra.extend(field(id, data));
        self
    }

    /// Adds an extra field to the local header alone.
    #[must_use]
    pub fn local_extra(mut self, id: u16, data: &[u8]) -> Self {
        self.local.extra.extend(field(id, data));
        self
    }

    /// Adds an extra field to the directory alone.
    #[must_use]
    pub fn listed_extra(mut self, id: u16, data: &[u8]) -> Self {
        self.listed_extra.extend(field(id, data));
        self
    }

    /// Sets flags in the local header alone.
    #[must_use]
    pub fn local_flags(mut self, flags: u16) -> Self {
        self.local.flags |= flags;
        self
    }

    /// Gives the local header another checksum than the directory.
    #[must_use]
    pub fn local_crc(mut self, crc: u32) -> Self {
        self.local.crc = Some(crc);
        self
    }

    /// Gives the local header other sizes than the directory, packed and unpacked.
    #[must_use]
    pub fn local_sizes(mut self, packed: u32, size: u32) -> Self {
        self.local.sizes = Some((packed, size));
        self
    }

    /// Puts these bytes behind the content, in place of the sizes that follow it.
    #[must_use]
    pub fn behind(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.behind = Some(bytes.as_ref().to_vec());
        self
    }

    /// Returns the local header alone.
    pub fn local_header(&self) -> Vec<u8> {
        let name = self.local_name.as_ref().unwrap_or(&self.name);
        let extra = [&*self.extra, &self.local.extra].concat();
        let mut header = b"PK\x03\x04".to_vec();
        self.common(&mut header, name, self.size, &extra);
        if self.local.flags != 0 {
            header[6..8].copy_from_slice(&(self.flags | self.local.flags).to_le_bytes());
        }
        if let Some(crc) = self.local.crc {
            header[14..18].copy_from_slice(&crc.to_le_bytes());
        }
        if let Some((packed, size)) = self.local.sizes {
            header[18..22].copy_from_slice(&packed.to_le_bytes());
            header[22..26].copy_from_slice(&size.to_le_bytes());
        }
        header.extend(name);
        header.extend(extra);
        header
    }

    /// Returns the record with sizes that follows the content, signed or not, with 8 bytes for a size or with 4.
    pub fn descriptor(&self, signed: bool, wide: bool) -> Vec<u8> {
        let mut bytes = if signed { b"PK\x07\x08".to_vec() } else { Vec::new() };
        bytes.extend(self.crc.to_le_bytes());
        for size in [self.packed.len() as u64, self.size] {
            bytes.extend(&size.to_le_bytes()[..if wide { 8 } else { 4 }]);
        }
        bytes
    }

    /// Returns the bytes after the content.
    fn tail(&self) -> Vec<u8> {
        let follows = self.flags & SIZES_FOLLOW != 0;
        let true_tail = || if follows { self.descriptor(true, false) } else { Vec::new() };
        self.behind.clone().unwrap_or_else(true_tail)
    }

    fn record(&self, offset: u32) -> Vec<u8> {
        let extra = [&*self.extra, &self.listed_extra].concat();
        let mut record = b"PK\x01\x02".to_vec();
        record.extend(self.made_by.to_le_bytes());
        self.common(&mut record, &self.name, self.listed_size.unwrap_or(self.size), &extra);
        record.extend([0; 6]);
        record.extend((self.mode << 16).to_le_bytes());
        record.extend(self.listed_offset.unwrap_or(offset).to_le_bytes());
        record.extend(&self.name);
        record.extend(extra);
        record
    }

    /// Writes the fields from "version needed" to "extra length".
    fn common(&self, out: &mut Vec<u8>, name: &[u8], size: u64, extra: &[u8]) {
        for short in [20, self.flags, self.method, 0, DOS_DATE] {
            out.extend(short.to_le_bytes());
        }
        let packed = self.listed_packed.unwrap_or(self.packed.len() as u64);
        for long in [u64::from(self.crc), packed, size] {
            out.extend((long as u32).to_le_bytes());
        }
        out.extend((name.len() as u16).to_le_bytes());
        out.extend((extra.len() as u16).to_le_bytes());
    }
}

fn field(id: u16, data: &[u8]) -> Vec<u8> {
    [&id.to_le_bytes()[..], &(data.len() as u16).to_le_bytes(), data].concat()
}

/// An archive of entries.
#[derive(Clone, Debug, Default)]
pub struct ZipArchive {
    entries: Vec<ZipEntry>,
    prefix: Vec<u8>,
    gap: Vec<u8>,
    comment: Vec<u8>,
    count: Option<u16>,
    zip64: bool,
}

impl ZipArchive {
    /// Makes an archive of these entries, in this order.
    pub fn of(entries: impl IntoIterator<Item = ZipEntry>) -> Self {
        Self { entries: entries.into_iter().collect(), ..Self::default() }
    }

    /// Makes an archive of a package's files.
    pub fn of_files<N: AsRef<str>, C: AsRef<[u8]>>(
        files: impl IntoIterator<Item = (N, C)>,
    ) -> Self {
        Self::of(files.into_iter().map(|(name, content)| ZipEntry::file(name.as_ref(), content)))
    }

    /// Adds an entry.
    #[must_use]
    pub fn with(mut self, entry: ZipEntry) -> Self {
        self.entries.push(entry);
        self
    }

    /// Sets the comment of the archive.
    #[must_use]
    pub fn comment(mut self, comment: &[u8]) -> Self {
        self.comment = comment.to_vec();
        self
    }

    /// Puts bytes in front of the first entry.
    #[must_use]
    pub fn prefix(mut self, bytes: &[u8]) -> Self {
        self.prefix = bytes.to_vec();
        self
    }

    /// Puts bytes between the directory and the end record.
    #[must_use]
    pub fn gap(mut self, bytes: &[u8]) -> Self {
        self.gap = bytes.to_vec();
        self
    }

    /// Makes the end record count this many entries.
    #[must_use]
    pub fn count(mut self, count: u16) -> Self {
        self.count = Some(count);
        self
    }

    /// Writes the end records of ZIP64, which hold more than 65,535 entries.
    #[must_use]
    pub fn zip64(mut self) -> Self {
        self.zip64 = true;
        self
    }

    /// Returns the bytes of the archive.
    pub fn bytes(&self) -> Vec<u8> {
        let mut out = self.prefix.clone();
        let mut directory = Vec::new();
        for entry in &self.entries {
            directory.extend(entry.record(out.len() as u32));
            out.extend(entry.local_header());
            out.extend(&entry.packed);
            out.extend(entry.tail());
        }
        self.end(&mut out, &directory, self.entries.len() as u64);
        out
    }

    /// Returns entries that share bytes: the packed content of each holds the header of the next as a stored block, and
    /// continues with the next one's content. A small archive unpacks to the size of the last entry, once for each
    /// entry.
    pub fn overlapping(names: &[&str], kernel: &[u8]) -> Vec<u8> {
        let mut size = kernel.len() as u64;
        let mut tail = deflated(kernel);
        let mut entries: Vec<(Vec<u8>, usize)> = Vec::new();
        let mut next: Option<Vec<u8>> = None;
        for name in names.iter().rev() {
            if let Some(header) = next.take() {
                let len = header.len() as u16;
                size += u64::from(len);
                let quote = [&[0][..], &len.to_le_bytes(), &(!len).to_le_bytes(), &header].concat();
                tail = [quote, tail].concat();
            }
            // The checksum is wrong: no reader may get far enough to check it.
            let entry = ZipEntry::packed(name, Vec::new(), size).packed_size(tail.len() as u64);
            let header = entry.local_header();
            entries.push((entry.record(0), tail.len() + header.len()));
            next = Some(header);
        }
        let mut out = [next.unwrap_or_default(), tail].concat();
        let end = out.len();
        let mut directory = Vec::new();
        for (mut record, from_end) in entries.into_iter().rev() {
            record[42..46].copy_from_slice(&((end - from_end) as u32).to_le_bytes());
            directory.extend(record);
        }
        Self::default().end(&mut out, &directory, names.len() as u64);
        out
    }

    fn end(&self, out: &mut Vec<u8>, directory: &[u8], entries: u64) {
        let (offset, size) = (out.len() as u64, directory.len() as u64);
        out.extend(directory);
        out.extend(&self.gap);
        if self.zip64 {
            let at = out.len() as u64;
            out.extend(b"PK\x06\x06");
            out.extend(44_u64.to_le_bytes());
            out.extend([45, 3, 45, 0]);
            out.extend([0; 8]);
            for long in [entries, entries, size, offset] {
                out.extend(long.to_le_bytes());
            }
            out.extend(b"PK\x06\x07\0\0\0\0");
            out.extend(at.to_le_bytes());
            out.extend(1_u32.to_le_bytes());
        }
        let count = if self.zip64 { u16::MAX } else { self.count.unwrap_or(entries as u16) };
        out.extend(b"PK\x05\x06\0\0\0\0");
        out.extend(count.to_le_bytes());
        out.extend(count.to_le_bytes());
        out.extend((size as u32).to_le_bytes());
        out.extend((offset as u32).to_le_bytes());
        out.extend((self.comment.len() as u16).to_le_bytes());
        out.extend(&self.comment);
    }
}

/// Returns the content as a deflate stream.
pub fn deflated(content: &[u8]) -> Vec<u8> {
    let mut encoder = DeflateEncoder::new(Vec::new(), Compression::new(9));
    // Writing into memory does not fail.
    encoder.write_all(content).and_then(|()| encoder.finish()).unwrap_or_default()
}

/// Returns a deflate stream of this many MiB of zeros, made without writing them all.
pub fn deflated_zeros(mib: usize) -> Vec<u8> {
    let zeros = vec![0; 1 << 20];
    let mut block = Vec::with_capacity(zeros.len());
    let mut compress = Compress::new(Compression::new(9), false);
    // A full flush ends at a byte and refers to nothing before it, so the block can be repeated.
    if compress.compress_vec(&zeros, &mut block, FlushCompress::Full).is_err() {
        return Vec::new();
    }
    let mut stream = block.repeat(mib);
    stream.extend([3, 0]);
    stream
}

/// Returns the CRC-32 of some bytes.
pub fn checksum(content: &[u8]) -> u32 {
    let mut crc = Crc::new();
    crc.update(content);
    crc.sum()
}
