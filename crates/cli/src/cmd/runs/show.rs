//! `crewagent runs show`: one run on one screen.

use std::path::PathBuf;

use crewagent_core::event::{Event, Phase};
use crewagent_core::run::history::History;
use crewagent_core::state::frame::Frame;
use crewagent_engine::store::{RunSummary, RunView, Status, Store};
use serde_json::{Value as Json, json};

use super::account::Account;
use super::path::RunPath;
use super::{phase, word};
use crate::args::RunsShowArgs;
use crate::cmd::run_driver;
use crate::console::Console;
use crate::language::{say, text};
use crate::outcome::Outcome;
use crate::paint::{self, NAME, QUIET, WARNING};
use crate::render::flow::indented;
use crate::render::header::header;
use crate::render::names::DisplayNames;
use crate::render::question::{self, Asker};
use crate::render::summary;
use crate::resume_hint::ResumeHint;
use crate::when::ago;

pub(super) fn run(
    args: &RunsShowArgs,
    store: &Store,
    resume_hint: &ResumeHint,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let id = super::find(&args.run, store)?;
    let view = store.runs().look(&id)?;
    let summary = store.runs().summary(&id)?;
    let story = Story::of(&view.recovered.events);
    let project = store.runs().project(&view.record).ok().map(|project| project.path);
    let report = RunReport { view: &view, summary: &summary, story: &story, project, resume_hint };
    if args.json {
        console.line(paint::json(&report.json()));
    } else {
        let package = run_driver::package_of(&view.record, store);
        let names = run_driver::names_of(&view.record, package.as_deref());
        console.text(&report.human(&names));
    }
    Ok(Outcome::Done)
}

/// Views of the history of a run.
struct Story {
    history: History,
    path: RunPath,
    account: Account,
}

impl Story {
    fn of(events: &[Event]) -> Self {
        let (mut history, mut account) = (History::default(), Account::default());
        for event in events {
            history.take(event);
            account.take(&event.kind, &history.position);
        }
        Self { path: RunPath::of(&history), account, history }
    }

    /// Returns the run that it was forked from, the event there, and the node.
    fn forked_from(&self) -> Option<(&str, u64, &str)> {
        let fork = self.history.forked_from.as_ref()?;
        Some((&fork.run, fork.event, &self.history.visits.first()?.node))
    }
}

/// Everything that is known about a run.
struct RunReport<'r> {
    view: &'r RunView,
    summary: &'r RunSummary,
    story: &'r Story,
    project: Option<PathBuf>,
    resume_hint: &'r ResumeHint,
}

impl RunReport<'_> {
    fn human(&self, names: &DisplayNames) -> String {
        let record = &self.view.record;
        let project = self.project.as_ref().map(|path| path.display().to_string());
        let project = project.unwrap_or_else(|| record.project_id.to_string());
        let mut text = header(record, names, &project);
        text.push_str(&self.status());
        text.push_str(&self.story.path.human(names));
        text.push_str(&self.variables());
        text.push_str(&self.artifacts());
        text.push_str(&self.story.account.human());
        if let Some(open) = self.story.history.question.as_ref().filter(|_| self.waits()) {
            let asker = if open.moved.is_some() { Asker::Runtime } else { Asker::Model };
            text.push('\n');
            text.push_str(&question::question(&open.question, asker, paint::text_width(), &[]));
        }
        for trouble in self.summary.troubles.iter().chain(&self.view.recovered.notes) {
            let trouble = paint::printable(trouble);
            text.push_str(&format!(
                "\n{} {trouble}\n",
                paint::styled(WARNING, text!("warning:", "警告:"))
            ));
        }
        let (words, commands) = self.next();
        text.push_str(&summary::next(&words, &commands));
        text
    }

    fn waits(&self) -> bool {
        self.summary.status == Status::WaitingUser
    }

    /// Describes status, reason and usage.
    fn status(&self) -> String {
        let summary = self.summary;
        let verdict = match summary.status {
            Status::Interrupted => paint::styled(WARNING, text!("! Interrupted", "! 意外中断")),
            Status::Unknown => paint::styled(WARNING, text!("! Unknown", "! 未知")),
            Status::Running
            | Status::WaitingUser
            | Status::Paused
            | Status::Completed
            | Status::Failed => summary::verdict(phase(summary.status), summary.reason),
        };
        let spent = summary::spent(self.story.account.turns(), &self.story.account.usage(), None);
        let updated = summary.updated.unwrap_or(summary.created);
        let when = ago(updated, crewagent_engine::clock::now());
        let mut text = format!(
            "{verdict}  {}\n",
            paint::styled(QUIET, say!("{spent}, {when}", "{spent}，{when}"))
        );
        if let Some(message) = &summary.message {
            text.push_str(&format!(
                "  {}\n",
                indented(&summary::why(summary.reason, message), 2, paint::text_width())
            ));
        }
        if let Some((run, _, node)) = self.story.forked_from() {
            let (run, node) = (paint::printable(run), paint::printable(node));
            text.push_str(&say!(
                "  goes on from run {run} at {node}\n",
                "  从运行 {run} 的 {node} 继续\n"
            ));
        }
        if let Some(holder) = &self.view.holder {
            text.push_str(&say!("  in use by {holder}\n", "  正被 {holder} 使用\n"));
        }
        text
    }

    fn variables(&self) -> String {
        let variables = &self.story.history.position.state.variables;
        if variables.is_empty() {
            return String::new();
        }
        let mut text = format!("\n{}\n", paint::styled(NAME, text!("Variables", "变量")));
        for (name, value) in variables {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let (name, value) = (paint::printable(name), paint::printable(&value));
            let value = paint::fitted(&value, 100);
            text.push_str(&format!("  {name} {} {value}\n", paint::styled(QUIET, "=")));
        }
        text
    }

    fn artifacts(&self) -> String {
        let artifacts = self.story.history.position.artifacts();
        if artifacts.is_empty() {
            return String::new();
        }
        let mut text = format!("\n{}\n", paint::styled(NAME, text!("Artifacts", "产物")));
        for artifact in &artifacts {
            let path = self.path_of(artifact);
            let gone = if self.project.is_some() && !path.exists() {
                text!("  (gone)", "  （已不在）")
            } else {
                ""
            };
            let path = paint::printable(&path.display().to_string());
            text.push_str(&format!("  {path}{}\n", paint::styled(WARNING, gone)));
        }
        text
    }

    fn path_of(&self, artifact: &str) -> PathBuf {
        self.project.as_ref().map_or_else(|| PathBuf::from(artifact), |root| root.join(artifact))
    }

    /// Returns advice on how to continue, with the commands.
    fn next(&self) -> (String, Vec<String>) {
        let id = self.summary.run_id.as_str();
        if let Some(reason) = self.summary.reason.filter(|_| self.waits())
            && let Some(words) = summary::room(reason, &self.story.history.settings.limits)
        {
            return (words, vec![self.resume_hint.resume(id)]);
        }
        let (words, commands) = match phase(self.summary.status) {
            Phase::Running => (
                text!("It is at work. Watch what it has done with:", "正在运行。查看进展："),
                vec![self.resume_hint.command(&format!("runs logs {id}"))],
            ),
            Phase::Completed => (
                text!("To change something, say what:", "要修改什么，直接说："),
                vec![self.resume_hint.answer(id, text!("what to change", "要修改的内容"))],
            ),
            Phase::WaitingUser => match self.story.history.question {
                Some(_) => (
                    text!("Go on with your answer:", "用你的回答继续："),
                    vec![self.resume_hint.answer(id, text!("your answer", "你的回答"))],
                ),
                None => (
                    text!("Go on by telling it what to do:", "告诉它接下来做什么："),
                    vec![self.resume_hint.answer(id, text!("your words", "你的话"))],
                ),
            },
            Phase::Paused | Phase::Failed => (
                text!("Nothing is lost. Go on with:", "没有内容丢失。继续："),
                vec![self.resume_hint.resume(id)],
            ),
        };
        (words.to_owned(), commands)
    }

    fn json(&self) -> Json {
        let position = &self.story.history.position;
        let artifacts: Vec<Json> = position
            .artifacts()
            .iter()
            .map(|artifact| json!({ "path": artifact, "file": self.path_of(artifact) }))
            .collect();
        let stack: Vec<&Frame> = position.frames().collect();
        let fork = self.story.forked_from();
        json!({
            "run": self.view.record,
            "forkedFrom": fork.map(|(run, event, node)| json!({ "run": run, "event": event, "node": node })),
            "status": word(self.summary.status),
            "reason": self.summary.reason,
            "message": self.summary.message,
            "updated": self.summary.updated,
            "holder": self.view.holder,
            "project": self.project,
            "state": position.state,
            "callStack": stack,
            "path": self.story.path.json(),
            "artifacts": artifacts,
            "question": self.story.history.question.as_ref().filter(|_| self.waits()).map(|open| &open.question),
            "turns": self.story.account.turns(),
            "usage": self.story.account.usage(),
            "usageByNode": self.story.account.by_node(),
            "usageByTurn": self.story.account.by_turn(),
            "troubles": self.summary.troubles.iter().chain(&self.view.recovered.notes).collect::<Vec<_>>(),
        })
    }
}
