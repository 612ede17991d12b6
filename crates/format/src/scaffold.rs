//! New packages: complete, clean and runnable, to start from instead of an empty folder.

mod shapes;

use std::fmt::Write as _;

use serde_json::{Value as Json, json};

pub use shapes::WorkflowShape;
use shapes::{ScaffoldEdge, ScaffoldNode};

/// Author's choices for a new package.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScaffoldPlan {
    pub name: String,
    /// May be empty.
    pub description: String,
    /// May be empty.
    pub author: String,
    pub shape: WorkflowShape,
}

/// Returns the files of a new package, by path.
pub fn files(plan: &ScaffoldPlan) -> Vec<(String, String)> {
    let nodes = plan.shape.nodes();
    let edges = plan.shape.edges();
    let mut files = vec![
        ("bmad.json".to_owned(), pretty(&manifest(plan))),
        ("agents.json".to_owned(), pretty(&agents(plan))),
        ("workflow.graph.json".to_owned(), pretty(&graph(nodes, edges))),
        ("workflow.md".to_owned(), workflow(plan, nodes)),
        ("assets/README.md".to_owned(), ASSETS.to_owned()),
    ];
    files.extend(nodes.iter().map(|node| (node.file(), step(node, edges))));
    files
}

const ASSETS: &str = "# Assets\n\nTemplates and other files that steps read as `@pkg/assets/...`. Delete this file when you add your own.\n";

fn pretty(value: &Json) -> String {
    // Values made of maps, lists and strings always serialize.
    serde_json::to_string_pretty(value).unwrap_or_default() + "\n"
}

fn manifest(plan: &ScaffoldPlan) -> Json {
    let mut manifest = json!({ "schemaVersion": "1.1", "name": plan.name, "version": "0.1.0" });
    for (key, value) in [("description", &plan.description), ("author", &plan.author)] {
        if !value.is_empty() {
            manifest[key] = json!(value);
        }
    }
    manifest["entry"] = json!({ "workflow": "workflow.md", "graph": "workflow.graph.json", "agents": "agents.json" });
    manifest
}

fn agents(plan: &ScaffoldPlan) -> Json {
    json!({
        "schemaVersion": "1.1",
        "agents": [{
            "id": "guide",
            "metadata": { "name": "Robin", "title": "Guide", "icon": "🧭", "description": "Leads a user through this workflow." },
            "persona": {
                "role": "Guide who turns a request into a finished document",
                "identity": "A calm practitioner who has done this many times and knows what is worth asking.",
                "communication_style": "Short and concrete. One question at a time, and only when the answer is needed.",
                "principles": [
                    "Write down what is known before asking for more.",
                    "Never invent a fact about the user's project.",
                    "Finish the step in hand before speaking of the next."
                ]
            },
            "menu": [{ "trigger": "start", "description": format!("[S] {}", plan.shape.menu_text()), "workflow": "workflow.md" }],
            "tools": { "fs": { "enabled": true, "maxReadBytes": 524_288, "maxWriteBytes": 2_097_152 }, "mcp": { "enabled": false } }
        }]
    })
}

fn graph(nodes: &[ScaffoldNode], edges: &[ScaffoldEdge]) -> Json {
    let nodes: Vec<Json> = nodes
        .iter()
        .map(|node| {
            let mut json = json!({ "id": node.id, "type": node.kind, "file": node.file(), "title": node.title });
            if !node.inputs.is_empty() {
                json["inputs"] = json!(node.inputs);
            }
            json["outputs"] = json!(node.outputs);
            json
        })
        .collect();
    let edges: Vec<Json> = edges
        .iter()
        .map(|edge| {
            let mut json = json!({ "from": edge.from, "to": edge.to, "label": edge.label });
            if edge.is_default {
                json["isDefault"] = json!(true);
            }
            if let Some(when) = &edge.when {
                json["conditionText"] = json!(when.text);
                json["conditionExpr"] = json!({ "==": [{ "var": when.variable }, when.value] });
            }
            json
        })
        .collect();
    let entry = nodes.first().map_or(Json::Null, |node| node["id"].clone());
    json!({ "schemaVersion": "1.1", "entryNodeId": entry, "nodes": nodes, "edges": edges })
}

fn workflow(plan: &ScaffoldPlan, nodes: &[ScaffoldNode]) -> String {
    let index: String = nodes
        .iter()
        .map(|node| format!("- [{}]({}): {}\n", node.id, node.file(), node.title))
        .collect();
    let purpose =
        if plan.description.is_empty() { plan.shape.menu_text() } else { &plan.description };
    format!(
        "---\nschemaVersion: \"1.1\"\nworkflowType: {}\ncurrentNodeId: \"\"\nstepsCompleted: []\nvariables: {{}}\ndecisionLog: []\nartifacts: []\n---\n\n# {}\n\n{purpose}\n\n## Steps Index\n\n{index}",
        plan.shape.workflow_type(),
        plan.name,
    )
}

fn step(node: &ScaffoldNode, edges: &[ScaffoldEdge]) -> String {
    let mut text = format!(
        "---\nschemaVersion: \"1.1\"\nnodeId: {}\ntype: {}\ntitle: {}\n",
        node.id, node.kind, node.title
    );
    let list = |text: &mut String, key: &str, items: &[&str]| {
        if !items.is_empty() {
            let _ = write!(
                text,
                "{key}:\n{}",
                items.iter().map(|item| format!("  - {item}\n")).collect::<String>()
            );
        }
    };
    list(&mut text, "inputs", node.inputs);
    list(&mut text, "outputs", node.outputs);
    list(&mut text, "setsVariables", node.sets);
    let outgoing: Vec<&ScaffoldEdge> = edges.iter().filter(|edge| edge.from == node.id).collect();
    if !outgoing.is_empty() {
        text.push_str("transitions:\n");
    }
    for edge in outgoing {
        let _ = writeln!(text, "  - to: {}\n    label: {}", edge.to, edge.label);
        if edge.is_default {
            text.push_str("    isDefault: true\n");
        }
        if let Some(when) = &edge.when {
            let _ = writeln!(text, "    conditionText: {}", when.text);
        }
    }
    let _ = write!(
        text,
        "---\n\n# {}\n\n## Goal\n\n{}\n\n## Instructions\n\n{}\n\n## Completion\n\n{}\n",
        node.title, node.goal, node.instructions, node.completion
    );
    text
}
