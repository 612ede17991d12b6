//! What has been read of a package already: small contents are kept, and of all others the digest,
//! so that what is checked is what is stored.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use crewagent_core::integrity::Digest;

/// Contents up to this size are kept.
const KEPT_FILE: u64 = 1024 * 1024;
/// All kept contents together.
const KEPT_ALL: u64 = 48 * 1024 * 1024;

/// One slot a file, in the order of the paths.
#[derive(Debug)]
pub(crate) struct Contents {
    slots: Vec<Slot>,
    left: AtomicU64,
}

#[derive(Debug, Default)]
struct Slot {
    content: OnceLock<Arc<[u8]>>,
    digest: OnceLock<Digest>,
}

impl Contents {
    pub(crate) fn new(files: usize) -> Self {
        Self {
            slots: (0..files).map(|_| Slot::default()).collect(),
            left: AtomicU64::new(KEPT_ALL),
        }
    }

    /// Whether a content of this size is worth keeping.
    pub(crate) fn is_small(size: u64) -> bool {
        size <= KEPT_FILE
    }

    /// Asks for room for a content. A promise that is not used is lost; that only costs time.
    pub(crate) fn reserve(&self, size: u64) -> bool {
        Self::is_small(size)
            && self
                .left
                .try_update(Ordering::Relaxed, Ordering::Relaxed, |left| left.checked_sub(size))
                .is_ok()
    }

    /// Keeps a content. When two threads have read the same file, the first one counts for both.
    pub(crate) fn keep(&self, index: usize, content: Arc<[u8]>) -> &Arc<[u8]> {
        self.slots[index].content.get_or_init(|| content)
    }

    pub(crate) fn kept(&self, index: usize) -> Option<&Arc<[u8]>> {
        self.slots[index].content.get()
    }

    /// Remembers a digest, and says whether it is the one that was remembered before.
    pub(crate) fn note_digest(&self, index: usize, digest: Digest) -> bool {
        *self.slots[index].digest.get_or_init(|| digest) == digest
    }

    pub(crate) fn digest(&self, index: usize) -> Option<Digest> {
        self.slots[index].digest.get().copied()
    }
}
