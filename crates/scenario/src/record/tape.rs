//! The events of a run as a tape: inputs and replies, in the order in which a scenario counts.

use std::collections::BTreeSet;

use crewagent_core::draft::with_marks;
use crewagent_core::event::{
    Answer, AssistantMessage, Event, EventKind, FrameEvent, FramePlanned, ModelEvent, PhaseChanged,
    Reason, Reply, RunEvent, RunFailed, RunResumed, RunStarted, StateEvent, ToolEvent,
    ToolFinished, ToolStarted, TurnStarted, UserEvent, UserInput,
};
use crewagent_core::payload::Payload;
use crewagent_core::run::history::Position;
use crewagent_core::settings::RunSettings;
use crewagent_core::state::run_state::RunState;

use crate::scripted::COMPLETE;

/// Contents of a run.
#[derive(Debug, Default)]
pub(super) struct Tape {
    pub(super) start: Option<RunStart>,
    /// Settings at the end.
    pub(super) settings: RunSettings,
    /// Replies by node, the nodes in the order of their first visit; those after completion have no node.
    pub(super) nodes: Vec<(Option<String>, Vec<TapeReply>)>,
    pub(super) inputs: Vec<Payload>,
    /// Notes for the reader who plays it again.
    pub(super) notes: Vec<String>,
    /// Values that the runtime generated, which differ in another run.
    pub(super) passing: Passing,
    hand: Hand,
}

/// Start of a run.
#[derive(Debug)]
pub(super) struct RunStart {
    pub(super) run_id: String,
    pub(super) package: String,
    pub(super) workflow: String,
    pub(super) agent: String,
    pub(super) state: RunState,
}

/// Reply with the messages before it.
#[derive(Debug)]
pub(super) struct TapeReply {
    pub(super) reply: Reply,
    /// Number of the visit, if this is its first reply.
    pub(super) visit: Option<usize>,
    /// Input of the user since the previous reply.
    pub(super) said: Vec<Payload>,
    /// Answers to the calls of the previous reply, if they are all in the request.
    pub(super) answers: Option<Vec<Answer>>,
    /// Last answer of a tool that is certainly in the request.
    pub(super) last: Option<Payload>,
}

/// Values that differ from run to run.
#[derive(Debug, Default)]
pub(super) struct Passing {
    pub(super) run_id: String,
    /// Times that the runtime wrote into documents.
    pub(super) times: BTreeSet<String>,
}

/// State of the walk over the events.
#[derive(Debug, Default)]
struct Hand {
    /// Node of the open request, and its number.
    open: Option<(u64, Option<String>)>,
    /// Node of the last reply.
    place: Option<Option<String>>,
    visits: Vec<Option<String>>,
    position: Position,
    said: Vec<Payload>,
    /// Number of calls of the last reply that was not empty.
    calls: usize,
    answers: Vec<Answer>,
    last: Option<Payload>,
    /// Messages since the model's last reply that are still in its context.
    view: TapeView,
    failure: Option<String>,
    /// Number of drafts of the last reply that are not written yet.
    drafts: usize,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum TapeView {
    #[default]
    Whole,
    Cut,
}

impl Tape {
    /// Reads the events of a run, in their order.
    pub(super) fn of(events: &[Event]) -> Self {
        let mut tape = Self::default();
        for event in events {
            tape.take(event);
        }
        if let Some((turn, _)) = tape.hand.open.take() {
            let why = tape.hand.failure.take().unwrap_or_else(|| "the run was left there".into());
            tape.notes.push(format!("Request {turn} was not answered: {why}"));
        }
        tape
    }

    fn take(&mut self, event: &Event) {
        self.hand.position.take(&event.kind);
        match &event.kind {
            EventKind::Run(run) => self.take_run(event, run),
            EventKind::Conversation(_) => {}
            EventKind::User(UserEvent::Input(UserInput { text, .. })) => {
                self.inputs.push(text.clone());
                self.hand.said.push(text.clone());
            }
            EventKind::User(UserEvent::Asked(_)) => {}
            EventKind::Frame(FrameEvent::Planned(FramePlanned { at, .. })) => {
                self.passing.times.insert(at.clone());
            }
            EventKind::Frame(FrameEvent::Entered(_) | FrameEvent::Left(_)) => self.hand.forget(),
            EventKind::Frame(FrameEvent::Held(_)) | EventKind::State(StateEvent::Entered(_)) => {}
            EventKind::State(StateEvent::Changed(change)) => {
                if change.moved.is_some() && !change.state.complete {
                    self.hand.forget();
                }
            }
            EventKind::Model(model) => self.take_model(model),
            EventKind::Tool(ToolEvent::Started(ToolStarted { intent, .. })) => {
                if let Some(intent) = intent {
                    self.passing.times.insert(intent.time.clone());
                }
            }
            // The calls that write the drafts of a reply are not the model's.
            EventKind::Tool(ToolEvent::Finished(_)) if self.hand.drafts > 0 => {
                self.hand.drafts -= 1;
            }
            EventKind::Tool(ToolEvent::Finished(ToolFinished { answer, .. })) => {
                self.hand.last = Some(answer.result.clone());
                self.hand.answers.push(answer.clone());
            }
            EventKind::Tool(ToolEvent::Listed(_) | ToolEvent::Logged(_)) => {}
        }
    }

    fn take_run(&mut self, event: &Event, run: &RunEvent) {
        match run {
            RunEvent::Started(RunStarted {
                package, workflow, agent_id, state, settings, ..
            }) => {
                self.settings = settings.clone();
                let run_id = event.run_id.clone().unwrap_or_default();
                self.passing.run_id.clone_from(&run_id);
                self.passing.times.insert(to_the_second(&event.time));
                self.start = Some(RunStart {
                    run_id,
                    package: package.clone(),
                    workflow: workflow.clone(),
                    agent: agent_id.clone(),
                    state: state.clone(),
                });
            }
            RunEvent::Resumed(RunResumed { fresh, state, settings, .. }) => {
                if let Some(settings) = settings {
                    self.settings = settings.clone();
                }
                self.resumed(*fresh, state.as_ref());
            }
            RunEvent::PhaseChanged(PhaseChanged { reason, message, .. }) => {
                self.rested(*reason);
                self.hand.failure.clone_from(message);
            }
            RunEvent::Failed(RunFailed { message, .. }) => {
                self.hand.failure = Some(message.clone());
            }
            RunEvent::Finished(_) => {}
        }
    }

    fn take_model(&mut self, model: &ModelEvent) {
        match model {
            ModelEvent::TurnStarted(TurnStarted { turn, node_id, frame, .. }) => {
                let workflow =
                    frame.and_then(|frame| Some((frame, self.hand.position.workflow_of(frame)?)));
                let place = match (workflow, node_id) {
                    (Some((frame, workflow)), node) => {
                        let node = node.as_deref().unwrap_or(COMPLETE);
                        Some(format!("{workflow}#{frame}/{node}"))
                    }
                    (None, node) => node.clone(),
                };
                self.hand.open = Some((*turn, place));
                self.hand.failure = None;
            }
            ModelEvent::Replied(AssistantMessage { reply, .. }) => self.replied(reply),
            ModelEvent::ContextCut(_) | ModelEvent::Overflowed(_) => self.hand.forget(),
            ModelEvent::Delta(_)
            | ModelEvent::Retried(_)
            | ModelEvent::FellBack(_)
            | ModelEvent::Stopped(_)
            | ModelEvent::Nudged(_) => {}
        }
    }

    fn resumed(&mut self, fresh: bool, state: Option<&RunState>) {
        let Some(state) = state.filter(|_| fresh || state.is_some()) else { return };
        self.hand.forget();
        self.note(format!(
            "Before request {} another process took over and began anew at {}; a run that is played does not.",
            self.count() + 1,
            if state.complete { "the end" } else { &state.current_node_id },
        ));
    }

    fn rested(&mut self, reason: Option<Reason>) {
        let limit = match reason {
            Some(Reason::LimitTurns) => "--max-turns",
            Some(Reason::LimitTime) => "--timeout",
            Some(Reason::LimitTokens) => "--max-tokens",
            Some(Reason::LimitCost) => "--max-cost",
            Some(
                Reason::LimitWindow
                | Reason::LimitNode
                | Reason::StopPoint
                | Reason::Question
                | Reason::Loop
                | Reason::Stalled
                | Reason::Call
                | Reason::EmptyReply
                | Reason::Paused
                | Reason::Stopped
                | Reason::Model
                | Reason::Disk
                | Reason::Internal,
            )
            | None => return,
        };
        let replies = match self.count() {
            1 => "1 reply".to_owned(),
            count => format!("{count} replies"),
        };
        self.note(format!("A limit stopped it after {replies}; {limit} gives it more room."));
    }

    fn note(&mut self, note: String) {
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    fn count(&self) -> usize {
        self.nodes.iter().map(|(_, replies)| replies.len()).sum()
    }

    fn replied(&mut self, reply: &Reply) {
        let hand = &mut self.hand;
        let place = hand.open.take().and_then(|(_, node)| node);
        let is_new = hand.place.as_ref() != Some(&place);
        if is_new {
            hand.visits.push(place.clone());
        }
        let visits = hand.visits.iter().filter(|visited| **visited == place).count();
        let is_whole = hand.view == TapeView::Whole && hand.calls > 0;
        let taken = TapeReply {
            visit: is_new.then_some(visits),
            said: std::mem::take(&mut hand.said),
            answers: Some(hand.answers.clone())
                .filter(|answers| is_whole && answers.len() == hand.calls),
            last: hand.last.clone(),
            reply: as_written(reply),
        };
        hand.drafts = reply.drafts.len();
        hand.place = Some(place.clone());
        // An empty reply leaves no trace in the next request.
        if !is_empty(reply) {
            hand.calls = reply.tool_calls.len();
            hand.answers.clear();
            hand.view = TapeView::Whole;
        }
        match self.nodes.iter_mut().find(|(node, _)| *node == place) {
            Some((_, replies)) => replies.push(taken),
            None => self.nodes.push((place, vec![taken])),
        }
    }
}

impl Hand {
    /// Forgets earlier messages, because they are no longer in the context, or may not be.
    fn forget(&mut self) {
        self.view = TapeView::Cut;
        self.last = None;
    }
}

/// Returns a reply as the model wrote it, with the marks of its drafts.
fn as_written(reply: &Reply) -> Reply {
    let mut written = reply.clone();
    let drafts = std::mem::take(&mut written.drafts);
    if !drafts.is_empty() {
        written.content = written.content.map(|text| with_marks(&text, &drafts));
    }
    written
}

/// Returns true if a reply has no text and no calls.
pub(super) fn is_empty(reply: &Reply) -> bool {
    let has_words = reply.content.as_ref().is_some_and(|text| !text.trim().is_empty());
    reply.tool_calls.is_empty() && !has_words
}

/// Returns the time of an event as documents write it.
fn to_the_second(time: &str) -> String {
    match time.split_once('.') {
        Some((seconds, _)) => format!("{seconds}Z"),
        None => time.to_owned(),
    }
}
