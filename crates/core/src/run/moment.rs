//! What a journal says about a moment of a run: where it stood, what it ran with, and which bytes its state documents
//! had.

use std::collections::BTreeMap;

use super::trail::Trail;
use crate::event::{
    Event, EventKind, FileIntent, FrameEvent, FramePlanned, RunEvent, RunResumed, RunStarted,
    ToolEvent, ToolFinished, ToolStarted,
};
use crate::settings::RunSettings;
use crate::vpath::VPath;

/// The call of a workflow whose document is meant; none for the run's own.
type Call = Option<u64>;

/// A run right after one of its events.
#[derive(Clone, Debug, PartialEq)]
pub struct Moment {
    /// Where it stood.
    pub trail: Trail,
    /// What it ran with.
    pub settings: RunSettings,
    /// How many calls of workflows there had been.
    pub calls: u64,
    /// The digests of the documents, as far as they were changed before or after.
    documents: BTreeMap<Call, String>,
}

impl Moment {
    /// The moment behind this event.
    pub fn of(events: &[Event], seq: u64) -> Self {
        let mut past = Past::default();
        let at = events.partition_point(|event| event.seq <= seq);
        let (before, after) = events.split_at(at);
        before.iter().for_each(|event| past.take(&event.kind));
        let Past { trail, settings, calls, mut documents, open, .. } = past.clone();
        // What is announced is not done.
        for (call, FileIntent { before, .. }) in open {
            documents.extend(before.map(|before| (call, before)));
        }
        // What nobody had written yet, or somebody from outside, is what the next change found.
        for event in after {
            past.take(&event.kind);
            for (call, file) in past.announced() {
                if let (None, Some(found)) = (documents.get(&call), &file.before) {
                    documents.insert(call, found.clone());
                }
            }
        }
        Self { trail, settings, calls, documents }
    }

    /// The digest that the document of a call had. None when no change of the run tells; then it was not changed since.
    pub fn document(&self, call: Option<u64>) -> Option<&str> {
        self.documents.get(&call).map(String::as_str)
    }
}

/// The events so far.
#[derive(Clone, Debug, Default)]
struct Past {
    trail: Trail,
    settings: RunSettings,
    calls: u64,
    documents: BTreeMap<Call, String>,
    /// A change that is announced.
    open: Vec<(Call, FileIntent)>,
    is_new: bool,
}

impl Past {
    fn take(&mut self, kind: &EventKind) {
        self.is_new = false;
        let active = self.trail.frames().next_back().map(|frame| frame.call);
        self.trail.take(kind);
        self.count(kind);
        if let EventKind::Run(RunEvent::Started(RunStarted { settings, .. }))
        | EventKind::Run(RunEvent::Resumed(RunResumed { settings: Some(settings), .. })) = kind
        {
            self.settings = settings.clone();
        }
        if let EventKind::Run(RunEvent::Resumed(RunResumed { state: Some(_), .. })) = kind {
            self.documents.clear();
            self.open.clear();
        } else if let EventKind::Tool(ToolEvent::Started(ToolStarted {
            intent: Some(intent),
            ..
        })) = kind
        {
            // Whichever document is active has this name for the model.
            let named = VPath::state_document(None).to_string();
            let own = intent.files.iter().filter(|file| file.path == named);
            self.announce(own.map(|file| (active, file.clone())).collect());
        } else if let EventKind::Frame(FrameEvent::Planned(FramePlanned { frame, files, .. })) =
            kind
        {
            let child = VPath::state_document(Some(frame.call)).to_string();
            let own = VPath::state_document(None).to_string();
            let call = |file: &FileIntent| match &file.path {
                path if *path == child => Some(frame.call),
                path if *path == own => None,
                path => self.known(path),
            };
            let files = files.iter().map(|file| (call(file), file.clone())).collect();
            self.announce(files);
        } else if let EventKind::Tool(ToolEvent::Finished(ToolFinished { answer, .. })) = kind {
            self.settle(answer.refused.is_none());
        } else if let EventKind::Frame(FrameEvent::Entered(_) | FrameEvent::Left(_)) = kind {
            self.settle(true);
        } else if let EventKind::Frame(FrameEvent::Held(_)) = kind {
            self.settle(false);
        }
    }

    fn count(&mut self, kind: &EventKind) {
        let told = if let EventKind::Run(RunEvent::Resumed(RunResumed { calls, .. })) = kind {
            *calls
        } else if let EventKind::Run(RunEvent::Started(RunStarted {
            forked_from: Some(fork),
            ..
        })) = kind
        {
            fork.calls
        } else {
            0
        };
        let open = self.trail.frames().map(|frame| frame.call).max().unwrap_or(0);
        self.calls = self.calls.max(told).max(open);
    }

    /// The open call whose document has this path.
    fn known(&self, path: &str) -> Call {
        let mut calls = self.trail.frames().map(|frame| frame.call);
        calls.find(|call| VPath::state_document(Some(*call)).to_string() == path)
    }

    fn announce(&mut self, files: Vec<(Call, FileIntent)>) {
        self.open = files;
        self.is_new = true;
    }

    /// What the last event announced.
    fn announced(&self) -> impl Iterator<Item = (Call, &FileIntent)> {
        let open = self.open.iter().filter(|_| self.is_new);
        open.map(|(call, file)| (*call, file))
    }

    fn settle(&mut self, is_done: bool) {
        for (call, file) in self.open.drain(..).filter(|_| is_done) {
            self.documents.insert(call, file.after);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{Answer, Intent};
    use crate::refusal::RefusalCode;

    fn event(seq: u64, kind: EventKind) -> Event {
        Event { seq, part: None, time: String::new(), run_id: None, key: None, kind }
    }

    fn change(before: &str, after: &str) -> EventKind {
        let file = FileIntent {
            path: "@state/workflow.md".into(),
            before: Some(before.into()),
            after: after.into(),
        };
        let answer = Answer::default();
        let intent = Intent { files: vec![file], time: String::new(), answer, state: None };
        EventKind::from(ToolStarted {
            turn: 1,
            call_id: String::new(),
            tool: String::new(),
            subject: None,
            intent: Some(Box::new(intent)),
        })
    }

    fn finished(refused: Option<RefusalCode>) -> EventKind {
        let answer = Answer { refused, ..Answer::default() };
        EventKind::from(ToolFinished {
            turn: 1,
            call_id: String::new(),
            tool: String::new(),
            answer,
        })
    }

    fn check_document(at: u64, expected: Option<&str>) {
        let facts = [
            change("a", "b"),
            finished(None),
            change("b", "c"),
            finished(Some(RefusalCode::Transition)),
            change("b", "d"),
            finished(None),
        ];
        let events: Vec<Event> = (1..).zip(facts).map(|(seq, kind)| event(seq, kind)).collect();
        assert_eq!(Moment::of(&events, at).document(None), expected, "{at}");
    }

    #[test]
    fn a_document_is_what_the_last_change_left_or_the_next_one_found() {
        check_document(0, Some("a"));
        check_document(1, Some("a"));
        check_document(2, Some("b"));
        check_document(3, Some("b"));
        check_document(4, Some("b"));
        check_document(6, Some("d"));
    }
}
