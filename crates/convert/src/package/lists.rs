//! Generated lists that content reads: they are written from what was converted, where the source has none.

use std::collections::BTreeMap;

use crewagent_format::code::Code;
use crewagent_format::wording::quoted;
use serde_json::Value as Json;

use super::PackagePlan;
use crate::recorder::ImportRecorder;
use crate::source_tree::{SourceTree, name_of};

/// Paths of generated lists in the package.
const GENERATED_LISTS: [&str; 5] = [
    "bmad/_config/agent-manifest.csv",
    "bmad/_config/bmad-help.csv",
    "bmad/_config/skill-manifest.csv",
    "bmad/_config/task-manifest.csv",
    "bmad/_config/workflow-manifest.csv",
];

/// Returns the lists that content names and the source does not have.
pub(crate) fn needed(tree: &SourceTree<'_>) -> Vec<&'static str> {
    let is_text = |path: &&str| {
        [".md", ".xml", ".yaml", ".yml", ".toml"].iter().any(|end| path.ends_with(end))
    };
    let mut missing: Vec<&'static str> =
        GENERATED_LISTS.into_iter().filter(|path| tree.at_package_path(path).is_none()).collect();
    let mut found = Vec::new();
    for path in tree.content().filter(is_text) {
        let Some(text) = tree.text(path) else { continue };
        missing.retain(|list| {
            let is_named = text.text().contains(name_of(list));
            if is_named {
                found.push(*list);
            }
            !is_named
        });
        if missing.is_empty() {
            break;
        }
    }
    found.sort_unstable();
    found
}

/// Writes the lists that are needed.
pub(super) fn written(
    plan: &PackagePlan<'_>,
    recorder: &mut ImportRecorder,
) -> Vec<(String, String)> {
    let mut files = Vec::new();
    for path in needed(plan.tree) {
        let text = match name_of(path) {
            "agent-manifest.csv" => agents(plan),
            "workflow-manifest.csv" => workflows(plan),
            "task-manifest.csv" => tasks(plan),
            "skill-manifest.csv" => skills(plan),
            _ => help(plan),
        };
        let message = format!(
            "content reads {}, which an installer writes; it was written from what was imported",
            quoted(path)
        );
        recorder.file(
            Code::GeneratedFile,
            "",
            message,
            "nothing: runs find the list in the package",
        );
        files.push((path.to_owned(), text));
    }
    files
}

/// Returns the path that content uses for a file of the package.
fn installed_path(plan: &PackagePlan<'_>, file: &str) -> String {
    let place = plan.tree.package_path(file).unwrap_or(file);
    place.strip_prefix("bmad/").map_or_else(|| place.to_owned(), |rest| format!("_bmad/{rest}"))
}

fn agents(plan: &PackagePlan<'_>) -> String {
    let head = "name,displayName,title,icon,capabilities,role,identity,communicationStyle,principles,module,path";
    let rows = plan.agents.iter().zip(&plan.agents_json).map(|((id, agent), json)| {
        let text = |part: &str, key: &str| match json.get(part).and_then(|part| part.get(key)) {
            Some(Json::String(text)) => text.clone(),
            Some(Json::Array(items)) => {
                items.iter().filter_map(Json::as_str).collect::<Vec<_>>().join(" ")
            }
            Some(Json::Null | Json::Bool(_) | Json::Number(_) | Json::Object(_)) | None => {
                String::new()
            }
        };
        vec![
            id.clone(),
            text("metadata", "name"),
            text("metadata", "title"),
            text("metadata", "icon"),
            text("metadata", "capabilities"),
            text("persona", "role"),
            text("persona", "identity"),
            text("persona", "communication_style"),
            text("persona", "principles"),
            agent.module.clone().unwrap_or_default(),
            installed_path(plan, &agent.file),
        ]
    });
    table(head, rows)
}

fn workflows(plan: &PackagePlan<'_>) -> String {
    let is_task = |file: &str| file.ends_with(".xml");
    let rows = plan.workflows.iter().filter(|(_, own)| !is_task(&own.entry.file));
    let rows = rows.map(|(id, own)| {
        let module = own.module.clone().unwrap_or_default();
        vec![id.clone(), own.description.clone(), module, installed_path(plan, &own.entry.file)]
    });
    table("name,description,module,path", rows)
}

fn tasks(plan: &PackagePlan<'_>) -> String {
    let is_task = |file: &str| file.ends_with(".xml") || file.contains("/tasks/");
    let rows = plan.workflows.iter().filter(|(_, own)| is_task(&own.entry.file));
    let rows = rows.map(|(id, own)| {
        let module = own.module.clone().unwrap_or_default();
        let path = installed_path(plan, &own.entry.file);
        vec![
            id.clone(),
            own.title.clone(),
            own.description.clone(),
            module,
            path,
            "true".to_owned(),
        ]
    });
    table("name,displayName,description,module,path,standalone", rows)
}

fn skills(plan: &PackagePlan<'_>) -> String {
    let rows = plan.tree.skills().iter().map(|(name, folder)| {
        let file = crate::source_tree::join(folder, "SKILL.md");
        let document = plan.tree.document(&file);
        let description = document.and_then(|document| document.scalar("description"));
        let module = plan.tree.module_of(&file).unwrap_or_default().to_owned();
        let path = installed_path(plan, &file);
        vec![name.clone(), name.clone(), description.unwrap_or_default(), module, path]
    });
    table("canonicalId,name,description,module,path", rows)
}

/// Joins the help tables of all modules that have the same columns as the first.
fn help(plan: &PackagePlan<'_>) -> String {
    let parts: BTreeMap<&str, &str> = plan
        .tree
        .content()
        .filter(|path| name_of(path) == "module-help.csv")
        .filter_map(|path| plan.tree.text(path)?.text().split_once('\n'))
        .fold(BTreeMap::new(), |mut parts, (head, rows)| {
            parts.entry(head.trim()).or_insert(rows);
            parts
        });
    let Some(head) = parts.keys().next() else {
        return table("module,phase,name,code,description", std::iter::empty());
    };
    let mut text = format!("{head}\n");
    let tables = plan.tree.content().filter(|path| name_of(path) == "module-help.csv");
    for rows in tables.filter_map(|path| plan.tree.text(path)?.text().split_once('\n')) {
        if rows.0.trim() == *head {
            for row in rows.1.lines().filter(|row| !row.trim().is_empty()) {
                text.push_str(row);
                text.push('\n');
            }
        }
    }
    text
}

fn table(head: &str, rows: impl Iterator<Item = Vec<String>>) -> String {
    let mut text = format!("{head}\n");
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .map(|cell| format!("\"{}\"", crate::plain::one_line(cell).replace('"', "\"\"")))
            .collect();
        text.push_str(&cells.join(","));
        text.push('\n');
    }
    text
}
