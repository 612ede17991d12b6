//! `crewagent runs list`: one line a run, newest first.

use std::cell::RefCell;
use std::collections::BTreeMap;

use anstyle::Style;
use crewagent_engine::store::{Of, Project, RunListing, RunSummary, Status, Store};
use crewagent_format::integrity::Digest;
use crewagent_format::package::Workflow;
use semver::Version;
use serde_json::{Value as Json, json};

use super::shown;
use crate::args::RunsListArgs;
use crate::cmd::projects::listed;
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint::{self, ACCENT, ERROR, GOOD, NAME, QUIET, WARNING};
use crate::render::table::{TableCell, table};
use crate::when::ago;

pub(super) fn run(
    args: &RunsListArgs,
    store: &Store,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let projects = store.projects().list()?.projects;
    let only = listed(args.project.as_deref(), args.all, ("runs", "runs"), store)?;
    let listing = match &only {
        Some(project) => store.runs().list(Of::Project(&project.id))?,
        None => store.runs().list(Of::All)?,
    };
    let names: BTreeMap<&str, &Project> =
        projects.iter().map(|project| (project.id.as_str(), project)).collect();
    let totals = Totals::new(store);
    if args.json {
        console.line(paint::json(&as_json(&listing, &names, &totals)));
    } else {
        human(&listing, only.as_ref(), &names, &totals, console);
    }
    Ok(Outcome::Done)
}

fn human(
    listing: &RunListing,
    only: Option<&Project>,
    names: &BTreeMap<&str, &Project>,
    totals: &Totals<'_>,
    console: &mut Console,
) {
    if listing.runs.is_empty() && listing.damaged.is_empty() {
        console.line(text!("No runs yet. Start one with `crewagent run PACKAGE`, or watch one with `crewagent demo`.", "还没有运行。用 `crewagent run PACKAGE` 开始，或用 `crewagent demo` 看一次。"));
        return;
    }
    let now = crewagent_engine::clock::now();
    let row = |run: &RunSummary| {
        let project = names
            .get(run.project_id.as_str())
            .map_or(run.project_id.as_str(), |project| &project.name);
        let updated = run.updated.unwrap_or(run.created);
        vec![
            TableCell::whole(NAME, run.run_id.as_str()),
            TableCell::new(style(run.status), shown(run.status)),
            TableCell::new(Style::new(), &workflow(run)),
            TableCell::new(Style::new(), project),
            TableCell::new(Style::new(), &place(run, totals)),
            TableCell::new(QUIET, &ago(updated, now)),
        ]
    };
    let rows: Vec<Vec<TableCell>> = listing.runs.iter().map(row).collect();
    if !rows.is_empty() {
        console.text(&table(
            &[
                text!("RUN", "运行"),
                text!("PHASE", "状态"),
                text!("WORKFLOW", "流程"),
                text!("PROJECT", "项目"),
                text!("NODE", "节点"),
                text!("UPDATED", "更新"),
            ],
            &rows,
        ));
    }
    for flaw in &listing.damaged {
        let text = paint::printable(&format!("{}: {}", flaw.name, flaw.reason));
        console.line(format_args!("{} {text}", paint::styled(WARNING, text!("damaged", "已损坏"))));
    }
    if let Some(project) = only {
        let words = say!(
            "Runs of {}. --all shows those of every project.",
            "{} 的运行。--all 列出所有项目的运行。",
            project.path.display()
        );
        console.error(paint::styled(QUIET, paint::printable(&words)));
    }
}

/// Formats the package, and its workflow if that has a name.
fn workflow(run: &RunSummary) -> String {
    let package = run.package.rsplit_once('@').map_or(run.package.as_str(), |(name, _)| name);
    // A workflow without a name is called by the path of its document.
    if run.workflow.ends_with(".md") {
        package.to_owned()
    } else {
        format!("{package}/{}", run.workflow)
    }
}

/// Formats `2/6 step-02-discover-inputs`; for a completed run only the count.
fn place(run: &RunSummary, totals: &Totals<'_>) -> String {
    let total = totals.of(run);
    let (done, node) = match &run.current_node {
        Some(node) if run.status != Status::Completed => (run.steps_completed + 1, node.as_str()),
        Some(_) | None => (run.steps_completed, ""),
    };
    // A loop can visit more nodes than there are.
    let place = match total {
        Some(total) => format!("{}/{total}", done.min(total)),
        None => done.to_string(),
    };
    format!("{place} {node}").trim_end().to_owned()
}

fn style(status: Status) -> Style {
    match status {
        Status::Running | Status::WaitingUser => ACCENT,
        Status::Completed => GOOD,
        Status::Interrupted | Status::Paused => WARNING,
        Status::Failed | Status::Unknown => ERROR,
    }
}

fn as_json(listing: &RunListing, names: &BTreeMap<&str, &Project>, totals: &Totals<'_>) -> Json {
    let run = |run: &RunSummary| {
        let mut value = json!(run);
        let project = names.get(run.project_id.as_str());
        value["project"] =
            json!(project.map(|project| json!({ "name": project.name, "path": project.path })));
        value["nodes"] = json!(totals.of(run));
        value
    };
    json!({ "runs": listing.runs.iter().map(run).collect::<Vec<_>>(), "damaged": listing.damaged })
}

/// The number of nodes of each workflow, by the digest of its package: another build may have more or fewer. Each package
/// is opened once.
struct Totals<'s> {
    store: &'s Store,
    known: RefCell<BTreeMap<Digest, BTreeMap<String, usize>>>,
}

impl<'s> Totals<'s> {
    fn new(store: &'s Store) -> Self {
        Self { store, known: RefCell::default() }
    }

    fn of(&self, run: &RunSummary) -> Option<usize> {
        let mut known = self.known.borrow_mut();
        let workflows =
            known.entry(run.sha256).or_insert_with(|| self.count(run).unwrap_or_default());
        workflows.get(&run.workflow).copied()
    }

    /// Counts nodes by workflow id or document path, as runs name their workflow.
    fn count(&self, run: &RunSummary) -> Option<BTreeMap<String, usize>> {
        let packages = self.store.packages();
        let (name, version) = run.package.rsplit_once('@')?;
        let version = Version::parse(version).ok()?;
        let installed = packages.find_by_digest(name, &version, run.sha256).ok()??;
        let package = packages.load(&installed).ok()?;
        let count = |workflow: &Workflow| {
            let id = workflow.id.as_ref().map(|id| id.to_string());
            let name = id.unwrap_or_else(|| workflow.document_path.to_string());
            (name, workflow.graph.nodes().len())
        };
        Some(package.workflows().iter().map(count).collect())
    }
}
