//! Display names of the nodes and agents of a run.

use std::collections::BTreeMap;

use crewagent_format::package::agents::Agent;
use crewagent_format::package::graph::Node;
use crewagent_format::package::{Package, Workflow};

use crate::paint;

/// The display names of a run. Without its package, ids stand in.
#[derive(Clone, Debug, Default)]
pub(crate) struct DisplayNames {
    workflow: Option<String>,
    titles: BTreeMap<String, String>,
    /// The node titles of the subworkflows, by workflow id.
    called: BTreeMap<String, BTreeMap<String, String>>,
    agents: BTreeMap<String, String>,
}

impl DisplayNames {
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

    /// Collects the names for a conversation.
    pub(crate) fn of_package(package: &Package) -> Self {
        let agents = package.agents().iter().map(|agent| (agent.id.to_string(), full_name(agent)));
        Self { agents: agents.collect(), ..Self::default() }
    }

    /// Returns the name of the workflow.
    pub(crate) fn workflow(&self) -> Option<&str> {
        self.workflow.as_deref()
    }

    /// Returns the number of nodes of a subworkflow; without one, of the run's own workflow.
    pub(crate) fn total(&self, called: Option<&str>) -> usize {
        self.titles_in(called).map_or(0, BTreeMap::len)
    }

    /// Returns the title of a node; empty if it has none.
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

    /// Returns an agent's icon, name and title.
    pub(crate) fn agent(&self, id: &str) -> String {
        self.agents.get(id).cloned().unwrap_or_else(|| paint::printable(id))
    }
}

/// Collects the node titles of a workflow.
fn titles(workflow: &Workflow) -> BTreeMap<String, String> {
    let title = |node: &Node| node.title.as_deref().map(paint::printable).unwrap_or_default();
    workflow.graph.nodes().iter().map(|node| (node.id.to_string(), title(node))).collect()
}

pub(crate) fn full_name(agent: &Agent) -> String {
    let metadata = &agent.metadata;
    let name = format!("{} {}, {}", metadata.icon, metadata.name, metadata.title);
    paint::printable(name.trim())
}
