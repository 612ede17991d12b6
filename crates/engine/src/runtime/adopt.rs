//! Adopts a half-done document: finds it when a run starts, and places the run behind what it records.

use std::path::Path;

use crewagent_core::adoption::Adoption;
use crewagent_core::run::history::Position;
use crewagent_core::state::document::{ChangeError, StateDocument};
use crewagent_core::state::mirror;
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::state::run_state::RunState;
use crewagent_core::vpath::{VPath, WritablePath};
use crewagent_format::frontmatter::Edit;
use crewagent_format::package::Workflow;
use serde_json::{Map, Value as Json};

use super::bindings::project_mounts;
use super::open::resumed;
use super::run::Run;
use super::{StartError, StartRun};
use crate::documents::document;
use crate::mounts::{Before, Mounts};
use crate::step_log::{EventListener, Halt, StepLog};

/// Largest document that is read, in bytes.
const MAX_DOCUMENT: usize = 16 << 20;

/// Treatment of a document that records steps of the workflow already.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Adopt {
    /// The run asks the user first, if there is such a document.
    #[default]
    Ask,
    /// The run continues with this document.
    File(String),
    /// The run begins at the entry, where the workflow looks for itself.
    No,
}

/// Documents that a new run continues with.
#[derive(Debug, Default)]
pub(super) struct Adopting {
    /// Document that the user named.
    pub(super) adopted: Option<Adoption>,
    /// Document that the user is asked about first.
    pub(super) offer: Option<Adoption>,
}

/// Looks for a half-done document, as the plan of a run says.
pub(super) fn adopting(
    plan: &StartRun,
    workflow: &Workflow,
    project: &Path,
    variables: &Map<String, Json>,
) -> Result<Adopting, StartError> {
    match &plan.adopt {
        Adopt::No => Ok(Adopting::default()),
        Adopt::Ask if workflow.front.mirror.is_none() => Ok(Adopting::default()),
        Adopt::Ask => {
            let mounts = project_mounts(project, &plan.package)?;
            let offer = offered(&mounts, workflow, variables);
            Ok(Adopting { offer, ..Adopting::default() })
        }
        Adopt::File(file) => {
            let mounts = project_mounts(project, &plan.package)?;
            let adopted = Some(named(&mounts, workflow, project, file)?);
            Ok(Adopting { adopted, ..Adopting::default() })
        }
    }
}

/// Returns the document that the workflow's mirror names, if it is half done.
fn offered(
    mounts: &Mounts,
    workflow: &Workflow,
    variables: &Map<String, Json>,
) -> Option<Adoption> {
    let file = mirror::file(workflow.front.mirror.as_ref()?, variables)?;
    look(mounts, workflow, &file)
}

/// Returns a document that the user named.
fn named(
    mounts: &Mounts,
    workflow: &Workflow,
    project: &Path,
    file: &str,
) -> Result<Adoption, StartError> {
    let refuse = |why: &str| StartError::Adopt { file: file.to_owned(), why: why.to_owned() };
    if workflow.front.mirror.is_none() {
        return Err(refuse("this workflow does not record its steps in a document"));
    }
    let given = Path::new(file);
    let below = match given.is_absolute() {
        true => given.strip_prefix(project).map_err(|_| refuse("it is not in the project"))?,
        false => given,
    };
    let parts: Vec<_> = below.iter().map(|part| part.to_string_lossy()).collect();
    let path = ProjectPath::parse(&parts.join("/")).map_err(|refusal| refuse(&refusal.message))?;
    match mounts.exists(path.vpath()) {
        Ok(Ok(true)) => {}
        Ok(Ok(false)) => return Err(refuse("there is no such file in the project")),
        Ok(Err(refusal)) => return Err(refuse(&refusal.message)),
        Err(error) => return Err(refuse(&error.to_string())),
    }
    look(mounts, workflow, &path).ok_or_else(|| {
        refuse("it records none of this workflow's steps, or all of them; start without --adopt")
    })
}

fn look(mounts: &Mounts, workflow: &Workflow, file: &ProjectPath) -> Option<Adoption> {
    let content = mounts.read(file.vpath(), MAX_DOCUMENT).ok()?.ok()?;
    let text = String::from_utf8(content.bytes).ok()?;
    Adoption::of(workflow, file.as_str(), &text)
}

/// Returns the first state document of a run, placed behind what an adopted document records.
pub(super) fn placed(
    state: StateDocument,
    adopted: Option<&Adoption>,
) -> Result<StateDocument, ChangeError> {
    match adopted {
        Some(adopted) => seeded(&state, adopted, &adopted.next),
        None => Ok(state),
    }
}

/// Returns a state document that stands at a node, with what a document records.
fn seeded(
    state: &StateDocument,
    adoption: &Adoption,
    node: &str,
) -> Result<StateDocument, ChangeError> {
    let done: Vec<Json> = adoption
        .done
        .iter()
        .filter(|done| *done != node)
        .map(|done| Json::from(done.as_str()))
        .collect();
    let path = |key: &str| vec![key.to_owned()];
    let mut edits = vec![
        Edit::Set { path: path("currentNodeId"), value: node.into() },
        Edit::Set { path: path("stepsCompleted"), value: done.into() },
    ];
    if !state.front().artifacts.contains(&adoption.file) {
        edits.push(Edit::Push { path: path("artifacts"), value: adoption.file.as_str().into() });
    }
    state.edited(&edits)
}

/// Describes for the user where a run continues.
pub(super) fn note(adoption: &Adoption, node: &str) -> String {
    format!("it continues with {} at {node}", adoption.file)
}

impl<L: StepLog> Run<L> {
    /// Places the run behind what a document records. The state document is written first, and wins if this process dies
    /// before the record.
    pub(super) fn adopt(
        &mut self,
        adoption: &Adoption,
        node: &str,
        tell: &mut EventListener<'_>,
    ) -> Result<(), Halt> {
        let path = VPath::state_document(None);
        let unfit = |why: String| Halt::Unfit(why);
        let content = self.mounts().read(&path, MAX_DOCUMENT)?;
        let content = content.map_err(|refusal| unfit(refusal.message))?;
        let text = String::from_utf8(content.bytes)
            .map_err(|_| unfit(format!("{path} is not UTF-8 text")))?;
        let before = document(None, text).map_err(|error| unfit(error.to_string()))?;
        let after = seeded(&before, adoption, node).map_err(|error| unfit(error.to_string()))?;
        self.keep(before.text().as_bytes())?;
        let target = WritablePath::state_document(None);
        let expected = Before::Sha256(content.sha256);
        self.mounts()
            .replace(&target, after.text().as_bytes(), expected)?
            .map_err(|refusal| unfit(refusal.message))?;
        let Some(workflow) = self.workflow() else { return Ok(()) };
        let state = RunState::of(&after, &workflow.graph);
        let place = Position { state, callers: Vec::new(), calls: 0 };
        let notes = vec![note(adoption, node)];
        self.take_over(resumed(self.epoch(), Some(place), None, notes), tell)
    }
}
