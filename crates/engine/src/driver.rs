//! The driver carries out the effects that the machine asks for, and decides nothing itself.
//!
//! Each effect has one function. It does its work inside a durable step, so that the same function replays the record
//! if there is one.

mod approval;
mod ask;
mod call;
mod frame;
mod gate;
pub(crate) mod request;
mod survey;
mod tool_server;

use std::collections::BTreeMap;

use crewagent_core::event::{
    ActiveRunChanged, AgentChanged, ConversationEvent, Event, EventKind, ModelEvent,
    ModelInstructed, Phase, PhaseChanged, Reason, RunEvent, RunResumed, ToolEvent, ToolsListed,
    UserEvent, UserInput,
};
use crewagent_core::run::history::Position;
use crewagent_core::run::machine::{Ask, Effect, Input, Machine, Rest};
use crewagent_core::state::project_path::ProjectPath;
use crewagent_format::id::AgentId;
use crewagent_format::integrity::Digest;
use crewagent_format::package::Workflow;
use crewagent_format::package::step::Tier;
use jiff::Timestamp;

use crate::blobs::Blobs;
use crate::control::{Control, ControlRequest};
use crate::model::{Model, RequestCache};
use crate::mounts::Mounts;
use crate::step_log::{Halt, StepLog, StepRecord};
use crate::tool_server::ToolServers;
use crate::tools::{Recent, Tools};

/// Everything outside the machine that a driver works with.
pub(crate) struct World<'w> {
    pub(crate) model: &'w dyn Model,
    pub(crate) mounts: &'w Mounts,
    /// Folders whose new files count as artifacts.
    pub(crate) artifacts: &'w [ProjectPath],
    /// State document as it was read last.
    pub(crate) recent: &'w Recent,
    pub(crate) servers: &'w ToolServers,
    pub(crate) blobs: &'w Blobs,
    pub(crate) control: &'w Control,
}

impl World<'_> {
    /// Returns the tools of the active workflow. The mounts are those of its frame.
    fn tools<'t>(&'t self, mounts: &'t Mounts, workflow: Option<&'t Workflow>) -> Tools<'t> {
        Tools { mounts, workflow, artifacts: self.artifacts, recent: self.recent }
    }
}

/// Driver state outside the machine; rebuilt by replay.
#[derive(Default)]
pub(crate) struct DriverState {
    /// Number of inputs of the user so far; part of every key.
    inputs: u64,
    /// A change that is announced and not carried out yet.
    announced: Option<call::Announced>,
    /// A frame change that is announced and not carried out yet.
    planned: Option<frame::Planned>,
    toolbox: request::Toolbox,
    /// This process's view of tool servers, beside the records.
    servers: tool_server::ToolServerView,
    /// Caches between two requests: of the run's own model, and of those of the tiers.
    caches: BTreeMap<Option<Tier>, RequestCache>,
}

impl DriverState {
    /// Returns true if the planned frame change makes this document the active one.
    pub(crate) fn crosses_to(&self, document: Digest) -> bool {
        self.planned.as_ref().is_some_and(|planned| planned.leads_to(document))
    }

    /// Abandons the current call and everything known about it.
    fn abandon_call(&mut self) {
        self.announced = None;
        self.planned = None;
        self.servers.abandon_call();
    }

    /// Returns true if the announced change gives the state document this digest.
    pub(crate) fn leads_to(&self, document: Digest) -> bool {
        self.announced.as_ref().is_some_and(|announced| announced.leads_to(document))
    }
}

/// A callback that receives every request whose reply is recorded.
pub(crate) type RequestWatch<'w> =
    dyn FnMut(&Machine, &Ask, &mut request::Toolbox) -> Result<(), Halt> + 'w;

/// A run that is being driven.
pub(crate) struct Driver<'d, L> {
    pub(crate) machine: &'d mut Machine,
    pub(crate) log: &'d mut L,
    pub(crate) state: &'d mut DriverState,
    pub(crate) listener: &'d mut dyn FnMut(&Event),
    pub(crate) watch: Option<&'d mut RequestWatch<'d>>,
}

impl<L: StepLog> Driver<'_, L> {
    /// Starts the machine, which every process does first.
    pub(crate) fn begin(&mut self, started: Timestamp) {
        self.feed(Input::Start, started);
    }

    /// Replays all records without any effect.
    pub(crate) fn replay(&mut self) -> Result<(), Halt> {
        match self.run(None) {
            Err(Halt::CaughtUp) => Ok(()),
            Err(halt) => Err(halt),
            Ok(_) => Err(Halt::Unfit("it rests without a world".to_owned())),
        }
    }

    /// Drives the run until it waits or ends. Without a world it stops at the end of the records, with
    /// [`Halt::CaughtUp`].
    pub(crate) fn run(&mut self, world: Option<&World<'_>>) -> Result<Rest, Halt> {
        loop {
            if let Some(signal) = self.log.recorded_signal() {
                self.take(signal);
                continue;
            }
            let effect = self.machine.open();
            if let Effect::Rest(rest) = effect {
                return self.rest(rest, world);
            }
            let request = world.map_or(ControlRequest::Run, |world| world.control.request());
            if request != ControlRequest::Run {
                return self.pause(request);
            }
            match effect {
                Effect::AskModel(ask) => self.ask(&ask, world)?,
                Effect::Perform(job) => self.call(job, world)?,
                Effect::Survey(plan) => self.survey(&plan, world)?,
                Effect::FrameChange(change) => self.change_frame(&change, world)?,
                Effect::Tell(_) | Effect::Rest(_) => {
                    return Err(Halt::Unfit("nothing is open".to_owned()));
                }
            }
        }
    }

    fn rest(&mut self, rest: Rest, world: Option<&World<'_>>) -> Result<Rest, Halt> {
        if self.log.is_replaying() {
            return Err(Halt::Unfit("it goes on where the run rests".to_owned()));
        }
        if world.is_none() {
            return Err(Halt::CaughtUp);
        }
        self.log.flush()?;
        Ok(rest)
    }

    /// Records that this process resumes the run.
    pub(crate) fn resume(&mut self, resumed: EventKind) -> Result<(), Halt> {
        self.signal(resumed)
    }

    /// Records a message of the user.
    pub(crate) fn say(&mut self, words: &str) -> Result<(), Halt> {
        let kind = EventKind::from(UserInput {
            text: words.into(),
            for_node_id: self.machine.node_name().map(str::to_owned),
            call_id: self.machine.asking_call().map(str::to_owned),
        });
        self.signal(kind)?;
        self.log.flush()
    }

    /// Records a choice of the user in a conversation. Events that do not concern the machine are only recorded.
    pub(crate) fn choose(&mut self, chosen: EventKind) -> Result<(), Halt> {
        self.signal(chosen)?;
        self.log.flush()
    }

    /// Records a signal and applies it.
    fn signal(&mut self, kind: EventKind) -> Result<(), Halt> {
        let signal = self.log.signal(kind, self.listener)?;
        self.take(signal);
        Ok(())
    }

    /// Applies a signal that was just recorded or is replayed.
    fn take(&mut self, signal: StepRecord) {
        let StepRecord { kind, time } = signal;
        match kind {
            EventKind::User(UserEvent::Input(UserInput { text, .. })) => {
                self.state.inputs += 1;
                let words = text.inline().cloned().unwrap_or_default();
                self.feed(Input::User(words), time);
            }
            EventKind::Conversation(ConversationEvent::Instructed(ModelInstructed {
                texts,
                ..
            })) => {
                self.state.inputs += 1;
                self.state.abandon_call();
                let texts = texts.iter().map(|text| text.inline().cloned().unwrap_or_default());
                self.feed(Input::Instructed(texts.collect()), time);
            }
            EventKind::Conversation(ConversationEvent::AgentChanged(AgentChanged { agent_id })) => {
                self.feed(Input::Agent(agent_id.and_then(AgentId::new)), time);
            }
            EventKind::Run(RunEvent::Resumed(resumed)) => {
                let RunResumed { state, callers, calls, settings, .. } = resumed;
                let place = state.map(|state| Position { state, callers, calls });
                if place.is_some() {
                    self.state.abandon_call();
                }
                self.feed(Input::Resume { place, settings }, time);
            }
            EventKind::Conversation(ConversationEvent::RunChanged(ActiveRunChanged {
                note: Some(note),
                ..
            })) => self.feed(Input::Noted(note.into()), time),
            EventKind::Model(ModelEvent::Stopped(_)) => self.feed(Input::Late, time),
            EventKind::Model(ModelEvent::FellBack(fell_back)) => {
                self.feed(Input::FellBack(fell_back.tier), time);
            }
            EventKind::Tool(ToolEvent::Listed(ToolsListed { server, tools, .. })) => {
                self.list(&server, &tools);
            }
            EventKind::Run(_)
            | EventKind::Conversation(_)
            | EventKind::User(_)
            | EventKind::Frame(_)
            | EventKind::State(_)
            | EventKind::Model(_)
            | EventKind::Tool(_) => {}
        }
    }

    fn feed(&mut self, input: Input, time: Timestamp) {
        for effect in self.machine.step(input, time) {
            if let Effect::Tell(kind) = effect {
                self.emit(*kind);
            }
        }
    }

    /// Emits an event that follows from the records.
    pub(crate) fn emit(&mut self, kind: EventKind) {
        self.log.emit(kind, self.listener);
    }

    /// Emits that the run pauses at the user's request.
    pub(crate) fn pause(&mut self, request: ControlRequest) -> Result<Rest, Halt> {
        let (reason, message) = match request {
            ControlRequest::Stop => (Reason::Stopped, "Stopped by the user."),
            ControlRequest::Pause | ControlRequest::Run => (Reason::Paused, "Paused by the user."),
        };
        let (phase, message) = (Phase::Paused, Some(message.to_owned()));
        let reason = Some(reason);
        self.emit(EventKind::from(PhaseChanged { phase, reason, message: message.clone() }));
        self.log.flush()?;
        Ok(Rest { phase, reason, message, question: None })
    }
}

fn unexpected(expected: &str, kind: &EventKind) -> Halt {
    Halt::Unfit(format!("{expected} is expected, not {}", kind.name()))
}
