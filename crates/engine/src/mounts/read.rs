//! Reading files: never more in memory than asked for, always the digest of the whole.

use cap_std::fs::File;
use crewagent_core::integrity::Digest;
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::vpath::VPath;
use sha2::{Digest as _, Sha256};

use super::Mounts;
use super::error::{Answer, MountError, Stop, settle};
use crate::disk::Disk;

/// Files larger than this are not read at all, not even for their digest.
pub(super) const MAX_FILE: u64 = 1 << 30;
/// Bytes that are read at a time, at most.
const CHUNK: usize = 128 * 1024;
/// Bytes that are read at a time, at least: the size that a file claims to have need not be true.
const SMALL_CHUNK: usize = 4 * 1024;

/// The content of a file, or its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    /// As many bytes as were asked for, from the start.
    pub bytes: Vec<u8>,
    /// The SHA-256 of the whole file.
    pub sha256: Digest,
    /// The size of the whole file.
    pub size: u64,
}

impl FileContent {
    /// Whether these are all bytes of the file.
    pub fn is_whole(&self) -> bool {
        self.bytes.len() as u64 == self.size
    }
}

/// What is known of a file after all of it went by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    /// The SHA-256 of the bytes.
    pub sha256: Digest,
    /// How many there were.
    pub size: u64,
}

impl Mounts {
    /// Reads the first `limit` bytes of a file; digest and size are of the whole.
    pub fn read(&self, path: &VPath, limit: usize) -> Answer<FileContent> {
        settle(self.try_read(path, limit))
    }

    /// Hands on a whole file in pieces, for readers that need a window of it and not all at once.
    pub fn stream(&self, path: &VPath, mut take: impl FnMut(&[u8])) -> Answer<Measured> {
        settle(self.open_file(path).and_then(|(file, metadata)| {
            measure(&self.disk, path, (&file, metadata.len()), MAX_FILE, &mut take)
        }))
    }

    fn try_read(&self, path: &VPath, limit: usize) -> Result<FileContent, Stop> {
        let (file, metadata) = self.open_file(path)?;
        let expected = usize::try_from(metadata.len()).unwrap_or(usize::MAX).min(limit);
        let mut bytes = Vec::with_capacity(expected.min(16 << 20));
        let source = (&file, metadata.len());
        let measured = measure(&self.disk, path, source, MAX_FILE, &mut |piece: &[u8]| {
            let wanted = piece.len().min(limit - bytes.len());
            bytes.extend_from_slice(&piece[..wanted]);
        })?;
        Ok(FileContent { bytes, sha256: measured.sha256, size: measured.size })
    }
}

/// Passes an open file on in pieces, from where it stands. It comes with the size that it was said to have; over the
/// limit it is refused, also when it only grows while it is read.
pub(super) fn measure(
    disk: &Disk,
    path: &VPath,
    (mut file, expected): (&File, u64),
    limit: u64,
    take: &mut dyn FnMut(&[u8]),
) -> Result<Measured, Stop> {
    if expected > limit {
        return Err(too_large(path, limit).into());
    }
    let mut hasher = Sha256::new();
    let chunk = usize::try_from(expected).unwrap_or(CHUNK).clamp(SMALL_CHUNK, CHUNK - 1) + 1;
    let mut buffer = vec![0; chunk];
    let mut size = 0_u64;
    loop {
        let count = match disk.read(&mut file, path, &mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) => return Err(MountError::new("read", path, error).into()),
        };
        size += count as u64;
        if size > limit {
            return Err(too_large(path, limit).into());
        }
        hasher.update(&buffer[..count]);
        take(&buffer[..count]);
        // There was room for more, and no more is expected.
        if size == expected && count < buffer.len() {
            break;
        }
    }
    Ok(Measured { sha256: Digest::from_bytes(hasher.finalize().into()), size })
}

fn too_large(path: &VPath, limit: u64) -> Refusal {
    Refusal::new(RefusalCode::ReadLimit, format!("`{path}` is larger than {limit} bytes."))
        .hint("Search in it instead.")
}
