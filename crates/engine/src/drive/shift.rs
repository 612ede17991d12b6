//! Entering a workflow that a node calls, and going back. One step each, which may be done again without harm.

use crewagent_core::event::Fact;
use crewagent_core::run::machine::{Input, Machine, Shift, Shifted};
use crewagent_core::state::call::Frame;

use super::{Drive, World, unexpected, unrecorded};
use crate::clock;
use crate::documents::{Crossing, Documents, Stuck, Terms};
use crate::turn::{Halt, Moment, Recorded, Turn};

impl<T: Turn> Drive<'_, T> {
    pub(super) fn replay_shift(&mut self, shift: &Shift) -> Result<(), Halt> {
        let key = self.shift_key(shift);
        let recorded = self.turn.step(&key, &mut |_| Err(unrecorded(&key)))?;
        self.shifted(recorded)
    }

    pub(super) fn shift(&mut self, shift: &Shift, world: &World<'_>) -> Result<(), Halt> {
        // What led here must survive whatever the documents do not say.
        self.turn.flush()?;
        let key = self.shift_key(shift);
        let machine = &*self.machine;
        let recorded =
            self.turn.step(&key, &mut |moment| match cross(machine, shift, moment, world) {
                Ok(fact) => Ok(fact),
                Err(Stuck::Held(message)) => {
                    let frame = frame(shift).clone();
                    Ok(Fact::WorkflowHeld { frame, message })
                }
                Err(Stuck::Failed(error)) => Err(error.into()),
            })?;
        self.shifted(recorded)
    }

    fn shifted(&mut self, recorded: Recorded) -> Result<(), Halt> {
        let Recorded { fact, time } = recorded;
        let shifted = if let Fact::WorkflowEntered { state, .. } = fact {
            Shifted::Entered(state)
        } else if let Fact::WorkflowLeft { change, .. } = fact {
            Shifted::Left(change)
        } else if let Fact::WorkflowHeld { message, .. } = fact {
            Shifted::Held(message)
        } else {
            return Err(unexpected("a change of the active workflow", &fact));
        };
        self.feed(Input::Shifted(shifted), time);
        Ok(())
    }

    fn shift_key(&self, shift: &Shift) -> String {
        let inputs = self.course.inputs;
        match shift {
            Shift::Enter { frame } => format!("t{inputs}/enter/{}", frame.call),
            Shift::Return { frame, attempt, .. } => {
                format!("t{inputs}/return/{}/{attempt}", frame.call)
            }
        }
    }
}

fn frame(shift: &Shift) -> &Frame {
    match shift {
        Shift::Enter { frame } | Shift::Return { frame, .. } => frame,
    }
}

/// Does it, and gives what is recorded.
fn cross(
    machine: &Machine,
    shift: &Shift,
    moment: &Moment<'_>,
    world: &World<'_>,
) -> Result<Fact, Stuck> {
    let frame = frame(shift);
    let waiting = machine.callers().len();
    let depth = match shift {
        Shift::Enter { .. } => waiting,
        Shift::Return { .. } => waiting.saturating_sub(1),
    };
    let now = clock::for_people(moment.now);
    let callers = machine.callers();
    let known = || {
        let caller = machine.workflow_at(depth)?;
        let call = caller.calls.get(frame.node_id.as_str())?;
        let child = machine.package()?.workflow(call.workflow.as_str())?;
        let caller_call = depth.checked_sub(1).and_then(|above| callers.get(above));
        let caller_call = caller_call.map(|caller| caller.frame.call);
        Some(Crossing { frame, call, caller, caller_call, child, now: &now })
    };
    let crossing = known().ok_or_else(|| {
        Stuck::Held(format!("The package has no workflow `{}`.", frame.workflow_id))
    })?;
    let documents = Documents(world.mounts);
    match shift {
        Shift::Enter { .. } => {
            let node = crossing.caller.graph.node(&frame.node_id);
            let own = node.and_then(|node| node.agent_id.as_ref());
            let agent = own.or_else(|| machine.agent_at(depth));
            let agent = agent.ok_or_else(|| Stuck::Held("No agent is active.".to_owned()))?;
            let state = documents.enter(&crossing, agent)?;
            let (frame, agent_id) = (frame.clone(), agent.to_string());
            Ok(Fact::WorkflowEntered { frame, depth: depth + 1, agent_id, state })
        }
        Shift::Return { failed, .. } => {
            let terms = Terms { created: machine.created(), missing: machine.settings().missing };
            let change = match failed {
                None => documents.leave(&crossing, terms)?,
                Some(_) => documents.give_up(&crossing)?,
            };
            let (frame, failed) = (frame.clone(), failed.clone());
            Ok(Fact::WorkflowLeft { frame, failed, change: Box::new(change) })
        }
    }
}
