//! The nodes that a run went through, and those of the workflows that it called: a tree, told line by line.

use crewagent_core::event::{EventKind, FrameEvent, FrameLeft, RunEvent, RunResumed, StateEvent};
use crewagent_core::run::trail::Trail;
use crewagent_core::state::call::Frame;
use serde_json::{Map, Value as Json, json};

use crate::paint::{self, ACCENT, ERROR, GOOD, NAME, QUIET};
use crate::render::names::Names;

/// The way of a run.
#[derive(Debug, Default)]
pub(super) struct Path {
    stops: Vec<Stop>,
    trail: Trail,
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
    pub(super) fn take(&mut self, kind: &EventKind) {
        let before = self.trail.clone();
        self.trail.take(kind);
        if let EventKind::Run(RunEvent::Started(_))
        | EventKind::Run(RunEvent::Resumed(RunResumed { state: Some(_), .. })) = kind
        {
            self.arrive(&before);
        } else if let EventKind::State(StateEvent::Changed(change)) = kind {
            if let Some(moved) = &change.moved {
                self.stop(Some(moved.label.clone()));
            }
        } else if let EventKind::Frame(FrameEvent::Entered(_)) = kind {
            self.stop(None);
        } else if let EventKind::Frame(FrameEvent::Left(FrameLeft {
            frame, failed: Some(_), ..
        })) = kind
        {
            let own = |stop: &&mut Stop| stop.call.as_ref() == Some(frame);
            if let Some(last) = self.stops.iter_mut().rev().find(own) {
                last.how = How::Failed;
            }
        }
    }

    /// Where the run is.
    pub(super) fn trail(&self) -> &Trail {
        &self.trail
    }

    /// The run begins, or goes on where nobody has seen it come.
    fn arrive(&mut self, before: &Trail) {
        let frames = |trail: &Trail| trail.frames().cloned().collect::<Vec<_>>();
        let is_same = !self.stops.is_empty()
            && frames(before) == frames(&self.trail)
            && before.run_state().current_node_id == self.trail.run_state().current_node_id;
        if is_same {
            return;
        }
        let mut outer = None;
        for (depth, caller) in self.trail.callers().iter().enumerate() {
            let (node, call) = (caller.frame.node_id.clone(), outer.replace(caller.frame.clone()));
            let is_known = |stop: &Stop| stop.node == node && stop.call == call;
            if !self.stops.iter().any(is_known) {
                self.stops.push(Stop { node, label: None, call, depth, how: How::Entered });
            }
        }
        self.stop(None);
    }

    fn stop(&mut self, label: Option<String>) {
        let node = self.trail.run_state().current_node_id.clone();
        let (call, depth) = (self.trail.frames().next_back().cloned(), self.trail.callers().len());
        self.stops.push(Stop { node, label, call, depth, how: How::Entered });
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
        let is_active = stop.depth == self.trail.callers().len();
        let is_there = match stop.depth.checked_sub(1) {
            None => true,
            Some(above) => self.trail.frames().nth(above) == stop.call.as_ref(),
        };
        is_last && is_there && !(is_active && self.trail.run_state().complete)
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
