//! What a run that starts afresh at its current node takes along: a change of files that was announced, what the user
//! said since the last move, and the artifacts that the run wrote since.

use std::collections::BTreeSet;

use crewagent_core::call::Call;
use crewagent_core::event::{
    Event, EventKind, FileIntent, FrameEvent, Intent, ModelEvent, StateEvent, ToolEvent, UserEvent,
};
use crewagent_core::message::{Message, ToolCall};
use crewagent_core::policy::StateTool;
use crewagent_core::prompt;
use crewagent_core::run::machine::draft_calls;
use crewagent_core::settings::RunSettings;
use crewagent_core::state::gate_visit::GateVisit;
use crewagent_core::state::guard::Confirmation;
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::state::visit_files::VisitFiles;
use crewagent_core::vpath::VPath;

use super::ResumeError;
use super::run::Run;
use crate::cancel::{Cancel, Deadline};
use crate::step_log::{Halt, StepLog};
use crate::tools::is_below;
use crate::tools::{CallContext, CallFiles, Moves};

/// Change of files that was announced and not reported as done.
pub(super) struct Unfinished {
    call: ToolCall,
    intent: Intent,
}

impl Unfinished {
    /// Finds the last announced change, unless it was done. A change of the state is one file and settled by itself.
    pub(super) fn of(events: &[Event]) -> Option<Self> {
        let (mut open, mut calls) = (None, Vec::new());
        for event in events {
            match &event.kind {
                EventKind::Model(ModelEvent::Replied(replied)) => {
                    calls = draft_calls(&replied.reply, replied.turn);
                    calls.extend(replied.reply.tool_calls.iter().cloned());
                }
                EventKind::Tool(ToolEvent::Started(started)) => {
                    let intent = started.intent.as_ref().filter(|intent| intent.state.is_none());
                    open = intent.map(|intent| (started.call_id.clone(), (**intent).clone()));
                }
                EventKind::Tool(ToolEvent::Finished(_)) => open = None,
                EventKind::Run(_)
                | EventKind::Conversation(_)
                | EventKind::User(_)
                | EventKind::Frame(_)
                | EventKind::State(_)
                | EventKind::Model(_)
                | EventKind::Tool(_) => {}
            }
        }
        let (id, intent) = open?;
        let call = calls.into_iter().find(|call| call.id == id)?;
        Some(Self { call, intent })
    }

    /// Makes the rest of the change, as far as the files are as the intent says.
    pub(super) fn settle<L: StepLog>(
        &self,
        run: &Run<L>,
        settings: &RunSettings,
    ) -> Result<(), ResumeError> {
        let policy = settings.policy.clone().with_state(StateTool::Runtime);
        let arguments = run.text(&self.call.arguments).map_err(Halt::from)?;
        let Ok(call) = Call::parse(&self.call.name, &arguments, &policy) else { return Ok(()) };
        let cancel = Cancel::default();
        let context = CallContext {
            policy: &policy,
            created: &[],
            now: &self.intent.time,
            missing: settings.missing,
            outputs: settings.outputs,
            files: &VisitFiles::default(),
            set: &BTreeSet::new(),
            known: &CallFiles::default(),
            confirmation: Confirmation::Needed,
            moves: Moves::Free,
            agreed: None,
            gate: &GateVisit::none(),
            saved: &[],
            deadline: &Deadline::whenever(&cancel),
        };
        run.tools().carry_out(&call, &self.intent, None, &context).map_err(Halt::from)?;
        Ok(())
    }
}

/// Returns what the user said since the last move, after the words that were carried already.
pub(super) fn said_since_the_last_move(carried: &[Message], events: &[Event]) -> Vec<Message> {
    let (mut said, mut node): (Vec<Message>, Option<String>) = (Vec::new(), None);
    for event in events {
        match &event.kind {
            EventKind::State(StateEvent::Changed(change)) if change.moved.is_some() => said.clear(),
            EventKind::Frame(FrameEvent::Entered(_) | FrameEvent::Left(_)) => said.clear(),
            EventKind::Model(ModelEvent::TurnStarted(turn)) => node.clone_from(&turn.node_id),
            EventKind::User(UserEvent::Input(input)) => {
                let words = input.text.inline().cloned().unwrap_or_default();
                said.push(Message::user(prompt::user_input(&words, node.as_deref())));
            }
            EventKind::Run(_)
            | EventKind::Conversation(_)
            | EventKind::User(_)
            | EventKind::Frame(_)
            | EventKind::State(_)
            | EventKind::Model(_)
            | EventKind::Tool(_) => {}
        }
    }
    carried.iter().cloned().chain(said).collect()
}

/// Returns the artifacts that the run wrote since the last move, with those that were carried already. A change that was
/// only announced counts, because it is made first.
pub(super) fn created_since_the_last_move(
    carried: &[String],
    events: &[Event],
    folders: &[ProjectPath],
) -> Vec<String> {
    let (mut created, mut open) = (carried.to_vec(), Vec::new());
    for event in events {
        match &event.kind {
            EventKind::State(StateEvent::Changed(change)) if change.moved.is_some() => {
                created.clear();
            }
            EventKind::Frame(FrameEvent::Entered(_) | FrameEvent::Left(_)) => created.clear(),
            EventKind::Tool(ToolEvent::Started(started)) => {
                open = started.intent.iter().flat_map(|intent| intent.files.clone()).collect();
            }
            EventKind::Tool(ToolEvent::Finished(finished)) => {
                let files: Vec<FileIntent> = std::mem::take(&mut open);
                if finished.answer.refused.is_none() {
                    note(&mut created, &files, folders);
                }
            }
            EventKind::Run(_)
            | EventKind::Conversation(_)
            | EventKind::User(_)
            | EventKind::Frame(_)
            | EventKind::State(_)
            | EventKind::Model(_)
            | EventKind::Tool(_) => {}
        }
    }
    note(&mut created, &open, folders);
    created
}

/// Adds the artifacts that a change wrote, and removes those that it deleted.
fn note(created: &mut Vec<String>, files: &[FileIntent], folders: &[ProjectPath]) {
    for file in files {
        let path = VPath::parse(&file.path).ok().and_then(ProjectPath::new);
        let Some(path) = path.filter(|path| is_below(path, folders)) else { continue };
        let path = path.to_string();
        if file.after.is_none() {
            created.retain(|known| *known != path);
        } else if file.after != file.before && !created.contains(&path) {
            created.push(path);
        }
    }
}
