//! Visits: the nodes that a run came to. Each visit is known by the event that led there.

use crate::frame_id::FrameId;
use crate::state::frame::Frame;

/// Arrival of a run at a node.
///
/// A run that starts or resumes inside frames visits its active node alone; the nodes that wait are in `frames`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Visit {
    /// Event that led to the node.
    pub seq: u64,
    pub node: String,
    /// Label of the edge that was taken.
    pub label: Option<String>,
    /// Frames around the node, outermost first; empty in the run's own workflow.
    pub frames: Vec<Frame>,
    /// Number of this visit among those of nodes with this name, from 1.
    pub number: usize,
    /// True if the workflow could not be completed and this was its last node.
    pub failed: bool,
}

impl Visit {
    /// Returns the number of the visit's frame.
    pub fn frame_id(&self) -> Option<FrameId> {
        self.frames.last().map(|frame| frame.id)
    }
}

/// Finds a visit by the user's name for it: `node` is the last visit of that node, `node#2` the second.
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

#[cfg(test)]
mod tests {
    use super::*;

    fn visit(node: &str, number: usize) -> Visit {
        let (label, frames) = (None, Vec::new());
        Visit { seq: 1, node: node.to_owned(), label, frames, number, failed: false }
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
