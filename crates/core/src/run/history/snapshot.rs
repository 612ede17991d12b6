//! A run right after one of its events, with the bytes that its state documents had.

use super::{History, RecordedChange};
use crate::event::Event;
use crate::frame_id::FrameId;
use crate::vpath::VPath;

/// A run right after one of its events.
#[derive(Clone, Debug, PartialEq)]
pub struct Snapshot {
    /// History up to that event.
    pub history: History,
    /// Changes announced after that event.
    later: Vec<RecordedChange>,
}

impl Snapshot {
    /// Folds the events up to this one.
    pub fn of(events: &[Event], seq: u64) -> Self {
        let (before, after) = events.split_at(events.partition_point(|event| event.seq <= seq));
        let history = History::of(before);
        let (mut now, mut later) = (history.clone(), Vec::new());
        for event in after {
            now.take(event);
            later.extend(now.changes.open().iter().filter(|open| open.seq == event.seq).cloned());
        }
        Self { history, later }
    }

    /// Returns the digest that the document of a frame had. None if no change records it; then the document has not
    /// changed since.
    pub fn document(&self, frame: Option<FrameId>) -> Option<&str> {
        let path = VPath::state_document(frame).to_string();
        let found = || {
            // The run has not written the file so far: the next change records the digest it found.
            let mut later = self.later.iter().filter(|change| change.file.path == path);
            later.find_map(|change| change.file.before.as_deref())
        };
        self.history.changes.document(&path).or_else(found)
    }
}
