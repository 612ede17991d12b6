//! History of a run: the one fold of its journal that every view reads.

mod changes;
mod position;
mod snapshot;
mod tail;
mod visit;

pub use self::changes::RecordedChange;
pub use self::position::{Position, artifacts};
pub use self::snapshot::Snapshot;
pub use self::tail::{Spent, Tail};
pub use self::visit::{Visit, named};

use self::changes::HistoryChanges;
use self::tail::Settled;
use crate::event::{
    ConversationEvent, Event, EventKind, FrameEvent, ModelEvent, Moved, Phase, Reason, RunEvent,
    StateEvent, UserEvent,
};
use crate::fork::Fork;
use crate::question::Question;
use crate::settings::RunSettings;
use crate::usage::Usage;

/// A run or a conversation after the events folded so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct History {
    pub position: Position,
    pub visits: Vec<Visit>,
    pub question: Option<OpenQuestion>,
    pub settings: RunSettings,
    /// Tokens of all replies.
    pub usage: Usage,
    /// Number of replies.
    pub turns: u64,
    /// Number of the last process.
    pub epoch: u64,
    pub forked_from: Option<Box<Fork>>,
    /// Agent of a conversation.
    pub agent_id: Option<String>,
    /// Runs that received input of a conversation, each once.
    pub runs: Vec<String>,
    /// Run that receives input of a conversation.
    pub active_run: Option<String>,
    /// Last question, until the next model request.
    asked: Option<OpenQuestion>,
    changes: HistoryChanges,
    settled: Settled,
}

/// A question that waits for an answer.
#[derive(Clone, Debug, PartialEq)]
pub struct OpenQuestion {
    /// Tool call that asks, or whose move waits for approval.
    pub call_id: String,
    /// Move that waits for approval; none if the model asks.
    pub moved: Option<Moved>,
    pub question: Question,
}

impl History {
    /// Folds these events.
    pub fn of(events: &[Event]) -> Self {
        let mut history = Self::default();
        events.iter().for_each(|event| history.take(event));
        history
    }

    /// Takes the next event.
    pub fn take(&mut self, event: &Event) {
        self.settled.take(event);
        self.changes.take(event, &self.position);
        match &event.kind {
            EventKind::Run(kind) => self.run(kind, event),
            EventKind::Conversation(kind) => self.conversation(kind),
            EventKind::User(kind) => self.user(kind),
            EventKind::Frame(kind) => self.frame(kind, event),
            EventKind::State(StateEvent::Changed(change)) => {
                self.position.take(&event.kind);
                // The move of a caller follows `workflow.left` as an event of its own.
                if let Some(moved) = &change.moved {
                    self.arrive(event.seq, Some(moved.label.clone()));
                }
            }
            EventKind::Model(kind) => self.model(kind),
            EventKind::State(StateEvent::Entered(_)) | EventKind::Tool(_) => {}
        }
    }

    fn run(&mut self, kind: &RunEvent, event: &Event) {
        match kind {
            RunEvent::Started(started) => {
                self.position.take(&event.kind);
                self.epoch = 1;
                self.settings = started.settings.clone();
                self.forked_from.clone_from(&started.forked_from);
                self.arrive(event.seq, None);
            }
            RunEvent::Resumed(resumed) => {
                self.epoch = resumed.epoch;
                if let Some(settings) = &resumed.settings {
                    self.settings = settings.clone();
                }
                if resumed.state.is_some() {
                    self.drop_question();
                }
                let before = self.position.clone();
                self.position.take(&event.kind);
                // The run stays at its node, unless its state was changed from outside.
                if !before.is_same_node(&self.position) {
                    self.arrive(event.seq, None);
                }
            }
            RunEvent::PhaseChanged(changed) => {
                // Input that is no answer leaves the question open.
                if changed.reason == Some(Reason::Question) {
                    self.question.clone_from(&self.asked);
                }
            }
            RunEvent::Failed(_) | RunEvent::Finished(_) => {}
        }
    }

    fn conversation(&mut self, kind: &ConversationEvent) {
        match kind {
            ConversationEvent::Started(started) => {
                self.epoch = 1;
                self.settings = started.settings.clone();
                self.agent_id.clone_from(&started.agent_id);
            }
            ConversationEvent::AgentChanged(changed) => self.agent_id.clone_from(&changed.agent_id),
            ConversationEvent::RunChanged(changed) => {
                self.active_run.clone_from(&changed.id);
                if let Some(id) = changed.id.as_ref().filter(|id| !self.runs.contains(id)) {
                    self.runs.push(id.clone());
                }
            }
            ConversationEvent::Instructed(_) => self.drop_question(),
            ConversationEvent::CommandResolved(_) => {}
        }
    }

    fn user(&mut self, kind: &UserEvent) {
        match kind {
            UserEvent::Input(_) => self.question = None,
            UserEvent::Asked(asked) => {
                self.asked = Some(OpenQuestion {
                    call_id: asked.call_id.clone(),
                    moved: asked.moved.clone(),
                    question: asked.question.clone(),
                });
                self.question.clone_from(&self.asked);
            }
        }
    }

    fn frame(&mut self, kind: &FrameEvent, event: &Event) {
        self.position.take(&event.kind);
        match kind {
            FrameEvent::Entered(_) => self.arrive(event.seq, None),
            FrameEvent::Left(left) => {
                let is_own = |visit: &&mut Visit| visit.frames.last() == Some(&left.frame);
                if let Some(last) = self.visits.iter_mut().rev().find(is_own) {
                    last.failed = left.failed.is_some();
                }
            }
            FrameEvent::Planned(_) | FrameEvent::Held(_) => {}
        }
    }

    fn model(&mut self, kind: &ModelEvent) {
        match kind {
            ModelEvent::TurnStarted(_) => self.drop_question(),
            ModelEvent::Replied(replied) => {
                self.turns += 1;
                self.usage += replied.reply.usage;
            }
            ModelEvent::Delta(_)
            | ModelEvent::Retried(_)
            | ModelEvent::FellBack(_)
            | ModelEvent::Overflowed(_)
            | ModelEvent::Stopped(_)
            | ModelEvent::Nudged(_)
            | ModelEvent::ContextCut(_) => {}
        }
    }

    fn drop_question(&mut self) {
        (self.question, self.asked) = (None, None);
    }

    fn arrive(&mut self, seq: u64, label: Option<String>) {
        let node = self.position.state.current_node_id.clone();
        let frames = self.position.frames().cloned().collect();
        let number = self.visits.iter().filter(|visit| visit.node == node).count() + 1;
        self.visits.push(Visit { seq, node, label, frames, number, failed: false });
    }

    /// Returns the changes of files that were carried out, in order.
    pub fn changes(&self) -> &[RecordedChange] {
        self.changes.done()
    }

    /// Returns the phase, if the events determine it.
    pub fn phase(&self) -> Option<Phase> {
        self.tail().phase
    }

    /// Returns the part of the history that the last events alone determine.
    pub fn tail(&self) -> Tail {
        self.settled.tail()
    }
}
