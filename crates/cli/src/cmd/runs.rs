//! `crewagent runs …`: lists runs and shows what they did.

mod account;
mod fork;
mod list;
mod logs;
mod path;
mod revert;
mod rm;
mod show;

use std::path::PathBuf;

use crewagent_core::event::Phase;
use crewagent_core::run::history::{Visit, named};
use crewagent_engine::store::{Of, RunId, Status, Store};
use serde_json::json;

use crate::args::{RunsArgs, RunsCommand, RunsRenameArgs};
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::{Outcome, UsageError};
use crate::paint::{self, GOOD, NAME};
use crate::resume_hint::ResumeHint;

/// The name of the newest run.
const LATEST: &str = "latest";

pub(crate) fn run(
    args: RunsArgs,
    home: Option<PathBuf>,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let resume_hint = ResumeHint::new(home.as_ref());
    let store = Store::open(home)?;
    match args.command.unwrap_or(RunsCommand::List(args.list)) {
        RunsCommand::List(args) => list::run(&args, &store, console),
        RunsCommand::Show(args) => show::run(&args, &store, &resume_hint, console),
        RunsCommand::Logs(args) => logs::run(&args, &store, console),
        RunsCommand::Fork(args) => fork::run(&args, &store, &resume_hint, console),
        RunsCommand::Revert(args) => revert::run(&args, &store, console),
        RunsCommand::Rename(args) => rename(&args, &store, console),
        RunsCommand::Rm(args) => rm::run(&args, &store, console),
    }
}

fn rename(args: &RunsRenameArgs, store: &Store, console: &mut Console) -> anyhow::Result<Outcome> {
    let id = find(&args.run, store)?;
    if args.title.trim().is_empty() {
        return Err(UsageError(text!("a title must have words", "标题不能为空").to_owned()).into());
    }
    store.runs().rename(&id, &args.title)?;
    let title = store.runs().summary(&id)?.title.unwrap_or_default();
    if args.json {
        console.line(paint::json(&json!({ "id": id, "title": title })));
        return Ok(Outcome::Done);
    }
    let (done, id) = (paint::styled(GOOD, text!("renamed", "已重命名")), paint::styled(NAME, id));
    console.line(format_args!("{done} {id} {}", paint::printable(&title)));
    Ok(Outcome::Done)
}

/// Returns the run that the user means.
pub(crate) fn find(reference: &str, store: &Store) -> anyhow::Result<RunId> {
    find_in(Of::All, reference, store)
}

/// Returns the run that the user means, among these alone.
pub(crate) fn find_in(of: Of<'_>, reference: &str, store: &Store) -> anyhow::Result<RunId> {
    if reference != LATEST {
        return Ok(store.runs().find_in(of, reference)?);
    }
    let newest = store.runs().list(of)?.runs.into_iter().next().map(|run| run.run_id);
    newest.ok_or_else(|| {
        UsageError(
            text!(
                "there is no run yet; `crewagent run PACKAGE` starts one",
                "还没有运行；`crewagent run PACKAGE` 开始一次"
            )
            .to_owned(),
        )
        .into()
    })
}

/// Returns the visit of a node that the user means.
fn visit<'v>(visits: &'v [Visit], name: &str) -> anyhow::Result<&'v Visit> {
    named(visits, name).ok_or_else(|| {
        let mut known: Vec<String> = Vec::new();
        for visit in visits {
            let is_repeated = visits.iter().filter(|other| other.node == visit.node).count() > 1;
            let number = if is_repeated { format!("#{}", visit.number) } else { String::new() };
            known.push(format!("{}{number}", visit.node));
        }
        let known = known.join(", ");
        UsageError(say!(
            "the run did not come to `{name}`; it came to {known}",
            "运行没有到过 `{name}`；到过的有 {known}"
        ))
        .into()
    })
}

/// Returns the status of a run for the user.
fn shown(status: Status) -> &'static str {
    match status {
        Status::Running => text!("running", "运行中"),
        Status::Interrupted => text!("interrupted", "意外中断"),
        Status::WaitingUser => text!("waiting", "正在等你"),
        Status::Paused => text!("paused", "已暂停"),
        Status::Completed => text!("completed", "已完成"),
        Status::Failed => text!("failed", "失败"),
        Status::Unknown => text!("unknown", "未知"),
    }
}

/// Returns the status of a run as programs read it.
fn word(status: Status) -> &'static str {
    match status {
        Status::Running => "running",
        Status::Interrupted => "interrupted",
        Status::WaitingUser => "waiting",
        Status::Paused => "paused",
        Status::Completed => "completed",
        Status::Failed => "failed",
        Status::Unknown => "unknown",
    }
}

/// Returns the phase behind a status. An interrupted run is resumed like a paused one.
fn phase(status: Status) -> Phase {
    match status {
        Status::Running => Phase::Running,
        Status::WaitingUser => Phase::WaitingUser,
        Status::Paused | Status::Interrupted => Phase::Paused,
        Status::Completed => Phase::Completed,
        Status::Failed | Status::Unknown => Phase::Failed,
    }
}
