//! Replies and the calls in them: one call after the other, each answered before the model is asked again.

use std::collections::HashSet;

use crewagent_format::integrity::Digest;
use jiff::Timestamp;

use super::anchor::{RunIntent, ShownPosition};
use super::{CallJob, Effect, Machine, Moves, Stance, Whole, tell};
use crate::context::Keep;
use crate::event::{Answer, EventKind, Finish, Phase, Reason, Reply, StateChange};
use crate::message::ToolCall;
use crate::prompt;
use crate::state::guard::Confirmation;
use crate::state::project_path::ProjectPath;
use crate::tool::leaked;

/// Number of failures in a row of a call with the same arguments that ends the turn.
const MOST_FAILURES: u32 = 3;
/// Largest number of calls of one reply that are handled.
const MOST_CALLS: usize = 256;

/// Combined outcome of the calls of one reply.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    end: ReplyEnd,
    left: NodeProgress,
    /// Number of calls in the reply.
    asked: usize,
}

/// End of the reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReplyEnd {
    #[default]
    Whole,
    /// The reply broke off in its last call.
    CutOff,
}

/// Progress past a node: left or not, with or without later calls.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum NodeProgress {
    #[default]
    No,
    ByLastCall,
    Earlier,
}

/// Call that failed last, with its failures in a row.
#[derive(Clone, Debug, Default)]
pub(super) struct Failing {
    call: Option<(String, Digest)>,
    times: u32,
}

impl Machine {
    pub(super) fn replied(&mut self, mut reply: Reply, now: Timestamp, effects: &mut Vec<Effect>) {
        *self.node_replies.entry(self.counted_as()).or_default() += 1;
        self.replies += 1;
        self.overflows = 0;
        // The added messages belong to the request answered here; a replaying process reports none.
        self.context.take_added();
        self.usage += reply.usage;
        self.allowance.spend(reply.usage);
        let asked = reply.tool_calls.len();
        reply.tool_calls.truncate(MOST_CALLS);
        name_calls(&mut reply, self.replies);
        let has_words = reply.content.as_ref().is_some_and(|text| !text.trim().is_empty());
        if reply.tool_calls.is_empty() && !has_words {
            self.empty_reply(now, effects);
            return;
        }
        let is_nudged = std::mem::take(&mut self.nudged);
        let broken: Vec<&str> = reply
            .broken_calls
            .iter()
            .filter_map(|at| reply.tool_calls.get(*at))
            .map(|call| call.id.as_str())
            .collect();
        self.context.reply(&reply, &|call| !broken.contains(&call.id.as_str()));
        let words = reply.content.as_deref().unwrap_or_default();
        if reply.tool_calls.is_empty() && !is_nudged && leaked::detect(words) {
            self.nudged = true;
            self.context.nudge(prompt::CALL_IN_WORDS.to_owned());
            self.ask_model(now, effects);
            return;
        }
        if reply.tool_calls.is_empty() {
            let cut = "The reply was cut off because it became too long.";
            let message = (reply.finish == Finish::Length).then(|| cut.to_owned());
            self.stop(Reason::StopPoint, message, effects);
            return;
        }
        let is_cut = reply.finish == Finish::Length && asked <= MOST_CALLS;
        let end = if is_cut { ReplyEnd::CutOff } else { ReplyEnd::Whole };
        self.batch = Batch { end, left: NodeProgress::No, asked };
        self.queue = reply.tool_calls.into();
        self.next_call(now, effects);
    }

    fn empty_reply(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        if self.nudged || self.run_state.complete {
            self.nudged = false;
            self.stop(Reason::EmptyReply, Some("The model said nothing.".to_owned()), effects);
        } else {
            self.nudged = true;
            let nudge = match self.workflow() {
                Some(_) => prompt::NUDGE,
                None => prompt::NUDGE_CONVERSATION,
            };
            self.context.nudge(nudge.to_owned());
            self.ask_model(now, effects);
        }
    }

    /// Performs the next call, or asks the model when all are answered.
    pub(super) fn next_call(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        if self.failing.times >= MOST_FAILURES {
            // The remaining calls of the reply are of the same kind and are not performed.
            self.queue.clear();
            self.context.settle();
        }
        if let Some(job) = self.job() {
            self.enter(Phase::Running, effects);
            self.stance = Stance::Performing;
            effects.push(Effect::Perform(job));
            return;
        }
        self.let_go();
        let asked = self.batch.asked;
        self.batch_done();
        if asked > MOST_CALLS {
            self.context.nudge(prompt::too_many_calls(asked, MOST_CALLS));
        }
        for words in std::mem::take(&mut self.waiting) {
            self.say(&words);
        }
        if self.failing.times >= MOST_FAILURES {
            let (name, _) =
                self.failing.call.take().unwrap_or_else(|| (String::new(), Digest::of(b"")));
            self.failing = Failing::default();
            let message = format!(
                "The model made the same failing call of {name} {MOST_FAILURES} times in a row."
            );
            self.stop(Reason::Loop, Some(message), effects);
        } else {
            self.ask_model(now, effects);
        }
    }

    /// Returns the current call with its permissions.
    pub(super) fn job(&self) -> Option<CallJob> {
        let call = self.queue.front()?.clone();
        let is_last = self.queue.len() == 1;
        let whole = match self.batch.end {
            ReplyEnd::CutOff if is_last => Whole::CutOff,
            ReplyEnd::CutOff | ReplyEnd::Whole => Whole::Whole,
        };
        Some(CallJob {
            turn: self.replies,
            call,
            whole,
            policy: self.policy().into(),
            created: self.created.clone(),
            confirmation: self.confirmation,
            moves: self.moves(),
            grants: self.grants.clone(),
            missing: self.settings.missing,
            frame: self.frame(),
        })
    }

    pub(super) fn answered(
        &mut self,
        answer: &Answer,
        state: Option<StateChange>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        let Some(call) = self.queue.pop_front() else {
            effects.push(self.open());
            return;
        };
        self.context.answer(&call.id, answer.result.clone());
        self.count_failure(&call, answer);
        if self.batch.left == NodeProgress::ByLastCall {
            self.batch.left = NodeProgress::Earlier;
        }
        self.approved = Moves::Ask;
        self.grants.once = None;
        let created = answer.created.iter().filter_map(|path| ProjectPath::parse(path).ok());
        self.created.extend(created);
        if let Some(change) = state {
            self.changed(change, effects);
        }
        self.next_call(now, effects);
    }

    fn changed(&mut self, change: StateChange, effects: &mut Vec<Effect>) {
        self.created.clear();
        self.confirmation = Confirmation::Needed;
        if change.moved.is_some() {
            self.batch.left = NodeProgress::ByLastCall;
        }
        self.run_state = change.state.clone();
        if !self.run_state.complete {
            self.forget_hold();
        }
        let change = StateChange { frame: self.frame(), ..change };
        effects.push(tell(EventKind::from(Box::new(change))));
    }

    fn count_failure(&mut self, call: &ToolCall, answer: &Answer) {
        if answer.refused.is_none() {
            self.failing = Failing::default();
            return;
        }
        let this = (call.name.clone(), call.arguments.digest());
        if self.failing.call.as_ref() == Some(&this) {
            self.failing.times += 1;
        } else {
            self.failing = Failing { call: Some(this), times: 1 };
        }
    }

    /// Drops the old node's messages after a move, and tells the model its new position. The reply that closes a
    /// completed workflow is written with the whole context.
    fn batch_done(&mut self) {
        let keep = match std::mem::take(&mut self.batch).left {
            NodeProgress::No => {
                // Another process resumed the run between the calls.
                if self.anchor.intent == RunIntent::Resume {
                    self.anchor();
                }
                return;
            }
            NodeProgress::ByLastCall => Keep::Texts,
            NodeProgress::Earlier => Keep::LastGroup,
        };
        if !self.run_state.complete {
            self.leave_node(keep);
            self.anchor.shown = ShownPosition::Nothing;
            self.anchor();
        }
    }
}

/// Gives every call a unique id, so that answers can be matched.
fn name_calls(reply: &mut Reply, turn: u64) {
    let given: Vec<String> = reply.tool_calls.iter().map(|call| call.id.clone()).collect();
    let mut taken: HashSet<String> = HashSet::new();
    for (at, call) in reply.tool_calls.iter_mut().enumerate() {
        if call.id.trim().is_empty() || taken.contains(&call.id) {
            let mut id = format!("call_{turn}_{}", at + 1);
            while taken.contains(&id) || given.contains(&id) {
                id.push('x');
            }
            call.id = id;
        }
        taken.insert(call.id.clone());
    }
}
