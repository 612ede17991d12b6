//! Where pages of journals ended, so that the next page begins there and does not read everything before it.

use std::collections::VecDeque;
use std::sync::{Mutex, PoisonError};

use crewagent_engine::journal::Place;

use crate::wire::Journal;

/// Places that are remembered; the oldest is forgotten, which costs time and nothing else.
const MAX_BOOKMARKS: usize = 256;

/// Where pages of journals ended.
#[derive(Debug, Default)]
pub(crate) struct Bookmarks(Mutex<VecDeque<(Journal, Bookmark)>>);

/// Where a page ended.
#[derive(Clone, Debug)]
pub(crate) struct Bookmark {
    /// Behind the last record of the page.
    pub(crate) place: Place,
    /// Which process of the run wrote that record.
    pub(crate) epoch: u64,
}

impl Bookmarks {
    /// The one behind this record.
    pub(crate) fn find(&self, journal: &Journal, seq: u64) -> Option<Bookmark> {
        let all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let found = all.iter().find(|(of, mark)| mark.place.seq == seq && of == journal);
        found.map(|(_, mark)| mark.clone())
    }

    /// Remembers one.
    pub(crate) fn keep(&self, journal: &Journal, mark: Bookmark) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        all.retain(|(of, other)| other.place.seq != mark.place.seq || of != journal);
        all.push_back((journal.clone(), mark));
        if all.len() > MAX_BOOKMARKS {
            all.pop_front();
        }
    }
}
