//! The driver: carries out what the machine asks for, and decides nothing.

mod approval;
mod call;
mod frame;
pub(crate) mod request;
mod tool_server;

use crewagent_core::context::holds_object;
use crewagent_core::event::{
    AgentChanged, AssistantDelta, AssistantMessage, Channel, ConversationEvent, EventKind,
    ModelEvent, ModelInstructed, ModelOverflowed, ModelRetried, ModelStopped, Phase, PhaseChanged,
    Reason, RunEvent, RunResumed, StoppedBy, ToolEvent, ToolsListed, UserEvent, UserInput,
};
use crewagent_core::id::AgentId;
use crewagent_core::integrity::Digest;
use crewagent_core::package::Workflow;
use crewagent_core::run::machine::{Ask, Effect, Input, Machine, Rest, Whereabouts};
use crewagent_core::state::project_path::ProjectPath;
use jiff::Timestamp;

use crate::blobs::Blobs;
use crate::cancel::Deadline;
use crate::control::{Control, ControlRequest};
use crate::model::{Again, Delta, Memo, Model, ModelError, ModelErrorKind, Progress};
use crate::mounts::Mounts;
use crate::step_log::{Halt, Recorded, Turn};
use crate::tool_server::ToolServers;
use crate::tools::{Recent, Tools};

/// What a driver works with.
pub(crate) struct World<'w> {
    pub(crate) model: &'w dyn Model,
    pub(crate) mounts: &'w Mounts,
    /// The folder whose new files count as artifacts.
    pub(crate) artifacts: &'w ProjectPath,
    /// The state document as it was seen last.
    pub(crate) recent: &'w Recent,
    pub(crate) servers: &'w ToolServers,
    pub(crate) blobs: &'w Blobs,
    pub(crate) control: &'w Control,
}

impl World<'_> {
    /// The tools of the workflow that is active. The mounts are those of its call.
    fn tools<'t>(&'t self, mounts: &'t Mounts, workflow: Option<&'t Workflow>) -> Tools<'t> {
        Tools { mounts, workflow, artifacts: self.artifacts, recent: self.recent }
    }
}

/// Where the program is, beside what the machine knows.
#[derive(Default)]
pub(crate) struct Course {
    /// How often the user spoke; part of every key.
    inputs: u64,
    /// A change that was announced and is not carried out.
    announced: Option<call::Announced>,
    /// The same for a change of the active workflow.
    planned: Option<frame::Planned>,
    toolbox: request::Toolbox,
    /// What is known of servers beside what is recorded.
    served: tool_server::Acquaintance,
    /// What the model keeps between two requests.
    memo: Memo,
}

impl Course {
    /// Whether the change of the active workflow in hand makes this document the active one.
    pub(crate) fn crosses_to(&self, document: Digest) -> bool {
        self.planned.as_ref().is_some_and(|planned| planned.leads_to(document))
    }

    /// The call in hand is given up, with what is known of it.
    fn give_up(&mut self) {
        self.announced = None;
        self.planned = None;
        self.served.forget_call();
    }

    /// Whether the change in hand made the state document what it is.
    pub(crate) fn leads_to(&self, document: Digest) -> bool {
        self.announced.as_ref().is_some_and(|announced| announced.leads_to(document))
    }
}

/// A run that is being driven.
pub(crate) struct Drive<'d, T> {
    pub(crate) machine: &'d mut Machine,
    pub(crate) turn: &'d mut T,
    pub(crate) course: &'d mut Course,
}

impl<T: Turn> Drive<'_, T> {
    /// The first thing that happens, in every process anew.
    pub(crate) fn begin(&mut self, started: Timestamp) {
        self.feed(Input::Start, started);
    }

    /// Gives back what is recorded, as far as it goes. Nothing happens. `watch` sees every request that was answered.
    pub(crate) fn replay(
        &mut self,
        watch: &mut dyn FnMut(&Machine, &Ask, &mut request::Toolbox) -> Result<(), Halt>,
    ) -> Result<(), Halt> {
        while !self.turn.is_live() {
            if let Some(signal) = self.turn.recorded_signal() {
                self.signalled(signal);
                continue;
            }
            if self.turn.is_live() {
                break;
            }
            match self.machine.open() {
                Effect::AskModel(ask) => {
                    watch(self.machine, &ask, &mut self.course.toolbox)?;
                    self.replay_ask(&ask)?;
                }
                Effect::Perform(job) => self.replay_perform(job)?,
                Effect::Shift(shift) => self.replay_shift(&shift)?,
                Effect::Rest(_) | Effect::Tell(_) => {
                    return Err(Halt::Unfit("it goes on where the run rests".to_owned()));
                }
            }
        }
        Ok(())
    }

    /// Goes on until the run rests.
    pub(crate) fn run(&mut self, world: &World<'_>) -> Result<Rest, Halt> {
        loop {
            match self.machine.open() {
                Effect::Rest(rest) => {
                    self.turn.flush()?;
                    return Ok(rest);
                }
                Effect::Tell(_) => return Err(Halt::Unfit("nothing is open".to_owned())),
                Effect::AskModel(_) | Effect::Perform(_) | Effect::Shift(_)
                    if world.control.request() != ControlRequest::Run =>
                {
                    return self.pause(world.control.request());
                }
                Effect::AskModel(ask) => self.ask(&ask, world)?,
                Effect::Perform(job) => self.perform(job, world)?,
                Effect::Shift(shift) => self.shift(&shift, world)?,
            }
        }
    }

    /// Another process takes over: this one.
    pub(crate) fn take_over(&mut self, resumed: EventKind) -> Result<(), Halt> {
        self.signal(resumed)
    }

    /// The user speaks.
    pub(crate) fn say(&mut self, words: &str) -> Result<(), Halt> {
        let kind = EventKind::from(UserInput {
            text: words.into(),
            for_node_id: self.machine.node_name().map(str::to_owned),
            call_id: self.machine.asking_call().map(str::to_owned),
        });
        self.signal(kind)?;
        self.turn.flush()
    }

    /// The user did something in a conversation. What does not concern the machine is only recorded.
    pub(crate) fn choose(&mut self, chosen: EventKind) -> Result<(), Halt> {
        self.signal(chosen)?;
        self.turn.flush()
    }

    /// A signal that was just recorded, or was recorded before.
    fn signalled(&mut self, signal: Recorded) {
        let Recorded { kind, time } = signal;
        if let EventKind::User(UserEvent::Input(UserInput { text, .. })) = kind {
            self.course.inputs += 1;
            let words = text.inline().cloned().unwrap_or_default();
            self.feed(Input::User(words), time);
        } else if let EventKind::Conversation(ConversationEvent::Instructed(ModelInstructed {
            texts,
            ..
        })) = kind
        {
            self.course.inputs += 1;
            // The calls in hand are given up, and a change that was announced with them.
            self.course.give_up();
            let texts = texts.iter().map(|text| text.inline().cloned().unwrap_or_default());
            self.feed(Input::Instructed(texts.collect()), time);
        } else if let EventKind::Conversation(ConversationEvent::AgentChanged(AgentChanged {
            agent_id,
        })) = kind
        {
            self.feed(Input::Agent(agent_id.and_then(AgentId::new)), time);
        } else if let EventKind::Run(RunEvent::Resumed(RunResumed {
            state,
            callers,
            calls,
            settings,
            ..
        })) = kind
        {
            let place = state.map(|state| Whereabouts { state, callers, calls });
            if place.is_some() {
                self.course.give_up();
            }
            self.feed(Input::Resume { place, settings }, time);
        } else if let EventKind::Model(ModelEvent::Stopped(_)) = kind {
            self.feed(Input::Late, time);
        } else if let EventKind::Tool(ToolEvent::Listed(ToolsListed { server, tools, .. })) = kind {
            self.listed(&server, &tools);
        }
    }

    fn feed(&mut self, input: Input, time: Timestamp) {
        for effect in self.machine.step(input, time) {
            if let Effect::Tell(kind) = effect {
                self.turn.note(*kind);
            }
        }
    }

    pub(crate) fn pause(&mut self, request: ControlRequest) -> Result<Rest, Halt> {
        let (reason, message) = match request {
            ControlRequest::Stop => (Reason::Stopped, "Stopped by the user."),
            ControlRequest::Pause | ControlRequest::Run => (Reason::Paused, "Paused by the user."),
        };
        let (phase, message) = (Phase::Paused, Some(message.to_owned()));
        self.turn.note(EventKind::from(PhaseChanged {
            phase,
            reason: Some(reason),
            message: message.clone(),
        }));
        self.turn.flush()?;
        Ok(Rest { phase, reason: Some(reason), message, question: None })
    }

    fn ask_key(&self, ask: &Ask) -> String {
        let again = match ask.overflows {
            0 => String::new(),
            times => format!("/shorter-{times}"),
        };
        format!("t{}/llm/{}{again}", self.course.inputs, ask.turn)
    }

    fn replay_ask(&mut self, ask: &Ask) -> Result<(), Halt> {
        let key = self.ask_key(ask);
        let recorded = self.turn.step(&key, &mut |_| Err(unrecorded(&key)))?;
        self.replied(recorded)
    }

    fn ask(&mut self, ask: &Ask, world: &World<'_>) -> Result<(), Halt> {
        self.list_tools(world)?;
        request::check(self.machine)?;
        let request = request::of(self.machine, ask, world.blobs, &mut self.course.toolbox)?;
        self.turn.note(request::told(self.machine, ask, &request));
        self.turn.flush()?;
        let key = self.ask_key(ask);
        let turn = ask.turn;
        let (machine, toolbox) = (&*self.machine, &self.course.toolbox);
        let memo = &mut self.course.memo;
        let mut until = Deadline::whenever(world.control.cancel());
        let mut said = String::new();
        let recorded = self.turn.step(&key, &mut |moment| {
            if let Some(message) = machine.overflow(toolbox.bytes()) {
                return Ok(EventKind::from(ModelOverflowed { turn, message }));
            }
            if let Some(left) = machine.time_left(moment.now) {
                until = until.within(left);
            }
            let mut tell = |progress: Progress| match progress {
                Progress::Words(Delta { text, channel }) => {
                    if channel == Channel::Text {
                        said.push_str(&text);
                    }
                    moment.whisper(EventKind::from(AssistantDelta { turn, text, channel }));
                }
                Progress::Again(Again { attempt, wait, why: message }) => {
                    said.clear();
                    let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
                    moment.note(EventKind::from(ModelRetried { turn, attempt, wait_ms, message }));
                }
            };
            let mut reply = match world.model.reply(&request, memo, &mut tell, &until) {
                Err(ModelError { kind: ModelErrorKind::Window, message, .. }) => {
                    return Ok(EventKind::from(ModelOverflowed { turn, message }));
                }
                reply => reply?,
            };
            let calls = reply.tool_calls.iter().enumerate();
            let broken = calls.filter(|(_, call)| !holds_object(call)).map(|(at, _)| at);
            reply.broken_calls = broken.collect();
            Ok(EventKind::from(AssistantMessage { turn, reply }))
        });
        match recorded {
            Ok(recorded) => self.replied(recorded),
            Err(Halt::Model(error)) if error.kind == ModelErrorKind::Cancelled => {
                let partial = Some(said).filter(|said| !said.is_empty());
                if until.is_late() && world.control.request() == ControlRequest::Run {
                    return self.signal(EventKind::from(ModelStopped {
                        turn,
                        by: StoppedBy::Time,
                        partial,
                    }));
                }
                if partial.is_some() {
                    self.turn.note(EventKind::from(ModelStopped {
                        turn,
                        by: StoppedBy::User,
                        partial,
                    }));
                }
                Err(Halt::Model(error))
            }
            Err(halt) => Err(halt),
        }
    }

    /// Something comes from outside, and is taken in.
    fn signal(&mut self, kind: EventKind) -> Result<(), Halt> {
        let signal = self.turn.signal(kind)?;
        self.signalled(signal);
        Ok(())
    }

    fn replied(&mut self, recorded: Recorded) -> Result<(), Halt> {
        let Recorded { kind, time } = recorded;
        let input =
            if let EventKind::Model(ModelEvent::Replied(AssistantMessage { reply, .. })) = kind {
                Input::Replied(reply)
            } else if let EventKind::Model(ModelEvent::Overflowed(ModelOverflowed {
                message,
                ..
            })) = kind
            {
                Input::Overflowed(message)
            } else {
                return Err(unexpected("a reply", &kind));
            };
        self.feed(input, time);
        Ok(())
    }
}

fn unrecorded(key: &str) -> Halt {
    Halt::Unfit(format!("there is no record of {key}"))
}

fn unexpected(expected: &str, kind: &EventKind) -> Halt {
    Halt::Unfit(format!("{expected} is expected, not {}", kind.name()))
}
