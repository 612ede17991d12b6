//! Input of the user, and answers to questions.

use std::sync::Arc;

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::failing::Failing;
use super::{CallJob, Effect, Machine, Moves, Rest, Whole, tell};
use crate::event::{Answer, EventKind, FileIntent, Moved, Phase, Reason, ToolFinished};
use crate::policy::rules::{Rule, Verdict};
use crate::prompt::{self, NotExecuted};
use crate::question::approval::{Approval, Consent};
use crate::question::{Question, QuestionKind};
use crate::refusal::{Refusal, RefusalCode};
use crate::settings::Mode;
use crate::state::guard::Confirmation;
use crate::tool::canonical;
use crate::vpath::VPath;

/// Hint for input that does not match the question: the same input again counts.
const MEANT: &str = "Or say the same once more: then it is your answer.";
const MEANT_AS_DENIAL: &str = "Or say the same once more: then it is denied with these words.";

/// Question that waits for its answer.
#[derive(Clone, Debug)]
pub(super) struct Pending {
    question: Question,
    /// Move that waits for approval; none if a call asks.
    moved: Option<PendingMove>,
    /// Input that did not match the question. The same input again counts as the answer.
    refused: Option<String>,
}

/// Move that waits for approval, with the files that change with it.
#[derive(Clone, Debug)]
pub(super) struct PendingMove {
    pub(super) moved: Moved,
    pub(super) files: Vec<FileIntent>,
}

impl Pending {
    /// Returns the question.
    pub(super) fn question(&self) -> &Question {
        &self.question
    }

    /// Returns true if the user repeats input that does not match the question.
    fn is_meant(&self, words: &str) -> bool {
        self.refused.as_deref() == Some(words.trim())
    }
}

impl Machine {
    /// Returns the user's approval of the current move.
    pub fn agreement(&self) -> Moves {
        self.approved
    }

    /// Returns the approval that the next move needs.
    pub(super) fn moves(&self) -> Moves {
        match self.settings.mode {
            Mode::Autopilot => Moves::Free,
            Mode::Guided => self.approved,
        }
    }

    /// Returns the call whose question is open.
    pub fn asking_call(&self) -> Option<&str> {
        let call = self.queue.front().filter(|_| self.pending.is_some());
        call.map(|call| call.id.as_str())
    }

    /// Asks the user the question of the current call, or for approval of its move.
    pub(super) fn asked(
        &mut self,
        question: Question,
        moved: Option<PendingMove>,
        effects: &mut Vec<Effect>,
    ) {
        self.pending = Some(Pending { question: question.clone(), moved, refused: None });
        self.wait_for_answer(question, None, effects);
    }

    fn wait_for_answer(
        &mut self,
        question: Question,
        message: Option<String>,
        effects: &mut Vec<Effect>,
    ) {
        let rest = Rest {
            phase: Phase::WaitingUser,
            reason: Some(Reason::Question),
            message,
            question: Some(question),
        };
        self.rest(rest, effects);
    }

    pub(super) fn user(&mut self, words: Arc<str>, now: Timestamp, effects: &mut Vec<Effect>) {
        self.renew_limits(now);
        self.input = Some(words.clone());
        self.failing = Failing::default();
        self.stalling.renew();
        self.forget_hold();
        if self.answered_offer(&words, now, effects) {
            return;
        }
        self.typed_choice = None;
        let is_asked =
            |pending: &Pending| pending.moved.is_some() || pending.question.approval.is_some();
        if !self.pending.as_ref().is_some_and(is_asked) {
            self.gates.speak();
        }
        match self.pending.take() {
            Some(pending) => self.answer(pending, &words, now, effects),
            None if self.queue.is_empty() => {
                // An approval belongs to the conversation in which it was given.
                self.confirmation = Confirmation::Needed;
                self.anchor.is_stale = true;
                self.hear_choice(&words);
                self.waiting.push(words);
                self.ask_model(now, effects);
            }
            None => {
                self.anchor.is_stale = true;
                self.waiting.push(words);
                self.next_call(now, effects);
            }
        }
    }

    /// Passes on the user's choice from a menu. An open question stays unanswered: its calls are settled as
    /// interrupted.
    pub(super) fn instructed(
        &mut self,
        texts: &[Arc<str>],
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        self.renew_limits(now);
        self.failing = Failing::default();
        self.stalling.renew();
        self.pending = None;
        self.queue.clear();
        texts.iter().for_each(|text| self.context.user_input(text.to_string()));
        self.ask_model(now, effects);
    }

    fn answer(&mut self, pending: Pending, words: &str, now: Timestamp, effects: &mut Vec<Effect>) {
        if let Some(approval) = pending.question.approval.clone() {
            return self.consented(pending, approval, words, now, effects);
        }
        if pending.question.kind == QuestionKind::Gate {
            return self.decide(pending, words, now, effects);
        }
        match (pending.question.answer(words), &pending.moved) {
            (Ok(Json::Bool(true)), Some(PendingMove { files, .. })) => {
                self.approved = Moves::Free;
                self.agreed = Some(files.as_slice().into());
                self.next_call(now, effects);
            }
            (answer, Some(PendingMove { moved, .. })) => {
                let answer = declined(moved, words, answer.is_ok());
                self.settle_call(
                    &pending,
                    answer,
                    Some(NotExecuted::Answered),
                    words,
                    now,
                    effects,
                );
            }
            (Ok(value), None) => {
                if self.run_state.complete && is_yes(&pending.question, &value) {
                    self.confirmation = Confirmation::Given;
                }
                let result = json!({ "ok": true, "answer": value }).to_string();
                let answer = Answer { result: result.into(), ..Answer::default() };
                self.settle_call(&pending, answer, None, words, now, effects);
            }
            (Err(_), None)
                if pending.is_meant(words) || pending.question.takes_own_words(words) =>
            {
                let answer = in_own_words(words);
                self.settle_call(&pending, answer, None, words, now, effects);
            }
            (Err(why), None) => self.ask_again(pending, words, &why, MEANT, effects),
        }
    }

    /// Asks the question again after input that does not match it. `or` tells the user what the same input would then
    /// mean.
    pub(super) fn ask_again(
        &mut self,
        pending: Pending,
        words: &str,
        why: &str,
        or: &str,
        effects: &mut Vec<Effect>,
    ) {
        let question = pending.question.clone();
        let refused = Some(words.trim().to_owned()).filter(|words| !words.is_empty());
        let why = refused.as_ref().map_or_else(|| why.to_owned(), |_| format!("{why} {or}"));
        self.pending = Some(Pending { refused, ..pending });
        self.wait_for_answer(question, Some(why), effects);
    }

    /// Takes the user's decision about a call. An approved call is performed again.
    fn consented(
        &mut self,
        pending: Pending,
        approval: Box<Approval>,
        words: &str,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        match Consent::read(words) {
            Ok(Consent::Deny(reason)) => {
                let answer = denied(&approval, &reason);
                self.settle_call(&pending, answer, Some(NotExecuted::Denied), words, now, effects);
            }
            Ok(consent) => {
                if consent == Consent::Run && !self.grants.rules.contains(&approval.rule) {
                    self.grants.rules.push(approval.rule.clone());
                }
                if let Some(offer) = &approval.offer {
                    self.grants.offers.insert(approval.tool.clone(), offer.sha256.clone());
                }
                self.grants.once = Some(approval);
                self.next_call(now, effects);
            }
            Err(_) if pending.is_meant(words) => {
                let answer = denied(&approval, words.trim());
                self.settle_call(&pending, answer, Some(NotExecuted::Denied), words, now, effects);
            }
            Err(why) => self.ask_again(pending, words, &why, MEANT_AS_DENIAL, effects),
        }
    }

    /// Answers the current call with the user's answer.
    pub(super) fn settle_call(
        &mut self,
        pending: &Pending,
        answer: Answer,
        stop: Option<NotExecuted>,
        words: &str,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        if let Some(call) = self.queue.front() {
            let shell: Arc<str> = prompt::user_input(words, self.node_name()).into();
            let question = &pending.question.question;
            self.context.exchange(question, &shell);
            // Questions of the runtime itself are not carried on, but the words of the user are.
            let is_own = pending.moved.is_some() || pending.question.approval.is_some();
            let asked = (!is_own).then(|| Arc::from(question.as_str()));
            effects.push(tell(EventKind::from(ToolFinished {
                turn: self.replies,
                call_id: call.id.clone(),
                tool: canonical(&call.name).unwrap_or(&call.name).to_owned(),
                answer: answer.clone(),
            })));
            self.keep_exchange(asked, shell);
            self.note_decision();
        }
        self.settle(&answer, None, stop, now, effects);
    }
}

/// Returns the answer for the model when the user chose none of the options.
fn in_own_words(words: &str) -> Answer {
    let note = "The user answers in their own words instead.";
    let result = json!({ "ok": true, "answer": null, "words": words, "note": note }).to_string();
    Answer { result: result.into(), ..Answer::default() }
}

/// Returns the answer for the model when the user did not simply agree to a move.
fn declined(moved: &Moved, words: &str, is_no: bool) -> Answer {
    let from = &moved.from;
    let message = if is_no {
        format!("The user said no to leaving {from}.")
    } else {
        format!("The user did not agree to leave {from} yet and said:\n\"{words}\"")
    };
    let done =
        "Nothing was written and nothing moved. Do what the user says, then finish the node again.";
    Answer::from(&Refusal::new(RefusalCode::Precondition, format!("{message}\n{done}")))
}

/// Returns the answer for the model when the user denied a call.
fn denied(approval: &Approval, reason: &str) -> Answer {
    let said = match reason {
        "" => " and gives no reason.".to_owned(),
        reason => format!(" and says: {reason:?}."),
    };
    let message = format!("The user does not allow this call of `{}`{said}", approval.tool);
    let refusal = Refusal::new(RefusalCode::Precondition, message)
        .hint("Nothing was changed. Do what the user asks, find another way, or ask what they want instead.");
    Answer::from(&refusal)
}

fn is_yes(question: &Question, value: &Json) -> bool {
    question.kind == QuestionKind::Confirm && *value == Json::Bool(true)
}

impl CallJob {
    /// Returns the rule about one of these tools that asks about this call, which writes to these paths, unless the user
    /// has granted it.
    pub fn rule_asking(&self, tools: &[&str], places: &[&VPath]) -> Option<Rule> {
        let decision = self.policy.decide(&self.grants.rules, tools, places);
        decision.rule.filter(|_| decision.verdict == Verdict::Ask)
    }

    /// Returns the rule that a call without file changes waits for. An approval of this very call is enough, because
    /// its arguments cannot change; a call that was cut off is refused without asking.
    pub fn rule_to_approve(&self, tool: &str, places: &[&VPath]) -> Option<Rule> {
        if self.is_settled() { None } else { self.rule_asking(&[tool], places) }
    }

    fn is_settled(&self) -> bool {
        self.grants.once.is_some() || self.whole == Whole::CutOff
    }

    /// Returns the rule that a call of a server's tool waits for. What the user granted for the run ends when the server
    /// redefines the tool: it has another digest than when it was allowed or last `called`.
    pub fn rule_to_approve_offer(
        &self,
        tool: &str,
        sha256: &str,
        called: Option<&str>,
    ) -> Option<(Rule, Offered)> {
        if let Some(rule) = self.rule_to_approve(tool, &[]) {
            return Some((rule, Offered::Same));
        }
        let known = self.grants.offers.get(tool).map(String::as_str).or(called);
        // Records of earlier versions do not say what the user was shown, and are replayed as they are.
        if self.is_settled()
            || self.grants.offers.is_empty()
            || known.is_none_or(|known| known == sha256)
        {
            return None;
        }
        let decision = self.policy.decide(&[], &[tool], &[]);
        let rule = decision.rule.filter(|_| decision.verdict == Verdict::Ask);
        rule.map(|rule| (rule, Offered::Anew))
    }
}

/// State of a server's tool since the user allowed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Offered {
    /// It is as it was, or was never allowed.
    Same,
    /// The server has redefined it.
    Anew,
}
