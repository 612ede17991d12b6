//! The walk: plays every workflow of a package offline until every edge was taken and every option of a gate chosen.
//!
//! The model is inside the program and needs no scenario. The runtime is the real one, so what a walk cannot do, no model
//! can do: a node that is never reached, a condition that never holds, an output that cannot be written.

mod condition;
mod coverage;
mod visit;
mod walker;

use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crewagent_core::event::Phase;
use crewagent_core::policy::Policy;
use crewagent_core::settings::{Limits, RunSettings};
use crewagent_engine::control::Control;
use crewagent_engine::runtime::{Adopt, Runtime, StartError, StartRun};
use crewagent_engine::step_log::Halt;
use crewagent_engine::store::{Installed, Store, StoreError};
use crewagent_engine::tool_server::ToolServers;
use crewagent_format::package::{Package, Workflow};
use serde::Serialize;
use thiserror::Error;

use self::coverage::Coverage;
use self::walker::{WalkProgress, Walker};

/// Requests of one run, far more than any honest workflow needs.
const MAX_REQUESTS: u64 = 5_000;
/// Answers of the user in one run.
const MAX_ANSWERS: usize = 2_000;
/// Runs of one workflow.
const MAX_RUNS: usize = 500;

/// Result of walking a package.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct WalkReport {
    pub workflows: Vec<WalkedWorkflow>,
}

/// Result of walking one workflow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct WalkedWorkflow {
    pub workflow: String,
    /// Number of runs that were needed.
    pub runs: usize,
    /// True if a run came to an end.
    pub is_completed: bool,
    pub nodes: WalkCount,
    pub edges: WalkCount,
    /// Options of gates.
    pub options: WalkCount,
    /// Nodes that no run reached.
    pub unreached: Vec<String>,
    /// Nodes that were reached and never left, although edges lead on.
    pub never_left: Vec<String>,
    /// Edges that were never taken, as `from → to (label)`, with the last refusal.
    pub untaken: Vec<String>,
    /// Options that were never chosen, as `node: key label`.
    pub unchosen: Vec<String>,
    /// Reasons why runs ended before their end.
    pub problems: Vec<String>,
}

/// Number of parts that were covered, of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WalkCount {
    pub covered: usize,
    pub all: usize,
}

impl WalkedWorkflow {
    /// Returns true if everything was covered and every run came to an end.
    pub fn is_whole(&self) -> bool {
        self.is_completed
            && self.problems.is_empty()
            && [self.nodes, self.edges, self.options].iter().all(|count| count.covered == count.all)
    }
}

impl WalkReport {
    /// Returns true if every workflow was covered whole.
    pub fn is_whole(&self) -> bool {
        self.workflows.iter().all(WalkedWorkflow::is_whole)
    }
}

/// Error of a walk that says nothing about the package.
#[derive(Debug, Error)]
pub enum PackageWalkError {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("a run cannot be started: {0}")]
    Start(#[from] StartError),
    #[error("`{}` cannot be created: {error}", path.display())]
    Scratch { path: PathBuf, error: io::Error },
    #[error("this package has no workflow `{0}`")]
    NoWorkflow(String),
}

/// Walk of a package in a scratch folder.
#[derive(Debug)]
pub struct PackageWalk<'s> {
    store: &'s Store,
    installed: Installed,
    package: Arc<Package>,
    /// Folder for the projects of the runs.
    scratch: PathBuf,
}

impl<'s> PackageWalk<'s> {
    /// Prepares to walk a package of this store, which keeps the runs.
    pub fn new(
        store: &'s Store,
        installed: Installed,
        scratch: &Path,
    ) -> Result<Self, PackageWalkError> {
        let package = store.packages().load_verified(&installed)?;
        Ok(Self { store, installed, package, scratch: scratch.to_owned() })
    }

    /// Walks every workflow, or the one with this id. Reports each through `tell` when it is done.
    pub fn walk(
        &self,
        asked: Option<&str>,
        tell: &mut dyn FnMut(&WalkedWorkflow),
    ) -> Result<WalkReport, PackageWalkError> {
        let workflows = self.package.workflows();
        let is_asked = |at: &usize| asked.is_none_or(|asked| reference(&workflows[*at]) == asked);
        let chosen: Vec<usize> = (0..workflows.len()).filter(is_asked).collect();
        if let (true, Some(asked)) = (chosen.is_empty(), asked) {
            return Err(PackageWalkError::NoWorkflow(asked.to_owned()));
        }
        let mut report = WalkReport { workflows: Vec::new() };
        for at in chosen {
            let walked = self.walk_one(at)?;
            tell(&walked);
            report.workflows.push(walked);
        }
        Ok(report)
    }

    fn walk_one(&self, at: usize) -> Result<WalkedWorkflow, PackageWalkError> {
        let workflow = &self.package.workflows()[at];
        let progress = WalkProgress::new(Arc::clone(&self.package), at);
        let walker = Walker(Arc::new(Mutex::new(progress)));
        let (mut runs, mut problems) = (0, Vec::new());
        let mut is_completed = false;
        while runs < MAX_RUNS {
            let before = walker.locked().coverage.size();
            runs += 1;
            match self.run(workflow, &walker, runs)? {
                None => is_completed = true,
                Some(problem) if !problems.contains(&problem) => problems.push(problem),
                Some(_) => {}
            }
            let progress = walker.locked();
            if progress.coverage.size() == before || !progress.has_more() {
                break;
            }
        }
        let progress = walker.locked();
        Ok(progress.coverage.report(workflow, at, runs, is_completed, problems))
    }

    /// Plays one run and returns why it did not come to its end, if it did not.
    fn run(
        &self,
        workflow: &Workflow,
        walker: &Walker,
        number: usize,
    ) -> Result<Option<String>, PackageWalkError> {
        let project = self.scratch.join(format!("{}-{number}", slug(&reference(workflow))));
        std::fs::create_dir_all(&project)
            .map_err(|error| PackageWalkError::Scratch { path: project.clone(), error })?;
        let limits = Limits { turns: MAX_REQUESTS, ..Limits::default() };
        let plan = StartRun {
            id: None,
            package: self.installed.clone(),
            workflow: Some(reference(workflow)),
            agent: None,
            project,
            variables: serde_json::Map::new(),
            settings: RunSettings { limits, policy: Policy::default(), ..RunSettings::default() },
            user_name: "Ana".to_owned(),
            conversation: None,
            data: None,
            earlier: Vec::new(),
            adopt: Adopt::No,
        };
        let mut run = Runtime::new(self.store, ToolServers::none()).start(&plan)?;
        walker.locked().begin(run.record().bindings.clone());
        for event in run.opening() {
            walker.locked().watch(event);
        }
        let control = Control::default();
        for _ in 0..MAX_ANSWERS {
            let rest = match run.drive(walker, &control, &mut |event| walker.locked().watch(event))
            {
                Ok(rest) => rest,
                Err(Halt::Model(error)) => return Ok(Some(error.message)),
                Err(halt) => return Ok(Some(halt.to_string())),
            };
            if rest.phase == Phase::Completed {
                return Ok(None);
            }
            if rest.phase != Phase::WaitingUser {
                return Ok(Some(rest.message.unwrap_or_else(|| format!("{:?}", rest.phase))));
            }
            let answer = walker.locked().answer(&rest);
            let Some(answer) = answer else {
                let reason = rest.reason.map(|reason| format!("{reason:?}")).unwrap_or_default();
                let node = run.run_state().current_node_id.clone();
                return Ok(Some(format!("`{node}`: the run waits for the user ({reason})")));
            };
            if let Err(halt) = run.say(&answer, &mut |event| walker.locked().watch(event)) {
                return Ok(Some(halt.to_string()));
            }
        }
        Ok(Some("the run does not end".to_owned()))
    }
}

impl Walker {
    fn locked(&self) -> std::sync::MutexGuard<'_, WalkProgress> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the reference that starts a run of a workflow: its id, or the path of its document.
fn reference(workflow: &Workflow) -> String {
    let id = workflow.id.as_ref().map(ToString::to_string);
    id.unwrap_or_else(|| workflow.document_path.to_string())
}

fn slug(text: &str) -> String {
    text.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).take(60).collect()
}

impl Coverage {
    fn report(
        &self,
        workflow: &Workflow,
        at: usize,
        runs: usize,
        is_completed: bool,
        problems: Vec<String>,
    ) -> WalkedWorkflow {
        let graph = &workflow.graph;
        let nodes = || graph.nodes().iter();
        let is_reached = |id: &str| self.has_node(at, id);
        let unreached: Vec<String> = nodes()
            .filter(|node| !is_reached(node.id.as_str()))
            .map(|node| node.id.to_string())
            .collect();
        let is_left = |id: &str| {
            let mut own =
                graph.edges().iter().enumerate().filter(|(_, edge)| edge.from.as_str() == id);
            let has_edges = own.clone().next().is_some();
            !has_edges || own.any(|(index, _)| self.has_edge(at, index))
        };
        let never_left = nodes()
            .map(|node| node.id.as_str())
            .filter(|id| is_reached(id) && !is_left(id))
            .map(str::to_owned)
            .collect();
        let untaken: Vec<String> = graph
            .edges()
            .iter()
            .enumerate()
            .filter(|(index, _)| !self.has_edge(at, *index))
            .map(|(index, edge)| {
                let why = self.refusal(at, index).map(|why| format!(": {why}")).unwrap_or_default();
                format!("{} → {} ({}){why}", edge.from, edge.to, edge.label)
            })
            .collect();
        let options = nodes().flat_map(|node| {
            let gate = node.gate.iter().flat_map(|gate| &gate.options);
            gate.map(move |option| (node.id.as_str(), option))
        });
        let all_options = options.clone().count();
        let unchosen: Vec<String> = options
            .filter(|(node, option)| !self.has_option(at, node, &option.key))
            .map(|(node, option)| format!("{node}: {} {}", option.key, option.label))
            .collect();
        let count = |all: usize, missing: usize| WalkCount { covered: all - missing, all };
        WalkedWorkflow {
            workflow: reference(workflow),
            runs,
            is_completed,
            nodes: count(graph.nodes().len(), unreached.len()),
            edges: count(graph.edges().len(), untaken.len()),
            options: count(all_options, unchosen.len()),
            unreached,
            never_left,
            untaken,
            unchosen,
            problems,
        }
    }
}
