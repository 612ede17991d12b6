//! What people call the nodes and agents of a run.

use std::collections::BTreeMap;

use crewagent_core::package::agents::Agent;
use crewagent_core::package::{Package, Workflow};

use crate::paint;

/// The names in a run. Without its package, ids have to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    workflow: Option<String>,
    titles: BTreeMap<String, String>,
    agents: BTreeMap<String, String>,
}

impl Names {
    pub(crate) fn new(package: &Package, workflow: &Workflow) -> Self {
        let titles = workflow.graph.nodes().iter().map(|node| {
            (node.id.to_string(), node.title.as_deref().map(paint::printable).unwrap_or_default())
        });
        let agents = package.agents().iter().map(|agent| (agent.id.to_string(), full_name(agent)));
        let name = workflow.display_name.as_deref().filter(|name| !name.trim().is_empty());
        let workflow = paint::printable(name.unwrap_or(&workflow.front.workflow_type));
        Self { workflow: Some(workflow), titles: titles.collect(), agents: agents.collect() }
    }

    /// The names in a conversation.
    pub(crate) fn of_package(package: &Package) -> Self {
        let agents = package.agents().iter().map(|agent| (agent.id.to_string(), full_name(agent)));
        Self { agents: agents.collect(), ..Self::default() }
    }

    /// What the workflow is called.
    pub(crate) fn workflow(&self) -> Option<&str> {
        self.workflow.as_deref()
    }

    /// How many nodes the workflow has.
    pub(crate) fn total(&self) -> usize {
        self.titles.len()
    }

    /// The title of a node; empty where it has none.
    pub(crate) fn title(&self, node: &str) -> &str {
        self.titles.get(node).map(String::as_str).unwrap_or_default()
    }

    /// An agent with icon, name and title.
    pub(crate) fn agent(&self, id: &str) -> String {
        self.agents.get(id).cloned().unwrap_or_else(|| paint::printable(id))
    }
}

pub(crate) fn full_name(agent: &Agent) -> String {
    let metadata = &agent.metadata;
    let name = format!("{} {}, {}", metadata.icon, metadata.name, metadata.title);
    paint::printable(name.trim())
}
