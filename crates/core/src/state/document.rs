//! The state document of a run: read from a file, or made from the template of a workflow when the run starts.

use std::fmt::Write as _;
use std::sync::Arc;

use crewagent_format::diagnostic::{Findings, Severity};
use crewagent_format::frontmatter::{Edit, EditError, Frontmatter};
use crewagent_format::package::Workflow;
use crewagent_format::package::graph::{Graph, NodeKind};
use crewagent_format::package::workflow::WorkflowFront;
use crewagent_format::text::{LineIndex, Span};
use serde_json::{Map, Value as Json};
use thiserror::Error;

use super::edits::{merge_variables, push, set};
use super::frame::CALL_STACK;
pub use super::next::{Next, allowed_next};
use crate::refusal::{Refusal, RefusalCode};

/// Path under which a model sees the document.
pub const STATE_FILE: &str = "@state/workflow.md";

/// Key, or variable, that holds the status of the workflow.
pub const STATUS: &str = "workflowStatus";

/// Value of `workflowStatus` that ends a run.
pub const COMPLETE: &str = "complete";

/// Value of `workflowStatus` of a called workflow that cannot be completed.
pub const FAILED: &str = "failed";

/// Key, or variable, that holds the reason of a failure.
pub const FAILURE_REASON: &str = "failureReason";

/// Maximum number of reported problems of a document.
const SHOWN: usize = 50;

/// State document that parses and has the right shape, with its exact bytes on disk.
#[derive(Clone, Debug)]
pub struct StateDocument {
    source: Frontmatter,
    front: WorkflowFront,
}

/// Values of a run's first document that are not in the template. Blank texts are left out.
#[derive(Clone, Debug, Default)]
pub struct InitialValues {
    pub run_id: String,
    pub project_name: String,
    pub user_name: String,
    /// Start of the run, as RFC 3339.
    pub now: String,
    pub active_agent_id: String,
    /// Reference to the workflow in its package.
    pub workflow_ref: String,
    /// Initial variables; they override the template's.
    pub variables: Map<String, Json>,
    /// Documents from outside, such as the artifacts of a calling workflow.
    pub input_documents: Vec<String>,
}

/// Reason why a text is not a state document.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DocumentError {
    /// The frontmatter does not parse.
    #[error("the frontmatter of {STATE_FILE} cannot be read: {}", listed(.0))]
    Syntax(Vec<DocumentProblem>),
    /// The frontmatter parses, but holds invalid values.
    #[error("the frontmatter of {STATE_FILE} has values that are not allowed: {}", listed(.0))]
    Shape(Vec<DocumentProblem>),
}

/// Text proposed as the state document: the parsed document, or the error.
pub type Proposed = Result<StateDocument, DocumentError>;

/// Mistake in a document.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DocumentProblem {
    /// Line number, from 1.
    pub line: usize,
    pub message: String,
    pub help: String,
}

/// Reason why a document cannot be changed as requested.
#[derive(Debug, PartialEq, Eq, Error)]
pub enum ChangeError {
    /// The document, or its edited version, is not a state document.
    #[error(transparent)]
    Document(#[from] DocumentError),
    /// The YAML cannot be edited.
    #[error("the document cannot be edited: {0}")]
    Edit(#[from] EditError),
}

impl StateDocument {
    /// Parses a document and reports all mistakes.
    pub fn read(text: impl Into<Arc<str>>) -> Proposed {
        let text: Arc<str> = text.into();
        match Frontmatter::parse(text.clone()) {
            Ok(source) => Self::from_frontmatter(source),
            Err(errors) => {
                let found = errors.into_iter().map(|error| (error.span, error.message, error.help));
                Err(DocumentError::Syntax(problems(&text, found)))
            }
        }
    }

    /// Builds a document from parsed frontmatter.
    pub fn from_frontmatter(source: Frontmatter) -> Proposed {
        let mut findings = Findings::default();
        let front = WorkflowFront::from_frontmatter(&source, STATE_FILE, &mut findings);
        match front.filter(|_| !findings.has_errors()) {
            Some(front) => Ok(Self { source, front }),
            None => {
                let errors = findings.iter().filter(|found| found.severity() == Severity::Error);
                let found = errors.map(|found| {
                    (
                        found.place.span.unwrap_or_default(),
                        found.message.clone(),
                        found.help.clone(),
                    )
                });
                Err(DocumentError::Shape(problems(source.text(), found)))
            }
        }
    }

    /// Returns the first document of a run: the template with the values of the run, every other byte kept. A blank or
    /// unknown `currentNodeId` becomes the entry node, so that the model reads its position; a blank `date` becomes
    /// today.
    pub fn start(workflow: &Workflow, values: &InitialValues) -> Result<Self, ChangeError> {
        let template = Self::read(workflow.document.clone())?;
        let mut edits = Vec::new();
        let known = template.front.current_node().filter(|id| workflow.graph.node(id).is_some());
        if known.is_none() {
            edits.push(set("currentNodeId", workflow.graph.entry().as_str()));
        }
        edits.extend(merge_variables(&template.front.variables, &values.variables));
        if template.source.tree().get(CALL_STACK).is_some() {
            edits.push(set(CALL_STACK, Json::Array(Vec::new())));
        }
        let mut fill = |key: &str, value: &str| {
            if !value.trim().is_empty() {
                edits.push(set(key, value));
            }
        };
        fill("runId", &values.run_id);
        fill("project_name", &values.project_name);
        fill("user_name", &values.user_name);
        fill("activeAgentId", &values.active_agent_id);
        fill("workflowRef", &values.workflow_ref);
        if template.has_blank("date") {
            fill("date", values.now.get(..10).unwrap_or_default());
        }
        fill("updatedAt", &values.now);
        edits.extend(
            values.input_documents.iter().map(|path| push("inputDocuments", path.as_str())),
        );
        template.edited(&edits)
    }

    /// Returns the same document for another run. A document without a run id stays unchanged.
    pub fn of_run(&self, run_id: &str) -> Result<Self, ChangeError> {
        match self.front.run_id {
            Some(_) => self.edited(&[set("runId", run_id)]),
            None => Ok(self.clone()),
        }
    }

    /// Returns the document with these edits; every other byte is kept.
    pub fn edited(&self, edits: &[Edit]) -> Result<Self, ChangeError> {
        Ok(Self::from_frontmatter(self.source.edited(edits)?)?)
    }

    /// Returns the whole text.
    pub fn text(&self) -> &Arc<str> {
        self.source.text()
    }

    /// Returns the frontmatter with its source positions.
    pub fn frontmatter(&self) -> &Frontmatter {
        &self.source
    }

    /// Returns the values of the frontmatter.
    pub fn front(&self) -> &WorkflowFront {
        &self.front
    }

    /// Returns the variables, which conditions and later steps read.
    pub fn variables(&self) -> &Map<String, Json> {
        &self.front.variables
    }

    /// Returns the current node. A blank `currentNodeId` means the entry node.
    pub fn current_node_id<'a>(&'a self, graph: &'a Graph) -> &'a str {
        self.front.current_node().unwrap_or(graph.entry().as_str())
    }

    /// Returns true if `workflowStatus` is `complete`, as a key of the frontmatter or as a variable.
    pub fn has_status_complete(&self) -> bool {
        let key = self.source.tree().get(STATUS).and_then(|entry| entry.tree.as_str());
        let variable = self.variables().get(STATUS).and_then(Json::as_str);
        [key, variable].into_iter().flatten().any(|status| status.trim() == COMPLETE)
    }

    /// Returns true if `workflowStatus` is `complete`, or the current node is a completed end node.
    pub fn is_complete(&self, graph: &Graph) -> bool {
        let current = self.current_node_id(graph);
        let at_end = graph.node(current).is_some_and(|node| node.kind == NodeKind::End);
        self.has_status_complete()
            || (at_end && self.front.steps_completed.iter().any(|done| done == current))
    }

    /// Returns the moves from the current node; none if the workflow is complete.
    pub fn allowed_next(&self, graph: &Graph) -> Vec<Next> {
        if self.is_complete(graph) {
            return Vec::new();
        }
        allowed_next(graph, self.current_node_id(graph), self.variables())
    }

    fn has_blank(&self, key: &str) -> bool {
        let blank = |value: Json| {
            value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
        };
        self.source.tree().get(key).is_some_and(|entry| blank(entry.tree.to_json()))
    }
}

impl DocumentError {
    /// Returns the problems.
    pub fn problems(&self) -> &[DocumentProblem] {
        match self {
            Self::Syntax(problems) | Self::Shape(problems) => problems,
        }
    }

    /// Returns the problems as one text.
    pub fn words(&self) -> String {
        listed(self.problems())
    }

    /// Returns the refusal for a model that wrote such a document.
    pub fn refusal(&self) -> Refusal {
        let (code, what) = match self {
            Self::Syntax(_) => (RefusalCode::InvalidFrontmatter, "cannot be read"),
            Self::Shape(_) => (RefusalCode::Schema, "has values that are not allowed"),
        };
        let message =
            format!("The frontmatter of {STATE_FILE} {what}: {}", listed(self.problems()));
        Refusal::new(code, message).hint("The file is unchanged; correct this and write again.")
    }
}

fn problems(
    text: &str,
    found: impl IntoIterator<Item = (Span, String, Option<String>)>,
) -> Vec<DocumentProblem> {
    let lines = LineIndex::new(text);
    let problem = |(span, message, help): (Span, String, Option<String>)| DocumentProblem {
        line: lines.position(text, span.start).line,
        message,
        help: help.unwrap_or_default(),
    };
    found.into_iter().map(problem).collect()
}

fn listed(problems: &[DocumentProblem]) -> String {
    let mut text = String::new();
    for problem in problems.iter().take(SHOWN) {
        let gap = if text.is_empty() { "" } else { "; " };
        // Writing into a string does not fail.
        let _ = write!(text, "{gap}line {}: {}", problem.line, problem.message);
        if !problem.help.is_empty() {
            let _ = write!(text, " ({})", problem.help);
        }
    }
    if problems.len() > SHOWN {
        let _ = write!(text, "; and {} more", problems.len() - SHOWN);
    }
    text.push('.');
    text
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::state::fixture;

    fn values() -> InitialValues {
        InitialValues {
            run_id: "run-1".into(),
            project_name: "Shop: new".into(),
            user_name: "Ana".into(),
            now: "2026-11-15T09:30:00Z".into(),
            active_agent_id: "sm".into(),
            workflow_ref: "workflow.md".into(),
            variables: json!({"topic": "login"}).as_object().unwrap().clone(),
            input_documents: Vec::new(),
        }
    }

    #[test]
    fn the_first_document_is_the_template_with_the_facts_of_the_run() {
        let workflow = fixture::create_story();
        let state = StateDocument::start(&workflow, &values()).unwrap();
        let template = Frontmatter::parse(workflow.document.clone()).unwrap();
        assert_eq!(state.frontmatter().body(), template.body());
        let expected = "---\nschemaVersion: \"1.1\"\nworkflowType: create-story\ncurrentNodeId: step-01-select-story\nstepsCompleted: []\nvariables:\n  topic: login\ndecisionLog: []\nartifacts: []\ninputDocuments: []\nrunId: run-1\nproject_name: \"Shop: new\"\nuser_name: Ana\nactiveAgentId: sm\nworkflowRef: workflow.md\nupdatedAt: \"2026-11-15T09:30:00Z\"\n---\n";
        assert!(state.text().starts_with(expected), "{}", state.text());
        assert_eq!(state.current_node_id(&workflow.graph), "step-01-select-story");
        assert!(!state.is_complete(&workflow.graph));
    }

    #[test]
    fn blank_facts_are_left_out_and_a_callers_artifacts_come_in() {
        let workflow = fixture::create_story();
        let values = InitialValues {
            input_documents: vec!["artifacts/a.md".into()],
            ..InitialValues::default()
        };
        let state = StateDocument::start(&workflow, &values).unwrap();
        assert_eq!(state.front().run_id, None);
        assert_eq!(state.front().updated_at, None);
        assert_eq!(state.front().input_documents, ["artifacts/a.md"]);
    }

    #[test]
    fn a_blank_date_becomes_today_and_a_template_that_stands_elsewhere_stays_there() {
        let mut workflow = fixture::create_story();
        let text =
            workflow.document.replace("currentNodeId: \"\"", "currentNodeId: end-99 # here\ndate:");
        workflow.document = text.into();
        let state = StateDocument::start(&workflow, &values()).unwrap();
        assert_eq!(state.front().date.as_deref(), Some("2026-11-15"));
        assert!(state.text().contains("currentNodeId: end-99 # here\n"), "{}", state.text());
    }

    #[test]
    fn a_blank_current_node_means_the_entry_node() {
        let workflow = fixture::create_story();
        let state = StateDocument::read(workflow.document.clone()).unwrap();
        assert_eq!(state.front().current_node(), None);
        assert_eq!(state.current_node_id(&workflow.graph), "step-01-select-story");
        assert_eq!(state.allowed_next(&workflow.graph).len(), 1);
    }

    fn check_complete(front: &str, expected: bool) {
        let workflow = fixture::create_story();
        let text = format!("---\nschemaVersion: \"1.1\"\nworkflowType: t\n{front}\n---\n");
        let state = StateDocument::read(text).unwrap();
        assert_eq!(state.is_complete(&workflow.graph), expected, "{front}");
    }

    #[test]
    fn a_run_is_complete_by_its_status_or_by_a_completed_end_node() {
        check_complete("currentNodeId: end-99\nstepsCompleted: []", false);
        check_complete("currentNodeId: end-99\nstepsCompleted: [end-99]", true);
        check_complete("currentNodeId: end-99\nstepsCompleted: []\nworkflowStatus: complete", true);
        check_complete(
            "currentNodeId: end-99\nstepsCompleted: []\nvariables: {workflowStatus: complete}",
            true,
        );
        check_complete("currentNodeId: end-99\nstepsCompleted: []\nworkflowStatus: running", false);
        check_complete("currentNodeId: \"\"\nstepsCompleted: [step-01-select-story]", false);
    }

    fn check_refused(text: &str, code: RefusalCode, says: &[&str]) {
        let refusal = StateDocument::read(text).unwrap_err().refusal();
        assert_eq!(refusal.code, code, "{refusal:?}");
        for part in says {
            assert!(refusal.message.contains(part), "{} lacks {part}", refusal.message);
        }
    }

    #[test]
    fn a_document_that_does_not_parse_is_refused_with_its_line() {
        check_refused("# no fence\n", RefusalCode::InvalidFrontmatter, &["line 1"]);
        check_refused("---\na: 1\n", RefusalCode::InvalidFrontmatter, &["never closed"]);
        check_refused("---\na: 1\nb: [1\n---\n", RefusalCode::InvalidFrontmatter, &["line "]);
    }

    #[test]
    fn every_value_that_the_schema_forbids_is_named() {
        let text = "---\nschemaVersion: \"9\"\nworkflowType: \"\"\nstepsCompleted: one\nupdatedAt: yesterday\ndecisionLog: [{from: a, why: b}]\n---\n";
        check_refused(
            text,
            RefusalCode::Schema,
            &[
                "line 2",
                "\"9\"",
                "workflowType",
                "currentNodeId",
                "stepsCompleted",
                "updatedAt",
                "why",
                "`to`",
                "`label`",
            ],
        );
    }
}
