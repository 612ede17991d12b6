//! `crewagent runs show`: one run on one screen.

use std::path::PathBuf;

use crewagent_core::event::{
    Event, EventKind, Phase, PhaseChanged, RunEvent, RunResumed, RunStarted, UserAsked, UserEvent,
};
use crewagent_core::question::Question;
use crewagent_core::settings::Limits;
use crewagent_core::state::call::Frame;
use crewagent_engine::store::{RunSummary, RunView, Status, Store};
use jiff::Timestamp;
use serde_json::{Value as Json, json};

use super::account::Account;
use super::path::Path;
use super::{phase, word};
use crate::again::Again;
use crate::args::RunsShow;
use crate::cmd::session;
use crate::console::Console;
use crate::outcome::Outcome;
use crate::paint::{self, NAME, QUIET, WARNING};
use crate::render::flow::indented;
use crate::render::header::header;
use crate::render::names::Names;
use crate::render::question::{self, Asker};
use crate::render::summary;
use crate::when::ago;

pub(super) fn run(
    args: &RunsShow,
    store: &Store,
    again: &Again,
    console: &mut Console,
) -> anyhow::Result<Outcome> {
    let id = super::find(&args.run, store)?;
    let view = store.runs().look(&id)?;
    let summary = store.runs().summary(&id)?;
    let story = Story::of(&view.recovered.events);
    let project = store.runs().project(&view.facts).ok().map(|project| project.path);
    let report = Report { view: &view, summary: &summary, story: &story, project, again };
    if args.json {
        console.line(paint::json(&report.json()));
    } else {
        let package = session::package_of(&view.facts, store);
        let names = session::names_of(&view.facts, package.as_deref());
        console.text(&report.human(&names));
    }
    Ok(Outcome::Done)
}

/// What the events of a run come to.
#[derive(Default)]
struct Story {
    path: Path,
    account: Account,
    limits: Limits,
    /// Why it rests, in words.
    why: Option<String>,
    /// The question that waits for an answer.
    question: Option<(Question, Asker)>,
    /// The run that it goes on from, the event there, and the node.
    forked_from: Option<(String, u64, String)>,
}

impl Story {
    fn of(events: &[Event]) -> Self {
        let mut story = Self::default();
        for event in events {
            story.take(&event.kind);
        }
        story
    }

    fn take(&mut self, kind: &EventKind) {
        self.account.take(kind);
        self.path.take(kind);
        if let EventKind::Run(RunEvent::Started(RunStarted { settings, .. }))
        | EventKind::Run(RunEvent::Resumed(RunResumed { settings: Some(settings), .. })) = kind
        {
            self.limits = settings.limits;
        }
        if let EventKind::Run(RunEvent::Started(RunStarted {
            forked_from: Some(fork),
            state,
            ..
        })) = kind
        {
            self.forked_from = Some((fork.run.clone(), fork.event, state.current_node_id.clone()));
        }
        match kind {
            EventKind::User(UserEvent::Asked(UserAsked { question, moved, .. })) => {
                let asker = if moved.is_some() { Asker::Runtime } else { Asker::Model };
                self.question = Some((question.clone(), asker));
            }
            EventKind::User(UserEvent::Input(_)) => self.question = None,
            EventKind::Run(RunEvent::PhaseChanged(PhaseChanged { message, .. })) => {
                self.why = message.clone()
            }
            EventKind::Run(
                RunEvent::Started(_)
                | RunEvent::Resumed(_)
                | RunEvent::Failed(_)
                | RunEvent::Finished(_),
            )
            | EventKind::Frame(_)
            | EventKind::State(_)
            | EventKind::Conversation(_)
            | EventKind::Tool(_)
            | EventKind::Model(_) => {}
        }
    }
}

/// Everything that is known about a run.
struct Report<'r> {
    view: &'r RunView,
    summary: &'r RunSummary,
    story: &'r Story,
    project: Option<PathBuf>,
    again: &'r Again,
}

impl Report<'_> {
    fn human(&self, names: &Names) -> String {
        let facts = &self.view.facts;
        let project = self.project.as_ref().map(|path| path.display().to_string());
        let project = project.unwrap_or_else(|| facts.project_id.to_string());
        let mut text = header(facts, names, &project);
        text.push_str(&self.status());
        text.push_str(&self.story.path.human(names));
        text.push_str(&self.variables());
        text.push_str(&self.artifacts());
        text.push_str(&self.story.account.human());
        if let Some((asked, asker)) = self.story.question.as_ref().filter(|_| self.waits()) {
            text.push('\n');
            text.push_str(&question::question(asked, *asker, paint::text_width()));
        }
        for trouble in self.summary.troubles.iter().chain(&self.view.recovered.notes) {
            let trouble = paint::printable(trouble);
            text.push_str(&format!("\n{} {trouble}\n", paint::styled(WARNING, "warning:")));
        }
        let (words, commands) = self.next();
        text.push_str(&summary::next(&words, &commands));
        text
    }

    fn waits(&self) -> bool {
        self.summary.status == Status::WaitingUser
    }

    fn why(&self) -> Option<&String> {
        self.summary.message.as_ref().or(self.story.why.as_ref())
    }

    /// How it is, why, and what it took.
    fn status(&self) -> String {
        let summary = self.summary;
        let verdict = match summary.status {
            Status::Interrupted => paint::styled(WARNING, "! Interrupted"),
            Status::Unknown => paint::styled(WARNING, "! Unknown"),
            Status::Running
            | Status::WaitingUser
            | Status::Paused
            | Status::Completed
            | Status::Failed => summary::verdict(phase(summary.status), summary.reason),
        };
        let spent = summary::spent(self.story.account.turns(), &self.story.account.usage(), None);
        let updated = summary.updated.unwrap_or(summary.created);
        let when = ago(updated, Timestamp::now());
        let mut text =
            format!("{verdict}  {}\n", paint::styled(QUIET, format_args!("{spent}, {when}")));
        if let Some(message) = self.why() {
            text.push_str(&format!("  {}\n", indented(message, 2, paint::text_width())));
        }
        if let Some((run, _, node)) = &self.story.forked_from {
            let (run, node) = (paint::printable(run), paint::printable(node));
            text.push_str(&format!("  goes on from run {run} at {node}\n"));
        }
        if let Some(holder) = &self.view.holder {
            text.push_str(&format!("  in use by {holder}\n"));
        }
        text
    }

    fn variables(&self) -> String {
        let variables = &self.story.path.trail().run_state().variables;
        if variables.is_empty() {
            return String::new();
        }
        let mut text = format!("\n{}\n", paint::styled(NAME, "Variables"));
        for (name, value) in variables {
            let value = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
            let (name, value) = (paint::printable(name), paint::printable(&value));
            let value = paint::fitted(&value, 100);
            text.push_str(&format!("  {name} {} {value}\n", paint::styled(QUIET, "=")));
        }
        text
    }

    fn artifacts(&self) -> String {
        let artifacts = self.story.path.trail().artifacts();
        if artifacts.is_empty() {
            return String::new();
        }
        let mut text = format!("\n{}\n", paint::styled(NAME, "Artifacts"));
        for artifact in &artifacts {
            let path = self.path_of(artifact);
            let gone = if self.project.is_some() && !path.exists() { "  (gone)" } else { "" };
            let path = paint::printable(&path.display().to_string());
            text.push_str(&format!("  {path}{}\n", paint::styled(WARNING, gone)));
        }
        text
    }

    fn path_of(&self, artifact: &str) -> PathBuf {
        self.project.as_ref().map_or_else(|| PathBuf::from(artifact), |root| root.join(artifact))
    }

    /// How to go on.
    fn next(&self) -> (String, Vec<String>) {
        let id = self.summary.run_id.as_str();
        if let Some(reason) = self.summary.reason.filter(|_| self.waits())
            && let Some(words) = summary::room(reason, &self.story.limits)
        {
            return (words, vec![self.again.resume(id)]);
        }
        let (words, commands) = match phase(self.summary.status) {
            Phase::Running => (
                "It is at work. Watch what it has done with:",
                vec![self.again.command(&format!("runs logs {id}"))],
            ),
            Phase::Completed => {
                ("To change something, say what:", vec![self.again.answer(id, "what to change")])
            }
            Phase::WaitingUser => match self.story.question {
                Some(_) => ("Go on with your answer:", vec![self.again.answer(id, "your answer")]),
                None => {
                    ("Go on by telling it what to do:", vec![self.again.answer(id, "your words")])
                }
            },
            Phase::Paused | Phase::Failed => {
                ("Nothing is lost. Go on with:", vec![self.again.resume(id)])
            }
        };
        (words.to_owned(), commands)
    }

    fn json(&self) -> Json {
        let trail = self.story.path.trail();
        let artifacts: Vec<Json> = trail
            .artifacts()
            .iter()
            .map(|artifact| json!({ "path": artifact, "file": self.path_of(artifact) }))
            .collect();
        let stack: Vec<&Frame> = trail.frames().collect();
        let fork = self.story.forked_from.as_ref();
        json!({
            "run": self.view.facts,
            "forkedFrom": fork.map(|(run, event, node)| json!({ "run": run, "event": event, "node": node })),
            "status": word(self.summary.status),
            "reason": self.summary.reason,
            "message": self.why(),
            "updated": self.summary.updated,
            "holder": self.view.holder,
            "project": self.project,
            "state": trail.run_state(),
            "callStack": stack,
            "path": self.story.path.json(),
            "artifacts": artifacts,
            "question": self.story.question.as_ref().filter(|_| self.waits()).map(|(asked, _)| asked),
            "turns": self.story.account.turns(),
            "usage": self.story.account.usage(),
            "usageByNode": self.story.account.by_node(),
            "usageByTurn": self.story.account.by_turn(),
            "troubles": self.summary.troubles.iter().chain(&self.view.recovered.notes).collect::<Vec<_>>(),
        })
    }
}
