//! Configurations that name instructions.

use std::collections::{BTreeMap, BTreeSet};

use crewagent_format::code::Code;
use crewagent_format::syntax::{Tree, yaml};
use crewagent_format::wording::quoted;
use serde_json::Value as Json;

use super::{PlainWorkflows, node, one_line, report_front, report_tags};
use crate::config::{is_name, is_value};
use crate::document::SourceDocument;
use crate::paths::stem_of;
use crate::plan::{SourceRef, WorkflowPlan};
use crate::recorder::ImportRecorder;
use crate::references::{ReferenceTarget, References, WrittenAt};
use crate::source_text::SourceText;
use crate::source_tree::{SourceTree, folder_of, name_of};

/// Keys with a meaning of their own; all other scalars are bindings.
const STRUCTURAL: [&str; 10] = [
    "name",
    "description",
    "author",
    "version",
    "instructions",
    "template",
    "validation",
    "installed_path",
    "config_source",
    "standalone",
];

/// A configuration that was read.
struct Configuration<'t> {
    path: &'t str,
    source: &'t SourceText,
    tree: Tree,
    json: Json,
    instructions: Option<String>,
}

/// Reads all configurations outside of skills and agents.
pub(super) fn workflows(
    tree: &SourceTree<'_>,
    references: &References<'_>,
    claimed: &mut [WorkflowPlan],
    used: &mut BTreeSet<String>,
    plain: &mut PlainWorkflows,
    recorder: &mut ImportRecorder,
) {
    let is_yaml = |path: &&str| path.ends_with(".yaml") || path.ends_with(".yml");
    for path in tree.content().filter(is_yaml).collect::<Vec<_>>() {
        let Some(configuration) = read(tree, references, path, recorder) else { continue };
        let folder = folder_of(path);
        let same = claimed.iter_mut().find(|plan| {
            let is_entry = configuration.instructions.as_ref() == Some(&plan.entry.file);
            is_entry || folder_of(&plan.entry.file) == folder
        });
        report_module(tree, &configuration, recorder);
        let (bindings, files) = bindings(tree, references, &configuration);
        if let Some(plan) = same {
            // The folder describes one workflow twice: this description gives variables.
            for (name, value) in bindings {
                plan.bindings.entry(name).or_insert(value);
            }
            plain.aliases.insert(path.to_owned(), plan.entry.file.clone());
            continue;
        }
        let Some(instructions) = configuration.instructions.clone() else { continue };
        used.insert(path.to_owned());
        used.insert(instructions.clone());
        let plan = plan(tree, &configuration, &instructions, recorder);
        plain.plans.extend(plan.map(|plan| WorkflowPlan { bindings, files, ..plan }));
    }
}

fn read<'t>(
    tree: &'t SourceTree<'_>,
    references: &References<'_>,
    path: &'t str,
    recorder: &mut ImportRecorder,
) -> Option<Configuration<'t>> {
    let source = tree.text(path)?;
    if !source.text().lines().any(|line| line.starts_with("instructions:")) {
        return None;
    }
    let parsed = match yaml::parse(source.text()) {
        Ok(parsed) => parsed,
        Err(errors) => {
            let error = errors.first();
            let line = error.map_or(1, |error| source.line_of(error.span.start));
            let reason = error.map(|error| error.message.as_str()).unwrap_or_default();
            let message = format!("it cannot be read: {reason}");
            let help = "correct the file; its workflow is not imported";
            recorder.line(tree, Code::CarriedAsText, (path, line), message, help);
            return None;
        }
    };
    let entry = parsed.get("instructions")?;
    let written = entry.tree.as_str()?.to_owned();
    let line = source.line_of(entry.key_span.start);
    let json = parsed.to_json();
    // `{installed_path}` means what the file says, else its own folder.
    let at = WrittenAt { file: path, base: folder_of(path) };
    let base = json.get("installed_path").and_then(Json::as_str);
    let base = base.and_then(|written| match references.resolve(written, at) {
        ReferenceTarget::Folder(_)
        | ReferenceTarget::File(_)
        | ReferenceTarget::Missing(_)
        | ReferenceTarget::Elsewhere
        | ReferenceTarget::NotAPath
            if written.contains("{installed_path}") =>
        {
            None
        }
        ReferenceTarget::Folder(place) => folder_at(tree, &place),
        ReferenceTarget::File(_)
        | ReferenceTarget::Missing(_)
        | ReferenceTarget::Elsewhere
        | ReferenceTarget::NotAPath => None,
    });
    let base = base.unwrap_or_else(|| folder_of(path).to_owned());
    let at = WrittenAt { file: path, base: &base };
    let instructions = match references.resolve(&written, at) {
        ReferenceTarget::File(file) => Some(file),
        ReferenceTarget::Folder(_)
        | ReferenceTarget::Missing(_)
        | ReferenceTarget::Elsewhere
        | ReferenceTarget::NotAPath => {
            let beside = format!("{}/{}", folder_of(path), name_of(&written));
            tree.package_path(&beside).is_some().then_some(beside)
        }
    };
    if instructions.is_none() {
        let message = format!("the instructions {} are not in the source", quoted(&written));
        let help = "correct the path; the workflow is not imported";
        recorder.line(tree, Code::DanglingReference, (path, line), message, help);
    }
    Some(Configuration { path, source, tree: parsed, json, instructions })
}

/// Returns the folder of the source at a folder of the package.
fn folder_at(tree: &SourceTree<'_>, place: &str) -> Option<String> {
    let (first, path) = tree.copies().find(|(own, _)| own.starts_with(&format!("{place}/")))?;
    let rest = first.strip_prefix(place)?;
    path.strip_suffix(rest).map(str::to_owned)
}

/// Reports a configuration of a module that is not in the source.
fn report_module(
    tree: &SourceTree<'_>,
    configuration: &Configuration<'_>,
    recorder: &mut ImportRecorder,
) {
    let Some(entry) = configuration.tree.get("config_source") else { return };
    let Some(written) = entry.tree.as_str() else { return };
    let mut parts = written.trim_end_matches("/config.yaml").rsplit('/');
    let Some(module) = parts.next().filter(|_| written.ends_with("/config.yaml")) else { return };
    if module.is_empty() || module.contains('{') || tree.modules().contains_key(module) {
        return;
    }
    let line = configuration.source.line_of(entry.key_span.start);
    let message = format!(
        "the configuration is that of the module {}, which is not in the source",
        quoted(module)
    );
    let help = "the values of the modules that are there are used";
    recorder.line(tree, Code::ModuleNotHere, (configuration.path, line), message, help);
}

/// Returns the bindings of a configuration, and the files that it names.
fn bindings(
    tree: &SourceTree<'_>,
    references: &References<'_>,
    configuration: &Configuration<'_>,
) -> (BTreeMap<String, String>, BTreeMap<String, String>) {
    let (mut bindings, mut files) = (BTreeMap::new(), BTreeMap::new());
    let at = WrittenAt { file: configuration.path, base: folder_of(configuration.path) };
    for (name, value) in configuration.json.as_object().into_iter().flatten() {
        let text = match value {
            Json::String(text) => text.trim().to_owned(),
            Json::Number(number) => number.to_string(),
            Json::Bool(_) | Json::Null | Json::Array(_) | Json::Object(_) => continue,
        };
        if !is_name(name) || !is_value(&text) || name == "instructions" {
            continue;
        }
        if let Some(file) = references.resolve(&text, at).file() {
            if let Some(path) = tree.mount_path(&file) {
                bindings.insert(name.clone(), path);
                files.insert(name.clone(), file);
            }
            continue;
        }
        if STRUCTURAL.contains(&name.as_str()) || text == "system-generated" {
            continue;
        }
        // A key of another file is a name of the configuration.
        let text = match text.split_once("}:") {
            Some((source, key)) if source.starts_with('{') && is_name(key) => format!("{{{key}}}"),
            _ => text,
        };
        if text != format!("{{{name}}}") {
            bindings.insert(name.clone(), text);
        }
    }
    (bindings, files)
}

fn plan(
    tree: &SourceTree<'_>,
    configuration: &Configuration<'_>,
    instructions: &str,
    recorder: &mut ImportRecorder,
) -> Option<WorkflowPlan> {
    let source = tree.text(instructions)?;
    let document = instructions.ends_with(".md").then(|| SourceDocument::read(source.text()));
    if let Some(document) = &document {
        report_front(tree, instructions, document, recorder);
    }
    let body = document.as_ref().map_or(&**source.text(), SourceDocument::body);
    let first = document.as_ref().map_or(1, |document| document.body_line);
    let last = source.lines().max(first);
    report_tags(tree, instructions, body, first, recorder);
    let text = |key: &str| {
        let text = configuration.json.get(key).and_then(Json::as_str).map(one_line);
        text.filter(|text| !text.is_empty())
    };
    let stem = stem_of(configuration.path);
    let folder = name_of(folder_of(configuration.path));
    let id = text("name").unwrap_or_else(|| {
        if stem == "workflow" && !folder.is_empty() { folder.to_owned() } else { stem.to_owned() }
    });
    let description = text("description").unwrap_or_default();
    Some(WorkflowPlan {
        title: id.clone(),
        module: tree.module_of(configuration.path).map(str::to_owned),
        entry: SourceRef {
            file: configuration.path.to_owned(),
            lines: (1, configuration.source.lines()),
        },
        brief: String::new(),
        bindings: BTreeMap::new(),
        nodes: vec![node(&id, &description, instructions, (first, last), body)],
        edges: Vec::new(),
        mirror: None,
        files: BTreeMap::new(),
        id,
        description,
    })
}
