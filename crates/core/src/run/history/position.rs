//! The position of a run: the state of the active workflow, and the frames that wait for it.

use crate::event::{EventKind, FrameEvent, RunEvent, StateEvent};
use crate::frame_id::FrameId;
use crate::state::frame::{Caller, Frame};
use crate::state::run_state::RunState;

/// Position of a run: the state of its active workflow, and the callers that wait for it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Position {
    pub state: RunState,
    /// Workflows that wait for the active one, outermost first.
    pub callers: Vec<Caller>,
    /// Number of frames entered so far.
    pub calls: u64,
}

impl From<RunState> for Position {
    /// Returns a position in the run's own workflow.
    fn from(state: RunState) -> Self {
        Self { state, ..Self::default() }
    }
}

impl Position {
    /// Returns the position of a run in this state, inside these callers.
    pub fn new(state: RunState, callers: Vec<Caller>, calls: u64) -> Self {
        let calls = callers.iter().map(|caller| caller.frame.id.number()).fold(calls, u64::max);
        Self { state, callers, calls }
    }

    /// Follows an event. Most events leave the run at its position.
    pub fn take(&mut self, kind: &EventKind) {
        match kind {
            EventKind::Run(event) => self.run(event),
            EventKind::Frame(event) => self.frame(event),
            EventKind::State(StateEvent::Changed(change)) => self.state = change.state.clone(),
            EventKind::Conversation(_)
            | EventKind::User(_)
            | EventKind::State(StateEvent::Entered(_))
            | EventKind::Model(_)
            | EventKind::Tool(_) => {}
        }
    }

    fn run(&mut self, event: &RunEvent) {
        match event {
            RunEvent::Started(started) => {
                let fork = started.forked_from.as_ref();
                let (callers, calls) =
                    fork.map_or_else(Default::default, |fork| (fork.callers.clone(), fork.calls));
                self.place(&started.state, callers, calls);
            }
            RunEvent::Resumed(resumed) => match &resumed.state {
                Some(state) => self.place(state, resumed.callers.clone(), resumed.calls),
                None => self.calls = self.calls.max(resumed.calls),
            },
            RunEvent::PhaseChanged(_) | RunEvent::Failed(_) | RunEvent::Finished(_) => {}
        }
    }

    fn frame(&mut self, event: &FrameEvent) {
        match event {
            FrameEvent::Entered(entered) => {
                let state = std::mem::replace(&mut self.state, (*entered.state).clone());
                self.calls = self.calls.max(entered.frame.id.number());
                self.callers.push(Caller { frame: entered.frame.clone(), state });
            }
            FrameEvent::Left(left) => {
                self.callers.pop();
                self.state = left.change.state.clone();
            }
            FrameEvent::Planned(_) | FrameEvent::Held(_) => {}
        }
    }

    fn place(&mut self, state: &RunState, callers: Vec<Caller>, calls: u64) {
        *self = Self::new(state.clone(), callers, self.calls.max(calls));
    }

    /// Returns the open frames, the outermost first.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = &Frame> + ExactSizeIterator {
        self.callers.iter().map(|caller| &caller.frame)
    }

    /// Returns the number of the active frame; none in the run's own workflow.
    pub fn frame_id(&self) -> Option<FrameId> {
        self.callers.last().map(|caller| caller.frame.id)
    }

    /// Returns the active workflow, if a node entered it.
    pub fn subworkflow(&self) -> Option<&str> {
        self.callers.last().map(|caller| caller.frame.workflow_id.as_str())
    }

    /// Returns the workflow of an open frame.
    pub fn workflow_of(&self, frame: FrameId) -> Option<&str> {
        let mut frames = self.frames();
        frames.find(|open| open.id == frame).map(|open| open.workflow_id.as_str())
    }

    /// Returns true if both are at the same node, inside the same frames.
    pub fn is_same_node(&self, other: &Self) -> bool {
        self.state.current_node_id == other.state.current_node_id
            && self.frames().eq(other.frames())
    }

    /// Returns the files created so far, including those of waiting workflows.
    pub fn artifacts(&self) -> Vec<String> {
        artifacts(&self.callers, &self.state)
    }
}

/// Returns the files that a workflow and its waiting callers created, each once.
pub fn artifacts(callers: &[Caller], state: &RunState) -> Vec<String> {
    let states = callers.iter().map(|caller| &caller.state).chain([state]);
    let mut all: Vec<String> = Vec::new();
    for path in states.flat_map(|state| &state.artifacts) {
        if !all.contains(path) {
            all.push(path.clone());
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::event::{FrameEntered, FrameLeft, StateChange};

    fn at(node: &str, artifacts: &[&str]) -> RunState {
        RunState {
            current_node_id: node.to_owned(),
            artifacts: artifacts.iter().map(|path| (*path).to_owned()).collect(),
            ..RunState::default()
        }
    }

    fn frame(number: u64) -> Frame {
        let id = FrameId::new(number);
        Frame { workflow_id: format!("w{id}"), node_id: "c".to_owned(), id }
    }

    fn entered(number: u64, state: RunState) -> EventKind {
        let (frame, agent_id) = (frame(number), String::new());
        EventKind::from(FrameEntered { frame, depth: 1, agent_id, state: Box::new(state) })
    }

    #[test]
    fn a_position_goes_into_frames_and_back() {
        let mut position = Position::new(at("a", &["x"]), Vec::new(), 0);
        position.take(&entered(1, at("b", &[])));
        position.take(&entered(2, at("c", &["y", "x"])));
        assert_eq!(position.subworkflow(), Some("w2"));
        assert_eq!(position.frames().map(|frame| frame.id.number()).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(position.artifacts(), ["x", "y"]);
        assert_eq!(
            (position.workflow_of(FrameId::new(1)), position.workflow_of(FrameId::new(3))),
            (Some("w1"), None)
        );
        let change = StateChange { state: at("d", &["y"]), ..StateChange::default() };
        let (frame, failed) = (frame(2), None);
        position.take(&EventKind::from(FrameLeft { frame, failed, change: Box::new(change) }));
        assert_eq!(
            (position.subworkflow(), position.frame_id()),
            (Some("w1"), Some(FrameId::new(1)))
        );
        assert_eq!((position.state.current_node_id.as_str(), position.calls), ("d", 2));
    }
}
