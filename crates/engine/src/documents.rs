//! The state documents of a run: its own, and one for each call of a workflow.
//!
//! Entering a call and leaving it are each done by one write, that of the caller's document. Both may be done again
//! after a crash at any point: what is done already is found, and told as it is.

use crewagent_core::event::{Moved, StateChange};
use crewagent_core::id::AgentId;
use crewagent_core::integrity::Digest;
use crewagent_core::package::{Call, Package, Workflow};
use crewagent_core::refusal::Refusal;
use crewagent_core::run::machine::Whereabouts;
use crewagent_core::state::call::{self, Caller, Frame};
use crewagent_core::state::document::{ChangeError, DocumentError, STATE_FILE, StateDocument};
use crewagent_core::state::guard::{self, Author, Confirmation, MissingRule, Proposal};
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::state::standing::Standing;
use crewagent_core::vpath::{CALLS, Mount, VPath, WritablePath};
use thiserror::Error;

use crate::mounts::{Before, MountError, Mounts};
use crate::tools::{change_of, with_project};

/// More is no state document of ours.
const MAX_DOCUMENT: usize = 16 << 20;
/// Calls that are looked for when nothing else says how many there were.
const MOST_CALLS: usize = 100_000;

/// The documents, reached through the mounts of the run.
#[derive(Clone, Copy)]
pub(crate) struct Documents<'m>(pub(crate) &'m Mounts);

/// Where a run stands by its documents alone.
#[derive(Default)]
pub(crate) struct Found {
    /// What the documents say.
    pub(crate) place: Whereabouts,
    /// The digest of the active one; a conversation has none.
    pub(crate) sha256: Option<Digest>,
}

/// A call that is to be made or left.
#[derive(Clone, Copy)]
pub(crate) struct Crossing<'c> {
    pub(crate) frame: &'c Frame,
    /// What the caller's package says about the call.
    pub(crate) call: &'c Call,
    /// The caller, and the call that it is itself.
    pub(crate) caller: &'c Workflow,
    pub(crate) caller_call: Option<u64>,
    pub(crate) child: &'c Workflow,
    /// The time, as RFC 3339.
    pub(crate) now: &'c str,
}

/// What a return must hold to.
#[derive(Clone, Copy)]
pub(crate) struct Terms<'t> {
    /// Files that were created since the child's last transition.
    pub(crate) created: &'t [ProjectPath],
    /// What happens when something that the calling node declares is missing.
    pub(crate) missing: MissingRule,
}

/// Why a document cannot be used.
#[derive(Debug, Error)]
pub enum NoDocument {
    /// It is not there, or is no text.
    #[error("the state document of the run cannot be used: {0}")]
    Unusable(String),
    /// It cannot be read as a state document.
    #[error("the state document of the run is damaged: {0}")]
    Damaged(#[from] DocumentError),
    /// The disk failed.
    #[error(transparent)]
    Mount(#[from] MountError),
}

/// Why a call is neither made nor left: the run waits for the user, or the disk failed.
#[derive(Debug)]
pub(crate) enum Stuck {
    Held(String),
    Failed(MountError),
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
            other => Self::Held(sentence(&other.to_string())),
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
    /// Follows the calls from the run's own document to the active one.
    pub(crate) fn find(self, package: &Package, own: &Workflow) -> Result<Found, NoDocument> {
        let mut callers: Vec<Caller> = Vec::new();
        let mut workflow = own;
        loop {
            let document = self.read(callers.last().map(|caller| caller.frame.call))?;
            let standing = Standing::of(&document, &workflow.graph);
            // A frame counts only once, or documents that were changed by hand could lead in a circle.
            let is_new =
                |frame: &Frame| callers.iter().all(|caller| caller.frame.call < frame.call);
            let open = document.open_call(workflow).filter(is_new);
            let child = open.and_then(|frame| Some((package.workflow(&frame.workflow_id)?, frame)));
            let Some((child, frame)) = child else {
                let place = Whereabouts { state: standing, callers, calls: self.highest()? };
                let sha256 = Some(Digest::of(document.text().as_bytes()));
                return Ok(Found { place, sha256 });
            };
            callers.push(Caller { frame, state: standing });
            workflow = child;
        }
    }

    /// Makes the call, and gives where the child stands.
    pub(crate) fn enter(self, crossing: &Crossing<'_>, agent: &AgentId) -> Result<Standing, Stuck> {
        let Crossing { frame, call, caller, caller_call, child, now } = *crossing;
        let before = self.read(caller_call)?;
        let standing = |document: &StateDocument| Standing::of(document, &child.graph);
        if before.open_call(caller).as_ref() == Some(frame) {
            return Ok(standing(&self.read(Some(frame.call))?));
        }
        if before.current_node_id(&caller.graph) != frame.node_id {
            return Err(elsewhere(frame));
        }
        let document = call::child_document(&before, call, child, agent, now)?;
        self.write(Some(frame.call), &document, Before::Anything)?;
        let after = call::with_frame(&before, frame, now)?;
        self.write(caller_call, &after, same(&before))?;
        Ok(standing(&document))
    }

    /// Goes back to the caller, which gets what the child gives back and moves along its edge.
    pub(crate) fn leave(
        self,
        crossing: &Crossing<'_>,
        terms: Terms<'_>,
    ) -> Result<StateChange, Stuck> {
        let Crossing { frame, call, caller, caller_call, now, .. } = *crossing;
        let before = self.read(caller_call)?;
        if before.open_call(caller).as_ref() != Some(frame) {
            return settled(&before, frame, caller);
        }
        let child = self.read(Some(frame.call))?;
        let proposed = call::returned(&before, &child, call, &caller.graph)?;
        let transition = with_project(self.0, |exists| {
            guard::check(&Proposal {
                old: &before,
                new: &proposed.document,
                workflow: caller,
                exists,
                created: terms.created,
                now,
                missing: terms.missing,
                confirmation: Confirmation::Needed,
                author: Author::Runtime,
            })
        })??;
        self.write(caller_call, transition.document(), same(&before))?;
        let mut change = change_of(caller, &transition);
        change.warnings.extend(proposed.warnings);
        Ok(change)
    }

    /// Goes back to the caller, which stays where it is.
    pub(crate) fn give_up(self, crossing: &Crossing<'_>) -> Result<StateChange, Stuck> {
        let Crossing { frame, caller, caller_call, now, .. } = *crossing;
        let before = self.read(caller_call)?;
        let after = if before.open_call(caller).as_ref() == Some(frame) {
            let after = call::without_frame(&before, now)?;
            self.write(caller_call, &after, same(&before))?;
            after
        } else {
            before
        };
        let state = Standing::of(&after, &caller.graph);
        Ok(StateChange { state, ..StateChange::default() })
    }

    fn read(self, call: Option<u64>) -> Result<StateDocument, NoDocument> {
        let path = VPath::state_document(call);
        let content = self.0.read(&path, MAX_DOCUMENT)?;
        let content = content.map_err(|refusal| NoDocument::Unusable(refusal.message))?;
        let text = String::from_utf8(content.bytes)
            .map_err(|_| NoDocument::Unusable(format!("{path} is not UTF-8 text")))?;
        Ok(StateDocument::read(text)?)
    }

    fn write(
        self,
        call: Option<u64>,
        document: &StateDocument,
        before: Before,
    ) -> Result<(), Stuck> {
        let path = WritablePath::state_document(call);
        Ok(self.0.replace(&path, document.text().as_bytes(), before)??)
    }

    /// The highest number that a call has had, by the folders that are there.
    fn highest(self) -> Result<u64, MountError> {
        let Some(folder) = VPath::new(Mount::State, CALLS) else { return Ok(0) };
        let listing = match self.0.list(&folder, 1, MOST_CALLS)? {
            Ok(listing) => listing,
            // There was no call.
            Err(_) => return Ok(0),
        };
        let numbers =
            listing.entries.iter().filter_map(|name| name.trim_end_matches('/').parse().ok());
        Ok(numbers.max().unwrap_or(0))
    }
}

/// The caller has left the call already, by a process that died before it could say so.
fn settled(
    document: &StateDocument,
    frame: &Frame,
    caller: &Workflow,
) -> Result<StateChange, Stuck> {
    let state = Standing::of(document, &caller.graph);
    let mut edges = caller.graph.outgoing(&frame.node_id);
    let taken = edges.find(|edge| edge.to.as_str() == state.current_node_id);
    let edge = taken.ok_or_else(|| elsewhere(frame))?;
    let moved = Some(Moved {
        from: edge.from.to_string(),
        to: edge.to.to_string(),
        label: edge.label.clone(),
    });
    Ok(StateChange { state, moved, ..StateChange::default() })
}

fn elsewhere(frame: &Frame) -> Stuck {
    Stuck::Held(format!(
        "The state of the workflow that calls `{}` was changed outside of the run: it no longer stands at `{}`. Stop the run and resume it; what {STATE_FILE} says counts.",
        frame.workflow_id, frame.node_id
    ))
}

/// The file must still say this.
fn same(document: &StateDocument) -> Before {
    Before::Sha256(Digest::of(document.text().as_bytes()))
}

/// An error as a sentence.
fn sentence(error: &str) -> String {
    let mut letters = error.chars();
    let first = letters.next().map(char::to_uppercase).into_iter().flatten();
    let mut text: String = first.chain(letters).collect();
    if !text.ends_with('.') {
        text.push('.');
    }
    text
}
