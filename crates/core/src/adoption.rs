//! Adoption: a run that continues with a half-done document instead of beginning anew.

use std::collections::BTreeSet;

use crewagent_format::package::Workflow;
use crewagent_format::package::graph::NodeKind;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::question::{Question, QuestionKind, QuestionOption};
use crate::state::mirror::recorded_nodes;

/// Answer that continues at the first step that is not recorded.
const GO_ON: &str = "go on";
/// Answer that begins at the entry.
const BEGIN_ANEW: &str = "begin anew";
/// Answer that begins at the workflow's own step for going on.
const OWN_STEP: &str = "the workflow's own way";

/// Document that records steps of a workflow that was not finished.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "ts", derive(ts_rs::TS))]
pub struct Adoption {
    /// The document, from the root of the project.
    pub file: String,
    /// Nodes that are done, in the order of the workflow.
    pub done: Vec<String>,
    /// Number of nodes that the document records.
    #[schemars(with = "u32")]
    pub recorded: usize,
    /// First node that is not done.
    pub next: String,
    /// Node by which the workflow itself continues, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub own: Option<String>,
}

/// Choice of the user about a half-done document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AdoptChoice {
    GoOn,
    BeginAnew,
    OwnStep,
}

impl Adoption {
    /// Reads what a document records. None if it records nothing, or everything.
    pub fn of(workflow: &Workflow, file: &str, text: &str) -> Option<Self> {
        let recorded: BTreeSet<String> = recorded_nodes(workflow, text)?.into_iter().collect();
        if recorded.is_empty() {
            return None;
        }
        let (done, next) = walk(workflow, &recorded)?;
        let is_resume = |id: &str| {
            let step = workflow.steps.iter().find(|(own, _)| own.as_str() == id);
            step.is_some_and(|(_, step)| step.front.resume_only)
        };
        let nodes = workflow.graph.nodes().iter().map(|node| node.id.as_str());
        Some(Self {
            file: file.to_owned(),
            done,
            recorded: recorded.len(),
            next,
            own: nodes.into_iter().find(|id| is_resume(id)).map(str::to_owned),
        })
    }

    /// Returns the question with which a run begins.
    pub fn question(&self) -> Question {
        let option = |value: &str, label: String| QuestionOption {
            value: value.to_owned(),
            label: Some(label),
            ..QuestionOption::default()
        };
        let mut options = vec![
            option(GO_ON, format!("Go on at {}", self.next)),
            option(BEGIN_ANEW, "Begin anew".to_owned()),
        ];
        if let Some(own) = &self.own {
            options.push(option(OWN_STEP, format!("Let the workflow look itself ({own})")));
        }
        let steps = if self.recorded == 1 { "step" } else { "steps" };
        Question {
            question: format!(
                "{} records {} {steps} of this workflow as done. Go on with it?",
                self.file, self.recorded
            ),
            kind: QuestionKind::Choice,
            options,
            ..Question::default()
        }
    }

    /// Reads the user's answer. The error is a sentence for the user.
    pub fn answer(&self, words: &str) -> Result<AdoptChoice, String> {
        let question = self.question();
        match crate::question::agreement::yes_or_no(words) {
            Some(true) => return Ok(AdoptChoice::GoOn),
            Some(false) => return Ok(AdoptChoice::BeginAnew),
            None => {}
        }
        let value = question.answer(words)?;
        Ok(match value.as_str() {
            Some(GO_ON) => AdoptChoice::GoOn,
            Some(OWN_STEP) => AdoptChoice::OwnStep,
            Some(_) | None => AdoptChoice::BeginAnew,
        })
    }

    /// Returns the node where the run continues; none for the entry.
    pub fn node(&self, choice: AdoptChoice) -> Option<&str> {
        match choice {
            AdoptChoice::GoOn => Some(&self.next),
            AdoptChoice::OwnStep => self.own.as_deref(),
            AdoptChoice::BeginAnew => None,
        }
    }
}

/// Returns the nodes on the way from the entry over all recorded ones, and the first one behind them. None if the way
/// ends.
fn walk(workflow: &Workflow, recorded: &BTreeSet<String>) -> Option<(Vec<String>, String)> {
    let graph = &workflow.graph;
    let values = workflow.front.mirror.as_ref().map(|mirror| &mirror.values)?;
    let mut at = graph.entry().as_str();
    let mut done: Vec<String> = Vec::new();
    loop {
        let left = recorded.iter().any(|id| !done.contains(id));
        let is_recorded = recorded.contains(at);
        // A node that never records itself lies on the way as long as a recorded one comes behind it.
        let is_passed = is_recorded || (left && !values.contains_key(at));
        let node = graph.node(at)?;
        if !is_passed || done.iter().any(|id| id == at) {
            let is_over = node.kind == NodeKind::End && !values.contains_key(at);
            return (!is_over).then(|| (done, at.to_owned()));
        }
        done.push(at.to_owned());
        let ways: Vec<&str> = graph
            .outgoing(at)
            .filter(|edge| {
                let step = workflow.steps.get(&edge.to);
                !step.is_some_and(|step| step.front.resume_only)
            })
            .map(|edge| edge.to.as_str())
            .filter(|to| !done.iter().any(|id| id == to))
            .collect();
        let remaining: Vec<&str> = recorded
            .iter()
            .map(String::as_str)
            .filter(|id| !done.iter().any(|one| one == id))
            .collect();
        let default = graph.outgoing(at).find(|edge| edge.is_default).map(|edge| edge.to.as_str());
        let leads = |to: &&str| leads_to(workflow, to, &remaining, &done);
        let next = ways
            .iter()
            .copied()
            .find(|to| recorded.contains(*to))
            .or_else(|| ways.iter().copied().find(leads))
            .or_else(|| default.filter(|to| ways.contains(to)))
            .or_else(|| {
                let is_end =
                    |to: &str| graph.node(to).is_some_and(|node| node.kind == NodeKind::End);
                ways.iter().copied().find(|to| !is_end(to)).or(ways.first().copied())
            });
        at = next?;
    }
}

/// Returns true if a way leads from a node to one of the others, without those that are done.
fn leads_to(workflow: &Workflow, from: &str, to: &[&str], done: &[String]) -> bool {
    let mut seen: BTreeSet<&str> = done.iter().map(String::as_str).collect();
    let mut open = vec![from];
    while let Some(at) = open.pop() {
        if to.contains(&at) {
            return true;
        }
        if let Some(node) = workflow.graph.node(at)
            && seen.insert(node.id.as_str())
        {
            open.extend(workflow.graph.outgoing(node.id.as_str()).map(|edge| edge.to.as_str()));
        }
    }
    false
}
