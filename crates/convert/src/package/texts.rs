//! Workflow documents and step files: frontmatter of ours, text of the source.

use std::collections::{BTreeMap, BTreeSet};

use crewagent_format::integrity::Digest;
use crewagent_format::placeholder;
use crewagent_format::text::is_unsafe_char;
use serde_json::{Map, Value as Json, json};

use super::SCHEMA;
use crate::config::{is_name, is_value};
use crate::plan::{NodeNeed, NodePlan, WorkflowPlan};
use crate::source_tree::{SourceTree, folder_of, is_below, name_of};

/// Line that ends our part of a step file. What follows is the source's text, byte for byte.
pub(super) const SOURCE_MARK: &str = "<!-- The text of the source begins below this line. -->\n";

/// Bindings of a workflow and its steps.
struct LocalBindings {
    all: BTreeMap<String, String>,
}

impl LocalBindings {
    /// Collects the bindings of a workflow: its own, its files, and the folders that its texts name.
    fn of_workflow(tree: &SourceTree<'_>, plan: &WorkflowPlan) -> Self {
        let mut all = BTreeMap::new();
        let folder = tree.mount_path(&plan.entry.file);
        let folder = folder.as_deref().map(folder_of).unwrap_or_default().to_owned();
        let skill = tree.skills().iter().find(|(_, root)| is_below(&plan.entry.file, root));
        if let Some((name, _)) = skill {
            let root = format!("@pkg/skills/{name}");
            for key in ["skill-root", "skill_root", "skill-path"] {
                all.insert(key.to_owned(), root.clone());
            }
            all.insert("skill-name".to_owned(), name.clone());
        }
        for key in ["installed_path", "workflow_path"] {
            all.insert(key.to_owned(), folder.clone());
        }
        for (name, value) in &plan.bindings {
            all.insert(name.clone(), value.clone());
        }
        for (name, file) in &plan.files {
            all.extend(tree.mount_path(file).map(|path| (name.clone(), path)));
        }
        Self { all }
    }

    /// Adds those of a step, which win.
    fn with_node(mut self, node: &NodePlan) -> Self {
        self.all.extend(node.bindings.iter().map(|(name, value)| (name.clone(), value.clone())));
        self
    }

    /// Returns the bindings that texts use, also by way of others.
    fn used_in(&self, texts: &[&str]) -> BTreeMap<String, String> {
        let mut used: BTreeMap<String, String> = BTreeMap::new();
        let mut waiting: Vec<String> = Vec::new();
        let mut seen: BTreeSet<String> = BTreeSet::new();
        for text in texts {
            waiting.extend(placeholder::names(text).map(str::to_owned));
        }
        while let Some(name) = waiting.pop() {
            if !seen.insert(name.clone()) {
                continue;
            }
            let Some(value) = self.all.get(&name).filter(|value| is_value(value) && is_name(&name))
            else {
                continue;
            };
            waiting.extend(placeholder::names(value).map(str::to_owned));
            used.insert(name, value.clone());
        }
        used
    }
}

/// Writes `workflow.md`: its body is that of the entry.
pub(super) fn document(tree: &SourceTree<'_>, id: &str, plan: &WorkflowPlan) -> String {
    let mut front = Map::new();
    front.insert("schemaVersion".to_owned(), json!(SCHEMA));
    front.insert("workflowType".to_owned(), json!(id));
    front.insert("currentNodeId".to_owned(), json!(""));
    front.insert("stepsCompleted".to_owned(), json!([]));
    front.insert("variables".to_owned(), json!({}));
    front.insert("decisionLog".to_owned(), json!([]));
    front.insert("artifacts".to_owned(), json!([]));
    front.insert("inputDocuments".to_owned(), json!([]));
    if !plan.brief.trim().is_empty() {
        front.insert("brief".to_owned(), json!(true));
    }
    let mirrored = plan.mirror.as_ref().map_or("", |mirror| mirror.file.as_str());
    let bindings = LocalBindings::of_workflow(tree, plan).used_in(&[&plan.brief, mirrored]);
    if !bindings.is_empty() {
        front.insert("bindings".to_owned(), json!(bindings));
    }
    let values: BTreeMap<&str, &Json> = plan
        .nodes
        .iter()
        .filter_map(|node| Some((node.id.as_str(), node.mirror_value.as_ref()?)))
        .collect();
    if let Some(mirror) = plan.mirror.as_ref().filter(|_| !values.is_empty()) {
        let mirror = json!({ "file": mirror.file, "key": mirror.key, "values": values });
        front.insert("mirror".to_owned(), mirror);
    }
    format!("{}{}", frontmatter(&front), plan.brief)
}

/// Writes a step file.
pub(super) fn step(
    tree: &SourceTree<'_>,
    plan: &WorkflowPlan,
    node: &NodePlan,
    agent: Option<&str>,
) -> String {
    let mut front = Map::new();
    front.insert("schemaVersion".to_owned(), json!(SCHEMA));
    front.insert("nodeId".to_owned(), json!(node.id));
    front.insert("type".to_owned(), json!(node.kind));
    front.insert("title".to_owned(), json!(node.title));
    if let Some(agent) = agent {
        front.insert("agentId".to_owned(), json!(agent));
    }
    if !node.sets_variables.is_empty() {
        front.insert("setsVariables".to_owned(), json!(node.sets_variables));
    }
    if let Some(source) = &node.source {
        let digest = tree.bytes(&source.file).map(|bytes| Digest::of(bytes).to_string());
        let file = tree.package_path(&source.file).unwrap_or(&source.file);
        front.insert(
            "source".to_owned(),
            json!({
                "file": file,
                "sha256": digest,
                "lines": [source.lines.0, source.lines.1],
            }),
        );
    }
    let mut texts: Vec<&str> = vec![&node.body, &node.goal];
    texts.extend(node.inputs.iter().chain(&node.outputs).map(String::as_str));
    let gate = node.gate.as_ref();
    texts.extend(gate.into_iter().flat_map(|gate| &gate.commit).map(|commit| commit.to.as_str()));
    texts.extend(
        gate.into_iter().flat_map(|gate| &gate.options).filter_map(|option| option.text.as_deref()),
    );
    let bindings = LocalBindings::of_workflow(tree, plan).with_node(node).used_in(&texts);
    if !bindings.is_empty() {
        front.insert("bindings".to_owned(), json!(bindings));
    }
    let needs: BTreeSet<NodeNeed> = node.needs.iter().copied().collect();
    if !needs.is_empty() {
        let words: Vec<&str> = needs.into_iter().map(NodeNeed::word).collect();
        front.insert("needs".to_owned(), json!(words));
    }
    if node.resume_only {
        front.insert("resumeOnly".to_owned(), json!(true));
    }
    let goal = [&node.goal, &node.title].into_iter().find(|text| !text.trim().is_empty());
    let goal = goal.map_or(node.id.as_str(), |text| text.trim());
    // A goal that looks like Markdown would be structure.
    let goal = goal.trim_start_matches(['#', '-', '*', '>', '`', '|', ' ']);
    let goal = if goal.is_empty() { name_of(&node.id) } else { goal };
    format!(
        "{}\n## Goal\n\n{goal}\n\n## Instructions\n\n{SOURCE_MARK}{}",
        frontmatter(&front),
        node.body
    )
}

/// Writes frontmatter: every value as JSON, which is YAML, too.
fn frontmatter(keys: &Map<String, Json>) -> String {
    let mut text = "---\n".to_owned();
    for (key, value) in keys {
        text.push_str(&format!("{key}: {}\n", escaped(&value.to_string())));
    }
    text.push_str("---\n");
    text
}

/// Escapes characters that YAML does not allow in JSON strings.
fn escaped(json: &str) -> String {
    if !json.chars().any(is_unsafe_char) {
        return json.to_owned();
    }
    let mut text = String::with_capacity(json.len());
    for c in json.chars() {
        if is_unsafe_char(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                text.push_str(&format!("\\u{unit:04x}"));
            }
        } else {
            text.push(c);
        }
    }
    text
}
