//! The run as a state machine without IO: inputs go in, effects come out, and no decision is made elsewhere.
//! A conversation is a run without a workflow: the same loop, the same calls, the same limits.
//!
//! After every step exactly one effect is open, and it is the last of the list: the model is asked, a call is
//! performed, or the run waits. The driver carries it out and feeds back the result. A later process feeds the same
//! inputs again and arrives at the same open effect, so every step must depend on the inputs alone.

mod anchor;
mod calls;
mod failing;
mod frames;
mod gates;
mod known;
mod limits;
mod nudging;
mod offer;
mod policy;
mod questions;
mod survey;
mod tiers;
mod visit;
mod visit_files;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use crewagent_format::id::AgentId;
use crewagent_format::package::agents::Agent;
use crewagent_format::package::step::Tier;
use crewagent_format::package::{Package, Workflow};
use jiff::Timestamp;

pub use self::frames::{FrameChange, FrameChanged};
pub use self::gates::{CallGate, draft_calls};
pub use self::known::{CallFiles, KnownFiles, SAME_ANSWER, TextPlace};
use self::limits::{Allowance, VisitAllowance};
pub use self::questions::Offered;
use self::questions::{Pending, PendingMove};
pub use self::survey::SurveyPlan;
use super::history::Position;
use crate::adoption::Adoption;
use crate::bindings::Bindings;
use crate::context::{Context, Cut};
use crate::event::{
    Answer, EventKind, FileIntent, Moved, NodeEntered, Phase, PhaseChanged, Reason, Reply,
    StateChange,
};
use crate::frame_id::FrameId;
use crate::message::{Message, ToolCall};
use crate::policy::Policy;
use crate::policy::rules::Rule;
use crate::prompt::{self, SaidExchange};
use crate::question::Question;
use crate::question::approval::Approval;
use crate::settings::RunSettings;
use crate::state::guard::{Confirmation, MissingRule};
use crate::state::project_path::ProjectPath;
use crate::state::run_state::RunState;
use crate::state::visit_files::{OutputRule, VisitFiles};
use crate::usage::Usage;

/// Subject of a run: a workflow, or a conversation.
#[derive(Clone, Debug)]
pub enum Subject {
    Workflow {
        package: Arc<Package>,
        /// Index in [`Package::workflows`].
        workflow: usize,
        /// Agent of the nodes that name none.
        agent: AgentId,
        /// File that came with the start, as the model sees it.
        data: Option<Arc<str>>,
        /// Values that the texts of the package are filled with.
        bindings: Arc<Bindings>,
    },
    Conversation {
        /// Package whose agents the user can choose.
        package: Option<Arc<Package>>,
        agent: Option<AgentId>,
    },
}

impl Subject {
    /// Returns the package; a conversation may have none.
    pub fn package(&self) -> Option<&Arc<Package>> {
        match self {
            Self::Workflow { package, .. } => Some(package),
            Self::Conversation { package, .. } => package.as_ref(),
        }
    }

    /// Returns the workflow; a conversation has none.
    pub fn workflow(&self) -> Option<&Workflow> {
        match self {
            Self::Workflow { package, workflow, .. } => {
                // The package has this workflow, and always has a first one.
                let workflows = package.workflows();
                Some(workflows.get(*workflow).unwrap_or(&workflows[0]))
            }
            Self::Conversation { .. } => None,
        }
    }

    /// Returns the bindings of a workflow; none in a conversation.
    pub fn bindings(&self) -> Option<&Arc<Bindings>> {
        match self {
            Self::Workflow { bindings, .. } => Some(bindings),
            Self::Conversation { .. } => None,
        }
    }
}

/// Event that changes the course of a run.
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
    /// A run that was started from this conversation was left; the text tells its model so.
    Noted(Arc<str>),
    Replied(Reply),
    /// The request did not fit the model's window; the text is the provider's message.
    Overflowed(String),
    /// The timeout expired before the model replied.
    Late,
    /// The model of this tier failed for good.
    FellBack(Tier),
    Answered {
        answer: Answer,
        state: Option<StateChange>,
    },
    /// A call asks the user.
    Asked(Question),
    /// The files of a node were looked at.
    Surveyed(Box<NodeEntered>),
    /// The active workflow changed, or could not.
    FrameChanged(FrameChanged),
    /// A call makes a move that needs the user's approval.
    Proposed {
        moved: Moved,
        /// Files that change with the move.
        files: Vec<FileIntent>,
        question: Question,
    },
}

/// Action for the driver to carry out.
#[derive(Clone, Debug)]
pub enum Effect {
    /// Publish an event.
    Tell(Box<EventKind>),
    /// Ask the model; the driver feeds back [`Input::Replied`], [`Input::Overflowed`], [`Input::Late`] or
    /// [`Input::FellBack`].
    AskModel(Ask),
    /// Perform a call; the driver feeds back [`Input::Answered`], [`Input::Asked`] or [`Input::Proposed`].
    Perform(Box<CallJob>),
    /// Look at the files of a node; the driver feeds back [`Input::Surveyed`].
    Survey(Box<SurveyPlan>),
    /// Make another workflow active; the driver feeds back [`Input::FrameChanged`].
    FrameChange(FrameChange),
    /// Wait for [`Input::User`] or [`Input::Resume`].
    Rest(Rest),
}

/// Request to the model that is due. [`Machine::context`] holds its messages.
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
    /// Tier whose model is asked; none for the run's own.
    pub tier: Option<Tier>,
}

/// Tool call that is due, with its permissions.
#[derive(Clone, Debug)]
pub struct CallJob {
    pub turn: u64,
    pub call: ToolCall,
    pub whole: Whole,
    /// Kinds of repairs that its arguments needed.
    pub repaired: Vec<String>,
    /// True if the same call was refused once before, so that another refusal says so.
    pub was_refused: bool,
    /// True if a question about going on is refused instead of asked.
    pub refuses_go_on: bool,
    /// Policy of the effective agent.
    pub policy: Arc<Policy>,
    /// Files created or changed since the last transition.
    pub created: Vec<ProjectPath>,
    pub confirmation: Confirmation,
    pub moves: Moves,
    /// Files of the move that the user agreed to, exactly as they were shown; none without an agreement.
    pub agreed: Option<Arc<[FileIntent]>>,
    pub grants: Grants,
    /// Rule for declared outputs and variables that are missing.
    pub missing: MissingRule,
    /// Files that count as outputs of a node.
    pub outputs: OutputRule,
    /// Files of this visit of the node.
    pub files: Arc<VisitFiles>,
    /// Variables that count as set in this visit of the node.
    pub set: BTreeSet<String>,
    /// Files that the model knows.
    pub known: CallFiles,
    /// Gate of the node, and the drafts of the run.
    pub gate: CallGate,
    /// Frame whose state the call sees; none for the run's own workflow.
    pub frame: Option<FrameId>,
}

/// Completeness of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Whole {
    Whole,
    /// The reply broke off in the call, so it must not be executed.
    CutOff,
}

/// Approval that a move needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// No approval is needed, or the user gave it.
    Free,
    Ask,
}

/// Permissions that the user granted where rules ask.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Grants {
    /// Rules for the whole run.
    pub rules: Vec<Rule>,
    /// Digests of the tools of servers as they were when the user allowed a call, by name.
    pub offers: BTreeMap<String, String>,
    /// Approval of the current call, exactly as it was shown.
    pub once: Option<Box<Approval>>,
}

/// State of a run that waits.
#[derive(Clone, Debug, PartialEq)]
pub struct Rest {
    pub phase: Phase,
    pub reason: Option<Reason>,
    pub message: Option<String>,
    pub question: Option<Question>,
}

/// Event that the machine waits for.
#[derive(Clone, Debug)]
enum Stance {
    Asking(Ask),
    Performing,
    Surveying,
    ChangingFrame(FrameChange),
    Resting(Rest),
}

/// State machine of one run.
#[derive(Clone, Debug)]
pub struct Machine {
    subject: Subject,
    settings: RunSettings,
    run_state: RunState,
    phase: Phase,
    stance: Stance,
    context: Context,
    /// Cut of the context that was not announced yet.
    cut: Option<Cut>,
    anchor: anchor::AnchorPosition,
    /// Unanswered calls of the last reply, the current one first.
    queue: VecDeque<ToolCall>,
    batch: calls::Batch,
    pending: Option<Pending>,
    /// User input that is not in the context yet.
    waiting: Vec<Arc<str>>,
    said: anchor::SaidWords,
    /// Digests of the project's files that this run wrote last, by path.
    written: Arc<BTreeMap<String, String>>,
    /// Files of the user of which this run changed parts.
    patched: Arc<BTreeSet<String>>,
    known: Arc<KnownFiles>,
    /// Number of surveys so far.
    surveys: u64,
    input: Option<Arc<str>>,
    confirmation: Confirmation,
    approved: Moves,
    /// Files of the approved move.
    agreed: Option<Arc<[FileIntent]>>,
    grants: Grants,
    created: Vec<ProjectPath>,
    files: visit_files::OpenVisits,
    variables: visit::VisitedVariables,
    replies: u64,
    /// Replies at each node of each frame; those after completion have a blank name.
    node_replies: BTreeMap<(Option<FrameId>, String), u64>,
    usage: Usage,
    allowance: Allowance,
    visit_allowance: VisitAllowance,
    tiers: tiers::TierState,
    failing: failing::Failing,
    stalling: nudging::Stalling,
    /// Number of times that the pending request was too long.
    overflows: u32,
    frames: frames::OpenFrames,
    /// Half-done document that the user is asked about before the run begins.
    offer: Option<Box<Adoption>>,
    gates: gates::OpenGates,
    /// Message about a choice that the user typed at a stop point.
    typed_choice: Option<String>,
    /// True if the package speaks of moving or deleting files.
    tells_moves: bool,
}

impl Machine {
    /// Creates a run in this state that has not started.
    pub fn new(subject: Subject, settings: RunSettings, run_state: RunState) -> Self {
        let context = Context::new(settings.window_tokens);
        let tells_moves = subject.package().is_some_and(|package| policy::names_moves(package));
        Self {
            subject,
            settings,
            run_state,
            phase: Phase::Paused,
            stance: Stance::Resting(Rest::of(Phase::Paused)),
            context,
            cut: None,
            anchor: anchor::AnchorPosition::default(),
            queue: VecDeque::new(),
            batch: calls::Batch::default(),
            pending: None,
            waiting: Vec::new(),
            said: anchor::SaidWords::default(),
            written: Arc::default(),
            patched: Arc::default(),
            known: Arc::default(),
            surveys: 0,
            input: None,
            confirmation: Confirmation::Needed,
            approved: Moves::Ask,
            agreed: None,
            grants: Grants::default(),
            created: Vec::new(),
            files: visit_files::OpenVisits::default(),
            variables: visit::VisitedVariables::default(),
            replies: 0,
            node_replies: BTreeMap::new(),
            usage: Usage::default(),
            allowance: Allowance::default(),
            visit_allowance: VisitAllowance::default(),
            tiers: tiers::TierState::default(),
            failing: failing::Failing::default(),
            stalling: nudging::Stalling::default(),
            overflows: 0,
            frames: frames::OpenFrames::default(),
            offer: None,
            gates: gates::OpenGates::default(),
            typed_choice: None,
            tells_moves,
        }
    }

    /// Adds earlier words of user and model: of the talk before, of the run that this one was forked from, or before a
    /// fresh start.
    #[must_use]
    pub fn with_words(mut self, words: &[Message]) -> Self {
        self.said.before = SaidExchange::read(words);
        self
    }

    /// Adds artifacts that the run wrote at its current node before a fresh start.
    #[must_use]
    pub fn with_created(mut self, created: &[String]) -> Self {
        for path in created.iter().filter_map(|path| ProjectPath::parse(path).ok()) {
            self.files.write(path.as_str(), false);
            self.created.push(path);
        }
        self
    }

    /// Returns the run as one that resumes where another one stood.
    #[must_use]
    pub fn continued(mut self) -> Self {
        self.anchor.intent = anchor::RunIntent::Continue;
        self
    }

    /// Returns the messages of user and model that stay known at the next node.
    pub fn words(&self) -> Vec<Message> {
        let said = self.said.before.iter().chain(&self.said.here).flat_map(SaidExchange::messages);
        let shell = |words: &Arc<str>| Message::user(prompt::user_input(words, self.node_name()));
        said.chain(self.waiting.iter().map(shell)).collect()
    }

    /// Applies an input and returns the effects to carry out. The last one is the open effect.
    pub fn step(&mut self, input: Input, now: Timestamp) -> Vec<Effect> {
        let mut effects = Vec::new();
        match input {
            Input::Start if self.run_state.complete || self.workflow().is_none() => {
                self.stop(Reason::StopPoint, None, &mut effects);
            }
            Input::Start => {
                self.variables = visit::VisitedVariables::resumed(&self.run_state);
                self.files.resume(now);
                self.renew_limits(now);
                if !self.ask_about_offer(&mut effects) {
                    self.ask_model(now, &mut effects);
                }
            }
            Input::Resume { place, settings } => self.resume(place, settings, now, &mut effects),
            Input::User(words) => self.user(words, now, &mut effects),
            Input::Instructed(texts) => self.instructed(&texts, now, &mut effects),
            Input::Agent(agent) => self.switch_agent(agent, &mut effects),
            Input::Noted(text) => {
                self.context.user_input(text.to_string());
                effects.push(self.open());
            }
            Input::Replied(reply) => self.replied(reply, now, &mut effects),
            Input::Overflowed(why) => self.overflowed(&why, now, &mut effects),
            Input::Late => self.late(now, &mut effects),
            Input::FellBack(tier) => self.fell_back(tier, now, &mut effects),
            Input::Answered { answer, state } => self.answered(&answer, state, now, &mut effects),
            Input::Surveyed(entered) => self.surveyed(*entered, now, &mut effects),
            Input::FrameChanged(changed) => self.frame_changed(changed, now, &mut effects),
            Input::Asked(question) => self.asked(question, None, &mut effects),
            Input::Proposed { moved, files, question } => {
                self.asked(question, Some(PendingMove { moved, files }), &mut effects);
            }
        }
        effects
    }

    /// Returns the open effect.
    pub fn open(&self) -> Effect {
        match &self.stance {
            Stance::Asking(ask) => Effect::AskModel(ask.clone()),
            Stance::Performing => match self.job() {
                Some(job) => Effect::Perform(Box::new(job)),
                None => Effect::Rest(Rest::of(Phase::Failed)),
            },
            Stance::Surveying => match self.survey_plan() {
                Some(plan) => Effect::Survey(Box::new(plan)),
                None => Effect::Rest(Rest::of(Phase::Failed)),
            },
            Stance::ChangingFrame(change) => Effect::FrameChange(change.clone()),
            Stance::Resting(rest) => Effect::Rest(rest.clone()),
        }
    }

    /// Returns the messages for the model.
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the context mutably: the driver settles what was added since the last request.
    pub fn context_mut(&mut self) -> &mut Context {
        &mut self.context
    }

    /// Returns the package; a conversation may have none.
    pub fn package(&self) -> Option<&Arc<Package>> {
        self.subject.package()
    }

    /// Returns the bindings of the run; a conversation has none.
    pub fn bindings(&self) -> Option<&Arc<Bindings>> {
        self.subject.bindings()
    }

    /// Returns the active workflow; a conversation has none.
    pub fn workflow(&self) -> Option<&Workflow> {
        self.workflow_at(self.callers().len())
    }

    /// Returns the files created or changed since the last transition.
    pub fn created(&self) -> &[ProjectPath] {
        &self.created
    }

    /// Returns the state of the active workflow.
    pub fn run_state(&self) -> &RunState {
        &self.run_state
    }

    /// Returns the phase.
    pub fn phase(&self) -> Phase {
        self.phase
    }

    /// Returns the settings in force.
    pub fn settings(&self) -> &RunSettings {
        &self.settings
    }

    /// Returns the usage so far.
    pub fn usage(&self) -> Usage {
        self.usage
    }

    /// Returns the number of the model's replies so far.
    pub fn turns(&self) -> u64 {
        self.replies
    }

    /// Returns the last words of the model that the user may answer.
    pub fn last_words(&self) -> Option<&str> {
        self.said.last.as_deref()
    }

    /// Returns the user's last input.
    pub fn input(&self) -> Option<&Arc<str>> {
        self.input.as_ref()
    }

    /// Returns the agent of the current node, else the run's. The agent that completed the workflow also writes the
    /// closing reply. A conversation may have none.
    pub fn agent(&self) -> Option<&Agent> {
        let agents = self.subject.package()?.agents();
        let find = |id: &AgentId| agents.iter().find(|agent| agent.id == *id);
        match &self.subject {
            Subject::Workflow { .. } => {
                let agent = self.agent_at(self.callers().len())?;
                let node = self.workflow()?.graph.node(&self.run_state.current_node_id);
                let is_over = self.anchor.shown == anchor::ShownPosition::Completed;
                let named = node.filter(|_| !is_over).and_then(|node| node.agent_id.as_ref());
                // A package has at least one agent, and its nodes name only its own agents.
                Some(named.and_then(find).or_else(|| find(agent)).unwrap_or(&agents[0]))
            }
            Subject::Conversation { agent, .. } => agent.as_ref().and_then(find),
        }
    }

    /// Resumes the run in another process. The open effect stays open; the model is told its position.
    fn resume(
        &mut self,
        place: Option<Position>,
        settings: Option<RunSettings>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        self.renew_limits(now);
        self.anchor.intent = anchor::RunIntent::Resume;
        // A run that is placed elsewhere needs no word about the document.
        let is_adopted = place.is_some() && self.offer.take().is_some();
        if let Some(place) = place {
            self.relocate(place, now);
        }
        self.retry_tiers();
        if let Some(settings) = settings {
            self.settings = settings;
            self.reset_window();
        }
        let goes_on = match &self.stance {
            Stance::Asking(_) => true,
            Stance::Performing | Stance::Surveying | Stance::ChangingFrame(_) => false,
            Stance::Resting(rest) => is_adopted || rest.reason.is_some_and(limits::is_limit),
        };
        let is_stalled = self.is_stalled();
        if !matches!(self.stance, Stance::Resting(_)) {
            // The previous process may have reported that it paused or failed.
            effects.push(tell(EventKind::from(PhaseChanged {
                phase: Phase::Running,
                reason: None,
                message: None,
            })));
        }
        if is_stalled {
            self.resume_stalled(now, effects);
        } else if goes_on {
            self.ask_model(now, effects);
        } else {
            effects.push(self.open());
        }
    }

    /// Switches the agent from the next request on.
    fn switch_agent(&mut self, new: Option<AgentId>, effects: &mut Vec<Effect>) {
        if let Subject::Conversation { agent, .. } = &mut self.subject {
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

    /// Stops the run: the workflow is complete, or the user must reply.
    fn stop(&mut self, reason: Reason, message: Option<String>, effects: &mut Vec<Effect>) {
        let is_end = matches!(reason, Reason::StopPoint | Reason::EmptyReply);
        if is_end {
            self.let_go_for_good();
            if let Some(change) = self.due() {
                self.change_frame(change, effects);
                return;
            }
        }
        let is_complete = self.run_state.complete && self.callers().is_empty();
        let phase = if is_complete { Phase::Completed } else { Phase::WaitingUser };
        let reason = Some(reason).filter(|_| !(is_end && is_complete));
        self.rest(Rest { phase, reason, message, question: None }, effects);
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
