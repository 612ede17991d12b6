//! The nodes that a run went through, and those of the workflows that it called: a tree, told line by line.

use crewagent_core::event::Fact;
use crewagent_core::state::call::{Caller, Frame};
use crewagent_core::state::standing::Standing;
use serde_json::{Map, Value as Json, json};

use crate::paint::{self, ACCENT, ERROR, GOOD, NAME, QUIET};
use crate::render::names::Names;

/// The way of a run.
#[derive(Debug, Default)]
pub(super) struct Path {
    stops: Vec<Stop>,
    /// The calls that are open.
    open: Vec<Frame>,
    /// Where the active workflow stands.
    standing: Standing,
}

/// A node that was entered.
#[derive(Debug)]
struct Stop {
    node: String,
    /// The edge that led there.
    label: Option<String>,
    /// The call that it belongs to, and how deep that is.
    call: Option<Frame>,
    depth: usize,
    how: How,
}

/// What became of a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum How {
    Entered,
    /// The workflow that it belongs to could not be completed.
    Failed,
}

impl Path {
    pub(super) fn take(&mut self, fact: &Fact) {
        if let Fact::RunStarted { state, .. } = fact {
            self.arrive(state, &[]);
        } else if let Fact::RunResumed { state: Some(state), callers, .. } = fact {
            self.arrive(state, callers);
        } else if let Fact::StateChanged(change) = fact {
            if let Some(moved) = &change.moved {
                self.stop(&moved.to, Some(moved.label.clone()));
            }
            self.standing = change.state.clone();
        } else if let Fact::WorkflowEntered { frame, state, .. } = fact {
            self.open.push(frame.clone());
            self.standing = state.clone();
            self.stop(&state.current_node_id, None);
        } else if let Fact::WorkflowLeft { frame, failed, change } = fact {
            let own = |stop: &&mut Stop| stop.call.as_ref() == Some(frame);
            let last = self.stops.iter_mut().rev().find(own);
            if let Some(last) = last.filter(|_| failed.is_some()) {
                last.how = How::Failed;
            }
            self.open.pop();
            self.standing = change.state.clone();
        }
    }

    /// Where the active workflow stands.
    pub(super) fn standing(&self) -> &Standing {
        &self.standing
    }

    /// The calls that are open, the run's own workflow being the first caller.
    pub(super) fn open(&self) -> &[Frame] {
        &self.open
    }

    fn arrive(&mut self, state: &Standing, callers: &[Caller]) {
        let open: Vec<Frame> = callers.iter().map(|caller| caller.frame.clone()).collect();
        let is_elsewhere = self.open != open || self.stops.is_empty();
        self.open = open;
        if is_elsewhere || self.standing.current_node_id != state.current_node_id {
            self.stop(&state.current_node_id, None);
        }
        self.standing = state.clone();
    }

    fn stop(&mut self, node: &str, label: Option<String>) {
        let (call, depth) = (self.open.last().cloned(), self.open.len());
        self.stops.push(Stop { node: node.to_owned(), label, call, depth, how: How::Entered });
    }

    pub(super) fn human(&self, names: &Names) -> String {
        let mut text = format!("\n{}\n", paint::styled(NAME, "Path"));
        let mut last_call = None;
        for (at, stop) in self.stops.iter().enumerate() {
            let indent = "    ".repeat(stop.depth);
            let is_new = stop.call.is_some() && stop.call.as_ref() != last_call;
            if let Some(frame) = stop.call.as_ref().filter(|_| is_new) {
                let name = paint::printable(&frame.workflow_id);
                let line = format!("{name} (call {})", frame.call);
                let outer = "    ".repeat(stop.depth - 1);
                text.push_str(&format!(
                    "  {outer}  {} {}\n",
                    paint::styled(QUIET, "↳"),
                    paint::styled(QUIET, line)
                ));
            }
            last_call = stop.call.as_ref();
            let mark = match stop.how {
                How::Failed => paint::styled(ERROR, "✗"),
                How::Entered if self.is_open(at) => paint::styled(ACCENT, "●"),
                How::Entered => paint::styled(GOOD, "✓"),
            };
            let called = stop.call.as_ref().map(|frame| frame.workflow_id.as_str());
            let title = paint::styled(QUIET, names.title(called, &stop.node));
            let label = stop.label.as_ref().map(|label| format!("  ({})", paint::printable(label)));
            let label = paint::styled(QUIET, label.unwrap_or_default());
            let line = format!("  {indent}{mark} {}  {title}{label}", paint::printable(&stop.node));
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// Whether the run is at this stop, or waits there for a workflow that it called.
    fn is_open(&self, at: usize) -> bool {
        let Some(stop) = self.stops.get(at) else { return false };
        let level = |other: &Stop| other.depth == stop.depth && other.call == stop.call;
        let is_last = !self.stops.iter().skip(at + 1).any(level);
        let is_active = stop.depth == self.open.len();
        let is_there = match stop.depth.checked_sub(1) {
            None => true,
            Some(above) => self.open.get(above) == stop.call.as_ref(),
        };
        is_last && is_there && !(is_active && self.standing.complete)
    }

    pub(super) fn json(&self) -> Vec<Json> {
        let one = |stop: &Stop| {
            let mut fields = Map::new();
            fields.insert("node".to_owned(), json!(stop.node));
            fields.insert("label".to_owned(), json!(stop.label));
            if let Some(frame) = &stop.call {
                fields.insert("workflow".to_owned(), json!(frame.workflow_id));
                fields.insert("call".to_owned(), json!(frame.call));
                fields.insert("depth".to_owned(), json!(stop.depth));
            }
            if stop.how == How::Failed {
                fields.insert("failed".to_owned(), json!(true));
            }
            Json::Object(fields)
        };
        self.stops.iter().map(one).collect()
    }
}
