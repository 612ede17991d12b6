//! The tools that a model can call, on the mounts.
//!
//! A call is planned first, which touches nothing: reads are answered at once, and a change of files becomes an
//! [`Intent`] that can be recorded before the first byte is written. Carrying it out compares the files with the intent
//! first, so that it can be repeated after a crash at any point.

pub(crate) mod aliases;
mod carry;
mod change;
mod copy;
mod found;
mod known;
pub mod list;
mod mirror;
mod outputs;
mod overwrite;
mod patch;
pub mod read;
mod relocate;
mod report;
pub mod search;
mod state;
pub(crate) mod survey;
mod write;

use std::collections::BTreeSet;

use crewagent_core::call::{Call, ListCall, SearchCall};
use crewagent_core::event::{Answer, FileIntent, Intent, StateChange};
use crewagent_core::gate;
use crewagent_core::policy::Policy;
use crewagent_core::question::Question;
use crewagent_core::refusal::{Refusal, RefusalCode};
pub use crewagent_core::run::machine::{CallFiles, Moves};
use crewagent_core::state::gate_visit::GateVisit;
use crewagent_core::state::guard::{Confirmation, MissingRule};
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::state::visit_files::{OutputRule, VisitFiles};
use crewagent_core::vpath::{Mount, VPath};
use crewagent_format::package::Workflow;
use serde::Serialize;
use serde_json::Value as Json;

pub use self::change::{FileImages, PlannedChange, ProposedMove};
pub(crate) use self::change::{KEPT, is_below};
pub use self::copy::SavedText;
use self::list::List;
pub(crate) use self::outputs::with_project;
use self::search::{Case, DEFAULT_CONTEXT, DEFAULT_MATCHES, Search, Syntax};
pub use self::state::Recent;
pub(crate) use self::state::change_of;
use crate::cancel::Deadline;
use crate::disk::DiskErrorKind;
use crate::mounts::{self, MountError, Mounts};

/// The tools of a run.
#[derive(Clone, Copy, Debug)]
pub struct Tools<'w> {
    /// Files that the tools work on.
    pub mounts: &'w Mounts,
    /// Workflow whose state the tools may change; a conversation has none.
    pub workflow: Option<&'w Workflow>,
    /// Folders whose new and changed files count as artifacts.
    pub artifacts: &'w [ProjectPath],
    /// State document as it was read last.
    pub recent: &'w Recent,
}

/// Circumstances of a call.
#[derive(Clone, Copy, Debug)]
pub struct CallContext<'a> {
    pub policy: &'a Policy,
    /// Files created or changed under the artifacts folder since the last change of the state.
    pub created: &'a [ProjectPath],
    /// Current time, as RFC 3339.
    pub now: &'a str,
    /// Rule for outputs that a node declares but that are missing.
    pub missing: MissingRule,
    /// Files that count as outputs of a node.
    pub outputs: OutputRule,
    /// Files of this visit of the node.
    pub files: &'a VisitFiles,
    /// Variables that count as set in this visit of the node.
    pub set: &'a BTreeSet<String>,
    /// Files that the model knows.
    pub known: &'a CallFiles,
    /// Agreement of the user to change a completed workflow.
    pub confirmation: Confirmation,
    /// Permission of the run to move without asking.
    pub moves: Moves,
    /// Decisions of the user at the gate of the node.
    pub gate: &'a GateVisit,
    /// Drafts as the run saved them before.
    pub saved: &'a [SavedText],
    /// Files of the move that the user agreed to; another change is asked about again.
    pub agreed: Option<&'a [FileIntent]>,
    /// Deadline after which the answer is useless.
    pub deadline: &'a Deadline,
}

/// The plan of a call.
#[derive(Clone, Debug)]
pub enum CallPlan {
    /// Answer it: it is a read, it is refused, or nothing needs to change.
    Answer(Answer),
    /// Change files.
    Change(Box<PlannedChange>),
    /// Ask the user.
    Ask(Question),
    /// Make a legal move once the user agrees.
    Approve(Box<ProposedMove>),
}

/// Result of a change.
#[derive(Clone, Debug, PartialEq)]
pub struct ChangeOutcome {
    /// Answer for the model.
    pub answer: Answer,
    pub state: Option<StateChange>,
}

impl Tools<'_> {
    /// Plans a call. Changes nothing.
    pub fn plan(&self, call: &Call, context: &CallContext<'_>) -> Result<CallPlan, MountError> {
        let fs = &context.policy.fs;
        let answer = match call {
            Call::Read(call) => {
                let excerpt = read::read(self.mounts, call, fs.max_read_bytes);
                answered(excerpt, |excerpt| known::read_answer(&excerpt, &context.known.known))
            }
            Call::List(call) => report(list::list(self.mounts, &list_of(call))),
            Call::Search(call) => {
                let hides_secrets = VPath::new(Mount::Project, ".env")
                    .is_some_and(|path| !context.policy.may_read(&path));
                let search = Search { hides_secrets, ..search_of(call) };
                report(search::search(self.mounts, &search, context.deadline))
            }
            Call::Write(_) | Call::Patch(_) | Call::Move(_) | Call::Delete(_) | Call::State(_) => {
                return match self.plan_change(call, context) {
                    Ok(plan) => Ok(plan),
                    Err(ChangeHalt::Refused(refusal)) => {
                        Ok(CallPlan::Answer(self.refused(call, &refusal)))
                    }
                    Err(ChangeHalt::Failed(error)) => Err(error),
                };
            }
            Call::AskUser(question) => return Ok(CallPlan::Ask(question.clone())),
            // The driver knows the node and its gate.
            Call::Gate(_) => Ok(Answer::from(&gate::no_gate(None))),
        };
        answer.map(|answer| CallPlan::Answer(known::unless_repeated(answer, context.known.answer)))
    }

    /// Returns the answer of a refused change. A refused change of the state ends the reply.
    fn refused(&self, call: &Call, refusal: &Refusal) -> Answer {
        let is_state = call.places().iter().any(|path| path.is_state_document());
        Answer { ends_reply: is_state && self.workflow.is_some(), ..Answer::from(refusal) }
    }

    /// Makes a planned change, or the rest of it. Leaves files alone that have their new content, so that it can be
    /// repeated after a crash. Without `planned` it works out the new content again from the call.
    pub fn carry_out(
        &self,
        call: &Call,
        intent: &Intent,
        planned: Option<&PlannedChange>,
        context: &CallContext<'_>,
    ) -> Result<ChangeOutcome, MountError> {
        match self.try_carry_out(call, intent, planned, context) {
            Ok(()) => {
                Ok(ChangeOutcome { answer: intent.answer.clone(), state: intent.state.clone() })
            }
            Err(ChangeHalt::Refused(refusal)) => {
                Ok(ChangeOutcome { answer: Answer::from(&*refusal), state: None })
            }
            Err(ChangeHalt::Failed(error)) => Err(error),
        }
    }
}

/// Reasons why a change is not made; one `?` propagates both.
#[derive(Debug)]
enum ChangeHalt {
    Refused(Box<Refusal>),
    Failed(MountError),
}

impl From<Refusal> for ChangeHalt {
    fn from(refusal: Refusal) -> Self {
        Self::Refused(Box::new(refusal))
    }
}

impl From<MountError> for ChangeHalt {
    fn from(error: MountError) -> Self {
        match denied(&error) {
            Some(refusal) => refusal.into(),
            None => Self::Failed(error),
        }
    }
}

/// Merges refusals and errors of a mount into one error.
fn reached<T>(answer: mounts::MountResult<T>) -> Result<T, ChangeHalt> {
    Ok(answer??)
}

/// Returns a refusal for a file that the system protects: the model can work around it, so the run need not stop. The
/// files of the run itself are none of its concern.
fn denied(error: &MountError) -> Option<Refusal> {
    let MountError { kind, action, path, .. } = error;
    if path.mount() == Mount::State {
        return None;
    }
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

/// Returns a refusal for a single file that cannot be read. A state document has none, because the run cannot continue
/// without it.
fn unreadable(error: &MountError) -> Option<Refusal> {
    let MountError { kind, action, path, error } = error;
    let is_one_file = *kind == DiskErrorKind::Other && path.mount() != Mount::State;
    is_one_file.then(|| {
        let message = format!("The system cannot {action} `{path}`: {error}.");
        Refusal::new(RefusalCode::Internal, message)
            .hint("Go on without it, or tell the user what the system says.")
    })
}

fn report<T: Serialize>(answer: mounts::MountResult<T>) -> Result<Answer, MountError> {
    answered(answer, |value| done(&value, Vec::new()))
}

/// Returns the answer of a read, or its refusal.
fn answered<T>(
    answer: mounts::MountResult<T>,
    done: impl FnOnce(T) -> Answer,
) -> Result<Answer, MountError> {
    let result = match answer {
        Ok(result) => result,
        Err(error) => Err(denied(&error).or_else(|| unreadable(&error)).ok_or(error)?),
    };
    Ok(match result {
        Ok(value) => done(value),
        Err(refusal) => Answer::from(&refusal),
    })
}

/// Returns the answer of a tool that succeeded.
fn done<T: Serialize>(fields: &T, created: Vec<String>) -> Answer {
    match serde_json::to_string(&ResultFields { ok: true, fields }) {
        Ok(result) => Answer { result: result.into(), created, ..Answer::default() },
        Err(error) => Answer::from(&Refusal::new(RefusalCode::Internal, error.to_string())),
    }
}

/// Returns the JSON of a tool's answer: `{ok:true,…}` with the fields of the result, or the refusal.
pub fn to_json<T: Serialize>(result: &Result<T, Refusal>) -> Result<Json, serde_json::Error> {
    match result {
        Ok(fields) => serde_json::to_value(ResultFields { ok: true, fields }),
        Err(refusal) => Ok(refusal.to_json()),
    }
}

/// The fields of a result after `ok`.
#[derive(Serialize)]
struct ResultFields<'f, T> {
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
        hides_secrets: false,
    }
}

/// Converts a number of the model; each tool lowers it to its own limit.
fn count(number: Option<u64>, default: usize) -> usize {
    number.map_or(default, |number| usize::try_from(number).unwrap_or(usize::MAX))
}
