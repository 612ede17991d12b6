//! Changes of files: announced by an intent, done when its result is recorded.

use super::position::Position;
use crate::event::{
    Event, EventKind, FileIntent, FrameEvent, ModelEvent, RunEvent, StateEvent, ToolEvent,
};
use crate::vpath::VPath;

/// A change of a file by a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedChange {
    /// Sequence number of the event that announced the change.
    pub seq: u64,
    pub time: String,
    /// Tool call that made the change; none for a change of frames.
    pub call_id: Option<String>,
    pub node_id: Option<String>,
    /// Changed file. A state document has the path of its own frame, whatever path the model used.
    pub file: FileIntent,
}

/// The changes of a run so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct HistoryChanges {
    done: Vec<RecordedChange>,
    /// Announced changes that are neither done nor refused.
    open: Vec<RecordedChange>,
    node: Option<String>,
    /// Number of changes that a resume at another position made irrelevant for the state documents.
    outdated: usize,
}

impl HistoryChanges {
    /// Takes an event; `position` is the one before it.
    pub(super) fn take(&mut self, event: &Event, position: &Position) {
        match &event.kind {
            EventKind::Run(RunEvent::Resumed(resumed)) if resumed.state.is_some() => {
                self.open.clear();
                self.outdated = self.done.len();
            }
            EventKind::Model(ModelEvent::TurnStarted(turn)) => self.node.clone_from(&turn.node_id),
            EventKind::State(StateEvent::Changed(change)) => {
                // Calls of the same reply after a move belong to the new node.
                if let Some(moved) = &change.moved {
                    self.node = Some(moved.to.clone());
                }
            }
            EventKind::Tool(event_kind) => self.tool(event_kind, event, position),
            EventKind::Frame(event_kind) => self.frame(event_kind, event),
            EventKind::Run(_)
            | EventKind::Conversation(_)
            | EventKind::User(_)
            | EventKind::State(StateEvent::Entered(_))
            | EventKind::Model(_) => {}
        }
    }

    fn tool(&mut self, kind: &ToolEvent, event: &Event, position: &Position) {
        match kind {
            ToolEvent::Started(started) => {
                let Some(intent) = &started.intent else { return };
                let alias = VPath::state_document(None).to_string();
                let files = intent.files.iter().map(|file| {
                    let mut file = file.clone();
                    if file.path == alias {
                        file.path = VPath::state_document(position.frame_id()).to_string();
                    }
                    file
                });
                self.announce(files.collect(), event, Some(&started.call_id));
            }
            // A change that was refused in the end did not happen.
            ToolEvent::Finished(finished) => self.settle(finished.answer.refused.is_none()),
            ToolEvent::Listed(_) | ToolEvent::Logged(_) => {}
        }
    }

    fn frame(&mut self, kind: &FrameEvent, event: &Event) {
        match kind {
            FrameEvent::Planned(planned) => self.announce(planned.files.clone(), event, None),
            FrameEvent::Entered(_) | FrameEvent::Left(_) => self.settle(true),
            FrameEvent::Held(_) => self.settle(false),
        }
    }

    fn announce(&mut self, files: Vec<FileIntent>, event: &Event, call_id: Option<&str>) {
        let change = |file| RecordedChange {
            seq: event.seq,
            time: event.time.clone(),
            call_id: call_id.map(str::to_owned),
            node_id: self.node.clone(),
            file,
        };
        self.open = files.into_iter().map(change).collect();
    }

    fn settle(&mut self, is_done: bool) {
        let settled = self.open.drain(..).filter(|_| is_done);
        self.done.extend(settled);
    }

    pub(super) fn done(&self) -> &[RecordedChange] {
        &self.done
    }

    pub(super) fn open(&self) -> &[RecordedChange] {
        &self.open
    }

    /// Returns the digest of a state document after the last change, if one is known. State documents are never removed.
    pub(super) fn document(&self, path: &str) -> Option<&str> {
        let before = self.open.iter().find(|change| change.file.path == path);
        // An announced change is not done yet.
        if let Some(before) = before.and_then(|change| change.file.before.as_deref()) {
            return Some(before);
        }
        let mut known = self.done.iter().skip(self.outdated).rev();
        known.find(|change| change.file.path == path)?.file.after.as_deref()
    }
}
