//! The model that walks: it does at each node what the node asks for, and leaves along the planned edge.

use std::sync::{Arc, Mutex, PoisonError};

use crewagent_core::bindings::Bindings;
use crewagent_core::event::{
    Event, EventKind, FrameEvent, Reply, StateChange, StateEvent, ToolEvent,
};
use crewagent_core::frame_id::FrameId;
use crewagent_core::message::ToolCall;
use crewagent_core::run::machine::Rest;
use crewagent_engine::cancel::Deadline;
use crewagent_engine::model::{
    Model, ModelError, ModelErrorKind, Progress as ReplyProgress, Request, RequestCache,
};
use crewagent_format::package::{Package, Workflow};

use serde_json::Value as Json;

use super::condition::values_for;
use super::coverage::Coverage;
use super::visit::{VisitCalls, WalkedVisit};

/// Refusals in one visit after which the run is given up.
const MAX_REFUSALS: u32 = 6;

/// Model that walks. It shares its progress with the walk.
#[derive(Clone, Debug)]
pub(super) struct Walker(pub(super) Arc<Mutex<WalkProgress>>);

/// Progress over all runs of one workflow, and the place of the current run.
#[derive(Debug)]
pub(super) struct WalkProgress {
    package: Arc<Package>,
    /// Workflow that is walked.
    own: usize,
    pub(super) coverage: Coverage,
    bindings: Bindings,
    /// Called workflows, the innermost last.
    frames: Vec<WalkedFrame>,
    visit: WalkedVisit,
    /// Answer to the question that is asked next.
    answer: Option<String>,
    /// Last refusal since the last request.
    refusal: Option<String>,
}

/// Called workflow.
#[derive(Debug)]
struct WalkedFrame {
    id: FrameId,
    /// Index of the workflow.
    workflow: usize,
    /// Node of the caller that calls it.
    node: String,
}

impl WalkProgress {
    pub(super) fn new(package: Arc<Package>, own: usize) -> Self {
        Self {
            package,
            own,
            coverage: Coverage::default(),
            bindings: Bindings::default(),
            frames: Vec::new(),
            visit: WalkedVisit::default(),
            answer: None,
            refusal: None,
        }
    }

    /// Begins another run.
    pub(super) fn begin(&mut self, bindings: Bindings) {
        self.bindings = bindings;
        self.frames.clear();
        self.visit = WalkedVisit::default();
        (self.answer, self.refusal) = (None, None);
    }

    /// Returns true if another run could cover more.
    pub(super) fn has_more(&self) -> bool {
        let graph = &self.package.workflows()[self.own].graph;
        self.coverage.has_more(self.own, graph, graph.entry().as_str())
    }

    /// Takes note of an event.
    pub(super) fn watch(&mut self, event: &Event) {
        match &event.kind {
            EventKind::State(StateEvent::Entered(entered)) if !entered.again => {
                self.visit = WalkedVisit::default();
                self.coverage.reach(self.active(), &entered.node_id);
            }
            EventKind::State(StateEvent::Changed(change)) => self.moved(change),
            EventKind::Frame(FrameEvent::Entered(entered)) => {
                let workflow = self.index_of(&entered.frame.workflow_id);
                let (id, node) = (entered.frame.id, entered.frame.node_id.clone());
                self.frames.push(WalkedFrame { id, workflow, node });
            }
            EventKind::Frame(FrameEvent::Left(left)) => {
                self.frames.pop();
                self.moved(&left.change);
            }
            EventKind::Tool(ToolEvent::Finished(finished)) => {
                if finished.answer.refused.is_some() {
                    self.refusal =
                        Some(message_of(finished.answer.result.inline().map(|text| &**text)));
                }
            }
            EventKind::Run(_)
            | EventKind::Conversation(_)
            | EventKind::User(_)
            | EventKind::Frame(_)
            | EventKind::State(_)
            | EventKind::Model(_)
            | EventKind::Tool(_) => {}
        }
    }

    fn moved(&mut self, change: &StateChange) {
        let at = match change.frame {
            None => self.own,
            Some(id) => {
                let known = self.frames.iter().find(|frame| frame.id == id);
                known.map_or(self.own, |frame| frame.workflow)
            }
        };
        self.coverage.reach(at, &change.state.current_node_id);
        let Some(moved) = &change.moved else { return };
        let edges = self.package.workflows()[at].graph.edges();
        let index = edges.iter().position(|edge| {
            edge.from.as_str() == moved.from
                && edge.to.as_str() == moved.to
                && edge.label == moved.label
        });
        if let Some(index) = index {
            self.coverage.take(at, index);
        }
    }

    /// Returns the answer to the question of a rest; none if nothing was planned and nothing can be said.
    pub(super) fn answer(&mut self, rest: &Rest) -> Option<String> {
        match (self.answer.take(), &rest.question) {
            (Some(answer), _) => Some(answer),
            (None, Some(question)) => {
                let first = question.options.first().map(|option| option.value.clone());
                Some(first.unwrap_or_else(|| "yes".to_owned()))
            }
            (None, None) => None,
        }
    }

    /// Returns the index of the active workflow.
    fn active(&self) -> usize {
        self.frames.last().map_or(self.own, |frame| frame.workflow)
    }

    fn index_of(&self, workflow: &str) -> usize {
        let is_it = |one: &Workflow| one.id.as_ref().is_some_and(|id| id.as_str() == workflow);
        self.package.workflows().iter().position(is_it).unwrap_or(self.own)
    }

    /// Returns the calls that write what the calling node still needs, after a called workflow was completed.
    fn calls_before_return(&self, request: &Request) -> Vec<ToolCall> {
        let [.., frame] = self.frames.as_slice() else { return Vec::new() };
        let above = self.frames.len().checked_sub(2).and_then(|at| self.frames.get(at));
        let caller = above.map_or(self.own, |frame| frame.workflow);
        let workflow = &self.package.workflows()[caller];
        let Some(node) = workflow.graph.node(&frame.node) else { return Vec::new() };
        let visit_calls = VisitCalls {
            workflow,
            node,
            variables: &request.place.variables,
            bindings: &self.bindings,
            turn: request.place.turn,
        };
        visit_calls.outputs()
    }

    /// Returns the calls that answer a request.
    fn calls(&mut self, request: &Request) -> Result<Vec<ToolCall>, String> {
        let Some(node_id) = request.place.node_id.as_deref() else {
            return Ok(self.calls_before_return(request));
        };
        let at = self.active();
        let package = Arc::clone(&self.package);
        let workflow = &package.workflows()[at];
        let graph = &workflow.graph;
        let Some(node) = graph.node(node_id) else {
            return Err(format!("the run is at `{node_id}`, which is no node of the workflow"));
        };
        if let Some(why) = self.refusal.take() {
            self.visit.refusals += 1;
            if let Some(edge) = self.visit.edge {
                self.coverage.refuse(at, edge, &why);
            }
            if self.visit.refusals > MAX_REFUSALS {
                return Err(format!("`{node_id}`: {why}"));
            }
        }
        let visit_calls = VisitCalls {
            workflow,
            node,
            variables: &request.place.variables,
            bindings: &self.bindings,
            turn: request.place.turn,
        };
        if node.waits_for_user && !self.visit.has_asked {
            self.visit.has_asked = true;
            self.answer = Some("Go on as you think.".to_owned());
            return Ok(vec![visit_calls.ask()]);
        }
        let (index, values) = loop {
            let index = self.coverage.next(at, graph, node_id);
            let Some(edge) = index.map(|index| &graph.edges()[index]) else {
                break (None, serde_json::Map::new());
            };
            match values_for(edge, graph, &request.place.variables) {
                Some(values) => break (index, values),
                None => {
                    let why = "no value of its variables was found for which its condition holds";
                    index.into_iter().for_each(|index| self.coverage.refuse(at, index, why));
                }
            }
        };
        self.visit.edge = index;
        let edge = index.map(|index| &graph.edges()[index]);
        let gate = node.gate.as_deref().filter(|gate| {
            let is_covered = |key: &str| self.coverage.has_option(at, node_id, key);
            let is_new = gate.options.iter().any(|option| !is_covered(&option.key));
            is_new || edge.is_none_or(|edge| edge.gate.is_some())
        });
        let Some(gate) = gate else { return Ok(visit_calls.finish(edge, values)) };
        let is_covered = |key: &str| self.coverage.has_option(at, node_id, key);
        match self.visit.option(gate, edge, &is_covered) {
            Some(option) => {
                let calls = visit_calls.show(gate, values);
                self.answer = Some(option.key.clone());
                self.visit.chosen.insert(option.key.clone());
                self.coverage.choose(at, node_id, &option.key);
                Ok(calls)
            }
            None => Ok(visit_calls.finish(edge, values)),
        }
    }
}

/// Returns the message of a refusal.
fn message_of(result: Option<&str>) -> String {
    let result: Json = result.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let part = |name: &str| result.pointer(name).and_then(Json::as_str).unwrap_or_default();
    format!("{} {}", part("/error/code"), part("/error/message"))
}

impl Model for Walker {
    fn name(&self) -> &str {
        "walk"
    }

    fn reply(
        &self,
        request: &Request,
        _cache: &mut RequestCache,
        _tell: &mut dyn FnMut(ReplyProgress),
        _until: &Deadline,
    ) -> Result<Reply, ModelError> {
        let mut progress = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let calls = progress
            .calls(request)
            .map_err(|message| ModelError::new(ModelErrorKind::Script, message))?;
        let content = calls.is_empty().then(|| "The work is done.".to_owned());
        Ok(Reply { content, tool_calls: calls, ..Reply::default() })
    }
}
