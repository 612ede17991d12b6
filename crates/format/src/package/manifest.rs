//! `bmad.json`: the name of a package and the paths of its parts.

mod config;

use std::collections::BTreeMap;

use schemars::JsonSchema;
use semver::Version;
use serde::Serialize;

pub use self::config::{ConfigKey, ConfigKind, ConfigScope};
pub(super) use self::config::{MAX_VALUE_BYTES, with_defaults};
use super::blank::NonBlank;
use super::versioned;
use crate::diagnostic::Code;
use crate::id::WorkflowId;
use crate::integrity::Digest;
use crate::path::PackagePath;
use crate::shape::{self, Object, ShapeReader};
use crate::syntax::Tree;
use crate::version::{Minor, SchemaVersion};

/// The manifest of a package.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct Manifest {
    /// Version of the package format.
    pub schema_version: SchemaVersion,
    /// Name of the package.
    #[schemars(length(min = 1))]
    pub name: String,
    /// Version of the package, by semantic versioning.
    #[schemars(with = "String", regex(pattern = SEMVER))]
    pub version: Version,
    /// Purpose of the package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Author of the package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub author: Option<String>,
    /// Time of creation, RFC 3339 with offset.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("format" = "date-time"))]
    pub created_at: Option<String>,
    /// Paths of the default workflow and the agents.
    pub entry: ManifestEntry,
    /// The workflows of the package, when it has several.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub workflows: Vec<WorkflowEntry>,
    /// Requirements of the package on the runtime.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runtime: Option<RuntimeNeeds>,
    /// The digest of the package's content.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub integrity: Option<Integrity>,
    /// Format 1.3: names that texts and paths use in braces, with their values when nothing else is known.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub config: Vec<ConfigKey>,
    /// Format 1.3: kinds of foreign configuration files of a project that are read at the start of a run.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, inner(regex(pattern = "^bmad$")))]
    pub config_from: Vec<String>,
    /// Format 1.3: folders of the project in which a run makes files; `artifacts` when absent.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default, inner(length(min = 1)))]
    pub artifact_roots: Vec<String>,
    /// Format 1.3: folders of the package that stand for missing folders at the root of the project, by their name there.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    #[schemars(default, with = "BTreeMap<String, PackagePath>")]
    pub aliases: BTreeMap<String, String>,
    /// Format 1.3: the report of the import that made this package.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub provenance: Option<PackagePath>,
}

/// Pattern for versions from semver.org.
macro_rules! semver_pattern {
    () => {
        r"^(0|[1-9]\d*)\.(0|[1-9]\d*)\.(0|[1-9]\d*)(?:-((?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*)(?:\.(?:0|[1-9]\d*|\d*[a-zA-Z-][0-9a-zA-Z-]*))*))?(?:\+([0-9a-zA-Z-]+(?:\.[0-9a-zA-Z-]+)*))?$"
    };
}

const SEMVER: &str = semver_pattern!();

/// Version whose last numbers may be absent.
const PARTIAL_SEMVER: &str = concat!(r"^(0|[1-9]\d*)(?:\.(0|[1-9]\d*))?$|", semver_pattern!());

/// Paths of the parts of a package.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct ManifestEntry {
    /// The document of the default workflow.
    pub workflow: PackagePath,
    /// The graph of the default workflow.
    pub graph: PackagePath,
    /// The agents.
    pub agents: PackagePath,
    /// The folder of templates and static files; `assets/` when absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<NonBlank>")]
    pub assets_dir: Option<String>,
}

/// One of several workflows.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct WorkflowEntry {
    /// Its id.
    pub id: WorkflowId,
    /// Its document.
    pub workflow: PackagePath,
    /// Its graph.
    pub graph: PackagePath,
    /// Name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// Purpose of the workflow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Words to find it by.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[schemars(default)]
    pub tags: Vec<String>,
}

/// Requirements of a package on the runtime.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
#[schemars(deny_unknown_fields)]
pub struct RuntimeNeeds {
    /// The oldest runtime that can run it; numbers that are left out count as 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", regex(pattern = PARTIAL_SEMVER))]
    pub min_runtime_version: Option<Version>,
    /// True if its steps need the network; shown before import.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub requires_network: Option<bool>,
}

/// The digest of a package's content.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(deny_unknown_fields)]
pub struct Integrity {
    /// See [`crate::integrity`].
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "Option<String>", regex(pattern = "^[0-9A-Fa-f]{64}$"))]
    pub sha256: Option<Digest>,
}

/// Readable part of a manifest: enough to look for mistakes elsewhere.
#[derive(Default)]
pub(super) struct ManifestDraft {
    pub(super) workflow: Option<PackagePath>,
    pub(super) graph: Option<PackagePath>,
    pub(super) agents: Option<PackagePath>,
    pub(super) workflows: Vec<WorkflowEntryDraft>,
    /// True if `workflows` was a readable list, so that there are no other workflows.
    workflows_read: bool,
    pub(super) min_runtime_version: Option<Version>,
    pub(super) sha256: Option<Digest>,
    /// `None` if it was unreadable, and so are the next three.
    pub(super) config: Option<Vec<ConfigKey>>,
    pub(super) artifact_roots: Option<Vec<String>>,
    pub(super) config_from: Option<Vec<String>>,
    pub(super) aliases: Option<BTreeMap<String, PackagePath>>,
    pub(super) provenance: Option<PackagePath>,
    /// Present if there are no errors.
    pub(super) manifest: Option<Manifest>,
}

/// Readable part of one of several workflows.
#[derive(Default)]
pub(super) struct WorkflowEntryDraft {
    pub(super) id: Option<WorkflowId>,
    pub(super) workflow: Option<PackagePath>,
    pub(super) graph: Option<PackagePath>,
    pub(super) display_name: Option<Option<String>>,
    pub(super) description: Option<Option<String>>,
    tags: Option<Vec<String>>,
}

impl WorkflowEntryDraft {
    fn finish(&self) -> Option<WorkflowEntry> {
        Some(WorkflowEntry {
            id: self.id.clone()?,
            workflow: self.workflow.clone()?,
            graph: self.graph.clone()?,
            display_name: self.display_name.clone()?,
            description: self.description.clone()?,
            tags: self.tags.clone()?,
        })
    }
}

impl ManifestDraft {
    pub(super) fn read(tree: &Tree, reader: &mut ShapeReader<'_>) -> Self {
        let mut draft = Self::default();
        draft.manifest = draft.fill(tree, reader);
        draft
    }

    /// Returns true if the name and the document of every workflow are known, so that any other name is wrong.
    pub(super) fn names_all_workflows(&self) -> bool {
        let known = |entry: &WorkflowEntryDraft| entry.id.is_some() && entry.workflow.is_some();
        self.workflows_read && self.workflow.is_some() && self.workflows.iter().all(known)
    }

    fn fill(&mut self, tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Manifest> {
        let mut object = Object::open(tree, reader)?;
        let schema_version = object.required("schemaVersion", reader, versioned);
        let name = object.required("name", reader, shape::text);
        let version = object.required("version", reader, semantic_version);
        let description = object.optional("description", reader, shape::string);
        let author = object.optional("author", reader, shape::string);
        // It has no effect, and other tools write it in other forms.
        let created_at = object.ignorable("createdAt", reader, shape::date_time);
        let entry = object.required("entry", reader, |tree, reader| self.entry(tree, reader));
        let workflows = object.optional("workflows", reader, |tree, reader| {
            let entries = shape::items(tree, reader, workflow_entry)?;
            self.workflows = entries.into_iter().map(Option::unwrap_or_default).collect();
            self.workflows.iter().map(WorkflowEntryDraft::finish).collect::<Option<Vec<_>>>()
        });
        let runtime = object.optional("runtime", reader, runtime_needs);
        let integrity = object.optional("integrity", reader, integrity);
        let config = object.list_since(Minor::V1_3, "config", reader, config::config_key);
        let config_from = object.list_since(Minor::V1_3, "configFrom", reader, config::source);
        let roots = object.list_since(Minor::V1_3, "artifactRoots", reader, shape::text);
        let aliases = object.since(Minor::V1_3, "aliases", reader, |tree, reader| {
            shape::map(tree, reader, shape::package_path)
        });
        let provenance = object.since(Minor::V1_3, "provenance", reader, shape::package_path);
        object.allow_schema(reader);
        reader.refuse_newer_keys();
        object.close(reader);
        self.config = config.clone();
        self.config_from = config_from.clone();
        self.aliases = aliases.clone().map(Option::unwrap_or_default);
        self.artifact_roots = roots.clone();
        self.provenance = provenance.clone().flatten();
        self.workflows_read = workflows.is_some() || !self.workflows.is_empty();
        let needs = runtime.as_ref().and_then(Option::as_ref);
        self.min_runtime_version = needs.and_then(|needs| needs.min_runtime_version.clone());
        self.sha256 = integrity.as_ref().and_then(|stated| stated.as_ref()?.sha256);
        Some(Manifest {
            schema_version: schema_version?,
            name: name?,
            version: version?,
            description: description?,
            author: author?,
            created_at: created_at.flatten(),
            entry: entry?,
            workflows: workflows?.unwrap_or_default(),
            runtime: runtime?,
            integrity: integrity?,
            config: config?,
            config_from: config_from?,
            artifact_roots: roots?,
            aliases: folders(aliases?),
            provenance: provenance?,
        })
    }

    fn entry(&mut self, tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<ManifestEntry> {
        let mut object = Object::open(tree, reader)?;
        self.workflow = object.required("workflow", reader, shape::package_path);
        self.graph = object.required("graph", reader, shape::package_path);
        self.agents = object.required("agents", reader, shape::package_path);
        let assets_dir = object.optional("assetsDir", reader, |tree, reader| {
            let text = shape::text(tree, reader)?;
            let folder = text.strip_suffix('/').unwrap_or(&text).to_owned();
            if matches!(text.as_str(), "." | "./") {
                return Some(text);
            }
            // The same rules as for a file, apart from the slash at the end.
            shape::package_path(
                &Tree { span: tree.span, value: crate::syntax::Value::String(folder) },
                reader,
            )?;
            Some(text)
        });
        object.close(reader);
        Some(ManifestEntry {
            workflow: self.workflow.clone()?,
            graph: self.graph.clone()?,
            agents: self.agents.clone()?,
            assets_dir: assets_dir?,
        })
    }
}

fn folders(aliases: Option<BTreeMap<String, PackagePath>>) -> BTreeMap<String, String> {
    let aliases = aliases.unwrap_or_default().into_iter();
    aliases.map(|(name, folder)| (name, folder.as_str().to_owned())).collect()
}

fn workflow_entry(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<WorkflowEntryDraft> {
    let mut object = Object::open(tree, reader)?;
    let draft = WorkflowEntryDraft {
        id: object.required("id", reader, shape::id(WorkflowId::new)),
        workflow: object.required("workflow", reader, shape::package_path),
        graph: object.required("graph", reader, shape::package_path),
        display_name: object.optional("displayName", reader, shape::string),
        description: object.optional("description", reader, shape::string),
        tags: object.list("tags", reader, shape::string),
    };
    object.close(reader);
    Some(draft)
}

/// Reads the runtime requirements without the unreadable ones: their errors refuse the package anyway.
fn runtime_needs(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<RuntimeNeeds> {
    let mut object = Object::open(tree, reader)?;
    // Other tools write what suits them, such as `>=0.1`.
    let min_runtime_version = object.ignorable("minRuntimeVersion", reader, partial_version);
    let requires_network = object.optional("requiresNetwork", reader, shape::boolean);
    object.close(reader);
    Some(RuntimeNeeds { min_runtime_version, requires_network: requires_network.flatten() })
}

fn integrity(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Integrity> {
    let mut object = Object::open(tree, reader)?;
    let sha256 = object.optional("sha256", reader, |tree, reader| {
        let text = shape::string(tree, reader)?;
        let digest = Digest::parse(&text);
        if digest.is_none() {
            let message = format!(
                "`integrity.sha256` must have 64 hexadecimal digits, but it has {} characters",
                text.chars().count()
            );
            let message = if text.chars().count() == 64 {
                "`integrity.sha256` has characters that are not hexadecimal digits".into()
            } else {
                message
            };
            reader.report(
                Code::BadDigest,
                tree.span,
                message,
                "run `crewagent package pack`, which writes it, or remove `integrity`",
            );
        }
        digest
    });
    object.close(reader);
    Some(Integrity { sha256: sha256? })
}

fn semantic_version(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Version> {
    let text = shape::string(tree, reader)?;
    version(&text, tree, reader)
}

/// Reads a version whose last numbers may be absent, as in `0.1`.
fn partial_version(tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Version> {
    let mut text = shape::string(tree, reader)?;
    if text.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.') {
        let given = text.split('.').count();
        text.push_str(&".0".repeat(3_usize.saturating_sub(given)));
    }
    version(&text, tree, reader)
}

fn version(text: &str, tree: &Tree, reader: &mut ShapeReader<'_>) -> Option<Version> {
    match Version::parse(text) {
        Ok(version) => Some(version),
        Err(_) => {
            let (reason, right) = version_mistake(text);
            let message = format!("`{}` is not a semantic version: {reason}", reader.trail());
            let help = match right {
                Some(right) => format!("write \"{right}\""),
                None => "write three numbers, for example 0.1.0 or 1.0.0-beta.2".to_owned(),
            };
            reader.report(Code::BadVersion, tree.span, message, help);
            None
        }
    }
}

/// Explains why a text is no semantic version, with the version that is meant if that is clear.
fn version_mistake(text: &str) -> (String, Option<String>) {
    let text = text.trim();
    let meant = |text: &str| Some(text.to_owned()).filter(|text| Version::parse(text).is_ok());
    if text.is_empty() {
        return ("it is empty".into(), None);
    }
    if let Some(rest) = text.strip_prefix(['v', 'V']) {
        return ("it begins with a letter".into(), meant(rest));
    }
    let end = text.find(['-', '+']).unwrap_or(text.len());
    let (core, suffix) = text.split_at(end);
    let numbers: Vec<&str> = core.split('.').collect();
    let is_number = |part: &&str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
    if !numbers.iter().all(is_number) {
        return ("it does not begin with three numbers and dots between them".into(), None);
    }
    if numbers.len() != 3 {
        let count = match numbers.len() {
            1 => "one number".to_owned(),
            many => format!("{many} numbers"),
        };
        let padded = core.to_owned() + &".0".repeat(3_usize.saturating_sub(numbers.len()));
        return (format!("it has {count} instead of three"), meant(&(padded + suffix)));
    }
    if numbers.iter().any(|part| part.len() > 1 && part.starts_with('0')) {
        let plain = numbers.iter().map(|part| match part.trim_start_matches('0') {
            "" => "0",
            digits => digits,
        });
        let plain = plain.collect::<Vec<_>>().join(".");
        return ("one of its numbers begins with 0".into(), meant(&(plain + suffix)));
    }
    if numbers.iter().any(|part| part.parse::<u64>().is_err()) {
        return ("one of its numbers is too large".into(), None);
    }
    ("what follows its three numbers has an empty part or a sign that is not allowed".into(), None)
}
