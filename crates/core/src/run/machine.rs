//! The run as a state machine without IO: an input goes in, effects come out, and no decision is made elsewhere.
//! A conversation is a run without a workflow: the same loop, the same calls, the same limits.
//!
//! After every step exactly one effect is open, and it is the last of the list: the model is asked, a call is
//! performed, or the run rests. The driver carries it out and feeds back what came of it. A later process feeds the
//! same inputs again and arrives at the same open effect, so nothing here may depend on anything but the inputs.

mod anchor;
mod calls;
mod limits;
mod questions;
mod shift;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use jiff::Timestamp;

use self::limits::Allowance;
use self::questions::Pending;
use super::history::Position;
use crate::context::{Context, Cut, Keep};
use crate::event::{Answer, EventKind, Moved, Phase, PhaseChanged, Reason, Reply, StateChange};
use crate::id::AgentId;
use crate::message::{Message, ToolCall};
use crate::package::agents::Agent;
use crate::package::{Package, Workflow};
use crate::policy::Policy;
use crate::policy::rules::Rule;
use crate::prompt;
use crate::question::Question;
use crate::question::approval::Approval;
use crate::settings::{Mode, RunSettings};
use crate::state::call::Frame;
use crate::state::guard::{Confirmation, MissingRule};
use crate::state::project_path::ProjectPath;
use crate::state::run_state::RunState;
use crate::usage::Usage;

/// What is played, by whom.
#[derive(Clone, Debug)]
pub enum Cast {
    Workflow {
        package: Arc<Package>,
        /// Index in [`Package::workflows`].
        workflow: usize,
        /// Agent of the nodes that name none.
        agent: AgentId,
        /// File that came with the start, as the model sees it.
        data: Option<Arc<str>>,
    },
    Talk {
        /// Package whose agents the user can choose.
        package: Option<Arc<Package>>,
        agent: Option<AgentId>,
    },
}

impl Cast {
    /// The package; a conversation may have none.
    pub fn package(&self) -> Option<&Arc<Package>> {
        match self {
            Self::Workflow { package, .. } => Some(package),
            Self::Talk { package, .. } => package.as_ref(),
        }
    }

    /// The workflow; a conversation has none.
    pub fn workflow(&self) -> Option<&Workflow> {
        match self {
            Self::Workflow { package, workflow, .. } => {
                // It is made from a package that has this workflow; the first is always there.
                let workflows = package.workflows();
                Some(workflows.get(*workflow).unwrap_or(&workflows[0]))
            }
            Self::Talk { .. } => None,
        }
    }
}

/// What happened, as far as a run is concerned.
#[derive(Clone, Debug)]
pub enum Input {
    Start,
    /// The run resumes in another process.
    Resume {
        /// New position, if it changed since the last process.
        place: Option<Position>,
        settings: Option<RunSettings>,
    },
    User(Arc<str>),
    /// The user chose a menu item for the model to carry out; each text is a message of its own.
    Instructed(Vec<Arc<str>>),
    /// The user switched to another agent, or to none.
    Agent(Option<AgentId>),
    Replied(Reply),
    /// The request did not fit the model's window; the text is the provider's message.
    Overflowed(String),
    /// The timeout expired before the model replied.
    Late,
    Answered {
        answer: Answer,
        state: Option<StateChange>,
    },
    /// A call asks the user.
    Asked(Question),
    /// The active workflow changed, or could not.
    Shifted(Shifted),
    /// A call makes a move that needs the user's approval.
    Proposed {
        moved: Moved,
        question: Question,
    },
}

/// What is to be done.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Publish an event.
    Tell(Box<EventKind>),
    /// Ask the model; the driver feeds back [`Input::Replied`], [`Input::Overflowed`] or [`Input::Late`].
    AskModel(Ask),
    /// Perform a call; the driver feeds back [`Input::Answered`], [`Input::Asked`] or [`Input::Proposed`].
    Perform(Job),
    /// Make another workflow active; the driver feeds back [`Input::Shifted`].
    Shift(Shift),
    /// Wait for [`Input::User`] or [`Input::Resume`].
    Rest(Rest),
}

/// A change of the active workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Shift {
    /// The current node calls a workflow.
    Enter { frame: Frame },
    /// The active workflow has ended.
    Return {
        frame: Frame,
        /// Number of the attempt in the run, from 1.
        attempt: u64,
        /// Reason why the workflow could not be completed.
        failed: Option<String>,
    },
}

/// How such a change ended.
#[derive(Clone, Debug)]
pub enum Shifted {
    /// The called workflow is active, in this state.
    Entered(RunState),
    /// The caller is active again.
    Left(Box<StateChange>),
    /// The change is not possible, for this reason.
    Held(String),
}

/// A request that is due. What it holds is [`Machine::context`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ask {
    /// Number of the request in the run, from 1.
    pub turn: u64,
    /// Active node; none after completion.
    pub node_id: Option<String>,
    /// Number of the request at this node over all visits, from 1.
    pub node_turn: u64,
    /// Agent that replies; none in a conversation without an agent.
    pub agent_id: Option<AgentId>,
    /// Number of times that this request was already too long.
    pub overflows: u32,
}

/// A call that is due, and what it may do.
#[derive(Clone, Debug)]
pub struct Job {
    pub turn: u64,
    pub call: ToolCall,
    pub whole: Whole,
    /// Policy of the effective agent.
    pub policy: Arc<Policy>,
    /// Files created since the last transition.
    pub created: Vec<ProjectPath>,
    pub confirmation: Confirmation,
    pub moves: Moves,
    pub clearance: Clearance,
    /// Rule for declared outputs and variables that are missing.
    pub missing: MissingRule,
    /// Frame whose state the call sees; none for the run's own workflow.
    pub call_of: Option<u64>,
}

/// Whether a call came whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    Whole,
    /// The reply broke off in the call, so it must not be executed.
    CutOff,
}

/// Whether a move needs the user's word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// No approval is needed, or the user gave it.
    Free,
    Ask,
}

/// What the user allowed of what rules ask about.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Clearance {
    /// Rules for the whole run.
    pub rules: Vec<Rule>,
    /// Approval of the current call, exactly as it was shown.
    pub once: Option<Box<Approval>>,
}

/// A run that rests.
#[derive(Clone, Debug, PartialEq)]
pub struct Rest {
    pub phase: Phase,
    pub reason: Option<Reason>,
    pub message: Option<String>,
    pub question: Option<Question>,
}

/// What the machine waits for.
#[derive(Clone, Debug)]
enum Stance {
    Asking(Ask),
    Performing,
    Shifting(Shift),
    Resting(Rest),
}

/// A run.
#[derive(Clone, Debug)]
pub struct Machine {
    cast: Cast,
    settings: RunSettings,
    run_state: RunState,
    phase: Phase,
    stance: Stance,
    context: Context,
    /// Cut of the context that was not announced yet.
    cut: Option<Cut>,
    anchor: anchor::Anchored,
    /// Unanswered calls of the last reply, the current one first.
    queue: VecDeque<ToolCall>,
    batch: calls::Batch,
    pending: Option<Pending>,
    /// User input that waits until the calls are answered.
    waiting: Vec<Arc<str>>,
    input: Option<Arc<str>>,
    confirmation: Confirmation,
    approved: Moves,
    clearance: Clearance,
    created: Vec<ProjectPath>,
    replies: u64,
    /// Replies at each node of each frame; those after completion have a blank name.
    node_replies: BTreeMap<(Option<u64>, String), u64>,
    usage: Usage,
    allowance: Allowance,
    failing: calls::Failing,
    nudged: bool,
    /// Number of times that the pending request was too long.
    overflows: u32,
    calls: shift::Calls,
}

impl Machine {
    /// A run that stands here and has not begun.
    pub fn new(cast: Cast, settings: RunSettings, run_state: RunState) -> Self {
        let context = Context::new(settings.window_tokens);
        Self {
            cast,
            settings,
            run_state,
            phase: Phase::Paused,
            stance: Stance::Resting(Rest::of(Phase::Paused)),
            context,
            cut: None,
            anchor: anchor::Anchored::default(),
            queue: VecDeque::new(),
            batch: calls::Batch::default(),
            pending: None,
            waiting: Vec::new(),
            input: None,
            confirmation: Confirmation::Needed,
            approved: Moves::Ask,
            clearance: Clearance::default(),
            created: Vec::new(),
            replies: 0,
            node_replies: BTreeMap::new(),
            usage: Usage::default(),
            allowance: Allowance::default(),
            failing: calls::Failing::default(),
            nudged: false,
            overflows: 0,
            calls: shift::Calls::default(),
        }
    }

    /// The same run, which goes on from a moment of another one: these words were said there.
    #[must_use]
    pub fn forked(mut self, words: &[Message]) -> Self {
        self.context.recall(words);
        self.anchor.intent = anchor::Intent::Continue;
        self
    }

    /// What user and model said to each other, as far as it is known at the next node.
    pub fn words(&self) -> Vec<Message> {
        let mut words = self.context.words();
        let waiting = self.waiting.iter();
        words.extend(
            waiting.map(|words| Message::user(prompt::user_input(words, self.node_name()))),
        );
        words
    }

    /// Takes what happened, and says what is to be done. The last effect is the open one.
    pub fn step(&mut self, input: Input, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Start if self.run_state.complete || self.workflow().is_none() => {
                self.stop(Reason::StopPoint, None, &mut effects);
            }
            Input::Start => {
                self.allowance.renew(now);
                self.anchor();
                self.ask_model(now, &mut effects);
            }
            Input::Resume { place, settings } => self.resume(place, settings, now, &mut effects),
            Input::User(words) => self.user(words, now, &mut effects),
            Input::Instructed(texts) => self.instructed(&texts, now, &mut effects),
            Input::Agent(agent) => self.talk_to(agent, &mut effects),
            Input::Replied(reply) => self.replied(reply, now, &mut effects),
            Input::Overflowed(why) => self.overflowed(&why, now, &mut effects),
            Input::Late => self.late(now, &mut effects),
            Input::Answered { answer, state } => self.answered(&answer, state, now, &mut effects),
            Input::Shifted(shifted) => self.shifted(shifted, now, &mut effects),
            Input::Asked(question) => self.asked(question, None, &mut effects),
            Input::Proposed { moved, question } => {
                self.asked(question, Some(moved), &mut effects);
            }
        }
        effects
    }

    /// The effect that is open.
    pub fn open(&self) -> Effect {
        match &self.stance {
            Stance::Asking(ask) => Effect::AskModel(ask.clone()),
            Stance::Performing => match self.job() {
                Some(job) => Effect::Perform(job),
                None => Effect::Rest(Rest::of(Phase::Failed)),
            },
            Stance::Shifting(shift) => Effect::Shift(shift.clone()),
            Stance::Resting(rest) => Effect::Rest(rest.clone()),
        }
    }

    /// The messages that the model gets.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// For the driver, which settles what was added since the last request.
    pub fn context_mut(&mut self) -> &mut Context {
        &mut self.context
    }

    /// The package; a conversation may have none.
    pub fn package(&self) -> Option<&Arc<Package>> {
        self.cast.package()
    }

    /// The workflow that is active; a conversation has none.
    pub fn workflow(&self) -> Option<&Workflow> {
        self.workflow_at(self.callers().len())
    }

    /// Files that were created since the last transition.
    pub fn created(&self) -> &[ProjectPath] {
        &self.created
    }

    /// Where the run stands.
    pub fn run_state(&self) -> &RunState {
        &self.run_state
    }

    /// The phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// What it runs with.
    pub fn settings(&self) -> &RunSettings {
        &self.settings
    }

    /// How long the run may still take, if that is limited.
    pub fn time_left(&self, now: Timestamp) -> Option<Duration> {
        self.allowance.time_left(&self.settings.limits, now)
    }

    /// What it has cost.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Replies of the model so far.
    pub fn turns(&self) -> u64 {
        self.replies
    }

    /// What the user said last.
    pub fn input(&self) -> Option<&Arc<str>> {
        self.input.as_ref()
    }

    /// The agent of the current node, else the run's. Whoever completed the workflow also speaks its closing words.
    /// A conversation may have none.
    pub fn agent(&self) -> Option<&Agent> {
        let agents = self.cast.package()?.agents();
        let find = |id: &AgentId| agents.iter().find(|agent| agent.id == *id);
        match &self.cast {
            Cast::Workflow { .. } => {
                let agent = self.agent_at(self.callers().len())?;
                let node = self.workflow()?.graph.node(&self.run_state.current_node_id);
                let is_over = self.anchor.told == anchor::Told::Completed;
                let named = node.filter(|_| !is_over).and_then(|node| node.agent_id.as_ref());
                // A package has at least one agent, and its nodes name only agents it has.
                Some(named.and_then(find).or_else(|| find(agent)).unwrap_or(&agents[0]))
            }
            Cast::Talk { agent, .. } => agent.as_ref().and_then(find),
        }
    }

    /// The policy of that agent.
    pub fn policy(&self) -> Policy {
        let policy =
            self.settings.policy.tightened(self.agent().and_then(|agent| agent.tools.as_ref()));
        if self.workflow().is_some() {
            policy.with_state()
        } else {
            // A conversation has no state that could be strict, or patched.
            Policy { strict: false, ..policy }
        }
    }

    /// Whether the user agreed to the move in hand.
    pub fn agreement(&self) -> Moves {
        self.approved
    }

    /// The call whose question waits for an answer.
    pub fn asking_call(&self) -> Option<&str> {
        let call = self.queue.front().filter(|_| self.pending.is_some());
        call.map(|call| call.id.as_str())
    }

    /// Another process takes over. What was open stays open; the model is told where it is.
    fn resume(
        &mut self,
        place: Option<Position>,
        settings: Option<RunSettings>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(settings) = settings {
            self.context.set_window(settings.window_tokens);
            self.settings = settings;
        }
        self.allowance.renew(now);
        self.anchor.intent = anchor::Intent::Resume;
        if let Some(place) = place {
            self.relocate(place);
        }
        let goes_on = match &self.stance {
            Stance::Asking(_) => true,
            Stance::Performing | Stance::Shifting(_) => false,
            Stance::Resting(rest) => rest.reason.is_some_and(limits::is_limit),
        };
        if !matches!(self.stance, Stance::Resting(_)) {
            // The process before may have told that it paused or failed.
            effects.push(tell(EventKind::from(PhaseChanged {
                phase: Phase::Running,
                reason: None,
                message: None,
            })));
        }
        if goes_on {
            let waiting = std::mem::take(&mut self.waiting);
            if waiting.is_empty() {
                self.anchor();
            }
            waiting.iter().for_each(|words| self.say(words));
            self.ask_model(now, effects);
        } else {
            effects.push(self.open());
        }
    }

    /// The document says that the run is elsewhere: its word counts, and the old context is of no use there.
    fn relocate(&mut self, place: Position) {
        let Position { state, callers, calls } = place;
        self.run_state = state;
        self.place(callers, calls.max(self.calls.made));
        self.queue.clear();
        self.pending = None;
        self.created.clear();
        self.context.settle();
        self.leave_node(Keep::Words);
        self.anchor.told = anchor::Told::Nothing;
        self.approved = Moves::Ask;
        self.clearance.once = None;
        self.confirmation = Confirmation::Needed;
        match &self.stance {
            Stance::Performing | Stance::Shifting(_) => self.stance = Stance::Asking(self.ask()),
            Stance::Resting(rest) if rest.question.is_some() => {
                let reason = Some(Reason::StopPoint);
                self.stance = Stance::Resting(Rest { reason, ..Rest::of(Phase::WaitingUser) });
            }
            Stance::Asking(_) | Stance::Resting(_) => {}
        }
    }

    /// Another agent is talked to from the next request on.
    fn talk_to(&mut self, new: Option<AgentId>, effects: &mut Vec<Effect>) {
        if let Cast::Talk { agent, .. } = &mut self.cast {
            *agent = new;
        }
        effects.push(self.open());
    }

    fn enter(&mut self, phase: Phase, effects: &mut Vec<Effect>) {
        if self.phase != phase {
            self.phase = phase;
            effects.push(tell(EventKind::from(PhaseChanged {
                phase,
                reason: None,
                message: None,
            })));
        }
    }

    fn rest(&mut self, rest: Rest, effects: &mut Vec<Effect>) {
        self.phase = rest.phase;
        effects.push(tell(EventKind::from(PhaseChanged {
            phase: rest.phase,
            reason: rest.reason,
            message: rest.message.clone(),
        })));
        self.stance = Stance::Resting(rest.clone());
        effects.push(Effect::Rest(rest));
    }

    /// A stop point: the workflow is complete, or the user is to speak.
    fn stop(&mut self, reason: Reason, message: Option<String>, effects: &mut Vec<Effect>) {
        let is_end = matches!(reason, Reason::StopPoint | Reason::EmptyReply);
        if is_end {
            self.let_go_for_good();
            if let Some(shift) = self.due() {
                self.shift(shift, effects);
                return;
            }
        }
        let is_complete = self.run_state.complete && self.callers().is_empty();
        let phase = if is_complete { Phase::Completed } else { Phase::WaitingUser };
        let reason = Some(reason).filter(|_| !(is_end && is_complete));
        self.rest(Rest { phase, reason, message, question: None }, effects);
    }

    /// Whether the next move needs the user's word.
    fn moves(&self) -> Moves {
        match self.settings.mode {
            Mode::Autopilot => Moves::Free,
            Mode::Guided => self.approved,
        }
    }
}

impl Rest {
    fn of(phase: Phase) -> Self {
        Self { phase, reason: None, message: None, question: None }
    }
}

fn tell(kind: EventKind) -> Effect {
    Effect::Tell(Box::new(kind))
}
