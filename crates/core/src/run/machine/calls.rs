//! Replies and the calls in them: one call after the other, each answered before the model is asked again.
//!
//! A call that ends a reply (a stop call) is the last one that is carried out, because those behind it were written
//! without knowing its outcome: a move, a completion in any form, a question, and what the user denied.

use std::collections::{BTreeMap, HashSet};
use std::sync::Arc;

use crewagent_lenient::calls as leaked;
use jiff::Timestamp;
use serde_json::Value as Json;

use super::{CallFiles, CallJob, Effect, Machine, Moves, Stance, Whole, tell};
use crate::draft::{ReplyDraft, with_marks};
use crate::event::{
    Answer, EventKind, Finish, Phase, Reason, Reply, StateChange, ToolFinished, WrittenDigest,
};
use crate::message::{IdRoom, ToolCall, kept_name};
use crate::prompt::{self, NotExecuted};
use crate::refusal::RefusalCode;
use crate::state::guard::Confirmation;
use crate::state::project_path::ProjectPath;
use crate::tool::{Tool, canonical};
use crate::vpath::{Mount, VPath};

/// Largest number of calls of one reply that are handled.
const MOST_CALLS: usize = 256;
/// Size up to which the arguments of a call are always at hand, in bytes.
const SHORT_ARGUMENTS: usize = 16 * 1024;

/// Combined outcome of the calls of one reply.
#[derive(Clone, Debug, Default)]
pub(super) struct Batch {
    end: ReplyEnd,
    /// True if a call left the node.
    has_left: bool,
    /// True if a call completed the run's own workflow.
    has_completed: bool,
    /// True if a call was carried out and brought something new.
    is_useful: bool,
    /// Number of calls in the reply.
    asked: usize,
    /// Kinds of repairs, by the id of the call.
    repaired: BTreeMap<String, Vec<String>>,
    /// Reply that has drafts and no call of the model, and true if it has words.
    callless: Option<(Box<Reply>, bool)>,
    /// Number of calls at the front of the queue that write the drafts of the reply.
    drafts: usize,
    /// Reasons why drafts of the reply were not written.
    broken_drafts: Vec<String>,
}

/// End of the reply.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ReplyEnd {
    #[default]
    Whole,
    /// The reply broke off in its last call.
    CutOff,
}

impl Machine {
    pub(super) fn replied(&mut self, mut reply: Reply, now: Timestamp, effects: &mut Vec<Effect>) {
        *self.node_replies.entry(self.counted_as()).or_default() += 1;
        self.replies += 1;
        self.overflows = 0;
        // The added messages belong to the request answered here; a replaying process reports none.
        self.context.take_added();
        self.usage += reply.usage;
        self.spend(reply.usage);
        let asked = reply.tool_calls.len();
        reply.tool_calls.truncate(MOST_CALLS);
        name_calls(&mut reply, self.replies);
        let is_written = |text: &String| !text.trim().is_empty();
        let has_words = reply.content.as_ref().is_some_and(is_written);
        if self.unfinished_node().is_some() {
            // The model made up an answer of a tool, or words of the user. A draft may have lines that look so.
            let from = reply.drafts.last().map_or(0, |draft| draft.end);
            reply.content = reply.content.map(|text| match text.split_at_checked(from) {
                Some((drafts, rest)) if from > 0 => [drafts, leaked::cut_invented(rest)].concat(),
                Some(_) | None => leaked::cut_invented(&text).to_owned(),
            });
        }
        let words = reply.content.as_ref().filter(|text| is_written(text));
        self.said.last = words.map(|text| without_drafts(text, &reply.drafts).into());
        let broken: Vec<&str> = reply
            .broken_calls
            .iter()
            .filter_map(|at| reply.tool_calls.get(*at))
            .map(|call| call.id.as_str())
            .collect();
        let is_whole = |call: &ToolCall| !broken.contains(&call.id.as_str());
        if reply.drafts.is_empty() {
            self.context.reply(&reply, &is_whole);
        } else {
            // The model reads its own words with the marks that it wrote.
            let content = reply.content.as_deref().map(|text| with_marks(text, &reply.drafts));
            self.context.reply(&Reply { content, ..reply.clone() }, &is_whole);
        }
        if reply.tool_calls.is_empty() && reply.drafts.is_empty() && reply.broken_drafts.is_empty()
        {
            self.without_call(&reply, has_words, now, effects);
            return;
        }
        self.stalling.called();
        let is_cut = reply.finish == Finish::Length && asked <= MOST_CALLS;
        let end = if is_cut { ReplyEnd::CutOff } else { ReplyEnd::Whole };
        let drafts = self.draft_calls(&reply);
        let is_callless = reply.tool_calls.is_empty();
        self.batch = Batch {
            end,
            asked,
            repaired: repairs(&reply),
            broken_drafts: std::mem::take(&mut reply.broken_drafts),
            callless: is_callless.then(|| (Box::new(reply.clone()), has_words)),
            drafts: drafts.len(),
            ..Batch::default()
        };
        self.queue = drafts.into_iter().chain(reply.tool_calls).collect();
        self.next_call(now, effects);
    }

    /// Performs the next call, or asks the model when all are answered.
    pub(super) fn next_call(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        if self.failing.is_loop() {
            // The remaining calls of the reply are of the same kind and are not performed.
            self.queue.clear();
            self.context.settle();
        }
        if let Some(job) = self.job() {
            self.enter(Phase::Running, effects);
            self.stance = Stance::Performing;
            effects.push(Effect::Perform(Box::new(job)));
            return;
        }
        self.let_go();
        let Batch { asked, has_left, has_completed, is_useful, callless, broken_drafts, .. } =
            std::mem::take(&mut self.batch);
        if has_left && !self.run_state.complete {
            // The reply that closes a completed workflow is written with the whole context.
            self.leave_node();
        }
        if let Some((reply, has_words)) = callless {
            match broken_drafts.is_empty() {
                true => self.without_call(&reply, has_words, now, effects),
                false => self.with_broken_drafts(&broken_drafts, now, effects),
            }
            return;
        }
        if !broken_drafts.is_empty() && !has_left {
            self.context.nudge(prompt::broken_drafts(&broken_drafts));
        }
        if asked > MOST_CALLS {
            self.context.nudge(prompt::too_many_calls(asked, MOST_CALLS));
        }
        if let Some(looping) = self.failing.end_reply() {
            self.stop(Reason::Loop, Some(looping), effects);
            return;
        }
        if let Some(looping) = self.count_idle(asked > 0 && !is_useful, effects) {
            self.stop(Reason::Loop, Some(looping), effects);
            return;
        }
        if has_completed && self.run_state.complete && self.waiting.is_empty() {
            if self.said.last.is_some() || self.ends_silently() {
                // Words beside the completing call are the last words, and an end that completes itself has none.
                self.stop(Reason::StopPoint, None, effects);
                return;
            }
            self.context.nudge(prompt::LAST_WORDS.to_owned());
        }
        self.ask_model(now, effects);
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
            repaired: self.batch.repaired.get(&call.id).cloned().unwrap_or_default(),
            was_refused: self.failing.was_refused(&call),
            refuses_go_on: self.refuses_go_on(),
            whole,
            policy: self.policy().into(),
            created: self.created.clone(),
            confirmation: self.confirmation,
            moves: self.moves(),
            agreed: self.agreed.clone(),
            grants: self.grants.clone(),
            missing: self.settings.missing,
            outputs: self.settings.outputs,
            files: self.files.current(),
            set: self.variables.counted(&self.run_state),
            known: self.call_files(&call),
            gate: self.call_gate(),
            frame: self.frame(),
            call,
        })
    }

    pub(super) fn answered(
        &mut self,
        answer: &Answer,
        state: Option<StateChange>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        self.settle(answer, state, None, now, effects);
    }

    /// Takes the answer of the current call. With a `stop`, the calls behind it are not carried out.
    pub(super) fn settle(
        &mut self,
        answer: &Answer,
        state: Option<StateChange>,
        stop: Option<NotExecuted>,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        let Some(call) = self.queue.pop_front() else {
            effects.push(self.open());
            return;
        };
        self.context.answer(&call.id, answer.result.clone());
        if let Some(left) = self.batch.drafts.checked_sub(1) {
            self.batch.drafts = left;
            self.note_draft(answer);
        }
        self.failing.count(&call, answer);
        self.count_use(&call, answer);
        self.approved = Moves::Ask;
        self.agreed = None;
        self.grants.once = None;
        self.gates.settle();
        self.gates.take(answer);
        let created = answer.created.iter().filter_map(|path| ProjectPath::parse(path).ok());
        self.created.extend(created);
        self.note_written(answer);
        Arc::make_mut(&mut self.known).take(&call, answer);
        let stop = stop.or_else(|| self.stop_of(&call, answer, state.as_ref()));
        if let Some(change) = state {
            self.changed(change, now, effects);
        }
        if let Some(stop) = stop {
            self.leave_out(stop, effects);
        }
        self.next_call(now, effects);
    }

    /// Counts what an answered call brought.
    fn count_use(&mut self, call: &ToolCall, answer: &Answer) {
        if answer.refused.is_none() && !answer.repeats {
            self.batch.is_useful = true;
            self.stalling.call_done();
        }
        // A question is refused for nothing else that must hold before it.
        let is_held = answer.refused == Some(RefusalCode::Precondition);
        if is_held && Tool::named(&call.name) == Some(Tool::AskUser) {
            self.stalling.told_to_go_on = true;
        }
    }

    /// Marks the reply as one that brought something new: the user decided about a call of it.
    pub(super) fn note_decision(&mut self) {
        self.batch.is_useful = true;
    }

    /// Returns why the calls behind an answered one are not carried out; none if they are.
    fn stop_of(
        &self,
        call: &ToolCall,
        answer: &Answer,
        state: Option<&StateChange>,
    ) -> Option<NotExecuted> {
        let is_gate = Tool::named(&call.name) == Some(Tool::Gate);
        if is_gate && state.is_some_and(|change| change.moved.is_none() && !change.state.complete) {
            return Some(NotExecuted::Answered);
        }
        if let Some(change) = state {
            let is_complete = change.state.complete && !self.run_state.complete;
            if is_complete && self.callers().is_empty() {
                return Some(NotExecuted::Completed);
            }
            let is_over = is_complete || change.state.failed.is_some();
            return (is_over || change.moved.is_some()).then_some(NotExecuted::Moved);
        }
        let tool = Tool::named(&call.name);
        match (tool, answer.refused) {
            // No effect lies between two questions, so the second is asked as well.
            (Some(Tool::AskUser), None) if self.queue.front().is_some_and(is_question) => None,
            (Some(Tool::AskUser | Tool::Gate), None) => Some(NotExecuted::Answered),
            (Some(Tool::AskUser | Tool::Gate | Tool::CompleteNode), Some(_)) => {
                Some(NotExecuted::Refused)
            }
            (_, Some(_)) if answer.ends_reply => Some(NotExecuted::Refused),
            (_, _) => None,
        }
    }

    /// Answers the calls behind a stop call: they are not carried out. Behind a move the model reads nothing of them but
    /// their names, because the messages of the old node are dropped.
    fn leave_out(&mut self, why: NotExecuted, effects: &mut Vec<Effect>) {
        let calls = std::mem::take(&mut self.queue);
        if why == NotExecuted::Moved {
            self.anchor.not_executed = calls.iter().map(described).collect();
        }
        for call in calls {
            let answer = Answer::from(&prompt::not_executed(why));
            self.context.answer(&call.id, answer.result.clone());
            effects.push(tell(EventKind::from(ToolFinished {
                turn: self.replies,
                tool: canonical(&call.name).unwrap_or(&call.name).to_owned(),
                call_id: call.id,
                answer,
            })));
        }
    }

    fn changed(&mut self, change: StateChange, now: Timestamp, effects: &mut Vec<Effect>) {
        self.created.clear();
        if change.moved.is_some() {
            self.files.begin(now);
            self.gates.begin(!self.waiting.is_empty());
        }
        self.confirmation = Confirmation::Needed;
        self.batch.has_left |= change.moved.is_some();
        self.batch.has_completed |=
            change.state.complete && !self.run_state.complete && self.callers().is_empty();
        self.variables.take(&change);
        self.run_state = change.state.clone();
        if !self.run_state.complete {
            self.forget_hold();
        }
        let change = StateChange { frame: self.frame(), ..change };
        effects.push(tell(EventKind::from(Box::new(change))));
    }

    /// Returns true if the run ends without a word of the model: at an end that completes itself.
    pub(super) fn ends_silently(&self) -> bool {
        let is_over = self.run_state.complete && self.callers().is_empty();
        is_over && self.waiting.is_empty() && self.current_node().is_some_and(|node| node.auto)
    }

    /// Remembers why a draft of the reply was not written: its call has no answer that the model would read.
    fn note_draft(&mut self, answer: &Answer) {
        if answer.refused.is_none() {
            return;
        }
        let json = answer.result.inline().and_then(|text| serde_json::from_str::<Json>(text).ok());
        let message = json.as_ref().and_then(|json| json["error"]["message"].as_str());
        self.batch.broken_drafts.push(message.unwrap_or("it was refused").to_owned());
    }

    /// Returns what the model knows of files at a call.
    fn call_files(&self, call: &ToolCall) -> CallFiles {
        CallFiles {
            known: self.known.clone(),
            written: self.written.clone(),
            patched: self.patched.clone(),
            outputs: self.surveyed_outputs(),
            answer: self.known.answer_to(call),
            // What is saved at a gate was shown. A file that changed since the user approved is shown again, unless the
            // rule no longer asks.
            is_put_to_user: Tool::named(&call.name) == Some(Tool::Gate)
                || self
                    .grants
                    .once
                    .as_ref()
                    .is_some_and(|once| !self.grants.rules.contains(&once.rule)),
        }
    }

    /// Remembers the digests of the files that a call wrote.
    fn note_written(&mut self, answer: &Answer) {
        for WrittenDigest { path, sha256, foreign } in &answer.wrote {
            // A file of which only parts were changed stays the user's.
            let patched = Arc::make_mut(&mut self.patched);
            if *foreign {
                patched.insert(path.clone());
            } else {
                patched.remove(path);
            }
            let is_same = sha256.is_some() && self.written.get(path) == sha256.as_ref();
            if !is_same {
                self.files.write(path, sha256.is_none());
            }
            let written = Arc::make_mut(&mut self.written);
            match sha256 {
                Some(sha256) => written.insert(path.clone(), sha256.clone()),
                None => written.remove(path),
            };
        }
        // A text that the file had already is written in this visit, too.
        for shown in answer.shown.iter().filter(|shown| shown.written) {
            if let Ok(path) = ProjectPath::parse(&shown.path) {
                self.files.write(path.as_str(), false);
            }
        }
    }
}

/// Returns the words of a reply, with its drafts by name alone: they are not carried to other nodes.
fn without_drafts(text: &str, drafts: &[ReplyDraft]) -> String {
    let (mut words, mut at) = (String::new(), 0);
    for ReplyDraft { name, start, end } in drafts {
        let Some(before) = text.get(at..*start) else { continue };
        words.push_str(&format!("{before}[draft {name}: {} bytes]\n", end - start));
        at = *end;
    }
    words.push_str(text.get(at..).unwrap_or_default());
    words
}

/// Describes a call by its tool and path, but not its content: that would be an example of running ahead.
fn described(call: &ToolCall) -> String {
    let name = Tool::named(&call.name).map_or(call.name.as_str(), |tool| tool.wire_name());
    // A later process may not have longer arguments at hand.
    let arguments = call.arguments.inline().filter(|text| text.len() <= SHORT_ARGUMENTS);
    let arguments = arguments.and_then(|text| serde_json::from_str::<Json>(text).ok());
    let path = arguments.as_ref().and_then(|json| json.get("path")).and_then(Json::as_str);
    match path.and_then(|path| VPath::parse(path).ok()) {
        Some(path) if path.mount() == Mount::Project => format!("{name} {}", path.relative()),
        Some(path) => format!("{name} {path}"),
        None => name.to_owned(),
    }
}

fn is_question(call: &ToolCall) -> bool {
    Tool::named(&call.name) == Some(Tool::AskUser)
}

/// Returns the kinds of repairs of the calls in a reply, by the id of the call.
fn repairs(reply: &Reply) -> BTreeMap<String, Vec<String>> {
    let repaired = reply.repaired_calls.iter().filter(|repaired| !repaired.repairs.is_empty());
    repaired
        .filter_map(|repaired| {
            let call = reply.tool_calls.get(repaired.index)?;
            Some((call.id.clone(), repaired.repairs.clone()))
        })
        .collect()
}

/// Gives every call a unique id, so that answers can be matched. Ids and names that are too long to be repeated in every
/// request are replaced, which older records may have.
fn name_calls(reply: &mut Reply, turn: u64) {
    let given: HashSet<String> = reply.tool_calls.iter().map(|call| call.id.clone()).collect();
    let mut taken: HashSet<String> = HashSet::new();
    let mut room = IdRoom::default();
    for (at, call) in reply.tool_calls.iter_mut().enumerate() {
        let kept = kept_name(&call.name).len();
        call.name.truncate(kept);
        if call.id.trim().is_empty() || taken.contains(&call.id) || !room.admits(&call.id) {
            let mut id = format!("call_{turn}_{}", at + 1);
            while taken.contains(&id) || given.contains(&id) {
                id.push('x');
            }
            call.id = id;
        }
        taken.insert(call.id.clone());
    }
}
