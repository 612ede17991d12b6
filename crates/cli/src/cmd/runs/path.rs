//! The nodes that a run visited, and those of its sub-workflows: a tree, one row a node.

use crewagent_core::run::history::{History, Position, Visit};
use crewagent_core::state::frame::Frame;
use serde_json::{Map, Value as Json, json};

use crate::language::{say, text};
use crate::paint::{self, ACCENT, ERROR, GOOD, NAME, QUIET};
use crate::render::names::DisplayNames;

/// The path of a run.
#[derive(Debug, Default)]
pub(super) struct RunPath {
    rows: Vec<PathRow>,
    position: Position,
}

/// A node that was visited, or that waits for its sub-workflow.
#[derive(Debug)]
struct PathRow {
    node: String,
    /// The edge that led there.
    label: Option<String>,
    /// The frame that it belongs to, and its depth.
    frame: Option<Frame>,
    depth: usize,
    /// True if the workflow that it belongs to could not be completed.
    failed: bool,
}

impl RunPath {
    pub(super) fn of(history: &History) -> Self {
        let mut rows: Vec<PathRow> = Vec::new();
        for Visit { node, label, frames, failed, .. } in &history.visits {
            let mut outer = None;
            // A run that was forked or resumed inside frames did not visit the nodes that wait.
            for (depth, inner) in frames.iter().enumerate() {
                let (node, frame) = (inner.node_id.clone(), outer.replace(inner.clone()));
                if !rows.iter().any(|row| row.node == node && row.frame == frame) {
                    rows.push(PathRow { node, label: None, frame, depth, failed: false });
                }
            }
            let (node, label, depth) = (node.clone(), label.clone(), frames.len());
            rows.push(PathRow { node, label, frame: outer, depth, failed: *failed });
        }
        Self { rows, position: history.position.clone() }
    }

    pub(super) fn human(&self, names: &DisplayNames) -> String {
        let mut text = format!("\n{}\n", paint::styled(NAME, text!("Path", "路径")));
        let mut last_frame = None;
        for (at, row) in self.rows.iter().enumerate() {
            let indent = "    ".repeat(row.depth);
            let is_new = row.frame.is_some() && row.frame.as_ref() != last_frame;
            if let Some(frame) = row.frame.as_ref().filter(|_| is_new) {
                let name = paint::printable(&frame.workflow_id);
                let line = say!("{name} (call {})", "{name}（调用 {}）", frame.id);
                let outer = "    ".repeat(row.depth - 1);
                text.push_str(&format!(
                    "  {outer}  {} {}\n",
                    paint::styled(QUIET, "↳"),
                    paint::styled(QUIET, line)
                ));
            }
            last_frame = row.frame.as_ref();
            let mark = match row.failed {
                true => paint::styled(ERROR, "✗"),
                false if self.is_open(at) => paint::styled(ACCENT, "●"),
                false => paint::styled(GOOD, "✓"),
            };
            let called = row.frame.as_ref().map(|frame| frame.workflow_id.as_str());
            let title = paint::styled(QUIET, names.title(called, &row.node));
            let label = row.label.as_ref().map(|label| format!("  ({})", paint::printable(label)));
            let label = paint::styled(QUIET, label.unwrap_or_default());
            let line = format!("  {indent}{mark} {}  {title}{label}", paint::printable(&row.node));
            text.push_str(line.trim_end());
            text.push('\n');
        }
        text
    }

    /// Returns true if the run is at this row, or waits there for a sub-workflow.
    fn is_open(&self, at: usize) -> bool {
        let Some(row) = self.rows.get(at) else { return false };
        let level = |other: &PathRow| other.depth == row.depth && other.frame == row.frame;
        let is_last = !self.rows.iter().skip(at + 1).any(level);
        let is_active = row.depth == self.position.callers.len();
        let is_there = match row.depth.checked_sub(1) {
            None => true,
            Some(above) => self.position.frames().nth(above) == row.frame.as_ref(),
        };
        is_last && is_there && !(is_active && self.position.state.complete)
    }

    pub(super) fn json(&self) -> Vec<Json> {
        let one = |row: &PathRow| {
            let mut fields = Map::new();
            fields.insert("node".to_owned(), json!(row.node));
            fields.insert("label".to_owned(), json!(row.label));
            if let Some(frame) = &row.frame {
                fields.insert("workflow".to_owned(), json!(frame.workflow_id));
                fields.insert("call".to_owned(), json!(frame.id));
                fields.insert("depth".to_owned(), json!(row.depth));
            }
            if row.failed {
                fields.insert("failed".to_owned(), json!(true));
            }
            Json::Object(fields)
        };
        self.rows.iter().map(one).collect()
    }
}
