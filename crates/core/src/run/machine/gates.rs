//! Gates and drafts: what the user decided in the visits of the open workflows, and what a choice leads to.

use std::sync::Arc;

use crewagent_format::integrity::Digest;
use crewagent_format::package::gate::{Gate, GateOption, OptionAction};
use crewagent_format::package::graph::Graph;
use jiff::Timestamp;
use serde_json::json;

use super::questions::Pending;
use super::{Effect, Machine};
use crate::draft::{DraftName, ReplyDraft};
use crate::event::{Answer, Reply, SavedDraft};
use crate::gate::{self, BoundDraft, GateChoice, GateTerms};
use crate::message::ToolCall;
use crate::prompt::{self, NotExecuted};
use crate::question::gate::GateAction;
use crate::question::{Question, QuestionKind};
use crate::state::gate_visit::GateVisit;
use crate::tool::Tool;

/// Beginning of the ids of calls that write the drafts of a reply.
const DRAFT_CALL: &str = "draft_";

/// Gates and drafts as a call finds them.
#[derive(Clone, Debug, Default)]
pub struct CallGate {
    pub visit: GateVisit,
    /// Drafts of this visit that are not saved yet, in the order in which they were written.
    pub drafts: Vec<DraftName>,
    /// Drafts that the run has saved so far.
    pub saved: Arc<Vec<SavedDraft>>,
    /// Choice of the user that the call carries out.
    pub choice: Option<GateChoice>,
}

/// Gates of the open workflows.
#[derive(Clone, Debug)]
pub(super) struct OpenGates {
    /// Visits of the open workflows, outermost first; at least one.
    visits: Vec<OpenGate>,
    saved: Arc<Vec<SavedDraft>>,
    /// Choice that the current call carries out.
    choice: Option<GateChoice>,
}

#[derive(Clone, Debug, Default)]
struct OpenGate {
    visit: GateVisit,
    drafts: Vec<DraftName>,
}

impl Default for OpenGates {
    fn default() -> Self {
        Self { visits: vec![OpenGate::default()], saved: Arc::default(), choice: None }
    }
}

impl OpenGates {
    /// Begins all visits anew, with this number of open calls.
    pub(super) fn open(&mut self, calls: usize) {
        self.visits = vec![OpenGate::default(); calls + 1];
        self.choice = None;
    }

    /// Begins another visit of the active workflow. Words that the user said already count for it.
    pub(super) fn begin(&mut self, has_words: bool) {
        self.choice = None;
        if let Some(last) = self.visits.last_mut() {
            *last = OpenGate::default();
            last.visit.has_spoken = has_words;
        }
    }

    pub(super) fn enter(&mut self) {
        self.choice = None;
        self.visits.push(OpenGate::default());
    }

    pub(super) fn leave(&mut self, has_moved: bool) {
        if self.visits.len() > 1 {
            self.visits.pop();
        }
        if has_moved {
            self.begin(false);
        }
    }

    /// Ends the choice with the call that carried it out.
    pub(super) fn settle(&mut self) {
        self.choice = None;
    }

    pub(super) fn speak(&mut self) {
        if let Some(last) = self.visits.last_mut() {
            last.visit.has_spoken = true;
        }
    }

    fn choose(&mut self, keys: Vec<String>) {
        if let Some(last) = self.visits.last_mut() {
            last.visit.chosen.extend(keys);
        }
    }

    /// Takes what a call wrote and saved.
    pub(super) fn take(&mut self, answer: &Answer) {
        let names = answer.drafted.iter().filter_map(|name| DraftName::parse(name).ok());
        let drafts: Vec<DraftName> = names.collect();
        if drafts.is_empty() && answer.saved.is_empty() {
            return;
        }
        let saved = Arc::make_mut(&mut self.saved);
        for one in &answer.saved {
            saved.retain(|known| (&known.name, &known.path) != (&one.name, &one.path));
            saved.push(one.clone());
        }
        let Some(last) = self.visits.last_mut() else { return };
        for name in drafts {
            last.drafts.retain(|known| *known != name);
            last.drafts.push(name);
        }
        for SavedDraft { name, .. } in &answer.saved {
            last.drafts.retain(|known| known.as_str() != name);
            last.visit.saved.insert(name.clone());
        }
    }

    fn visit(&self) -> GateVisit {
        self.visits.last().map(|last| last.visit.clone()).unwrap_or_default()
    }

    fn drafts(&self) -> &[DraftName] {
        self.visits.last().map(|last| last.drafts.as_slice()).unwrap_or_default()
    }
}

impl Machine {
    /// Returns true if the model is told of drafts and gates: an open workflow has some.
    pub fn takes_drafts(&self) -> bool {
        (0..=self.callers().len())
            .filter_map(|depth| self.workflow_at(depth))
            .any(|workflow| has_gates(&workflow.graph))
    }

    /// Returns what is known of gates at a call.
    pub(super) fn call_gate(&self) -> CallGate {
        CallGate {
            visit: self.gates.visit(),
            drafts: self.gates.drafts().to_vec(),
            saved: self.gates.saved.clone(),
            choice: self.gates.choice.clone(),
        }
    }

    /// Returns the drafts that the run has saved so far.
    pub(super) fn saved_drafts(&self) -> &[SavedDraft] {
        &self.gates.saved
    }

    /// Returns what the gate of the current node is judged by; none if it has no gate. `visit` is that of a call.
    pub fn gate_terms<'m>(&'m self, visit: &'m GateVisit) -> Option<GateTerms<'m>> {
        let workflow = self.workflow()?;
        let node = workflow.graph.node(self.unfinished_node()?)?;
        Some(GateTerms {
            graph: &workflow.graph,
            node,
            gate: node.gate.as_deref()?,
            visit,
            variables: &self.run_state.variables,
        })
    }

    /// Takes the answer of the user at a gate.
    pub(super) fn decide(
        &mut self,
        pending: Pending,
        words: &str,
        now: Timestamp,
        effects: &mut Vec<Effect>,
    ) {
        let question = pending.question();
        let empty = question.answer(words).err();
        let chosen = question.gate_choice(words).cloned();
        if let Some(why) = empty {
            self.ask_again(pending, words, &why, "", effects);
            return;
        }
        let visit = self.gates.visit();
        let terms = self.gate_terms(&visit);
        let option = chosen.and_then(|chosen| terms?.option(&chosen.value).cloned());
        let Some(option) = option else {
            let answer = answered(&gate::words_answer(words));
            return self.settle_call(
                &pending,
                answer,
                Some(NotExecuted::Answered),
                words,
                now,
                effects,
            );
        };
        let keys = terms.map(|terms| terms.keys_of(&option.key)).unwrap_or_default();
        let choice = choice(&option, question);
        self.gates.choose(keys);
        match option.does {
            OptionAction::Edge | OptionAction::Yolo => {
                self.gates.choice = Some(choice);
                self.note_decision();
                self.next_call(now, effects);
            }
            OptionAction::Stay | OptionAction::Call => {
                let answer =
                    answered(&gate::chosen_answer(&option, self.document_of(&option).as_deref()));
                self.settle_call(
                    &pending,
                    answer,
                    Some(NotExecuted::Answered),
                    words,
                    now,
                    effects,
                );
            }
        }
    }

    /// Returns the text of the workflow that an option calls: its document, or the step of a workflow with one.
    fn document_of(&self, option: &GateOption) -> Option<String> {
        let workflow = self.package()?.workflow(option.call.as_ref()?.as_str())?;
        let path = match workflow.graph.nodes() {
            [only] => &only.file,
            _ => &workflow.document_path,
        };
        Some(format!("@pkg/{path}"))
    }

    /// Takes words of the user at a stop point. A choice that they type there counts as well.
    pub(super) fn hear_choice(&mut self, words: &str) {
        let visit = self.gates.visit();
        let Some(terms) = self.gate_terms(&visit) else { return };
        let options = terms.options();
        let has_menu = self.said.last.as_deref().is_some_and(|said| shows_menu(terms.gate, said));
        let Some(at) = crate::question::gate::chosen(&options, words, has_menu) else { return };
        let keys = terms.keys_of(&options[at].value);
        let does_lead_on = options[at].does.is_some_and(GateAction::leads_on);
        if let Some(workflow) = self.workflow().filter(|_| does_lead_on) {
            let mut calls = terms.saving_calls(self.gates.drafts());
            let (variables, tool) = (&self.run_state.variables, self.policy().state_tool());
            let saved: Vec<String> = terms.targets().iter().map(ToString::to_string).collect();
            calls.push(prompt::completing_call(workflow, terms.node, variables, tool, &saved));
            self.typed_choice =
                Some(prompt::typed_choice(&options[at].value, options[at].shown(), &calls));
        }
        self.gates.choose(keys);
    }

    /// Returns true if a reply without a call shows the user the options of the gate.
    pub(super) fn shows_gate(&self, words: &str) -> bool {
        let visit = self.gates.visit();
        self.gate_terms(&visit).is_some_and(|terms| shows_menu(terms.gate, words))
    }

    /// Returns the calls that write the drafts of a reply, each before the reply's own.
    pub(super) fn draft_calls(&self, reply: &Reply) -> Vec<ToolCall> {
        draft_calls(reply, self.replies)
    }
}

/// Returns the calls that write the drafts of a reply. Their ids are those of no other call.
pub fn draft_calls(reply: &Reply, turn: u64) -> Vec<ToolCall> {
    let content = reply.content.as_deref().unwrap_or_default();
    let call = |(at, draft): (usize, &ReplyDraft)| {
        let text = content.get(draft.start..draft.end)?;
        let path = DraftName::parse(&draft.name).ok()?.path();
        let mut id = format!("{DRAFT_CALL}{turn}_{}", at + 1);
        while reply.tool_calls.iter().any(|call| call.id == id) {
            id.push('x');
        }
        Some(ToolCall {
            id,
            name: Tool::Write.wire_name().to_owned(),
            arguments: json!({ "path": path, "content": text }).to_string().into(),
            extra: serde_json::Map::new(),
        })
    };
    reply.drafts.iter().enumerate().filter_map(call).collect()
}

/// Returns true if a workflow has a gate.
pub(super) fn has_gates(graph: &Graph) -> bool {
    graph.nodes().iter().any(|node| node.gate.is_some())
}

/// Returns true if a text shows the options of a gate: at least half of them by key, in brackets or before the label.
fn shows_menu(gate: &Gate, words: &str) -> bool {
    let lower = words.to_lowercase();
    let is_shown = |option: &&GateOption| {
        let (key, label) = (option.key.to_lowercase(), option.label.to_lowercase());
        let opens = |line: &str| {
            let rest = line.trim_start_matches(['-', '*', ' ']).strip_prefix(&key);
            rest.is_some_and(|rest| rest.starts_with([')', '.', ':']) && rest.contains(&label))
        };
        [format!("[{key}]"), format!("({key})")].iter().any(|mark| lower.contains(mark))
            || lower.lines().any(opens)
    };
    let shown = gate.options.iter().filter(is_shown).count();
    shown > 0 && shown * 2 >= gate.options.len()
}

fn answered(result: &serde_json::Value) -> Answer {
    Answer { result: result.to_string().into(), ..Answer::default() }
}

/// Returns the choice of an option, bound to the texts that were shown.
fn choice(option: &GateOption, question: &Question) -> GateChoice {
    debug_assert_eq!(question.kind, QuestionKind::Gate);
    let drafts = question.show.iter().filter_map(|shown| {
        Some(BoundDraft {
            name: DraftName::parse(&shown.name).ok()?,
            sha256: Digest::parse(&shown.sha256)?,
            bytes: shown.bytes,
        })
    });
    GateChoice { key: option.key.clone(), label: option.label.clone(), drafts: drafts.collect() }
}
