//! Packages for tests: in memory, and generated to any size.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use std::{fs, io};

use crewagent_format::package::Files;
use crewagent_format::path::{PackagePath, PathError};

/// The files of a package, in memory.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryFiles {
    sizes: BTreeMap<PackagePath, u64>,
    contents: BTreeMap<PackagePath, Arc<[u8]>>,
}

impl MemoryFiles {
    /// Makes these files. Fails if a name is no path of a package.
    pub fn new<N: AsRef<str>, C: AsRef<[u8]>>(
        files: impl IntoIterator<Item = (N, C)>,
    ) -> Result<Self, PathError> {
        let mut own = Self::default();
        for (name, content) in files {
            own.put(name.as_ref(), content)?;
        }
        Ok(own)
    }

    /// Reads the files below a folder of the repository.
    pub fn from_folder(folder: &Path) -> io::Result<Self> {
        let mut own = Self::default();
        own.add_folder(folder, "")?;
        Ok(own)
    }

    fn add_folder(&mut self, folder: &Path, prefix: &str) -> io::Result<()> {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.file_type()?.is_dir() {
                self.add_folder(&entry.path(), &format!("{name}/"))?;
            } else {
                self.put(&name, fs::read(entry.path())?).map_err(io::Error::other)?;
            }
        }
        Ok(())
    }

    /// Adds or replaces a file.
    pub fn put(&mut self, name: &str, content: impl AsRef<[u8]>) -> Result<(), PathError> {
        let path = PackagePath::new(name)?;
        self.sizes.insert(path.clone(), content.as_ref().len() as u64);
        self.contents.insert(path, content.as_ref().into());
        Ok(())
    }

    /// Returns a file as text; empty when there is none.
    pub fn text(&self, name: &str) -> String {
        self.contents
            .get(name)
            .map(|content| String::from_utf8_lossy(content).into_owned())
            .unwrap_or_default()
    }
}

impl Files for MemoryFiles {
    fn sizes(&self) -> &BTreeMap<PackagePath, u64> {
        &self.sizes
    }

    fn read(&self, path: &PackagePath) -> Result<Arc<[u8]>, String> {
        self.contents.get(path).cloned().ok_or_else(|| "there is no such file".to_owned())
    }
}

/// Returns a package without findings that has this many nodes, and as many of the edges as fit without a cycle.
///
/// The nodes form a row; more edges lead further ahead, from decisions.
pub fn generated(nodes: usize, edges: usize) -> Vec<(String, String)> {
    let nodes = nodes.max(1);
    let targets = targets(nodes, edges);
    let mut files = vec![
        ("bmad.json".to_owned(), MANIFEST.to_owned()),
        ("agents.json".to_owned(), AGENTS.to_owned()),
        ("workflow.md".to_owned(), WORKFLOW.to_owned()),
        ("workflow.graph.json".to_owned(), graph(&targets)),
    ];
    files.extend((0..nodes).map(|node| (file(node), step(node, &targets))));
    files
}

/// Returns the targets of each node.
fn targets(nodes: usize, edges: usize) -> Vec<Vec<usize>> {
    let mut targets: Vec<Vec<usize>> =
        (0..nodes).map(|node| (node + 1..nodes).take(1).collect()).collect();
    let mut left = edges.saturating_sub(nodes - 1);
    let mut reach = 2;
    while left > 0 && reach < nodes {
        for (node, targets) in targets.iter_mut().enumerate().take((nodes - reach).min(left)) {
            targets.push(node + reach);
        }
        left -= (nodes - reach).min(left);
        reach += 1;
    }
    targets
}

fn id(node: usize) -> String {
    format!("node-{node:05}")
}

fn file(node: usize) -> String {
    format!("steps/{:03}/{}.md", node / 100, id(node))
}

fn kind(targets: &[usize]) -> &'static str {
    match targets.len() {
        0 => "end",
        1 => "step",
        _ => "decision",
    }
}

fn label(node: usize, target: usize) -> String {
    if target == node + 1 { "next".to_owned() } else { format!("skip-{}", target - node - 1) }
}

fn graph(targets: &[Vec<usize>]) -> String {
    let mut text = format!(
        "{{\n  \"schemaVersion\": \"1.1\",\n  \"entryNodeId\": \"{}\",\n  \"nodes\": [",
        id(0)
    );
    for (node, targets) in targets.iter().enumerate() {
        let comma = if node == 0 { "" } else { "," };
        let (id, kind, file) = (id(node), kind(targets), file(node));
        // Writing into a string does not fail.
        let _ = write!(
            text,
            "{comma}\n    {{ \"id\": \"{id}\", \"type\": \"{kind}\", \"file\": \"{file}\", \"agentId\": \"worker\" }}"
        );
    }
    text.push_str("\n  ],\n  \"edges\": [");
    let mut comma = "";
    for (node, targets) in targets.iter().enumerate() {
        for target in targets {
            let (from, to, label) = (id(node), id(*target), label(node, *target));
            let default = *target == node + 1;
            let _ = write!(
                text,
                "{comma}\n    {{ \"from\": \"{from}\", \"to\": \"{to}\", \"label\": \"{label}\", \"isDefault\": {default} }}"
            );
            comma = ",";
        }
    }
    text.push_str("\n  ]\n}\n");
    text
}

fn step(node: usize, all: &[Vec<usize>]) -> String {
    let targets = &all[node];
    let mut text = format!(
        "---\nschemaVersion: \"1.1\"\nnodeId: {}\ntype: {}\ntitle: Node {node}\nagentId: worker\n",
        id(node),
        kind(targets)
    );
    if !targets.is_empty() {
        text.push_str("transitions:\n");
    }
    for target in targets {
        let (to, label, default) = (id(*target), label(node, *target), *target == node + 1);
        let _ = write!(text, "  - to: {to}\n    label: {label}\n    isDefault: {default}\n");
    }
    let _ = write!(
        text,
        "---\n\n# Node {node}\n\n## Goal\n\nDo the work of node {node} and write down what came of it.\n\n\
         ## Instructions\n\n1. Read what the node before has left.\n2. Do the work.\n3. Say which way to go on.\n"
    );
    text
}

const MANIFEST: &str = r#"{
  "schemaVersion": "1.1",
  "name": "generated",
  "version": "1.0.0",
  "description": "A package that was generated for a test.",
  "entry": { "workflow": "workflow.md", "graph": "workflow.graph.json", "agents": "agents.json" }
}
"#;

const AGENTS: &str = r#"{
  "schemaVersion": "1.1",
  "agents": [
    {
      "id": "worker",
      "metadata": { "name": "Wim", "title": "Worker", "icon": "🔧" },
      "persona": {
        "role": "Worker",
        "identity": "Does one node after the other.",
        "communication_style": "Short.",
        "principles": ["Finish what you begin."]
      },
      "menu": [{ "trigger": "work", "description": "Do the work", "workflow": "workflow.md" }]
    }
  ]
}
"#;

const WORKFLOW: &str = "---\nschemaVersion: \"1.1\"\nworkflowType: generated\ncurrentNodeId: \"\"\nstepsCompleted: []\n---\n\n# Generated\n";

#[cfg(test)]
mod tests {
    use crewagent_format::package::check;
    use semver::Version;

    use super::*;

    #[test]
    fn a_generated_package_has_no_findings() {
        for (nodes, edges) in [(1, 0), (2, 1), (3, 3), (10, 9), (10, 30), (200, 800)] {
            let files = MemoryFiles::new(generated(nodes, edges)).unwrap();
            let checked = check(&files, &Version::new(9, 0, 0));
            let found: Vec<_> =
                checked.findings.iter().map(|found| (found.code, &found.message)).collect();
            assert!(found.is_empty(), "{nodes} nodes: {found:?}");
            let package = checked.package.unwrap();
            assert_eq!(package.workflows()[0].graph.nodes().len(), nodes);
        }
    }

    #[test]
    fn a_generated_package_has_as_many_edges_as_asked_for() {
        for (nodes, edges) in [(2, 1), (10, 30), (5_000, 20_000)] {
            assert_eq!(targets(nodes, edges).iter().map(Vec::len).sum::<usize>(), edges);
        }
    }
}
