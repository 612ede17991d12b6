//! Conditions that hold in every state after a power cut.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use crewagent_core::event::{
    AssistantMessage, Event, EventKind, FileIntent, FrameEntered, FrameEvent, FramePlanned,
    ModelEvent, ToolEvent, ToolFinished, ToolStarted,
};
use crewagent_core::state::document::StateDocument;
use crewagent_engine::journal::recover;
use crewagent_format::integrity::Digest;
use serde_json::Value as Json;

/// Paths in a state, relative to the root of the fixture.
pub(crate) struct Places {
    pub(crate) run: String,
    /// Files of the project before the run, by mount path.
    pub(crate) before: BTreeMap<String, Digest>,
}

/// Everything that a journal says about the files.
pub(crate) struct JournalContent {
    pub(crate) events: usize,
    pub(crate) replies: Vec<u64>,
    /// Possible contents of each file, by mount path.
    may_hold: BTreeMap<String, Vec<Option<Digest>>>,
    /// Moves in progress: the new path and the old one.
    moves: Vec<(String, String)>,
    blobs: Vec<String>,
}

/// A judge of states, with a cache of what it has read.
#[derive(Default)]
pub(crate) struct Judge {
    journals: Memory<Rc<JournalContent>>,
    documents: Memory<Result<(), String>>,
    digests: Memory<Digest>,
}

/// Cache for contents that are alive. The same bytes at the same address are not examined twice.
struct Memory<T>(HashMap<*const u8, (Rc<[u8]>, T)>);

impl<T> Default for Memory<T> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<T: Clone> Memory<T> {
    fn of(&mut self, bytes: &Rc<[u8]>, find: impl FnOnce(&[u8]) -> T) -> T {
        if self.0.len() > 2_000 {
            self.0.clear();
        }
        match self.0.get(&bytes.as_ptr()) {
            Some((same, known)) if same.len() == bytes.len() => known.clone(),
            _ => {
                let found = find(bytes);
                self.0.insert(bytes.as_ptr(), (bytes.clone(), found.clone()));
                found
            }
        }
    }
}

/// All files of a state.
pub(crate) type Files = BTreeMap<String, Rc<[u8]>>;

impl Judge {
    pub(crate) fn journal(&mut self, bytes: &Rc<[u8]>) -> Rc<JournalContent> {
        self.journals.of(bytes, |bytes| Rc::new(read(bytes)))
    }

    fn digest(&mut self, bytes: &Rc<[u8]>) -> Digest {
        self.digests.of(bytes, Digest::of)
    }

    /// Returns what is wrong with a state. `sure` events are flushed, or were reported to the user.
    pub(crate) fn check(
        &mut self,
        files: &Files,
        places: &Places,
        sure: u64,
    ) -> Result<(), String> {
        let run = &places.run;
        let of = |name: &str| files.get(&format!("{run}/{name}"));
        let Some(record) = of("run.json") else {
            return if sure == 0 { Ok(()) } else { Err("the run is gone".to_owned()) };
        };
        serde_json::from_slice::<Json>(record).map_err(|error| format!("run.json: {error}"))?;
        let journal = of("state/logs/execution.jsonl").ok_or("the journal is gone")?;
        let told = self.journal(journal);
        if (told.events as u64) < sure {
            return Err(format!("{} events are left of {sure}", told.events));
        }
        let document = of("state/workflow.md").ok_or("the state document is gone")?;
        self.documents.of(document, |bytes| {
            let text = String::from_utf8(bytes.to_vec()).map_err(|error| error.to_string())?;
            StateDocument::read(text).map(drop).map_err(|error| error.to_string())
        })?;
        for blob in &told.blobs {
            let bytes =
                of(&format!("blobs/{blob}")).ok_or_else(|| format!("blob {blob} is gone"))?;
            if self.digest(bytes).to_string() != *blob {
                return Err(format!("blob {blob} is damaged"));
            }
        }
        self.check_files(files, places, &told)
    }

    /// Checks that every file has a content that the journal allows.
    fn check_files(
        &mut self,
        files: &Files,
        places: &Places,
        told: &JournalContent,
    ) -> Result<(), String> {
        let mut found = BTreeMap::new();
        for (path, bytes) in files {
            let Some(name) = mount_path(path, &places.run) else { continue };
            found.insert(name, self.digest(bytes));
        }
        for (name, digest) in &found {
            let fits = match told.may_hold.get(name) {
                Some(may) => may.contains(&Some(*digest)),
                // An intent names the document when it first changes; until then the journal's start does.
                None => name == "@state/workflow.md" || places.before.get(name) == Some(digest),
            };
            if !fits {
                return Err(format!("{name} holds what no intent names"));
            }
        }
        for (name, may) in &told.may_hold {
            if !found.contains_key(name) && !may.contains(&None) {
                return Err(format!("{name} is gone"));
            }
        }
        // Whatever the disk dropped, a file that is moved is at one of its two paths.
        let is_lost = |path: &String| !found.contains_key(path);
        if let Some((to, from)) = told.moves.iter().find(|(to, from)| is_lost(to) && is_lost(from))
        {
            return Err(format!("{from} was moved to {to}, and neither is there"));
        }
        let kept =
            |name: &&String| !told.may_hold.contains_key(*name) && !found.contains_key(*name);
        places.before.keys().find(kept).map_or(Ok(()), |name| Err(format!("{name} is gone")))
    }
}

/// Returns the mount path of a file that a model can change. Files in the making have no name yet.
fn mount_path(path: &str, run: &str) -> Option<String> {
    let name = path.rsplit('/').next()?;
    if name.starts_with(".crewagent-") {
        return None;
    }
    if let Some(rest) = path.strip_prefix("project/") {
        return Some(format!("@project/{rest}"));
    }
    let rest = path.strip_prefix(run)?.strip_prefix("/state/")?;
    (!rest.starts_with("logs/")).then(|| format!("@state/{rest}"))
}

fn read(bytes: &[u8]) -> JournalContent {
    let judged = recover(bytes);
    let mut may_hold: BTreeMap<String, Vec<Option<Digest>>> = BTreeMap::new();
    let mut open: BTreeMap<String, Vec<FileIntent>> = BTreeMap::new();
    let (mut blobs, mut replies, mut active) = (Vec::new(), Vec::new(), Vec::new());
    let digest = |text: &String| Digest::parse(text).unwrap();
    for event in &judged.events {
        collect_blobs(event, &mut blobs);
        match &event.kind {
            EventKind::Model(ModelEvent::Replied(AssistantMessage { turn, .. })) => {
                replies.push(*turn)
            }
            EventKind::Tool(ToolEvent::Started(ToolStarted {
                call_id,
                intent: Some(intent),
                ..
            })) => {
                let mut files = intent.files.clone();
                for file in &mut files {
                    // The state document is that of the active frame.
                    if let (Some(call), "@state/workflow.md") = (active.last(), file.path.as_str())
                    {
                        file.path = format!("@state/calls/{call}/workflow.md");
                    }
                }
                intended(&files, &mut may_hold);
                open.insert(call_id.clone(), files);
            }
            EventKind::Frame(FrameEvent::Planned(FramePlanned { files, .. })) => {
                intended(files, &mut may_hold)
            }
            EventKind::Frame(FrameEvent::Entered(FrameEntered { frame, .. })) => {
                active.push(frame.id)
            }
            EventKind::Frame(FrameEvent::Left(_)) => drop(active.pop()),
            EventKind::Tool(ToolEvent::Finished(ToolFinished { call_id, answer, .. })) => {
                let files = open.remove(call_id).unwrap_or_default();
                for file in files.iter().filter(|_| answer.refused.is_none()) {
                    may_hold.insert(file.path.clone(), vec![file.after.as_ref().map(digest)]);
                }
            }
            _ => {}
        }
    }
    let moves = open.values().flat_map(|files| moves(files)).collect();
    JournalContent { events: judged.events.len(), replies, may_hold, moves, blobs }
}

/// Returns the moves of an intent: a file that is created, and one that is removed after it.
fn moves(files: &[FileIntent]) -> Vec<(String, String)> {
    let pairs = files.windows(2).filter(|pair| {
        let [to, from] = pair else { return false };
        to.before.is_none() && from.after.is_none()
    });
    pairs.map(|pair| (pair[0].path.clone(), pair[1].path.clone())).collect()
}

/// Allows the contents before and after, until the journal says that the files are written.
fn intended(files: &[FileIntent], may_hold: &mut BTreeMap<String, Vec<Option<Digest>>>) {
    let digest = |text: &String| Digest::parse(text).unwrap();
    for file in files {
        let before = file.before.as_ref().map(digest);
        may_hold.insert(file.path.clone(), vec![before, file.after.as_ref().map(digest)]);
    }
}

/// Collects the blobs that an event requires.
fn collect_blobs(event: &Event, blobs: &mut Vec<String>) {
    fn walk(value: &Json, blobs: &mut Vec<String>) {
        match value {
            Json::Object(fields) => {
                if let (Some(Json::String(digest)), 2) = (fields.get("blob"), fields.len()) {
                    blobs.push(digest.clone());
                }
                fields.values().for_each(|field| walk(field, blobs));
            }
            Json::Array(items) => items.iter().for_each(|item| walk(item, blobs)),
            Json::Null | Json::Bool(_) | Json::Number(_) | Json::String(_) => {}
        }
    }
    walk(&serde_json::to_value(event).unwrap(), blobs);
}
