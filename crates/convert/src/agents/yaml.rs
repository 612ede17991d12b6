//! Agents written as YAML: `agent` with metadata, persona, actions, prompts and a menu.

use crewagent_format::syntax::{Tree, yaml};
use serde_json::Value as Json;

use super::{AgentPlan, MenuPlan, PersonaPlan, PromptPlan, stem, text_of, texts_of, unreadable};
use crate::agents::menu::{is_target_key, multi_handlers};
use crate::recorder::ImportRecorder;
use crate::source_text::SourceText;
use crate::source_tree::{SourceTree, folder_of};

/// Reads an agent, if the file holds one.
pub(super) fn read(
    tree: &SourceTree<'_>,
    path: &str,
    recorder: &mut ImportRecorder,
) -> Option<AgentPlan> {
    let source = tree.text(path)?;
    let root = match yaml::parse(source.text()) {
        Ok(root) => root,
        Err(errors) => {
            if path.contains(".agent.") {
                let error = errors.first();
                let line = error.map_or(1, |error| source.line_of(error.span.start));
                let reason = error.map(|error| error.message.clone()).unwrap_or_default();
                unreadable(recorder, tree, path, line, &reason);
            }
            return None;
        }
    };
    let agent = &root.get("agent")?.tree;
    // A customization has the same keys, and lies with the configuration.
    let metadata = &agent.get("metadata")?.tree;
    if path.contains(".customize.") || agent.get("persona").is_none() && agent.get("menu").is_none()
    {
        return None;
    }
    let said = |key: &str| metadata.get(key).map(|entry| text_of(&entry.tree.to_json()));
    let text = |key: &str| said(key).unwrap_or_default();
    let mut plan = AgentPlan {
        file: path.to_owned(),
        base: folder_of(path).to_owned(),
        stem: stem(path),
        module: tree.module_of(path).map(str::to_owned),
        name: text("name"),
        title: text("title"),
        icon: text("icon"),
        description: said("description").filter(|text| !text.is_empty()),
        capabilities: said("capabilities").filter(|text| !text.is_empty()),
        persona: persona(agent.get("persona").map(|entry| &entry.tree)),
        ..AgentPlan::default()
    };
    fill(&mut plan, agent, path, source);
    Some(plan)
}

/// Reads actions, memories, prompts and the menu into a plan.
pub(super) fn fill(plan: &mut AgentPlan, agent: &Tree, path: &str, source: &SourceText) {
    let list = |key: &str| agent.get(key).map(|entry| texts_of(&entry.tree.to_json()));
    plan.critical_actions.extend(list("critical_actions").unwrap_or_default());
    plan.memories.extend(list("memories").unwrap_or_default());
    if let Some(prompts) = agent.get("prompts") {
        plan.prompts.extend(read_prompts(&prompts.tree));
    }
    if let Some(menu) = agent.get("menu").and_then(|entry| entry.tree.as_list()) {
        plan.menu.extend(menu.iter().map(|item| {
            let line = source.line_of(item.span.start);
            menu_item(&item.to_json(), path, line)
        }));
    }
}

/// Reads a persona; what is missing stays blank.
pub(super) fn persona(tree: Option<&Tree>) -> PersonaPlan {
    let json = tree.map(Tree::to_json).unwrap_or_default();
    let text = |key: &str| json.get(key).map(text_of).unwrap_or_default();
    let principles = json.get("principles").unwrap_or(&Json::Null);
    PersonaPlan {
        role: text("role"),
        identity: text("identity"),
        communication_style: text("communication_style"),
        principles: texts_of(principles),
        is_text: !principles.is_array(),
    }
}

/// Reads prompts: a list of `{id, content}`, or a map of ids.
fn read_prompts(tree: &Tree) -> Vec<PromptPlan> {
    let json = tree.to_json();
    let prompts: Vec<PromptPlan> = match &json {
        Json::Array(items) => items
            .iter()
            .map(|item| {
                let text = |key: &str| item.get(key).map(text_of).unwrap_or_default();
                PromptPlan { id: text("id"), content: text("content") }
            })
            .collect(),
        Json::Object(map) => map
            .iter()
            .map(|(id, value)| PromptPlan { id: id.clone(), content: text_of(value) })
            .collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => Vec::new(),
    };
    prompts
        .into_iter()
        .filter(|prompt| !prompt.id.is_empty() && !prompt.content.is_empty())
        .collect()
}

/// Reads one item of a menu.
pub(super) fn menu_item(item: &Json, file: &str, line: u32) -> MenuPlan {
    let text = |key: &str| item.get(key).map(text_of).unwrap_or_default();
    let first = |keys: &[&str]| {
        keys.iter().map(|key| text(key)).find(|text| !text.is_empty()).unwrap_or_default()
    };
    let flag = |key: &str| item.get(key) == Some(&Json::Bool(true));
    let does = item.as_object().into_iter().flatten();
    let does = does.filter(|(key, _)| is_target_key(key));
    let does = does.map(|(key, value)| (key.clone(), text_of(value)));
    MenuPlan {
        trigger: first(&["trigger", "cmd", "code"]),
        description: first(&["description", "multi", "name", "label"]),
        does: does.filter(|(_, value)| !value.is_empty()).collect(),
        handlers: multi_handlers(item, file, line),
        ide_only: flag("ide-only"),
        web_only: flag("web-only"),
        file: file.to_owned(),
        line,
    }
}
