//! Changes of the state document, which pass the guard whichever tool makes them.

use std::borrow::Cow;
use std::sync::{Arc, Mutex, PoisonError};

use crewagent_core::call::{FilePatchCall, Operation, WriteCall, WriteMode};
use crewagent_core::draft::DraftName;
use crewagent_core::event::StateChange;
use crewagent_core::prompt;
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::state::complete::with_auto_end;
use crewagent_core::state::document::{
    ChangeError, DocumentError, Proposed, STATE_FILE, StateDocument,
};
use crewagent_core::state::gate_visit::GateVisit;
use crewagent_core::state::guard::{self, Proposal, StateTransition, VisitOutputs, VisitVariables};
use crewagent_core::state::meaning::{EditMeaning, as_meant, lacks_keys, meaning};
use crewagent_core::state::patch::StateUpdate;
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::state::run_state::RunState;
use crewagent_core::tool::text_patch;
use crewagent_core::vpath::{Mount, VPath, WritablePath};
use crewagent_format::package::Workflow;
use crewagent_format::path::PackagePath;
use crewagent_format::wording::joined;

use super::change::{FileJob, FileWork, moved};
use super::outputs::SentFile;
use super::patch::about;
use super::write::{check_limit, check_match, exists};
use super::{CallContext, ChangeHalt, Tools, with_project};
use crate::mounts::WriteTarget;

/// The state document as it was last read or written. The same bytes are not parsed again, and a change from outside is
/// noticed.
#[derive(Debug, Default)]
pub struct Recent(Mutex<Option<Arc<StateDocument>>>);

impl Recent {
    /// Returns an empty cache.
    pub const fn new() -> Self {
        Self(Mutex::new(None))
    }

    /// Caches the document that the file holds, or soon will.
    pub fn keep(&self, document: StateDocument) -> Arc<StateDocument> {
        let document = Arc::new(document);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(document.clone());
        document
    }

    fn of(&self, text: &str) -> Option<Arc<StateDocument>> {
        let recent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        recent.as_ref().filter(|document| **document.text() == *text).cloned()
    }
}

/// Checks that the document is written under its own name and that nothing else is written in its place. No link may
/// lead to it or away from it, and no other spelling that a file system treats as the same name is allowed.
pub(super) fn check_name(path: &WritablePath, place: &VPath) -> Result<(), Refusal> {
    let twin = |path: &VPath| {
        path.mount() == Mount::State
            && PackagePath::new(path.relative())
                .is_ok_and(|path| path.folded() == VPath::state_document(None).relative())
    };
    let (named, there) = (path.path().is_state_document(), place.is_state_document());
    if named == there && (named || !(twin(path.path()) || twin(place))) {
        return Ok(());
    }
    if !named {
        return Err(other_name(path));
    }
    let message = format!("`{STATE_FILE}` is a link, so it cannot be changed.");
    Err(Refusal::new(RefusalCode::Sandbox, message)
        .hint("Tell the user that the state document was replaced outside the runtime."))
}

/// Returns the refusal of another name for the document, which would bypass the guard.
pub(super) fn other_name(path: &WritablePath) -> Refusal {
    let message = format!("`{path}` is another name of `{STATE_FILE}`.");
    Refusal::new(RefusalCode::Sandbox, message)
        .hint(format!("Use `{STATE_FILE}`, or another file."))
}

/// A change of the state document in the making.
pub(super) struct StateFile<'s, 'w> {
    pub(super) tools: &'s Tools<'w>,
    pub(super) context: &'s CallContext<'s>,
    pub(super) now: &'s str,
    /// Artifacts that were created or changed since the last transition, with those of this call.
    pub(super) created: Vec<ProjectPath>,
    /// Files that the same call writes before.
    pub(super) sent: &'s [SentFile],
}

impl StateFile<'_, '_> {
    /// Returns the legal transition that a job makes.
    pub(super) fn transition(
        &self,
        job: &FileJob<'_>,
        target: &WriteTarget,
    ) -> Result<StateTransition, ChangeHalt> {
        let workflow = self.tools.workflow.ok_or_else(no_workflow)?;
        let old = self.read(target)?;
        let limit = self.context.policy.fs.max_write_bytes;
        let new = match &job.work {
            FileWork::MoveIn(_) | FileWork::Remove(_) => return Err(immovable().into()),
            FileWork::Write(call) => {
                self.translate(&old, workflow, proposed(call, &old, target, limit)?)?
            }
            FileWork::Patches(patches) => {
                self.translate(&old, workflow, patched(patches, &old, target, limit)?)?
            }
            FileWork::State(call) => {
                let update = match &call.completion {
                    Some(node) => {
                        node.update(&call.update, &old, &workflow.graph, self.context.gate)?
                    }
                    None => call.update.clone(),
                };
                StateDocument::from_frontmatter(update.apply(&old)?)
            }
        };
        let new = match new {
            Ok(new) => Ok(with_auto_end(&old, new, &workflow.graph).map_err(unedited)?),
            Err(error) => Err(error),
        };
        let gate = self.gate(job);
        let named = named_variables(job);
        let keep = kept_files(job);
        let judged = with_project(self.tools.mounts, self.sent, |project| {
            guard::check(&Proposal {
                old: &old,
                new: &new,
                workflow,
                exists: project.exists,
                created: &self.created,
                now: self.now,
                missing: self.context.missing,
                outputs: VisitOutputs {
                    rule: self.context.outputs,
                    visit: self.context.files,
                    look: project.look,
                    keep: &keep,
                },
                variables: VisitVariables { before: self.context.set, named: &named },
                confirmation: self.context.confirmation,
                gate: &gate,
                author: guard::Author::Model(self.context.policy.state_tool()),
            })
        });
        Ok(judged??)
    }

    /// Returns what the user decided in this visit, with the drafts that the call saves.
    fn gate(&self, job: &FileJob<'_>) -> GateVisit {
        let mut visit = self.context.gate.clone();
        if let FileWork::State(call) = &job.work {
            let copies = call.files.iter().flat_map(|file| &file.copies);
            let names = copies.filter_map(|copy| DraftName::of(&copy.from));
            visit.saved.extend(names.map(|name| name.as_str().to_owned()));
        }
        visit
    }

    /// Returns the document that an edit of it means. In a strict run its bytes are the runtime's alone: the meaning of
    /// the edit is carried out, and nothing else of it.
    fn translate(
        &self,
        old: &StateDocument,
        workflow: &Workflow,
        proposed: EditedState,
    ) -> Result<Proposed, Refusal> {
        let new = match proposed.document {
            Ok(new) => new,
            Err(error) if lacks_keys(&proposed.text) => {
                let message = format!("The runtime keeps {STATE_FILE}.");
                return Err(self.finishing(error.refusal().code, message, old, workflow));
            }
            Err(error) => return Ok(Err(error)),
        };
        let new = as_meant(old, new, &workflow.graph).map_err(unedited)?;
        if !self.context.policy.strict {
            return Ok(Ok(new));
        }
        match meaning(old, &new) {
            EditMeaning::Update(update) => Ok(StateDocument::from_frontmatter(update.apply(old)?)),
            EditMeaning::Unclear => Ok(Ok(new)),
            EditMeaning::Keeps(parts) => {
                let message = format!(
                    "This run is strict, and the runtime keeps {STATE_FILE}: {} cannot be changed.",
                    joined(parts)
                );
                Err(self.finishing(RefusalCode::Precondition, message, old, workflow))
            }
        }
    }

    /// Returns a refusal that ends with the call that finishes the current node.
    fn finishing(
        &self,
        code: RefusalCode,
        message: String,
        old: &StateDocument,
        workflow: &Workflow,
    ) -> Refusal {
        let refusal = Refusal::new(code, message);
        let tool = self.context.policy.state_tool();
        match workflow.graph.node(old.current_node_id(&workflow.graph)) {
            Some(node) => {
                let call = prompt::finishing_call(workflow, node, old.variables(), tool);
                refusal.hint(format!("To finish this node: {call}"))
            }
            None => refusal,
        }
    }

    /// Reads the current document.
    fn read(&self, target: &WriteTarget) -> Result<Arc<StateDocument>, Refusal> {
        let lost = |why: &str| {
            let message = format!("`{STATE_FILE}` {why}, so no change of it can be checked.");
            Refusal::new(RefusalCode::InvalidFrontmatter, message)
                .hint("Tell the user that the state document was damaged outside the runtime.")
        };
        let Some(old) = &target.old else { return Err(lost("is not there")) };
        if !old.is_whole() {
            return Err(lost("is too large to be read"));
        }
        let text = std::str::from_utf8(&old.bytes).map_err(|_| lost("is not text"))?;
        let recent = self.tools.recent;
        if let Some(known) = recent.of(text) {
            return Ok(known);
        }
        StateDocument::read(text).map(|document| recent.keep(document)).map_err(|error| {
            let why = error.refusal().message;
            lost(&format!("cannot be read ({})", why.trim_end_matches('.')))
        })
    }
}

/// Returns the variables that a call names; a text edit names none, and sets those whose value it alters.
fn named_variables(job: &FileJob<'_>) -> Vec<String> {
    let names = |update: &StateUpdate| update.variables.keys().cloned().collect::<Vec<_>>();
    match &job.work {
        FileWork::State(call) => names(&call.update),
        FileWork::Patches(patches) => patches
            .iter()
            .flat_map(|patch| match &patch.operation {
                Operation::UpdateFrontmatter(update) => names(update),
                Operation::Text(_) | Operation::Move { .. } | Operation::Delete => Vec::new(),
            })
            .collect(),
        FileWork::Write(_) | FileWork::MoveIn(_) | FileWork::Remove(_) => Vec::new(),
    }
}

/// Returns the old files that a call keeps as outputs.
fn kept_files(job: &FileJob<'_>) -> Vec<ProjectPath> {
    match &job.work {
        FileWork::State(call) => call.update.keep.clone(),
        FileWork::Patches(patches) => patches
            .iter()
            .flat_map(|patch| match &patch.operation {
                Operation::UpdateFrontmatter(update) => update.keep.clone(),
                Operation::Text(_) | Operation::Move { .. } | Operation::Delete => Vec::new(),
            })
            .collect(),
        FileWork::Write(_) | FileWork::MoveIn(_) | FileWork::Remove(_) => Vec::new(),
    }
}

fn unedited(error: ChangeError) -> Refusal {
    Refusal::new(RefusalCode::InvalidFrontmatter, format!("The edit fails: {error}."))
}

fn immovable() -> Refusal {
    let message = format!("`{STATE_FILE}` can be neither moved nor deleted.");
    Refusal::new(RefusalCode::Precondition, message).hint("Leave it as it is.")
}

/// Returns the refusal in a conversation, which has no state.
fn no_workflow() -> Refusal {
    let message =
        format!("No workflow is running in this conversation, so there is no `{STATE_FILE}`.");
    Refusal::new(RefusalCode::Precondition, message)
        .hint("Write to another file, or tell the user to start a workflow from the menu.")
}

/// Text that an edit proposes as the state document.
struct EditedState {
    text: Arc<str>,
    document: Proposed,
}

/// Returns the document that a write proposes.
fn proposed(
    call: &WriteCall,
    old: &StateDocument,
    target: &WriteTarget,
    limit: u64,
) -> Result<EditedState, Refusal> {
    check_match(&call.path, call.if_match, target)?;
    if !call.copies.is_empty() {
        let message = format!("`{STATE_FILE}` cannot be copied from another file.");
        return Err(Refusal::new(RefusalCode::InvalidArguments, message)
            .hint("Finish the node with its own call."));
    }
    let text = match call.mode {
        WriteMode::Create => return Err(exists(&call.path)),
        WriteMode::Append => format!("{}{}", old.text(), call.content),
        WriteMode::Overwrite => call.content.clone(),
    };
    check_limit(&call.path, text.len() as u64, limit)?;
    let text: Arc<str> = text.into();
    Ok(EditedState { document: StateDocument::read(text.clone()), text })
}

/// Returns the document that patches propose, each applied to the result of the one before.
fn patched(
    patches: &[&FilePatchCall],
    old: &StateDocument,
    target: &WriteTarget,
    limit: u64,
) -> Result<EditedState, Refusal> {
    let mut text = old.text().clone();
    let mut document = Ok(Cow::Borrowed(old));
    for patch in patches {
        check_match(&patch.path, patch.if_match, target)?;
        let proposed = match &patch.operation {
            // An update of the frontmatter has a limit of its own.
            Operation::UpdateFrontmatter(update) => {
                let before = document.map_err(|error: DocumentError| error.refusal())?;
                let after = update.apply(&before)?;
                text = after.text().clone();
                StateDocument::from_frontmatter(after)
            }
            Operation::Text(change) => {
                let changed = text_patch::apply(&text, change)
                    .map_err(|refusal| about(&patch.path, refusal))?;
                check_limit(&patch.path, changed.len() as u64, limit)?;
                text = changed.into();
                StateDocument::read(text.clone())
            }
            Operation::Move { .. } | Operation::Delete => return Err(immovable()),
        };
        document = proposed.map(Cow::Owned);
    }
    Ok(EditedState { text, document: document.map(Cow::into_owned) })
}

/// Returns the event data of a transition.
pub(crate) fn change_of(workflow: &Workflow, transition: &StateTransition) -> StateChange {
    StateChange {
        frame: None,
        state: RunState::of(transition.document(), &workflow.graph),
        moved: moved(transition),
        recorded: transition.recorded().iter().map(|made| made.key.to_owned()).collect(),
        set: transition.set().to_vec(),
        kept: transition.kept_outputs().iter().map(ToString::to_string).collect(),
        warnings: transition.warnings().to_vec(),
    }
}
