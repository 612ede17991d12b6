//! Customization of agents by the users of an installation, merged over what the installation has.

use crewagent_format::code::Code;
use crewagent_format::syntax::yaml as yaml_syntax;
use serde_json::{Map, Value as Json};

use super::{AgentPlan, PersonaPlan, text_of, yaml};
use crate::ConvertOptions;
use crate::layers::TomlLayers;
use crate::recorder::ImportRecorder;
use crate::source_tree::{SourceTree, join, name_of};

/// Merges `<module>-<agent>.customize.yaml` into an agent. An installer may have put the same into the agent's file:
/// nothing is added that is there already.
pub(super) fn customize(
    tree: &SourceTree<'_>,
    plan: &mut AgentPlan,
    options: &ConvertOptions,
    recorder: &mut ImportRecorder,
) {
    let module = plan.module.clone().unwrap_or_default();
    let name = format!("{module}-{}.customize.yaml", plan.stem);
    let personal = format!("{module}-{}.customize.user.yaml", plan.stem);
    let is_it = |path: &&str| {
        let own = name_of(path);
        path.contains("/agents/") && (own == name || options.personal && own == personal)
    };
    let paths: Vec<&str> = tree.read().filter(is_it).collect();
    for path in paths {
        let Some(source) = tree.text(path) else { continue };
        let root = match yaml_syntax::parse(source.text()) {
            Ok(root) => root,
            Err(errors) => {
                let error = errors.first();
                let line = error.map_or(1, |error| source.line_of(error.span.start));
                let reason = error.map(|error| error.message.as_str()).unwrap_or_default();
                let message = format!("the customization cannot be read: {reason}");
                let help = "correct the file; the agent is imported without it";
                recorder.line(tree, Code::ConfigMissing, (path, line), message, help);
                continue;
            }
        };
        let before = plan.clone();
        merge(plan, &root, path, source);
        if *plan != before {
            plan.customizations.push(path.to_owned());
        }
    }
}

fn merge(
    plan: &mut AgentPlan,
    root: &crewagent_format::syntax::Tree,
    path: &str,
    source: &crate::source_text::SourceText,
) {
    let metadata = root.get("agent").and_then(|agent| agent.tree.get("metadata"));
    if let Some(metadata) = metadata.map(|entry| &entry.tree) {
        let text = |key: &str| {
            let text = metadata.get(key).map(|entry| text_of(&entry.tree.to_json()));
            text.filter(|text| !text.is_empty())
        };
        for (key, own) in
            [("name", &mut plan.name), ("title", &mut plan.title), ("icon", &mut plan.icon)]
        {
            if let Some(text) = text(key) {
                *own = text;
            }
        }
        plan.capabilities = text("capabilities").or(plan.capabilities.take());
    }
    let persona = yaml::persona(root.get("persona").map(|entry| &entry.tree));
    let is_empty = PersonaPlan { is_text: true, ..PersonaPlan::default() };
    if (PersonaPlan { is_text: true, ..persona.clone() }) != is_empty {
        plan.persona = persona;
    }
    let mut added = AgentPlan::default();
    yaml::fill(&mut added, root, path, source);
    for action in added.critical_actions {
        if !plan.critical_actions.contains(&action) {
            plan.critical_actions.push(action);
        }
    }
    for memory in added.memories {
        if !plan.memories.contains(&memory) {
            plan.memories.push(memory);
        }
    }
    for prompt in added.prompts {
        match plan.prompts.iter_mut().find(|own| own.id == prompt.id) {
            Some(own) => *own = prompt,
            None => plan.prompts.push(prompt),
        }
    }
    for item in added.menu {
        let bare = |trigger: &str| trigger.trim_start_matches('*').to_owned();
        let trigger = bare(&item.trigger);
        if !plan.menu.iter().any(|own| bare(&own.trigger) == trigger) {
            plan.menu.push(item);
        }
    }
}

/// Reads `customize.toml` of a skill with the layers of the project over it. The second value names the layers.
pub(super) fn skill_table(
    tree: &SourceTree<'_>,
    (name, folder): (&str, &str),
    options: &ConvertOptions,
    recorder: &mut ImportRecorder,
) -> (Map<String, Json>, Vec<String>) {
    let mut table = TomlLayers::default();
    let mut layers = Vec::new();
    let roots = tree.shape().installations.iter();
    let custom = |ending: &str| format!("custom/{name}.{ending}");
    let team = roots.clone().map(|root| join(root, &custom("toml")));
    let personal = roots.map(|root| join(root, &custom("user.toml"))).filter(|_| options.personal);
    for (index, path) in
        std::iter::once(join(folder, "customize.toml")).chain(team).chain(personal).enumerate()
    {
        let Some(text) = tree.text(&path) else { continue };
        match table.add(text.text()) {
            Ok(()) if index > 0 => layers.push(path),
            Ok(()) => {}
            Err(reason) => {
                let message = format!("it cannot be read: {reason}");
                let help = "correct the file; the other layers hold";
                recorder.file(Code::ConfigMissing, &path, message, help);
            }
        }
    }
    (table.into_json(), layers)
}
