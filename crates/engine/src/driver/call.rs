//! Carries out a call of a tool: answers it at once, asks the user, or changes files.
//!
//! A change takes two durable steps. The first announces it, with the digests before and after; the second compares the
//! files with them and does what is left to do. So another process may repeat the second step safely.

use std::time::Duration;

use crewagent_core::call::names::PathNames;
use crewagent_core::call::{Call, cut_off};
use crewagent_core::event::{
    Answer, EventKind, Intent, ToolEvent, ToolFinished, ToolStarted, UserAsked, UserEvent,
};
use crewagent_core::prompt;
use crewagent_core::question::Question;
use crewagent_core::refusal::{Refusal, RefusalCode};
use crewagent_core::run::machine::{CallJob, Input, Machine, Moves, Whole};
use crewagent_core::state::document::STATE_FILE;
use crewagent_core::tool::canonical;
use crewagent_core::vpath::{VPath, WritablePath};
use crewagent_format::integrity::Digest;

use super::{Driver, World, approval, gate, request, tool_server, unexpected};
use crate::cancel::Deadline;
use crate::clock;
use crate::mounts::{FileContent, Mounts};
use crate::step_log::{Halt, StepContext, StepLog, StepRecord};
use crate::tools::{
    self, CallContext, CallPlan, PlannedChange, ProposedMove, SavedText, Tools, aliases,
};

/// A change whose intent is recorded.
pub(super) struct Announced {
    intent: Box<Intent>,
    /// The change itself, unless another process planned it.
    planned: Option<Box<PlannedChange>>,
}

impl Announced {
    /// Returns true if this change leaves a state document with this digest.
    pub(super) fn leads_to(&self, document: Digest) -> bool {
        let after = document.to_string();
        self.intent.state.is_some()
            && self.intent.files.iter().any(|file| file.after.as_ref() == Some(&after))
    }
}

impl<L: StepLog> Driver<'_, L> {
    /// Performs a call. The job shares what the machine knows of files, so it is dropped before the machine continues.
    pub(super) fn call(
        &mut self,
        job: Box<CallJob>,
        world: Option<&World<'_>>,
    ) -> Result<(), Halt> {
        let key = self.call_key(&job);
        if self.is_server_tool(&job) {
            return self.call_server(&job, &key, world);
        }
        if let Some(announced) = self.state.announced.take() {
            return self.carry_out(&done(&key), job, announced, world);
        }
        let mut planned = None;
        let (machine, toolbox) = (&*self.machine, &self.state.toolbox);
        let recorded = self.log.step(
            &key,
            &mut |context| {
                let world = world.ok_or(Halt::CaughtUp)?;
                let call = parsed(&job, machine, toolbox, world)?;
                let mounts = world.mounts.of_frame(job.frame);
                let tools = world.tools(&mounts, machine.workflow());
                let (kind, change) = plan(&job, call, context, world, (machine, &tools))?;
                planned = change;
                Ok(kind)
            },
            self.listener,
        )?;
        drop(job);
        self.planned(recorded, planned)
    }

    /// Applies the record of the first step.
    pub(super) fn planned(
        &mut self,
        recorded: StepRecord,
        planned: Option<Box<PlannedChange>>,
    ) -> Result<(), Halt> {
        let StepRecord { kind, time } = recorded;
        let input = if let EventKind::Tool(ToolEvent::Finished(ToolFinished { answer, .. })) = kind
        {
            Input::Answered { answer, state: None }
        } else if let EventKind::Tool(ToolEvent::Started(ToolStarted {
            intent: Some(intent),
            ..
        })) = kind
        {
            self.state.announced = Some(Announced { intent, planned });
            return Ok(());
        } else if let EventKind::User(UserEvent::Asked(asked)) = kind {
            let UserAsked { question, moved, files, .. } = asked;
            match moved {
                None => Input::Asked(question),
                Some(moved) => Input::Proposed { moved, files, question },
            }
        } else {
            return Err(unexpected("an answer", &kind));
        };
        self.feed(input, time);
        Ok(())
    }

    /// Performs the second step of a change.
    fn carry_out(
        &mut self,
        key: &str,
        job: Box<CallJob>,
        announced: Announced,
        world: Option<&World<'_>>,
    ) -> Result<(), Halt> {
        let Announced { intent, planned } = &announced;
        let (machine, toolbox) = (&*self.machine, &self.state.toolbox);
        let recorded = self.log.step(
            key,
            &mut |context| {
                let world = world.ok_or(Halt::CaughtUp)?;
                let call = parsed(&job, machine, toolbox, world)?;
                // The reply and the intent must be durable before the change.
                context.flush()?;
                let now = clock::for_people(context.now());
                let mounts = world.mounts.of_frame(job.frame);
                let answer = match &call.and_then(|call| gate::resolved(call, &job, machine)) {
                    Ok(gate::ResolvedCall { call, .. }) => {
                        let deadline = deadline(&job, world);
                        let saved = gate::saved_before(call, &job, world);
                        let context = call_context(&job, &now, (&deadline, &saved));
                        gate::keep_drafts(call, &mounts, world)?;
                        match planned {
                            Some(change) => keep_before_images(change, world)?,
                            None => keep_found_images(intent, &mounts, world)?,
                        }
                        let tools = world.tools(&mounts, machine.workflow());
                        tools.carry_out(call, intent, planned.as_deref(), &context)?.answer
                    }
                    Err(refusal) => Answer::from(refusal),
                };
                Ok(finished(&job, answer))
            },
            self.listener,
        );
        drop(job);
        match recorded {
            Ok(recorded) => self.carried_out(recorded, &announced.intent),
            Err(halt) => {
                // The change may be half done, so the next attempt compares the files again.
                self.state.announced = Some(Announced { planned: None, ..announced });
                Err(halt)
            }
        }
    }

    fn carried_out(&mut self, recorded: StepRecord, intent: &Intent) -> Result<(), Halt> {
        let StepRecord { kind, time } = recorded;
        let EventKind::Tool(ToolEvent::Finished(ToolFinished { answer, .. })) = kind else {
            return Err(unexpected("a result", &kind));
        };
        let state = intent.state.clone().filter(|_| answer.refused.is_none());
        self.feed(Input::Answered { answer, state }, time);
        Ok(())
    }

    /// Returns the key of a call. A move that the user agreed to is performed again under another key.
    fn call_key(&self, job: &CallJob) -> String {
        let agreed = match self.machine.agreement() {
            Moves::Free => "/agreed",
            Moves::Ask => "",
        };
        format!("t{}/tool/{}/{}{agreed}", self.state.inputs, job.turn, job.call.id)
    }
}

/// Returns the key of the second step of a change.
pub(super) fn done(key: &str) -> String {
    format!("{key}/done")
}

/// Parses the call or returns the refusal. Loads the arguments, which may be long.
fn parsed(
    job: &CallJob,
    machine: &Machine,
    toolbox: &request::Toolbox,
    world: &World<'_>,
) -> Result<Result<Call, Refusal>, Halt> {
    if let Some(refusal) = tool_server::not_offered(job, toolbox) {
        return Ok(Err(refusal));
    }
    let arguments = request::text(&job.call.arguments, world.blobs)?;
    if job.whole == Whole::CutOff {
        return Ok(Err(cut_off(&job.call.name, &arguments)));
    }
    let call = match Call::parse(&job.call.name, &arguments, &job.policy) {
        Ok(call) => call,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let aliases = machine.package().map(|package| &package.manifest().aliases);
    let real = |path: &VPath| aliases::real(world.mounts, aliases?, path);
    let call = match call.with_aliases(&job.policy, &real) {
        Ok(call) => call,
        Err(refusal) => return Ok(Err(refusal)),
    };
    let Some(node) = machine.current_node() else { return Ok(Ok(call)) };
    Ok(call.with_names(&PathNames {
        declared: &node.outputs,
        variables: &machine.run_state().variables,
        exists: &|path| world.mounts.exists(path).is_ok_and(|found| found == Ok(true)),
    }))
}

/// Performs the first step: answers the call, asks the user, or plans a change. Touches no file.
fn plan(
    job: &CallJob,
    call: Result<Call, Refusal>,
    context: &mut dyn StepContext,
    world: &World<'_>,
    (machine, tools): (&Machine, &Tools<'_>),
) -> Result<(EventKind, Option<Box<PlannedChange>>), Halt> {
    let now = clock::for_people(context.now());
    let subject = call.as_ref().ok().and_then(Call::subject);
    let gate::ResolvedCall { call, outcome } =
        match call.and_then(|call| gate::resolved(call, job, machine)) {
            Ok(resolved) => resolved,
            Err(refusal) => {
                let refusal = &refusal;
                context.emit(started(job, None, None));
                // A change of the state that cannot be read is a refused one, too.
                let arguments = request::text(&job.call.arguments, world.blobs)?;
                let ends_reply = tools.workflow.is_some() && arguments.contains(STATE_FILE);
                let answer = Answer { ends_reply, ..Answer::from(refusal) };
                return Ok((finished(job, answer), None));
            }
        };
    if !call.is_write() {
        if let Some(approval) =
            approval::of_call(job, call.tool().name(), &call.places(), world.blobs)?
        {
            return Ok((asked(job, approval.question()), None));
        }
        context.emit(started(job, subject.clone(), None));
    }
    let call = &call;
    let deadline = deadline(job, world);
    let saved = gate::saved_before(call, job, world);
    let call_context = call_context(job, &now, (&deadline, &saved));
    let plan = match (call, &outcome) {
        (Call::Gate(asked), _) => {
            gate::ask(asked, job, machine, tools, &call_context).map(|asked| match asked {
                Ok(question) => CallPlan::Ask(question),
                Err(answer) => CallPlan::Answer(answer),
            })
        }
        (_, Some(outcome)) => tools
            .plan(call, &call_context)
            .map(|plan| gate::with_choice(plan, job.gate.choice.as_ref(), outcome))
            .map_err(Halt::from),
        (_, None) => tools.plan(call, &call_context).map_err(Halt::from),
    };
    // The result of an interrupted call is not its answer.
    let plan = if deadline.is_late() {
        CallPlan::Answer(Answer::from(&too_late(job)))
    } else if deadline.is_over() {
        return Err(Halt::Stopped);
    } else {
        plan?
    };
    Ok(match plan {
        CallPlan::Answer(answer) => {
            if call.is_write() {
                context.emit(started(job, subject, None));
            }
            (finished(job, answer), None)
        }
        CallPlan::Change(change) => match approval::of_change(job, call, &change) {
            Some(approval) => (asked(job, approval.question()), None),
            None => {
                let intent = Box::new(change.intent.clone());
                (started(job, subject, Some(intent)), Some(change))
            }
        },
        CallPlan::Ask(question) if job.refuses_go_on && question.asks_to_go_on() => {
            (finished(job, Answer::from(&go_on())), None)
        }
        CallPlan::Ask(question) => (asked(job, question), None),
        CallPlan::Approve(proposed) => {
            let ProposedMove { moved, files, question } = *proposed;
            let call_id = job.call.id.clone();
            (EventKind::from(UserAsked { call_id, moved: Some(moved), files, question }), None)
        }
    })
}

/// Returns the refusal of a question that only asks if the model may go on. If it is repeated, the user is asked.
fn go_on() -> Refusal {
    Refusal::new(RefusalCode::Precondition, prompt::GO_ON)
}

fn too_late(job: &CallJob) -> Refusal {
    let seconds = job.policy.call_seconds;
    Refusal::new(RefusalCode::Timeout, format!("The call took longer than {seconds} seconds."))
        .hint("Ask for less: a smaller folder, fewer files, a more precise query.")
}

pub(super) fn deadline(job: &CallJob, world: &World<'_>) -> Deadline {
    Deadline::after(Duration::from_secs(job.policy.call_seconds), world.control.cancel())
}

fn call_context<'o>(
    job: &'o CallJob,
    now: &'o str,
    (deadline, saved): (&'o Deadline, &'o [SavedText]),
) -> CallContext<'o> {
    // The user decided about the change at the gate itself.
    let is_chosen = job.gate.choice.is_some();
    CallContext {
        policy: &job.policy,
        created: &job.created,
        now,
        missing: job.missing,
        outputs: job.outputs,
        files: &job.files,
        set: &job.set,
        known: &job.known,
        confirmation: job.confirmation,
        gate: &job.gate.visit,
        saved,
        moves: if is_chosen { Moves::Free } else { job.moves },
        agreed: job.agreed.as_deref(),
        deadline,
    }
}

/// Stores the contents before a change, so that it can be shown and reverted.
fn keep_before_images(change: &PlannedChange, world: &World<'_>) -> Result<(), Halt> {
    for image in change.before_images() {
        world.blobs.put(image)?;
    }
    Ok(())
}

/// Stores the contents before a change that another process planned, as far as the files are still unchanged.
fn keep_found_images(intent: &Intent, mounts: &Mounts, world: &World<'_>) -> Result<(), Halt> {
    for file in &intent.files {
        let path = VPath::parse(&file.path).and_then(WritablePath::new);
        let Ok(path) = path else { continue };
        let Ok(target) = mounts.target(&path, tools::KEPT)? else { continue };
        let is_old = |old: &FileContent| Some(old.sha256.to_string()) == file.before;
        if let Some(old) = target.old.filter(|old| old.is_whole() && is_old(old)) {
            world.blobs.put(&old.bytes)?;
        }
    }
    Ok(())
}

fn tool(job: &CallJob) -> String {
    canonical(&job.call.name).unwrap_or(&job.call.name).to_owned()
}

pub(super) fn asked(job: &CallJob, question: Question) -> EventKind {
    let call_id = job.call.id.clone();
    EventKind::from(UserAsked { call_id, moved: None, files: Vec::new(), question })
}

pub(super) fn started(
    job: &CallJob,
    subject: Option<String>,
    intent: Option<Box<Intent>>,
) -> EventKind {
    EventKind::from(ToolStarted {
        turn: job.turn,
        call_id: job.call.id.clone(),
        tool: tool(job),
        subject,
        intent,
        repaired: job.repaired.clone(),
    })
}

pub(super) fn finished(job: &CallJob, answer: Answer) -> EventKind {
    let answer = if job.was_refused { answer.warned_of_loop() } else { answer };
    EventKind::from(ToolFinished {
        turn: job.turn,
        call_id: job.call.id.clone(),
        tool: tool(job),
        answer,
    })
}
