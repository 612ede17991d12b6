//! What a run changed in its project: the files, before and after, and the way back.

use std::collections::BTreeMap;

use crewagent_core::event::{Event, Fact};
use crewagent_core::integrity::Digest;
use crewagent_core::vpath::WritablePath;
use crewagent_engine::mounts::{Before, Mounts};
use crewagent_engine::store::{RunId, RunView, Store};

use crate::api::Id;
use crate::api::files::{digest, granted, place};
use crate::endpoint::Asked;
use crate::problem::Problem;
use crate::wire::{
    Artifact, Artifacts, Change, ChangedFile, Changes, Code, Image, ImageQuery, Images, Nothing,
    Revert,
};

/// A longer file is not shown.
const MAX_IMAGE: usize = 4 << 20;
/// In front of the paths of a project.
const PROJECT: &str = "@project/";

/// A run and the project it changed.
struct Scene {
    view: RunView,
    mounts: Mounts,
    files: BTreeMap<String, Vec<Change>>,
}

impl Scene {
    fn open(store: &Store, id: &str) -> Result<Self, Problem> {
        let view = store.runs().look(&RunId::parse(id)?)?;
        let project = store.runs().project(&view.facts)?;
        let mounts = store.projects().mounts(&project)?;
        let files = changes_of(&view.recovered.events);
        Ok(Self { view, mounts, files })
    }

    fn now(&self, path: &str) -> Result<Option<Digest>, Problem> {
        match self.mounts.read(&place(path)?, 0)? {
            Ok(content) => Ok(Some(content.sha256)),
            Err(_) => Ok(None),
        }
    }

    fn changes(&self, path: &str) -> Result<&[Change], Problem> {
        let found = self.files.get(path).map(Vec::as_slice);
        found.ok_or_else(|| Problem::missing(format!("this run did not change `{path}`")))
    }

    /// What a file held when it had this digest: as it is now, or as a later change found it.
    fn image(&self, path: &str, sha256: &str) -> Result<Image, Problem> {
        let wanted = digest(sha256)?;
        let mut bytes = self.view.blobs.get(wanted).ok();
        if bytes.is_none()
            && let Ok(content) = self.mounts.read(&place(path)?, MAX_IMAGE)?
            && content.sha256 == wanted
            && content.is_whole()
        {
            bytes = Some(content.bytes);
        }
        let text = bytes.filter(|bytes| bytes.len() <= MAX_IMAGE);
        let text = text.and_then(|bytes| String::from_utf8(bytes).ok());
        Ok(Image { sha256: sha256.to_owned(), text })
    }
}

/// The changes of every file of the project that were carried out, in their order.
fn changes_of(events: &[Event]) -> BTreeMap<String, Vec<Change>> {
    let mut files: BTreeMap<String, Vec<Change>> = BTreeMap::new();
    let (mut node, mut open): (Option<String>, Vec<(String, Change)>) = (None, Vec::new());
    for event in events {
        if let Fact::TurnStarted { node_id, .. } = &event.fact {
            node.clone_from(node_id);
        } else if let Fact::ToolStarted { call_id, intent: Some(intent), .. } = &event.fact {
            open.clear();
            for file in &intent.files {
                let Some(path) = file.path.strip_prefix(PROJECT) else { continue };
                let change = Change {
                    seq: event.seq,
                    call_id: call_id.clone(),
                    node_id: node.clone(),
                    time: event.time.clone(),
                    before: file.before.clone(),
                    after: file.after.clone(),
                };
                open.push((path.to_owned(), change));
            }
        } else if let Fact::ToolFinished { answer, .. } = &event.fact {
            // A change that was refused in the end did not happen.
            for (path, change) in open.drain(..).filter(|_| answer.refused.is_none()) {
                files.entry(path).or_default().push(change);
            }
        }
    }
    files
}

pub(super) fn list(asked: Asked<Id>) -> Result<Changes, Problem> {
    let store = asked.app.store()?;
    let scene = Scene::open(&store, &asked.path.id)?;
    let mut files = Vec::new();
    for (path, changes) in &scene.files {
        let now = scene.now(path)?.map(|digest| digest.to_string());
        let (first, last) = (changes.first(), changes.last());
        files.push(ChangedFile {
            path: path.clone(),
            created: first.is_some_and(|change| change.before.is_none()),
            is_current: last.is_some_and(|change| now.as_ref() == Some(&change.after)),
            changes: changes.clone(),
            now,
        });
    }
    Ok(Changes { files })
}

pub(super) fn images(asked: Asked<Id, ImageQuery>) -> Result<Images, Problem> {
    let store = asked.app.store()?;
    let scene = Scene::open(&store, &asked.path.id)?;
    let ImageQuery { path, seq } = asked.query;
    let (first, last) = chosen(scene.changes(&path)?, seq)?;
    let before = match &first.before {
        Some(sha256) => Some(scene.image(&path, sha256)?),
        None => None,
    };
    Ok(Images { before, after: scene.image(&path, &last.after)? })
}

/// The change that is meant, or the first and the last.
fn chosen(changes: &[Change], seq: Option<u64>) -> Result<(&Change, &Change), Problem> {
    let found = match seq {
        Some(seq) => changes.iter().find(|change| change.seq == seq).map(|one| (one, one)),
        None => changes.first().zip(changes.last()),
    };
    found.ok_or_else(|| Problem::missing("there is no such change of this file"))
}

pub(super) fn revert(asked: Asked<Id, (), Revert>) -> Result<Nothing, Problem> {
    let store = asked.app.store()?;
    let scene = Scene::open(&store, &asked.path.id)?;
    let Revert { path, seq, if_match_sha256 } = asked.body;
    let (change, _) = chosen(scene.changes(&path)?, seq)?;
    let now = digest(&if_match_sha256)?;
    let target = WritablePath::new(place(&path)?)
        .map_err(|refusal| Problem::new(Code::Refused, refusal.message))?;
    match &change.before {
        None => granted(scene.mounts.remove(&target, now))?,
        Some(sha256) => {
            let bytes = scene.view.blobs.get(digest(sha256)?)?;
            granted(scene.mounts.replace(&target, &bytes, Before::Sha256(now)))?;
        }
    }
    Ok(Nothing {})
}

pub(super) fn artifacts(asked: Asked<Id>) -> Result<Artifacts, Problem> {
    let store = asked.app.store()?;
    let scene = Scene::open(&store, &asked.path.id)?;
    let mut artifacts: Vec<Artifact> = Vec::new();
    let mut note = |path: &String, node: Option<&String>| -> Result<(), Problem> {
        if artifacts.iter().any(|known| known.path == *path) {
            return Ok(());
        }
        let bytes = match place(path) {
            Ok(place) => scene.mounts.stat(&place)?.ok().map(|stat| stat.size),
            Err(_) => None,
        };
        artifacts.push(Artifact { path: path.clone(), node_id: node.cloned(), bytes });
        Ok(())
    };
    let mut node = None;
    for event in &scene.view.recovered.events {
        if let Fact::TurnStarted { node_id, .. } = &event.fact {
            node = node_id.as_ref();
        } else if let Fact::ToolFinished { answer, .. } = &event.fact {
            answer.created.iter().try_for_each(|path| note(path, node))?;
        } else if let Fact::StateChanged(change) | Fact::WorkflowLeft { change, .. } = &event.fact {
            change.state.artifacts.iter().try_for_each(|path| note(path, node))?;
        }
    }
    Ok(Artifacts { artifacts })
}
