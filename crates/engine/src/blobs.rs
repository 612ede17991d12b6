//! The blobs of a run: long texts, each under the digest of its bytes.

use std::sync::Arc;

use crewagent_core::integrity::Digest;
use crewagent_core::payload::Payload;
use thiserror::Error;

use crate::disk::{DiskError, Folder};

/// No blob is larger; a reply, an argument or an answer of this size is not real.
const MAX_BLOB: u64 = 1 << 30;

/// The blobs of a run.
#[derive(Clone, Debug)]
pub struct Blobs {
    folder: Folder,
}

/// Why a blob cannot be kept or had.
#[derive(Debug, Error)]
pub enum BlobError {
    /// It is not there.
    #[error("the blob {0} of this run is missing")]
    Missing(Digest),
    /// Its bytes are not those that were kept.
    #[error("the blob {0} of this run is damaged: its content has another digest")]
    Damaged(Digest),
    /// It was to be text, and is not.
    #[error("the blob {0} of this run is not text")]
    NotText(Digest),
    /// The disk failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl Blobs {
    /// The blobs in a folder, which is created with the first one.
    pub fn new(folder: Folder) -> Self {
        Self { folder }
    }

    /// Keeps bytes; they are durable when this returns.
    pub fn put(&self, bytes: &[u8]) -> Result<Digest, BlobError> {
        let digest = Digest::of(bytes);
        let name = digest.to_string();
        if self.folder.size_of(&name)? == Some(bytes.len() as u64) {
            // Its bytes were flushed before it got its name, but the process may have died before the name was.
            self.folder.sync()?;
            return Ok(digest);
        }
        self.folder.ensure()?;
        self.folder.replace(&name, bytes)?;
        Ok(digest)
    }

    /// The bytes of a blob, as they were kept.
    pub fn get(&self, digest: Digest) -> Result<Vec<u8>, BlobError> {
        let bytes = match self.folder.read(&digest.to_string(), MAX_BLOB) {
            Ok(bytes) => bytes,
            Err(error) if error.is_missing() => return Err(BlobError::Missing(digest)),
            Err(error) => return Err(error.into()),
        };
        if Digest::of(&bytes) == digest { Ok(bytes) } else { Err(BlobError::Damaged(digest)) }
    }

    /// How many bytes a blob has, without reading them; none when it is not there.
    pub fn size(&self, digest: Digest) -> Result<Option<u64>, DiskError> {
        self.folder.size_of(&digest.to_string())
    }

    /// The text of a blob.
    pub fn text(&self, digest: Digest) -> Result<Arc<str>, BlobError> {
        let text = String::from_utf8(self.get(digest)?).map_err(|_| BlobError::NotText(digest))?;
        Ok(text.into())
    }

    /// The text of a payload, wherever it is.
    pub fn resolve(&self, payload: &Payload) -> Result<Arc<str>, BlobError> {
        match payload {
            Payload::Inline(text) => Ok(text.clone()),
            Payload::Blob { sha256, .. } => self.text(*sha256),
        }
    }

    /// The same payload, kept as a blob if it is longer than `limit`.
    pub fn keep(&self, payload: &mut Payload, limit: usize) -> Result<(), BlobError> {
        let Payload::Inline(text) = payload else { return Ok(()) };
        if text.len() > limit {
            let bytes = text.len() as u64;
            *payload = Payload::Blob { sha256: self.put(text.as_bytes())?, bytes };
        }
        Ok(())
    }

    /// The names of all of them.
    pub fn names(&self) -> Result<Vec<Digest>, DiskError> {
        Ok(self.folder.names()?.iter().filter_map(|name| Digest::parse(name)).collect())
    }

    /// Where they are.
    pub fn folder(&self) -> &Folder {
        &self.folder
    }
}
