//! A run that this process owns.

use std::path::Path;
use std::sync::Arc;

use crewagent_core::event::{
    ConversationEvent, Event, EventKind, ModelInstructed, Phase, PhaseChanged, RunFailed,
    RunFinished,
};
use crewagent_core::package::agents::Agent;
use crewagent_core::package::{Package, Workflow};
use crewagent_core::run::history::artifacts;
use crewagent_core::run::machine::{Effect, Machine, Rest};
use crewagent_core::settings::RunSettings;
use crewagent_core::state::call::{Caller, Frame};
use crewagent_core::state::project_path::ProjectPath;
use crewagent_core::state::run_state::RunState;
use crewagent_core::usage::Usage;
use jiff::Timestamp;

use crate::control::{Control, ControlRequest};
use crate::documents::Found;
use crate::driver::{Driver, DriverState, World};
use crate::host::{Opened, RunFiles};
use crate::model::{Model, ModelErrorKind};
use crate::mounts::Mounts;
use crate::step_log::{Halt, JournalLog, Listener, StepLog};
use crate::store::RunRecord;
use crate::tool_server::ToolServers;
use crate::tools::Recent;

/// The folder of a project that new files count as artifacts in.
const ARTIFACTS: &str = "artifacts";

/// The longest input of the user.
const MAX_INPUT: usize = 1 << 20;

/// A run that this process owns until the value is dropped. After an error it must be taken over anew.
pub struct Run<L: StepLog = JournalLog> {
    record: RunRecord,
    machine: Machine,
    state: DriverState,
    log: L,
    files: RunFiles,
    artifacts: ProjectPath,
    recent: Recent,
    servers: ToolServers,
    opening: Vec<Event>,
    health: Health,
}

/// Whether this process can go on with the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Health {
    /// It can.
    Sound,
    /// Something failed, and nobody knows how far it came.
    Failed,
    /// What somebody said or did could not be recorded, so nothing that comes behind it may be.
    Unrecorded,
}

impl<L: StepLog> Run<L> {
    /// Returns a run that begins.
    pub(super) fn begin(
        opened: Opened<L>,
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
    pub(super) fn of(opened: Opened<L>, machine: Machine, past: Vec<Event>) -> Self {
        let Opened { record, mut log, files, .. } = opened;
        log.queue(past);
        Self {
            record,
            machine,
            state: DriverState::default(),
            log,
            files,
            artifacts: artifacts_folder(),
            recent: Recent::new(),
            servers: ToolServers::none(),
            opening: Vec::new(),
            health: Health::Sound,
        }
    }

    /// The same run with the tools of these servers.
    pub(super) fn with_servers(self, servers: ToolServers) -> Self {
        Self { servers, ..self }
    }

    /// Replays the records, and emits what follows from them and was not recorded any more. The text says why that is not
    /// possible.
    pub(super) fn replay(
        &mut self,
        started: Timestamp,
        tell: &mut Listener<'_>,
    ) -> Result<(), String> {
        self.drive_with(tell, |driver| {
            driver.begin(started);
            driver.replay().map_err(|halt| halt.to_string())
        })
    }

    /// Leaves the records alone and begins at the current node.
    pub(super) fn start_anew(&mut self, machine: Machine, now: Timestamp, tell: &mut Listener<'_>) {
        self.machine = machine;
        self.state = DriverState::default();
        self.log.queue(Vec::new());
        self.drive_with(tell, |driver| driver.begin(now));
    }

    /// This process takes over.
    pub(super) fn take_over(
        &mut self,
        resumed: EventKind,
        tell: &mut Listener<'_>,
    ) -> Result<(), Halt> {
        self.drive_with(tell, |driver| driver.resume(resumed))
    }

    /// Whether the run is where the documents say, or will be when what is in hand is settled.
    pub(super) fn will_stand_at(&self, found: &Found) -> bool {
        let frames = |callers: &[Caller]| -> Vec<Frame> {
            callers.iter().map(|caller| caller.frame.clone()).collect()
        };
        if frames(self.machine.callers()) == frames(&found.place.callers) {
            return self.machine.run_state().is_same_place(&found.place.state)
                || found.sha256.is_some_and(|document| self.state.leads_to(document));
        }
        found.sha256.is_some_and(|document| self.state.crosses_to(document))
    }

    /// What it runs with.
    pub fn settings(&self) -> &RunSettings {
        self.machine.settings()
    }

    /// Does something with the program, as far as it needs nothing of the world.
    pub(super) fn drive_with<R>(
        &mut self,
        tell: &mut Listener<'_>,
        work: impl FnOnce(&mut Driver<'_, L>) -> R,
    ) -> R {
        let Self { machine, log, state, .. } = self;
        work(&mut Driver { machine, log, state, listener: tell, watch: None })
    }

    /// Its id.
    pub fn id(&self) -> &str {
        self.record.run_id.as_str()
    }

    /// Which process of this run this is, from 1.
    pub fn epoch(&self) -> u64 {
        self.log.epoch()
    }

    /// What it is.
    pub fn facts(&self) -> &RunRecord {
        &self.record
    }

    /// What happened when it was started or taken over, before anybody could listen.
    pub fn opening(&self) -> &[Event] {
        &self.opening
    }

    pub(super) fn set_opening(&mut self, opening: Vec<Event>) {
        self.opening = opening;
    }

    /// Where it stands.
    pub fn run_state(&self) -> &RunState {
        self.machine.run_state()
    }

    /// The workflows that wait for one that they called, the run's own first.
    pub fn callers(&self) -> &[Caller] {
        self.machine.callers()
    }

    /// The workflow that is active; a conversation has none.
    pub fn workflow(&self) -> Option<&Workflow> {
        self.machine.workflow()
    }

    /// The agent of the current node, or the one that is talked to.
    pub fn agent(&self) -> Option<&Agent> {
        self.machine.agent()
    }

    /// The package of a conversation, if it has one.
    pub(crate) fn package(&self) -> Option<Arc<Package>> {
        self.machine.package().cloned()
    }

    /// The files it works on.
    pub(crate) fn mounts(&self) -> &Mounts {
        &self.files.mounts
    }

    /// The user's folder.
    pub fn project_folder(&self) -> &Path {
        &self.files.project
    }

    /// Whether something failed, so that it must be taken over anew.
    pub fn is_broken(&self) -> bool {
        self.health != Health::Sound
    }

    /// Requests so far, and what they cost.
    pub fn spent(&self) -> (u64, Usage) {
        (self.machine.turns(), self.machine.usage())
    }

    /// The call whose question waits for an answer.
    pub fn asking_call(&self) -> Option<&str> {
        self.machine.asking_call()
    }

    /// Why it rests, if it does.
    pub fn rest(&self) -> Option<Rest> {
        match self.machine.open() {
            Effect::Rest(rest) => Some(rest),
            Effect::Tell(_) | Effect::AskModel(_) | Effect::Perform(_) | Effect::Shift(_) => None,
        }
    }

    /// Goes on until the run rests. An error leaves it resumable.
    pub fn drive(
        &mut self,
        model: &dyn Model,
        control: &Control,
        tell: &mut Listener<'_>,
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
                // The disk may be what failed; then these words are told and not kept.
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
                self.health = Health::Failed;
                Err(halt)
            }
            rest => rest,
        }
    }

    /// The user speaks; [`Run::drive`] goes on with it.
    pub fn say(&mut self, words: &str, tell: &mut Listener<'_>) -> Result<(), Halt> {
        if words.len() > MAX_INPUT {
            return Err(Halt::TooLong { bytes: words.len(), limit: MAX_INPUT });
        }
        let said = self.drive_with(tell, |driver| driver.say(words));
        self.broken_by(said)
    }

    /// The user did something in a conversation; [`Run::drive`] goes on with what there is to do.
    pub(crate) fn choose(
        &mut self,
        chosen: EventKind,
        tell: &mut Listener<'_>,
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

    /// What could not be recorded did not happen, and must not be recorded later: another process begins without it.
    fn broken_by(&mut self, done: Result<(), Halt>) -> Result<(), Halt> {
        if done.is_err() {
            self.health = Health::Unrecorded;
        }
        done
    }

    /// The files that were made so far, also by workflows that wait for the active one.
    pub fn artifacts(&self) -> Vec<String> {
        artifacts(self.machine.callers(), self.run_state())
    }

    /// The process leaves the run as it is.
    pub fn finish(&mut self, rest: &Rest, tell: &mut Listener<'_>) -> Result<(), Halt> {
        if self.health == Health::Unrecorded {
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

fn artifacts_folder() -> ProjectPath {
    // The name is a constant that parses; a test says so.
    ProjectPath::parse(ARTIFACTS).unwrap_or_else(|_| unreachable!("`{ARTIFACTS}` is a path"))
}
