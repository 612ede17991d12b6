//! Tests of every rule of the guard, each with the nearest legal change.

mod completion;
mod document;
mod law;
mod missing;
mod moves;
mod outputs;
mod record;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crewagent_format::package::Workflow;
use serde_json::{Value as Json, json};

use super::{
    Author, Confirmation, FoundOutput, MissingRule, Proposal, StateTransition, VisitOutputs,
    VisitVariables, check,
};
use crate::policy::StateTool;
use crate::refusal::{Refusal, RefusalCode};
use crate::state::document::{InitialValues, Proposed, StateDocument};
use crate::state::gate_visit::GateVisit;
use crate::state::patch::StateUpdate;
use crate::state::project_path::ProjectPath;
use crate::state::visit_files::{OutputRule, VisitFiles};

const NOW: &str = "2026-11-15T10:00:00Z";

/// Run in memory: its workflow, its state, and the files of its project.
struct Run {
    workflow: Workflow,
    state: StateDocument,
    files: Vec<String>,
    /// Files that the system does not let the run look at.
    denied: Vec<String>,
    created: Vec<ProjectPath>,
    /// Contents of files that are not text in the making; others have a text of their own.
    contents: BTreeMap<String, FoundOutput>,
    visit: VisitFiles,
    outputs: OutputRule,
    missing: MissingRule,
    gate: GateVisit,
    confirmation: Confirmation,
    tool: StateTool,
    /// Variables that were set before, in the same visit.
    set: BTreeSet<String>,
}

impl Run {
    fn new(workflow: Workflow) -> Self {
        let values = InitialValues {
            run_id: "run-1".into(),
            workflow_ref: "workflow.md".into(),
            now: "2026-11-15T09:00:00Z".into(),
            ..InitialValues::default()
        };
        let state = StateDocument::start(&workflow, &values).unwrap();
        Self {
            workflow,
            state,
            files: Vec::new(),
            denied: Vec::new(),
            created: Vec::new(),
            contents: BTreeMap::new(),
            visit: VisitFiles::default(),
            outputs: OutputRule::Exist,
            missing: MissingRule::Enforce,
            confirmation: Confirmation::Needed,
            gate: GateVisit::default(),
            tool: StateTool::Patch,
            set: BTreeSet::new(),
        }
    }

    /// Returns the same run at another node.
    fn at(mut self, node: &str) -> Self {
        self.state = self.edited(json!({"currentNodeId.set": node}));
        self
    }

    /// Returns the run with more in its state, legal or not. Variables count as set in this visit.
    fn with(mut self, update: Json) -> Self {
        self.set.extend(StateUpdate::parse(&update).unwrap().variables.keys().cloned());
        self.state = self.edited(update);
        self
    }

    fn having(mut self, files: &[&str]) -> Self {
        self.files.extend(files.iter().map(|file| (*file).to_owned()));
        self
    }

    fn with_missing(mut self, missing: MissingRule) -> Self {
        self.missing = missing;
        self
    }

    fn edited(&self, update: Json) -> StateDocument {
        self.applied(update).unwrap()
    }

    fn applied(&self, update: Json) -> Proposed {
        let update = StateUpdate::parse(&update).unwrap();
        StateDocument::from_frontmatter(update.apply(&self.state).unwrap())
    }

    /// Proposes a patch, as `fs.apply_patch` does.
    fn patch(&self, update: Json) -> Result<StateTransition, Refusal> {
        let StateUpdate { variables, keep, .. } = StateUpdate::parse(&update).unwrap();
        let named = variables.keys().cloned().collect::<Vec<_>>();
        self.propose_naming(&self.applied(update), &named, &keep)
    }

    /// Proposes a whole new text, as `fs.write` does.
    fn write(&self, text: impl Into<Arc<str>>) -> Result<StateTransition, Refusal> {
        self.propose(&StateDocument::read(text))
    }

    fn propose(&self, new: &Proposed) -> Result<StateTransition, Refusal> {
        self.propose_naming(new, &[], &[])
    }

    fn propose_naming(
        &self,
        new: &Proposed,
        named: &[String],
        keep: &[ProjectPath],
    ) -> Result<StateTransition, Refusal> {
        let exists = |path: &ProjectPath| {
            let is_named = |file: &String| file == path.as_str();
            (!self.denied.iter().any(is_named)).then(|| self.files.iter().any(is_named))
        };
        let look = |path: &ProjectPath| self.contents.get(path.as_str()).cloned();
        check(&Proposal {
            old: &self.state,
            new,
            workflow: &self.workflow,
            exists: &exists,
            created: &self.created,
            now: NOW,
            missing: self.missing,
            outputs: VisitOutputs { rule: self.outputs, visit: &self.visit, look: &look, keep },
            variables: VisitVariables { before: &self.set, named },
            confirmation: self.confirmation,
            gate: &self.gate,
            author: Author::Model(self.tool),
        })
    }

    /// Proposes the text with one part replaced, as an edit does.
    fn replace(&self, old: &str, new: &str) -> Result<StateTransition, Refusal> {
        assert!(self.state.text().contains(old), "{old:?} is not in {}", self.state.text());
        self.write(self.state.text().replacen(old, new, 1))
    }

    fn accept(&mut self, update: Json) -> StateTransition {
        let transition = self.patch(update).unwrap_or_else(|refusal| panic!("{refusal:?}"));
        self.state = transition.document().clone();
        transition
    }
}

/// Checks the code, the rule and the message of a refusal, which always names the position and the possible moves.
#[track_caller]
fn check_refused(
    result: Result<StateTransition, Refusal>,
    code: RefusalCode,
    rule: Option<&str>,
    says: &[&str],
) -> Refusal {
    let refusal = result.expect_err("it should have been refused");
    assert_eq!(refusal.code, code, "{refusal:?}");
    for part in says {
        assert!(refusal.message.contains(part), "{:?} lacks {part:?}", refusal.message);
    }
    let rules = refusal.details.get("violations").and_then(Json::as_array);
    let rules: Vec<&str> = rules.into_iter().flatten().filter_map(Json::as_str).collect();
    assert!(rule.is_none_or(|rule| rules.contains(&rule)), "{rules:?} lacks {rule:?}");
    assert!(refusal.details.contains_key("currentNodeId"), "{refusal:?}");
    assert!(refusal.details.contains_key("allowedNext"), "{refusal:?}");
    refusal
}

/// Checks that a refused transition breaks exactly one rule.
#[track_caller]
fn check_breaks(result: Result<StateTransition, Refusal>, rule: &str, says: &[&str]) {
    let refusal = check_refused(result, RefusalCode::Transition, Some(rule), says);
    let broken = refusal.details["violations"].as_array().unwrap();
    assert_eq!(broken.len(), 1, "{broken:?}");
}

#[track_caller]
fn check_accepted(result: Result<StateTransition, Refusal>) -> StateTransition {
    result.unwrap_or_else(|refusal| panic!("{refusal:?}"))
}
