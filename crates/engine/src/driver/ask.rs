//! Sends requests to the model: each is announced and flushed, then sent, and the complete reply is recorded.

use crewagent_core::call::repair::repair_calls;
use crewagent_core::context::holds_object;
use crewagent_core::draft::{MarkFilter, MarkedText, read_marks};
use crewagent_core::event::{
    AssistantDelta, AssistantMessage, Channel, EventKind, Finish, ModelEvent, ModelFellBack,
    ModelOverflowed, ModelRetried, Reply, Role,
};
use crewagent_core::run::machine::{Ask, Input, Machine};

use super::{Driver, World, request, unexpected};
use crate::cancel::Deadline;
use crate::control::ControlRequest;
use crate::model::{
    Delta, Model, ModelError, ModelErrorKind, Progress, Request, RequestCache, Retry,
};
use crate::step_log::{Halt, StepContext, StepLog, StepRecord};

/// The part of a reply that arrived before it was complete.
#[derive(Default)]
struct Partial {
    text: String,
    /// True if the time limit of the run ended the reply.
    is_late: bool,
}

impl<L: StepLog> Driver<'_, L> {
    pub(super) fn ask(&mut self, ask: &Ask, world: Option<&World<'_>>) -> Result<(), Halt> {
        if let Some(world) = world.filter(|_| !self.log.is_replaying()) {
            self.list_tools(world)?;
        }
        let key = self.ask_key(ask);
        let (machine, toolbox) = (&mut *self.machine, &mut self.state.toolbox);
        let cache = self.state.caches.entry(ask.tier).or_default();
        let mut partial = Partial::default();
        let recorded = self.log.step(
            &key,
            &mut |context| {
                let world = world.ok_or(Halt::CaughtUp)?;
                request::check(machine)?;
                let request = request::of(machine, ask, world.blobs, toolbox)?;
                let model = model_of(world, ask);
                let outline = model.outline(&request, cache);
                context.emit(request::turn_started(machine, ask, &request, outline));
                context.flush()?;
                let now = context.now();
                if let Some(message) = machine.overflow(toolbox.bytes()) {
                    return Ok(EventKind::from(ModelOverflowed { turn: ask.turn, message }));
                }
                let whenever = Deadline::whenever(world.control.cancel());
                let until = match machine.time_left(now) {
                    Some(left) => whenever.within(left),
                    None => whenever,
                };
                let drafts = machine.takes_drafts();
                let replied =
                    reply(model, &request, (cache, &until), context, (&mut partial.text, drafts));
                partial.is_late = until.is_late() && world.control.request() == ControlRequest::Run;
                replied
            },
            self.listener,
        );
        match recorded {
            Ok(recorded) => {
                if let Some(watch) = &mut self.watch {
                    watch(self.machine, ask, &mut self.state.toolbox)?;
                }
                self.replied(recorded)
            }
            Err(Halt::Model(error)) if error.kind == ModelErrorKind::Cancelled => {
                self.cancelled(ask, partial, error)
            }
            Err(Halt::Model(error)) if error.kind.is_final() => self.fall_back(ask, world, error),
            Err(halt) => Err(halt),
        }
    }

    /// Records a reply that was cut short. At the time limit the run continues without it.
    fn cancelled(&mut self, ask: &Ask, partial: Partial, error: ModelError) -> Result<(), Halt> {
        match Machine::cut_reply(ask.turn, partial.is_late, partial.text) {
            Some(stopped) if stopped.role() == Role::Signal => self.signal(stopped),
            Some(stopped) => {
                self.emit(stopped);
                Err(Halt::Model(error))
            }
            None => Err(Halt::Model(error)),
        }
    }

    /// Records that the run's model stands in for that of a tier, which failed for good.
    fn fall_back(
        &mut self,
        ask: &Ask,
        world: Option<&World<'_>>,
        error: ModelError,
    ) -> Result<(), Halt> {
        let model = |tier| world.and_then(|world| world.model.tier(tier));
        let Some((tier, failed)) = ask.tier.and_then(|tier| Some((tier, model(tier)?))) else {
            return Err(Halt::Model(error));
        };
        self.signal(EventKind::from(ModelFellBack {
            turn: ask.turn,
            tier,
            model: Some(failed.name().to_owned()),
            message: Some(error.message),
        }))
    }

    fn ask_key(&self, ask: &Ask) -> String {
        let again = match ask.overflows {
            0 => String::new(),
            times => format!("/shorter-{times}"),
        };
        format!("t{}/llm/{}{again}", self.state.inputs, ask.turn)
    }

    fn replied(&mut self, recorded: StepRecord) -> Result<(), Halt> {
        let StepRecord { kind, time } = recorded;
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

/// Returns the model of the request's tier, or the run's own.
fn model_of<'w>(world: &World<'w>, ask: &Ask) -> &'w dyn Model {
    ask.tier.and_then(|tier| world.model.tier(tier)).unwrap_or(world.model)
}

/// Takes the marks of drafts out of the text of a reply.
fn take_marks(reply: &mut Reply) {
    let Some(content) = reply.content.as_deref() else { return };
    let MarkedText { text, drafts, broken } = read_marks(content, reply.finish == Finish::Length);
    if text.len() != content.len() {
        reply.content = Some(text);
    }
    (reply.drafts, reply.broken_drafts) = (drafts, broken);
}

/// Sends the request and returns the complete reply. Collects the text so far in `said`, in case the reply breaks off.
fn reply(
    model: &dyn Model,
    request: &Request,
    (cache, until): (&mut RequestCache, &Deadline),
    context: &mut dyn StepContext,
    (said, takes_drafts): (&mut String, bool),
) -> Result<EventKind, Halt> {
    let turn = request.place.turn;
    let mut filter = takes_drafts.then(MarkFilter::default);
    let mut tell = |progress: Progress| match progress {
        Progress::Delta(Delta { text, channel }) => {
            let mut text = text;
            if channel == Channel::Text {
                if let Some(filter) = &mut filter {
                    text = filter.take(&text);
                    if text.is_empty() {
                        return;
                    }
                }
                said.push_str(&text);
            }
            context.emit_delta(EventKind::from(AssistantDelta { turn, text, channel }));
        }
        Progress::Retry(Retry { attempt, wait, why: message }) => {
            said.clear();
            filter = takes_drafts.then(MarkFilter::default);
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            context.emit(EventKind::from(ModelRetried { turn, attempt, wait_ms, message }));
        }
    };
    let mut reply = match model.reply(request, cache, &mut tell, until) {
        Err(ModelError { kind: ModelErrorKind::Window, message, .. }) => {
            return Ok(EventKind::from(ModelOverflowed { turn, message }));
        }
        reply => reply?,
    };
    if takes_drafts {
        take_marks(&mut reply);
    }
    repair_calls(&mut reply, &request.tools);
    let calls = reply.tool_calls.iter().enumerate();
    let broken = calls.filter(|(_, call)| !holds_object(call)).map(|(at, _)| at);
    reply.broken_calls = broken.collect();
    Ok(EventKind::from(AssistantMessage { turn, reply }))
}
