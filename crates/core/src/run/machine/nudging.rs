//! Replies that bring nothing forward: the model is nudged, and in the end the user is asked.
//!
//! A reply without a call changes nothing at an unfinished node. An *idle* reply has calls, but all of them were
//! refused, repeated or not executed.

use crewagent_lenient::calls::{self as leaked, CallsInText};
use jiff::Timestamp;

use super::{Effect, Machine, Stance, tell};
use crate::event::{EventKind, Finish, ModelNudged, NudgeKind, Reason, Reply};
use crate::prompt::{self, OpenNode};
use crate::question::going_on::{asks_to_go_on, ends_in_question};
use crate::settings::Mode;
use crate::state::guard::{
    Author, MissingParts, MissingRule, NodeVisit, VisitOutputs, VisitVariables, missing_parts,
};
use crate::state::project_path::ProjectPath;
use crate::state::visit_files::{OutputRule, VisitFiles};
use crate::tool::Tool;

/// Most nudges in one visit of a node.
const MOST_NUDGES: u32 = 6;
/// Most nudges in a row after replies that were cut off.
const MOST_CUT: u32 = 2;
/// Idle replies in a row after which the model is shown the finishing call.
const IDLE_NUDGE: u32 = 3;
/// Idle replies in a row after which the run stops.
const IDLE_LOOP: u32 = 5;

/// Replies of the current visit that brought nothing forward.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Stalling {
    /// Replies without a call since a call was last carried out.
    without_call: u32,
    /// Idle replies in a row.
    idle: u32,
    nudges: u32,
    /// True if the last reply was nudged where no node is open.
    is_nudged: bool,
    /// True if a question about going on was answered in this visit.
    pub(super) told_to_go_on: bool,
}

impl Stalling {
    /// Begins to count anew, because the user spoke. That steps are not confirmed is still said once a visit.
    pub(super) fn renew(&mut self) {
        *self = Self { told_to_go_on: self.told_to_go_on, ..Self::default() };
    }

    /// Takes a call that was carried out and brought something new.
    pub(super) fn call_done(&mut self) {
        self.without_call = 0;
    }

    /// Takes a reply with calls.
    pub(super) fn called(&mut self) {
        self.is_nudged = false;
    }
}

/// Reply without a call at an unfinished node.
#[derive(Debug)]
enum CallLess {
    Question,
    /// It asks only if the model may go on.
    GoOnQuestion,
    Text,
    /// It has a draft, and does not ask the user about it.
    Draft,
    Empty,
    CutOff,
    /// It has a call in its text that cannot be carried out, for this reason.
    Unreadable(String),
}

/// Treatment of replies without a call in a mode.
struct NudgeRule {
    /// Nudges in a row before the user is asked.
    most: u32,
    /// True if the runtime answers a question about going on.
    answers_go_on: bool,
    /// Reason of the rest when the nudges did not help.
    reason: Reason,
}

impl NudgeRule {
    fn of(mode: Mode) -> Self {
        match mode {
            Mode::Autopilot => Self { most: 2, answers_go_on: true, reason: Reason::Stalled },
            Mode::Guided => Self { most: 1, answers_go_on: false, reason: Reason::StopPoint },
        }
    }
}

impl Machine {
    /// Returns the node that the model has to finish; none in a conversation, after completion, and when the workflow
    /// was given up.
    pub(super) fn unfinished_node(&self) -> Option<&str> {
        self.node_name().filter(|_| self.run_state.failed.is_none())
    }

    /// Returns true if a question about going on is refused instead of asked.
    pub(super) fn refuses_go_on(&self) -> bool {
        let rule = NudgeRule::of(self.settings.mode);
        let is_new = !self.stalling.told_to_go_on;
        rule.answers_go_on && is_new && self.unfinished_node().is_some()
    }

    /// Takes a reply without a call. `has_words` is true if the model wrote any text.
    pub(super) fn without_call(
        &mut self,
        reply: &Reply,
        has_words: bool,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        let words = reply.content.as_deref().unwrap_or_default();
        if self.unfinished_node().is_none() {
            self.words_are_the_answer(reply, has_words, now, effects);
            return;
        }
        let found = match reply.finish {
            Finish::Length => CallLess::CutOff,
            Finish::Stop | Finish::Filter if !has_words => CallLess::Empty,
            // The options of a gate in words are a question, too.
            Finish::Stop | Finish::Filter if self.shows_gate(words) => CallLess::Question,
            Finish::Stop | Finish::Filter if asks_to_go_on(words) => CallLess::GoOnQuestion,
            Finish::Stop | Finish::Filter if ends_in_question(words) => CallLess::Question,
            Finish::Stop | Finish::Filter => match unreadable(reply, words) {
                Some(why) => CallLess::Unreadable(why),
                None if !reply.drafts.is_empty() => CallLess::Draft,
                None => CallLess::Text,
            },
        };
        self.stalling.without_call += 1;
        match self.due_nudge(&found) {
            Some((kind, text)) => {
                self.nudge(kind, text, effects);
                self.ask_model(now, effects);
            }
            None => self.stop_without_call(&found, effects),
        }
    }

    /// Returns the nudge that a reply without a call gets; none if the user is asked.
    fn due_nudge(&mut self, found: &CallLess) -> Option<(NudgeKind, String)> {
        let in_a_row = self.stalling.without_call;
        if self.stalling.nudges >= MOST_NUDGES {
            return None;
        }
        let most = NudgeRule::of(self.settings.mode).most;
        match found {
            CallLess::GoOnQuestion if self.refuses_go_on() => {
                self.stalling.told_to_go_on = true;
                Some((NudgeKind::GoOn, prompt::GO_ON.to_owned()))
            }
            CallLess::Question | CallLess::GoOnQuestion => None,
            CallLess::CutOff if in_a_row <= MOST_CUT => {
                Some((NudgeKind::Cut, prompt::REPLY_CUT.to_owned()))
            }
            CallLess::CutOff => None,
            CallLess::Text | CallLess::Draft | CallLess::Empty | CallLess::Unreadable(_)
                if in_a_row > most =>
            {
                None
            }
            CallLess::Text | CallLess::Draft | CallLess::Empty | CallLess::Unreadable(_)
                if in_a_row > 1 =>
            {
                // The last nudge before the user is asked goes to the strongest model.
                self.escalate();
                self.finishing_nudge()
            }
            CallLess::Draft => {
                self.finishing_call().map(|call| (NudgeKind::Draft, prompt::draft_waits(&call)))
            }
            CallLess::Text => Some((NudgeKind::NoCall, self.with_open_node(prompt::nothing_done)?)),
            CallLess::Empty => Some((NudgeKind::Empty, self.with_open_node(prompt::empty_reply)?)),
            CallLess::Unreadable(why) => Some((NudgeKind::Call, prompt::unreadable_call(why))),
        }
    }

    fn stop_without_call(&mut self, found: &CallLess, effects: &mut Vec<Effect>) {
        let rule = NudgeRule::of(self.settings.mode);
        let (reason, message) = match found {
            CallLess::Question | CallLess::GoOnQuestion => (Reason::StopPoint, None),
            CallLess::CutOff => (Reason::StopPoint, Some(CUT_OFF.to_owned())),
            CallLess::Text | CallLess::Draft | CallLess::Empty | CallLess::Unreadable(_)
                if rule.reason == Reason::Stalled =>
            {
                (Reason::Stalled, self.unfinished_node().map(prompt::stalled))
            }
            // The user sees no words that would explain the rest.
            CallLess::Empty => (Reason::EmptyReply, Some(SAID_NOTHING.to_owned())),
            CallLess::Text | CallLess::Draft | CallLess::Unreadable(_) => (rule.reason, None),
        };
        self.stop(reason, message, effects);
    }

    /// Takes a reply in a conversation or after completion: its words are the answer. An empty one and one with a
    /// tagged call get one nudge.
    fn words_are_the_answer(
        &mut self,
        reply: &Reply,
        has_words: bool,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        let is_nudged = std::mem::take(&mut self.stalling.is_nudged);
        let words = reply.content.as_deref().unwrap_or_default();
        let due = if !has_words {
            let is_due = !is_nudged && !self.run_state.complete;
            is_due.then_some((NudgeKind::Empty, prompt::NUDGE_CONVERSATION))
        } else {
            let is_due = !is_nudged && leaked::detect(words);
            is_due.then_some((NudgeKind::Call, prompt::CALL_IN_WORDS))
        };
        if let Some((kind, text)) = due {
            self.stalling.is_nudged = true;
            self.nudge(kind, text.to_owned(), effects);
            self.ask_model(now, effects);
        } else if !has_words {
            self.stop(Reason::EmptyReply, Some(SAID_NOTHING.to_owned()), effects);
        } else {
            let message = (reply.finish == Finish::Length).then(|| CUT_OFF.to_owned());
            self.stop(Reason::StopPoint, message, effects);
        }
    }

    /// Counts a reply with calls. Returns a message if too many of them in a row brought nothing new.
    pub(super) fn count_idle(
        &mut self,
        is_idle: bool,
        effects: &mut Vec<Effect>,
    ) -> Option<String> {
        self.stalling.idle = if is_idle { self.stalling.idle + 1 } else { 0 };
        if self.stalling.idle >= IDLE_LOOP {
            self.stalling.idle = 0;
            let message = format!(
                "{IDLE_LOOP} replies of the model in a row brought nothing new: their calls were refused or repeated."
            );
            return Some(message);
        }
        let may_nudge = self.stalling.nudges < MOST_NUDGES;
        if self.stalling.idle == IDLE_NUDGE
            && may_nudge
            && let Some((kind, text)) = self.finishing_nudge()
        {
            self.nudge(kind, text, effects);
        }
        None
    }

    /// Returns true if the run waits because the model does not go on.
    pub(super) fn is_stalled(&self) -> bool {
        matches!(&self.stance, Stance::Resting(rest) if rest.reason == Some(Reason::Stalled))
    }

    /// Asks a model again that stalled, because the run resumes, perhaps with another model.
    pub(super) fn resume_stalled(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        self.stalling.renew();
        // A node that was not shown yet needs no reminder.
        let due = self.finishing_nudge().filter(|_| !self.needs_node_message());
        if let Some((kind, text)) = due {
            self.nudge(kind, text, effects);
        }
        self.ask_model(now, effects);
    }

    fn nudge(&mut self, kind: NudgeKind, text: String, effects: &mut Vec<Effect>) {
        self.stalling.nudges += 1;
        effects.push(tell(EventKind::from(ModelNudged { turn: self.replies, kind })));
        self.context.nudge(text);
    }

    /// Takes a reply without a call whose drafts are broken.
    pub(super) fn with_broken_drafts(
        &mut self,
        broken: &[String],
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        self.stalling.without_call += 1;
        if self.stalling.nudges >= MOST_NUDGES || self.stalling.without_call > MOST_CUT {
            self.stop_without_call(&CallLess::Draft, effects);
            return;
        }
        self.nudge(NudgeKind::Draft, prompt::broken_drafts(broken), effects);
        self.ask_model(now, effects);
    }

    /// Returns the last nudge of all: the call that finishes the node.
    fn finishing_nudge(&self) -> Option<(NudgeKind, String)> {
        Some((NudgeKind::Finish, prompt::finish_now(&self.finishing_call()?)))
    }

    fn finishing_call(&self) -> Option<String> {
        let workflow = self.workflow()?;
        let node = workflow.graph.node(self.unfinished_node()?)?;
        let state = self.policy().state_tool();
        Some(prompt::finishing_call(workflow, node, &self.run_state.variables, state))
    }

    fn with_open_node(&self, text: impl Fn(OpenNode<'_>) -> String) -> Option<String> {
        let node = self.unfinished_node()?;
        let is_end = self.workflow()?.graph.outgoing(node).next().is_none();
        Some(text(OpenNode { node, is_end, missing: &self.missing_here() }))
    }

    /// Returns what the current node declares and still lacks, as far as the run knows.
    fn missing_here(&self) -> MissingParts {
        let Some(workflow) = self.workflow() else { return MissingParts::default() };
        let node = workflow.graph.node(&self.run_state.current_node_id);
        let Some(node) = node.filter(|_| self.settings.missing != MissingRule::Off) else {
            return MissingParts::default();
        };
        let set = self.variables.counted(&self.run_state);
        let files = self.files.current();
        let outputs = VisitOutputs {
            rule: self.settings.outputs,
            visit: &files,
            // The machine sees no file; those that the run wrote count.
            look: &|_| None,
            keep: &[],
        };
        let visit = NodeVisit {
            workflow,
            exists: &|path| Some(self.knows_output(path, &files)),
            variables: &self.run_state.variables,
            old_variables: &self.run_state.variables,
            set: VisitVariables { before: &set, named: &[] },
            done: &self.run_state.steps_completed,
            outputs,
            now: "",
            author: Author::Model(self.policy().state_tool()),
        };
        missing_parts(&visit, node)
    }

    /// Returns true if an output counts, as far as the run knows: this visit wrote it or, where that is enough, it was
    /// there when the node was entered.
    fn knows_output(&self, path: &ProjectPath, files: &VisitFiles) -> bool {
        let path = path.as_str();
        let survey = self.anchor.survey.as_ref();
        let mut outputs = survey.into_iter().flat_map(|survey| &survey.outputs);
        let is_there = outputs.any(|output| output.path == path && output.exists);
        files.has_changed(path) || (self.settings.outputs == OutputRule::Exist && is_there)
    }
}

const SAID_NOTHING: &str = "The model said nothing.";
const CUT_OFF: &str = "The reply was cut off because it became too long.";

/// Returns why a call in the text of a reply cannot be carried out, if there is one. What could be carried out was taken
/// from the text before the reply was recorded; a scripted model has no such reader.
fn unreadable(reply: &Reply, words: &str) -> Option<String> {
    let is_tool = |name: &str| Tool::resolve(name, |_| false).is_some();
    let recorded = reply.unreadable_call.clone();
    recorded.or_else(|| leaked::read(words, CallsInText::Never, &is_tool).unreadable)
}
