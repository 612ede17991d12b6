//! Agents written as Markdown with an XML block, and agents of the time before with one block of YAML.

use crewagent_format::syntax::{Tree, yaml as yaml_syntax};

use super::{AgentPlan, MenuPlan, PersonaPlan, PromptPlan, stem, text_of, unreadable, yaml};
use crate::agents::menu::is_target_key;
use crate::recorder::ImportRecorder;
use crate::source_text::SourceText;
use crate::source_tree::{SourceTree, folder_of, is_below, name_of};
use crate::xml::{self, Element};

/// Reads an agent, if the file holds one.
pub(super) fn read(
    tree: &SourceTree<'_>,
    path: &str,
    recorder: &mut ImportRecorder,
) -> Option<AgentPlan> {
    let source = tree.text(path)?;
    if !source.text().contains("<agent") {
        return old_agent(tree, path, source);
    }
    let root = xml::parse(source.text());
    let mut all = Vec::new();
    root.descendants(&mut all);
    let agent = all.iter().copied().find(|element| element.name == "agent")?;
    let mut inside = Vec::new();
    agent.descendants(&mut inside);
    let is_agent = inside.iter().any(|element| matches!(element.name.as_str(), "persona" | "menu"));
    if !is_agent {
        return None;
    }
    let plan = plan(tree, path, source, agent, &inside);
    if plan.name.is_empty() && plan.persona == PersonaPlan::default() && plan.menu.is_empty() {
        let line = source.line_of(agent.start);
        unreadable(recorder, tree, path, line, "it has neither a name nor a persona nor a menu");
        return None;
    }
    Some(plan)
}

fn plan(
    tree: &SourceTree<'_>,
    path: &str,
    source: &SourceText,
    agent: &Element,
    inside: &[&Element],
) -> AgentPlan {
    let text = |name: &str| agent.attribute(name).map(str::to_owned);
    let named = |name: &str| inside.iter().copied().find(|element| element.name == name);
    let written = |element: &Element| element.written_text(source.text());
    let persona = named("persona").map(|own| read_persona(own, source.text())).unwrap_or_default();
    let memories = named("memories").into_iter().flat_map(|memories| &memories.children);
    let prompts = named("prompts").into_iter().flat_map(|prompts| &prompts.children);
    let prompts = prompts.filter_map(|prompt| {
        let content = written(prompt.child("content").unwrap_or(prompt));
        let id = prompt.attribute("id")?.to_owned();
        (!content.is_empty()).then_some(PromptPlan { id, content })
    });
    let actions = inside.iter().filter(|element| element.name == "critical-actions");
    let actions = actions.flat_map(|list| &list.children).map(written);
    let steps = extra_steps(inside, source.text());
    let items = inside.iter().filter(|element| is_item(element));
    AgentPlan {
        file: path.to_owned(),
        base: folder_of(path).to_owned(),
        stem: stem(path),
        module: tree.module_of(path).map(str::to_owned),
        name: text("name").unwrap_or_default(),
        title: text("title").unwrap_or_default(),
        icon: text("icon").unwrap_or_default(),
        description: text("description"),
        capabilities: text("capabilities"),
        persona,
        critical_actions: actions.chain(steps).filter(|text| !text.is_empty()).collect(),
        memories: memories.map(written).filter(|text| !text.is_empty()).collect(),
        prompts: prompts.collect(),
        menu: items.map(|item| menu_item(item, path, source)).collect(),
        ..AgentPlan::default()
    }
}

fn read_persona(persona: &Element, source: &str) -> PersonaPlan {
    let text = |name: &str| persona.child(name);
    let text = |name: &str| text(name).map(|own| own.written_text(source)).unwrap_or_default();
    let principles = persona.child("principles");
    let list: Vec<String> = principles
        .into_iter()
        .filter(|principles| principles.text.trim().is_empty())
        .flat_map(|principles| &principles.children)
        .map(|principle| principle.written_text(source))
        .filter(|text| !text.is_empty())
        .collect();
    let whole = text("principles");
    PersonaPlan {
        role: text("role"),
        identity: text("identity"),
        communication_style: text("communication_style"),
        is_text: list.is_empty(),
        principles: if list.is_empty() && !whole.is_empty() { vec![whole] } else { list },
    }
}

/// Returns the steps of an activation that are the agent's own. Those that every agent has (load the persona, the
/// configuration, greet, show the menu, wait, dispatch) are the runtime's work.
fn extra_steps(inside: &[&Element], source: &str) -> Vec<String> {
    const COMMON: [&str; 9] = [
        "load persona",
        "config.yaml",
        "remember: user",
        "show greeting",
        "let {user_name} know",
        "stop and wait",
        "on user input",
        "when executing a menu item",
        "when processing a menu item",
    ];
    let activation = inside.iter().find(|element| element.name == "activation");
    let steps = activation.into_iter().flat_map(|activation| &activation.children);
    let steps = steps.filter(|element| element.name == "step");
    let steps = steps.map(|step| step.written_text(source));
    steps
        .filter(|text| {
            let lower = text.to_lowercase();
            !COMMON.iter().any(|common| lower.contains(common))
        })
        .collect()
}

/// Returns true for an item of a menu: any element with a command, and items that hold handlers.
fn is_item(element: &Element) -> bool {
    element.attribute("cmd").is_some()
        || element.name == "item"
            && (element.attribute("type") == Some("multi") || element.child("handler").is_some())
}

fn menu_item(item: &Element, file: &str, source: &SourceText) -> MenuPlan {
    let does = |element: &Element| {
        let all = element.attributes.iter().filter(|(key, _)| is_target_key(key));
        let all = all.map(|(key, value)| (key.clone(), value.trim().to_owned()));
        all.filter(|(_, value)| !value.is_empty()).collect()
    };
    let line = source.line_of(item.start);
    let handlers = item.children.iter().filter(|child| child.name == "handler");
    MenuPlan {
        trigger: item.attribute("cmd").unwrap_or_default().to_owned(),
        description: item.text.split_whitespace().collect::<Vec<_>>().join(" "),
        does: does(item),
        handlers: handlers
            .map(|handler| MenuPlan {
                trigger: handler.attribute("match").unwrap_or_default().to_owned(),
                does: does(handler),
                file: file.to_owned(),
                line: source.line_of(handler.start),
                ..MenuPlan::default()
            })
            .collect(),
        ide_only: item.attribute("ide-only") == Some("true"),
        web_only: item.attribute("web-only") == Some("true"),
        file: file.to_owned(),
        line,
    }
}

/// Reads an agent of an old installation: Markdown with one block of YAML that has `agent`, `persona` and `commands`.
fn old_agent(tree: &SourceTree<'_>, path: &str, source: &SourceText) -> Option<AgentPlan> {
    if !tree.shape().old_installations.iter().any(|root| is_below(path, root)) {
        return None;
    }
    let (_, block) = source.text().split_once("```yaml")?;
    let (block, _) = block.split_once("```")?;
    let root = yaml_syntax::parse(block).ok()?;
    let agent = &root.get("agent")?.tree;
    let text = |tree: &Tree, key: &str| {
        tree.get(key).map(|entry| text_of(&entry.tree.to_json())).unwrap_or_default()
    };
    let mut persona = yaml::persona(root.get("persona").map(|entry| &entry.tree));
    if let Some(tree) = root.get("persona").map(|entry| &entry.tree) {
        persona.communication_style = text(tree, "style");
        if persona.principles.is_empty() {
            let core = tree.get("core_principles").map(|entry| entry.tree.to_json());
            persona.principles = core.as_ref().map(super::texts_of).unwrap_or_default();
            persona.is_text = false;
        }
    }
    let name = text(agent, "name");
    let when = text(agent, "whenToUse");
    Some(AgentPlan {
        file: path.to_owned(),
        base: folder_of(path).to_owned(),
        stem: stem(path),
        module: None,
        name,
        title: text(agent, "title"),
        icon: text(agent, "icon"),
        description: Some(when).filter(|text| !text.is_empty()),
        persona,
        menu: old_menu(tree, &root, path, source),
        ..AgentPlan::default()
    })
}

/// Reads `commands`: `name: text`, or texts; a text that names a task leads to its file.
fn old_menu(tree: &SourceTree<'_>, root: &Tree, path: &str, source: &SourceText) -> Vec<MenuPlan> {
    let Some(commands) = root.get("commands").map(|entry| &entry.tree) else { return Vec::new() };
    let block_start = source.text().find("```yaml").map_or(0, |at| at + 7);
    let pairs: Vec<(String, String, usize)> = match (commands.as_list(), commands.as_map()) {
        (Some(items), _) => items
            .iter()
            .flat_map(|item| match item.as_map() {
                Some(entries) => entries
                    .iter()
                    .map(|entry| {
                        (entry.key.clone(), text_of(&entry.tree.to_json()), entry.key_span.start)
                    })
                    .collect(),
                None => vec![(text_of(&item.to_json()), String::new(), item.span.start)],
            })
            .collect(),
        (None, Some(entries)) => entries
            .iter()
            .map(|entry| (entry.key.clone(), text_of(&entry.tree.to_json()), entry.key_span.start))
            .collect(),
        (None, None) => Vec::new(),
    };
    pairs
        .into_iter()
        .map(|(name, text, at)| {
            let trigger = name.split_whitespace().next().unwrap_or_default().to_owned();
            let description = if text.is_empty() { name } else { text };
            MenuPlan {
                does: old_target(tree, &trigger, &description),
                trigger,
                description,
                file: path.to_owned(),
                line: source.line_of(block_start + at),
                ..MenuPlan::default()
            }
        })
        .collect()
}

/// Returns what a command does: the task that its text names, or its text.
fn old_target(tree: &SourceTree<'_>, trigger: &str, text: &str) -> Vec<(String, String)> {
    let words = text.split(|c: char| c.is_whitespace() || matches!(c, '`' | ',' | '(' | ')'));
    let task = words
        .filter(|word| word.ends_with(".md"))
        .map(|word| format!("tasks/{}", name_of(word)))
        .find(|task| tree.at_package_path(&format!("bmad/{task}")).is_some());
    match (task, trigger.trim_start_matches('*')) {
        (Some(task), _) => vec![("task".to_owned(), format!("_bmad/{task}"))],
        (None, "help") => vec![("action".to_owned(), "menu.show".to_owned())],
        (None, "exit") => vec![("action".to_owned(), "agent.dismiss".to_owned())],
        (None, _) => vec![("action".to_owned(), text.to_owned())],
    }
}
