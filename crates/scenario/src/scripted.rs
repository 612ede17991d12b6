//! The scripted model: a scenario file answers, by node, turn and user input. For demos, tests and documents.
//!
//! It keeps no state between two requests: its answer depends on the request and the file alone, so it resumes
//! correctly after a crash and can serve any number of runs. The file's shape is described in `docs/scenarios.md`.

mod error;
mod pace;
mod read;
mod reading;
mod render;
mod scenario;
mod template;
#[cfg(test)]
mod tests;
mod view;
mod when;

use std::io::Read as _;
use std::path::Path;

use crewagent_core::event::{Channel, Reply};
use crewagent_format::wording::nearest;

use self::pace::Teller;
use self::scenario::{ReplyFault, Scenario, ScriptLine, ScriptTurn};
use self::view::RequestView;
use crewagent_engine::cancel::Deadline;
use crewagent_engine::model::{
    Model, ModelError, ModelErrorKind, Progress, Request, RequestCache, TurnPosition,
};

pub(crate) use self::read::misspelled_tool;

pub use self::error::{ScenarioError, ScriptProblem};
pub use self::pace::Pace;

/// Maximum size of a scenario, in bytes.
const MAX_BYTES: u64 = 4 << 20;

/// Placeholder for a node after a called workflow is complete and before it returns.
pub(crate) const COMPLETE: &str = "complete";

/// Model that answers from a scenario.
#[derive(Debug)]
pub struct Scripted {
    file: String,
    scenario: Scenario,
    pace: Option<Pace>,
}

impl Scripted {
    /// Reads a scenario file.
    pub fn load(path: &Path) -> Result<Self, ScenarioError> {
        let name = path.display().to_string();
        let unreadable = |source| ScenarioError::Unreadable { name: name.clone(), source };
        let mut text = String::new();
        let file = std::fs::File::open(path).map_err(unreadable)?;
        file.take(MAX_BYTES + 1).read_to_string(&mut text).map_err(unreadable)?;
        Self::parse(&name, &text)
    }

    /// Parses a scenario. Mistakes are reported under this name.
    pub fn parse(name: &str, text: &str) -> Result<Self, ScenarioError> {
        let wrong = |problems| ScenarioError::Wrong { name: name.to_owned(), problems };
        if text.len() as u64 > MAX_BYTES {
            let message = format!("a scenario may have {MAX_BYTES} bytes, and this one has more");
            return Err(wrong(vec![ScriptProblem { line: 1, message }]));
        }
        let scenario = read::scenario(text).map_err(wrong)?;
        Ok(Self { file: name.to_owned(), scenario, pace: None })
    }

    /// Sets the pace of replies for which the scenario gives none.
    #[must_use]
    pub fn paced(mut self, pace: Pace) -> Self {
        self.pace = Some(pace);
        self
    }

    /// Returns the title of the scenario.
    pub fn title(&self) -> &str {
        &self.scenario.title
    }

    /// Returns the scenario's reply for this position.
    fn line(&self, view: &RequestView<'_>) -> Result<&ScriptLine, ModelError> {
        let place = view.place();
        let turns = match &place.node_id {
            Some(node) => self.at_node(place, node),
            None if place.is_conversation => &self.scenario.chat,
            None if place.frame.is_some() => match self.at_node(place, COMPLETE) {
                [] => &self.scenario.complete,
                turns => turns,
            },
            None => &self.scenario.complete,
        };
        match at(turns, place.node_turn) {
            Some(turn) => self.choice(turn, view),
            None => self.scenario.otherwise.as_ref().ok_or_else(|| self.nothing_left(place)),
        }
    }

    /// Returns the turns at a node: for this very call, for this workflow, or for any node of that name.
    fn at_node(&self, place: &TurnPosition, node: &str) -> &[ScriptTurn] {
        let nodes = &self.scenario.nodes;
        let of_workflow = place.workflow.as_ref().and_then(|workflow| {
            let of_call =
                place.frame.and_then(|frame| nodes.get(&format!("{workflow}#{frame}/{node}")));
            of_call.or_else(|| nodes.get(&format!("{workflow}/{node}")))
        });
        of_workflow.or_else(|| nodes.get(node)).map(Vec::as_slice).unwrap_or_default()
    }

    fn choice<'s>(
        &'s self,
        turn: &'s ScriptTurn,
        view: &RequestView<'_>,
    ) -> Result<&'s ScriptLine, ModelError> {
        let mut reasons = Vec::new();
        for choice in &turn.choices {
            match choice.when.mismatch(view) {
                None => return Ok(&choice.line),
                Some(reason) => reasons.push(reason),
            }
        }
        Err(self.derailed(view.place(), turn.line, &reasons.join("; or: ")))
    }

    fn nothing_left(&self, place: &TurnPosition) -> ModelError {
        let hint = match self.misspelled_node(place) {
            Some(name) => format!("It has replies for `{name}`: correct the name"),
            None => "Add one to the file".to_owned(),
        };
        script(format!(
            "The scenario {} has no reply left for {}. {hint}, or give it `otherwise`.",
            self.file,
            position(place)
        ))
    }

    /// Returns the name in the file that looks like this node, if the file has no replies for the node.
    fn misspelled_node(&self, place: &TurnPosition) -> Option<&str> {
        let node = place.node_id.as_deref().filter(|node| self.at_node(place, node).is_empty())?;
        nearest(node, self.scenario.nodes.keys().map(String::as_str))
    }

    fn derailed(&self, place: &TurnPosition, line: usize, why: &str) -> ModelError {
        script(format!(
            "The run left the scenario {}: the reply of line {line} does not fit {}: {why}.",
            self.file,
            position(place)
        ))
    }
}

impl Model for Scripted {
    fn name(&self) -> &str {
        "scripted"
    }

    fn reply(
        &self,
        request: &Request,
        _cache: &mut RequestCache,
        tell: &mut dyn FnMut(Progress),
        until: &Deadline,
    ) -> Result<Reply, ModelError> {
        let view = RequestView::of(request);
        let line = self.line(&view)?;
        let derailed = |why: String| self.derailed(&request.place, line.line, &why);
        let reply = render::reply(line, &view, request).map_err(derailed)?;
        let pace = line.pace.or(self.scenario.pace).or(self.pace);
        let mut teller = Teller { tell, until, pace };
        if let Some(think) = &line.think {
            teller.speak(Channel::Thinking, &think.text(&view).map_err(derailed)?)?;
        }
        teller.speak(Channel::Text, reply.content.as_deref().unwrap_or_default())?;
        match &line.fault {
            None => Ok(reply),
            Some(ReplyFault::Hang) => Err(teller.hang()),
            Some(ReplyFault::Fail { kind, message }) => {
                Err(ModelError::new(*kind, message.clone()))
            }
        }
    }
}

/// Returns the turn that answers the n-th request, counted from 1.
fn at(turns: &[ScriptTurn], number: u64) -> Option<&ScriptTurn> {
    let mut last = 0_u64;
    turns.iter().find(|turn| {
        last = last.saturating_add(turn.times);
        number >= 1 && number <= last
    })
}

fn position(place: &TurnPosition) -> String {
    let node = match &place.node_id {
        Some(node) => match (&place.workflow, place.frame) {
            (Some(workflow), Some(frame)) => format!("at node `{workflow}#{frame}/{node}`"),
            (_, _) => format!("at node `{node}`"),
        },
        None if place.is_conversation => "in the conversation".to_owned(),
        None => "after completion".to_owned(),
    };
    format!("turn {} (request {} {node})", place.turn, place.node_turn)
}

fn script(message: String) -> ModelError {
    ModelError::new(ModelErrorKind::Script, message)
}
