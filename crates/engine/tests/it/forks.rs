//! Forks at every node that golden runs visit.

use std::collections::BTreeMap;
use std::fs;

use crewagent_core::event::{
    Event, EventKind, ModelEvent, Phase, Reason, TurnStarted, UserEvent, UserInput,
};
use crewagent_core::message::Message;
use crewagent_core::run::history::{History, Visit, named};
use crewagent_engine::changes::{Prospect, RevertOutcome, RevertScope, RunChanges};
use crewagent_engine::disk::Disk;
use crewagent_engine::runtime::{ForkError, ForkRun, Forked, Run, Runtime, SettingsChange};
use crewagent_engine::store::{Of, RunId, Status, Store};
use crewagent_engine::tool_server::ToolServers;

use crate::disk_hook::{Fault, Recorder};
use crate::golden_fixture::{GoldenFixture, Played, drive, golden, ticking, tree};

/// The files at one event.
#[derive(Clone, Debug, PartialEq)]
struct Snapshot {
    /// Without the id of the run.
    documents: BTreeMap<String, String>,
    project: BTreeMap<String, String>,
}

impl Snapshot {
    fn of(golden_fixture: &GoldenFixture, id: &RunId) -> Self {
        let documents =
            golden_fixture.store(Disk::real()).runs().documents(id).unwrap().into_iter();
        let documents = documents.map(|(path, text)| (path, text.replace(id.as_str(), "RUN")));
        Self { documents: documents.collect(), project: files(golden_fixture) }
    }

    fn without_times(&self) -> Self {
        let plain = |text: &String| {
            let is_time = |line: &str| {
                ["updatedAt:", "decidedAt:"].iter().any(|key| line.trim_start().starts_with(key))
            };
            text.lines().filter(|line| !is_time(line)).collect::<Vec<_>>().join("\n")
        };
        let documents = self.documents.iter().map(|(path, text)| (path.clone(), plain(text)));
        Self { documents: documents.collect(), project: self.project.clone() }
    }
}

fn files(golden_fixture: &GoldenFixture) -> BTreeMap<String, String> {
    let files =
        tree(&golden_fixture.project()).into_iter().filter(|(name, _)| !name.ends_with('/'));
    files.map(|(name, bytes)| (name, String::from_utf8_lossy(&bytes).into_owned())).collect()
}

/// A finished golden run, with a snapshot after each of its events.
struct Calm {
    golden_fixture: GoldenFixture,
    played: Played,
    moments: BTreeMap<u64, Snapshot>,
    visits: Vec<Visit>,
}

impl Calm {
    fn of(name: &str) -> Self {
        let golden_fixture = GoldenFixture::set(name);
        let mut moments = BTreeMap::new();
        let played = golden_fixture.watched(&mut |event| {
            if event.part.is_none()
                && let Some(id) = &event.run_id
            {
                moments
                    .insert(event.seq, Snapshot::of(&golden_fixture, &RunId::parse(id).unwrap()));
            }
        });
        let visits = History::of(&played.events).visits;
        assert!(!visits.is_empty());
        Self { golden_fixture, played, moments, visits }
    }

    fn plan(&self, visit: &Visit) -> ForkRun {
        ForkRun { id: None, run: self.played.id.clone(), event: visit.seq }
    }

    fn fork(&self, store: &Store, visit: &Visit) -> (RunId, Forked) {
        let forked =
            Runtime::new(store, ToolServers::none()).by(ticking()).fork(&self.plan(visit)).unwrap();
        (forked.id.clone(), forked)
    }

    /// Reverts the project to a visit with the product's own means.
    fn bring_back(&self, store: &Store, visit: &Visit) {
        let changes = RunChanges::of(store, &self.played.id).unwrap();
        let scope = RevertScope::Onward(visit.seq);
        let way = changes.plan_revert(scope).unwrap();
        assert!(way.iter().all(|file| matches!(file.prospect, Prospect::Ready | Prospect::Done)));
        let agreed: Vec<_> = way.iter().map(|file| (file.path.clone(), file.now)).collect();
        for (path, outcome) in changes.revert(scope, &agreed).unwrap() {
            assert_eq!(outcome, RevertOutcome::Reverted, "{path}");
        }
        assert_eq!(files(&self.golden_fixture), self.moments[&visit.seq].project, "{visit:?}");
    }

    /// Returns the user's messages after a visit.
    fn inputs(&self, visit: &Visit) -> Vec<String> {
        let said = |event: &Event| match &event.kind {
            EventKind::User(UserEvent::Input(UserInput { text, .. })) if event.seq > visit.seq => {
                Some(text.inline().unwrap().to_string())
            }
            _ => None,
        };
        self.played.events.iter().filter_map(said).collect()
    }
}

/// Checks everything that can be seen of a fork before it is resumed, and returns its id.
fn check_fork(calm: &Calm, visit: &Visit) -> RunId {
    let store = calm.golden_fixture.store(Disk::real());
    let before = tree(&calm.golden_fixture.scratch().join("home/projects"));
    let project = files(&calm.golden_fixture);
    let preview =
        Runtime::new(&store, ToolServers::none()).preview_fork(&calm.plan(visit)).unwrap();
    assert_eq!(
        tree(&calm.golden_fixture.scratch().join("home/projects")),
        before,
        "a look makes nothing"
    );
    let (id, forked) = calm.fork(&store, visit);
    let after = tree(&calm.golden_fixture.scratch().join("home/projects"));
    let is_old = |(name, _): &(&String, &Vec<u8>)| !name.contains(id.as_str());
    assert!(after.iter().filter(is_old).eq(before.iter()), "the old run is not touched");
    assert_eq!(files(&calm.golden_fixture), project, "the project is not touched");
    assert_eq!(
        Snapshot::of(&calm.golden_fixture, &id).documents,
        calm.moments[&visit.seq].documents
    );
    assert_eq!(Forked { id: id.clone(), ..preview }, forked);
    assert_eq!(
        (forked.documents, &forked.visit),
        (calm.moments[&visit.seq].documents.len(), visit)
    );
    assert_eq!(forked.place.state.current_node_id, visit.node);
    let status = store.runs().summary(&id).unwrap();
    let rests = if forked.place.state.complete && forked.place.callers.is_empty() {
        (Status::Completed, None)
    } else {
        (Status::Paused, Some(Reason::Paused))
    };
    assert_eq!((status.status, status.reason), rests);
    check_words(calm, visit, &forked.words);
    id
}

/// Checks that the model knows what it knew at that visit: its next request begins with the same messages.
fn check_words(calm: &Calm, visit: &Visit, words: &[Message]) {
    let asked = calm.played.events.iter().find_map(|event| match &event.kind {
        EventKind::Model(ModelEvent::TurnStarted(TurnStarted { turn, .. }))
            if event.seq > visit.seq =>
        {
            Some(*turn)
        }
        _ => None,
    });
    let Some(turn) = asked else { return };
    let request = &calm.played.requests[usize::try_from(turn).unwrap() - 1];
    let messages: Vec<Message> = serde_json::from_str(request).unwrap();
    let text = |message: &Message| match message {
        Message::User { content } => content.to_string(),
        Message::Assistant { content, .. } => content.as_deref().unwrap_or_default().to_owned(),
        Message::System { .. } | Message::Tool { .. } => String::new(),
    };
    let shown: Vec<String> = messages.iter().map(text).collect();
    for word in words {
        let word = text(word);
        assert!(shown.iter().any(|shown| shown.contains(&word)), "{visit:?}: {word} in {shown:?}");
    }
}

/// Drives the fork to the end of the script.
fn go_on(calm: &Calm, visit: &Visit, run: &mut Run) -> Phase {
    let mut inputs = calm.inputs(visit).into_iter();
    let mut events = Vec::new();
    loop {
        let rest = drive(run, &calm.golden_fixture.model, &mut events).unwrap();
        let Some(words) = inputs.next() else {
            run.finish(&rest, &mut |_| ()).unwrap();
            return rest.phase;
        };
        run.say(&words, &mut |_| ()).unwrap();
    }
}

#[test]
fn at_every_node_of_every_golden_run_a_fork_stands_where_the_run_stood() {
    for entry in fs::read_dir(golden()).unwrap().map(Result::unwrap) {
        if entry.file_type().unwrap().is_dir() {
            let calm = Calm::of(entry.file_name().to_str().unwrap());
            for visit in &calm.visits {
                check_fork(&calm, visit);
            }
        }
    }
}

/// Returns true if the script can answer a fork at this visit. At a node that is visited again the script continues
/// where it was, which a new run does not know.
fn is_scripted(calm: &Calm, at: usize) -> bool {
    let (before, after) = calm.visits.split_at(at);
    let is_known = |visit: &Visit| before.iter().any(|known| known.node == visit.node);
    !after.iter().any(is_known)
}

#[test]
fn a_fork_that_goes_on_comes_to_the_same_end() {
    for name in [
        "001-create-story-micro",
        "003-branch-brownfield",
        "004-loop-with-exit",
        "006-resume-after-restart",
        "010-strict",
        "012-nested-review",
        "015-three-levels",
    ] {
        let calm = Calm::of(name);
        let end = Snapshot::of(&calm.golden_fixture, &calm.played.id).without_times();
        let store = calm.golden_fixture.store(Disk::real());
        let runtime = Runtime::new(&store, ToolServers::none()).by(ticking());
        for (at, visit) in calm.visits.iter().enumerate() {
            if !is_scripted(&calm, at) {
                continue;
            }
            calm.bring_back(&store, visit);
            let (id, forked) = calm.fork(&store, visit);
            let mut run = runtime.resume(&id, &SettingsChange::default()).unwrap();
            assert_eq!(*run.run_state(), forked.place.state);
            assert_eq!(go_on(&calm, visit, &mut run), calm.played.rest.phase, "{name} {visit:?}");
            assert_eq!(
                Snapshot::of(&calm.golden_fixture, &id).without_times(),
                end,
                "{name} {visit:?}"
            );
            let again = runtime.requests(&id).unwrap();
            assert!(!again.is_empty() || forked.place.state.complete);
            for past in again {
                assert_eq!(Some(past.request.sha256), past.recorded_sha256, "{name} {visit:?}");
            }
        }
    }
}

#[test]
fn a_fork_can_be_forked() {
    let calm = Calm::of("012-nested-review");
    let store = calm.golden_fixture.store(Disk::real());
    let runtime = Runtime::new(&store, ToolServers::none()).by(ticking());
    for visit in &calm.visits {
        let (first, forked) = calm.fork(&store, visit);
        let second = runtime.fork(&ForkRun { id: None, run: first.clone(), event: 1 }).unwrap();
        assert_eq!((&second.place, &second.words), (&forked.place, &forked.words), "{visit:?}");
        let documents = |id: &RunId| Snapshot::of(&calm.golden_fixture, id).documents;
        assert_eq!(documents(&second.id), documents(&first));
    }
}

/// Checks at every operation that the new run exists whole or not at all, and that the old one is unchanged.
#[test]
fn a_process_that_dies_while_it_forks_leaves_a_whole_run_or_none() {
    let calm = Calm::of("015-three-levels");
    let deepest = calm.visits.iter().max_by_key(|visit| (visit.frame_id(), visit.seq)).unwrap();
    let counter = Recorder::new(Fault::Never);
    let (id, _) = calm.fork(&calm.golden_fixture.store(counter.disk()), deepest);
    let whole = Snapshot::of(&calm.golden_fixture, &id).documents;
    let real = calm.golden_fixture.store(Disk::real());
    real.runs().remove(&id).unwrap();
    let mut made = 0;
    for at in 0..counter.count() {
        for fault in [Fault::Crash(at), Fault::Torn(at), Fault::CrashAfter(at), Fault::Once(at, 28)]
        {
            let recorder = Recorder::new(fault);
            let store = calm.golden_fixture.store(recorder.disk());
            let _ =
                Runtime::new(&store, ToolServers::none()).by(ticking()).fork(&calm.plan(deepest));
            assert!(recorder.fired() > 0, "{fault:?}");
            let listing = real.runs().list(Of::All).unwrap();
            assert!(listing.damaged.is_empty(), "{fault:?}: {:?}", listing.damaged);
            let others = listing.runs.iter().filter(|run| run.run_id != calm.played.id);
            for run in others {
                made += 1;
                assert_eq!(
                    Snapshot::of(&calm.golden_fixture, &run.run_id).documents,
                    whole,
                    "{fault:?}"
                );
                real.runs().remove(&run.run_id).unwrap();
            }
        }
    }
    assert!(made > 0, "no process died behind the last rename");
}

#[test]
fn what_is_not_there_cannot_be_forked() {
    let calm = Calm::of("001-create-story-micro");
    let store = calm.golden_fixture.store(Disk::real());
    let runtime = Runtime::new(&store, ToolServers::none());
    let not_a_visit = ForkRun { event: 2, ..calm.plan(&calm.visits[0]) };
    assert!(matches!(runtime.fork(&not_a_visit), Err(ForkError::Visit { event: 2, .. })));
    let blobs = store.runs().look(&calm.played.id).unwrap().blobs;
    for digest in blobs.names().unwrap() {
        fs::remove_file(blobs.folder().path().join(digest.to_string())).unwrap();
    }
    let first = runtime.fork(&calm.plan(&calm.visits[0]));
    assert!(matches!(first, Err(ForkError::Lost { .. })), "{first:?}");
    // The current document needs no copy.
    runtime.fork(&calm.plan(calm.visits.last().unwrap())).map(drop).unwrap_or_else(|error| {
        assert!(matches!(error, ForkError::Lost { .. }), "{error}");
    });
    assert_eq!(store.runs().list(Of::All).unwrap().damaged.len(), 0);
    assert!(named(&calm.visits, "no-such-node").is_none());
}
