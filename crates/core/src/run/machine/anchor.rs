//! Telling the model its position: on start, on resume, with the user's input, and when the node changes.

use jiff::Timestamp;

use super::{Ask, Effect, Machine, Stance, Subject, tell};
use crate::context::{Cut, tokens_of};
use crate::event::{ContextCut, EventKind, ModelStopped, Phase, Reason, StoppedBy};
use crate::frame_id::FrameId;
use crate::policy::StateTool;
use crate::prompt::{self, ActiveNode, Autopilot, CalledBy, Directive, Protocol, StepText};
use crate::settings::Mode;
use crate::state::frame::Caller;

pub(super) use crate::prompt::RunIntent;

/// Position that the model was told.
#[derive(Clone, Debug)]
pub(super) struct AnchorPosition {
    /// Opening of the next directive.
    pub(super) intent: RunIntent,
    /// Part of the position that is already in the context.
    pub(super) shown: ShownPosition,
    /// Calls behind the move to this node, which were not carried out.
    pub(super) not_executed: Vec<String>,
}

/// Content of the context about the run's position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ShownPosition {
    Nothing,
    /// Protocol and step of the current node.
    Node,
    /// Completion of the workflow.
    Completed,
}

impl Default for AnchorPosition {
    fn default() -> Self {
        Self { intent: RunIntent::Start, shown: ShownPosition::Nothing, not_executed: Vec::new() }
    }
}

/// Number of times that a request that is too long is shortened.
const MOST_OVERFLOWS: u32 = 3;

impl Machine {
    /// Appends directive, brief and summary, except those already in the context.
    pub(super) fn anchor(&mut self) {
        // Another workflow becomes active before the next request, and is anchored then.
        if self.due().is_some() {
            return;
        }
        let Some(texts) = self.place_in_words() else { return };
        self.context.anchor(texts);
    }

    /// Returns the texts about the run's position; a conversation has none.
    fn place_in_words(&mut self) -> Option<Vec<String>> {
        self.workflow()?;
        let intent = std::mem::replace(&mut self.anchor.intent, RunIntent::Continue);
        let now =
            if self.run_state.complete { ShownPosition::Completed } else { ShownPosition::Node };
        let is_known = std::mem::replace(&mut self.anchor.shown, now) == now;
        let not_executed = std::mem::take(&mut self.anchor.not_executed);
        let workflow = self.workflow()?;
        let node = workflow.graph.node(&self.run_state.current_node_id);
        let place = match node.filter(|_| !self.run_state.complete) {
            Some(node) => ActiveNode::Node(node),
            None => ActiveNode::Completed,
        };
        let policy = self.policy();
        let directive = Directive {
            intent,
            workflow,
            active: place,
            agent: &self.agent()?.id,
            autopilot: match self.settings.mode {
                Mode::Autopilot => Autopilot::On,
                Mode::Guided => Autopilot::Off,
            },
            protocol: if is_known { Protocol::StandsAbove } else { Protocol::Included },
            state: policy.state_tool(),
            caller: self.called_by(),
        };
        let mut texts = vec![prompt::run_directive(&directive)];
        if let ActiveNode::Node(node) = place {
            let step_text = if is_known {
                StepText::StandsAbove
            } else {
                // A model that cannot read files gets the text here or not at all.
                let all = prompt::STEP_MAX_BYTES as u64;
                let up_to = self.settings.inline_step_bytes;
                StepText::Inline { up_to: if policy.fs.enabled { up_to } else { all } }
            };
            texts.push(prompt::node_brief(
                workflow,
                node,
                &self.run_state.variables,
                step_text,
                policy.state_tool(),
                &not_executed,
            ));
        }
        texts.push(prompt::state_summary(&self.run_state));
        if let Subject::Workflow { data: Some(data), .. } = &self.subject
            && !is_known
        {
            texts.push(data.to_string());
        }
        Some(texts)
    }

    /// Returns the workflow that called the active one.
    fn called_by(&self) -> Option<CalledBy<'_>> {
        let Caller { frame, .. } = self.callers().last()?;
        let workflow = self.workflow_at(self.callers().len() - 1)?;
        Some(CalledBy { workflow, node: &frame.node_id, frame: frame.id })
    }

    /// Asks the model, unless a limit is reached.
    pub(super) fn ask_model(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        if let Some((reason, message)) = self.allowance.exceeded(&self.settings.limits, now) {
            self.stop(reason, Some(message), effects);
            return;
        }
        if let Some(change) = self.due() {
            self.change_frame(change, effects);
            return;
        }
        self.enter(Phase::Running, effects);
        let policy = self.policy();
        let rules = match (&self.subject, policy.state_tool()) {
            (Subject::Workflow { .. }, StateTool::Runtime) => prompt::RulesFor::StrictRun,
            (Subject::Workflow { .. }, StateTool::Patch) => prompt::RulesFor::Run,
            (Subject::Conversation { .. }, _) => prompt::RulesFor::Conversation,
        };
        let mut layers = vec![prompt::base_rules(rules), prompt::tool_policy(&policy)];
        layers.extend(self.agent().map(prompt::persona));
        self.context.set_system(layers);
        let cut = self.context.fit();
        self.count_cut(cut);
        if let Some(cut) = self.cut.take() {
            let kind = EventKind::from(ContextCut { messages: cut.messages, bytes: cut.bytes });
            effects.push(tell(kind));
        }
        if !self.context.fits() {
            let window = self.context.window();
            self.context.set_window(self.settings.window_tokens);
            let message =
                format!("What the model must know does not fit its window of {window} tokens.");
            self.stop(Reason::LimitWindow, Some(message), effects);
            return;
        }
        let ask = self.ask();
        self.stance = Stance::Asking(ask.clone());
        effects.push(Effect::AskModel(ask));
    }

    /// Returns why the next request, together with tools of `tool_bytes`, would exceed the window, by an estimate. A
    /// model that silently cuts its input would lose its rules.
    pub fn overflow(&self, tool_bytes: u64) -> Option<String> {
        let (tools, window) = (tokens_of(tool_bytes), self.settings.window_tokens);
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
        self.context.set_window(self.settings.window_tokens);
        self.stop(Reason::LimitWindow, Some(why.to_owned()), effects);
    }

    /// Stops the run because the time limit expired without a reply.
    pub(super) fn late(&mut self, now: Timestamp, effects: &mut Vec<Effect>) {
        self.context.take_added();
        let message = self.allowance.time_over(now);
        self.stop(Reason::LimitTime, Some(message), effects);
    }

    /// Drops the node's messages from the context.
    pub(super) fn leave_node(&mut self) {
        let cut = self.context.leave_node();
        self.count_cut(cut);
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
        }
    }

    /// Returns the key that counts the replies at this node: each frame counts its own.
    pub(super) fn counted_as(&self) -> (Option<FrameId>, String) {
        (self.frame(), self.node_name().unwrap_or_default().to_owned())
    }

    /// Returns the active node; none after completion, and in a conversation.
    pub fn node_name(&self) -> Option<&str> {
        let node = self.workflow().map(|_| self.run_state.current_node_id.as_str());
        node.filter(|_| !self.run_state.complete)
    }
}
