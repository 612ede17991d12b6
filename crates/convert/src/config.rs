//! Configuration that a source declares: `config[]` of the package.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crewagent_format::code::Code;
use crewagent_format::syntax::{Tree, yaml};
use crewagent_format::text::is_unsafe_char;
use serde_json::{Map, Value as Json, json};

use crate::bindings::{self, ConfigFaultKind, ConfigLayer};
use crate::recorder::ImportRecorder;
use crate::source_tree::{SourceTree, is_below, join};

/// Most names that are declared.
const MAX_KEYS: usize = 256;
/// Longest value, in bytes.
const MAX_VALUE_BYTES: usize = 1024;
/// Names that belong to a person, where nothing says whose they are.
const PERSONAL: [&str; 3] = ["user_name", "communication_language", "user_skill_level"];
/// Names that every run knows; the runtime has values for them.
const BUILT_IN: [&str; 5] = [
    "communication_language",
    "document_output_language",
    "output_folder",
    "project_name",
    "user_name",
];

/// Name that a source declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct ConfigPlan {
    pub(crate) default: Option<String>,
    pub(crate) is_personal: bool,
    pub(crate) is_path: bool,
    pub(crate) prompt: Option<String>,
    pub(crate) choices: Vec<String>,
    /// File and line that declare it.
    pub(crate) at: Option<(String, u32)>,
}

/// All names that a source declares.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct DeclaredConfig(pub(crate) BTreeMap<String, ConfigPlan>);

/// Reads what a source declares: keys with a prompt of its modules, and the values of an installation.
pub(crate) fn declared(tree: &SourceTree<'_>, recorder: &mut ImportRecorder) -> DeclaredConfig {
    let mut names: BTreeMap<String, ConfigPlan> = BTreeMap::new();
    for path in tree.read().filter(|path| path.ends_with("module.yaml")) {
        read_module(tree, path, &mut names, recorder);
    }
    let personal = personal_names(tree);
    for (name, value, at) in installed_values(tree, recorder) {
        let is_personal = PERSONAL.contains(&name.as_str()) || personal.contains(&name);
        let plan = names.entry(name.clone()).or_default();
        plan.is_personal |= is_personal;
        plan.is_path |= is_path(&name, &value);
        plan.at = plan.at.take().or(at);
        plan.default = if plan.is_personal { None } else { Some(value) };
    }
    for name in BUILT_IN {
        let plan = names.entry(name.to_owned()).or_default();
        plan.is_personal |= PERSONAL.contains(&name);
        plan.is_path |= name == "output_folder";
    }
    spread_paths(&mut names);
    while names.len() > MAX_KEYS {
        names.pop_last();
    }
    DeclaredConfig(names)
}

impl DeclaredConfig {
    /// Returns true if a name is declared.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.contains_key(name)
    }

    /// Writes `config[]` of the manifest.
    pub(crate) fn to_json(&self) -> Json {
        let keys = self.0.iter().map(|(name, plan)| {
            let mut key = Map::new();
            key.insert("name".to_owned(), json!(name));
            if let Some(default) = &plan.default {
                key.insert("default".to_owned(), json!(default));
            }
            if plan.is_personal {
                key.insert("scope".to_owned(), json!("user"));
            }
            if plan.is_path {
                key.insert("kind".to_owned(), json!("path"));
            }
            if let Some(prompt) = &plan.prompt {
                key.insert("prompt".to_owned(), json!(prompt));
            }
            if !plan.choices.is_empty() {
                key.insert("choices".to_owned(), json!(plan.choices));
            }
            Json::Object(key)
        });
        keys.collect()
    }

    /// Returns the folders of the project in which content writes.
    pub(crate) fn artifact_roots(&self) -> Vec<String> {
        let paths = self.0.iter().filter(|(_, plan)| plan.is_path);
        std::iter::once("artifacts".to_owned())
            .chain(paths.map(|(name, _)| format!("{{{name}}}")))
            .collect()
    }
}

/// Marks names whose values begin with a path.
fn spread_paths(names: &mut BTreeMap<String, ConfigPlan>) {
    let starts_with = |plan: &ConfigPlan, path: &String| {
        plan.default.as_ref().is_some_and(|value| value.starts_with(&format!("{{{path}}}")))
    };
    loop {
        let paths: Vec<String> =
            names.iter().filter(|(_, plan)| plan.is_path).map(|(name, _)| name.clone()).collect();
        let mut is_done = true;
        for plan in names.values_mut().filter(|plan| !plan.is_path) {
            plan.is_path = paths.iter().any(|path| starts_with(plan, path));
            is_done &= !plan.is_path;
        }
        if is_done {
            return;
        }
    }
}

/// Reads the keys with a prompt of a `module.yaml`.
fn read_module(
    tree: &SourceTree<'_>,
    path: &str,
    names: &mut BTreeMap<String, ConfigPlan>,
    recorder: &mut ImportRecorder,
) {
    let Some(source) = tree.text(path) else { return };
    let root = match yaml::parse(source.text()) {
        Ok(root) => root,
        Err(errors) => {
            let error = errors.first();
            let line = error.map_or(1, |error| source.line_of(error.span.start));
            let reason = error.map(|error| error.message.as_str()).unwrap_or_default();
            let message = format!("it cannot be read: {reason}");
            let help = "correct the file; the module is imported without its configuration";
            recorder.line(tree, Code::ConfigMissing, (path, line), message, help);
            return;
        }
    };
    for entry in root.as_map().unwrap_or_default() {
        if entry.tree.get("prompt").is_none() || !is_name(&entry.key) {
            continue;
        }
        let plan = names.entry(entry.key.clone()).or_default();
        if plan.at.is_none() {
            *plan = key(&entry.key, &entry.tree);
            plan.at = Some((path.to_owned(), source.line_of(entry.key_span.start)));
        }
    }
}

fn key(name: &str, tree: &Tree) -> ConfigPlan {
    let json = tree.to_json();
    let text = |key: &str| match json.get(key) {
        Some(Json::Array(lines)) => {
            let lines = lines.iter().filter_map(Json::as_str);
            Some(lines.collect::<Vec<_>>().join(" "))
        }
        Some(Json::String(text)) => Some(text.clone()),
        Some(value @ (Json::Number(_) | Json::Bool(_))) => Some(value.to_string()),
        Some(Json::Null | Json::Object(_)) | None => None,
    };
    let result = text("result").unwrap_or_else(|| "{value}".to_owned());
    let default = text("default").map(|default| result.replace("{value}", &default));
    // The name of the project's folder is what `project_name` is.
    let default = default.map(|default| default.replace("{directory_name}", "{project_name}"));
    let default = default.filter(|default| *default != format!("{{{name}}}") && is_value(default));
    let choices =
        ["single-select", "multi-select"].iter().find_map(|key| json.get(*key)?.as_array());
    let choices = choices.into_iter().flatten().filter_map(|choice| {
        let value = choice.get("value").unwrap_or(choice);
        value.as_str().map(str::to_owned)
    });
    let scope = text("scope");
    ConfigPlan {
        is_personal: scope.as_deref() == Some("user")
            || scope.is_none() && PERSONAL.contains(&name),
        is_path: result.contains("{project-root}"),
        prompt: text("prompt").map(|prompt| one_line(&prompt)).filter(|prompt| is_value(prompt)),
        choices: choices.filter(|choice| is_value(choice)).collect(),
        default,
        at: None,
    }
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Name, value and place of a configured value.
type InstalledValue = (String, String, Option<(String, u32)>);

/// Reads the values of an installation's configuration, without personal layers, and their places.
fn installed_values(tree: &SourceTree<'_>, recorder: &mut ImportRecorder) -> Vec<InstalledValue> {
    let mut values = Vec::new();
    for root in &tree.shape().installations {
        let folders: BTreeSet<String> = tree
            .files()
            .below(root)
            .filter_map(|path| crate::source_tree::below(path, root)?.split_once('/'))
            .map(|(folder, _)| folder.to_owned())
            .collect();
        let folders: Vec<String> = folders.into_iter().collect();
        let paths = bindings::layer_paths("", &folders);
        let paths = paths.iter().map(|path| join(root, path.trim_start_matches('/')));
        let layers: Vec<ConfigLayer> = paths
            .filter(|path| !path.contains(".user."))
            .filter_map(|path| {
                let text: Arc<str> = Arc::clone(tree.text(&path)?.text());
                Some(ConfigLayer { path, content: Ok(text) })
            })
            .collect();
        let found = bindings::resolve(&BTreeMap::new(), &layers);
        for fault in &found.faults {
            let code = match fault.kind {
                ConfigFaultKind::Missing => Code::ConfigMissing,
                ConfigFaultKind::Differs => Code::ConfigDiffers,
                ConfigFaultKind::Outside => Code::PathOutsideProject,
            };
            let file = layers.iter().find(|layer| fault.message.contains(&layer.path));
            let file = file.map_or(root.as_str(), |layer| layer.path.as_str());
            let help = "correct the configuration; the other values hold";
            recorder.file(code, file, fault.message.clone(), help);
        }
        values.extend(
            found.values.into_iter().filter(|(name, value)| is_name(name) && is_value(value)).map(
                |(name, value)| {
                    let at = layers.iter().rev().find_map(|layer| line_of(&name, layer));
                    (name, value, at)
                },
            ),
        );
        if !values.is_empty() {
            break;
        }
    }
    values
}

/// Returns the file and the line of a name in a layer.
fn line_of(name: &str, layer: &ConfigLayer) -> Option<(String, u32)> {
    let text = layer.content.as_ref().ok()?;
    let is_it = |line: &str| {
        let rest = line.trim_start().strip_prefix(name).map(str::trim_start);
        rest.is_some_and(|rest| rest.starts_with([':', '=']))
    };
    let line = text.lines().position(is_it)?;
    Some((layer.path.clone(), u32::try_from(line + 1).ok()?))
}

/// Returns the names in the configuration files of a person.
fn personal_names(tree: &SourceTree<'_>) -> BTreeSet<String> {
    let is_personal = |path: &&str| {
        let roots = &tree.shape().installations;
        path.ends_with("config.user.toml") && roots.iter().any(|root| is_below(path, root))
    };
    let texts = tree.read().filter(is_personal).filter_map(|path| tree.text(path));
    let lines = texts.flat_map(|text| text.text().lines());
    let names =
        lines.filter_map(|line| line.split_once('=')).map(|(name, _)| name.trim().to_owned());
    names.filter(|name| is_name(name)).collect()
}

fn is_path(name: &str, value: &str) -> bool {
    name == "output_folder"
        || value.contains("{project-root}")
        || value.starts_with("{output_folder}")
}

/// Returns true if a name can be declared.
pub(crate) fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.'))
}

/// Returns true for a single line of at most 1 KiB without control characters.
pub(crate) fn is_value(text: &str) -> bool {
    text.len() <= MAX_VALUE_BYTES && !text.trim().is_empty() && !text.chars().any(is_unsafe_char)
}
