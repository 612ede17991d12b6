//! Reads a package through its manifest and finds every mistake in one pass.

mod reading;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;
use std::sync::Arc;

use semver::Version;

use super::agents::AgentsDraft;
use super::document::{Document, PathKey};
use super::files::Files;
use super::graph::{Graph, GraphDraft};
use super::manifest::ManifestDraft;
use super::markdown::MarkdownOutline;
use super::sketch::WorkflowSketch;
use super::step::Step;
use super::workflow::WorkflowFront;
use super::{Package, Subworkflow, Workflow, lint};
use crate::diagnostic::{Code, Diagnostic, Findings, Location, Sources};
use crate::frontmatter::Frontmatter;
use crate::id::{NodeId, WorkflowId};
use crate::integrity::{self, Digest, MANIFEST};
use crate::path::PackagePath;
use crate::shape::{ShapeReader, Tolerance};
use crate::text::Span;

/// Result of a check.
#[derive(Debug)]
pub struct Checked {
    /// `None` if an error was found.
    pub package: Option<Package>,
    /// Readable workflows if an error was found, the default one first.
    pub sketches: Vec<WorkflowSketch>,
    pub findings: Findings,
    pub sources: Sources,
}

/// Programs that are to read a package.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    ThisRuntime,
    /// Every tool for format 1.1: what others may refuse is a finding, too.
    EveryTool,
}

/// Checks a whole package. `runtime` is the version of this program, which the package may constrain.
pub fn check(files: &dyn Files, runtime: &Version) -> Checked {
    check_for(Audience::ThisRuntime, files, runtime)
}

/// Checks a whole package for an audience.
pub fn check_for(audience: Audience, files: &dyn Files, runtime: &Version) -> Checked {
    let mut check = Check {
        files,
        audience,
        findings: Findings::default(),
        sources: Sources::default(),
        sketches: Vec::new(),
        graphs: HashMap::new(),
        templates: HashMap::new(),
        steps: HashMap::new(),
        failed: BTreeSet::new(),
        bytes: 0,
        values: 0,
        searches: 20,
    };
    let package = check.run(runtime);
    let Check { mut findings, sources, sketches, .. } = check;
    findings.locate(&sources);
    let package = package.filter(|_| !findings.has_errors());
    Checked { package, sketches, findings, sources }
}

struct Check<'f> {
    files: &'f dyn Files,
    audience: Audience,
    findings: Findings,
    sources: Sources,
    sketches: Vec<WorkflowSketch>,
    /// Documents by file, so that a file that is named often is read and reported once.
    graphs: HashMap<PackagePath, Option<Rc<GraphRead>>>,
    templates: HashMap<PackagePath, Option<Rc<TemplateDraft>>>,
    steps: HashMap<PackagePath, Option<Rc<StepDraft>>>,
    /// Files without readable text, so that each is reported once.
    failed: BTreeSet<PackagePath>,
    bytes: usize,
    values: usize,
    /// Remaining searches for a similar path; limited, because a hostile package could need many.
    searches: usize,
}

pub(super) struct StepDraft {
    pub(super) document: Document,
    pub(super) body: Span,
    /// `None` if its frontmatter has the wrong shape.
    pub(super) step: Option<Arc<Step>>,
}

/// Parsed graph with the steps of its nodes.
pub(super) struct GraphRead {
    pub(super) path: PackagePath,
    pub(super) document: Document,
    pub(super) draft: GraphDraft,
    /// One for each node.
    pub(super) steps: Vec<Option<Rc<StepDraft>>>,
}

/// Readable part of a workflow.
#[derive(Default)]
pub(super) struct WorkflowDraft {
    pub(super) id: Option<WorkflowId>,
    pub(super) display_name: Option<String>,
    pub(super) description: Option<String>,
    pub(super) document_path: Option<PackagePath>,
    pub(super) graph_path: Option<PackagePath>,
    pub(super) graph: Option<Rc<GraphRead>>,
    pub(super) template: Option<Rc<TemplateDraft>>,
    pub(super) calls: Arc<BTreeMap<NodeId, Subworkflow>>,
}

pub(super) struct TemplateDraft {
    pub(super) document: Document,
    pub(super) body: Span,
    pub(super) front: Option<Arc<WorkflowFront>>,
    pub(super) outline: MarkdownOutline,
}

/// Locations that name a workflow's two files.
struct WorkflowPlaces {
    workflow: Location,
    graph: Location,
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
            let mut reader = ShapeReader::new(
                path.as_str(),
                &document.text,
                Tolerance::Exact,
                &mut self.findings,
            );
            let agents = AgentsDraft::read(&document.tree, &mut reader);
            Some((document, agents))
        });
        let mut workflows: Vec<WorkflowDraft> = Vec::new();
        for (mut workflow, places) in workflow_list(&manifest, &draft) {
            self.read_workflow(&mut workflow, places);
            workflows.push(workflow);
        }
        lint::run(lint::LintInput {
            files: self.files,
            audience: self.audience,
            document: &manifest,
            manifest: &draft,
            agents: agents.as_ref().map(|(document, agents)| (document, agents)),
            workflows: &mut workflows,
            findings: &mut self.findings,
        });
        if self.findings.has_errors() {
            let known = agents.as_ref().map(|(_, draft)| draft);
            let sketch = |workflow: &WorkflowDraft| WorkflowSketch::of(workflow, known);
            self.sketches = workflows.iter().filter_map(sketch).collect();
            return None;
        }
        Some(Package {
            manifest: draft.manifest?,
            agents: agents?.1.whole?.agents,
            workflows: finish(workflows)?,
        })
    }

    fn manifest(&mut self) -> Option<(Document, ManifestDraft)> {
        let path = PackagePath::new(MANIFEST).ok()?;
        if !self.files.sizes().contains_key(&path) {
            self.no_manifest();
            return None;
        }
        let document = self.json(&path, Location::file(MANIFEST))?;
        let mut reader =
            ShapeReader::new(MANIFEST, &document.text, Tolerance::Exact, &mut self.findings);
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
            Location::file(MANIFEST),
            "there is no `bmad.json` at the root of this package",
        );
        self.findings.push(finding.help(help));
    }

    fn runtime(&mut self, document: &Document, draft: &ManifestDraft, runtime: &Version) {
        let is_newer = |needed: &&Version| needed.cmp_precedence(runtime) == Ordering::Greater;
        let Some(needed) = draft.min_runtime_version.as_ref().filter(is_newer) else { return };
        let place = document.place(&["runtime".into(), "minRuntimeVersion".into()]);
        let message = format!("this package needs runtime {needed} or newer; this is {runtime}");
        self.findings.push(
            Diagnostic::new(Code::RuntimeTooOld, place, message)
                .help("update CrewAgent, or ask the author for an older version of the package"),
        );
    }

    fn integrity(&mut self, document: &Document, draft: &ManifestDraft) {
        let Some(stated) = draft.sha256 else { return };
        let files = self.files;
        let mut digests: BTreeMap<PackagePath, Digest> = BTreeMap::new();
        for path in files.sizes().keys() {
            match files.read(path) {
                Ok(bytes) => drop(digests.insert(path.clone(), Digest::of(&bytes))),
                // Without this file there is no digest to compare.
                Err(reason) => return self.unreadable(path, &reason),
            }
        }
        let actual = integrity::package_digest(document.text.as_bytes(), &digests);
        if actual != stated {
            let place = document.place(&["integrity".into(), "sha256".into()]);
            let message =
                format!("the files of this package do not match its digest; they have {actual}");
            let help = "the package was changed or damaged after it was packed: get a fresh copy; if you changed it yourself, or another tool wrote a digest of another kind, remove `integrity` from bmad.json or run `crewagent package pack`";
            self.findings.push(Diagnostic::new(Code::IntegrityMismatch, place, message).help(help));
        }
    }

    fn read_workflow(&mut self, workflow: &mut WorkflowDraft, places: WorkflowPlaces) {
        if let Some(path) = &workflow.graph_path {
            workflow.graph = self.graph(path, places.graph);
        }
        if let Some(path) = &workflow.document_path {
            workflow.template = self.template(path, places.workflow);
        }
    }

    fn graph(&mut self, path: &PackagePath, place: Location) -> Option<Rc<GraphRead>> {
        if let Some(known) = self.graphs.get(path) {
            return known.clone();
        }
        let graph = self.json(path, place).map(|document| {
            let mut reader = ShapeReader::new(
                path.as_str(),
                &document.text,
                Tolerance::Exact,
                &mut self.findings,
            );
            let draft = GraphDraft::read(&document.tree, &mut reader);
            let file_place =
                |index: usize| document.place(&["nodes".into(), index.into(), "file".into()]);
            let nodes = draft.nodes.iter().enumerate();
            let steps = nodes
                .map(|(index, node)| self.step(node.file.as_ref()?, || file_place(index)))
                .collect();
            Rc::new(GraphRead { path: path.clone(), steps, draft, document })
        });
        self.graphs.insert(path.clone(), graph.clone());
        graph
    }

    fn template(&mut self, path: &PackagePath, place: Location) -> Option<Rc<TemplateDraft>> {
        if let Some(known) = self.templates.get(path) {
            return known.clone();
        }
        let template = self.frontmatter(path, place).map(|frontmatter| {
            let mut reader = ShapeReader::new(
                path.as_str(),
                frontmatter.text(),
                Tolerance::Blank,
                &mut self.findings,
            );
            let front = WorkflowFront::read(frontmatter.tree(), &mut reader).map(Arc::new);
            let outline = MarkdownOutline::read(frontmatter.body(), frontmatter.body_span().start);
            let body = frontmatter.body_span();
            Rc::new(TemplateDraft { document: document(path, frontmatter), body, front, outline })
        });
        self.templates.insert(path.clone(), template.clone());
        template
    }

    fn step(
        &mut self,
        path: &PackagePath,
        place: impl FnOnce() -> Location,
    ) -> Option<Rc<StepDraft>> {
        if let Some(known) = self.steps.get(path) {
            return known.clone();
        }
        let draft = self.frontmatter(path, place()).map(|frontmatter| {
            let mut reader = ShapeReader::new(
                path.as_str(),
                frontmatter.text(),
                Tolerance::Blank,
                &mut self.findings,
            );
            let step = Step::read(&frontmatter, &mut reader).map(Arc::new);
            let body = frontmatter.body_span();
            Rc::new(StepDraft { document: document(path, frontmatter), body, step })
        });
        self.steps.insert(path.clone(), draft.clone());
        draft
    }
}

fn document(path: &PackagePath, frontmatter: Frontmatter) -> Document {
    Document { path: path.clone(), text: frontmatter.text().clone(), tree: frontmatter.into_tree() }
}

/// Lists the workflows of the manifest, the default one first. A workflow that is named twice is read once.
fn workflow_list(
    manifest: &Document,
    draft: &ManifestDraft,
) -> Vec<(WorkflowDraft, WorkflowPlaces)> {
    let place = |keys: &[PathKey<'_>]| manifest.place(keys);
    let mut list: Vec<(WorkflowDraft, WorkflowPlaces)> = Vec::new();
    for (index, entry) in draft.workflows.iter().enumerate() {
        let places = WorkflowPlaces {
            workflow: place(&["workflows".into(), index.into(), "workflow".into()]),
            graph: place(&["workflows".into(), index.into(), "graph".into()]),
        };
        let workflow = WorkflowDraft {
            id: entry.id.clone(),
            display_name: entry.display_name.clone().flatten(),
            description: entry.description.clone().flatten(),
            document_path: entry.workflow.clone(),
            graph_path: entry.graph.clone(),
            ..WorkflowDraft::default()
        };
        list.push((workflow, places));
    }
    let default = WorkflowDraft {
        document_path: draft.workflow.clone(),
        graph_path: draft.graph.clone(),
        ..WorkflowDraft::default()
    };
    let listed = list.iter().position(|(workflow, _)| {
        let paths = (&workflow.document_path, &workflow.graph_path);
        paths == (&default.document_path, &default.graph_path)
    });
    let first = match listed {
        Some(index) => list.remove(index),
        None => {
            let places = WorkflowPlaces {
                workflow: place(&["entry".into(), "workflow".into()]),
                graph: place(&["entry".into(), "graph".into()]),
            };
            (default, places)
        }
    };
    list.insert(0, first);
    list
}

type Steps = Arc<BTreeMap<NodeId, Arc<Step>>>;

fn finish(drafts: Vec<WorkflowDraft>) -> Option<Vec<Workflow>> {
    let mut graphs: HashMap<PackagePath, (Graph, Steps)> = HashMap::new();
    let mut finish_one = |draft: WorkflowDraft| {
        let (template, read) = (draft.template?, draft.graph?);
        let (graph, steps) = match graphs.get(&read.path) {
            Some(known) => known.clone(),
            None => {
                let finished = finish_graph(&read)?;
                graphs.insert(read.path.clone(), finished.clone());
                finished
            }
        };
        Some(Workflow {
            id: draft.id,
            display_name: draft.display_name,
            description: draft.description,
            document_path: draft.document_path?,
            graph_path: draft.graph_path?,
            front: template.front.clone()?,
            document: template.document.text.clone(),
            graph,
            steps,
            calls: draft.calls,
        })
    };
    drafts.into_iter().map(&mut finish_one).collect()
}

fn finish_graph(read: &GraphRead) -> Option<(Graph, Steps)> {
    let step_title = |at: usize| read.steps.get(at)?.as_ref()?.step.as_ref()?.front.title.clone();
    let graph = read.draft.finish(step_title)?;
    let steps = graph
        .nodes()
        .iter()
        .zip(&read.steps)
        .map(|(node, step)| Some((node.id.clone(), step.as_ref()?.step.clone()?)))
        .collect::<Option<BTreeMap<_, _>>>()?;
    Some((graph, Arc::new(steps)))
}
