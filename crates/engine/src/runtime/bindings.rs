//! Resolves the bindings of a run: once, at its start. A resumed run has those of its record.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crewagent_convert::bindings::{
    ConfigFault, ConfigFaultKind, ConfigLayer, ConfigValues, MAX_LAYER_BYTES, ROOTS, layer_paths,
    resolve,
};
use crewagent_core::bindings::{self, Bindings, is_value};
use crewagent_core::vpath::{Mount, VPath};
use crewagent_format::package::Package;
use crewagent_format::wording::{cut, quoted};
use jiff::Timestamp;
use serde_json::{Map, Value as Json};

use crate::clock;
use crate::mounts::{Mounts, OpenError, Roots};
use crate::store::Installed;

/// Foreign configuration that can be read.
const FOREIGN: &str = "bmad";
/// Name that the user has without any configuration.
const USER: &str = "user_name";
/// Most names in a folder of an installation that are looked at.
const MAX_LISTED: usize = 1_000;
/// Size of the note about mistakes, in characters.
const NOTE_CHARS: usize = 1_000;

/// Sources that the bindings of a run are resolved from.
pub(super) struct BindingSources<'f> {
    pub(super) package: &'f Package,
    pub(super) installed: &'f Installed,
    /// Folder of the user's project.
    pub(super) project: &'f Path,
    pub(super) user_name: &'f str,
    pub(super) now: Timestamp,
    /// Values that the user gave for this project.
    pub(super) answers: &'f BTreeMap<String, String>,
    /// Values that the user gave for this run.
    pub(super) given: &'f BTreeMap<String, String>,
}

/// Bindings of a run, and what was wrong with their sources.
#[derive(Clone, Debug, Default)]
pub(super) struct RunBindings {
    pub(super) bindings: Bindings,
    /// One line for the user.
    pub(super) note: Option<String>,
}

/// Opens the project of a run that does not exist yet; its state is nowhere.
pub(super) fn project_mounts(project: &Path, installed: &Installed) -> Result<Mounts, OpenError> {
    let package = installed.files_folder();
    let roots = Roots { project: project.to_owned(), state: package.clone(), package };
    Mounts::open(&roots)
}

/// Resolves the bindings. A missing value never stops a run.
pub(super) fn resolved(sources: &BindingSources<'_>) -> Result<RunBindings, OpenError> {
    if !bindings::uses_bindings(sources.package) {
        return Ok(RunBindings::default());
    }
    let manifest = sources.package.manifest();
    let layers = match manifest.config_from.iter().any(|kind| kind == FOREIGN) {
        true => layers(&project_mounts(sources.project, sources.installed)?),
        false => Vec::new(),
    };
    let mut defaults = built_in(sources);
    for key in &manifest.config {
        let default = key.default.as_ref().filter(|default| !default.trim().is_empty());
        let is_named = key.name == USER && defaults.contains_key(USER);
        if let Some(default) = default.filter(|_| !is_named) {
            defaults.insert(key.name.clone(), default.clone());
        }
    }
    let ConfigValues { mut values, mut faults } = resolve(&defaults, &layers);
    for (name, value) in sources.answers.iter().chain(sources.given) {
        if is_value(value) {
            values.insert(name.clone(), value.clone());
        }
    }
    values.extend(system(sources));
    let resolved = Bindings::resolved(values);
    let checked: BTreeMap<String, String> = resolved
        .iter()
        .map(|(name, value)| (name.to_owned(), placed(sources, name, value, &mut faults)))
        .collect();
    let bindings = Bindings::resolved(checked);
    for (name, value) in bindings.iter().filter(|(_, value)| bindings.fill(value) != *value) {
        let message = format!("{name} cannot be resolved: {}", quoted(&cut(value, 80)));
        faults.push(ConfigFault { kind: ConfigFaultKind::Missing, message });
    }
    Ok(RunBindings { bindings, note: note(&faults) })
}

/// Returns the package with the values in its texts.
pub(super) fn filled(
    package: &Arc<Package>,
    installed: &Installed,
    bindings: &Bindings,
    adopted: Option<(&str, &str)>,
) -> Arc<Package> {
    let aliases = &package.manifest().aliases;
    let in_package = |value: &str| in_package(value, aliases, installed);
    bindings::filled(package, bindings, &in_package, adopted)
}

/// Returns the given variables that are no bindings of a package, and those that are, as texts.
pub(super) fn given(
    package: &Package,
    variables: &Map<String, Json>,
) -> (Map<String, Json>, BTreeMap<String, String>) {
    let (mut rest, mut given) = (variables.clone(), BTreeMap::new());
    if !bindings::uses_bindings(package) {
        return (rest, given);
    }
    let config = &package.manifest().config;
    let is_binding = |name: &String| {
        config.iter().any(|key| key.name == *name) || BUILT_IN.contains(&name.as_str())
    };
    rest.retain(|name, value| {
        let text = match value {
            Json::String(text) => Some(text.clone()),
            Json::Number(_) | Json::Bool(_) => Some(value.to_string()),
            Json::Null | Json::Array(_) | Json::Object(_) => None,
        };
        match text.filter(|_| is_binding(name)) {
            Some(text) => given.insert(name.clone(), text).is_some(),
            None => true,
        }
    });
    (rest, given)
}

/// Names that have a value without any configuration.
const BUILT_IN: [&str; 5] =
    ["communication_language", "document_output_language", "output_folder", "project_name", USER];

fn built_in(sources: &BindingSources<'_>) -> BTreeMap<String, String> {
    let folder = folder_name(sources.project);
    let values = ["English", "English", "_bmad-output", &folder, sources.user_name.trim()];
    let values = BUILT_IN.into_iter().zip(values).filter(|(_, value)| is_value(value));
    values
        .filter(|(_, value)| !value.is_empty())
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect()
}

/// Returns what the runtime knows, which no configuration can change.
fn system(sources: &BindingSources<'_>) -> impl Iterator<Item = (String, String)> {
    let now = clock::for_people(sources.now);
    let part = |range: std::ops::Range<usize>| now.get(range).unwrap_or_default().to_owned();
    let values = [
        ("date", part(0..10)),
        // Most often part of a file's name, where a colon is not allowed.
        ("time", part(11..16).replace(':', "-")),
        ("timestamp", now.clone()),
        ("project-root", Mount::Project.name().to_owned()),
        ("directory_name", folder_name(sources.project)),
    ];
    values.into_iter().map(|(name, value)| (name.to_owned(), value))
}

fn folder_name(project: &Path) -> String {
    let name = project.file_name().map(|name| name.to_string_lossy().into_owned());
    name.filter(|name| is_value(name)).unwrap_or_else(|| "project".to_owned())
}

/// Reads the configuration files of the installation in a project; none if there is none.
fn layers(mounts: &Mounts) -> Vec<ConfigLayer> {
    for root in ROOTS {
        let Some(folder) = VPath::new(Mount::Project, root) else { continue };
        let Ok(Ok(listing)) = mounts.list(&folder, 1, MAX_LISTED) else { continue };
        let folders: Vec<String> =
            listing.entries.into_iter().filter(|name| name.ends_with('/')).collect();
        let paths = layer_paths(root, &folders);
        let read = paths.into_iter().filter_map(|path| layer(mounts, path));
        let layers: Vec<ConfigLayer> = read.collect();
        if !layers.is_empty() {
            return layers;
        }
    }
    Vec::new()
}

/// Reads a layer; none if there is no such file.
fn layer(mounts: &Mounts, path: String) -> Option<ConfigLayer> {
    let file = VPath::new(Mount::Project, &path)?;
    let content = match mounts.stat(&file) {
        Ok(Ok(stat)) if stat.size > MAX_LAYER_BYTES as u64 => {
            Err(format!("it is larger than {MAX_LAYER_BYTES} bytes"))
        }
        Ok(Ok(_)) => match mounts.read(&file, MAX_LAYER_BYTES + 1) {
            Ok(Ok(content)) => match String::from_utf8(content.bytes) {
                Ok(text) => Ok(text.into()),
                Err(_) => Err("it is no UTF-8 text".to_owned()),
            },
            Ok(Err(refusal)) => Err(refusal.message),
            Err(error) => Err(error.to_string()),
        },
        Ok(Err(refusal)) if refusal.code == crewagent_core::refusal::RefusalCode::NotFound => {
            return None;
        }
        Ok(Err(refusal)) => Err(refusal.message),
        Err(error) => Err(error.to_string()),
    };
    Some(ConfigLayer { path, content })
}

/// Returns a value as texts have it: an absolute path in the project by its mount, and a path to a file of the package
/// below `@pkg`. A path that leads out of the project stays as it is and is told.
fn placed(
    sources: &BindingSources<'_>,
    name: &str,
    value: &str,
    faults: &mut Vec<ConfigFault>,
) -> String {
    let bytes = value.as_bytes();
    let is_drive = bytes.first().is_some_and(u8::is_ascii_alphabetic)
        && bytes.get(1) == Some(&b':')
        && matches!(bytes.get(2), Some(b'/' | b'\\'));
    let is_absolute = value.starts_with(['/', '\\', '~']) || is_drive;
    if is_absolute && let Ok(below) = Path::new(value).strip_prefix(sources.project) {
        let parts: Vec<_> =
            below.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        if let Some(path) = VPath::new(Mount::Project, &parts.join("/")) {
            return path.to_string();
        }
    }
    let climbs = value.split(['/', '\\']).any(|part| part == "..");
    if is_absolute || climbs {
        let message = format!("{name} leads out of the project: {}", quoted(&cut(value, 80)));
        faults.push(ConfigFault { kind: ConfigFaultKind::Outside, message });
        return value.to_owned();
    }
    in_package(value, &sources.package.manifest().aliases, sources.installed)
        .unwrap_or_else(|| value.to_owned())
}

/// Returns the path in the package of what a path of the project stands for, if the package has it.
fn in_package(
    value: &str,
    aliases: &BTreeMap<String, String>,
    installed: &Installed,
) -> Option<String> {
    let below = value.strip_prefix("@project/")?;
    let (first, rest) = below.split_once('/')?;
    let folder = aliases.get(first)?;
    let path = VPath::new(Mount::Package, &format!("{folder}/{rest}"))?;
    installed.files_folder().join(path.relative()).exists().then(|| path.to_string())
}

/// Returns the mistakes as one line.
fn note(faults: &[ConfigFault]) -> Option<String> {
    if faults.is_empty() {
        return None;
    }
    let texts: Vec<String> =
        faults.iter().map(|fault| format!("{} {}", fault.kind.code(), fault.message)).collect();
    Some(cut(&format!("configuration of the project: {}", texts.join("; ")), NOTE_CHARS))
}
