//! Cache of what has been read of a package: small contents, and the digest of every file, so that the checked bytes
//! are the stored bytes.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crewagent_format::integrity::Digest;

/// Largest content that is cached.
const KEPT_FILE: u64 = 1024 * 1024;
/// Total size of the cached contents.
const KEPT_ALL: u64 = 48 * 1024 * 1024;

/// Cache with one slot a file, in the order of the paths.
#[derive(Debug)]
pub(crate) struct Contents {
    slots: Vec<ContentSlot>,
    left: AtomicU64,
}

#[derive(Debug, Default)]
struct ContentSlot {
    content: OnceLock<Arc<[u8]>>,
    digest: OnceLock<Digest>,
}

impl Contents {
    pub(crate) fn new(files: usize) -> Self {
        Self {
            slots: (0..files).map(|_| ContentSlot::default()).collect(),
            left: AtomicU64::new(KEPT_ALL),
        }
    }

    /// Returns true if a content of this size may be cached.
    pub(crate) fn is_small(size: u64) -> bool {
        size <= KEPT_FILE
    }

    /// Reserves room for a content. An unused reservation is not returned; that only costs another read.
    pub(crate) fn reserve(&self, size: u64) -> bool {
        Self::is_small(size)
            && self
                .left
                .try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(size))
                .is_ok()
    }

    /// Caches a content. If two threads read the same file, both use the first one.
    pub(crate) fn keep(&self, index: usize, content: Arc<[u8]>) -> &Arc<[u8]> {
        self.slots[index].content.get_or_init(|| content)
    }

    pub(crate) fn cached(&self, index: usize) -> Option<&Arc<[u8]>> {
        self.slots[index].content.get()
    }

    /// Stores a digest and returns false if another one was stored before.
    pub(crate) fn note_digest(&self, index: usize, digest: Digest) -> bool {
        *self.slots[index].digest.get_or_init(|| digest) == digest
    }

    pub(crate) fn digest(&self, index: usize) -> Option<Digest> {
        self.slots[index].digest.get().copied()
    }
}
