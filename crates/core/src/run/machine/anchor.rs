//! Telling the model its position: one message when a node is entered, and one before the first words after completion.

use std::sync::Arc;

use crewagent_format::integrity::Digest;
use crewagent_format::package::graph::Node;
use jiff::Timestamp;

use super::nudging::Stalling;
use super::{Ask, Effect, Machine, Stance, Subject, tell};
use crate::context::{Cut, tokens_of};
use crate::event::{
    ContextCut, EventKind, InputState, ModelStopped, NodeEntered, Phase, Reason, StateChange,
    StoppedBy, SurveyedInput,
};
use crate::frame_id::FrameId;
use crate::prompt::{self, Brief, CalledBy, Directive, NodeMessage, RulesFor, SaidExchange};
use crate::state::frame::{Caller, Frame};
use crate::vpath::{Mount, VPath};

pub(super) use crate::prompt::RunIntent;

/// Position that the model was told.
#[derive(Clone, Debug)]
pub(super) struct AnchorPosition {
    /// Opening of the next directive.
    pub(super) intent: RunIntent,
    /// Part of the position that is already in the context.
    pub(super) shown: ShownPosition,
    /// Survey of the current node, from its first request on.
    pub(super) survey: Option<NodeEntered>,
    /// True if the user spoke since the files of the node were looked at.
    pub(super) is_stale: bool,
    /// Inputs that have changed since, for the next message.
    pub(super) changed_inputs: Vec<SurveyedInput>,
    /// True if the window is too small for the text of the step.
    leaves_step_out: bool,
    /// True if the model knows what the active workflow is about.
    pub(super) is_introduced: bool,
    /// Return of the workflow that was called last.
    pub(super) last_call: Option<String>,
    /// Calls behind the move to this node, which were not carried out.
    pub(super) not_executed: Vec<String>,
}

/// Content of the context about the run's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShownPosition {
    Nothing,
    /// Message of the current node.
    Node,
    /// Completion of the workflow.
    Completed,
}

impl Default for AnchorPosition {
    fn default() -> Self {
        Self {
            intent: RunIntent::Start,
            shown: ShownPosition::Nothing,
            survey: None,
            is_stale: false,
            changed_inputs: Vec::new(),
            leaves_step_out: false,
            is_introduced: false,
            last_call: None,
            not_executed: Vec::new(),
        }
    }
}

/// Words of the user, with those of the model that they answer.
#[derive(Clone, Debug, Default)]
pub(super) struct SaidWords {
    /// Words of earlier nodes.
    pub(super) before: Vec<SaidExchange>,
    /// Words at the current node, which are in the context.
    pub(super) here: Vec<SaidExchange>,
    /// Last words of the model that the user may answer.
    pub(super) last: Option<Arc<str>>,
}

/// Parts of the window of which one is left for tools, calls and answers.
const WINDOW_PARTS: u64 = 4;
/// Number of times that a request that is too long is shortened.
const MOST_OVERFLOWS: u32 = 3;

impl Machine {
    /// Returns true if the model was not told of the current node yet.
    pub(super) fn needs_node_message(&self) -> bool {
        self.node_name().is_some() && self.anchor.shown != ShownPosition::Node
    }

    /// Appends the message of the position, unless the model knows it, and then the words of the user that wait.
    pub(super) fn speak(&mut self) {
        if self.needs_node_message() {
            let text = self.fitting_message();
            self.show(ShownPosition::Node, text);
            self.know_message();
        }
        let is_over = self.run_state.complete && self.workflow().is_some();
        if is_over && !self.waiting.is_empty() && self.anchor.shown != ShownPosition::Completed {
            self.leave_node();
            let text = self.message_of_completion();
            self.show(ShownPosition::Completed, text);
        }
        self.anchor.is_stale = false;
        let changed = std::mem::take(&mut self.anchor.changed_inputs);
        let mut inputs = prompt::inputs(&changed).filter(|_| !self.waiting.is_empty());
        for words in std::mem::take(&mut self.waiting) {
            let said: Arc<str> = prompt::user_input(&words, self.node_name()).into();
            let asked = self.said.last.take();
            self.keep_exchange(asked, said.clone());
            match inputs.take() {
                Some(inputs) => {
                    Arc::make_mut(&mut self.known).show(&changed);
                    self.context.user_input(format!("{inputs}\n\n{said}"));
                }
                None => self.context.user_input(said.to_string()),
            }
        }
        if let Some(text) = self.typed_choice.take() {
            self.context.nudge(text);
        }
    }

    /// Remembers the files that the message of the node shows.
    fn know_message(&mut self) {
        let step = self.workflow().and_then(|workflow| {
            let node = workflow.graph.node(&self.run_state.current_node_id)?;
            prompt::full_step(workflow, node, self.policy().state_tool(), self.step_bytes())?;
            let text = &workflow.steps.get(&node.id)?.text;
            Some((VPath::new(Mount::Package, node.file.as_str())?, Digest::of(text.as_bytes())))
        });
        let inputs = self.anchor.survey.as_ref().map(|survey| survey.inputs.as_slice());
        Arc::make_mut(&mut self.known).anchor(inputs.unwrap_or_default(), step);
    }

    /// Returns the size of the largest step that a brief shows. A model that cannot read files gets the text there or
    /// not at all.
    fn step_bytes(&self) -> u64 {
        match self.policy().fs.enabled {
            true if self.anchor.leaves_step_out => 0,
            true => self.settings.inline_step_bytes,
            false => prompt::STEP_MAX_BYTES as u64,
        }
    }

    fn show(&mut self, position: ShownPosition, text: Option<String>) {
        self.anchor.shown = position;
        self.anchor.intent = RunIntent::Continue;
        self.anchor.is_introduced = true;
        self.anchor.not_executed.clear();
        self.context.anchor(text.into_iter().collect());
    }

    /// Remembers words of the user for the nodes to come. A conversation keeps all of its messages anyway.
    pub(super) fn keep_exchange(&mut self, asked: Option<Arc<str>>, said: Arc<str>) {
        if self.workflow().is_some() {
            self.said.here.push(SaidExchange { asked, said });
        }
    }

    /// Returns the message of the node. If the window is too small for it, inputs are only named, the largest first, and
    /// then the step is left to be read.
    fn fitting_message(&mut self) -> Option<String> {
        let system: u64 = self.system_layers().iter().map(|layer| layer.len() as u64).sum();
        let most = self.window() / WINDOW_PARTS * (WINDOW_PARTS - 1);
        loop {
            let text = self.message_of_node();
            let bytes = system + text.as_ref().map_or(0, |text| text.len() as u64);
            if tokens_of(bytes) <= most || !self.shorten_message() {
                return text;
            }
        }
    }

    /// Takes the largest part out of the message of the node. Returns false if there is nothing left to take out.
    fn shorten_message(&mut self) -> bool {
        let inputs = self.anchor.survey.iter_mut().flat_map(|survey| &mut survey.inputs);
        let shown = inputs.filter(|input| input.text.is_some());
        if let Some(largest) = shown.max_by_key(|input| input.text.as_ref().map(String::len)) {
            (largest.state, largest.text) = (InputState::Listed, None);
            return true;
        }
        !std::mem::replace(&mut self.anchor.leaves_step_out, true)
    }

    fn message_of_node(&self) -> Option<String> {
        let workflow = self.workflow()?;
        let node = workflow.graph.node(&self.run_state.current_node_id)?;
        let policy = self.policy();
        let survey = self.anchor.survey.clone().unwrap_or_default();
        let decisions = self.run_state.last_decisions.iter().rev();
        let left_along = decisions.into_iter().find(|decision| decision.from == node.id.as_str());
        let data = match &self.subject {
            Subject::Workflow { data, .. } => data.as_deref(),
            Subject::Conversation { .. } => None,
        };
        Some(prompt::node_message(&NodeMessage {
            directive: Directive {
                intent: self.anchor.intent,
                workflow,
                mode: self.settings.mode,
                state: policy.state_tool(),
            },
            introduces: !self.anchor.is_introduced,
            run_state: &self.run_state,
            last_call: self.anchor.last_call.as_deref(),
            said: &self.said.before,
            saved: self.saved_drafts(),
            data,
            config: self.bindings().map(|bindings| &**bindings),
            brief: Brief {
                workflow,
                node,
                variables: &self.run_state.variables,
                survey: &survey,
                progress: prompt::progress(&workflow.graph, &self.run_state),
                left_along,
                caller: self.called_by(),
                not_executed: &self.anchor.not_executed,
                state: policy.state_tool(),
                step_bytes: self.step_bytes(),
            },
        }))
    }

    fn message_of_completion(&self) -> Option<String> {
        let last = self
            .said
            .last
            .clone()
            .map(|asked| SaidExchange { asked: Some(asked), said: "".into() });
        let said: Vec<SaidExchange> = self.said.before.iter().cloned().chain(last).collect();
        let workflow = self.workflow()?;
        Some(prompt::post_run_message(self.anchor.intent, workflow, &self.run_state, &said))
    }

    /// Returns the workflow that called the active one.
    fn called_by(&self) -> Option<CalledBy<'_>> {
        let Caller { frame, .. } = self.callers().last()?;
        let workflow = self.workflow_at(self.callers().len() - 1)?;
        let call = workflow.calls.get(frame.node_id.as_str());
        let results = call.map(|call| call.result_variables.as_slice()).unwrap_or_default();
        Some(CalledBy { workflow, results })
    }

    /// Describes the return of a called workflow to its caller, for the next message.
    pub(super) fn note_return(&mut self, frame: &Frame, wrote: &[String], change: &StateChange) {
        let Frame { workflow_id, node_id, id } = frame;
        let depth = self.callers().len();
        let caller = self.workflow_at(depth);
        let call = caller.and_then(|caller| caller.calls.get(node_id.as_str()));
        let names = call.map(|call| call.result_variables.as_slice()).unwrap_or_default();
        let value = |name: &String| Some(format!("{name} {}", change.state.variables.get(name)?));
        let results: Vec<String> = names.iter().filter_map(value).collect();
        let mut parts = vec![results.join(", ")];
        if !wrote.is_empty() {
            parts.push(format!("wrote {}", wrote.join(", ")));
        }
        parts.retain(|part| !part.is_empty());
        let sign = if parts.is_empty() { "" } else { ": " };
        self.anchor.last_call =
            Some(format!("{workflow_id} (call {id}){sign}{}", parts.join("; ")));
    }

    /// Asks the model, unless a limit is reached.
    pub(super) fn ask_model(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        if let Some((reason, message)) = self.reached_limit(now) {
            self.stop(reason, Some(message), effects);
            return;
        }
        if let Some(change) = self.due() {
            self.change_frame(change, effects);
            return;
        }
        self.enter(Phase::Running, effects);
        if self.needs_survey() {
            self.survey(effects);
            return;
        }
        self.note_missing_tier(effects);
        self.fit_window();
        self.speak();
        self.context.set_system(self.system_layers());
        let cut = self.context.fit();
        if cut.is_some() {
            // An answer that points at them would point at nothing.
            Arc::make_mut(&mut self.known).forget_cut();
        }
        self.count_cut(cut);
        if let Some(cut) = self.cut.take() {
            let kind = EventKind::from(ContextCut { messages: cut.messages, bytes: cut.bytes });
            effects.push(tell(kind));
        }
        if !self.context.fits() {
            let window = self.context.window();
            self.reset_window();
            let message =
                format!("What the model must know does not fit its window of {window} tokens.");
            self.stop(Reason::LimitWindow, Some(message), effects);
            return;
        }
        let ask = self.ask();
        self.stance = Stance::Asking(ask.clone());
        effects.push(Effect::AskModel(ask));
    }

    /// Returns the system messages: what is the same over a whole run first.
    fn system_layers(&self) -> Vec<String> {
        let policy = self.policy();
        let agent = self.agent();
        let rules = match &self.subject {
            Subject::Workflow { .. } => RulesFor::Run(policy.state_tool()),
            Subject::Conversation { package, .. } => RulesFor::Conversation {
                has_package: package.is_some(),
                has_agent: agent.is_some(),
            },
        };
        let persona = agent.map(|agent| {
            // In a run the menu would only invite work past the workflow.
            let menu = prompt::menu(agent).filter(|_| self.workflow().is_none());
            [Some(prompt::persona(agent)), menu]
                .into_iter()
                .flatten()
                .collect::<Vec<_>>()
                .join("\n\n")
        });
        let imported = match &self.subject {
            Subject::Workflow { package, .. } => package.manifest().provenance.is_some(),
            Subject::Conversation { .. } => false,
        };
        let brief = self.workflow().zip(self.bindings());
        let layers = [
            Some(prompt::rules(rules)),
            imported.then(|| prompt::imported_rules().to_owned()),
            brief.and_then(|(workflow, bindings)| prompt::whole_brief(workflow, bindings)),
            prompt::tool_policy(&policy),
            persona,
        ];
        layers.into_iter().flatten().collect()
    }

    /// Returns why the next request, together with tools of `tool_bytes`, would exceed the window, by an estimate. A
    /// model that silently cuts its input would lose its rules.
    pub fn overflow(&self, tool_bytes: u64) -> Option<String> {
        let (tools, window) = (tokens_of(tool_bytes), self.window());
        let all = tokens_of(self.context.bytes()) + tools;
        (all > window).then(|| {
            format!(
                "The request would take about {all} tokens, {tools} of them for tools; the model's window has {window}. Allow fewer tools, or use a model with a larger window."
            )
        })
    }

    /// Returns the event of a reply that was cut short. At the time limit it is a signal, and the run waits there; a
    /// user who stops the run cuts it silently unless some text had arrived.
    pub fn cut_reply(turn: u64, is_late: bool, text: String) -> Option<EventKind> {
        let partial = Some(text).filter(|text| !text.is_empty());
        let by = if is_late { StoppedBy::Time } else { StoppedBy::User };
        let is_event = is_late || partial.is_some();
        is_event.then(|| EventKind::from(ModelStopped { turn, by, partial }))
    }

    /// Asks again with a shorter context, a few times: the window is smaller than declared.
    pub(super) fn overflowed(&mut self, why: &str, now: Timestamp, effects: &mut Vec<Effect>) {
        // The added messages belong to the failed request; a replaying process reports none.
        self.context.take_added();
        self.overflows += 1;
        if self.overflows <= MOST_OVERFLOWS {
            self.context.narrow();
            self.ask_model(now, effects);
            return;
        }
        self.overflows = 0;
        self.reset_window();
        self.stop(Reason::LimitWindow, Some(why.to_owned()), effects);
    }

    /// Stops the run because the time limit expired without a reply.
    pub(super) fn late(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        self.context.take_added();
        let (reason, message) = self.time_over(now);
        self.stop(reason, Some(message), effects);
    }

    /// Drops the node's messages from the context. What user and model said to each other is carried on.
    pub(super) fn leave_node(&mut self) {
        self.context.leave_node();
        self.said.before.append(&mut self.said.here);
        self.anchor.shown = ShownPosition::Nothing;
        self.anchor.survey = None;
        self.anchor.is_stale = false;
        self.anchor.changed_inputs.clear();
        self.anchor.leaves_step_out = false;
        self.known = Arc::default();
        self.stalling = Stalling::default();
        self.end_escalation();
    }

    fn count_cut(&mut self, cut: Option<Cut>) {
        if let Some(cut) = cut {
            let all = self.cut.get_or_insert_default();
            all.messages += cut.messages;
            all.bytes += cut.bytes;
        }
    }

    pub(super) fn ask(&self) -> Ask {
        let node = self.node_name();
        Ask {
            turn: self.replies + 1,
            node_turn: self.node_replies.get(&self.counted_as()).copied().unwrap_or(0) + 1,
            node_id: node.map(str::to_owned),
            agent_id: self.agent().map(|agent| agent.id.clone()),
            overflows: self.overflows,
            tier: self.tier(),
        }
    }

    /// Returns the key that counts the replies at this node: each frame counts its own.
    pub(super) fn counted_as(&self) -> (Option<FrameId>, String) {
        (self.frame(), self.node_name().unwrap_or_default().to_owned())
    }

    /// Returns the current node of the active workflow; none in a conversation.
    pub fn current_node(&self) -> Option<&Node> {
        self.workflow()?.graph.node(&self.run_state.current_node_id)
    }

    /// Returns the active node; none after completion, and in a conversation.
    pub fn node_name(&self) -> Option<&str> {
        let node = self.workflow().map(|_| self.run_state.current_node_id.as_str());
        node.filter(|_| !self.run_state.complete)
    }
}
