//! The directory of an archive: every record of it, duplicates too, checked one by one.

use std::io;

use crewagent_core::diagnostic::{Code, Diagnostic, Place};
use crewagent_core::path::{PackagePath, PathError};
use zip::CompressionMethod;
use zip::read::{ArchiveOffset, Config, ZipFileEntry};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;

use super::entry::Method;
use super::handle::{Handle, Window};
use super::magic::not_an_archive;
use crate::source::gate::{Gate, Kind, bad_name, printable, special};
use crate::source::limits::{Limits, bytes, is_suspicious};
use crate::source::litter::is_litter;

/// Names beyond this are not even looked at; a path of a package is much shorter.
const MAX_NAME: usize = 4096;

const RECORD: &[u8; 4] = b"PK\x01\x02";
const RECORD_LEN: u64 = 46;

/// A file in the archive, as the directory describes it.
pub(super) struct Record {
    pub(super) path: PackagePath,
    /// Where its record stands in the directory.
    pub(super) at: u64,
    /// Where its local header stands.
    pub(super) header: u64,
    pub(super) method: Option<Method>,
    pub(super) raw_method: u16,
    pub(super) flags: u16,
    pub(super) packed: u64,
    pub(super) size: u64,
    pub(super) crc: u32,
    /// Nothing was found against this entry.
    pub(super) sound: bool,
}

/// What the directory lists.
pub(super) struct Directory {
    pub(super) records: Vec<Record>,
    /// Where it begins; no entry may reach into it.
    pub(super) start: u64,
}

/// Reads the directory. `None` when it cannot be read, or must not be read further.
pub(super) fn read(
    handle: &Handle,
    gate: &mut Gate<'_>,
    limits: &Limits,
) -> io::Result<Option<Directory>> {
    if !gate.container(handle.len()) {
        return Ok(None);
    }
    // A fixed offset: looking for the directory in a hostile file can take for ever.
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let mut zip = match ZipIterable::try_new(Window::new(handle), config) {
        Ok(zip) => zip,
        Err(error) => {
            let mut head = vec![0; 512];
            let count = handle.read_at(&mut head, 0)?;
            let reason = reason(error)?;
            gate.findings.push(not_an_archive(&head[..count], handle.len(), &reason));
            return Ok(None);
        }
    };
    if zip.len() as u64 > limits.max_entries {
        gate.too_many();
        return Ok(None);
    }
    let mut directory = Directory { records: Vec::new(), start: handle.len() };
    let mut last = None;
    let entries = zip.files().map_err(io::Error::other)?;
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let message =
                    format!("the directory of the archive is damaged: {}", reason(error)?);
                let help = "fetch or copy the file again, or pack it again";
                gate.findings
                    .push(Diagnostic::new(Code::NotAnArchive, Place::file(""), message).help(help));
                return Ok(None);
            }
        };
        let at = entry.central_header_start();
        if last.is_none() {
            directory.start = at;
        }
        last = Some(at);
        directory.records.extend(examine(&entry, gate, limits));
        if gate.overflowed() {
            return Ok(None);
        }
    }
    if let Some(last) = last {
        check_end(handle, last, gate)?;
    }
    gate.total();
    directory.records.sort_by(|one, other| one.path.cmp(&other.path));
    Ok(Some(directory))
}

/// What the reader has against the archive; a disk that fails is no fault of the archive.
#[allow(clippy::wildcard_enum_match_arm, reason = "the reader's other errors are only told")]
fn reason(error: ZipError) -> io::Result<String> {
    if let ZipError::InvalidArchive(why) = &error {
        return Ok(plain(why));
    }
    match error {
        ZipError::Io(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
            Ok("it is cut off".to_owned())
        }
        ZipError::Io(error) if error.kind() == io::ErrorKind::InvalidData => Ok(error.to_string()),
        ZipError::Io(error) => Err(error),
        #[allow(
            clippy::wildcard_enum_match_arm,
            reason = "the reader's other errors are only told"
        )]
        other => Ok(plain(&other.to_string())),
    }
}

/// The reader's words, as part of a sentence.
fn plain(words: &str) -> String {
    let known = [
        ("Could not find EOCD", "there is no end record"),
        ("No CDFH found", "the end record points to a place where there is no directory"),
        ("Invalid CDFH offset in EOCD", "the end record points behind itself"),
        ("Could not find EOCD64", "the ZIP64 end record is missing"),
    ];
    known
        .iter()
        .find(|(theirs, _)| *theirs == words)
        .map_or_else(|| words.to_owned(), |(_, ours)| (*ours).to_owned())
}

fn examine(entry: &ZipFileEntry<'_>, gate: &mut Gate<'_>, limits: &Limits) -> Option<Record> {
    let shown = printable(entry.name_raw());
    if entry.name_raw().len() > MAX_NAME {
        gate.findings.push(bad_name(&shown, &PathError::Name("it is far too long".to_owned())));
        return None;
    }
    let Ok(name) = std::str::from_utf8(entry.name_raw()) else {
        gate.findings.push(bad_name(&shown, &PathError::Name("it is not UTF-8".to_owned())));
        return None;
    };
    let (name, kind) = match name.strip_suffix('/') {
        Some(folder) if !folder.is_empty() => (folder, Kind::Folder),
        _ => (name, Kind::File),
    };
    if is_litter(name) {
        // It is never unpacked, but an archive that tries to climb out is refused all the same.
        if let Err(error @ (PathError::Absolute | PathError::Parent)) = PackagePath::new(name) {
            gate.findings.push(bad_name(&shown, &error));
        }
        return None;
    }
    let path = gate.name(&shown, name)?;
    let before = gate.count();
    let placed = gate.place(&path, kind);
    if let Some(what) = special_kind(entry.external_attributes()) {
        gate.findings.push(special(&shown, what));
    }
    if kind == Kind::Folder {
        if entry.size() > 0 {
            gate.findings
                .push(contradiction(&shown, "it is a folder by its name, but has content"));
        }
        return None;
    }
    if entry.external_attributes() >> 16 & 0o170_000 == 0o040_000 {
        gate.findings
            .push(contradiction(&shown, "it is a file by its name, but a folder by its mode"));
    }
    check_packing(entry, &shown, gate, limits);
    let method = method(entry.compression());
    Some(Record {
        at: entry.central_header_start(),
        header: entry.header_start(),
        method,
        raw_method: raw_method(entry.compression()),
        flags: entry.flags().as_u16(),
        packed: entry.compressed_size(),
        size: entry.size(),
        crc: entry.crc32(),
        sound: placed && gate.count() == before,
        path,
    })
}

fn check_packing(entry: &ZipFileEntry<'_>, shown: &str, gate: &mut Gate<'_>, limits: &Limits) {
    let raw = raw_method(entry.compression());
    if entry.encrypted() || raw == 99 {
        let found =
            Diagnostic::new(Code::EncryptedEntry, Place::file(shown), "the entry is encrypted");
        gate.findings.push(found.help("pack the archive again without a password"));
    } else if method(entry.compression()).is_none() {
        let message =
            format!("the entry is packed with {}, which cannot be read here", method_name(raw));
        let found = Diagnostic::new(Code::UnknownCompression, Place::file(shown), message);
        gate.findings.push(
            found.help("pack the archive again with the method `deflate`, or without compression"),
        );
    }
    let (size, packed) = (entry.size(), entry.compressed_size());
    if method(entry.compression()) == Some(Method::Stored) && !entry.encrypted() && size != packed {
        let why =
            format!("it is not compressed, but has {size} bytes unpacked and {packed} packed");
        gate.findings.push(contradiction(shown, &why));
    }
    gate.size(shown, size);
    if is_suspicious(size, packed, limits) {
        let message = format!(
            "the entry unpacks from {} to {}, more than {} times its size",
            bytes(packed),
            bytes(size),
            limits.max_ratio
        );
        let found = Diagnostic::new(Code::RatioTooHigh, Place::file(shown), message);
        gate.findings.push(
            found.help("if this is meant, raise `max-ratio` under `[import]` in `config.toml`"),
        );
    }
}

/// The end record says how many records there are; another one behind the last would be hidden by it.
fn check_end(handle: &Handle, last: u64, gate: &mut Gate<'_>) -> io::Result<()> {
    let mut record = [0; RECORD_LEN as usize];
    if handle.read_at(&mut record, last)? < record.len() {
        return Ok(());
    }
    let length = |at: usize| u64::from(u16::from_le_bytes([record[at], record[at + 1]]));
    let end = last + RECORD_LEN + length(28) + length(30) + length(32);
    let mut magic = [0; 4];
    if handle.read_at(&mut magic, end)? == 4 && &magic == RECORD {
        let message = "the archive's directory holds more entries than its end record counts";
        let found = Diagnostic::new(Code::CorruptEntry, Place::file(""), message);
        gate.findings.push(found.help("pack the archive again"));
    }
    Ok(())
}

/// A finding about an entry that contradicts itself or the directory.
pub(super) fn contradiction(shown: &str, why: &str) -> Diagnostic {
    Diagnostic::new(
        Code::CorruptEntry,
        Place::file(shown),
        format!("the entry cannot be trusted: {why}"),
    )
    .help("fetch or copy the archive again, or pack it again")
}

/// What the mode says, when it says something else than file or folder. The system that made the archive does not
/// matter: some tools obey the mode whatever that is.
fn special_kind(attributes: u32) -> Option<&'static str> {
    match attributes >> 16 & 0o170_000 {
        0 | 0o100_000 | 0o040_000 => None,
        0o120_000 => Some("a symbolic link"),
        0o010_000 => Some("a pipe"),
        0o020_000 | 0o060_000 => Some("a device"),
        0o140_000 => Some("a socket"),
        _ => Some("something unknown"),
    }
}

fn method(method: CompressionMethod) -> Option<Method> {
    match raw_method(method) {
        0 => Some(Method::Stored),
        8 => Some(Method::Deflate),
        _ => None,
    }
}

/// The number of the method. The reader is built without any, so that all but `stored` are unknown to it.
#[allow(deprecated, clippy::wildcard_enum_match_arm, reason = "no other way to the number")]
fn raw_method(method: CompressionMethod) -> u16 {
    match method {
        CompressionMethod::Stored => 0,
        CompressionMethod::Unsupported(number) => number,
        _ => u16::MAX,
    }
}

fn method_name(raw: u16) -> String {
    let known = [
        (1, "shrink"),
        (6, "implode"),
        (9, "deflate64"),
        (12, "bzip2"),
        (14, "lzma"),
        (20, "zstd"),
        (93, "zstd"),
        (95, "xz"),
        (98, "ppmd"),
    ];
    known
        .iter()
        .find(|(number, _)| *number == raw)
        .map_or_else(|| format!("method {raw}"), |(_, name)| format!("the method `{name}`"))
}
