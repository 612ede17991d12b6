//! Changes of the active workflow: when a call enters or returns, and the consequences.

use std::sync::Arc;

use crewagent_format::id::AgentId;
use crewagent_format::package::Workflow;
use jiff::Timestamp;

use super::visit::VisitedVariables;
use super::{Effect, Machine, Moves, Rest, Stance, Subject, tell};
use crate::event::{EventKind, Phase, Reason, StateChange};
use crate::frame_id::FrameId;
use crate::prompt;
use crate::run::history::Position;
use crate::settings::RunSettings;
use crate::state::frame::{Caller, DEEPEST, Frame};
use crate::state::guard::Confirmation;
use crate::state::run_state::RunState;
use crate::state::visit_files::VisitFiles;

/// A change of the active workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FrameChange {
    /// The current node calls a workflow.
    Enter { frame: Frame },
    /// The active workflow has ended.
    Return {
        frame: Frame,
        /// Number of the attempt in the run, from 1.
        attempt: u64,
        /// Reason why the workflow could not be completed.
        failed: Option<String>,
    },
}

/// Result of a change of the active workflow.
#[derive(Clone, Debug)]
pub enum FrameChanged {
    /// The called workflow is active, in this state.
    Entered(Box<RunState>),
    /// The caller is active again.
    Left(Box<StateChange>),
    /// The change is not possible, for this reason.
    Held(String),
}

/// Frames of a run.
#[derive(Clone, Debug, Default)]
pub(super) struct OpenFrames {
    /// Workflows that wait for one that they called, outermost first.
    pub(super) callers: Vec<Caller>,
    /// Highest number of a call so far.
    pub(super) made: u64,
    /// Number of attempted returns.
    returns: u64,
    hold: Hold,
}

/// State of a return that was refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Hold {
    #[default]
    Nothing,
    /// The model was told and has not replied yet, so no return is attempted.
    Reported,
    /// The model was told and made calls. If they did not help, it gets another turn.
    Retry,
    /// The model was told and made no more calls. If the return still fails, the user is asked.
    Last,
}

impl Machine {
    /// Creates a run at a position inside its frames that has not started.
    pub fn at(subject: Subject, settings: RunSettings, place: Position) -> Self {
        let mut machine = Self::new(subject, settings, place.state);
        machine.place(place.callers, place.calls);
        machine.files.open(machine.callers().len());
        machine.gates.open(machine.callers().len());
        machine
    }

    /// Returns the workflows that wait for one that they called, outermost first.
    pub fn callers(&self) -> &[Caller] {
        &self.frames.callers
    }

    /// Returns the files of the visit in which the active workflow was called.
    pub fn files_of_caller(&self) -> Arc<VisitFiles> {
        self.files.of_caller()
    }

    /// Returns the number of the active frame; none in the run's own workflow.
    pub fn frame(&self) -> Option<FrameId> {
        self.frames.callers.last().map(|caller| caller.frame.id)
    }

    /// Returns the workflow at this depth: 0 is the run's own.
    pub fn workflow_at(&self, depth: usize) -> Option<&Workflow> {
        match depth.checked_sub(1) {
            None => self.subject.workflow(),
            Some(above) => {
                let frame = &self.frames.callers.get(above)?.frame;
                self.subject.package()?.workflow(&frame.workflow_id)
            }
        }
    }

    /// Returns the agent of the nodes that name none, in the workflow at this depth: the agent of the calling node.
    pub fn agent_at(&self, depth: usize) -> Option<&AgentId> {
        match (depth.checked_sub(1), &self.subject) {
            (_, Subject::Conversation { .. }) => None,
            (None, Subject::Workflow { agent, .. }) => Some(agent),
            (Some(above), Subject::Workflow { .. }) => {
                self.agent_called_by(above, &self.frames.callers.get(above)?.frame)
            }
        }
    }

    /// Returns the agent of a workflow that the one at this depth calls.
    pub fn agent_called_by(&self, depth: usize, frame: &Frame) -> Option<&AgentId> {
        let node = self.workflow_at(depth)?.graph.node(&frame.node_id);
        let own = node.and_then(|node| node.agent_id.as_ref());
        own.or_else(|| self.agent_at(depth))
    }

    pub(super) fn place(&mut self, callers: Vec<Caller>, calls: u64) {
        let made =
            callers.iter().map(|caller| caller.frame.id.number()).max().unwrap_or(0).max(calls);
        self.frames =
            OpenFrames { callers, made, returns: self.frames.returns, hold: Hold::Nothing };
    }

    /// Moves the run to the position in the document, which wins over the history; the old context is useless there.
    pub(super) fn relocate(&mut self, place: Position, now: Timestamp) {
        let Position { state, callers, calls } = place;
        let is_same_visit = self.run_state.current_node_id == state.current_node_id
            && self.run_state.steps_completed == state.steps_completed
            && self.frame() == callers.last().map(|caller| caller.frame.id);
        self.run_state = state;
        self.place(callers, calls.max(self.frames.made));
        self.queue.clear();
        self.pending = None;
        if is_same_visit {
            self.files.resume(now);
        } else {
            self.created.clear();
            self.files.relocate(self.callers().len(), now);
        }
        self.variables = VisitedVariables::resumed(&self.run_state);
        self.gates.open(self.callers().len());
        self.typed_choice = None;
        self.context.settle();
        self.leave_node();
        self.anchor.is_introduced = false;
        self.anchor.not_executed.clear();
        self.approved = Moves::Ask;
        self.agreed = None;
        self.grants.once = None;
        self.confirmation = Confirmation::Needed;
        match &self.stance {
            Stance::Performing | Stance::Surveying | Stance::ChangingFrame(_) => {
                self.stance = Stance::Asking(self.ask())
            }
            Stance::Resting(rest) if rest.question.is_some() => {
                let reason = Some(Reason::StopPoint);
                self.stance = Stance::Resting(Rest { reason, ..Rest::of(Phase::WaitingUser) });
            }
            Stance::Asking(_) | Stance::Resting(_) => {}
        }
    }

    /// Returns the change of the active workflow that is due before the next request.
    pub(super) fn due(&self) -> Option<FrameChange> {
        let frames = &self.frames;
        if let Some(Caller { frame, .. }) = frames.callers.last() {
            let failed = self.run_state.failed.clone().filter(|_| !self.run_state.complete);
            if self.run_state.complete || failed.is_some() {
                let (frame, attempt) = (frame.clone(), frames.returns + 1);
                let change = FrameChange::Return { frame, attempt, failed };
                return Some(change).filter(|_| frames.hold != Hold::Reported);
            }
        }
        if self.run_state.complete {
            return None;
        }
        let node_id = self.run_state.current_node_id.as_str();
        let called = self.workflow()?.calls.get(node_id)?;
        let workflow_id = called.workflow.to_string();
        let (node_id, id) = (node_id.to_owned(), FrameId::new(frames.made + 1));
        Some(FrameChange::Enter { frame: Frame { workflow_id, node_id, id } })
    }

    /// Requests a change of the active workflow, before anything else is asked.
    pub(super) fn change_frame(&mut self, change: FrameChange, effects: &mut Vec<Effect>) {
        if let (FrameChange::Enter { frame }, true) =
            (&change, self.frames.callers.len() >= DEEPEST)
        {
            let message = format!(
                "`{}` would call the workflow `{}`, but {DEEPEST} calls are open already, and there may be no more. The package must be changed.",
                frame.node_id, frame.workflow_id
            );
            self.call_stops(message, effects);
            return;
        }
        self.enter(Phase::Running, effects);
        self.stance = Stance::ChangingFrame(change.clone());
        effects.push(Effect::FrameChange(change));
    }

    pub(super) fn frame_changed(
        &mut self,
        changed: FrameChanged,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        let Stance::ChangingFrame(change) = self.stance.clone() else {
            effects.push(self.open());
            return;
        };
        match (changed, change) {
            (FrameChanged::Entered(state), FrameChange::Enter { frame }) => {
                self.frames.made = frame.id.number();
                self.allowance.call();
                self.variables.enter(&state);
                let caller = std::mem::replace(&mut self.run_state, *state);
                self.frames.callers.push(Caller { frame, state: caller });
                self.files.enter(now);
                self.gates.enter();
                self.begin_here();
                self.anchor.is_introduced = false;
                self.ask_model(now, effects);
            }
            (FrameChanged::Left(change), FrameChange::Return { frame, failed, .. }) => {
                self.left(&frame, *change, failed, now, effects);
            }
            (FrameChanged::Held(why), FrameChange::Enter { .. }) => self.call_stops(why, effects),
            (FrameChanged::Held(why), FrameChange::Return { .. }) => {
                self.return_is_held(why, now, effects)
            }
            (FrameChanged::Entered(_) | FrameChanged::Left(_), _) => effects.push(self.open()),
        }
    }

    fn left(
        &mut self,
        frame: &Frame,
        change: StateChange,
        failed: Option<String>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        self.frames.callers.pop();
        let wrote = std::mem::take(&mut self.run_state.artifacts);
        self.note_return(frame, &wrote, &change);
        self.frames.returns += 1;
        self.variables.leave();
        self.files.leave(change.moved.is_some().then_some(now));
        self.gates.leave(change.moved.is_some());
        self.run_state = change.state.clone();
        self.begin_here();
        effects
            .push(tell(EventKind::from(Box::new(StateChange { frame: self.frame(), ..change }))));
        match failed {
            None if self.ends_silently() => self.stop(Reason::StopPoint, None, effects),
            None => self.ask_model(now, effects),
            Some(why) => {
                let message = format!(
                    "The workflow `{}`, called by `{}`, could not be completed: {}. Say what is to be done, and it is called again.",
                    frame.workflow_id,
                    frame.node_id,
                    why.trim_end_matches('.')
                );
                self.call_stops(message, effects);
            }
        }
    }

    /// Tells the model why the return failed, so that it can fix the cause; if it did not, asks the user.
    fn return_is_held(&mut self, why: String, now: Timestamp, effects: &mut Vec<Effect>) {
        self.frames.returns += 1;
        let has_words = !self.waiting.is_empty();
        let hold = std::mem::replace(&mut self.frames.hold, Hold::Reported);
        if hold == Hold::Last && !has_words {
            self.frames.hold = Hold::Nothing;
            self.call_stops(why, effects);
            return;
        }
        self.speak();
        if hold == Hold::Nothing || has_words {
            self.context.nudge(prompt::return_held(&why));
        }
        self.ask_model(now, effects);
    }

    /// Retries a refused return, because the model made calls.
    pub(super) fn let_go(&mut self) {
        if self.frames.hold == Hold::Reported {
            self.frames.hold = Hold::Retry;
        }
    }

    /// Retries the return for the last time, because the model made no more calls.
    pub(super) fn let_go_for_good(&mut self) {
        if self.frames.hold != Hold::Nothing {
            self.frames.hold = Hold::Last;
        }
    }

    /// Forgets that the return was refused: the user replied, or the child is not complete after all.
    pub(super) fn forget_hold(&mut self) {
        self.frames.hold = Hold::Nothing;
    }

    fn call_stops(&mut self, message: String, effects: &mut Vec<Effect>) {
        let (phase, reason) = (Phase::WaitingUser, Some(Reason::Call));
        self.rest(Rest { phase, reason, message: Some(message), question: None }, effects);
    }

    /// Resets the context for another active workflow; the text about the old position is useless there.
    fn begin_here(&mut self) {
        self.frames.hold = Hold::Nothing;
        self.created.clear();
        self.approved = Moves::Ask;
        self.agreed = None;
        self.confirmation = Confirmation::Needed;
        self.leave_node();
    }
}
