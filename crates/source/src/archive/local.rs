//! Local headers of an archive: they must agree with the directory, not overlap, and cover every byte.
//!
//! Some programs trust the directory, some the local headers, some a field of either. They unpack the same content
//! only if all of these agree, so folders and ignored entries are checked too.

use std::io;
use std::ops::Range;

use crewagent_format::diagnostic::{Diagnostic, Location};

use super::directory::{Directory, DirectoryEntry, contradiction, untrusted};
use super::handle::{ArchiveHandle, ArchiveWindow};
use super::raw::{Central, Extra, long, same_shape, short, wide};
use crate::gate::EntryGate;

const HEADER: &[u8; 4] = b"PK\x03\x04";
const HEADER_LEN: usize = 30;
/// Flag bit 0: encrypted. Flag bit 3: sizes follow the data. Flag bit 11: the name is UTF-8.
const ENCRYPTED: u16 = 1;
const SIZES_FOLLOW: u16 = 1 << 3;
const UTF8_NAME: u16 = 1 << 11;
/// Placeholder for a size that a ZIP64 field holds.
const ELSEWHERE: u64 = u32::MAX as u64;
/// Optional signature of the sizes that follow the data.
const DESCRIPTOR: &[u8; 4] = b"PK\x07\x08";
const DESCRIPTOR_LEN: usize = 24;

/// Layout of the entries in the archive.
pub(super) struct Places {
    /// True if no entry overlaps another.
    pub(super) apart: bool,
    /// Finding about uncovered bytes, valid only if no entry has a finding.
    pub(super) uncovered: Option<Diagnostic>,
}

/// Checks the local header of every entry and records the offsets of the contents.
pub(super) fn check(
    handle: &ArchiveHandle,
    directory: &mut Directory,
    gate: &mut EntryGate<'_>,
) -> io::Result<Places> {
    let mut window = ArchiveWindow::new(handle);
    let mut buffer = Vec::new();
    let mut ranges: Vec<(Range<u64>, usize)> = Vec::with_capacity(directory.listed.len());
    for (index, listed) in directory.listed.iter().enumerate() {
        let central = Central::read(&mut window, listed.at)?;
        let record = listed.record.and_then(|at| directory.records.get_mut(at));
        match locate(handle, &central, listed, directory.start, &mut buffer)? {
            Ok(EntryLocation { data, end }) => {
                ranges.push((listed.header..end, index));
                if let Some(record) = record {
                    record.data = data;
                }
            }
            Err(why) => {
                if let Some(record) = record {
                    record.sound = false;
                }
                gate.findings.push(contradiction(&listed.shown, why));
            }
        }
    }
    ranges.sort_by_key(|(range, index)| (range.start, range.end, *index));
    let apart = check_apart(&ranges, directory, gate);
    Ok(Places { apart, uncovered: uncovered(&ranges, directory.start) })
}

fn check_apart(
    ranges: &[(Range<u64>, usize)],
    directory: &Directory,
    gate: &mut EntryGate<'_>,
) -> bool {
    let mut apart = true;
    // The entry that extends furthest so far.
    let mut furthest: Option<&(Range<u64>, usize)> = None;
    for current in ranges {
        if let Some((earlier, owner)) = furthest
            && current.0.start < earlier.end
        {
            apart = false;
            let (shown, other) =
                (&directory.listed[current.1].shown, &directory.listed[*owner].shown);
            let found = contradiction(shown, "it shares bytes of the archive with another entry");
            gate.findings.push(found.related(Location::file(&**other), "the other entry"));
        }
        if furthest.is_none_or(|(earlier, _)| current.0.end > earlier.end) {
            furthest = Some(current);
        }
    }
    apart
}

/// Finds bytes that belong to no entry: a program that ignores the directory may read entries in them.
fn uncovered(ranges: &[(Range<u64>, usize)], directory: u64) -> Option<Diagnostic> {
    let mut reached = 0;
    for (range, _) in ranges {
        if range.start != reached {
            break;
        }
        reached = range.end;
    }
    if reached == directory {
        None
    } else if reached == 0 {
        Some(untrusted("it does not begin with its first entry"))
    } else {
        Some(untrusted("it holds bytes that belong to no entry"))
    }
}

/// Location of an entry.
struct EntryLocation {
    /// Offset of the packed content.
    data: u64,
    /// Offset at which the next entry may begin.
    end: u64,
}

/// Locates the packed content, or returns why the header cannot be trusted.
fn locate(
    handle: &ArchiveHandle,
    central: &Central,
    listed: &DirectoryEntry,
    directory: u64,
    buffer: &mut Vec<u8>,
) -> io::Result<Result<EntryLocation, &'static str>> {
    if listed.header >= directory {
        return Ok(Err("its header should stand behind the archive's directory"));
    }
    // One read is enough for most: the extra fields are rarely longer than in the directory.
    let guess = HEADER_LEN + central.name().len() + central.extra().len() + 64;
    buffer.resize(guess, 0);
    let count = handle.read_at(buffer, listed.header)?;
    buffer.truncate(count);
    if count < HEADER_LEN {
        return Ok(Err("the archive ends where its content should begin"));
    }
    if !buffer.starts_with(HEADER) {
        return Ok(Err("there is no header where the archive's directory says"));
    }
    let name_end = HEADER_LEN + usize::from(short(buffer, 26));
    let len = name_end + usize::from(short(buffer, 28));
    if len > buffer.len() {
        buffer.resize(len, 0);
        if handle.read_at(buffer, listed.header)? < len {
            return Ok(Err("the archive ends where its content should begin"));
        }
    }
    let (name, extra) = (&buffer[HEADER_LEN..name_end], Extra(&buffer[name_end..len]));
    if let Some(why) = header_fault(buffer, central, listed) {
        return Ok(Err(why));
    }
    if let Some(why) = name_fault(name, extra, central) {
        return Ok(Err(why));
    }
    let data = listed.header.checked_add(len as u64);
    let content = data.and_then(|data| Some((data, data.checked_add(listed.packed)?)));
    let Some((data, mut end)) = content.filter(|(_, end)| *end <= directory) else {
        return Ok(Err(
            "its content reaches into the archive's directory, or past the end of the file",
        ));
    };
    if let Some(why) = size_fault(buffer, extra, central, listed) {
        return Ok(Err(why));
    }
    if central.flags() & SIZES_FOLLOW != 0 {
        match descriptor_len(handle, end, central.crc(), listed)? {
            Some(len) if end + len <= directory => end += len,
            _ => {
                return Ok(Err(
                    "the sizes behind its content are missing, or not those of the archive's directory",
                ));
            }
        }
    }
    Ok(Ok(EntryLocation { data, end }))
}

/// Compares the fixed part of a header with the directory, except for the sizes.
fn header_fault(header: &[u8], central: &Central, listed: &DirectoryEntry) -> Option<&'static str> {
    let (flags, method) = (short(header, 6), short(header, 8));
    let differ = flags ^ central.flags();
    let known = flags & SIZES_FOLLOW == 0;
    let crc = long(header, 14);
    let size = |at: usize, listed: u64| {
        let local = u64::from(long(header, at));
        local == listed || local == ELSEWHERE || !known && local == 0
    };
    if method != central.method() {
        Some("its header names another compression method than the archive's directory")
    } else if differ & ENCRYPTED != 0 {
        Some("its header and the archive's directory disagree on whether it is encrypted")
    } else if differ & SIZES_FOLLOW != 0 {
        Some("its header and the archive's directory disagree on where its sizes stand")
    } else if differ & UTF8_NAME != 0 && !central.name().is_ascii() {
        Some("its header and the archive's directory disagree on the encoding of its name")
    } else if crc != central.crc() && (known || crc != 0) {
        Some("its header has another checksum than the archive's directory")
    } else if !size(18, listed.packed) || !size(22, listed.size) {
        Some("its header has another size than the archive's directory")
    } else {
        None
    }
}

/// Compares the names of an entry with each other.
fn name_fault(name: &[u8], extra: Extra<'_>, central: &Central) -> Option<&'static str> {
    let listed = central.extra().unicode_names();
    let used = central.used_name();
    if name != central.name() {
        Some("its header has another name than the archive's directory")
    } else if !extra.is_whole() || !central.extra().is_whole() {
        Some("its extra fields are damaged")
    } else if listed.iter().any(|field| !same_shape(field, name)) {
        Some("a Unicode field of the archive's directory gives it another name")
    } else if extra.unicode_names().iter().any(|field| *field != used) {
        Some("a Unicode field of its header gives it another name")
    } else {
        None
    }
}

/// Compares the ZIP64 field of a header with the directory.
fn size_fault(
    header: &[u8],
    extra: Extra<'_>,
    central: &Central,
    listed: &DirectoryEntry,
) -> Option<&'static str> {
    let follow = central.flags() & SIZES_FOLLOW != 0;
    let mut numbers = extra.wide_numbers().into_iter();
    // The unpacked size comes first.
    for (at, listed) in [(22, listed.size), (18, listed.packed)] {
        if u64::from(long(header, at)) != ELSEWHERE {
            continue;
        }
        match numbers.next() {
            None => return Some("its header names a ZIP64 field for its size, and has none"),
            Some(local) if local == listed || follow && local == 0 => {}
            Some(_) => {
                return Some("its ZIP64 field has another size than the archive's directory");
            }
        }
    }
    // Some programs use numbers that the header does not refer to.
    let harmless = |number: u64| [0, listed.size, listed.packed].contains(&number);
    numbers
        .any(|number| !harmless(number))
        .then_some("its ZIP64 field has another size than the archive's directory")
}

/// Returns the length of the data descriptor, if it agrees with the directory.
fn descriptor_len(
    handle: &ArchiveHandle,
    at: u64,
    crc: u32,
    listed: &DirectoryEntry,
) -> io::Result<Option<u64>> {
    let mut bytes = [0; DESCRIPTOR_LEN];
    let count = handle.read_at(&mut bytes, at)?;
    let bytes = &bytes[..count];
    // Try the longer form first: after the shorter one comes a header, which cannot match as a size.
    for head in [DESCRIPTOR.len(), 0] {
        if head > 0 && !bytes.starts_with(DESCRIPTOR) {
            continue;
        }
        let rest = &bytes[head.min(bytes.len())..];
        let is_wide =
            rest.len() >= 20 && wide(rest, 4) == listed.packed && wide(rest, 12) == listed.size;
        let is_long = rest.len() >= 12
            && u64::from(long(rest, 4)) == listed.packed
            && u64::from(long(rest, 8)) == listed.size;
        if long(rest, 0) == crc && (is_wide || is_long) {
            let len = if is_wide { 20 } else { 12 };
            return Ok(Some((head + len) as u64));
        }
    }
    Ok(None)
}
