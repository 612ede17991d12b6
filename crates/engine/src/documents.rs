//! State documents of a run: its own, and one for each frame.
//!
//! One write, that of the caller's document, decides whether a frame is entered or left. Both changes are planned
//! first, so that they can be recorded, and both can be repeated after a crash at any point.

use std::collections::BTreeSet;
use std::sync::Arc;

use crewagent_core::event::{FileIntent, Moved, StateChange};
use crewagent_core::frame_id::FrameId;
use crewagent_core::refusal::Refusal;
use crewagent_core::run::history::Position;
use crewagent_core::state::document::{ChangeError, STATE_FILE, StateDocument};
use crewagent_core::state::frame::{self, Caller, Frame};
use crewagent_core::state::gate_visit::GateVisit;
use crewagent_core::state::guard::{
    self, Author, Confirmation, MissingRule, Proposal, VisitOutputs, VisitVariables,
};
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::state::run_state::RunState;
use crewagent_core::state::visit_files::{OutputRule, VisitFiles};
use crewagent_core::vpath::{CALLS, Mount, VPath, WritablePath};
use crewagent_format::id::AgentId;
use crewagent_format::integrity::Digest;
use crewagent_format::package::{Package, Subworkflow, Workflow};
use thiserror::Error;

use crate::blobs::{BlobError, Blobs};
use crate::mounts::{Before, MountError, Mounts};
use crate::tools::{change_of, with_project};

/// Limit in bytes; the runtime never writes a longer state document.
const MAX_DOCUMENT: usize = 16 << 20;
/// Limit of folders that are listed to find the highest number of a frame.
const MOST_CALLS: usize = 100_000;

/// Access to the state documents through the mounts of the run.
#[derive(Clone, Copy)]
pub(crate) struct Documents<'m>(pub(crate) &'m Mounts);

/// Position of a run by its documents alone.
#[derive(Default)]
pub(crate) struct DocumentPosition {
    pub(crate) place: Position,
    /// Digest of the active document; a conversation has none.
    pub(crate) sha256: Option<Digest>,
}

/// A frame to enter or to leave.
#[derive(Clone, Copy)]
pub(crate) struct FrameStep<'c> {
    pub(crate) frame: &'c Frame,
    /// Declaration of the call in the caller's package.
    pub(crate) call: &'c Subworkflow,
    /// The calling workflow, and its own frame.
    pub(crate) caller: &'c Workflow,
    pub(crate) caller_frame: Option<FrameId>,
    pub(crate) child: &'c Workflow,
    /// Files created or changed since the last change of the active document.
    pub(crate) created: &'c [ProjectPath],
    /// Current time, as RFC 3339.
    pub(crate) now: &'c str,
}

/// Kind of a frame change.
#[derive(Clone, Copy)]
pub(crate) enum Direction<'w> {
    /// Enter the child; this is its agent.
    Enter(&'w AgentId),
    /// Return the child's results, judged by the outputs of the calling node.
    Leave(ReturnRules<'w>),
    /// Return to the calling node without results.
    GiveUp,
}

/// Rules and facts by which the outputs of a calling node are judged.
#[derive(Clone, Copy)]
pub(crate) struct ReturnRules<'w> {
    pub(crate) missing: MissingRule,
    pub(crate) outputs: OutputRule,
    /// Files of the visit in which the workflow was called.
    pub(crate) files: &'w VisitFiles,
}

/// The writes of a frame change, and its result.
pub(crate) struct Plan {
    writes: Vec<Write>,
    outcome: FrameOutcome,
}

impl Plan {
    /// Returns the writes as intents for the record.
    pub(crate) fn files(&self) -> Vec<FileIntent> {
        self.writes.iter().map(Write::intent).collect()
    }
}

struct Write {
    frame: Option<FrameId>,
    before: Option<Digest>,
    text: Arc<str>,
}

impl Write {
    fn intent(&self) -> FileIntent {
        FileIntent {
            path: VPath::state_document(self.frame).to_string(),
            before: self.before.map(|digest| digest.to_string()),
            after: Some(Digest::of(self.text.as_bytes()).to_string()),
        }
    }
}

/// Result of a frame change.
#[derive(Debug)]
pub(crate) enum FrameOutcome {
    /// The child is active, in this state.
    Entered(RunState),
    Left(StateChange),
}

/// Reasons why a state document cannot be used.
#[derive(Debug, Error)]
pub enum NoDocument {
    /// It does not exist, or is not text.
    #[error("the state document of the run cannot be used: {0}")]
    Unusable(String),
    #[error("the state document `{path}` is damaged: {why}")]
    Damaged { path: VPath, why: String },
    #[error(transparent)]
    Mount(#[from] MountError),
}

/// Reasons why a frame is neither entered nor left: the run must wait for the user, or the disk failed.
#[derive(Debug)]
pub(crate) enum Stuck {
    Held(String),
    Failed(MountError),
    Unkept(BlobError),
}

impl From<BlobError> for Stuck {
    fn from(error: BlobError) -> Self {
        Self::Unkept(error)
    }
}

impl From<MountError> for Stuck {
    fn from(error: MountError) -> Self {
        Self::Failed(error)
    }
}

impl From<NoDocument> for Stuck {
    fn from(error: NoDocument) -> Self {
        match error {
            NoDocument::Mount(error) => Self::Failed(error),
            error @ (NoDocument::Unusable(_) | NoDocument::Damaged { .. }) => {
                Self::Held(sentence(&error.to_string()))
            }
        }
    }
}

impl From<ChangeError> for Stuck {
    fn from(error: ChangeError) -> Self {
        Self::Held(sentence(&error.to_string()))
    }
}

impl From<Refusal> for Stuck {
    fn from(refusal: Refusal) -> Self {
        Self::Held(refusal.message)
    }
}

impl Documents<'_> {
    /// Follows the frames from the run's own document to the active one.
    pub(crate) fn find(
        self,
        package: &Package,
        own: &Workflow,
    ) -> Result<DocumentPosition, NoDocument> {
        let mut found = follow(package, own, |frame| self.read(frame))?;
        found.place.calls = self.highest()?;
        Ok(found)
    }

    /// Plans the writes of a frame change. Touches nothing.
    pub(crate) fn plan(
        self,
        step: &FrameStep<'_>,
        direction: Direction<'_>,
    ) -> Result<Plan, Stuck> {
        let FrameStep { frame, call, caller, caller_frame, child, created, now } = *step;
        let before = self.read(caller_frame)?;
        let is_open = before.open_call(caller).as_ref() == Some(frame);
        let is_here = before.current_node_id(&caller.graph) == frame.node_id;
        if !is_here || is_open == matches!(direction, Direction::Enter(_)) {
            return Err(elsewhere(frame));
        }
        let run_state = |document: &StateDocument| RunState::of(document, &caller.graph);
        let mut writes = Vec::new();
        let (after, outcome) = match direction {
            Direction::Enter(agent) => {
                let document = frame::child_document(&before, call, child, agent, now)?;
                let state = RunState::of(&document, &child.graph);
                let (id, text) = (Some(frame.id), document.text().clone());
                writes.push(Write { frame: id, before: self.digest(id)?, text });
                (frame::with_frame(&before, frame, created, now)?, FrameOutcome::Entered(state))
            }
            Direction::Leave(rules) => {
                let (after, change) = self.returned(step, &before, rules)?;
                (after, FrameOutcome::Left(change))
            }
            Direction::GiveUp => {
                let child = self.read(Some(frame.id))?;
                let after = frame::without_frame(&before, &child, created, now)?;
                let change = StateChange { state: run_state(&after), ..StateChange::default() };
                (after, FrameOutcome::Left(change))
            }
        };
        // This write enters or leaves the frame, so it comes last.
        let before = Some(Digest::of(before.text().as_bytes()));
        writes.push(Write { frame: caller_frame, before, text: after.text().clone() });
        Ok(Plan { writes, outcome })
    }

    /// Writes the planned documents that are not written yet. `intended` is the recorded plan, and `step` carries
    /// the time of the plan, so that the result is the same. Stores the old documents first, so that the run can be
    /// forked there.
    pub(crate) fn carry_out(
        self,
        step: &FrameStep<'_>,
        direction: Direction<'_>,
        intended: &[FileIntent],
        blobs: &Blobs,
    ) -> Result<FrameOutcome, Stuck> {
        let Some(last) = intended.last() else { return Err(elsewhere(step.frame)) };
        if self.digest(step.caller_frame)?.map(|digest| digest.to_string()) == last.after {
            self.flush(step.caller_frame)?;
            return self.settled(step, direction);
        }
        let plan = self.plan(step, direction)?;
        let same = plan.writes.len() == intended.len()
            && plan
                .writes
                .iter()
                .zip(intended)
                .all(|(write, file)| write.intent().after == file.after);
        if !same {
            return Err(changed(step.frame));
        }
        for write in &plan.writes {
            if write.before.is_some() {
                blobs.put(self.read(write.frame)?.text().as_bytes())?;
            }
        }
        for write in &plan.writes {
            let after = Digest::of(write.text.as_bytes());
            if write.before == Some(after) {
                // Another process wrote it, and may have died before it was durable.
                self.flush(write.frame)?;
                continue;
            }
            let path = WritablePath::state_document(write.frame);
            let before = write.before.map_or(Before::Nothing, Before::Sha256);
            self.0.replace(&path, write.text.as_bytes(), before)??;
        }
        Ok(plan.outcome)
    }

    /// Returns the caller's document with the results of the child, after the guard's check.
    fn returned(
        self,
        step: &FrameStep<'_>,
        before: &StateDocument,
        rules: ReturnRules<'_>,
    ) -> Result<(StateDocument, StateChange), Stuck> {
        let FrameStep { frame, call, caller, created, now, .. } = *step;
        let child = self.read(Some(frame.id))?;
        let proposed = frame::returned(before, &child, call, &caller.graph)?;
        // What the child gives back is set by this change, also if it is what the caller had.
        let results = proposed.document.as_ref().map_or_else(
            |_| BTreeSet::new(),
            |document| document.variables().keys().cloned().collect(),
        );
        let transition = with_project(self.0, &[], |project| {
            guard::check(&Proposal {
                old: before,
                new: &proposed.document,
                workflow: caller,
                exists: project.exists,
                created,
                now,
                missing: rules.missing,
                outputs: VisitOutputs {
                    rule: rules.outputs,
                    visit: rules.files,
                    look: project.look,
                    keep: &[],
                },
                variables: VisitVariables { before: &results, named: &[] },
                confirmation: Confirmation::Needed,
                gate: &GateVisit::none(),
                author: Author::Runtime,
            })
        })??;
        let mut change = change_of(caller, &transition);
        change.warnings.extend(proposed.warnings);
        Ok((transition.into_document(), change))
    }

    /// Returns the result of a frame change that another process wrote completely before it died.
    fn settled(
        self,
        step: &FrameStep<'_>,
        direction: Direction<'_>,
    ) -> Result<FrameOutcome, Stuck> {
        let FrameStep { frame, caller, caller_frame, child, .. } = *step;
        let after = self.read(caller_frame)?;
        let state = RunState::of(&after, &caller.graph);
        let moved = match direction {
            Direction::Enter(_) => {
                let document = self.read(Some(frame.id))?;
                return Ok(FrameOutcome::Entered(RunState::of(&document, &child.graph)));
            }
            Direction::Leave(_) => {
                let mut edges = caller.graph.outgoing(&frame.node_id);
                edges.find(|edge| edge.to.as_str() == state.current_node_id)
            }
            Direction::GiveUp => None,
        };
        let moved = moved.map(|edge| Moved {
            from: edge.from.to_string(),
            to: edge.to.to_string(),
            label: edge.label.clone(),
        });
        Ok(FrameOutcome::Left(StateChange { state, moved, ..StateChange::default() }))
    }

    fn read(self, frame: Option<FrameId>) -> Result<StateDocument, NoDocument> {
        let path = VPath::state_document(frame);
        let content = self.0.read(&path, MAX_DOCUMENT)?;
        let content = content.map_err(|refusal| NoDocument::Unusable(refusal.message))?;
        let text = String::from_utf8(content.bytes)
            .map_err(|_| NoDocument::Unusable(format!("{path} is not UTF-8 text")))?;
        document(frame, text)
    }

    /// Returns the current digest of a document, if it exists.
    fn digest(self, frame: Option<FrameId>) -> Result<Option<Digest>, Stuck> {
        let target = self.0.target(&WritablePath::state_document(frame), 0)??;
        Ok(target.old.map(|old| old.sha256))
    }

    fn flush(self, frame: Option<FrameId>) -> Result<(), Stuck> {
        Ok(self.0.flush(&WritablePath::state_document(frame))??)
    }

    /// Returns the highest number that a frame has had, by the existing folders.
    fn highest(self) -> Result<u64, MountError> {
        let Some(folder) = VPath::new(Mount::State, CALLS) else { return Ok(0) };
        let listing = match self.0.list(&folder, 1, MOST_CALLS)? {
            Ok(listing) => listing,
            // The folder does not exist before the first frame.
            Err(_) => return Ok(0),
        };
        let numbers =
            listing.entries.iter().filter_map(|name| name.trim_end_matches('/').parse().ok());
        Ok(numbers.max().unwrap_or(0))
    }
}

/// Follows the frames from the run's own document to the active one. The number of frames so far stays unknown.
pub(crate) fn follow(
    package: &Package,
    own: &Workflow,
    mut read: impl FnMut(Option<FrameId>) -> Result<StateDocument, NoDocument>,
) -> Result<DocumentPosition, NoDocument> {
    let mut callers: Vec<Caller> = Vec::new();
    let mut workflow = own;
    loop {
        let document = read(callers.last().map(|caller| caller.frame.id))?;
        let state = RunState::of(&document, &workflow.graph);
        // Each frame has a higher number than its caller, or documents that were edited by hand could form a cycle.
        let is_new = |frame: &Frame| callers.iter().all(|caller| caller.frame.id < frame.id);
        let open = document.open_call(workflow).filter(is_new);
        let child = open.and_then(|frame| Some((package.workflow(&frame.workflow_id)?, frame)));
        let Some((child, frame)) = child else {
            let place = Position { state, callers, calls: 0 };
            let sha256 = Some(Digest::of(document.text().as_bytes()));
            return Ok(DocumentPosition { place, sha256 });
        };
        callers.push(Caller { frame, state });
        workflow = child;
    }
}

/// Parses the state document of a frame.
pub(crate) fn document(frame: Option<FrameId>, text: String) -> Result<StateDocument, NoDocument> {
    StateDocument::read(text).map_err(|error| NoDocument::Damaged {
        path: VPath::state_document(frame),
        why: error.words(),
    })
}

fn elsewhere(frame: &Frame) -> Stuck {
    Stuck::Held(format!(
        "The state of the workflow that calls `{}` was changed outside of the run: it no longer stands at `{}`. Stop the run and resume it; what {STATE_FILE} says counts.",
        frame.workflow_id, frame.node_id
    ))
}

/// Returns the error for a write from outside of the run that may have left its node the same.
fn changed(frame: &Frame) -> Stuck {
    Stuck::Held(format!(
        "The state of the workflow that calls `{}` was changed outside of the run at this moment. Say that it shall go on, and it is tried again.",
        frame.workflow_id
    ))
}

/// Formats an error as a sentence.
fn sentence(error: &str) -> String {
    let mut letters = error.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    let mut text: String = first.chain(letters).collect();
    if !text.ends_with('.') {
        text.push('.');
    }
    text
}
