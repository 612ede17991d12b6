//! Lists of runs: reads a few kilobytes of each, so that a thousand are fast.

use crewagent_core::event::{EventKind, ModelEvent, Phase, Reason};
use crewagent_core::prompt::PROMPT_VERSION;
use crewagent_core::question::QuestionKind;
pub use crewagent_core::run::history::Spent;
use crewagent_core::run::history::Tail;
use crewagent_core::state::document::StateDocument;
use crewagent_format::integrity::Digest;
use jiff::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

use super::lock::{self, Holder};
use super::record::{RunRecord, RunSubject, RunWorkflow};
use super::{LOGS, ProjectId, RunError, RunId, Runs, STATE, STATE_DOCUMENT, folder_of};
use crate::disk::Folder;
use crate::journal::{JournalError, tail};
use crate::store::{Flaw, title};

/// Largest state document that is read, in bytes.
pub(super) const MAX_DOCUMENT: u64 = 4 << 20;

/// Number of runs, the newest, that a forecast looks at.
const MOST_LOOKED_AT: usize = 200;

/// Scope of a list.
#[derive(Clone, Copy, Debug)]
pub enum Of<'p> {
    All,
    Project(&'p ProjectId),
}

/// Runs of the store.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct RunListing {
    /// Newest first.
    pub runs: Vec<RunSummary>,
    /// Folders that should be runs and are unreadable.
    pub damaged: Vec<Flaw>,
}

/// List entry of a run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunSummary {
    pub run_id: RunId,
    pub project_id: ProjectId,
    /// As `name@version`.
    pub package: String,
    /// Digest of the package's content, its identity.
    pub sha256: Digest,
    /// Id of the workflow, or the path of its document.
    pub workflow: String,
    pub agent_id: String,
    /// Title that the user gave it, else what its user said first, else the name of the first file that it made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Conversation that started it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub conversation: Option<RunId>,
    /// Run that it was forked from.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fork_of: Option<RunId>,
    pub created: Timestamp,
    /// Time of the last event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub updated: Option<Timestamp>,
    /// Commands print the variant's name in the code.
    #[serde(serialize_with = "as_name")]
    pub status: Status,
    /// Why it is not running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Reason>,
    /// Explanation of the reason.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
    /// Kind of the open question.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub asks: Option<QuestionKind>,
    /// Text of the open question, in one line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<String>,
    /// Current node, from its state document.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub current_node: Option<String>,
    /// Number of completed nodes.
    pub steps_completed: usize,
    /// Cost so far; unknown while it is running, and after a crash.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
    /// Process that holds it while it is running.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holder: Option<Holder>,
    /// Problems found while reading it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub troubles: Vec<String>,
}

/// The status of a run: its phase, and whether a process works on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub enum Status {
    /// A process works on it.
    Running,
    /// It was at work when its process ended.
    Interrupted,
    /// It waits for the user.
    WaitingUser,
    /// The user stopped it for a while.
    Paused,
    /// The workflow is complete.
    Completed,
    /// It cannot go on by itself.
    Failed,
    /// Its journal does not say.
    Unknown,
}

fn as_name<S: Serializer>(status: &Status, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(&format_args!("{status:?}"))
}

impl Status {
    /// Returns true if there is something left to do.
    pub fn is_unfinished(self) -> bool {
        self != Self::Completed
    }
}

impl Runs<'_> {
    /// Lists the runs of the store, or of one project.
    pub fn list(&self, of: Of<'_>) -> Result<RunListing, RunError> {
        Ok(listing(self.places_of(of)?))
    }

    /// Lists the `limit` newest runs, without reading the others. Also returns the total, counted by folders.
    pub fn newest(&self, of: Of<'_>, limit: usize) -> Result<(RunListing, usize), RunError> {
        let mut places = self.places_of(of)?;
        let total = places.len();
        // An id begins with its time.
        places.sort_unstable_by(|(_, one), (_, other)| other.cmp(one));
        places.truncate(limit);
        Ok((listing(places), total))
    }

    /// Counts the runs by their folders, without reading them.
    pub fn count(&self, of: Of<'_>) -> Result<usize, RunError> {
        Ok(self.places_of(of)?.len())
    }

    /// Returns the newest run that is not complete.
    pub fn newest_unfinished(&self, of: Of<'_>) -> Result<Option<RunId>, RunError> {
        let runs = self.list(of)?.runs;
        Ok(runs.into_iter().find(|run| run.status.is_unfinished()).map(|run| run.run_id))
    }

    /// Returns the cost of the newest completed runs of a workflow with this model, under the current contract with
    /// models. Reads little of each run, and only of the newest ones.
    pub fn completed(
        &self,
        package: &str,
        workflow: &RunWorkflow,
        model: &str,
        limit: usize,
    ) -> Vec<Spent> {
        let mut places = self.places_of(Of::All).unwrap_or_default();
        // An id begins with its time.
        places.sort_unstable_by(|(_, one), (_, other)| other.cmp(one));
        let is_meant = |record: &RunRecord| {
            let (of, what) = (record.subject.package(), record.subject.workflow());
            of.is_some_and(|of| of.name == package)
                && what.is_some_and(|what| what.document == workflow.document)
                && record.prompt_version == PROMPT_VERSION
        };
        let places = places.into_iter().take(MOST_LOOKED_AT);
        let meant = places.filter(|(folder, name)| {
            let record = RunId::parse(name).ok().and_then(|id| RunRecord::read(folder, &id).ok());
            record.is_some_and(|record| is_meant(&record))
        });
        meant.filter_map(|(folder, _)| completed_with(&folder, model)).take(limit).collect()
    }

    /// Returns the list entry of a run.
    pub fn summary(&self, id: &RunId) -> Result<RunSummary, RunError> {
        summary(&self.folder(id)?, id)
    }
}

/// Reads the runs in these folders, newest first.
fn listing(places: Vec<(Folder, String)>) -> RunListing {
    let mut listing = RunListing::default();
    for (folder, name) in places {
        let summary = RunId::parse(&name)
            .map_err(|error| error.to_string())
            .and_then(|id| summary(&folder, &id).map_err(|error| error.to_string()));
        match summary {
            Ok(summary) => listing.runs.push(summary),
            Err(reason) => listing.damaged.push(Flaw { name, reason }),
        }
    }
    listing.runs.sort_by(|one, other| {
        let key = |of: &RunSummary| (of.created, of.run_id.clone());
        key(other).cmp(&key(one))
    });
    listing
}

fn summary(folder: &Folder, id: &RunId) -> Result<RunSummary, RunError> {
    let record = RunRecord::read(folder, id)?;
    let RunSubject::Workflow { package, workflow, agent_id } = record.subject else {
        let reason = "it is a conversation among runs".to_owned();
        return Err(RunError::Damaged { id: id.clone(), reason });
    };
    let mut summary = RunSummary {
        run_id: record.run_id,
        project_id: record.project_id,
        package: package.reference(),
        sha256: package.sha256,
        workflow: workflow.reference().to_owned(),
        agent_id,
        // A list without titles is better than none.
        title: title::read(folder).ok().flatten(),
        conversation: record.conversation,
        fork_of: record.fork_of,
        created: record.created,
        updated: None,
        status: Status::Unknown,
        reason: None,
        message: None,
        asks: None,
        question: None,
        current_node: None,
        steps_completed: 0,
        spent: None,
        holder: None,
        troubles: Vec::new(),
    };
    if let Err(trouble) = position(folder, &mut summary) {
        summary.troubles.push(trouble);
    }
    if let Err(trouble) = progress(folder, &mut summary) {
        summary.troubles.push(trouble);
    }
    if summary.status == Status::Running {
        summary.holder = lock::holder(folder)?;
        if summary.holder.is_none() {
            summary.status = Status::Interrupted;
        }
    }
    Ok(summary)
}

/// Adds the position, which only the state document tells.
fn position(folder: &Folder, summary: &mut RunSummary) -> Result<(), String> {
    let bytes =
        folder.join(STATE).read(STATE_DOCUMENT, MAX_DOCUMENT).map_err(|error| error.to_string())?;
    let text = String::from_utf8(bytes)
        .map_err(|_| "its state document cannot be read: it is not text".to_owned())?;
    let document = StateDocument::read(text).map_err(|error| error.to_string())?;
    let front = document.front();
    summary.current_node = front.current_node().map(str::to_owned);
    summary.steps_completed = front.steps_completed.len();
    if summary.title.is_none() {
        summary.title = front.artifacts.first().and_then(|path| title::of_file(path));
    }
    Ok(())
}

/// Adds status and cost from the end of the journal.
fn progress(folder: &Folder, summary: &mut RunSummary) -> Result<(), String> {
    let ending = JournalEnding::of(folder).map_err(|error| error.to_string())?;
    summary.updated = ending.updated();
    let Tail { phase, reason, message, asks, question, spent, .. } = ending.tail;
    summary.status = phase.map_or(Status::Unknown, status);
    (summary.reason, summary.message) = (reason, message);
    (summary.asks, summary.spent) = (asks, spent);
    summary.question = question.as_deref().and_then(title::tidy);
    if ending.is_damaged {
        return Err(
            "the end of its journal is damaged; it is repaired when the run goes on".to_owned()
        );
    }
    phase.map(drop).ok_or_else(|| "its journal does not say how it is".to_owned())
}

/// End of a journal.
#[derive(Debug, Default)]
pub(in crate::store) struct JournalEnding {
    pub(in crate::store) tail: Tail,
    is_damaged: bool,
}

impl JournalEnding {
    /// Reads as much of the end as needed.
    pub(in crate::store) fn of(folder: &Folder) -> Result<Self, JournalError> {
        let mut events = tail(&folder_of(folder, LOGS))?;
        let tail = Tail::of(&mut events);
        Ok(Self { tail, is_damaged: events.unreadable() > 0 })
    }

    /// Returns the time of the last event.
    pub(in crate::store) fn updated(&self) -> Option<Timestamp> {
        self.tail.time.as_ref()?.parse().ok()
    }
}

/// Returns the cost of a run that is complete and was answered by this model, as the end of its journal says.
fn completed_with(folder: &Folder, model: &str) -> Option<Spent> {
    let mut events = tail(&folder_of(folder, LOGS)).ok()?;
    let ending = Tail::of(&mut events);
    let spent = ending.spent.filter(|_| ending.phase == Some(Phase::Completed))?;
    let own = events.find_map(|event| match event.kind {
        EventKind::Model(ModelEvent::TurnStarted(started)) => {
            started.model.filter(|_| started.tier.is_none())
        }
        EventKind::Model(_)
        | EventKind::Run(_)
        | EventKind::Conversation(_)
        | EventKind::User(_)
        | EventKind::Frame(_)
        | EventKind::State(_)
        | EventKind::Tool(_) => None,
    });
    own.is_some_and(|own| own == model).then_some(spent)
}

fn status(phase: Phase) -> Status {
    match phase {
        Phase::Running => Status::Running,
        Phase::WaitingUser => Status::WaitingUser,
        Phase::Paused => Status::Paused,
        Phase::Completed => Status::Completed,
        Phase::Failed => Status::Failed,
    }
}
