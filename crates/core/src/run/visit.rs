//! The nodes that a run came to, in their order. Each visit is known by the event that led there.

use super::trail::Trail;
use crate::event::{Event, EventKind, FrameEvent, RunEvent, RunResumed, StateEvent};

/// A node that was entered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// The event that led there.
    pub seq: u64,
    /// The node.
    pub node: String,
    /// The label of the edge, where one was taken.
    pub label: Option<String>,
    /// The call of a workflow that it belongs to; none in the run's own.
    pub call: Option<u64>,
    /// Which visit of a node of this name it is, from 1.
    pub number: usize,
}

/// The visits of a run.
pub fn visits(events: &[Event]) -> Vec<Visit> {
    let mut way = Way::default();
    for event in events {
        way.take(event);
    }
    way.visits
}

/// The visit that a person means: `node` is the last one of that name, `node#2` the second.
pub fn named<'v>(visits: &'v [Visit], name: &str) -> Option<&'v Visit> {
    let last = |node: &str| visits.iter().rev().find(|visit| visit.node == node);
    match name.rsplit_once('#') {
        Some((node, number)) if last(name).is_none() => {
            let number: usize = number.parse().ok()?;
            visits.iter().find(|visit| visit.node == node && visit.number == number)
        }
        _ => last(name),
    }
}

#[derive(Default)]
struct Way {
    trail: Trail,
    visits: Vec<Visit>,
}

impl Way {
    fn take(&mut self, event: &Event) {
        if let EventKind::Run(RunEvent::Resumed(RunResumed { state: Some(_), .. })) = &event.kind {
            return self.resume(event);
        }
        self.trail.take(&event.kind);
        match &event.kind {
            EventKind::Run(RunEvent::Started(_)) | EventKind::Frame(FrameEvent::Entered(_)) => {
                self.arrive(event.seq, None)
            }
            // The move of a caller is told by this as well, behind `workflow.left`.
            EventKind::State(StateEvent::Changed(change)) => {
                if let Some(moved) = &change.moved {
                    self.arrive(event.seq, Some(moved.label.clone()));
                }
            }
            EventKind::Run(
                RunEvent::Resumed(_)
                | RunEvent::PhaseChanged(_)
                | RunEvent::Failed(_)
                | RunEvent::Finished(_),
            )
            | EventKind::Conversation(_)
            | EventKind::User(_)
            | EventKind::Frame(
                FrameEvent::Planned(_) | FrameEvent::Left(_) | FrameEvent::Held(_),
            )
            | EventKind::Tool(_)
            | EventKind::Model(_) => {}
        }
    }

    /// The run stays at its node, unless its state was changed from outside.
    fn resume(&mut self, event: &Event) {
        let before = self.trail.clone();
        self.trail.take(&event.kind);
        let node = |trail: &Trail| trail.run_state().current_node_id.clone();
        if node(&before) != node(&self.trail) || !before.frames().eq(self.trail.frames()) {
            self.arrive(event.seq, None);
        }
    }

    fn arrive(&mut self, seq: u64, label: Option<String>) {
        let node = self.trail.run_state().current_node_id.clone();
        let call = self.trail.frames().next_back().map(|frame| frame.call);
        let number = self.visits.iter().filter(|visit| visit.node == node).count() + 1;
        self.visits.push(Visit { seq, node, label, call, number });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(node: &str, number: usize) -> Visit {
        Visit { seq: 1, node: node.to_owned(), label: None, call: None, number }
    }

    fn check_named(name: &str, expected: Option<usize>) {
        let visits = [visit("a", 1), visit("b", 1), visit("a", 2), visit("odd#1", 1)];
        let found = named(&visits, name);
        assert_eq!(found, expected.map(|at| &visits[at]), "{name}");
    }

    #[test]
    fn a_visit_is_named_by_its_node_and_its_number() {
        check_named("a", Some(2));
        check_named("a#1", Some(0));
        check_named("a#2", Some(2));
        check_named("b", Some(1));
        check_named("odd#1", Some(3));
        check_named("odd#1#1", Some(3));
        for unknown in ["c", "a#3", "a#0", "a#", "#1", "", "odd"] {
            check_named(unknown, None);
        }
    }
}
