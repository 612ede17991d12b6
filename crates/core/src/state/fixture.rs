//! Packages in memory for the tests of this module.

use std::collections::BTreeMap;
use std::sync::Arc;

use crewagent_format::package::{Files, Workflow, check};
use crewagent_format::path::PackagePath;
use semver::Version;
use serde_json::{Value as Json, json};

struct Memory {
    sizes: BTreeMap<PackagePath, u64>,
    contents: BTreeMap<PackagePath, Arc<[u8]>>,
}

impl Files for Memory {
    fn sizes(&self) -> &BTreeMap<PackagePath, u64> {
        &self.sizes
    }

    fn read(&self, path: &PackagePath) -> Result<Arc<[u8]>, String> {
        self.contents.get(path).cloned().ok_or_else(|| "there is no such file".to_owned())
    }
}

/// Loads the default workflow of a package.
fn workflow<'f>(files: impl IntoIterator<Item = (String, &'f str)>) -> Workflow {
    let mut memory = Memory { sizes: BTreeMap::new(), contents: BTreeMap::new() };
    for (name, content) in files {
        let path = PackagePath::new(&name).unwrap();
        memory.sizes.insert(path.clone(), content.len() as u64);
        memory.contents.insert(path, content.as_bytes().into());
    }
    let checked = check(&memory, &Version::new(9, 0, 0));
    let found: Vec<_> = checked.findings.iter().map(|found| &found.message).collect();
    let package = checked.package.unwrap_or_else(|| panic!("{found:?}"));
    package.workflows()[0].clone()
}

macro_rules! example {
    ($package:literal, $($file:literal),* $(,)?) => {
        workflow([$((
            $file.to_owned(),
            include_str!(concat!("../../../../spec/examples/", $package, "/", $file)),
        )),*])
    };
}

/// Returns six nodes in a row, with outputs, a placeholder, and variables that must be set.
pub(super) fn create_story() -> Workflow {
    example!(
        "create-story-micro",
        "bmad.json",
        "agents.json",
        "workflow.md",
        "workflow.graph.json",
        "steps/step-01-select-story.md",
        "steps/step-02-discover-inputs.md",
        "steps/step-03-extract-context.md",
        "steps/step-04-generate-story.md",
        "steps/step-05-update-sprint-status.md",
        "steps/end-99.md",
    )
}

/// Returns a workflow with one decision and two conditions.
pub(super) fn hello_branch() -> Workflow {
    example!(
        "hello-branch",
        "bmad.json",
        "agents.json",
        "workflow.md",
        "workflow.graph.json",
        "steps/step-01-intake.md",
        "steps/step-02-decide-project-type.md",
        "steps/step-03a-greenfield.md",
        "steps/step-03b-brownfield.md",
        "steps/end-99.md",
    )
}

/// Returns a workflow with a loop, and two edges between the same nodes.
pub(super) fn draft_review() -> Workflow {
    const MANIFEST: &str = r#"{"schemaVersion": "1.1", "name": "x", "version": "1.0.0", "entry": {
        "workflow": "workflows/draft-review/workflow.md", "graph": "workflows/draft-review/workflow.graph.json", "agents": "agents.json"}}"#;
    macro_rules! file {
        ($file:literal) => {
            (
                $file.to_owned(),
                include_str!(concat!("../../../../spec/examples/multi-workflows/", $file)),
            )
        };
    }
    const AGENTS: &str = include_str!("../../../../spec/examples/multi-workflows/agents.json");
    let mut agents: Json = serde_json::from_str(AGENTS).unwrap();
    for agent in agents["agents"].as_array_mut().unwrap() {
        agent.as_object_mut().unwrap().remove("menu");
    }
    workflow([
        ("bmad.json".to_owned(), MANIFEST),
        ("agents.json".to_owned(), &agents.to_string()),
        file!("workflows/draft-review/workflow.md"),
        file!("workflows/draft-review/workflow.graph.json"),
        file!("workflows/draft-review/steps/step-01-draft.md"),
        file!("workflows/draft-review/steps/decide-02-review.md"),
        file!("workflows/draft-review/steps/step-03-revise.md"),
        file!("workflows/draft-review/steps/end-99.md"),
    ])
}

/// Node of a drawn graph: its id, its type, its outputs, and the variables it sets.
pub(super) struct Drawn<'a> {
    pub(super) id: &'a str,
    pub(super) kind: &'a str,
    pub(super) outputs: &'a [&'a str],
    pub(super) sets: &'a [&'a str],
}

/// Returns a step without outputs and variables.
pub(super) const fn step(id: &str) -> Drawn<'_> {
    Drawn { id, kind: "step", outputs: &[], sets: &[] }
}

/// Returns an end without outputs and variables.
pub(super) const fn end(id: &str) -> Drawn<'_> {
    Drawn { id, kind: "end", outputs: &[], sets: &[] }
}

/// Returns a workflow with these nodes and edges; an edge is JSON as in a graph. The first node is the entry.
pub(super) fn drawn(nodes: &[Drawn<'_>], edges: &Json) -> Workflow {
    drawn_with(nodes, edges, None)
}

/// Returns a workflow of format 1.3 in which a node has a gate.
pub(super) fn drawn_with_gate(
    nodes: &[Drawn<'_>],
    edges: &Json,
    (at, gate): (&str, &Json),
) -> Workflow {
    drawn_with(nodes, edges, Some((at, gate)))
}

fn drawn_with(nodes: &[Drawn<'_>], edges: &Json, gate: Option<(&str, &Json)>) -> Workflow {
    let version = if gate.is_some() { "1.3" } else { "1.1" };
    let agents: Json = json!({"schemaVersion": "1.1", "agents": [{
        "id": "a", "metadata": {"name": "A", "title": "A", "icon": "a"},
        "persona": {"role": "r", "identity": "i", "communication_style": "c", "principles": "p"}
    }]});
    let manifest = json!({"schemaVersion": version, "name": "drawn", "version": "1.0.0",
        "entry": {"workflow": "workflow.md", "graph": "workflow.graph.json", "agents": "agents.json"}});
    let graph_nodes: Vec<Json> = nodes
        .iter()
        .map(|node| {
            let file = format!("steps/{}.md", node.id);
            let mut drawn =
                json!({"id": node.id, "type": node.kind, "file": file, "outputs": node.outputs});
            if let Some((_, gate)) = gate.filter(|(at, _)| *at == node.id) {
                drawn["gate"] = gate.clone();
            }
            drawn
        })
        .collect();
    let entry = nodes.first().unwrap().id;
    let graph = json!({"schemaVersion": version, "entryNodeId": entry, "nodes": graph_nodes, "edges": edges});
    let mut files = vec![
        ("bmad.json".to_owned(), manifest.to_string()),
        ("agents.json".to_owned(), agents.to_string()),
        ("workflow.graph.json".to_owned(), graph.to_string()),
        ("workflow.md".to_owned(), TEMPLATE.to_owned()),
    ];
    for node in nodes {
        let text = format!(
            "---\nschemaVersion: \"1.1\"\nnodeId: {}\ntype: {}\nsetsVariables: {}\n---\n\n## Goal\n\nx\n\n## Instructions\n\nx\n",
            node.id,
            node.kind,
            json!(node.sets)
        );
        files.push((format!("steps/{}.md", node.id), text));
    }
    workflow(files.iter().map(|(name, content)| (name.clone(), content.as_str())))
}

const TEMPLATE: &str = "---\n# the state\nschemaVersion: \"1.1\"\nworkflowType: drawn   # kind\ncurrentNodeId: \"\"\nstepsCompleted: []\nvariables: {}\ndecisionLog: []\nartifacts: []\n---\n\n# Body\n\n--- not a fence\n";
