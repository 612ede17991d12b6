//! Blobs of a run: long texts, stored under the digest of their bytes.

use std::sync::Arc;

use crewagent_core::payload::Payload;
use crewagent_format::integrity::Digest;
use thiserror::Error;

use crate::disk::{DiskError, Folder};

/// Largest blob that is read; no reply, argument or answer is that long.
const MAX_BLOB: u64 = 1 << 30;

/// Blob storage of a run.
#[derive(Clone, Debug)]
pub struct Blobs {
    folder: Folder,
}

/// Error of writing or reading a blob.
#[derive(Debug, Error)]
pub enum BlobError {
    #[error("the blob {0} of this run is missing")]
    Missing(Digest),
    /// Its bytes no longer have its digest.
    #[error("the blob {0} of this run is damaged: its content has another digest")]
    Damaged(Digest),
    #[error("the blob {0} of this run is not text")]
    NotText(Digest),
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl Blobs {
    /// Stores blobs in `folder`, which is created with the first blob.
    pub fn new(folder: Folder) -> Self {
        Self { folder }
    }

    /// Stores bytes durably and returns their digest.
    pub fn put(&self, bytes: &[u8]) -> Result<Digest, BlobError> {
        let digest = Digest::of(bytes);
        let name = digest.to_string();
        if self.folder.size_of(&name)? == Some(bytes.len() as u64) {
            // Bytes are flushed before the rename, but the process may have died before it flushed the folder.
            self.folder.sync()?;
            return Ok(digest);
        }
        self.folder.ensure()?;
        self.folder.replace(&name, bytes)?;
        Ok(digest)
    }

    /// Reads a blob and verifies its digest.
    pub fn get(&self, digest: Digest) -> Result<Vec<u8>, BlobError> {
        let bytes = match self.folder.read(&digest.to_string(), MAX_BLOB) {
            Ok(bytes) => bytes,
            Err(error) if error.is_missing() => return Err(BlobError::Missing(digest)),
            Err(error) => return Err(error.into()),
        };
        if Digest::of(&bytes) == digest { Ok(bytes) } else { Err(BlobError::Damaged(digest)) }
    }

    /// Returns the size of a blob without reading it; `None` if it is missing.
    pub fn size(&self, digest: Digest) -> Result<Option<u64>, DiskError> {
        self.folder.size_of(&digest.to_string())
    }

    /// Reads a blob as text.
    pub fn text(&self, digest: Digest) -> Result<Arc<str>, BlobError> {
        let text = String::from_utf8(self.get(digest)?).map_err(|_| BlobError::NotText(digest))?;
        Ok(text.into())
    }

    /// Returns the text of a payload, inline or from its blob.
    pub fn resolve(&self, payload: &Payload) -> Result<Arc<str>, BlobError> {
        match payload {
            Payload::Inline(text) => Ok(text.clone()),
            Payload::Blob { sha256, .. } => self.text(*sha256),
        }
    }

    /// Replaces an inline payload longer than `limit` with a blob.
    pub fn keep(&self, payload: &mut Payload, limit: usize) -> Result<(), BlobError> {
        let Payload::Inline(text) = payload else { return Ok(()) };
        if text.len() > limit {
            let bytes = text.len() as u64;
            *payload = Payload::Blob { sha256: self.put(text.as_bytes())?, bytes };
        }
        Ok(())
    }

    /// Lists the digests of all blobs.
    pub fn names(&self) -> Result<Vec<Digest>, DiskError> {
        Ok(self.folder.names()?.iter().filter_map(|name| Digest::parse(name)).collect())
    }

    /// Returns the folder that holds the blobs.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }
}
