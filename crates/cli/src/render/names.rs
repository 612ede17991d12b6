//! What people call the nodes and agents of a run.

use std::collections::BTreeMap;

use crewagent_core::package::agents::Agent;
use crewagent_core::package::graph::Node;
use crewagent_core::package::{Package, Workflow};

use crate::paint;

/// The names in a run. Without its package, ids have to do.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    workflow: Option<String>,
    titles: BTreeMap<String, String>,
    /// The titles of the nodes of workflows that can be called, by their ids.
    called: BTreeMap<String, BTreeMap<String, String>>,
    agents: BTreeMap<String, String>,
}

impl Names {
    pub(crate) fn new(package: &Package, workflow: &Workflow) -> Self {
        let listed = package.workflows().iter();
        let called = listed.filter_map(|own| Some((own.id.as_ref()?.to_string(), titles(own))));
        let agents = package.agents().iter().map(|agent| (agent.id.to_string(), full_name(agent)));
        let name = workflow.display_name.as_deref().filter(|name| !name.trim().is_empty());
        Self {
            workflow: Some(paint::printable(name.unwrap_or(&workflow.front.workflow_type))),
            titles: titles(workflow),
            called: called.collect(),
            agents: agents.collect(),
        }
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

    /// How many nodes a workflow that was called has; the run's own where none is named.
    pub(crate) fn total(&self, called: Option<&str>) -> usize {
        self.titles_in(called).map_or(0, BTreeMap::len)
    }

    /// The title of a node there; empty where it has none.
    pub(crate) fn title(&self, called: Option<&str>, node: &str) -> &str {
        let title = self.titles_in(called).and_then(|titles| titles.get(node));
        title.map(String::as_str).unwrap_or_default()
    }

    fn titles_in(&self, called: Option<&str>) -> Option<&BTreeMap<String, String>> {
        match called {
            Some(workflow) => self.called.get(workflow),
            None => Some(&self.titles),
        }
    }

    /// An agent with icon, name and title.
    pub(crate) fn agent(&self, id: &str) -> String {
        self.agents.get(id).cloned().unwrap_or_else(|| paint::printable(id))
    }
}

/// What people call the nodes of a workflow.
fn titles(workflow: &Workflow) -> BTreeMap<String, String> {
    let title = |node: &Node| node.title.as_deref().map(paint::printable).unwrap_or_default();
    workflow.graph.nodes().iter().map(|node| (node.id.to_string(), title(node))).collect()
}

pub(crate) fn full_name(agent: &Agent) -> String {
    let metadata = &agent.metadata;
    let name = format!("{} {}, {}", metadata.icon, metadata.name, metadata.title);
    paint::printable(name.trim())
}
