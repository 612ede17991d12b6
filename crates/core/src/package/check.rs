//! Reads a package through its manifest and finds every mistake in one pass.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use semver::Version;

use super::agents::AgentsDraft;
use super::document::{Document, Key};
use super::files::Files;
use super::graph::GraphDraft;
use super::manifest::ManifestDraft;
use super::markdown::Outline;
use super::step::Step;
use super::workflow::WorkflowFront;
use super::{Call, Package, Workflow, lint};
use crate::diagnostic::{Code, Diagnostic, Findings, Place, Sources};
use crate::frontmatter::Frontmatter;
use crate::id::{NodeId, WorkflowId};
use crate::integrity::{self, Digest, MANIFEST};
use crate::path::PackagePath;
use crate::shape::{self, Reader, Tolerance};
use crate::syntax::{SyntaxError, json};
use crate::text::Span;

/// A text document may have this many bytes.
const MAX_DOCUMENT_BYTES: usize = 16 * 1024 * 1024;

/// The result of a check.
#[derive(Debug)]
pub struct Checked {
    /// The package, unless an error was found.
    pub package: Option<Package>,
    /// Everything that was found.
    pub findings: Findings,
    /// The texts that the findings point into.
    pub sources: Sources,
}

/// Checks a package whole. `runtime` is the version of this program, which the package may have an opinion about.
pub fn check(files: &dyn Files, runtime: &Version) -> Checked {
    let mut check = Check {
        files,
        findings: Findings::default(),
        sources: Sources::default(),
        steps: HashMap::new(),
        unreadable: BTreeSet::new(),
        suggestions: 20,
    };
    let package = check.run(runtime);
    let Check { mut findings, sources, .. } = check;
    findings.locate(&sources);
    let package = package.filter(|_| !findings.has_errors());
    Checked { package, findings, sources }
}

struct Check<'f> {
    files: &'f dyn Files,
    findings: Findings,
    sources: Sources,
    /// Steps by file, so that a file that two graphs share is read and reported once.
    steps: HashMap<PackagePath, Option<Rc<StepDraft>>>,
    /// Files that could not be read, so that each is reported once.
    unreadable: BTreeSet<PackagePath>,
    /// Looking for a similar name costs time; a hostile package gets only a few.
    suggestions: usize,
}

/// A step file that could be parsed.
pub(super) struct StepDraft {
    pub(super) document: Document,
    /// The step, when its frontmatter has the right shape.
    pub(super) step: Option<Arc<Step>>,
}

/// A workflow as far as it could be read.
pub(super) struct WorkflowDraft {
    pub(super) id: Option<WorkflowId>,
    pub(super) display_name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) document_path: PackagePath,
    pub(super) graph_path: PackagePath,
    pub(super) graph: Option<(Document, GraphDraft)>,
    pub(super) template: Option<TemplateDraft>,
    /// One for each node of the graph.
    pub(super) steps: Vec<Option<Rc<StepDraft>>>,
    pub(super) calls: BTreeMap<NodeId, Call>,
}

/// A workflow document that could be parsed.
pub(super) struct TemplateDraft {
    pub(super) document: Document,
    pub(super) front: Option<WorkflowFront>,
    pub(super) outline: Outline,
}

/// Where a workflow's two files are named.
struct WorkflowPlaces {
    workflow: Place,
    graph: Place,
}

impl Check<'_> {
    fn run(&mut self, runtime: &Version) -> Option<Package> {
        let (manifest, draft) = self.manifest()?;
        self.runtime(&manifest, &draft, runtime);
        self.integrity(&manifest, &draft);
        lint::workflow_ids(&manifest, &draft.workflows, &mut self.findings);
        let agents = draft.agents.as_ref().and_then(|path| {
            let place = manifest.place(&["entry".into(), "agents".into()]);
            let document = self.json(path, place)?;
            let mut reader =
                Reader::new(path.as_str(), &document.text, Tolerance::Exact, &mut self.findings);
            let agents = AgentsDraft::read(&document.tree, &mut reader);
            Some((document, agents))
        });
        let mut workflows: Vec<WorkflowDraft> = Vec::new();
        for (mut workflow, places) in workflow_list(&manifest, &draft) {
            self.read_workflow(&mut workflow, places);
            workflows.push(workflow);
        }
        lint::run(lint::Input {
            files: self.files,
            manifest: &draft,
            agents: agents.as_ref().map(|(document, agents)| (document, agents)),
            workflows: &mut workflows,
            findings: &mut self.findings,
        });
        if self.findings.has_errors() {
            return None;
        }
        Some(Package {
            manifest: draft.manifest?,
            agents: agents?.1.whole?.agents,
            workflows: workflows.into_iter().map(finish).collect::<Option<_>>()?,
        })
    }

    fn manifest(&mut self) -> Option<(Document, ManifestDraft)> {
        let path = PackagePath::new(MANIFEST).ok()?;
        if !self.files.sizes().contains_key(&path) {
            self.no_manifest();
            return None;
        }
        let document = self.json(&path, Place::file(MANIFEST))?;
        let mut reader =
            Reader::new(MANIFEST, &document.text, Tolerance::Exact, &mut self.findings);
        let draft = ManifestDraft::read(&document.tree, &mut reader);
        Some((document, draft))
    }

    fn no_manifest(&mut self) {
        let paths = self.files.sizes();
        let nested = paths.keys().find(|path| path.as_str().ends_with("/bmad.json"));
        let other_case = paths.keys().find(|path| path.folded() == MANIFEST);
        let help = if let Some(other) = other_case {
            format!("rename `{other}` to `{MANIFEST}`")
        } else if let Some(nested) = nested {
            let folder = nested.parents().next().unwrap_or_default();
            format!(
                "there is one in `{folder}/`: that folder is the package; the archive or path must begin there"
            )
        } else {
            "run `crewagent package new` to make a package that works, and start from there"
                .to_owned()
        };
        let finding = Diagnostic::new(
            Code::MissingManifest,
            Place::file(MANIFEST),
            "there is no `bmad.json` at the root of this package",
        );
        self.findings.push(finding.help(help));
    }

    fn runtime(&mut self, document: &Document, draft: &ManifestDraft, runtime: &Version) {
        let needs = draft
            .manifest
            .as_ref()
            .and_then(|manifest| manifest.runtime.as_ref()?.min_runtime_version.as_ref());
        let Some(needed) = needs.filter(|needed| *needed > runtime) else { return };
        let place = document.place(&["runtime".into(), "minRuntimeVersion".into()]);
        let message = format!("this package needs runtime {needed} or newer; this is {runtime}");
        self.findings.push(
            Diagnostic::new(Code::RuntimeTooOld, place, message)
                .help("update CrewAgent, or ask the author for an older version of the package"),
        );
    }

    fn integrity(&mut self, document: &Document, draft: &ManifestDraft) {
        let Some(stated) = draft.manifest.as_ref().and_then(|manifest| manifest.integrity.as_ref())
        else {
            return;
        };
        let files = self.files;
        let mut digests: BTreeMap<PackagePath, Digest> = BTreeMap::new();
        for path in files.sizes().keys() {
            match files.read(path) {
                Ok(bytes) => drop(digests.insert(path.clone(), Digest::of(&bytes))),
                // Without it there is no digest to compare.
                Err(reason) => return self.unreadable(path, &reason),
            }
        }
        let actual = integrity::package_digest(document.text.as_bytes(), &digests);
        if actual != stated.sha256 {
            let place = document.place(&["integrity".into(), "sha256".into()]);
            let message =
                format!("the files of this package do not match its digest; they have {actual}");
            let help = "the package was changed or damaged after it was packed: get a fresh copy, or, if you changed it yourself, run `crewagent package pack` again";
            self.findings.push(Diagnostic::new(Code::IntegrityMismatch, place, message).help(help));
        }
    }

    fn read_workflow(&mut self, workflow: &mut WorkflowDraft, places: WorkflowPlaces) {
        let graph_path = workflow.graph_path.clone();
        workflow.graph = self.json(&graph_path, places.graph).map(|document| {
            let mut reader = Reader::new(
                graph_path.as_str(),
                &document.text,
                Tolerance::Exact,
                &mut self.findings,
            );
            let draft = GraphDraft::read(&document.tree, &mut reader);
            (document, draft)
        });
        workflow.template = self.template(&workflow.document_path.clone(), places.workflow);
        if let Some((document, graph)) = &workflow.graph {
            workflow.steps = graph
                .nodes
                .iter()
                .enumerate()
                .map(|(index, node)| {
                    let path = &node.as_ref()?.file;
                    self.step(path, document.place(&["nodes".into(), index.into(), "file".into()]))
                })
                .collect();
        }
    }

    fn template(&mut self, path: &PackagePath, place: Place) -> Option<TemplateDraft> {
        let frontmatter = self.frontmatter(path, place)?;
        let mut reader =
            Reader::new(path.as_str(), frontmatter.text(), Tolerance::Blank, &mut self.findings);
        let front = WorkflowFront::read(frontmatter.tree(), &mut reader);
        let outline = Outline::read(frontmatter.body(), frontmatter.body_span().start);
        Some(TemplateDraft { document: document(path, frontmatter), front, outline })
    }

    fn step(&mut self, path: &PackagePath, place: Place) -> Option<Rc<StepDraft>> {
        if let Some(known) = self.steps.get(path) {
            return known.clone();
        }
        let draft = self.frontmatter(path, place).map(|frontmatter| {
            let mut reader = Reader::new(
                path.as_str(),
                frontmatter.text(),
                Tolerance::Blank,
                &mut self.findings,
            );
            let step = Step::read(&frontmatter, &mut reader).map(Arc::new);
            Rc::new(StepDraft { document: document(path, frontmatter), step })
        });
        self.steps.insert(path.clone(), draft.clone());
        draft
    }

    fn frontmatter(&mut self, path: &PackagePath, reference: Place) -> Option<Frontmatter> {
        let text = self.text(path, reference)?;
        Frontmatter::parse(text)
            .map_err(|errors| errors.into_iter().for_each(|error| self.syntax(path, error)))
            .ok()
    }

    fn json(&mut self, path: &PackagePath, reference: Place) -> Option<Document> {
        let text = self.text(path, reference)?;
        match json::parse(&text) {
            Ok(tree) => Some(Document { path: path.clone(), text, tree }),
            Err(errors) => {
                errors.into_iter().for_each(|error| self.syntax(path, error));
                None
            }
        }
    }

    fn syntax(&mut self, path: &PackagePath, error: SyntaxError) {
        let mut finding =
            Diagnostic::new(error.code, Place::at(path.as_str(), error.span), error.message);
        finding.help = error.help;
        self.findings.push(finding);
    }

    /// The text of a file that is referred to at `reference`.
    fn text(&mut self, path: &PackagePath, reference: Place) -> Option<Arc<str>> {
        if let Some(text) = self.sources.get(path.as_str()) {
            return Some(text.clone());
        }
        let Some(size) = self.files.sizes().get(path).copied() else {
            self.missing(path, reference);
            return None;
        };
        let here = Place::file(path.as_str());
        if size > MAX_DOCUMENT_BYTES as u64 {
            let message =
                format!("`{path}` has {size} bytes; a text document may have {MAX_DOCUMENT_BYTES}");
            self.findings.push(
                Diagnostic::new(Code::DocumentTooLarge, here, message)
                    .help("move bulk content into files under `assets/`"),
            );
            return None;
        }
        let bytes = match self.files.read(path) {
            Ok(bytes) => bytes,
            Err(reason) => {
                self.unreadable(path, &reason);
                return None;
            }
        };
        match std::str::from_utf8(&bytes) {
            Ok(text) => {
                let text: Arc<str> = text.into();
                self.sources.insert(path.as_str(), text.clone());
                Some(text)
            }
            Err(error) => {
                self.not_utf8(path, &bytes, error.valid_up_to());
                None
            }
        }
    }

    fn unreadable(&mut self, path: &PackagePath, reason: &str) {
        if self.unreadable.insert(path.clone()) {
            let message = format!("`{path}` cannot be read: {reason}");
            let finding =
                Diagnostic::new(Code::UnreadableFile, Place::file(path.as_str()), message);
            self.findings.push(finding.help("check its permissions and that it is a regular file"));
        }
    }

    fn not_utf8(&mut self, path: &PackagePath, bytes: &[u8], at: usize) {
        let utf16 = bytes.starts_with(&[0xff, 0xfe]) || bytes.starts_with(&[0xfe, 0xff]);
        let message = if utf16 {
            format!("`{path}` is UTF-16; it must be UTF-8")
        } else {
            let byte = bytes.get(at).copied().unwrap_or_default();
            format!("`{path}` is not UTF-8: byte 0x{byte:02X} at offset {at} begins no character")
        };
        // Shown as text, with a mark in the place of what cannot be read, so that the line can be found.
        let readable: Arc<str> =
            String::from_utf8_lossy(bytes.get(..bytes.len().min(64 * 1024)).unwrap_or_default())
                .into();
        let place = if utf16 || at >= readable.len() {
            Place::file(path.as_str())
        } else {
            self.sources.insert(path.as_str(), readable);
            Place::at(path.as_str(), Span::new(at, at + '\u{fffd}'.len_utf8()))
        };
        self.findings.push(
            Diagnostic::new(Code::NotUtf8, place, message)
                .help("save the file as UTF-8 in your editor"),
        );
    }

    fn missing(&mut self, path: &PackagePath, reference: Place) {
        let folder = format!("{path}/");
        let is_folder = self
            .files
            .sizes()
            .range(PackagePath::lower_bound(&folder)..)
            .next()
            .is_some_and(|(next, _)| next.as_str().starts_with(&folder));
        if is_folder {
            let message = format!("`{path}` is a folder; a file is expected here");
            self.findings.push(
                Diagnostic::new(Code::NotAFile, reference, message)
                    .help("name the file inside it, or rename the folder"),
            );
            return;
        }
        let help = match self.similar(path) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None => format!("add the file `{path}`, or correct this path"),
        };
        let message = format!("the file `{path}` is not in the package");
        self.findings.push(Diagnostic::new(Code::MissingFile, reference, message).help(help));
    }

    fn similar(&mut self, path: &PackagePath) -> Option<String> {
        self.suggestions = self.suggestions.checked_sub(1)?;
        let folded = path.folded();
        let name = path.as_str().rsplit('/').next()?;
        let paths = || self.files.sizes().keys().take(20_000);
        paths()
            .find(|other| other.folded() == folded)
            .or_else(|| paths().find(|other| other.as_str().rsplit('/').next() == Some(name)))
            .map(PackagePath::as_str)
            .or_else(|| shape::nearest(path.as_str(), paths().map(PackagePath::as_str)))
            .map(str::to_owned)
    }
}

fn document(path: &PackagePath, frontmatter: Frontmatter) -> Document {
    Document { path: path.clone(), text: frontmatter.text().clone(), tree: frontmatter.into_tree() }
}

/// The workflows that the manifest names, the default one first. One that is named twice is read once.
fn workflow_list(
    manifest: &Document,
    draft: &ManifestDraft,
) -> Vec<(WorkflowDraft, WorkflowPlaces)> {
    let place = |keys: &[Key<'_>]| manifest.place(keys);
    let mut list: Vec<(WorkflowDraft, WorkflowPlaces)> = Vec::new();
    for (index, entry) in draft.workflows.iter().enumerate() {
        let Some(entry) = entry else { continue };
        let places = WorkflowPlaces {
            workflow: place(&["workflows".into(), index.into(), "workflow".into()]),
            graph: place(&["workflows".into(), index.into(), "graph".into()]),
        };
        let mut workflow = WorkflowDraft::new(&entry.workflow, &entry.graph);
        workflow.id = Some(entry.id.clone());
        workflow.display_name = entry.display_name.clone();
        workflow.description = entry.description.clone();
        list.push((workflow, places));
    }
    let (Some(document), Some(graph)) = (&draft.workflow, &draft.graph) else { return list };
    let listed = list.iter().position(|(workflow, _)| {
        workflow.document_path == *document && workflow.graph_path == *graph
    });
    let first = match listed {
        Some(index) => list.remove(index),
        None => {
            let places = WorkflowPlaces {
                workflow: place(&["entry".into(), "workflow".into()]),
                graph: place(&["entry".into(), "graph".into()]),
            };
            (WorkflowDraft::new(document, graph), places)
        }
    };
    list.insert(0, first);
    list
}

impl WorkflowDraft {
    fn new(document_path: &PackagePath, graph_path: &PackagePath) -> Self {
        Self {
            id: None,
            display_name: None,
            description: None,
            document_path: document_path.clone(),
            graph_path: graph_path.clone(),
            graph: None,
            template: None,
            steps: Vec::new(),
            calls: BTreeMap::new(),
        }
    }
}

fn finish(draft: WorkflowDraft) -> Option<Workflow> {
    let graph = draft.graph?.1.finish()?;
    let template = draft.template?;
    let steps = graph
        .nodes()
        .iter()
        .zip(draft.steps)
        .map(|(node, step)| Some((node.id.clone(), step?.step.clone()?)))
        .collect::<Option<BTreeMap<_, _>>>()?;
    Some(Workflow {
        id: draft.id,
        display_name: draft.display_name,
        description: draft.description,
        document_path: draft.document_path,
        graph_path: draft.graph_path,
        front: template.front?,
        document: template.document.text,
        graph,
        steps,
        calls: draft.calls,
    })
}
