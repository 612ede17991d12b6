//! Agents: personas and menus of all shapes become one plan, and the plan becomes `agents.json`.

mod markdown;
mod menu;
mod merge;
mod skill;
mod write;
mod yaml;

use std::collections::BTreeSet;

use crewagent_format::code::Code;
use serde_json::Value as Json;

use crate::ConvertOptions;
use crate::recorder::ImportRecorder;
use crate::references::References;
use crate::source_tree::{SourceTree, name_of};

pub(crate) use menu::MenuTargets;
pub(crate) use write::{MenuCounts, written};

/// An agent that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct AgentPlan {
    /// File that describes it.
    pub(crate) file: String,
    /// Folder that `{skill-root}` means.
    pub(crate) base: String,
    /// Stem of its file, or the name of its skill.
    pub(crate) stem: String,
    pub(crate) module: Option<String>,
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) icon: String,
    pub(crate) description: Option<String>,
    pub(crate) capabilities: Option<String>,
    pub(crate) persona: PersonaPlan,
    pub(crate) critical_actions: Vec<String>,
    /// Texts that it always knows: memories and persistent memories.
    pub(crate) memories: Vec<String>,
    pub(crate) prompts: Vec<PromptPlan>,
    pub(crate) menu: Vec<MenuPlan>,
    /// Files that were merged into it.
    pub(crate) customizations: Vec<String>,
    /// Starts its runs with YOLO.
    pub(crate) yolo: bool,
}

/// Persona that was read; what is blank is filled when it is written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PersonaPlan {
    pub(crate) role: String,
    pub(crate) identity: String,
    pub(crate) communication_style: String,
    /// A text or a list of texts.
    pub(crate) principles: Vec<String>,
    /// The principles were one text.
    pub(crate) is_text: bool,
}

/// Prompt of an agent.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct PromptPlan {
    pub(crate) id: String,
    pub(crate) content: String,
}

/// Menu item that was read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct MenuPlan {
    /// Text that the user types, as written.
    pub(crate) trigger: String,
    pub(crate) description: String,
    /// Keys and values that say what it does, in the order of the source.
    pub(crate) does: Vec<(String, String)>,
    /// Items inside of this one.
    pub(crate) handlers: Vec<MenuPlan>,
    pub(crate) ide_only: bool,
    pub(crate) web_only: bool,
    pub(crate) file: String,
    pub(crate) line: u32,
}

/// Reads the agents of a source, sorted by their places in the package. An agent that cannot be read is a finding.
pub(crate) fn plans(
    tree: &SourceTree<'_>,
    references: &References<'_>,
    options: &ConvertOptions,
    recorder: &mut ImportRecorder,
) -> Vec<AgentPlan> {
    let mut plans = Vec::new();
    let mut described: BTreeSet<(Option<String>, String)> = BTreeSet::new();
    let skills: BTreeSet<&str> = tree.skills().values().map(String::as_str).collect();
    for (name, folder) in tree.skills() {
        plans.extend(skill::read(tree, references, name, folder, options, recorder));
    }
    let files: Vec<&str> = tree
        .content()
        .filter(|path| !skills.iter().any(|skill| crate::source_tree::is_below(path, skill)))
        .collect();
    // A definition comes before what an installer made of it.
    let is_definition = |path: &&&str| is_yaml(path);
    let ordered =
        files.iter().filter(is_definition).chain(files.iter().filter(|path| !is_yaml(path)));
    for path in ordered {
        let read = if is_yaml(path) {
            yaml::read(tree, path, recorder)
        } else if path.ends_with(".md") {
            markdown::read(tree, path, recorder)
        } else {
            None
        };
        let Some(mut plan) = read else { continue };
        if !described.insert((plan.module.clone(), plan.stem.clone())) {
            continue;
        }
        merge::customize(tree, &mut plan, options, recorder);
        plans.push(plan);
    }
    for plan in &mut plans {
        let mut texts = plan.critical_actions.iter().chain(&plan.memories);
        plan.yolo = texts.any(|text| text.contains("#yolo"));
    }
    plans.sort_by_cached_key(|plan| tree.package_path(&plan.file).unwrap_or(&plan.file).to_owned());
    plans
}

fn is_yaml(path: &str) -> bool {
    path.ends_with(".yaml") || path.ends_with(".yml")
}

/// Returns the stem of an agent's file: `pm` for `pm.agent.yaml` and `pm.md`.
fn stem(path: &str) -> String {
    let name = name_of(path);
    let stem = [".agent.yaml", ".agent.yml", ".agent.md", ".yaml", ".yml", ".md"]
        .into_iter()
        .find_map(|ending| name.strip_suffix(ending));
    stem.unwrap_or(name).to_owned()
}

/// Reports an agent that cannot be read.
fn unreadable(
    recorder: &mut ImportRecorder,
    tree: &SourceTree<'_>,
    path: &str,
    line: u32,
    reason: &str,
) {
    let message = format!("the agent cannot be read: {reason}");
    let help = "correct the file; the other agents are imported";
    recorder.line(tree, Code::AgentIncomplete, (path, line), message, help);
}

/// Returns a value as text: scalars as they are written, lists as lines.
fn text_of(value: &Json) -> String {
    match value {
        Json::Null => String::new(),
        Json::Bool(value) => value.to_string(),
        Json::Number(value) => value.to_string(),
        Json::String(text) => text.trim().to_owned(),
        Json::Array(items) => items.iter().map(text_of).collect::<Vec<_>>().join("\n"),
        Json::Object(_) => value.to_string(),
    }
}

/// Returns the texts of a list, or one text; blank ones are left out.
fn texts_of(value: &Json) -> Vec<String> {
    let all = match value {
        Json::Array(items) => items.iter().map(text_of).collect(),
        Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) | Json::Object(_) => {
            vec![text_of(value)]
        }
    };
    all.into_iter().filter(|text| !text.is_empty()).collect()
}
