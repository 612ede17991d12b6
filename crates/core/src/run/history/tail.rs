//! The end of a history, read from the last events alone, so that lists need not read whole journals.

use schemars::JsonSchema;
use serde::Serialize;

use crate::event::{
    ConversationEvent, Event, EventKind, ModelEvent, Phase, PhaseChanged, Reason, RunEvent,
    RunFinished, ToolEvent, UserEvent,
};
use crate::question::{Question, QuestionKind};
use crate::usage::Usage;

/// State of a run as determined by the end of its journal.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Tail {
    /// Time of the last event.
    pub time: Option<String>,
    /// Phase, if the events determine it.
    pub phase: Option<Phase>,
    pub reason: Option<Reason>,
    pub message: Option<String>,
    /// Kind of the open question.
    pub asks: Option<QuestionKind>,
    /// Text of the open question.
    pub question: Option<String>,
    /// Cost of the run; unknown while a process works on it, and after a crash.
    pub spent: Option<Spent>,
}

/// Cost of a run.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Spent {
    /// Requests to the model.
    #[schemars(with = "u32")]
    pub turns: u64,
    /// Tokens, and money where the prices are known.
    pub usage: Usage,
}

impl Tail {
    /// Reads events, the newest first, until they determine the phase.
    pub fn of(events: impl IntoIterator<Item = Event>) -> Self {
        let mut events = events.into_iter();
        let mut settled = Settled::default();
        for event in &mut events {
            settled.time.get_or_insert_with(|| event.time.clone());
            match sign(&event.kind) {
                Sign::Left(finished) => {
                    settled.left.get_or_insert_with(|| finished.clone());
                }
                Sign::Phase(changed) => {
                    settled.phase = Some(changed.clone());
                    break;
                }
                Sign::Work => {
                    settled.phase = Some(WORKING);
                    break;
                }
                Sign::Nothing => {}
            }
        }
        // The question comes right before the wait for its answer.
        settled.asked = events.next().and_then(|event| question(&event.kind).cloned());
        settled.tail()
    }
}

/// Events that determine the phase of a run.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Settled {
    time: Option<String>,
    phase: Option<PhaseChanged>,
    /// End of the process after that phase.
    left: Option<RunFinished>,
    /// Question right before the phase.
    asked: Option<Question>,
    /// Question of the last event.
    newest: Option<Question>,
}

const WORKING: PhaseChanged = PhaseChanged { phase: Phase::Running, reason: None, message: None };

impl Settled {
    pub(super) fn take(&mut self, event: &Event) {
        self.time = Some(event.time.clone());
        match sign(&event.kind) {
            Sign::Left(finished) => self.left = Some(finished.clone()),
            Sign::Phase(changed) => self.settle(changed.clone()),
            Sign::Work => self.settle(WORKING),
            Sign::Nothing => {}
        }
        self.newest = question(&event.kind).cloned();
    }

    fn settle(&mut self, phase: PhaseChanged) {
        (self.phase, self.left, self.asked) = (Some(phase), None, self.newest.take());
    }

    pub(super) fn tail(&self) -> Tail {
        let (phase, left) = (self.phase.as_ref(), self.left.as_ref());
        // The phase before the end of the process gives the reason as text, unless another event happened since.
        let told = phase.filter(|told| left.is_none_or(|left| left.phase == told.phase));
        let phase = told.map(|told| told.phase).or(left.map(|left| left.phase));
        let reason = if told.is_some() {
            told.and_then(|told| told.reason)
        } else {
            left.and_then(|left| left.reason)
        };
        let asked = self.asked.as_ref().filter(|_| phase == Some(Phase::WaitingUser));
        Tail {
            time: self.time.clone(),
            phase,
            reason,
            message: told.and_then(|told| told.message.clone()),
            asks: asked.map(|asked| asked.kind),
            question: asked.map(|asked| asked.question.clone()),
            spent: left.map(|left| Spent { turns: left.turns, usage: left.usage }),
        }
    }
}

/// Meaning of an event for the phase.
enum Sign<'e> {
    Phase(&'e PhaseChanged),
    /// The process left the run.
    Left(&'e RunFinished),
    Work,
    /// The event happens in every phase.
    Nothing,
}

fn sign(kind: &EventKind) -> Sign<'_> {
    match kind {
        EventKind::Run(event) => match event {
            RunEvent::PhaseChanged(changed) => Sign::Phase(changed),
            RunEvent::Finished(finished) => Sign::Left(finished),
            RunEvent::Started(_) => Sign::Work,
            RunEvent::Resumed(_) | RunEvent::Failed(_) => Sign::Nothing,
        },
        EventKind::Conversation(event) => match event {
            ConversationEvent::Instructed(_) => Sign::Work,
            ConversationEvent::Started(_)
            | ConversationEvent::AgentChanged(_)
            | ConversationEvent::CommandResolved(_)
            | ConversationEvent::RunChanged(_) => Sign::Nothing,
        },
        EventKind::Tool(ToolEvent::Listed(_) | ToolEvent::Logged(_))
        | EventKind::Model(ModelEvent::ContextCut(_)) => Sign::Nothing,
        EventKind::User(_)
        | EventKind::Frame(_)
        | EventKind::State(_)
        | EventKind::Model(_)
        | EventKind::Tool(_) => Sign::Work,
    }
}

fn question(kind: &EventKind) -> Option<&Question> {
    match kind {
        EventKind::User(UserEvent::Asked(asked)) => Some(&asked.question),
        EventKind::User(UserEvent::Input(_))
        | EventKind::Run(_)
        | EventKind::Conversation(_)
        | EventKind::Frame(_)
        | EventKind::State(_)
        | EventKind::Model(_)
        | EventKind::Tool(_) => None,
    }
}
