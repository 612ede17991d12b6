//! End of an archive: one end record, right after the directory, and nothing after it.
//!
//! Programs search for the directory in different ways. In a file with extra bytes they can find different ones, so
//! that one file is two packages.

use std::io;

use super::handle::ArchiveHandle;
use super::raw::{long, short, wide};

const END: &[u8; 4] = b"PK\x05\x06";
const END_LEN: usize = 22;
const LOCATOR: &[u8; 4] = b"PK\x06\x07";
const LOCATOR_LEN: u64 = 20;
const END64: &[u8; 4] = b"PK\x06\x06";
const END64_LEN: u64 = 56;
/// Bytes of the ZIP64 end record that its length field does not count.
const END64_HEAD: u64 = 12;

/// Position of the directory, according to the end record.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct EndRecord {
    pub(super) start: u64,
    /// End of the directory, where the end records begin.
    pub(super) end: u64,
    /// Number of records.
    pub(super) entries: u64,
}

/// Reason not to trust the end of an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum EndFault {
    Missing,
    BytesBehind,
    Split,
    /// The directory and the end record are not adjacent.
    Apart,
    WideMissing,
    BytesBetween,
    Contradiction,
}

impl EndFault {
    /// Describes the fault as part of a sentence about the archive.
    pub(super) fn why(self) -> &'static str {
        match self {
            Self::Missing => "its end record is not at its end",
            Self::BytesBehind => "there are bytes behind its end",
            Self::Split => "it is one part of an archive that was split",
            Self::Apart => {
                "its directory is not where its end record says, or there are bytes between them; \
                 perhaps something was put in front of it, or several archives were joined into one file"
            }
            Self::WideMissing => "its ZIP64 end record is not where its locator says",
            Self::BytesBetween => "there are bytes between its end records",
            Self::Contradiction => "its two end records contradict each other",
        }
    }
}

/// Reads the end records. The inner error tells why they cannot be trusted.
pub(super) fn find(handle: &ArchiveHandle) -> io::Result<Result<EndRecord, EndFault>> {
    let most = (END_LEN + usize::from(u16::MAX)) as u64;
    let from = handle.len().saturating_sub(most);
    let mut tail = vec![0; (handle.len() - from) as usize];
    let count = handle.read_at(&mut tail, from)?;
    tail.truncate(count);
    let Some(at) = tail.windows(END.len()).rposition(|four| four == END) else {
        return Ok(Err(EndFault::Missing));
    };
    let record = &tail[at..];
    if record.len() < END_LEN || record.len() != END_LEN + usize::from(short(record, 20)) {
        return Ok(Err(EndFault::BytesBehind));
    }
    let (at, record) = (from + at as u64, &record[..END_LEN]);
    let end = match locator(handle, at)? {
        Some(offset) => match find_wide(handle, at - LOCATOR_LEN, offset, record)? {
            Ok(end) => end,
            Err(why) => return Ok(Err(why)),
        },
        None if short(record, 4) != 0
            || short(record, 6) != 0
            || short(record, 8) != short(record, 10) =>
        {
            return Ok(Err(EndFault::Split));
        }
        None => {
            let start = u64::from(long(record, 16));
            let end = start + u64::from(long(record, 12));
            if end != at {
                return Ok(Err(EndFault::Apart));
            }
            EndRecord { start, end, entries: u64::from(short(record, 10)) }
        }
    };
    Ok(Ok(end))
}

/// Returns the target of the ZIP64 locator before the end record, if there is one.
fn locator(handle: &ArchiveHandle, end: u64) -> io::Result<Option<u64>> {
    let Some(at) = end.checked_sub(LOCATOR_LEN) else { return Ok(None) };
    let mut locator = [0; LOCATOR_LEN as usize];
    let whole = handle.read_at(&mut locator, at)? == locator.len();
    Ok((whole && locator.starts_with(LOCATOR)).then(|| wide(&locator, 8)))
}

/// Reads the ZIP64 end record, which must end at the locator and agree with the older end record.
fn find_wide(
    handle: &ArchiveHandle,
    locator: u64,
    at: u64,
    older: &[u8],
) -> io::Result<Result<EndRecord, EndFault>> {
    let mut record = [0; END64_LEN as usize];
    let whole = at < locator && handle.read_at(&mut record, at)? == record.len();
    if !whole || !record.starts_with(END64) {
        return Ok(Err(EndFault::WideMissing));
    }
    let length = wide(&record, 4);
    let fits = at.checked_add(END64_HEAD).and_then(|head| head.checked_add(length));
    if length < END64_LEN - END64_HEAD || fits != Some(locator) {
        return Ok(Err(EndFault::BytesBetween));
    }
    let (entries, size, start) = (wide(&record, 32), wide(&record, 40), wide(&record, 48));
    if long(&record, 16) != 0 || long(&record, 20) != 0 || wide(&record, 24) != entries {
        return Ok(Err(EndFault::Split));
    }
    let same = |older: u64, elsewhere: u64, value: u64| older == elsewhere || older == value;
    let (few, many) = (u64::from(u16::MAX), u64::from(u32::MAX));
    let agree = same(u64::from(short(older, 8)), few, entries)
        && same(u64::from(short(older, 10)), few, entries)
        && same(u64::from(long(older, 12)), many, size)
        && same(u64::from(long(older, 16)), many, start);
    if !agree {
        return Ok(Err(EndFault::Contradiction));
    }
    if start.checked_add(size) != Some(at) {
        return Ok(Err(EndFault::Apart));
    }
    Ok(Ok(EndRecord { start, end: at, entries }))
}
