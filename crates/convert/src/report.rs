//! The report of a conversion, which the package carries as `import.json`.

use std::collections::BTreeMap;

use crewagent_format::diagnostic::Findings;
use crewagent_format::integrity::Digest;
use serde::Serialize;

use crate::agents::{AgentPlan, MenuCounts};
use crate::config::DeclaredConfig;
use crate::plan::{SourceRef, WorkflowPlan};
use crate::source_tree::SourceTree;

/// Path of the report in the package.
pub(crate) const REPORT_FILE: &str = "import.json";
/// Version of the importer: it changes when the same source gives another package.
const IMPORTER: &str = "1";
/// Findings that the report lists; all are counted.
const MAX_FINDINGS: usize = 2000;

/// Content of `import.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportReport {
    pub importer: String,
    /// Kind of the source: `installation`, `skills`, `tree`, `workflow` or `old-installation`.
    pub kind: String,
    /// Version of the source, if it says one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Digest of the files that were read.
    pub source_digest: String,
    /// Codes of the modules that are there.
    pub modules: Vec<String>,
    pub counts: ImportCounts,
    pub agents: Vec<ReportAgent>,
    pub workflows: Vec<ReportWorkflow>,
    /// Names that runs bind, with the places that declare them.
    pub config: BTreeMap<String, Option<String>>,
    /// Files by path in the source.
    pub files: BTreeMap<String, ReportFile>,
    /// Numbers of findings by code.
    pub finding_counts: BTreeMap<String, usize>,
    pub findings: Vec<ReportFinding>,
}

/// Numbers of what was converted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ImportCounts {
    pub agents: usize,
    pub menu_items: usize,
    /// Menu items that lead to something that is there.
    pub menu_items_resolved: usize,
    pub workflows: usize,
    pub nodes: usize,
    pub edges: usize,
    pub gates: usize,
}

/// Agent in the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportAgent {
    pub id: String,
    pub name: String,
    /// File in the source.
    pub file: String,
    /// Files that were merged into it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub customizations: Vec<String>,
}

/// Workflow in the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportWorkflow {
    pub id: String,
    pub title: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub module: Option<String>,
    /// Entry file in the source.
    pub entry: String,
    pub nodes: Vec<ReportNode>,
    pub edges: Vec<ReportEdge>,
    /// Bindings of the workflow.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bindings: BTreeMap<String, String>,
}

/// Node in the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ReportNode {
    pub id: String,
    /// Place in the source, as `file:first-last`; `None` for a node that the importer made.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<String>,
    /// Options of its gate with their places.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub options: Vec<ReportOption>,
    /// Bindings of the node.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bindings: BTreeMap<String, String>,
}

/// Option of a gate in the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportOption {
    pub key: String,
    pub label: String,
    pub at: String,
}

/// Edge in the report, with its evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportEdge {
    pub from: String,
    pub to: String,
    pub label: String,
    pub evidence: String,
    pub confidence: String,
    pub at: String,
}

/// File of the source in the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportFile {
    pub sha256: String,
    /// Use of the file: `node`, `agent`, `workflow`, `config`, `data`, `text` or `unused`.
    pub became: String,
    /// Path in the package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
}

/// Finding in the report.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReportFinding {
    pub code: String,
    pub severity: String,
    pub at: String,
    pub message: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub help: Option<String>,
}

/// Returns the digest of everything that was read: paths and contents, as for packages.
pub(crate) fn source_digest(tree: &SourceTree<'_>, overrides: Option<&[u8]>) -> Digest {
    let mut lines = String::new();
    for path in tree.read() {
        if let Some(bytes) = tree.bytes(path) {
            lines.push_str(&format!("{path}\0{}\n", Digest::of(bytes)));
        }
    }
    if let Some(overrides) = overrides {
        lines.push_str(&format!("\0overrides\0{}\n", Digest::of(overrides)));
    }
    Digest::of(lines.as_bytes())
}

impl ImportReport {
    /// Begins a report with what is known of the source.
    pub(crate) fn new(tree: &SourceTree<'_>, version: Option<String>, digest: Digest) -> Self {
        Self {
            importer: IMPORTER.to_owned(),
            kind: tree.shape().kind().map(|kind| kind.word()).unwrap_or_default().to_owned(),
            version,
            source_digest: digest.to_string(),
            modules: tree.modules().keys().cloned().collect(),
            ..Self::default()
        }
    }

    /// Adds workflows, agents and files.
    pub(crate) fn fill(
        &mut self,
        tree: &SourceTree<'_>,
        workflows: &[(String, WorkflowPlan)],
        agents: &[(String, AgentPlan)],
        config: &DeclaredConfig,
        menu: MenuCounts,
    ) {
        self.workflows = workflows.iter().map(|(id, plan)| workflow(id, plan)).collect();
        self.agents = agents
            .iter()
            .map(|(id, plan)| ReportAgent {
                id: id.clone(),
                name: plan.name.clone(),
                file: plan.file.clone(),
                customizations: plan.customizations.clone(),
            })
            .collect();
        self.config = config
            .0
            .iter()
            .map(|(name, plan)| {
                let at = plan.at.as_ref().map(|(file, line)| format!("{file}:{line}"));
                (name.clone(), at)
            })
            .collect();
        self.files = files(tree, workflows, agents);
        let nodes = || workflows.iter().flat_map(|(_, plan)| &plan.nodes);
        self.counts = ImportCounts {
            agents: agents.len(),
            menu_items: menu.items,
            menu_items_resolved: menu.resolved,
            workflows: workflows.len(),
            nodes: nodes().count(),
            edges: workflows.iter().map(|(_, plan)| plan.edges.len()).sum(),
            gates: nodes().filter(|node| node.gate.is_some()).count(),
        };
    }

    /// Adds the findings.
    pub(crate) fn add_findings(&mut self, findings: &Findings) {
        self.finding_counts = findings
            .counts()
            .iter()
            .map(|(code, count)| (code.as_str().to_owned(), *count))
            .collect();
        self.findings = findings
            .iter()
            .take(MAX_FINDINGS)
            .map(|found| {
                let file = &found.place.file;
                let at = match found.place.position {
                    Some(position) => format!("{file}:{}", position.line),
                    None => file.clone(),
                };
                ReportFinding {
                    code: found.code.as_str().to_owned(),
                    severity: found.severity().word().to_owned(),
                    at,
                    message: found.message.clone(),
                    help: found.help.clone(),
                }
            })
            .collect();
    }

    /// Writes the report as JSON.
    pub(crate) fn to_text(&self) -> String {
        let mut text = serde_json::to_string_pretty(self).unwrap_or_default();
        text.push('\n');
        text
    }
}

fn place(at: &SourceRef) -> String {
    let (first, last) = at.lines;
    if first == last {
        format!("{}:{first}", at.file)
    } else {
        format!("{}:{first}-{last}", at.file)
    }
}

fn workflow(id: &str, plan: &WorkflowPlan) -> ReportWorkflow {
    let nodes = plan.nodes.iter().map(|node| ReportNode {
        id: node.id.clone(),
        at: node.source.as_ref().map(place),
        options: node
            .gate
            .iter()
            .flat_map(|gate| &gate.options)
            .map(|option| ReportOption {
                key: option.key.clone(),
                label: option.label.clone(),
                at: place(&option.at),
            })
            .collect(),
        bindings: node.bindings.clone(),
    });
    let edges = plan.edges.iter().map(|edge| ReportEdge {
        from: edge.from.clone(),
        to: edge.to.clone(),
        label: edge.label.clone(),
        evidence: edge.evidence.class.word().to_owned(),
        confidence: edge.evidence.class.confidence().to_owned(),
        at: place(&edge.evidence.at),
    });
    ReportWorkflow {
        id: id.to_owned(),
        title: plan.title.clone(),
        module: plan.module.clone(),
        entry: plan.entry.file.clone(),
        nodes: nodes.collect(),
        edges: edges.collect(),
        bindings: plan.bindings.clone(),
    }
}

fn files(
    tree: &SourceTree<'_>,
    workflows: &[(String, WorkflowPlan)],
    agents: &[(String, AgentPlan)],
) -> BTreeMap<String, ReportFile> {
    let mut became: BTreeMap<&str, &str> = BTreeMap::new();
    for (_, plan) in workflows {
        for file in plan.files.values() {
            became.insert(file, "data");
        }
        became.insert(&plan.entry.file, "workflow");
    }
    for node in workflows.iter().flat_map(|(_, plan)| &plan.nodes) {
        became.extend(node.source.as_ref().map(|source| (source.file.as_str(), "node")));
    }
    for (_, agent) in agents {
        became.insert(&agent.file, "agent");
        became.extend(agent.customizations.iter().map(|file| (file.as_str(), "config")));
    }
    let describe = |path: &str| {
        let own = tree.double_of(path).unwrap_or(path);
        if let Some(word) = became.get(own) {
            return *word;
        }
        if tree.is_configuration(path) || path.ends_with("module.yaml") || path == "package.json" {
            return "config";
        }
        if tree.package_path(path).is_none() {
            return "unused";
        }
        if path.ends_with(".md") { "text" } else { "data" }
    };
    tree.read()
        .map(|path| {
            let digest = tree.bytes(path).map(|bytes| Digest::of(bytes).to_string());
            let file = ReportFile {
                sha256: digest.unwrap_or_default(),
                became: describe(path).to_owned(),
                path: tree.package_path(path).map(str::to_owned),
            };
            (path.to_owned(), file)
        })
        .collect()
}
