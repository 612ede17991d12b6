//! Packages for runtimes and tools that know only an older version of the format: what that version does not know is
//! left out, with a note for each part.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use serde_json::{Map, Value as Json, json};

use super::document::{Document, PathKey};
use super::files::Files;
use super::graph::Node;
use super::{Package, Workflow};
use crate::diagnostic::{Code, Diagnostic, Findings, Location, Sources};
use crate::frontmatter::{Edit, Frontmatter};
use crate::integrity::MANIFEST;
use crate::path::PackagePath;
use crate::placeholder;
use crate::syntax;
use crate::version::{Minor, SchemaVersion};
use crate::wording::quoted;

/// Documents of a package in an older version.
#[derive(Debug)]
pub struct OlderPackage {
    /// The documents that changed.
    pub files: BTreeMap<PackagePath, Arc<[u8]>>,
    /// A note for each part that was left out.
    pub notes: Findings,
    /// Texts of the package as it was, into which the notes point.
    pub sources: Sources,
}

/// Rewrites the documents of a package for a version. Fails if a document cannot be read or edited.
pub fn older(package: &Package, files: &dyn Files, version: Minor) -> Result<OlderPackage, String> {
    let mut rewriting = Rewriting {
        package,
        files,
        version,
        changed: BTreeMap::new(),
        steps: BTreeMap::new(),
        notes: Findings::default(),
        sources: Sources::default(),
    };
    rewriting.manifest()?;
    rewriting.agents()?;
    for workflow in package.workflows() {
        rewriting.graph(workflow)?;
        rewriting.workflow(workflow)?;
    }
    rewriting.steps()?;
    let Rewriting { changed, mut notes, sources, .. } = rewriting;
    notes.locate(&sources);
    Ok(OlderPackage { files: changed, notes, sources })
}

/// Document of a newer version as it is, and its content as it is to be.
type NewerDocument = (Document, Map<String, Json>);

struct Rewriting<'p> {
    package: &'p Package,
    files: &'p dyn Files,
    version: Minor,
    changed: BTreeMap<PackagePath, Arc<[u8]>>,
    /// Changes of the frontmatter of steps, which graphs may share.
    steps: BTreeMap<PackagePath, Vec<Edit>>,
    notes: Findings,
    sources: Sources,
}

/// Keys of `bmad.json` since 1.3, with what is lost without them.
const MANIFEST_KEYS: [(&str, &str); 5] = [
    ("config", "names in braces get no value and stay in texts as they are"),
    ("configFrom", "the configuration of a project is not read"),
    ("artifactRoots", "files in other folders than `artifacts/` do not count as artifacts"),
    ("aliases", "files of the package are found under `@pkg` only"),
    ("provenance", "the package does not say from what it was imported"),
];

/// Keys of a node since 1.3, with what is lost without them.
const NODE_KEYS: [(&str, &str); 5] = [
    ("gate", "the model decides how to go on where the user had to, and drafts are not saved"),
    ("waitsForUser", "the node may be left before the user has said anything"),
    ("auto", "the end costs a request to the model"),
    ("calls", "no workflow can be called from inside of the node"),
    ("maxVisits", "only the limits of the run end a loop"),
];

/// Keys of a step since 1.3, with what is lost without them.
const STEP_KEYS: [(&str, &str); 3] = [
    ("bindings", "names in braces get no value in this step"),
    ("needs", "the model is not told what is missing here"),
    ("resumeOnly", "drawings show the step like any other"),
];

/// Keys of a workflow document since 1.3, with what is lost without them.
const WORKFLOW_KEYS: [(&str, &str); 3] = [
    ("brief", "the text of this document is told at the beginning only"),
    ("mirror", "the model has to record in its document what is done"),
    ("bindings", "names in braces get no value in this document"),
];

impl Rewriting<'_> {
    fn text(&mut self, path: &PackagePath) -> Result<Arc<str>, String> {
        let bytes = self.files.read(path)?;
        let text: Arc<str> = String::from_utf8_lossy(&bytes).into();
        self.sources.insert(path.as_str(), Arc::clone(&text));
        Ok(text)
    }

    fn note(&mut self, place: Location, key: &str, lost: &str) {
        let format = self.version.as_str();
        let message =
            format!("`{key}` is left out, because format {format} does not know it: {lost}");
        self.notes.push(Diagnostic::new(Code::LeftOut, place, message));
    }

    /// Reads a JSON document that states a newer version, and states the wanted one in it.
    fn newer_json(&mut self, path: &PackagePath) -> Result<Option<NewerDocument>, String> {
        let text = self.text(path)?;
        let cannot = |reason: &dyn std::fmt::Display| format!("`{path}` cannot be read: {reason}");
        let tree = syntax::json::parse(&text).map_err(|_| cannot(&"it is no JSON"))?;
        let Json::Object(mut content) = tree.to_json() else { return Ok(None) };
        let stated = content.get("schemaVersion").and_then(Json::as_str);
        if !stated.is_some_and(|stated| self.is_newer(stated)) {
            return Ok(None);
        }
        content.insert("schemaVersion".to_owned(), json!(self.version.as_str()));
        Ok(Some((Document { path: path.clone(), text, tree }, content)))
    }

    fn is_newer(&self, stated: &str) -> bool {
        SchemaVersion::parse(stated).is_some_and(|stated| stated.minor() > self.version)
    }

    fn put(&mut self, path: &PackagePath, content: Map<String, Json>) {
        let text = format!("{:#}\n", Json::Object(content));
        self.changed.insert(path.clone(), text.into_bytes().into());
    }

    fn manifest(&mut self) -> Result<(), String> {
        let path = PackagePath::new(MANIFEST).map_err(|error| error.to_string())?;
        let Some((document, mut content)) = self.newer_json(&path)? else { return Ok(()) };
        for (key, lost) in MANIFEST_KEYS {
            if content.shift_remove(key).is_some() {
                self.note(document.place(&[key.into()]), key, lost);
            }
        }
        self.put(&path, content);
        Ok(())
    }

    fn agents(&mut self) -> Result<(), String> {
        let path = &self.package.manifest().entry.agents;
        let Some((document, mut content)) = self.newer_json(path)? else { return Ok(()) };
        for (at, agent) in list(&mut content, "agents").enumerate() {
            let place = |keys: &[PathKey<'_>]| {
                document.place(&[&["agents".into(), at.into()], keys].concat())
            };
            let metadata = agent.get_mut("metadata").and_then(Json::as_object_mut);
            if metadata.and_then(|metadata| metadata.shift_remove("capabilities")).is_some() {
                let place = place(&["metadata".into(), "capabilities".into()]);
                self.note(place, "capabilities", "the agent does not say what it can do");
            }
            for (index, item) in list(agent, "menu").enumerate() {
                for (key, lost) in [
                    ("yolo", "the run that the item starts asks as usual"),
                    ("source", "the item does not say what it was in the source"),
                ] {
                    if item.shift_remove(key).is_some() {
                        let place = place(&["menu".into(), index.into(), key.into()]);
                        self.note(place, key, lost);
                    }
                }
            }
        }
        self.put(path, content);
        Ok(())
    }

    fn graph(&mut self, workflow: &Workflow) -> Result<(), String> {
        let path = &workflow.graph_path;
        if self.changed.contains_key(path) {
            return Ok(());
        }
        let read = self.newer_json(path)?;
        for node in workflow.graph.nodes() {
            self.steps.entry(node.file.clone()).or_default();
        }
        let Some((document, mut content)) = read else { return Ok(()) };
        for (at, (node, known)) in
            list(&mut content, "nodes").zip(workflow.graph.nodes()).enumerate()
        {
            for (key, lost) in NODE_KEYS {
                let was_set = node.shift_remove(key).is_some_and(|value| value != json!(false));
                if was_set {
                    self.note(document.place(&["nodes".into(), at.into(), key.into()]), key, lost);
                }
            }
            self.files_of_node(
                workflow,
                known,
                node,
                &document.place(&["nodes".into(), at.into()]),
            );
            if self.version < Minor::V1_2 {
                self.call_in_step(known, node);
            }
        }
        for (at, edge) in list(&mut content, "edges").enumerate() {
            let Some(Json::String(key)) = edge.shift_remove("gate") else { continue };
            let place = document.place(&["edges".into(), at.into(), "gate".into()]);
            self.note(place, "gate", "the model may take the edge whatever the user says");
            let label = workflow.graph.edges().get(at).and_then(|edge| {
                let gate = workflow.graph.node(edge.from.as_str())?.gate.as_ref()?;
                Some(gate.option(&key)?.label.clone())
            });
            let words = format!("the user chose {}", quoted(&label.unwrap_or(key)));
            edge.entry("conditionText").or_insert(Json::String(words));
        }
        self.put(path, content);
        Ok(())
    }

    /// Puts the defaults of the configuration into the names of files, and drops outputs without a name.
    fn files_of_node(
        &mut self,
        workflow: &Workflow,
        known: &Node,
        node: &mut Map<String, Json>,
        place: &Location,
    ) {
        let manifest = self.package.manifest();
        let own = workflow.steps.get(&known.id).map(|step| &step.front.bindings);
        let is_bound = |name: &str| {
            manifest.config.iter().any(|key| key.name == name)
                || placeholder::SYSTEM.contains(&name)
                || placeholder::FOREIGN.contains(&name)
                || own.is_some_and(|own| own.contains_key(name))
        };
        let is_configured = !manifest.config.is_empty() || !manifest.config_from.is_empty();
        for key in ["inputs", "outputs"] {
            let Some(Json::Array(paths)) = node.get_mut(key).filter(|_| is_configured) else {
                continue;
            };
            let before = paths.clone();
            for path in paths.iter_mut() {
                let filled = path.as_str().map(|path| manifest.with_defaults(path, own));
                *path = filled.map_or(Json::Null, Json::String);
            }
            let mut lost = BTreeSet::new();
            paths.retain(|path| {
                let text = path.as_str().unwrap_or_default();
                let open = placeholder::names(text).find(|name| is_bound(name));
                lost.extend(open.map(|_| text.to_owned()));
                open.is_none()
            });
            let after = Json::Array(paths.clone());
            for path in lost {
                let says = "nothing gives its name a value, so the file is not asked for";
                self.note(place.clone(), &path, says);
            }
            let states_it = workflow.steps.get(&known.id).is_some_and(|step| match key {
                "inputs" => step.front.inputs.is_some(),
                _ => step.front.outputs.is_some(),
            });
            if states_it && Json::Array(before) != after {
                let edit = Edit::Set { path: vec![key.to_owned()], value: after };
                self.steps.entry(known.file.clone()).or_default().push(edit);
            }
        }
    }

    /// Moves the keys of a call into the step, where format 1.1 has them.
    fn call_in_step(&mut self, known: &Node, node: &mut Map<String, Json>) {
        for (from, to) in [
            ("subworkflowRef", "subworkflow"),
            ("passContext", "passContext"),
            ("resultVariables", "resultVariables"),
        ] {
            let Some(value) = node.shift_remove(from) else { continue };
            let edit = Edit::Set { path: vec![to.to_owned()], value };
            self.steps.entry(known.file.clone()).or_default().push(edit);
        }
    }

    fn workflow(&mut self, workflow: &Workflow) -> Result<(), String> {
        let path = &workflow.document_path;
        if self.changed.contains_key(path) {
            return Ok(());
        }
        let edits = Vec::new();
        self.frontmatter(path, &WORKFLOW_KEYS, edits)
    }

    fn steps(&mut self) -> Result<(), String> {
        for (path, edits) in std::mem::take(&mut self.steps) {
            self.frontmatter(&path, &STEP_KEYS, edits)?;
        }
        Ok(())
    }

    fn frontmatter(
        &mut self,
        path: &PackagePath,
        keys: &[(&str, &str)],
        mut edits: Vec<Edit>,
    ) -> Result<(), String> {
        let text = self.text(path)?;
        let read = Frontmatter::parse(Arc::clone(&text))
            .map_err(|_| format!("`{path}` cannot be read: its frontmatter is no YAML"))?;
        let stated = read.tree().get("schemaVersion").map(|entry| entry.tree.to_json());
        let stated = match stated {
            Some(Json::String(stated)) => stated,
            other => other.unwrap_or_default().to_string(),
        };
        if self.is_newer(&stated) {
            let value = json!(self.version.as_str());
            edits.push(Edit::Set { path: vec!["schemaVersion".to_owned()], value });
            for (key, lost) in keys {
                let Some(entry) = read.tree().get(key) else { continue };
                let place = Location::at(path.as_str(), entry.key_span);
                edits.push(Edit::Remove { path: vec![(*key).to_owned()] });
                self.note(place, key, lost);
            }
        }
        if edits.is_empty() {
            return Ok(());
        }
        let edited = read.edited(&edits).map_err(|error| format!("`{path}`: {error}"))?;
        self.changed.insert(path.clone(), edited.text().as_bytes().into());
        Ok(())
    }
}

/// Iterates over the objects in a list of an object.
fn list<'j>(
    object: &'j mut Map<String, Json>,
    key: &str,
) -> impl Iterator<Item = &'j mut Map<String, Json>> {
    let items = object.get_mut(key).and_then(Json::as_array_mut);
    items.into_iter().flatten().filter_map(Json::as_object_mut)
}
