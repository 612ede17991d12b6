//! Reading files: keeps no more in memory than requested, and always computes the digest of the whole file.

use cap_std::fs::File;
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::vpath::VPath;
use crewagent_format::integrity::Digest;
use sha2::{Digest as _, Sha256};

use super::Mounts;
use super::error::{MountError, MountResult, Stop, settle};
use crate::disk::Disk;

/// Largest file that is read, even for its digest.
pub(super) const MAX_FILE: u64 = 1 << 30;
/// Largest read, in bytes.
const CHUNK: usize = 128 * 1024;
/// Smallest read, in bytes: the size that a file reports need not be true.
const SMALL_CHUNK: usize = 4 * 1024;

/// Content of a file, or its beginning.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FileContent {
    /// The first bytes, up to the requested limit.
    pub bytes: Vec<u8>,
    /// SHA-256 of the whole file.
    pub sha256: Digest,
    /// Size of the whole file.
    pub size: u64,
}

impl FileContent {
    /// Returns true if `bytes` is the whole file.
    pub fn is_whole(&self) -> bool {
        self.bytes.len() as u64 == self.size
    }
}

/// Digest and size of a file that was read to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Measured {
    pub sha256: Digest,
    pub size: u64,
}

impl Mounts {
    /// Reads the first `limit` bytes of a file; digest and size are those of the whole file.
    pub fn read(&self, path: &VPath, limit: usize) -> MountResult<FileContent> {
        settle(self.try_read(path, limit))
    }

    /// Passes a whole file to `take` in chunks, for readers that need only a window of it.
    pub fn stream(&self, path: &VPath, mut take: impl FnMut(&[u8])) -> MountResult<Measured> {
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

/// Passes an open file to `take` in chunks, from its current position. `expected` is the reported size; a file over
/// `limit` is refused, also if it grows past it while it is read.
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
        // A short read at the expected size is the end: save the extra read.
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
