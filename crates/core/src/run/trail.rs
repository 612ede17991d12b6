//! Where a run is, followed from event to event: which workflow is active, who waits for it, where each stands.

use std::collections::BTreeMap;

use crate::event::{
    EventKind, FrameEntered, FrameEvent, FrameLeft, RunEvent, RunResumed, RunStarted, StateEvent,
};
use crate::state::call::{Caller, Frame};
use crate::state::run_state::RunState;

/// The place of a run after the events that were taken.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trail {
    run_state: RunState,
    callers: Vec<Caller>,
    /// The workflow of every call that was seen.
    workflows: BTreeMap<u64, String>,
}

impl Trail {
    /// A run that stands here.
    pub fn at(run_state: RunState, callers: &[Caller]) -> Self {
        let mut trail = Self::default();
        trail.place(run_state, callers);
        trail
    }

    /// Goes on by one event. What does not move the run changes nothing.
    pub fn take(&mut self, kind: &EventKind) {
        if let EventKind::Run(RunEvent::Started(RunStarted { state, forked_from, .. })) = kind {
            let callers = forked_from.as_ref().map(|fork| fork.callers.as_slice());
            self.place(state.clone(), callers.unwrap_or_default());
        } else if let EventKind::Run(RunEvent::Resumed(RunResumed {
            state: Some(state),
            callers,
            ..
        })) = kind
        {
            self.place(state.clone(), callers);
        } else if let EventKind::State(StateEvent::Changed(change)) = kind {
            self.run_state = change.state.clone();
        } else if let EventKind::Frame(FrameEvent::Entered(FrameEntered { frame, state, .. })) =
            kind
        {
            self.know(frame);
            let state = std::mem::replace(&mut self.run_state, state.clone());
            self.callers.push(Caller { frame: frame.clone(), state });
        } else if let EventKind::Frame(FrameEvent::Left(FrameLeft { change, .. })) = kind {
            self.callers.pop();
            self.run_state = change.state.clone();
        }
    }

    fn place(&mut self, run_state: RunState, callers: &[Caller]) {
        self.run_state = run_state;
        self.callers = callers.to_vec();
        callers.iter().for_each(|caller| self.know(&caller.frame));
    }

    fn know(&mut self, frame: &Frame) {
        self.workflows.insert(frame.call, frame.workflow_id.clone());
    }

    /// Where the active workflow stands.
    pub fn run_state(&self) -> &RunState {
        &self.run_state
    }

    /// The workflows that wait for it, the run's own first.
    pub fn callers(&self) -> &[Caller] {
        &self.callers
    }

    /// The open calls, the outermost first.
    pub fn frames(&self) -> impl DoubleEndedIterator<Item = &Frame> {
        self.callers.iter().map(|caller| &caller.frame)
    }

    /// The workflow that is active, where it was called.
    pub fn called(&self) -> Option<&str> {
        self.callers.last().map(|caller| caller.frame.workflow_id.as_str())
    }

    /// The workflow of a call that was seen.
    pub fn workflow_of(&self, call: u64) -> Option<&str> {
        self.workflows.get(&call).map(String::as_str)
    }

    /// The files that were made so far, also by workflows that wait.
    pub fn artifacts(&self) -> Vec<String> {
        artifacts(&self.callers, &self.run_state)
    }
}

/// The files that a workflow and those that wait for it have made, each once.
pub fn artifacts(callers: &[Caller], run_state: &RunState) -> Vec<String> {
    let states = callers.iter().map(|caller| &caller.state).chain([run_state]);
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
    use crate::event::StateChange;

    fn at(node: &str, artifacts: &[&str]) -> RunState {
        RunState {
            current_node_id: node.to_owned(),
            artifacts: artifacts.iter().map(|path| (*path).to_owned()).collect(),
            ..RunState::default()
        }
    }

    fn frame(call: u64) -> Frame {
        Frame { workflow_id: format!("w{call}"), node_id: "c".to_owned(), call }
    }

    fn entered(call: u64, state: RunState) -> EventKind {
        let (frame, agent_id) = (frame(call), String::new());
        EventKind::from(FrameEntered { frame, depth: 1, agent_id, state })
    }

    #[test]
    fn a_trail_goes_into_calls_and_back() {
        let mut trail = Trail::at(at("a", &["x"]), &[]);
        trail.take(&entered(1, at("b", &[])));
        trail.take(&entered(2, at("c", &["y", "x"])));
        assert_eq!(trail.called(), Some("w2"));
        assert_eq!(trail.frames().map(|frame| frame.call).collect::<Vec<_>>(), [1, 2]);
        assert_eq!(trail.artifacts(), ["x", "y"]);
        let change = StateChange { state: at("d", &["y"]), ..StateChange::default() };
        let (frame, failed) = (frame(2), None);
        trail.take(&EventKind::from(FrameLeft { frame, failed, change: Box::new(change) }));
        assert_eq!((trail.called(), trail.run_state().current_node_id.as_str()), (Some("w1"), "d"));
        assert_eq!((trail.workflow_of(2), trail.workflow_of(3)), (Some("w2"), None));
    }
}
