//! Enters and leaves frames. As with every change of files, one durable step announces the change and another one makes
//! it.

use crewagent_core::event::{
    EventKind, FileIntent, FrameEntered, FrameEvent, FrameHeld, FrameLeft, FramePlanned,
};
use crewagent_core::run::machine::{FrameChange, FrameChanged, Input, Machine};
use crewagent_core::state::frame::Frame;
use crewagent_core::state::visit_files::VisitFiles;
use crewagent_format::integrity::Digest;

use super::{Driver, World, unexpected};
use crate::clock;
use crate::documents::{Direction, Documents, FrameOutcome, FrameStep, ReturnRules, Stuck};
use crate::step_log::{Halt, StepLog, StepRecord};

/// A frame change that is recorded and not carried out yet.
pub(super) struct Planned {
    files: Vec<FileIntent>,
    /// Time of the plan, as RFC 3339.
    at: String,
}

impl Planned {
    /// Returns true if this change gives a document this digest.
    pub(super) fn leads_to(&self, document: Digest) -> bool {
        let after = document.to_string();
        self.files.iter().any(|file| file.after.as_ref() == Some(&after))
    }
}

impl<L: StepLog> Driver<'_, L> {
    pub(super) fn change_frame(
        &mut self,
        change: &FrameChange,
        world: Option<&World<'_>>,
    ) -> Result<(), Halt> {
        let key = self.frame_key(change);
        let (machine, planned) = (&*self.machine, self.state.planned.as_ref());
        let recorded = self.log.step(
            &key,
            &mut |context| {
                let world = world.ok_or(Halt::CaughtUp)?;
                // The events before the plan, or the plan itself, must be durable before the documents change.
                context.flush()?;
                let now = clock::for_people(context.now());
                let kind = match planned {
                    None => plan(machine, change, now, world),
                    Some(planned) => carry_out(machine, change, planned, world),
                };
                match kind {
                    Ok(kind) => Ok(kind),
                    Err(Stuck::Held(message)) => {
                        Ok(EventKind::from(FrameHeld { frame: frame(change).clone(), message }))
                    }
                    Err(Stuck::Failed(error)) => Err(error.into()),
                    Err(Stuck::Unkept(error)) => Err(error.into()),
                }
            },
            self.listener,
        )?;
        self.frame_changed(recorded)
    }

    fn frame_changed(&mut self, recorded: StepRecord) -> Result<(), Halt> {
        let StepRecord { kind, time } = recorded;
        self.state.planned = None;
        let changed =
            if let EventKind::Frame(FrameEvent::Planned(FramePlanned { files, at, .. })) = kind {
                self.state.planned = Some(Planned { files, at });
                return Ok(());
            } else if let EventKind::Frame(FrameEvent::Entered(FrameEntered { state, .. })) = kind {
                FrameChanged::Entered(state)
            } else if let EventKind::Frame(FrameEvent::Left(FrameLeft { change, .. })) = kind {
                FrameChanged::Left(change)
            } else if let EventKind::Frame(FrameEvent::Held(FrameHeld { message, .. })) = kind {
                FrameChanged::Held(message)
            } else {
                return Err(unexpected("a change of the active workflow", &kind));
            };
        self.feed(Input::FrameChanged(changed), time);
        Ok(())
    }

    fn frame_key(&self, change: &FrameChange) -> String {
        let inputs = self.state.inputs;
        let key = match change {
            FrameChange::Enter { frame } => format!("t{inputs}/enter/{}", frame.id),
            FrameChange::Return { frame, attempt, .. } => {
                format!("t{inputs}/return/{}/{attempt}", frame.id)
            }
        };
        if self.state.planned.is_some() { super::call::done(&key) } else { key }
    }
}

fn frame(change: &FrameChange) -> &Frame {
    match change {
        FrameChange::Enter { frame } | FrameChange::Return { frame, .. } => frame,
    }
}

/// Performs the first step: plans the writes.
fn plan(
    machine: &Machine,
    change: &FrameChange,
    at: String,
    world: &World<'_>,
) -> Result<EventKind, Stuck> {
    let visit = machine.files_of_caller();
    let (step, direction) = step(machine, change, &visit, &at).ok_or_else(|| unknown(change))?;
    let files = Documents(world.mounts).plan(&step, direction)?.files();
    Ok(EventKind::from(FramePlanned { frame: frame(change).clone(), files, at }))
}

/// Performs the second step: makes the writes that are left.
fn carry_out(
    machine: &Machine,
    change: &FrameChange,
    planned: &Planned,
    world: &World<'_>,
) -> Result<EventKind, Stuck> {
    let visit = machine.files_of_caller();
    let (step, direction) =
        step(machine, change, &visit, &planned.at).ok_or_else(|| unknown(change))?;
    let outcome =
        Documents(world.mounts).carry_out(&step, direction, &planned.files, world.blobs)?;
    let frame = frame(change).clone();
    Ok(match (outcome, direction, change) {
        (FrameOutcome::Entered(state), Direction::Enter(agent), _) => {
            let (depth, agent_id) = (machine.callers().len() + 1, agent.to_string());
            EventKind::from(FrameEntered { frame, depth, agent_id, state: Box::new(state) })
        }
        (FrameOutcome::Left(change), _, FrameChange::Return { failed, .. }) => {
            EventKind::from(FrameLeft { frame, failed: failed.clone(), change: Box::new(change) })
        }
        (_, _, _) => return Err(unknown(change)),
    })
}

/// Returns the frame and the kind of its change.
fn step<'c>(
    machine: &'c Machine,
    change: &'c FrameChange,
    visit: &'c VisitFiles,
    now: &'c str,
) -> Option<(FrameStep<'c>, Direction<'c>)> {
    let frame = frame(change);
    let callers = machine.callers();
    let depth = match change {
        FrameChange::Enter { .. } => callers.len(),
        FrameChange::Return { .. } => callers.len().checked_sub(1)?,
    };
    let caller = machine.workflow_at(depth)?;
    let call = caller.calls.get(frame.node_id.as_str())?;
    let child = machine.package()?.workflow(call.workflow.as_str())?;
    let above = depth.checked_sub(1).and_then(|above| callers.get(above));
    let caller_frame = above.map(|caller| caller.frame.id);
    let direction = match change {
        FrameChange::Enter { .. } => Direction::Enter(machine.agent_called_by(depth, frame)?),
        FrameChange::Return { failed: None, .. } => Direction::Leave(ReturnRules {
            missing: machine.settings().missing,
            outputs: machine.settings().outputs,
            files: visit,
        }),
        FrameChange::Return { failed: Some(_), .. } => Direction::GiveUp,
    };
    let created = machine.created();
    Some((FrameStep { frame, call, caller, caller_frame, child, created, now }, direction))
}

fn unknown(change: &FrameChange) -> Stuck {
    let workflow = &frame(change).workflow_id;
    Stuck::Held(format!("The package has no workflow `{workflow}` that could be called here."))
}
