//! Packages: read whole, checked whole, and only then a value.

pub mod agents;
mod blank;
mod check;
mod document;
mod files;
pub mod gate;
pub mod graph;
mod lint;
pub mod manifest;
mod markdown;
pub mod older;
pub mod sketch;
pub mod step;
mod texts;
pub mod workflow;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use check::{Audience, Checked, check, check_for};
pub use files::Files;

use crate::diagnostic::Code;
use crate::id::{NodeId, WorkflowId};
use crate::path::PackagePath;
use crate::shape::{self, ShapeReader, Tolerance};
use crate::syntax::{Tree, Value};
use crate::version::{Minor, SchemaVersion};
use crate::wording::quoted;
use agents::Agent;
use graph::Graph;
use manifest::Manifest;
use step::Step;
use workflow::WorkflowFront;

/// Package without errors. Only [`check`] makes one.
#[derive(Clone, Debug)]
pub struct Package {
    manifest: Manifest,
    agents: Vec<Agent>,
    workflows: Vec<Workflow>,
}

/// Workflow of a package.
#[derive(Clone, Debug)]
pub struct Workflow {
    /// `None` for a default workflow that `workflows[]` does not list.
    pub id: Option<WorkflowId>,
    pub display_name: Option<String>,
    pub description: Option<String>,
    pub document_path: PackagePath,
    pub graph_path: PackagePath,
    pub graph: Graph,
    pub front: Arc<WorkflowFront>,
    /// Document as its author wrote it: the template of a run's state.
    pub document: Arc<str>,
    pub steps: Arc<BTreeMap<NodeId, Arc<Step>>>,
    /// Sub-workflow of each subworkflow node.
    pub calls: Arc<BTreeMap<NodeId, Subworkflow>>,
}

/// Call of another workflow.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Subworkflow {
    pub workflow: WorkflowId,
    /// True if the child starts with the parent's variables and artifacts.
    pub pass_context: bool,
    /// Variables to copy back when the child returns.
    pub result_variables: Vec<String>,
}

impl Package {
    /// Returns the manifest.
    pub fn manifest(&self) -> &Manifest {
        &self.manifest
    }

    /// Finds an agent by its id or its name, ignoring case.
    pub fn agent_named(&self, name: &str) -> Option<&Agent> {
        let wanted = name.trim().to_lowercase();
        self.agents().iter().find(|agent| {
            agent.id.as_str().to_lowercase() == wanted
                || agent.metadata.name.to_lowercase() == wanted
        })
    }

    /// Returns the agents, at least one.
    pub fn agents(&self) -> &[Agent] {
        &self.agents
    }

    /// Returns all workflows, the default one first.
    pub fn workflows(&self) -> &[Workflow] {
        &self.workflows
    }

    /// Finds a workflow by its id.
    pub fn workflow(&self, id: &str) -> Option<&Workflow> {
        self.workflows
            .iter()
            .find(|workflow| workflow.id.as_ref().is_some_and(|own| own.as_str() == id))
    }
}

impl Workflow {
    /// Returns the name for users: the display name, else the id, else a word for the default workflow.
    pub fn label(&self) -> &str {
        let id = self.id.as_ref().map(WorkflowId::as_str);
        self.display_name
            .as_deref()
            .filter(|name| !name.trim().is_empty())
            .or(id)
            .unwrap_or("default workflow")
    }
}

/// Reads `schemaVersion`. In frontmatter the number 1.1 counts as "1.1", with a warning.
fn versioned(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<SchemaVersion> {
    let text = match &tree.value {
        Value::Number(number) if reader.tolerance == Tolerance::Blank => {
            let text = number.to_string();
            if SchemaVersion::parse(&text).is_some() {
                let message =
                    format!("`schemaVersion` is the number {text}; it should be a string");
                reader.report(
                    Code::VersionAsNumber,
                    tree.span,
                    message,
                    format!("write schemaVersion: \"{text}\""),
                );
            }
            text
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::String(_)
        | Value::List(_)
        | Value::Map(_) => shape::string(tree, reader)?,
    };
    let version = SchemaVersion::parse(&text);
    if version.is_none() {
        let message = format!("the format version {} is not one this runtime reads", quoted(&text));
        reader.report(
            Code::UnsupportedSchema,
            tree.span,
            message,
            "use \"1.1\", \"1.2\" for sub-workflows, or \"1.3\" for gates and configuration",
        );
    }
    reader.minor = version.map_or(Minor::NEWEST, SchemaVersion::minor);
    version
}
