//! Raw headers of a ZIP file, before any interpretation.

use std::io::{self, Read, Seek, SeekFrom};

use flate2::Crc;

use super::handle::ArchiveWindow;

/// Signature of a directory record.
pub(super) const RECORD: &[u8; 4] = b"PK\x01\x02";
/// Length of a record before its name.
pub(super) const RECORD_LEN: usize = 46;

/// Extra field with 64-bit sizes.
const ZIP64: u16 = 1;
/// Extra field with the name in UTF-8.
const UNICODE_PATH: u16 = 0x7075;

pub(super) fn short(bytes: &[u8], at: usize) -> u16 {
    bytes.get(at..at + 2).map_or(0, |two| u16::from_le_bytes([two[0], two[1]]))
}

pub(super) fn long(bytes: &[u8], at: usize) -> u32 {
    let four = bytes.get(at..at + 4).and_then(|four| four.try_into().ok());
    four.map_or(0, u32::from_le_bytes)
}

pub(super) fn wide(bytes: &[u8], at: usize) -> u64 {
    let eight = bytes.get(at..at + 8).and_then(|eight| eight.try_into().ok());
    eight.map_or(0, u64::from_le_bytes)
}

/// Record of the directory.
pub(super) struct Central {
    bytes: Vec<u8>,
    name_len: usize,
}

impl Central {
    pub(super) fn read(window: &mut ArchiveWindow<'_>, at: u64) -> io::Result<Self> {
        window.seek(SeekFrom::Start(at))?;
        let mut bytes = vec![0; RECORD_LEN];
        window.read_exact(&mut bytes)?;
        let name_len = usize::from(short(&bytes, 28));
        bytes.resize(RECORD_LEN + name_len + usize::from(short(&bytes, 30)), 0);
        window.read_exact(&mut bytes[RECORD_LEN..])?;
        Ok(Self { bytes, name_len })
    }

    pub(super) fn flags(&self) -> u16 {
        short(&self.bytes, 8)
    }

    pub(super) fn method(&self) -> u16 {
        short(&self.bytes, 10)
    }

    pub(super) fn crc(&self) -> u32 {
        long(&self.bytes, 16)
    }

    pub(super) fn name(&self) -> &[u8] {
        &self.bytes[RECORD_LEN..RECORD_LEN + self.name_len]
    }

    pub(super) fn extra(&self) -> Extra<'_> {
        Extra(&self.bytes[RECORD_LEN + self.name_len..])
    }

    /// Returns the effective name: the one in UTF-8, if it belongs to the record's name.
    pub(super) fn used_name(&self) -> &[u8] {
        let mut crc = Crc::new();
        crc.update(self.name());
        let valid = |field: &&[u8]| {
            field.len() >= 5
                && long(field, 1) == crc.sum()
                && std::str::from_utf8(&field[5..]).is_ok()
        };
        let fields = self.extra().all(UNICODE_PATH);
        fields.into_iter().rfind(valid).map_or_else(|| self.name(), |field| &field[5..])
    }
}

/// Extra fields of a header.
#[derive(Clone, Copy)]
pub(super) struct Extra<'a>(pub(super) &'a [u8]);

impl<'a> Extra<'a> {
    pub(super) fn len(self) -> usize {
        self.0.len()
    }

    /// Returns true if every field ends within the header. A remainder shorter than a field's head is padding.
    pub(super) fn is_whole(self) -> bool {
        let mut rest = self.0;
        while rest.len() >= 4 {
            match rest.get(4 + usize::from(short(rest, 2))..) {
                Some(next) => rest = next,
                None => return false,
            }
        }
        true
    }

    fn all(self, id: u16) -> Vec<&'a [u8]> {
        let mut found = Vec::new();
        let mut rest = self.0;
        while rest.len() >= 4 {
            let end = (4 + usize::from(short(rest, 2))).min(rest.len());
            if short(rest, 0) == id {
                found.push(&rest[4..end]);
            }
            rest = &rest[end..];
        }
        found
    }

    /// Returns the numbers in the ZIP64 fields, in order.
    pub(super) fn wide_numbers(self) -> Vec<u64> {
        let fields = self.all(ZIP64);
        fields.iter().flat_map(|field| field.chunks_exact(8).map(|eight| wide(eight, 0))).collect()
    }

    /// Returns the UTF-8 names, also those whose checksum does not match the record's name.
    pub(super) fn unicode_names(self) -> Vec<&'a [u8]> {
        self.all(UNICODE_PATH).into_iter().map(|field| field.get(5..).unwrap_or_default()).collect()
    }
}

/// Returns true if two names may be one name in two encodings: same ASCII characters, others in the same positions.
pub(super) fn same_shape(one: &[u8], other: &[u8]) -> bool {
    fn shape(name: &[u8]) -> impl Iterator<Item = u8> {
        let mut before = 0;
        name.iter().filter_map(move |byte| {
            let byte = (*byte).min(0x80);
            let goes_on = byte == 0x80 && before == 0x80;
            before = byte;
            (!goes_on).then_some(byte)
        })
    }
    shape(one).eq(shape(other))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_by_what_every_encoding_shares() {
        assert!(same_shape(b"a/gr\x94\xe1e.md", "a/größe.md".as_bytes()));
        assert!(same_shape(b"a/b.md", b"a/b.md"));
        for other in ["a/größ.md", "a/../größe.md", "größe.md", "", "a/groesse.md"] {
            assert!(!same_shape(b"a/gr\x94\xe1e.md", other.as_bytes()), "{other}");
        }
    }

    #[test]
    fn extra_fields_are_read_to_their_end_and_not_beyond() {
        let two = [1, 0, 8, 0, 7, 0, 0, 0, 0, 0, 0, 0, 0x75, 0x70, 6, 0, 1, 0, 0, 0, 0, b'x', 0];
        assert!(Extra(&two).is_whole());
        assert_eq!(Extra(&two).wide_numbers(), [7]);
        assert_eq!(Extra(&two).unicode_names(), [b"x"]);
        let cut = Extra(&two[..20]);
        assert!(!cut.is_whole());
        assert_eq!(cut.unicode_names(), [b""]);
        assert!(Extra(b"").is_whole() && Extra(&[1, 0, 0]).is_whole());
    }
}
