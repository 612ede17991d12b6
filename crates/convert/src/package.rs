//! The package that is made of a source.

mod lists;
mod texts;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crewagent_format::code::Code;
use crewagent_format::path::PackagePath;
use serde_json::{Map, Value as Json, json};

use crate::agents::AgentPlan;
use crate::config::DeclaredConfig;
use crate::plan::{EdgePlan, GatePlan, NodePlan, OptionEffect, WorkflowPlan};
use crate::recorder::ImportRecorder;
use crate::source_tree::SourceTree;

pub(crate) use lists::needed as needed_lists;

/// Version of the format of everything that is written.
const SCHEMA: &str = "1.3";
/// Most files of a package; its gate has the same limit.
const MAX_FILES: usize = 20_000;
/// Most bytes of texts that are written, besides copies; packages may have no more.
const MAX_TEXT_BYTES: usize = 60 * 1024 * 1024;

/// Everything that goes into a package.
pub(crate) struct PackagePlan<'a> {
    pub(crate) tree: &'a SourceTree<'a>,
    pub(crate) name: String,
    pub(crate) version: String,
    pub(crate) description: String,
    /// Plans with their ids; the first is the default workflow.
    pub(crate) workflows: Vec<(String, WorkflowPlan)>,
    /// Ids of workflows by the files that they were made of.
    pub(crate) ids: BTreeMap<String, String>,
    pub(crate) agents: Vec<(String, AgentPlan)>,
    /// Agents as the format wants them.
    pub(crate) agents_json: Vec<Json>,
    pub(crate) config: DeclaredConfig,
    /// Agents of nodes, by workflow and node: corrections of a user.
    pub(crate) node_agents: BTreeMap<(String, String), String>,
}

/// Files by path.
pub(crate) type WrittenFiles = BTreeMap<PackagePath, Arc<[u8]>>;

impl PackagePlan<'_> {
    /// Writes all files but the report. `None` if the package would be too large.
    pub(crate) fn write(&self, recorder: &mut ImportRecorder) -> Option<WrittenFiles> {
        let mut files = WrittenFiles::new();
        let mut texts: Vec<(String, String)> = vec![
            ("bmad.json".to_owned(), pretty(&self.manifest())),
            (
                "agents.json".to_owned(),
                pretty(&json!({ "schemaVersion": SCHEMA, "agents": self.agents_json })),
            ),
        ];
        for (id, plan) in &self.workflows {
            let folder = format!("workflows/{id}");
            texts.push((format!("{folder}/workflow.graph.json"), pretty(&self.graph(id, plan))));
            texts.push((format!("{folder}/workflow.md"), texts::document(self.tree, id, plan)));
            for node in &plan.nodes {
                let agent = self.node_agent(id, node);
                let text = texts::step(self.tree, plan, node, agent);
                texts.push((step_file(id, node), text));
            }
        }
        for (path, text) in lists::written(self, recorder) {
            texts.push((path, text));
        }
        let bytes: usize = texts.iter().map(|(_, text)| text.len()).sum();
        let count = texts.len() + self.tree.copies().count();
        if bytes > MAX_TEXT_BYTES || count > MAX_FILES {
            let (code, message) = if count > MAX_FILES {
                (
                    Code::TooManyEntries,
                    format!("the package would have {count} files; the limit is {MAX_FILES}"),
                )
            } else {
                (
                    Code::DocumentTooLarge,
                    format!(
                        "the texts of the package would have {bytes} bytes; the limit is {MAX_TEXT_BYTES}"
                    ),
                )
            };
            recorder.file(
                code,
                "",
                message,
                "narrow the import with --module or --only, or import a part",
            );
            return None;
        }
        for (place, path) in self.tree.copies() {
            if let (Ok(place), Some(bytes)) = (PackagePath::new(place), self.tree.bytes(path)) {
                files.insert(place, Arc::clone(bytes));
            }
        }
        for (path, text) in texts {
            if let Ok(path) = PackagePath::new(&path) {
                files.insert(path, text.into_bytes().into());
            }
        }
        Some(files)
    }

    fn node_agent(&self, workflow: &str, node: &NodePlan) -> Option<&str> {
        let key = (workflow.to_owned(), node.id.clone());
        self.node_agents.get(&key).map(String::as_str)
    }

    fn manifest(&self) -> Json {
        let entry = self.workflows.first().map_or("", |(id, _)| id);
        let workflows: Vec<Json> = self
            .workflows
            .iter()
            .map(|(id, plan)| {
                let mut keys = Map::new();
                keys.insert("id".to_owned(), json!(id));
                keys.insert("workflow".to_owned(), json!(format!("workflows/{id}/workflow.md")));
                keys.insert(
                    "graph".to_owned(),
                    json!(format!("workflows/{id}/workflow.graph.json")),
                );
                keys.insert("displayName".to_owned(), json!(plan.title));
                if !plan.description.is_empty() {
                    keys.insert("description".to_owned(), json!(plan.description));
                }
                if let Some(module) = &plan.module {
                    keys.insert("tags".to_owned(), json!([module]));
                }
                Json::Object(keys)
            })
            .collect();
        let roots = &self.tree.shape().installations;
        let names =
            roots.iter().filter(|root| !root.is_empty()).map(String::as_str).chain(["_bmad"]);
        let aliases: BTreeMap<&str, &str> = names.map(|name| (name, "bmad")).collect();
        json!({
            "schemaVersion": SCHEMA,
            "name": self.name,
            "version": self.version,
            "description": self.description,
            "entry": {
                "workflow": format!("workflows/{entry}/workflow.md"),
                "graph": format!("workflows/{entry}/workflow.graph.json"),
                "agents": "agents.json",
            },
            "workflows": workflows,
            "config": self.config.to_json(),
            "configFrom": ["bmad"],
            "artifactRoots": self.config.artifact_roots(),
            "aliases": aliases,
            "provenance": crate::report::REPORT_FILE,
        })
    }

    fn graph(&self, id: &str, plan: &WorkflowPlan) -> Json {
        let nodes: Vec<Json> = plan.nodes.iter().map(|node| self.node(id, node)).collect();
        let edges: Vec<Json> = plan.edges.iter().map(edge).collect();
        let entry = plan.nodes.first().map_or("", |node| node.id.as_str());
        json!({ "schemaVersion": SCHEMA, "entryNodeId": entry, "nodes": nodes, "edges": edges })
    }

    fn node(&self, id: &str, node: &NodePlan) -> Json {
        let mut keys = Map::new();
        keys.insert("id".to_owned(), json!(node.id));
        keys.insert("type".to_owned(), json!(node.kind));
        keys.insert("file".to_owned(), json!(step_file(id, node)));
        keys.insert("title".to_owned(), json!(node.title));
        if !node.goal.trim().is_empty() {
            keys.insert("description".to_owned(), json!(node.goal));
        }
        if let Some(agent) = self.node_agent(id, node) {
            keys.insert("agentId".to_owned(), json!(agent));
        }
        for (key, list) in [("inputs", &node.inputs), ("outputs", &node.outputs)] {
            if !list.is_empty() {
                keys.insert(key.to_owned(), json!(list));
            }
        }
        if let Some(gate) = &node.gate {
            keys.insert("gate".to_owned(), self.gate(gate));
        }
        for (key, value) in [("waitsForUser", node.waits_for_user), ("auto", node.auto)] {
            if value {
                keys.insert(key.to_owned(), json!(true));
            }
        }
        let calls: BTreeSet<&String> = node
            .calls
            .iter()
            .filter_map(|file| self.ids.get(file))
            .filter(|own| *own != id)
            .collect();
        if !calls.is_empty() {
            keys.insert("calls".to_owned(), json!(calls));
        }
        Json::Object(keys)
    }

    fn gate(&self, gate: &GatePlan) -> Json {
        let options: Vec<Json> = gate
            .options
            .iter()
            .map(|option| {
                let mut keys = Map::new();
                keys.insert("key".to_owned(), json!(option.key));
                keys.insert("label".to_owned(), json!(option.label));
                match &option.does {
                    OptionEffect::Edge => drop(keys.insert("does".to_owned(), json!("edge"))),
                    OptionEffect::Stay => drop(keys.insert("does".to_owned(), json!("stay"))),
                    OptionEffect::Call(file) => {
                        keys.insert("does".to_owned(), json!("call"));
                        keys.insert("call".to_owned(), json!(self.ids.get(file)));
                    }
                }
                if let Some(text) = option.text.as_ref().filter(|text| !text.trim().is_empty()) {
                    keys.insert("text".to_owned(), json!(text));
                }
                Json::Object(keys)
            })
            .collect();
        let commit: Vec<Json> = gate
            .commit
            .iter()
            .map(|commit| {
                let at = if commit.replace { "replace" } else { "append" };
                json!({ "to": commit.to, "at": at })
            })
            .collect();
        let mut keys = Map::new();
        keys.insert("options".to_owned(), Json::Array(options));
        if !commit.is_empty() {
            keys.insert("commit".to_owned(), Json::Array(commit));
        }
        Json::Object(keys)
    }
}

fn edge(edge: &EdgePlan) -> Json {
    let mut keys = Map::new();
    keys.insert("from".to_owned(), json!(edge.from));
    keys.insert("to".to_owned(), json!(edge.to));
    keys.insert("label".to_owned(), json!(edge.label));
    if edge.is_default {
        keys.insert("isDefault".to_owned(), json!(true));
    }
    if let Some(condition) = edge.condition_text.as_ref().filter(|text| !text.trim().is_empty()) {
        keys.insert("conditionText".to_owned(), json!(condition));
    }
    if let Some(gate) = &edge.gate {
        keys.insert("gate".to_owned(), json!(gate));
    }
    Json::Object(keys)
}

/// Returns the path of a node's step file.
pub(crate) fn step_file(workflow: &str, node: &NodePlan) -> String {
    format!("workflows/{workflow}/steps/{}.md", node.id.replace(':', "-"))
}

/// Writes JSON with a newline at its end.
pub(crate) fn pretty(value: &Json) -> String {
    let mut text = serde_json::to_string_pretty(value).unwrap_or_default();
    text.push('\n');
    text
}
