//! A run that this process owns.

use std::path::Path;
use std::sync::Arc;

use crewagent_core::event::{
    ConversationEvent, Event, EventKind, ModelInstructed, Phase, PhaseChanged, RunFailed,
    RunFinished,
};
use crewagent_core::message::Message;
use crewagent_core::payload::Payload;
use crewagent_core::prompt::{self, RunNote};
use crewagent_core::question::Question;
use crewagent_core::run::history::artifacts;
use crewagent_core::run::machine::{Effect, Machine, Rest};
use crewagent_core::settings::RunSettings;
use crewagent_core::state::frame::{Caller, Frame};
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::state::run_state::RunState;
use crewagent_core::usage::Usage;
use crewagent_format::package::agents::Agent;
use crewagent_format::package::{Package, Workflow};
use jiff::Timestamp;

use crate::blobs::BlobError;
use crate::control::{Control, ControlRequest};
use crate::documents::DocumentPosition;
use crate::driver::{Driver, DriverState, World};
use crate::host::{OpenRun, RunFiles};
use crate::model::{Model, ModelErrorKind};
use crate::mounts::Mounts;
use crate::step_log::{EventListener, Halt, JournalLog, StepLog};
use crate::store::{RunRecord, title};
use crate::tool_server::ToolServers;
use crate::tools::{Recent, Tools};

/// Folder of a project in which new files count as artifacts, unless the package names others.
const ARTIFACTS: &str = "artifacts";

/// Limit of a user's input in bytes.
const MAX_INPUT: usize = 1 << 20;

/// A run that this process owns until the value is dropped. After an error it must be resumed anew.
pub struct Run<L: StepLog = JournalLog> {
    record: RunRecord,
    machine: Machine,
    state: DriverState,
    log: L,
    files: RunFiles,
    artifacts: Vec<ProjectPath>,
    recent: Recent,
    servers: ToolServers,
    opening: Vec<Event>,
    health: RunHealth,
}

/// Fitness of the run for further work in this process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum RunHealth {
    Sound,
    /// Something failed, with unknown progress.
    Failed,
    /// An input could not be recorded, so nothing after it may be recorded either.
    Unrecorded,
}

impl<L: StepLog> Run<L> {
    /// Returns a new run.
    pub(super) fn begin(
        opened: OpenRun<L>,
        machine: Machine,
        started: Timestamp,
        opening: Vec<Event>,
    ) -> Self {
        let mut run = Self::of(opened, machine, Vec::new());
        let mut emitted = opening;
        run.drive_with(&mut |event| emitted.push(event.clone()), |driver| driver.begin(started));
        run.opening = emitted;
        run
    }

    /// Returns a run with the records that it has to replay.
    pub(super) fn of(opened: OpenRun<L>, machine: Machine, replay: Vec<Event>) -> Self {
        let OpenRun { record, mut log, files, .. } = opened;
        log.queue(replay);
        let artifacts = artifact_folders(machine.package().map(|package| &**package));
        Self {
            record,
            machine,
            state: DriverState::default(),
            log,
            files,
            artifacts,
            recent: Recent::new(),
            servers: ToolServers::none(),
            opening: Vec::new(),
            health: RunHealth::Sound,
        }
    }

    /// Sets the servers whose tools the run has.
    pub(super) fn with_servers(self, servers: ToolServers) -> Self {
        Self { servers, ..self }
    }

    /// Replays the records, and emits the derived events that are missing behind them. The error text says why replay
    /// failed.
    pub(super) fn replay(
        &mut self,
        started: Timestamp,
        tell: &mut EventListener<'_>,
    ) -> Result<(), String> {
        self.drive_with(tell, |driver| {
            driver.begin(started);
            driver.replay().map_err(|halt| halt.to_string())
        })
    }

    /// Drops the records and starts afresh at the current node.
    pub(super) fn start_anew(
        &mut self,
        machine: Machine,
        now: Timestamp,
        tell: &mut EventListener<'_>,
    ) {
        self.machine = machine;
        self.state = DriverState::default();
        self.log.queue(Vec::new());
        self.drive_with(tell, |driver| driver.begin(now));
    }

    /// Records that this process resumed the run.
    pub(super) fn take_over(
        &mut self,
        resumed: EventKind,
        tell: &mut EventListener<'_>,
    ) -> Result<(), Halt> {
        self.drive_with(tell, |driver| driver.resume(resumed))
    }

    /// Returns true if the run is where the documents say, or will be once its current call or frame change is done.
    pub(super) fn will_stand_at(&self, found: &DocumentPosition) -> bool {
        let frames = |callers: &[Caller]| -> Vec<Frame> {
            callers.iter().map(|caller| caller.frame.clone()).collect()
        };
        if frames(self.machine.callers()) == frames(&found.place.callers) {
            return self.machine.run_state().is_same_place(&found.place.state)
                || found.sha256.is_some_and(|document| self.state.leads_to(document));
        }
        found.sha256.is_some_and(|document| self.state.crosses_to(document))
    }

    /// Returns the settings of the run.
    pub fn settings(&self) -> &RunSettings {
        self.machine.settings()
    }

    /// Runs `work` with a driver that has no model, files or servers.
    pub(super) fn drive_with<R>(
        &mut self,
        tell: &mut EventListener<'_>,
        work: impl FnOnce(&mut Driver<'_, L>) -> R,
    ) -> R {
        let Self { machine, log, state, .. } = self;
        work(&mut Driver { machine, log, state, listener: tell, watch: None })
    }

    /// Returns the id of the run.
    pub fn id(&self) -> &str {
        self.record.run_id.as_str()
    }

    /// Returns the number of the owning process, from 1.
    pub fn epoch(&self) -> u64 {
        self.log.epoch()
    }

    /// Returns the record of the run.
    pub fn record(&self) -> &RunRecord {
        &self.record
    }

    /// Returns the events of starting or resuming, which no listener could receive.
    pub fn opening(&self) -> &[Event] {
        &self.opening
    }

    pub(super) fn set_opening(&mut self, opening: Vec<Event>) {
        self.opening = opening;
    }

    /// Returns the state of the active workflow.
    pub fn run_state(&self) -> &RunState {
        self.machine.run_state()
    }

    /// Returns the workflows that wait for a subworkflow, the run's own first.
    pub fn callers(&self) -> &[Caller] {
        self.machine.callers()
    }

    /// Returns the active workflow; a conversation has none.
    pub fn workflow(&self) -> Option<&Workflow> {
        self.machine.workflow()
    }

    /// Returns the agent of the current node, or of the conversation.
    pub fn agent(&self) -> Option<&Agent> {
        self.machine.agent()
    }

    /// Returns the package, if there is one.
    pub(crate) fn package(&self) -> Option<Arc<Package>> {
        self.machine.package().cloned()
    }

    /// Returns the files that the tools see.
    pub(crate) fn mounts(&self) -> &Mounts {
        &self.files.mounts
    }

    /// Keeps a text that is about to be replaced.
    pub(super) fn keep(&self, text: &[u8]) -> Result<(), BlobError> {
        self.files.blobs.put(text).map(drop)
    }

    /// Returns the last words of a talk, for a run that is started from it.
    pub(crate) fn earlier_words(&self) -> Vec<Message> {
        prompt::earlier_words(&self.machine.context().messages())
    }

    /// Describes the run to the model of a conversation whose user leaves it.
    pub(crate) fn note(&self) -> String {
        let workflow = self.machine.workflow().map(super::start::reference).unwrap_or_default();
        prompt::run_note(&RunNote {
            workflow: &workflow,
            run: self.record.run_id.as_str().rsplit('-').next().unwrap_or_default(),
            node: self.machine.node_name(),
            wrote: &self.artifacts(),
            last_words: self.machine.last_words(),
        })
    }

    /// Returns the tools of the active workflow.
    pub(super) fn tools(&self) -> Tools<'_> {
        let workflow = self.machine.workflow();
        Tools {
            mounts: &self.files.mounts,
            workflow,
            artifacts: &self.artifacts,
            recent: &self.recent,
        }
    }

    /// Returns a text of the journal.
    pub(super) fn text(&self, payload: &Payload) -> Result<Arc<str>, BlobError> {
        self.files.blobs.resolve(payload)
    }

    /// Returns the folder of the user's project.
    pub fn project_folder(&self) -> &Path {
        &self.files.project
    }

    /// Returns true if something failed, so that the run must be resumed anew.
    pub fn is_broken(&self) -> bool {
        self.health != RunHealth::Sound
    }

    /// Returns the number of requests so far, and their usage.
    pub fn spent(&self) -> (u64, Usage) {
        (self.machine.turns(), self.machine.usage())
    }

    /// Returns the id of the call whose question is open.
    pub fn asking_call(&self) -> Option<&str> {
        self.machine.asking_call()
    }

    /// Returns why the run waits or has ended, if it does.
    pub fn rest(&self) -> Option<Rest> {
        match self.machine.open() {
            Effect::Rest(rest) => Some(rest),
            Effect::Tell(_)
            | Effect::AskModel(_)
            | Effect::Perform(_)
            | Effect::Survey(_)
            | Effect::FrameChange(_) => None,
        }
    }

    /// Drives the run until it waits or ends. After an error it can be resumed.
    pub fn drive(
        &mut self,
        model: &dyn Model,
        control: &Control,
        tell: &mut EventListener<'_>,
    ) -> Result<Rest, Halt> {
        if self.is_broken() {
            return Err(Halt::Broken);
        }
        let Self { machine, state, log, files, artifacts, recent, servers, .. } = self;
        let RunFiles { mounts, blobs, .. } = files;
        let world = World { model, mounts, artifacts, recent, servers, blobs, control };
        let mut driver = Driver { machine, log, state, listener: tell, watch: None };
        match driver.run(Some(&world)) {
            Err(Halt::Stopped) => driver.pause(ControlRequest::Stop),
            Err(Halt::Model(error))
                if error.kind == ModelErrorKind::Cancelled
                    && control.request() != ControlRequest::Run =>
            {
                driver.pause(control.request())
            }
            Err(halt) => {
                // If the disk failed, this event is emitted but not stored.
                let partial = match &halt {
                    Halt::Model(error) => error.partial.clone(),
                    Halt::Mount(_)
                    | Halt::Log(_)
                    | Halt::Stopped
                    | Halt::Broken
                    | Halt::TooLong { .. }
                    | Halt::Unfit(_)
                    | Halt::CaughtUp => None,
                };
                driver.emit(EventKind::from(RunFailed { message: halt.to_string(), partial }));
                driver.emit(EventKind::from(PhaseChanged {
                    phase: Phase::Failed,
                    reason: Some(halt.reason()),
                    message: Some(halt.to_string()),
                }));
                let _ = driver.log.flush();
                self.health = RunHealth::Failed;
                Err(halt)
            }
            rest => rest,
        }
    }

    /// Adds a message of the user; [`Run::drive`] continues with it.
    pub fn say(&mut self, words: &str, tell: &mut EventListener<'_>) -> Result<(), Halt> {
        if words.len() > MAX_INPUT {
            return Err(Halt::TooLong { bytes: words.len(), limit: MAX_INPUT });
        }
        if let Some(offer) = self.machine.offer().cloned()
            && let Ok(choice) = offer.answer(words)
            && let Some(node) = offer.node(choice)
        {
            let done = self.adopt(&offer, node, tell);
            return self.broken_by(done);
        }
        let question = self.rest().and_then(|rest| rest.question);
        let said = self.drive_with(tell, |driver| driver.say(words));
        self.broken_by(said)?;
        self.name_after(words, question.as_ref());
        Ok(())
    }

    /// Gives an untitled run the title that an input suggests. A conversation has other rules.
    fn name_after(&self, words: &str, question: Option<&Question>) {
        if let (Some(folder), Some(_)) = (&self.files.folder, self.record.subject.workflow())
            && let Some(subject) = title::subject_of(words, question)
        {
            title::name_after(folder, &subject);
        }
    }

    /// Records a choice of the user in a conversation; [`Run::drive`] continues with it.
    pub(crate) fn choose(
        &mut self,
        chosen: EventKind,
        tell: &mut EventListener<'_>,
    ) -> Result<(), Halt> {
        if let EventKind::Conversation(ConversationEvent::Instructed(ModelInstructed {
            texts,
            ..
        })) = &chosen
        {
            let bytes = texts.iter().map(|text| text.bytes() as usize).sum();
            if bytes > MAX_INPUT {
                return Err(Halt::TooLong { bytes, limit: MAX_INPUT });
            }
        }
        let done = self.drive_with(tell, |driver| driver.choose(chosen));
        self.broken_by(done)
    }

    /// Marks the run if an input could not be recorded: it did not happen and must not be recorded later, because
    /// another process may have resumed without it.
    fn broken_by(&mut self, done: Result<(), Halt>) -> Result<(), Halt> {
        if done.is_err() {
            self.health = RunHealth::Unrecorded;
        }
        done
    }

    /// Returns the artifacts so far, including those of waiting callers.
    pub fn artifacts(&self) -> Vec<String> {
        artifacts(self.machine.callers(), self.run_state())
    }

    /// Records how this process leaves the run.
    pub fn finish(&mut self, rest: &Rest, tell: &mut EventListener<'_>) -> Result<(), Halt> {
        if self.health == RunHealth::Unrecorded {
            return Ok(());
        }
        let kind = EventKind::from(RunFinished {
            phase: rest.phase,
            reason: rest.reason,
            artifacts: self.artifacts(),
            turns: self.machine.turns(),
            usage: self.machine.usage(),
        });
        let done = self.drive_with(tell, |driver| {
            driver.emit(kind);
            driver.log.flush()
        });
        self.broken_by(done)
    }
}

/// Returns the folders of a project in which new files count as artifacts.
pub(super) fn artifact_folders(package: Option<&Package>) -> Vec<ProjectPath> {
    let roots = package.map(|package| package.manifest().artifact_roots.as_slice());
    let folder = |root: &String| ProjectPath::parse(root.trim_end_matches('/')).ok();
    let mut folders: Vec<ProjectPath> =
        roots.unwrap_or_default().iter().filter_map(folder).collect();
    if folders.is_empty() {
        folders.extend(ProjectPath::parse(ARTIFACTS));
    }
    folders
}
