//! The changes of a run in its project: files before and after, and reverting them.

use crewagent_core::event::{Answer, EventKind, FrameEvent, ModelEvent, StateEvent, ToolEvent};
use crewagent_core::state::run_state::RunState;
use crewagent_engine::changes::{self, Hunks, RevertOutcome, RevertScope, RunChanges};
use crewagent_engine::store::RunId;

use crate::api::Id;
use crate::api::files::{digest, place};
use crate::endpoint::ParsedRequest;
use crate::problem::Problem;
use crate::wire::{
    Artifact, Artifacts, Change, ChangedFile, Changes, HunkQuery, Image, ImageQuery, Images,
    Nothing, Revert, RevertHunk, RevertPlan, RevertPlanFile, RevertQuery, RevertResult, RevertStep,
    RevertedFile,
};

/// A longer file is not shown.
const MAX_IMAGE: usize = 4 << 20;

fn made<Q, B>(asked: &ParsedRequest<Id, Q, B>) -> Result<RunChanges, Problem> {
    Ok(RunChanges::of(&asked.app.store()?, &RunId::parse(&asked.path.id)?)?)
}

pub(super) fn list(asked: ParsedRequest<Id>) -> Result<Changes, Problem> {
    let made = made(&asked)?;
    let mut files = Vec::new();
    for (path, changes) in made.files() {
        let now = made.now(path)?;
        let (first, last) = (changes.first(), changes.last());
        files.push(ChangedFile {
            path: path.to_owned(),
            created: first.is_some_and(|change| change.before.is_none()),
            is_current: last.is_some_and(|change| now == change.after),
            changes: changes.iter().map(change).collect(),
            now: now.map(|digest| digest.to_string()),
        });
    }
    Ok(Changes { files })
}

fn change(change: &changes::RunChange) -> Change {
    let changes::RunChange { seq, call_id, node_id, time, before, after } = change.clone();
    let before = before.map(|digest| digest.to_string());
    Change { seq, call_id, node_id, time, before, after: after.map(|digest| digest.to_string()) }
}

pub(super) fn images(asked: ParsedRequest<Id, ImageQuery>) -> Result<Images, Problem> {
    let made = made(&asked)?;
    let ImageQuery { path, seq } = &asked.query;
    let (first, last) = made.span(path, *seq)?;
    let image = |digest| -> Result<Image, Problem> {
        let bytes = made.image(path, digest, MAX_IMAGE)?;
        let text = bytes.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(Image { sha256: digest.to_string(), text })
    };
    let before = first.before.map(image).transpose()?;
    Ok(Images { before, after: last.after.map(image).transpose()? })
}

pub(super) fn revert(asked: ParsedRequest<Id, (), Revert>) -> Result<Nothing, Problem> {
    let Revert { path, seq, if_match_sha256 } = &asked.body;
    let now = if_match_sha256.as_deref().map(digest).transpose()?;
    made(&asked)?.revert_file(path, *seq, now)?;
    Ok(Nothing {})
}

pub(super) fn hunks(asked: ParsedRequest<Id, HunkQuery>) -> Result<Hunks, Problem> {
    Ok(made(&asked)?.hunks(&asked.query.path)?)
}

pub(super) fn revert_hunk(asked: ParsedRequest<Id, (), RevertHunk>) -> Result<Nothing, Problem> {
    let RevertHunk { path, if_match_sha256, hunk } = &asked.body;
    made(&asked)?.revert_hunk(path, digest(if_match_sha256)?, *hunk)?;
    Ok(Nothing {})
}

fn scope(visit: u64, onward: Option<bool>) -> RevertScope {
    if onward.unwrap_or_default() { RevertScope::Onward(visit) } else { RevertScope::Step(visit) }
}

pub(super) fn revert_plan(asked: ParsedRequest<Id, RevertQuery>) -> Result<RevertPlan, Problem> {
    let RevertQuery { visit, onward } = asked.query;
    let way = made(&asked)?.plan_revert(scope(visit, onward))?;
    let files = way.into_iter().map(|file| RevertPlanFile {
        path: file.path,
        removed: file.target.is_none(),
        now: file.now.map(|digest| digest.to_string()),
        prospect: file.prospect,
        later: file.later,
    });
    Ok(RevertPlan { files: files.collect() })
}

pub(super) fn revert_step(
    asked: ParsedRequest<Id, (), RevertStep>,
) -> Result<RevertResult, Problem> {
    let RevertStep { visit, onward, files } = &asked.body;
    let mut agreed = Vec::new();
    for file in files {
        let now = file.if_match_sha256.as_deref().map(digest).transpose()?;
        agreed.push((file.path.clone(), now));
    }
    let outcomes = made(&asked)?.revert(scope(*visit, *onward), &agreed)?;
    let files = outcomes.into_iter().map(|(path, outcome)| match outcome {
        RevertOutcome::Reverted => RevertedFile { path, left: None },
        RevertOutcome::Left(why) => RevertedFile { path, left: Some(why) },
    });
    Ok(RevertResult { files: files.collect() })
}

pub(super) fn artifacts(asked: ParsedRequest<Id>) -> Result<Artifacts, Problem> {
    let store = asked.app.store()?;
    let view = store.runs().look(&RunId::parse(&asked.path.id)?)?;
    let mounts = store.projects().mounts(&store.runs().project(&view.record)?)?;
    let mut list = ArtifactList::default();
    let mut node = None;
    for event in &view.recovered.events {
        match &event.kind {
            EventKind::Model(ModelEvent::TurnStarted(turn)) => node = turn.node_id.as_ref(),
            EventKind::Tool(ToolEvent::Finished(finished)) => {
                list.call(&finished.answer, node);
            }
            EventKind::State(StateEvent::Changed(change)) => {
                list.settle(&change.state, node);
            }
            EventKind::Frame(FrameEvent::Left(left)) => {
                list.settle(&left.change.state, node);
            }
            EventKind::Run(_)
            | EventKind::Conversation(_)
            | EventKind::User(_)
            | EventKind::Frame(_)
            | EventKind::State(StateEvent::Entered(_))
            | EventKind::Model(_)
            | EventKind::Tool(_) => {}
        }
    }
    let mut artifacts = Vec::new();
    for (path, node_id) in list.listed {
        let bytes = match place(&path) {
            Ok(place) => mounts.stat(&place)?.ok().map(|stat| stat.size),
            Err(_) => None,
        };
        artifacts.push(Artifact { path, node_id, bytes });
    }
    Ok(Artifacts { artifacts })
}

/// Artifacts in the order in which the run wrote them, each with its node.
#[derive(Default)]
struct ArtifactList {
    listed: Vec<(String, Option<String>)>,
    /// Files that the next change of the state has yet to confirm.
    unlisted: Vec<String>,
}

impl ArtifactList {
    fn note(&mut self, path: &str, node: Option<&String>) {
        if self.listed.iter().all(|(known, _)| known != path) {
            self.listed.push((path.to_owned(), node.cloned()));
        }
    }

    /// Takes the files that a call wrote and removed.
    fn call(&mut self, answer: &Answer, node: Option<&String>) {
        for path in &answer.created {
            self.note(path, node);
            self.unlisted.push(path.clone());
        }
        let removed = answer.wrote.iter().filter(|file| file.sha256.is_none());
        for file in removed {
            self.listed.retain(|(path, _)| *path != file.path);
        }
    }

    /// Takes a state. A file that it leaves out is a copy of an output, or is gone.
    fn settle(&mut self, state: &RunState, node: Option<&String>) {
        let unlisted = std::mem::take(&mut self.unlisted);
        self.listed.retain(|(path, _)| !unlisted.contains(path) || state.artifacts.contains(path));
        for path in &state.artifacts {
            self.note(path, node);
        }
    }
}
