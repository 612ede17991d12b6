//! Resumes a run: its position comes from the state documents, its context from the journal if both agree.

use std::sync::Arc;

use crewagent_core::adoption::Adoption;
use crewagent_core::event::{
    ConversationEvent, Event, EventKind, ModelInstructed, RunEvent, RunResumed, ToolEvent,
    ToolsListed, UserEvent, UserInput,
};
use crewagent_core::message::Message;
use crewagent_core::payload::Payload;
use crewagent_core::prompt::PROMPT_VERSION;
use crewagent_core::run::history::{History, Position};
use crewagent_core::run::machine::{Machine, Subject};
use crewagent_core::settings::RunSettings;
use crewagent_core::state::document::STATE_FILE;
use crewagent_format::id::AgentId;
use crewagent_format::package::Workflow;
use crewagent_format::package::step::Tier;
use jiff::Timestamp;

use super::bindings;
use super::run::{Run, artifact_folders};
use super::unfinished::{Unfinished, created_since_the_last_move, said_since_the_last_move};
use super::{ResumeError, SettingsChange};
use crate::blobs::Blobs;
use crate::clock::Clock;
use crate::documents::{DocumentPosition, Documents};
use crate::host::{Host, OpenRun, RunFiles};
use crate::step_log::StepLog;
use crate::store::{RunId, RunRecord, RunSubject, Store};

pub(super) fn resume<H: Host>(
    host: &H,
    store: &Store,
    clock: &Clock,
    id: &RunId,
    change: &SettingsChange,
) -> Result<Run<H::Log>, ResumeError> {
    let mut opened = host.open(id)?;
    let RunFiles { mounts, blobs, .. } = &opened.files;
    let data = data_of(&opened.events, blobs);
    let subject = subject(store, &opened.record, data)?;
    let found = match (&subject, subject.workflow()) {
        (Subject::Workflow { package, .. }, Some(own)) => Documents(mounts).find(package, own)?,
        (Subject::Workflow { .. } | Subject::Conversation { .. }, _) => DocumentPosition::default(),
    };
    let lost = words_at_hand(&mut opened.events, blobs);
    opened.notes.extend(lost);
    let system = store.settings().for_runs();
    let events = std::mem::take(&mut opened.events);
    let replay = ReplayablePart::of(events, &opened.record, &found, &system);
    let taken = OwnedRun { opened, subject, clock: clock.clone() };
    taken.over(replay, found, &|settings| today(&change.on(settings), store))
}

/// The part of a journal that can be replayed.
pub(super) struct ReplayablePart {
    pub(super) settings: RunSettings,
    pub(super) place: Position,
    /// Earlier words of user and model: of the run that it was forked from, or before a fresh start.
    pub(super) words: Vec<Message>,
    /// Artifacts that the run wrote at its node before a fresh start.
    created: Vec<String>,
    /// Half-done document that the user is asked about first.
    offer: Option<Adoption>,
    is_fork: bool,
    pub(super) started: Option<Timestamp>,
    pub(super) events: Vec<Event>,
    /// Reason why the events cannot be replayed, if they cannot.
    pub(super) unfit: Option<String>,
}

impl ReplayablePart {
    /// Takes the events since the start, or since the last fresh start.
    pub(super) fn of(
        mut events: Vec<Event>,
        record: &RunRecord,
        found: &DocumentPosition,
        system: &RunSettings,
    ) -> Self {
        let begins = |event: &Event| match &event.kind {
            EventKind::Run(RunEvent::Resumed(resumed)) => resumed.fresh,
            EventKind::Run(_)
            | EventKind::Conversation(_)
            | EventKind::User(_)
            | EventKind::Frame(_)
            | EventKind::State(_)
            | EventKind::Model(_)
            | EventKind::Tool(_) => event.kind.is_start(),
        };
        let Some(at) = events.iter().rposition(begins) else {
            let (settings, place) = (system.clone(), found.place.clone());
            let unfit = Some("its beginning is missing".to_owned());
            return Self {
                settings,
                place,
                words: Vec::new(),
                created: Vec::new(),
                offer: None,
                is_fork: false,
                started: None,
                events,
                unfit,
            };
        };
        let events = events.split_off(at);
        let unfit = older_contract(record, &events[0]);
        let mut history = History::default();
        history.settings.clone_from(system);
        history.take(&events[0]);
        let History { settings, position: place, forked_from, .. } = history;
        let started = events[0].time.parse().ok();
        let mut created = Vec::new();
        let words = match &events[0].kind {
            EventKind::Run(RunEvent::Resumed(resumed)) => {
                created.clone_from(&resumed.created);
                resumed.words.clone()
            }
            EventKind::Run(RunEvent::Started(started)) if forked_from.is_none() => {
                started.earlier.clone()
            }
            EventKind::Run(_)
            | EventKind::Conversation(_)
            | EventKind::User(_)
            | EventKind::Frame(_)
            | EventKind::State(_)
            | EventKind::Model(_)
            | EventKind::Tool(_) => {
                forked_from.as_ref().map(|fork| fork.words.clone()).unwrap_or_default()
            }
        };
        let is_fork = forked_from.is_some();
        let offer = match &events[0].kind {
            EventKind::Run(RunEvent::Started(started)) => started.adoption.as_deref().cloned(),
            EventKind::Run(_)
            | EventKind::Conversation(_)
            | EventKind::User(_)
            | EventKind::Frame(_)
            | EventKind::State(_)
            | EventKind::Model(_)
            | EventKind::Tool(_) => None,
        };
        Self { settings, place, words, created, offer, is_fork, started, events, unfit }
    }

    /// Returns the machine before the first of the events.
    pub(super) fn machine(&self, subject: Subject) -> Machine {
        let machine = Machine::at(subject, self.settings.clone(), self.place.clone());
        let machine = machine.with_words(&self.words).with_created(&self.created);
        let machine = machine.with_offer(self.offer.clone());
        if self.is_fork { machine.continued() } else { machine }
    }
}

/// Returns why the events of a workflow cannot be replayed, if they were recorded under an older contract with the model.
/// The messages of a conversation fit every version.
fn older_contract(record: &RunRecord, first: &Event) -> Option<String> {
    let version = match &first.kind {
        EventKind::Run(RunEvent::Resumed(resumed)) => resumed.prompt_version.unwrap_or(1),
        EventKind::Run(_)
        | EventKind::Conversation(_)
        | EventKind::User(_)
        | EventKind::Frame(_)
        | EventKind::State(_)
        | EventKind::Model(_)
        | EventKind::Tool(_) => record.prompt_version,
    };
    let is_workflow = matches!(record.subject, RunSubject::Workflow { .. });
    (is_workflow && version < PROMPT_VERSION)
        .then(|| format!("it was recorded under version {version} of the contract with models"))
}

/// Loads the user's messages and the tool lists of servers, because replay needs their exact texts. Returns a note
/// about texts that are lost.
pub(super) fn words_at_hand(events: &mut [Event], blobs: &Blobs) -> Option<String> {
    let mut lost = None;
    for event in events {
        let texts =
            if let EventKind::User(UserEvent::Input(UserInput { text, .. })) = &mut event.kind {
                std::slice::from_mut(text)
            } else if let EventKind::Conversation(ConversationEvent::Instructed(
                ModelInstructed { texts, .. },
            )) = &mut event.kind
            {
                texts
            } else if let EventKind::Tool(ToolEvent::Listed(ToolsListed { tools, .. })) =
                &mut event.kind
            {
                std::slice::from_mut(tools)
            } else {
                continue;
            };
        for text in texts {
            match blobs.resolve(text) {
                Ok(words) => *text = Payload::Inline(words),
                Err(error) => {
                    lost = Some(format!("a long text of the journal is lost: {error}"));
                    *text = Payload::default();
                }
            }
        }
    }
    lost
}

/// Returns the settings to resume with: a policy that was tightened in the meantime holds, the window is that of the
/// current model, and tiers that were not named for this run follow the settings.
pub(super) fn today(settings: &RunSettings, store: &Store) -> RunSettings {
    let model = settings.model.as_deref();
    let system = store.settings().for_runs_with(model);
    let given = Tier::ALL.into_iter().filter_map(|tier| {
        let named = settings.tiers.get(tier).filter(|named| named.given)?;
        Some((tier, named.model.clone()))
    });
    RunSettings {
        policy: settings.policy.and(&system.policy),
        window_tokens: system.window_tokens,
        tiers: store.settings().tiers_of(model, &given.collect()),
        ..settings.clone()
    }
}

/// A run that this process owns and has not replayed yet.
struct OwnedRun<L> {
    opened: OpenRun<L>,
    subject: Subject,
    clock: Clock,
}

impl<L: StepLog> OwnedRun<L> {
    fn over(
        self,
        replay: ReplayablePart,
        found: DocumentPosition,
        changed: &dyn Fn(&RunSettings) -> RunSettings,
    ) -> Result<Run<L>, ResumeError> {
        let Self { mut opened, subject, clock } = self;
        let (epoch, mut notes) = (opened.log.epoch(), std::mem::take(&mut opened.notes));
        let machine = replay.machine(subject.clone());
        let ReplayablePart { started, events, unfit, words, created, .. } = replay;
        let (said, announced) =
            (said_since_the_last_move(&words, &events), Unfinished::of(&events));
        let package = subject.package().map(|package| &**package);
        let created = created_since_the_last_move(&created, &events, &artifact_folders(package));
        let mut run = Run::of(opened, machine, if unfit.is_some() { Vec::new() } else { events });
        let mut opening = Vec::new();
        let replayed = match (started, unfit) {
            (_, Some(unfit)) => Err(unfit),
            (None, None) => Err("its beginning is missing".to_owned()),
            (Some(started), None) => run.replay(started, &mut |event| opening.push(event.clone())),
        };
        let settings_now = changed(run.settings());
        let changed = Some(settings_now.clone()).filter(|new| new != run.settings());
        let resumed = match replayed {
            Ok(()) if run.will_stand_at(&found) => resumed(epoch, None, changed, notes),
            Ok(()) => {
                notes.push(format!(
                    "{STATE_FILE} was changed outside of the run; what it says counts"
                ));
                resumed(epoch, Some(found.place.clone()), changed, notes)
            }
            Err(why) => {
                notes.push(format!(
                    "the conversation with the model begins anew at the current node, because the journal cannot be gone through again: {why}"
                ));
                if let Some(announced) = &announced {
                    announced.settle(&run, &settings_now)?;
                }
                let machine = Machine::at(subject, settings_now.clone(), found.place.clone())
                    .with_words(&said)
                    .with_created(&created);
                run.start_anew(machine, clock.now(), &mut |event| opening.push(event.clone()));
                let mut resumed =
                    resumed(epoch, Some(found.place.clone()), Some(settings_now), notes);
                if let EventKind::Run(RunEvent::Resumed(resumed)) = &mut resumed {
                    resumed.fresh = true;
                    resumed.prompt_version = Some(PROMPT_VERSION);
                    resumed.words = said;
                    resumed.created = created;
                }
                resumed
            }
        };
        run.take_over(resumed, &mut |event| opening.push(event.clone()))?;
        run.set_opening(opening);
        Ok(run)
    }
}

/// Returns the event of a new owner, with a position if it differs from the journal's.
pub(super) fn resumed(
    epoch: u64,
    place: Option<Position>,
    settings: Option<RunSettings>,
    notes: Vec<String>,
) -> EventKind {
    let (state, callers, calls) = match place {
        Some(Position { state, callers, calls }) => (Some(state), callers, calls),
        None => (None, Vec::new(), 0),
    };
    EventKind::from(RunResumed {
        epoch,
        fresh: false,
        state,
        callers,
        calls,
        settings,
        notes,
        prompt_version: None,
        words: Vec::new(),
        created: Vec::new(),
    })
}

/// Returns what the run executes: a workflow with its agent, or a conversation.
pub(super) fn subject(
    store: &Store,
    record: &RunRecord,
    data: Option<Arc<str>>,
) -> Result<Subject, ResumeError> {
    let package = match store.runs().package(record)? {
        None => None,
        Some(installed) => {
            let package = store.packages().load_verified(&installed)?;
            let document = record.subject.workflow().map(|workflow| workflow.document.as_str());
            let adopted = document.zip(record.adopted.as_deref());
            Some(bindings::filled(&package, &installed, &record.bindings, adopted))
        }
    };
    match (&record.subject, package) {
        (RunSubject::Workflow { workflow, agent_id, .. }, Some(package)) => {
            let document = &workflow.document;
            let is_meant = |workflow: &Workflow| workflow.document_path.as_str() == document;
            let workflow = package
                .workflows()
                .iter()
                .position(is_meant)
                .ok_or_else(|| ResumeError::Workflow(document.clone()))?;
            let agent =
                AgentId::new(agent_id.clone()).unwrap_or_else(|| package.agents()[0].id.clone());
            let bindings = Arc::new(record.bindings.clone());
            Ok(Subject::Workflow { package, workflow, agent, data, bindings })
        }
        (subject, package) => {
            let agent = subject.agent_id().and_then(|id| AgentId::new(id.to_owned()));
            Ok(Subject::Conversation { package, agent })
        }
    }
}

/// Returns the text about the file that a run was started with.
pub(super) fn data_of(events: &[Event], blobs: &Blobs) -> Option<Arc<str>> {
    let data = events.iter().find_map(|event| match &event.kind {
        EventKind::Run(RunEvent::Started(started)) => started.data.as_ref(),
        EventKind::Run(_)
        | EventKind::Conversation(_)
        | EventKind::User(_)
        | EventKind::Frame(_)
        | EventKind::State(_)
        | EventKind::Model(_)
        | EventKind::Tool(_) => None,
    });
    blobs.resolve(data?).ok()
}
