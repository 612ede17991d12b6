//! Menu items: what an item does is judged by the file that it points to, never by the name of its key.

use std::collections::BTreeMap;

use crewagent_format::code::Code;
use crewagent_format::wording::quoted;
use serde_json::{Map, Value as Json, json};

use super::{AgentPlan, MenuPlan, text_of};
use crate::recorder::ImportRecorder;
use crate::references::{ReferenceTarget, References, WrittenAt};
use crate::source_tree::{SourceTree, folder_of, name_of};

/// Keys of an item that do not say what it does.
const DESCRIPTIVE: [&str; 18] = [
    "trigger",
    "triggers",
    "cmd",
    "code",
    "id",
    "description",
    "multi",
    "name",
    "label",
    "type",
    "match",
    "input",
    "ide-only",
    "web-only",
    "hidden",
    "icon",
    "handlers",
    "discussion",
];
/// Keys whose value is words for the model, or `#id` of a prompt.
const WORDS: [&str; 4] = ["action", "prompt", "inline", "run"];
/// Keys whose value is data.
const DATA: [&str; 3] = ["data", "tmpl", "template"];
/// Keys whose value has to be a target.
const TARGETS: [&str; 10] = [
    "workflow",
    "exec",
    "skill",
    "route",
    "run-workflow",
    "workflow-install",
    "validate-workflow",
    "task",
    "checklist",
    "file",
];

/// Instruction of an item that is plain talk.
pub(super) const CONVERSATION: &str =
    "Talk with the user about whatever they want, in character. Ask what it is about.";

/// Returns true if a key says what an item does.
pub(super) fn is_target_key(key: &str) -> bool {
    !DESCRIPTIVE.contains(&key)
}

/// Reads the handlers inside of an item, in its three spellings: a list of maps from a name to a list of keys, from a
/// name to keys, or a list of keys.
pub(super) fn multi_handlers(item: &Json, file: &str, line: u32) -> Vec<MenuPlan> {
    let triggers = item.get("triggers").or_else(|| item.get("handlers"));
    let Some(list) = triggers.and_then(Json::as_array) else { return Vec::new() };
    let mut handlers = Vec::new();
    for group in list.iter().filter_map(Json::as_object) {
        let is_flat = group.values().all(|value| !value.is_array() && !value.is_object());
        if is_flat {
            let name = ["trigger", "name", "match", "input"].iter().find_map(|key| group.get(*key));
            handlers.extend(handler(
                &name.map(text_of).unwrap_or_default(),
                group.clone(),
                file,
                line,
            ));
            continue;
        }
        for (name, value) in group {
            let keys = match value {
                Json::Object(map) => map.clone(),
                Json::Array(parts) => parts
                    .iter()
                    .filter_map(Json::as_object)
                    .flatten()
                    .map(|(key, value)| (key.clone(), value.clone()))
                    .collect(),
                Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => continue,
            };
            handlers.extend(handler(name, keys, file, line));
        }
    }
    handlers
}

fn handler(name: &str, keys: Map<String, Json>, file: &str, line: u32) -> Option<MenuPlan> {
    let text = |key: &str| keys.get(key).map(text_of).filter(|text| !text.is_empty());
    let trigger = text("input").or_else(|| text("match")).unwrap_or_else(|| name.to_owned());
    let does: Vec<(String, String)> = keys
        .iter()
        .filter(|(key, _)| is_target_key(key))
        .map(|(key, value)| (key.clone(), text_of(value)))
        .filter(|(_, value)| !value.is_empty())
        .collect();
    (!does.is_empty()).then(|| MenuPlan {
        trigger,
        description: name.to_owned(),
        does,
        file: file.to_owned(),
        line,
        ..MenuPlan::default()
    })
}

/// Targets of menu items.
pub(crate) struct MenuTargets<'a> {
    pub(crate) tree: &'a SourceTree<'a>,
    pub(crate) references: &'a References<'a>,
    /// Id of the workflow that was made of a file.
    pub(crate) workflows: &'a BTreeMap<String, String>,
    /// Paths in the package of lists that are generated.
    pub(crate) generated: &'a [&'static str],
}

/// Resolved target of an item: keys of `agents.json`.
#[derive(Default)]
pub(super) struct MenuAction {
    pub(super) keys: Map<String, Json>,
    pub(super) is_resolved: bool,
    pub(super) yolo: bool,
}

impl MenuTargets<'_> {
    /// Resolves what an item does.
    pub(super) fn action(
        &self,
        agent: &AgentPlan,
        item: &MenuPlan,
        recorder: &mut ImportRecorder,
    ) -> MenuAction {
        let mut action = MenuAction::default();
        let mut dangling = None;
        for (key, written) in &item.does {
            let (value, yolo) = without_yolo(written);
            action.yolo |= yolo;
            if DATA.contains(&key.as_str()) {
                if let Some(path) = self.data(agent, item, value, recorder) {
                    action.keys.entry("data").or_insert_with(|| json!(path));
                }
            } else if WORDS.contains(&key.as_str()) {
                self.words(agent, value, &mut action);
            } else if !self.file(agent, item, value, key == "validate-workflow", &mut action)
                && TARGETS.contains(&key.as_str())
            {
                dangling = Some((key.clone(), value.to_owned()));
            }
        }
        if !action.is_resolved && item.handlers.is_empty() {
            match dangling {
                Some((key, value)) => self.dangling(item, &key, &value, &mut action, recorder),
                None => without_target(item, &mut action),
            }
        }
        action.yolo |= item.description.contains("#yolo");
        action
    }

    fn words(&self, agent: &AgentPlan, value: &str, action: &mut MenuAction) {
        if action.is_resolved {
            return;
        }
        // A prompt that is not there is words, so that the item still does something.
        let id = value.strip_prefix('#');
        let is_known = id.is_none_or(|id| agent.prompts.iter().any(|prompt| prompt.id == id));
        let text = if is_known { value } else { id.unwrap_or(value) };
        action.keys.insert("action".to_owned(), json!(text));
        action.is_resolved = is_known;
    }

    /// Resolves a file; returns false if there is none.
    fn file(
        &self,
        agent: &AgentPlan,
        item: &MenuPlan,
        value: &str,
        is_check: bool,
        action: &mut MenuAction,
    ) -> bool {
        let at = WrittenAt { file: &item.file, base: &agent.base };
        let ReferenceTarget::File(path) = self.references.resolve(value, at) else { return false };
        if action.is_resolved {
            return true;
        }
        let checklist = is_check.then(|| self.checklist(&path)).flatten();
        let path = checklist.unwrap_or(path);
        let target = match self.workflows.get(&path) {
            Some(id) => Some(("workflow", id.clone())),
            None if path.ends_with(".md") => self.tree.mount_path(&path).map(|path| ("exec", path)),
            None => None,
        };
        let Some((key, text)) = target else { return false };
        action.keys.remove("action");
        action.keys.insert(key.to_owned(), json!(text));
        action.is_resolved = true;
        true
    }

    /// Returns the checklist beside a configuration file.
    fn checklist(&self, path: &str) -> Option<String> {
        let is_checklist = |path: &&str| name_of(path) == "checklist.md";
        (!path.ends_with(".md")).then_some(())?;
        let folder = folder_of(path);
        self.tree.below(folder).find(is_checklist).map(str::to_owned)
    }

    fn data(
        &self,
        agent: &AgentPlan,
        item: &MenuPlan,
        value: &str,
        recorder: &mut ImportRecorder,
    ) -> Option<String> {
        let at = WrittenAt { file: &item.file, base: &agent.base };
        match self.references.resolve(value, at) {
            ReferenceTarget::File(path) => self.tree.mount_path(&path),
            ReferenceTarget::Missing(path) => {
                let message = format!(
                    "the menu item {} names {}, which is not in the source",
                    named(item),
                    quoted(&path)
                );
                recorder.line(
                    self.tree,
                    Code::DanglingReference,
                    (&item.file, item.line),
                    message,
                    "add the file; until then the item works without it",
                );
                None
            }
            ReferenceTarget::Elsewhere => {
                let name = name_of(value);
                let list = self.generated.iter().find(|path| name_of(path) == name);
                let list = list.map(|path| format!("@pkg/{path}"));
                let project =
                    value.strip_prefix("{project-root}/").map(|rest| format!("@project/{rest}"));
                list.or(project.filter(|path| !path.contains(['{', '*', '<'])))
            }
            ReferenceTarget::Folder(_) | ReferenceTarget::NotAPath => None,
        }
    }

    /// Keeps an item whose target is not there: it says so.
    fn dangling(
        &self,
        item: &MenuPlan,
        key: &str,
        value: &str,
        action: &mut MenuAction,
        recorder: &mut ImportRecorder,
    ) {
        let module = value
            .split(['/', '\\'])
            .skip_while(|part| !part.to_ascii_lowercase().contains("bmad"))
            .nth(1);
        let (reason, help) = match module {
            Some(module)
                if !module.contains('.')
                    && !module.starts_with('_')
                    && !self.tree.modules().contains_key(module) =>
            {
                (
                    format!("the module {} is not in the source", quoted(module)),
                    "import a source that has the module",
                )
            }
            _ if value.eq_ignore_ascii_case("todo") => (
                "its author has not written it yet".to_owned(),
                "update the source when it is there",
            ),
            _ => (
                "there is no such file in the source".to_owned(),
                "correct the item, or add the file",
            ),
        };
        let message = format!(
            "the menu item {} leads to {} by `{key}`, but {reason}",
            named(item),
            quoted(value)
        );
        recorder.line(self.tree, Code::DanglingReference, (&item.file, item.line), message, help);
        let text = format!(
            "Tell the user that this item cannot be done: it leads to {}, and {reason}. Then show the menu again. Do nothing else.",
            quoted(value)
        );
        action.keys.insert("action".to_owned(), json!(text));
    }
}

fn named(item: &MenuPlan) -> String {
    quoted(if item.trigger.is_empty() { &item.description } else { &item.trigger })
}

/// Gives an item without a target what its words say: those that installers add.
fn without_target(item: &MenuPlan, action: &mut MenuAction) {
    if action.keys.contains_key("action") {
        return;
    }
    let words = format!("{} {}", item.trigger, item.description).to_lowercase();
    let has =
        |all: &[&str]| words.split(|c: char| !c.is_alphanumeric()).any(|word| all.contains(&word));
    let text = if has(&["dismiss", "exit", "goodbye", "quit"]) {
        "agent.dismiss".to_owned()
    } else if has(&["menu"]) {
        "menu.show".to_owned()
    } else if has(&["chat", "talk"]) {
        CONVERSATION.to_owned()
    } else {
        item.description.clone()
    };
    action.is_resolved = !text.is_empty();
    let text = if text.is_empty() { "menu.show".to_owned() } else { text };
    action.keys.insert("action".to_owned(), json!(text));
}

/// Splits the sign for YOLO off a value.
fn without_yolo(value: &str) -> (&str, bool) {
    let trimmed = value.trim();
    match trimmed.strip_suffix("#yolo") {
        Some(rest) => (rest.trim_end(), true),
        None => (trimmed, trimmed.contains("#yolo")),
    }
}
