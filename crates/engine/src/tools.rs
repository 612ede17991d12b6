//! The tools that a model can call, on the mounts.
//!
//! A call is planned first, which touches nothing: reads are answered at once, and a change of files becomes an
//! [`Intent`] that can be recorded before the first byte is written. Carrying it out looks at the disk first, so that it
//! may be done again after a crash at any point.

mod carry;
mod change;
pub mod list;
mod patch;
pub mod read;
pub mod search;
mod state;
mod write;

use crewagent_core::call::{Call, ListCall, SearchCall};
use crewagent_core::event::{Answer, Intent, Moved, StateChange};
use crewagent_core::package::Workflow;
use crewagent_core::policy::Policy;
use crewagent_core::question::Question;
use crewagent_core::refusal::{Refusal, RefusalCode};
pub use crewagent_core::run::machine::Moves;
use crewagent_core::state::guard::{Confirmation, MissingRule};
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::vpath::Mount;
use serde::Serialize;
use serde_json::Value as Json;

pub(crate) use self::change::KEPT;
pub use self::change::{Change, Images};
use self::list::List;
use self::search::{Case, DEFAULT_CONTEXT, DEFAULT_MATCHES, Search, Syntax};
pub use self::state::Recent;
pub(crate) use self::state::{change_of, with_project};
use crate::cancel::Deadline;
use crate::disk::DiskErrorKind;
use crate::mounts::{self, MountError, Mounts};

/// The tools of a run.
#[derive(Clone, Copy, Debug)]
pub struct Tools<'w> {
    /// The files they work on.
    pub mounts: &'w Mounts,
    /// The workflow whose state they may change; a conversation has none.
    pub workflow: Option<&'w Workflow>,
    /// The folder whose new files count as artifacts.
    pub artifacts: &'w ProjectPath,
    /// The state document as it was seen last.
    pub recent: &'w Recent,
}

/// What holds at the time of a call.
#[derive(Clone, Copy, Debug)]
pub struct Occasion<'a> {
    /// What the model may do.
    pub policy: &'a Policy,
    /// Files that were created under the artifacts folder since the last change of the state.
    pub created: &'a [ProjectPath],
    /// The time, as RFC 3339.
    pub now: &'a str,
    /// What happens when something that a node declares is missing.
    pub missing: MissingRule,
    /// Whether the user has agreed to change a completed workflow.
    pub confirmation: Confirmation,
    /// Whether the run may move by itself.
    pub moves: Moves,
    /// When nobody wants the answer any more.
    pub deadline: &'a Deadline,
}

/// What a call comes to.
#[derive(Clone, Debug)]
pub enum Plan {
    /// It is answered: it was a read, or it was refused, or nothing needs to change.
    Answer(Answer),
    /// Files will change.
    Change(Box<Change>),
    /// The user is asked.
    Ask(Question),
    /// It is a legal move, and the user has to agree.
    Approve(Moved),
}

/// How a change ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// What the model is told.
    pub answer: Answer,
    /// What became of the state.
    pub state: Option<StateChange>,
}

impl Tools<'_> {
    /// Works out what a call does. Nothing is changed.
    pub fn plan(&self, call: &Call, occasion: &Occasion<'_>) -> Result<Plan, MountError> {
        let fs = &occasion.policy.fs;
        let answer = match call {
            Call::Read(call) => told(read::read(self.mounts, call, fs.max_read_bytes)),
            Call::List(call) => told(list::list(self.mounts, &list_of(call))),
            Call::Search(call) => {
                told(search::search(self.mounts, &search_of(call), occasion.deadline))
            }
            Call::Write(_) | Call::Patch(_) | Call::State(_) => {
                return match self.plan_change(call, occasion) {
                    Ok(plan) => Ok(plan),
                    Err(Halt::Refused(refusal)) => Ok(Plan::Answer(Answer::from(&*refusal))),
                    Err(Halt::Failed(error)) => Err(error),
                };
            }
            Call::AskUser(question) => return Ok(Plan::Ask(question.clone())),
        };
        answer.map(Plan::Answer)
    }

    /// Makes a planned change, or the rest of it. Files that have their new content are left alone, so this may be
    /// called again after a crash; without `planned` the new content is worked out again from the call.
    pub fn carry_out(
        &self,
        call: &Call,
        intent: &Intent,
        planned: Option<&Change>,
        occasion: &Occasion<'_>,
    ) -> Result<Outcome, MountError> {
        match self.try_carry_out(call, intent, planned, occasion) {
            Ok(()) => Ok(Outcome { answer: intent.answer.clone(), state: intent.state.clone() }),
            Err(Halt::Refused(refusal)) => {
                Ok(Outcome { answer: Answer::from(&*refusal), state: None })
            }
            Err(Halt::Failed(error)) => Err(error),
        }
    }
}

/// Why a change is not made; inside the tools one `?` carries both.
#[derive(Debug)]
enum Halt {
    Refused(Box<Refusal>),
    Failed(MountError),
}

impl From<Refusal> for Halt {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<MountError> for Halt {
    fn from(error: MountError) -> Self {
        match denied(&error) {
            Some(refusal) => refusal.into(),
            None => Self::Failed(error),
        }
    }
}

/// What a mount gave, with refusals and errors on one way.
fn reached<T>(answer: mounts::Answer<T>) -> Result<T, Halt> {
    Ok(answer??)
}

/// A file that the user may not use is no reason to stop the run: the model is told.
fn denied(error: &MountError) -> Option<Refusal> {
    let MountError { kind, action, path, .. } = error;
    let message = match kind {
        DiskErrorKind::Denied => format!("The system does not permit to {action} `{path}`."),
        DiskErrorKind::ReadOnly => {
            format!("The system cannot {action} `{path}`: its file system is read-only.")
        }
        DiskErrorKind::Full
        | DiskErrorKind::Exhausted
        | DiskErrorKind::Gone
        | DiskErrorKind::Other => return None,
    };
    let hint = "Use another file, or ask the user to change its permissions.";
    Some(Refusal::new(RefusalCode::Sandbox, message).hint(hint))
}

/// Nor is a single file that cannot be read. A state document is more than a file: the run cannot go on without it.
fn unreadable(error: &MountError) -> Option<Refusal> {
    let MountError { kind, action, path, error } = error;
    let is_one_file = *kind == DiskErrorKind::Other && path.mount() != Mount::State;
    is_one_file.then(|| {
        let message = format!("The system cannot {action} `{path}`: {error}.");
        Refusal::new(RefusalCode::Internal, message)
            .hint("Go on without it, or tell the user what the system says.")
    })
}

fn told<T: Serialize>(answer: mounts::Answer<T>) -> Result<Answer, MountError> {
    let result = match answer {
        Ok(result) => result,
        Err(error) => Err(denied(&error).or_else(|| unreadable(&error)).ok_or(error)?),
    };
    Ok(match result {
        Ok(value) => done(&value, Vec::new()),
        Err(refusal) => Answer::from(&refusal),
    })
}

/// The answer of a tool that did what it was asked to.
fn done<T: Serialize>(fields: &T, created: Vec<String>) -> Answer {
    match serde_json::to_string(&Done { ok: true, fields }) {
        Ok(result) => Answer { result: result.into(), refused: None, created },
        Err(error) => Answer::from(&Refusal::new(RefusalCode::Internal, error.to_string())),
    }
}

/// The answer of a tool as the model gets it: `{ok:true,…}` with the fields of the result, or the refusal.
pub fn to_json<T: Serialize>(result: &Result<T, Refusal>) -> Result<Json, serde_json::Error> {
    match result {
        Ok(fields) => serde_json::to_value(Done { ok: true, fields }),
        Err(refusal) => Ok(refusal.to_json()),
    }
}

/// The fields of a result behind the word that it is one.
#[derive(Serialize)]
struct Done<'f, T> {
    ok: bool,
    #[serde(flatten)]
    fields: &'f T,
}

fn list_of(call: &ListCall) -> List {
    List { path: call.path.clone(), depth: count(call.depth, 1) }
}

fn search_of(call: &SearchCall) -> Search {
    Search {
        query: call.query.clone(),
        path: call.path.clone(),
        globs: call.globs.clone(),
        syntax: if call.regex { Syntax::Regex } else { Syntax::Literal },
        case: if call.case_sensitive { Case::Respected } else { Case::Ignored },
        before: count(call.before, DEFAULT_CONTEXT),
        after: count(call.after, DEFAULT_CONTEXT),
        max_matches: count(call.max_matches, DEFAULT_MATCHES),
    }
}

/// A number of the model's; each tool lowers it to its own limit.
fn count(number: Option<u64>, default: usize) -> usize {
    number.map_or(default, |number| usize::try_from(number).unwrap_or(usize::MAX))
}
