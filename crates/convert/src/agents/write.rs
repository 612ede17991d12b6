//! `agents.json`: plans of agents as the format wants them.

use std::collections::BTreeSet;

use crewagent_format::code::Code;
use crewagent_format::package::agents::MenuItem;
use crewagent_format::package::agents::words::{Phrase, exact_words, normalised};
use crewagent_format::wording::quoted;
use serde_json::{Map, Value as Json, json};

use super::menu::{CONVERSATION, MenuAction, MenuTargets};
use super::{AgentPlan, MenuPlan};
use crate::recorder::ImportRecorder;

/// Numbers of menu items.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MenuCounts {
    pub(crate) items: usize,
    /// Items that lead to something that is there.
    pub(crate) resolved: usize,
}

/// Writes an agent as JSON.
pub(crate) fn written(
    plan: &AgentPlan,
    id: &str,
    targets: &MenuTargets<'_>,
    counts: &mut MenuCounts,
    recorder: &mut ImportRecorder,
) -> Json {
    let name = or(&plan.name, || titled(&plan.stem));
    let title = or(&plan.title, || name.clone());
    let mut metadata = Map::new();
    metadata.insert("name".to_owned(), json!(name));
    metadata.insert("title".to_owned(), json!(title));
    metadata.insert("icon".to_owned(), json!(or(&plan.icon, || "👤".to_owned())));
    for (key, value) in [
        ("module", &plan.module),
        ("description", &plan.description),
        ("capabilities", &plan.capabilities),
    ] {
        if let Some(value) = value {
            metadata.insert(key.to_owned(), json!(value));
        }
    }
    let mut agent = Map::new();
    agent.insert("id".to_owned(), json!(id));
    agent.insert("metadata".to_owned(), Json::Object(metadata));
    agent.insert("persona".to_owned(), persona(plan, &title, targets, recorder));
    let actions: Vec<String> =
        plan.critical_actions.iter().cloned().chain(memories(plan)).collect();
    if !actions.is_empty() {
        agent.insert("critical_actions".to_owned(), json!(actions));
    }
    let prompts = prompts(plan);
    if !prompts.is_empty() {
        agent.insert("prompts".to_owned(), Json::Array(prompts));
    }
    let menu = menu(plan, targets, counts, recorder);
    if !menu.is_empty() {
        agent.insert("menu".to_owned(), Json::Array(menu));
    }
    Json::Object(agent)
}

fn or(text: &str, otherwise: impl FnOnce() -> String) -> String {
    if text.trim().is_empty() { otherwise() } else { text.trim().to_owned() }
}

/// Makes a name of a stem: `tech-writer` becomes `Tech Writer`.
fn titled(stem: &str) -> String {
    let words = stem.split(['-', '_', '.', ' ']).filter(|word| !word.is_empty());
    let words = words.map(|word| {
        let mut chars = word.chars();
        chars.next().map(|first| first.to_uppercase().chain(chars).collect::<String>())
    });
    let name = words.flatten().collect::<Vec<String>>().join(" ");
    if name.is_empty() { "Agent".to_owned() } else { name }
}

fn persona(
    plan: &AgentPlan,
    title: &str,
    targets: &MenuTargets<'_>,
    recorder: &mut ImportRecorder,
) -> Json {
    let own = &plan.persona;
    let mut missing = Vec::new();
    let mut text = |key: &'static str, value: &str, otherwise: String| {
        if value.trim().is_empty() {
            missing.push(key);
            return otherwise;
        }
        value.to_owned()
    };
    let role = text("role", &own.role, title.to_owned());
    let identity = text("identity", &own.identity, format!("{title}."));
    let style =
        text("communication_style", &own.communication_style, "Clear and to the point.".to_owned());
    let first = own.principles.first().map(String::as_str).unwrap_or_default();
    let principle = text("principles", first, format!("Do what a good {title} does."));
    let principles = if own.principles.len() > 1 || (!own.is_text && !own.principles.is_empty()) {
        json!(own.principles)
    } else {
        json!(principle)
    };
    if !missing.is_empty() {
        let message = format!(
            "the agent {} says nothing about {}; its title stands in",
            quoted(&plan.stem),
            missing.join(", ")
        );
        recorder.line(
            targets.tree,
            Code::AgentIncomplete,
            (&plan.file, 1),
            message,
            "write what is missing, or leave it so",
        );
    }
    json!({
        "role": role,
        "identity": identity,
        "communication_style": style,
        "principles": principles,
    })
}

/// Tells memories as actions: the format has no place of its own for them.
fn memories(plan: &AgentPlan) -> impl Iterator<Item = String> {
    plan.memories.iter().map(|memory| match memory.strip_prefix("file:") {
        Some(path) => format!(
            "At the start, read the files {} if there are any, and treat what they say as given.",
            quoted(path.trim())
        ),
        None => format!("Always remember: {memory}"),
    })
}

fn prompts(plan: &AgentPlan) -> Vec<Json> {
    let mut ids = BTreeSet::new();
    let unique = plan.prompts.iter().filter(|prompt| ids.insert(&prompt.id));
    unique.map(|prompt| json!({ "id": prompt.id, "content": prompt.content })).collect()
}

fn menu(
    plan: &AgentPlan,
    targets: &MenuTargets<'_>,
    counts: &mut MenuCounts,
    recorder: &mut ImportRecorder,
) -> Vec<Json> {
    let mut used: BTreeSet<String> = BTreeSet::new();
    let mut items = Vec::new();
    for item in &plan.menu {
        let mut action = targets.action(plan, item, recorder);
        let (triggers, all_resolved) = handlers(plan, item, targets, recorder);
        counts.items += 1;
        let is_resolved = if item.handlers.is_empty() { action.is_resolved } else { all_resolved };
        counts.resolved += usize::from(is_resolved);
        if triggers.is_empty() && action.keys.keys().all(|key| key == "data") {
            action.keys.insert(
                "action".to_owned(),
                json!(or(&item.description, || "menu.show".to_owned())),
            );
        }
        let words = distinct_words(plan, item, targets, &mut used, recorder);
        items.push(written_item(plan, item, words, action, triggers));
    }
    if items.is_empty() {
        // An agent without a menu would never be used.
        items.push(json!({ "trigger": "CH", "description": "[CH] Talk", "action": CONVERSATION }));
    }
    items
}

fn handlers(
    plan: &AgentPlan,
    item: &MenuPlan,
    targets: &MenuTargets<'_>,
    recorder: &mut ImportRecorder,
) -> (Vec<Json>, bool) {
    let mut all_resolved = true;
    let triggers = item.handlers.iter().map(|handler| {
        let action = targets.action(plan, handler, recorder);
        all_resolved &= action.is_resolved;
        let mut keys = Map::new();
        keys.insert("type".to_owned(), json!("handler"));
        keys.insert(
            "match".to_owned(),
            json!(or(&handler.trigger, || handler.description.clone())),
        );
        keys.extend(action.keys);
        Json::Object(keys)
    });
    let triggers = triggers.collect();
    (triggers, all_resolved)
}

/// Words of an item that no earlier item has: its trigger, and its description with the code in front.
fn distinct_words(
    plan: &AgentPlan,
    item: &MenuPlan,
    targets: &MenuTargets<'_>,
    used: &mut BTreeSet<String>,
    recorder: &mut ImportRecorder,
) -> (Option<String>, String) {
    let trigger = item.trigger.trim();
    let mut description = or(&item.description, || trigger.to_owned());
    let parsed = MenuItem { description: description.clone(), ..MenuItem::default() };
    let word = Phrase::new(trigger).word.map(|word| word.trim_start_matches('*'));
    let fits = |word: &&str| {
        (1..=4).contains(&word.len()) && word.bytes().all(|byte| byte.is_ascii_alphanumeric())
    };
    if let Some(code) = word.filter(fits).filter(|_| parsed.code().is_none()) {
        description = format!("[{}] {description}", code.to_uppercase());
    }
    if description.is_empty() {
        description = titled(&plan.stem);
    }
    let trigger = Some(trigger.to_owned()).filter(|text| !text.is_empty());
    let words_of = |trigger: &Option<String>, description: &str| -> Vec<String> {
        let item = MenuItem {
            trigger: trigger.clone(),
            description: description.to_owned(),
            ..MenuItem::default()
        };
        exact_words(&item).into_iter().map(|(_, word)| normalised(word)).collect()
    };
    let own = words_of(&trigger, &description);
    let Some(taken) = own.iter().find(|word| used.contains(*word)).cloned() else {
        used.extend(own);
        return (trigger, description);
    };
    let message = format!(
        "the agent {} has two menu items that answer to {}; this one is chosen by its number or its text",
        quoted(&plan.stem),
        quoted(&taken)
    );
    recorder.line(
        targets.tree,
        Code::AgentIncomplete,
        (&item.file, item.line),
        message,
        "give one of them another code",
    );
    let plain = description.replace(['[', ']'], "");
    let trigger = trigger.filter(|_| words_of(&None, &plain).is_empty());
    let trigger = trigger
        .filter(|text| !words_of(&Some(text.clone()), "").iter().any(|word| used.contains(word)));
    used.extend(words_of(&trigger, &plain));
    (trigger, plain)
}

fn written_item(
    plan: &AgentPlan,
    item: &MenuPlan,
    (trigger, description): (Option<String>, String),
    action: MenuAction,
    triggers: Vec<Json>,
) -> Json {
    let mut keys = Map::new();
    if let Some(trigger) = trigger {
        keys.insert("trigger".to_owned(), json!(trigger));
    }
    keys.insert("description".to_owned(), json!(description));
    let starts_run = action.keys.contains_key("workflow");
    keys.extend(action.keys);
    if !triggers.is_empty() {
        keys.insert("triggers".to_owned(), Json::Array(triggers));
    }
    for (key, value) in [("ide-only", item.ide_only), ("web-only", item.web_only && !item.ide_only)]
    {
        if value {
            keys.insert(key.to_owned(), json!(true));
        }
    }
    if (action.yolo || plan.yolo) && starts_run {
        keys.insert("yolo".to_owned(), json!(true));
    }
    let source: Map<String, Json> =
        item.does.iter().map(|(key, value)| (key.clone(), json!(value))).collect();
    if !source.is_empty() {
        keys.insert("source".to_owned(), Json::Object(source));
    }
    Json::Object(keys)
}
