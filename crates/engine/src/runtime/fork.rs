//! Forks a run: a new run continues from a snapshot of another one, which is only read.
//!
//! The state documents are those of the snapshot, byte for byte but for the id of the run. Each is found by its digest:
//! the current document, or a version that a later change stored. The messages of user and model are copied; tool calls
//! and their results are not, as in every run that enters a new node. The files of the project stay as they are.

use std::collections::BTreeMap;
use std::sync::Arc;

use crewagent_core::event::{Event, EventKind, Phase, PhaseChanged, Reason, RunStarted};
use crewagent_core::fork::Fork;
use crewagent_core::frame_id::FrameId;
use crewagent_core::message::Message;
use crewagent_core::run::history::{History, Position, Snapshot, Visit};
use crewagent_core::run::machine::Subject;
use crewagent_core::settings::RunSettings;
use crewagent_core::state::document::StateDocument;
use crewagent_core::vpath::VPath;
use crewagent_format::integrity::Digest;

use super::open::{ReplayablePart, data_of, subject, today, words_at_hand};
use super::start::reference;
use super::unfinished::said_since_the_last_move;
use super::{ForkError, ResumeError};
use crate::clock::{self, Clock};
use crate::documents::{DocumentPosition, NoDocument, document, follow};
use crate::driver::{Driver, DriverState};
use crate::step_log::ReplayLog;
use crate::store::{NewRun, RunError, RunId, RunView, Store};

/// Plan of a fork.
#[derive(Clone, Debug)]
pub struct ForkRun {
    /// Id of the new run, if the caller announced one already.
    pub id: Option<RunId>,
    /// Run that is forked.
    pub run: RunId,
    /// Event with which that run entered a node.
    pub event: u64,
}

/// A forked run.
#[derive(Clone, Debug, PartialEq)]
pub struct Forked {
    pub id: RunId,
    /// Visit that it continues from.
    pub visit: Visit,
    /// Position of the new run, including the waiting callers.
    pub place: Position,
    /// Number of copied state documents.
    pub documents: usize,
    /// Messages of user and model so far.
    pub words: Vec<Message>,
    pub settings: RunSettings,
}

/// Everything that the new run starts with, except its id.
pub(super) struct ForkContent {
    view: RunView,
    subject: Subject,
    data: Option<Arc<str>>,
    visit: Visit,
    documents: BTreeMap<Option<FrameId>, StateDocument>,
    place: Position,
    words: Vec<Message>,
    settings: RunSettings,
}

/// Reads everything that a fork needs. Writes nothing.
pub(super) fn prepare(store: &Store, plan: &ForkRun) -> Result<ForkContent, ForkError> {
    let runs = store.runs();
    let view = runs.look(&plan.run)?;
    // This process may fork a run that it owns: the caller makes sure that no worker drives it.
    if let Some(holder) = &view.holder
        && holder.pid != Some(std::process::id())
    {
        let (id, holder) = (plan.run.clone(), holder.clone());
        return Err(RunError::InUse { id, holder }.into());
    }
    let events = &view.recovered.events;
    let visit = History::of(events).visits.into_iter().find(|visit| visit.seq == plan.event);
    let visit =
        visit.ok_or_else(|| ForkError::Visit { run: plan.run.clone(), event: plan.event })?;
    let data = data_of(events, &view.blobs);
    let subject = subject(store, &view.record, data.clone())?;
    let snapshot = Snapshot::of(events, plan.event);
    let documents = documents(store, &view, &snapshot, &visit)?;
    let place = place(&subject, &documents, &snapshot, &view, &visit)?;
    let system = store.settings().for_runs();
    let settings = today(&snapshot.history.settings, store);
    let words = words(&view, subject.clone(), plan.event, &system);
    Ok(ForkContent { subject, data, visit, documents, place, words, settings, view })
}

/// Returns the documents of the snapshot. Those of open frames must be found; those of finished frames are copied if
/// they are.
fn documents(
    store: &Store,
    view: &RunView,
    snapshot: &Snapshot,
    visit: &Visit,
) -> Result<BTreeMap<Option<FrameId>, StateDocument>, ForkError> {
    let run = &view.record.run_id;
    let position = &snapshot.history.position;
    let open: Vec<FrameId> = position.frames().map(|frame| frame.id).collect();
    let mut found = BTreeMap::new();
    for (frame, now) in store.runs().documents_by_frame(run)? {
        if frame.is_some_and(|frame| frame.number() > position.calls) {
            continue;
        }
        match as_it_was(view, snapshot.document(frame), now) {
            Some(text) => drop(found.insert(frame, document(frame, text).map_err(unusable)?)),
            None if frame.is_none_or(|frame| open.contains(&frame)) => {
                return Err(lost(view, visit, frame));
            }
            None => {}
        }
    }
    Ok(found)
}

/// Returns the text with this digest. Without a digest the document has not changed since.
fn as_it_was(view: &RunView, digest: Option<&str>, now: String) -> Option<String> {
    let Some(digest) = digest else { return Some(now) };
    let digest = Digest::parse(digest)?;
    if Digest::of(now.as_bytes()) == digest {
        return Some(now);
    }
    String::from_utf8(view.blobs.get(digest).ok()?).ok()
}

/// Returns the position by the documents, which must match that of the journal.
fn place(
    subject: &Subject,
    documents: &BTreeMap<Option<FrameId>, StateDocument>,
    snapshot: &Snapshot,
    view: &RunView,
    visit: &Visit,
) -> Result<Position, ForkError> {
    let (Subject::Workflow { package, .. }, Some(own)) = (subject, subject.workflow()) else {
        return Err(ForkError::Visit { run: view.record.run_id.clone(), event: visit.seq });
    };
    let missing =
        |frame| NoDocument::Unusable(format!("{} is not there", VPath::state_document(frame)));
    let read = |frame| documents.get(&frame).cloned().ok_or_else(|| missing(frame));
    let DocumentPosition { mut place, .. } = follow(package, own, read).map_err(unusable)?;
    let position = &snapshot.history.position;
    place.calls = position.calls;
    let is_same =
        place.frames().eq(position.frames()) && place.state.is_same_place(&position.state);
    if is_same { Ok(place) } else { Err(lost(view, visit, visit.frame_id())) }
}

/// Returns the messages of user and model so far. A journal that cannot be replayed gives none; the position is known
/// without it.
fn words(view: &RunView, subject: Subject, event: u64, system: &RunSettings) -> Vec<Message> {
    let events = view.recovered.events.iter();
    let mut events: Vec<Event> = events.take_while(|one| one.seq <= event).cloned().collect();
    words_at_hand(&mut events, &view.blobs);
    let replay = ReplayablePart::of(events, &view.record, &DocumentPosition::default(), system);
    if replay.unfit.is_some() {
        return said_since_the_last_move(&replay.words, &replay.events);
    }
    let Some(started) = replay.started else { return Vec::new() };
    let mut machine = replay.machine(subject);
    let mut driver = Driver {
        machine: &mut machine,
        log: &mut ReplayLog::new(replay.events),
        state: &mut DriverState::default(),
        listener: &mut |_| {},
        watch: None,
    };
    driver.begin(started);
    match driver.replay() {
        Ok(()) => machine.words(),
        Err(_) => Vec::new(),
    }
}

impl ForkContent {
    /// Describes the new run for the user.
    pub(super) fn report(self, id: RunId) -> Forked {
        let Self { visit, documents, place, words, settings, .. } = self;
        Forked { id, visit, place, documents: documents.len(), words, settings }
    }

    /// Creates the run, whole or not at all.
    pub(super) fn make(
        self,
        store: &Store,
        clock: &Clock,
        plan: &ForkRun,
    ) -> Result<Forked, ForkError> {
        let now = clock.now();
        let id = plan.id.clone().unwrap_or_else(|| RunId::fresh(now));
        let mut documents = Vec::new();
        for (call, document) in &self.documents {
            documents.push((*call, document.of_run(id.as_str())?.text().to_string()));
        }
        let event = |seq: u64, kind: EventKind| Event {
            seq,
            part: None,
            time: clock::for_events(now),
            run_id: Some(id.to_string()),
            key: None,
            kind,
        };
        let record = &self.view.record;
        let run = store.runs().create(NewRun {
            id: id.clone(),
            project: record.project_id.clone(),
            subject: record.subject.clone(),
            conversation: None,
            bindings: record.bindings.clone(),
            adopted: record.adopted.clone(),
            created: now,
            documents,
            events: vec![event(1, self.started(store, plan)?), event(2, self.rests(plan))],
        })?;
        run.close();
        // What it is about does not change.
        if let Some(title) = store.runs().summary(&record.run_id)?.title {
            store.runs().rename(&id, &title)?;
        }
        Ok(self.report(id))
    }

    fn started(&self, store: &Store, plan: &ForkRun) -> Result<EventKind, ForkError> {
        let record = &self.view.record;
        let (Some(package), Some(workflow)) = (record.subject.package(), self.subject.workflow())
        else {
            return Err(ForkError::Visit { run: plan.run.clone(), event: plan.event });
        };
        let Position { state, callers, calls } = self.place.clone();
        Ok(EventKind::from(RunStarted {
            package: package.reference(),
            package_sha256: package.sha256.to_string(),
            workflow: reference(workflow),
            agent_id: record.subject.agent_id().unwrap_or_default().to_owned(),
            project: store.runs().project(record)?.name,
            state,
            settings: self.settings.clone(),
            data: self.data.as_deref().map(Into::into),
            earlier: Vec::new(),
            forecast: None,
            adoption: None,
            notes: Vec::new(),
            forked_from: Some(Box::new(Fork {
                run: plan.run.to_string(),
                event: plan.event,
                callers,
                calls,
                words: self.words.clone(),
            })),
        }))
    }

    /// Returns the event that leaves the new run paused, or completed, until a user resumes it.
    fn rests(&self, plan: &ForkRun) -> EventKind {
        let is_complete = self.place.state.complete && self.place.callers.is_empty();
        let (phase, reason) = match is_complete {
            true => (Phase::Completed, None),
            false => (Phase::Paused, Some(Reason::Paused)),
        };
        let message = format!(
            "It goes on from run {} at `{}`, and was not started.",
            plan.run, self.visit.node
        );
        EventKind::from(PhaseChanged { phase, reason, message: Some(message) })
    }
}

fn lost(view: &RunView, visit: &Visit, frame: Option<FrameId>) -> ForkError {
    ForkError::Lost {
        run: view.record.run_id.clone(),
        node: visit.node.clone(),
        document: VPath::state_document(frame).to_string(),
    }
}

fn unusable(error: NoDocument) -> ForkError {
    ResumeError::from(error).into()
}
