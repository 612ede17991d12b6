//! Central directory of an archive: checks every record, duplicates included.

use std::io;

use crewagent_format::diagnostic::{Code, Diagnostic, Location};
use crewagent_format::path::{PackagePath, PathError};
use zip::CompressionMethod;
use zip::read::{ArchiveOffset, Config, ZipFileEntry};
use zip::result::ZipError;
use zip::unstable::read::ZipIterable;

use super::end::{self, EndFault, EndRecord};
use super::entry::Method;
use super::handle::{ArchiveHandle, ArchiveWindow};
use super::magic::not_an_archive;
use super::raw::{RECORD, RECORD_LEN, short};
use crate::gate::{DeclaredKind, EntryGate, bad_name, printable, special};
use crate::limits::{PackageLimits, bytes, is_suspicious};
use crate::litter::is_litter;

/// Longest name that is parsed, in bytes; a package path is much shorter.
const MAX_NAME: usize = 4096;

/// File in the archive, as the directory describes it.
pub(super) struct FileRecord {
    pub(super) path: PackagePath,
    pub(super) method: Option<Method>,
    pub(super) packed: u64,
    pub(super) size: u64,
    pub(super) crc: u32,
    /// Offset of its packed content; set when its local header is checked.
    pub(super) data: u64,
    /// True if there is no finding about this entry.
    pub(super) sound: bool,
}

/// Entry with a usable name: a file, a folder, or an ignored one.
pub(super) struct DirectoryEntry {
    /// Name in findings.
    pub(super) shown: Box<str>,
    /// Offset of its record in the directory.
    pub(super) at: u64,
    /// Offset of its local header.
    pub(super) header: u64,
    pub(super) packed: u64,
    pub(super) size: u64,
    /// Index in the list of files, if it is a file.
    pub(super) record: Option<usize>,
}

/// Entries in the order of the directory.
pub(super) struct Directory {
    pub(super) records: Vec<FileRecord>,
    pub(super) listed: Vec<DirectoryEntry>,
    /// Offset of the directory; no entry may extend into it.
    pub(super) start: u64,
}

/// Reads the directory. Returns `None` if it is unreadable, or must not be read further.
pub(super) fn read(
    handle: &ArchiveHandle,
    gate: &mut EntryGate<'_>,
    limits: &PackageLimits,
) -> io::Result<Option<Directory>> {
    if !gate.container(handle.len()) {
        return Ok(None);
    }
    // A fixed offset, because searching for the directory in a hostile file can take forever.
    let config = Config { archive_offset: ArchiveOffset::Known(0) };
    let mut zip = match ZipIterable::try_new(ArchiveWindow::new(handle), config) {
        Ok(zip) => zip,
        // Other programs tolerate bytes in front of an archive and would read it.
        Err(_) if end::find(handle)? == Err(EndFault::Apart) => {
            return Ok(refuse(gate, EndFault::Apart.why()));
        }
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
    let end = match end::find(handle)? {
        Ok(end) if end.entries == zip.len() as u64 => end,
        Ok(_) => return Ok(refuse(gate, "programs can find different directories in it")),
        Err(fault) => return Ok(refuse(gate, fault.why())),
    };
    let mut directory = Directory { records: Vec::new(), listed: Vec::new(), start: end.start };
    let mut last = None;
    let entries = zip.files().map_err(io::Error::other)?;
    for entry in entries {
        let entry = match entry {
            Ok(entry) => entry,
            Err(error) => {
                let message =
                    format!("the directory of the archive is damaged: {}", reason(error)?);
                let help = "fetch or copy the file again, or pack it again";
                gate.findings.push(
                    Diagnostic::new(Code::NotAnArchive, Location::file(""), message).help(help),
                );
                return Ok(None);
            }
        };
        let at = entry.central_header_start();
        if last.is_none() && at != end.start {
            return Ok(refuse(gate, "programs can find different directories in it"));
        }
        last = Some(at);
        examine(&entry, &mut directory, gate, limits);
        if gate.overflowed() {
            return Ok(None);
        }
    }
    if let Some(why) = end_fault(handle, last, &end)? {
        return Ok(refuse(gate, why));
    }
    gate.total();
    Ok(Some(directory))
}

/// Adds the finding that the archive as a whole cannot be trusted, so its entries do not matter.
fn refuse(gate: &mut EntryGate<'_>, why: &str) -> Option<Directory> {
    gate.findings.push(untrusted(why));
    None
}

/// Returns the ZIP reader's complaint about the archive; an I/O error is not the archive's fault and is returned.
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
        other => Ok(plain(&other.to_string())),
    }
}

/// Rewords the ZIP reader's message as part of a sentence.
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

fn examine(
    entry: &ZipFileEntry<'_>,
    directory: &mut Directory,
    gate: &mut EntryGate<'_>,
    limits: &PackageLimits,
) {
    let shown = printable(entry.name_raw());
    if entry.name_raw().len() > MAX_NAME {
        gate.findings.push(bad_name(&shown, &PathError::Name("it is far too long".to_owned())));
        return;
    }
    let Ok(name) = std::str::from_utf8(entry.name_raw()) else {
        gate.findings.push(bad_name(&shown, &PathError::Name("it is not UTF-8".to_owned())));
        return;
    };
    let (name, kind) = match name.strip_suffix('/') {
        Some(folder) if !folder.is_empty() => (folder, DeclaredKind::Folder),
        _ => (name, DeclaredKind::File),
    };
    let mut listed = DirectoryEntry {
        shown: shown.as_str().into(),
        at: entry.central_header_start(),
        header: entry.header_start(),
        packed: entry.compressed_size(),
        size: entry.size(),
        record: None,
    };
    if is_litter(name) {
        // It is never unpacked, but a path that leads out of the package is refused all the same.
        if let Err(error @ (PathError::Absolute | PathError::Parent)) = PackagePath::new(name) {
            gate.findings.push(bad_name(&shown, &error));
        } else {
            directory.listed.push(listed);
        }
        return;
    }
    let Some(path) = gate.name(&shown, name) else { return };
    let before = gate.count();
    let placed = gate.place(&path, kind);
    if let Some(what) = special_kind(entry.external_attributes()) {
        gate.findings.push(special(&shown, what));
    }
    if kind == DeclaredKind::Folder {
        if entry.size() > 0 {
            gate.findings
                .push(contradiction(&shown, "it is a folder by its name, but has content"));
        }
        directory.listed.push(listed);
        return;
    }
    if entry.external_attributes() >> 16 & 0o170_000 == 0o040_000 {
        gate.findings
            .push(contradiction(&shown, "it is a file by its name, but a folder by its mode"));
    }
    check_packing(entry, &shown, gate, limits);
    listed.record = Some(directory.records.len());
    directory.listed.push(listed);
    directory.records.push(FileRecord {
        method: method(entry.compression()),
        packed: entry.compressed_size(),
        size: entry.size(),
        crc: entry.crc32(),
        data: 0,
        sound: placed && gate.count() == before,
        path,
    });
}

fn check_packing(
    entry: &ZipFileEntry<'_>,
    shown: &str,
    gate: &mut EntryGate<'_>,
    limits: &PackageLimits,
) {
    let raw = raw_method(entry.compression());
    if entry.encrypted() || raw == 99 {
        let found =
            Diagnostic::new(Code::EncryptedEntry, Location::file(shown), "the entry is encrypted");
        gate.findings.push(found.help("pack the archive again without a password"));
    } else if method(entry.compression()).is_none() {
        let message =
            format!("the entry is packed with {}, which cannot be read here", method_name(raw));
        let found = Diagnostic::new(Code::UnknownCompression, Location::file(shown), message);
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
        let found = Diagnostic::new(Code::RatioTooHigh, Location::file(shown), message);
        gate.findings.push(
            found.help("if this is meant, raise `max-ratio` under `[import]` in `config.toml`"),
        );
    }
}

/// Checks that the last record ends where the end record begins: bytes between them could be hidden entries.
fn end_fault(
    handle: &ArchiveHandle,
    last: Option<u64>,
    end: &EndRecord,
) -> io::Result<Option<&'static str>> {
    let mut reached = end.start;
    if let Some(last) = last {
        let mut record = [0; RECORD_LEN];
        handle.read_at(&mut record, last)?;
        let length = |at: usize| u64::from(short(&record, at));
        reached = last + RECORD_LEN as u64 + length(28) + length(30) + length(32);
    }
    let mut magic = [0; 4];
    if reached == end.end {
        Ok(None)
    } else if handle.read_at(&mut magic, reached)? == 4 && &magic == RECORD {
        Ok(Some("its directory holds more entries than its end record counts"))
    } else {
        Ok(Some("its directory does not have the size that its end record says"))
    }
}

/// Builds the finding about the archive itself.
pub(super) fn untrusted(why: &str) -> Diagnostic {
    let message = format!("the archive cannot be trusted: {why}");
    Diagnostic::new(Code::CorruptEntry, Location::file(""), message).help(
        "fetch or copy the archive again, or pack it again, as one archive in a file of its own",
    )
}

/// Builds the finding about an entry that contradicts itself or the directory.
pub(super) fn contradiction(shown: &str, why: &str) -> Diagnostic {
    Diagnostic::new(
        Code::CorruptEntry,
        Location::file(shown),
        format!("the entry cannot be trusted: {why}"),
    )
    .help("fetch or copy the archive again, or pack it again")
}

/// Returns the file type in the mode unless it is a file or a folder. The system that made the archive is ignored,
/// because some tools obey the mode on every system.
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

/// Returns the method's number. The ZIP reader is built without any method, so it knows only `stored`.
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
