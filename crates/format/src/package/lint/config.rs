//! Configuration of a package: names that are told apart, values that can be used, folders that exist.

use std::collections::{BTreeSet, HashMap};

use super::paths;
use crate::diagnostic::{Code, Diagnostic, Findings, Location};
use crate::package::document::Document;
use crate::package::files::Files;
use crate::package::manifest::{ConfigKey, MAX_VALUE_BYTES, ManifestDraft, with_defaults};
use crate::path::PackagePath;
use crate::placeholder;
use crate::wording::{quoted, ticked};

/// Names that have a value in every run of the package, before a step sets a variable.
pub(super) struct BoundNames<'m> {
    keys: &'m [ConfigKey],
    names: BTreeSet<&'m str>,
}

impl<'m> BoundNames<'m> {
    /// Returns the names; `None` if the configuration was unreadable.
    pub(super) fn of(manifest: &'m ManifestDraft) -> Option<Self> {
        let keys = manifest.config.as_deref()?;
        let mut names: BTreeSet<&str> = keys.iter().map(|key| key.name.as_str()).collect();
        let has_foreign = manifest.config_from.as_ref().is_none_or(|from| !from.is_empty());
        if !keys.is_empty() || has_foreign {
            names.extend(placeholder::SYSTEM);
        }
        if has_foreign {
            names.extend(placeholder::FOREIGN);
        }
        Some(Self { keys, names })
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &'m str> {
        self.names.iter().copied()
    }

    /// Fills in defaults, so that paths can be compared. A name without a default stays.
    pub(super) fn filled(&self, path: &str) -> String {
        with_defaults(self.keys, path, None)
    }
}

/// Checks what the manifest says about configuration and folders.
pub(super) fn check(
    document: &Document,
    manifest: &ManifestDraft,
    bound: Option<&BoundNames<'_>>,
    files: &dyn Files,
    findings: &mut Findings,
) {
    keys(document, manifest.config.as_deref().unwrap_or_default(), findings);
    for (name, folder) in manifest.aliases.iter().flatten() {
        let mistake = alias_mistake(name, folder, files);
        if let Some((message, help)) = mistake {
            let place = document.place(&["aliases".into(), name.as_str().into()]);
            findings.push(Diagnostic::new(Code::DeadAlias, place, message).help(help));
        }
    }
    for (at, root) in manifest.artifact_roots.iter().flatten().enumerate() {
        let place = || document.place(&["artifactRoots".into(), at.into()]);
        roots(root, place, bound, findings);
    }
    if let Some(path) =
        manifest.provenance.as_ref().filter(|path| !files.sizes().contains_key(*path))
    {
        let message = format!("`{path}` is not in the package");
        let place = document.place(&["provenance".into()]);
        let help = "add the report of the import, or remove `provenance`";
        findings.push(Diagnostic::new(Code::MissingFile, place, message).help(help));
    }
}

fn keys(document: &Document, keys: &[ConfigKey], findings: &mut Findings) {
    let mut seen: HashMap<&str, usize> = HashMap::new();
    for (at, key) in keys.iter().enumerate() {
        let place = |at: usize, name: &'static str| {
            document.place(&["config".into(), at.into(), name.into()])
        };
        if let Some(first) = seen.insert(&key.name, at) {
            let message = format!("two keys of the configuration have the name `{}`", key.name);
            let finding = Diagnostic::new(Code::DuplicateConfigName, place(at, "name"), message);
            findings.push(
                finding
                    .help("remove one of them, or give it another name")
                    .related(place(first, "name"), "the first one is here"),
            );
        }
        let Some(default) = &key.default else { continue };
        let reason = if default.len() > MAX_VALUE_BYTES {
            format!("has {} bytes; at most {MAX_VALUE_BYTES} are allowed", default.len())
        } else if default.contains(char::is_control) {
            "is not a single line without control characters".to_owned()
        } else if !key.choices.is_empty() && !key.choices.contains(default) {
            format!("is {}, which is not one of its choices", quoted(default))
        } else {
            continue;
        };
        let message = format!("the default of `{}` {reason}", key.name);
        let help = match key.choices.is_empty() {
            true => "write a short text on one line".to_owned(),
            false => format!("the choices are: {}", ticked(&key.choices)),
        };
        let finding = Diagnostic::new(Code::BadConfigDefault, place(at, "default"), message);
        findings.push(finding.help(help));
    }
}

fn alias_mistake(name: &str, folder: &PackagePath, files: &dyn Files) -> Option<(String, String)> {
    if name.contains('/') || PackagePath::new(name).is_err() {
        let message = format!("the alias {} is not the name of a folder", quoted(name));
        return Some((message, "write the name of one folder at the root of the project".into()));
    }
    let below = format!("{folder}/");
    let paths = files.sizes();
    let has_files = paths
        .range(PackagePath::lower_bound(&below)..)
        .next()
        .is_some_and(|(path, _)| path.as_str().starts_with(&below));
    if has_files {
        return None;
    }
    let message = format!("the alias `{name}` stands for `{folder}/`, which is not in the package");
    Some((message, "name a folder of the package, or remove the alias".into()))
}

fn roots(
    root: &str,
    place: impl Fn() -> Location,
    bound: Option<&BoundNames<'_>>,
    findings: &mut Findings,
) {
    let mut report = |message: String, help: String| {
        findings.push(Diagnostic::new(Code::BadArtifactRoot, place(), message).help(help));
    };
    let shown = quoted(root);
    if let Some(reason) = paths::folder_mistake(root) {
        let help = "write the path of a folder, relative to the project, without `..`";
        return report(format!("the artifact root {shown} {reason}"), help.into());
    }
    let Some(bound) = bound else { return };
    if let Some(name) = placeholder::names(root).find(|name| !bound.has(name)) {
        let name = quoted(name);
        let message = format!(
            "the artifact root {shown} is named by {name}, which has no value when a run starts"
        );
        report(message, format!("add {name} to `config`, or write the folder's name"));
    }
}
