//! The local headers of an archive: they must say what the directory says, and share no byte.

use std::io;
use std::ops::Range;

use crewagent_core::diagnostic::Place;

use super::directory::{Directory, Record, contradiction};
use super::handle::Handle;
use crate::source::gate::Gate;

const HEADER: &[u8; 4] = b"PK\x03\x04";
const HEADER_LEN: usize = 30;
/// Flag bit 0: encrypted. Flag bit 3: sizes follow the data instead of standing in the header.
const ENCRYPTED: u16 = 1;
const SIZES_FOLLOW: u16 = 1 << 3;
/// In place of a size that stands in a ZIP64 field.
const ELSEWHERE: u64 = u32::MAX as u64;

/// Checks the local header of every record. Gives the place of each content, and whether nothing overlaps.
pub(super) fn check(
    handle: &Handle,
    directory: &mut Directory,
    gate: &mut Gate<'_>,
) -> io::Result<(Vec<u64>, bool)> {
    let mut places = Vec::with_capacity(directory.records.len());
    let mut ranges: Vec<(Range<u64>, usize)> = Vec::with_capacity(directory.records.len());
    let mut buffer = Vec::new();
    for (index, record) in directory.records.iter_mut().enumerate() {
        match data_range(handle, record, directory.start, &mut buffer)? {
            Ok(data) => {
                places.push(data.start);
                ranges.push((record.header..data.end, index));
            }
            Err(why) => {
                places.push(0);
                record.sound = false;
                gate.findings.push(contradiction(record.path.as_str(), &why));
            }
        }
    }
    ranges.sort_by_key(|(range, index)| (range.start, range.end, *index));
    let mut apart = true;
    // The entry that reaches furthest so far.
    let mut furthest: Option<&(Range<u64>, usize)> = None;
    for current in &ranges {
        if let Some((earlier, owner)) = furthest
            && current.0.start < earlier.end
        {
            apart = false;
            let (shown, other) =
                (&directory.records[current.1].path, &directory.records[*owner].path);
            let found =
                contradiction(shown.as_str(), "it shares bytes of the archive with another entry");
            gate.findings.push(found.related(Place::file(other.as_str()), "the other entry"));
        }
        if furthest.is_none_or(|(earlier, _)| current.0.end > earlier.end) {
            furthest = Some(current);
        }
    }
    Ok((places, apart))
}

/// Where the packed content stands, or why the header cannot be trusted.
fn data_range(
    handle: &Handle,
    record: &Record,
    directory: u64,
    buffer: &mut Vec<u8>,
) -> io::Result<Result<Range<u64>, String>> {
    let name = record.path.as_str().as_bytes();
    if record.header >= directory {
        return Ok(Err("its header should stand behind the archive's directory".to_owned()));
    }
    buffer.resize(HEADER_LEN + name.len(), 0);
    let count = handle.read_at(buffer, record.header)?;
    if count < HEADER_LEN {
        return Ok(Err("the archive ends where its content should begin".to_owned()));
    }
    let short = |at: usize| u16::from_le_bytes([buffer[at], buffer[at + 1]]);
    let long = |at: usize| {
        u64::from(u32::from_le_bytes([buffer[at], buffer[at + 1], buffer[at + 2], buffer[at + 3]]))
    };
    if &buffer[..4] != HEADER {
        return Ok(Err("there is no header where the archive's directory says".to_owned()));
    }
    let (flags, method) = (short(6), short(8));
    let (name_len, extra_len) = (u64::from(short(26)), u64::from(short(28)));
    let known = (flags & SIZES_FOLLOW) == 0;
    let differs = |local: u64, listed: u64| known && local != ELSEWHERE && local != listed;
    let why = if method != record.raw_method {
        "its header names another compression method than the archive's directory"
    } else if (flags ^ record.flags) & ENCRYPTED != 0 {
        "its header and the archive's directory disagree on whether it is encrypted"
    } else if known && long(14) != u64::from(record.crc) {
        "its header has another checksum than the archive's directory"
    } else if differs(long(18), record.packed) || differs(long(22), record.size) {
        "its header has another size than the archive's directory"
    } else {
        ""
    };
    if !why.is_empty() {
        return Ok(Err(why.to_owned()));
    }
    let same_name = name_len == name.len() as u64 && buffer.get(HEADER_LEN..count) == Some(name);
    if !same_name && !same_raw_name(handle, record, name_len)? {
        return Ok(Err("its header has another name than the archive's directory".to_owned()));
    }
    let end = record
        .header
        .checked_add(HEADER_LEN as u64 + name_len + extra_len)
        .and_then(|start| Some(start..start.checked_add(record.packed)?))
        .filter(|data| data.end <= directory);
    Ok(end.ok_or_else(|| {
        "its content reaches into the archive's directory, or past the end of the file".to_owned()
    }))
}

/// Compares the names as they stand. The name of the record may come from a Unicode field beside an older name.
fn same_raw_name(handle: &Handle, record: &Record, local_len: u64) -> io::Result<bool> {
    const RECORD_LEN: u64 = 46;
    let mut lengths = [0; 2];
    if handle.read_at(&mut lengths, record.at + 28)? < lengths.len() {
        return Ok(false);
    }
    let len = u16::from_le_bytes(lengths);
    if u64::from(len) != local_len {
        return Ok(false);
    }
    let (mut listed, mut local) = (vec![0; usize::from(len)], vec![0; usize::from(len)]);
    let whole = handle.read_at(&mut listed, record.at + RECORD_LEN)? == listed.len()
        && handle.read_at(&mut local, record.header + HEADER_LEN as u64)? == local.len();
    Ok(whole && listed == local)
}
