//! The offsets at which pages of journals ended, so that the next page does not read everything before it.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crewagent_engine::journal::RecordOffset;
use crewagent_engine::store::JournalId;

/// Offsets that are cached; without one a page costs more time.
const MAX_OFFSETS: usize = 256;

/// A cache of page ends.
#[derive(Debug, Default)]
pub(crate) struct PageOffsets(Mutex<VecDeque<(JournalId, PageOffset)>>);

/// The end of a page.
#[derive(Clone, Debug)]
pub(crate) struct PageOffset {
    /// The place after the last record of the page.
    pub(crate) place: RecordOffset,
    /// The epoch of that record.
    pub(crate) epoch: u64,
}

impl PageOffsets {
    /// Returns the offset after a record.
    pub(crate) fn find(&self, journal: &JournalId, seq: u64) -> Option<PageOffset> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().find(|(of, mark)| mark.place.seq == seq && of == journal);
        found.map(|(_, mark)| mark.clone())
    }

    /// Adds an offset, and drops the oldest one when the cache is full.
    pub(crate) fn insert(&self, journal: &JournalId, mark: PageOffset) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(of, other)| other.place.seq != mark.place.seq || of != journal);
        all.push_back((journal.clone(), mark));
        if all.len() > MAX_OFFSETS {
            all.pop_front();
        }
    }
}
