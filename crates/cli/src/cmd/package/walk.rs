//! `crewagent package walk`: plays every workflow of a package offline, until every edge was taken.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use crewagent_engine::store::{ImportError, Installed, Store};
use crewagent_scenario::walk::{PackageWalk, PackageWalkError, WalkCount, WalkedWorkflow};
use serde_json::json;

use super::is_path;
use crate::args::WalkArgs;
use crate::console::Console;
use crate::language::errors::shown;
use crate::language::{say, text};
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, ERROR, GOOD, NAME, QUIET};
use crate::render::{self, ReportOptions};

/// Parts of one kind that are named.
const NAMED: usize = 8;

pub(super) fn run(
    args: &WalkArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let scratch = tempfile::Builder::new()
        .prefix("crewagent-walk-")
        .tempdir()
        .context(text!("cannot make a scratch folder", "无法创建临时文件夹"))?;
    let store = Store::open(Some(scratch.path().join("store")))?;
    let Some(installed) = import(&args.package, home, &store, console)? else {
        return Ok(Outcome::Invalid);
    };
    let walk = PackageWalk::new(&store, installed, &scratch.path().join("projects"))?;
    let mut tell = |walked: &WalkedWorkflow| {
        if !args.json {
            describe(walked, console);
            console.show();
        }
    };
    let report = match walk.walk(args.workflow.as_deref(), &mut tell) {
        Ok(report) => report,
        Err(PackageWalkError::NoWorkflow(id)) => {
            return Err(UsageError(say!(
                "this package has no workflow `{id}`",
                "这个包没有流程 `{id}`"
            ))
            .into());
        }
        Err(error) => return Err(error.into()),
    };
    let is_whole = report.is_whole();
    if args.json {
        let mut told = json!(report);
        told["whole"] = json!(is_whole);
        console.line(paint::json(&told));
    } else {
        conclude(&report.workflows, console);
    }
    Ok(if is_whole { Outcome::Done } else { Outcome::Invalid })
}

/// Imports the package into the scratch store. Prints the findings of an invalid one and returns none.
fn import(
    reference: &Path,
    home: Option<PathBuf>,
    scratch: &Store,
    console: &mut Console,
) -> anyhow::Result<Option<Installed>> {
    let path = if is_path(reference) {
        reference.to_owned()
    } else {
        let own = Store::open(home)?;
        let found = own.packages().find(&reference.to_string_lossy());
        found.map_err(|error| UsageError(shown(&error)))?.files_folder()
    };
    match scratch.packages().import(&path, &mut || {}) {
        Ok(imported) => Ok(Some(imported.installed)),
        Err(ImportError::Rejected(rejection)) => {
            let (name, options) = (reference.display().to_string(), ReportOptions::ASIDE);
            render::findings(&name, &rejection.findings, &rejection.sources, options, console);
            Ok(None)
        }
        Err(error) => Err(error.into()),
    }
}

fn describe(walked: &WalkedWorkflow, console: &mut Console) {
    let verdict = if walked.is_whole() {
        paint::styled(GOOD, text!("ok", "通过"))
    } else {
        paint::styled(ERROR, text!("incomplete", "不完整"))
    };
    let count = |count: WalkCount, noun: &str| format!("{}/{} {noun}", count.covered, count.all);
    let mut parts = vec![
        paint::counted(walked.runs, ("run", "次运行")),
        count(walked.nodes, text!("nodes", "个节点")),
        count(walked.edges, text!("edges", "条边")),
    ];
    if walked.options.all > 0 {
        parts.push(count(walked.options, text!("options", "个选项")));
    }
    let name = paint::styled(NAME, paint::printable(&walked.workflow));
    console.line(format_args!("{verdict} {name}: {}", parts.join(text!(", ", "，"))));
    let lists = [
        (text!("never reached", "从未到达"), &walked.unreached),
        (text!("never left", "从未离开"), &walked.never_left),
        (text!("never taken", "从未走过"), &walked.untaken),
        (text!("never chosen", "从未选择"), &walked.unchosen),
        (text!("stopped", "中途停下"), &walked.problems),
    ];
    for (title, names) in lists {
        for name in names.iter().take(NAMED) {
            console.line(format_args!("  {title}: {}", paint::printable(name)));
        }
        let more = names.len().saturating_sub(NAMED);
        if more > 0 {
            let words = say!("  {title}: {more} more", "  {title}：另有 {more} 处");
            console.line(paint::styled(QUIET, words));
        }
    }
}

/// Prints the sums over all workflows.
fn conclude(walked: &[WalkedWorkflow], console: &mut Console) {
    if walked.len() < 2 {
        return;
    }
    let sum = |of: fn(&WalkedWorkflow) -> WalkCount| {
        let covered: usize = walked.iter().map(|one| of(one).covered).sum();
        let all: usize = walked.iter().map(|one| of(one).all).sum();
        format!("{covered}/{all}")
    };
    let whole = walked.iter().filter(|one| one.is_whole()).count();
    console.line(say!(
        "{whole} of {} whole; {} nodes, {} edges, {} options; {}",
        "{} 中 {whole} 个完整；节点 {}，边 {}，选项 {}；{}",
        paint::counted(walked.len(), ("workflow", "个流程")),
        sum(|one| one.nodes),
        sum(|one| one.edges),
        sum(|one| one.options),
        paint::counted(walked.iter().map(|one| one.runs).sum(), ("run", "次运行"))
    ));
}
