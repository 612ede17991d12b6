//! Whole runs with real servers, through the machine, the tools and the journal.

use std::fs;
use std::path::{Path, PathBuf};

use crewagent_core::event::{
    Answer, AssistantMessage, Event, EventKind, ModelEvent, Reason, Reply, ToolEvent, ToolFinished,
};
use crewagent_core::refusal::RefusalCode;
use crewagent_core::run::machine::Rest;
use crewagent_core::settings::RunSettings;
use crewagent_engine::control::Control;
use crewagent_engine::model::Endpoint;
use crewagent_engine::runtime::{Runtime, StartRun};
use crewagent_engine::store::Store;
use crewagent_engine::tool_server::ToolServers;
use serde_json::Map;
use tempfile::TempDir;

use crate::ask::{at_most, chat, endpoint, forced, whole};
use crate::servers::{WINDOW, litellm, llama};

const TURNS: u64 = 2;

/// Run of an example, driven until it was idle.
struct Played {
    scratch: TempDir,
    events: Vec<Event>,
    rest: Rest,
}

impl Played {
    /// Runs an example for a few turns.
    fn by(endpoint: Endpoint) -> Self {
        let scratch = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
        let example = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../spec/examples");
        let store = Store::open(Some(scratch.path().join("home"))).unwrap();
        let packages = store.packages();
        let package =
            packages.import(&example.join("create-story-micro"), &mut || {}).unwrap().installed;
        let project = scratch.path().join("project");
        fs::create_dir(&project).unwrap();
        let mut settings = RunSettings { window_tokens: WINDOW, ..RunSettings::default() };
        settings.limits.turns = TURNS;
        let plan = StartRun {
            package,
            workflow: None,
            agent: None,
            project,
            variables: Map::new(),
            settings,
            user_name: "Ana".to_owned(),
            id: None,
            conversation: None,
            data: None,
            earlier: Vec::new(),
            adopt: crewagent_engine::runtime::Adopt::default(),
        };
        let mut run = Runtime::new(&store, ToolServers::none()).start(&plan).unwrap();
        let model = chat(endpoint);
        let mut events = Vec::new();
        let mut tell = |event: &Event| events.push(event.clone());
        let rest = run.drive(&model, &Control::default(), &mut tell).unwrap();
        run.finish(&rest, &mut tell).unwrap();
        Self { scratch, events, rest }
    }

    fn answers(&self) -> Vec<&Answer> {
        let answers = self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Tool(ToolEvent::Finished(ToolFinished { answer, .. })) => Some(answer),
            _ => None,
        });
        answers.collect()
    }

    fn project(&self) -> PathBuf {
        self.scratch.path().join("project")
    }

    fn replies(&self) -> impl Iterator<Item = &Reply> {
        self.events.iter().filter_map(|event| match &event.kind {
            EventKind::Model(ModelEvent::Replied(AssistantMessage { reply, .. })) => Some(reply),
            _ => None,
        })
    }

    /// Checks that every call is marked as broken and refused, and that the project is still empty.
    #[track_caller]
    fn check_nothing_was_done(&self) {
        assert!(self.replies().all(|reply| reply.broken_calls == [0]), "{:?}", self.events);
        let refused: Vec<_> = self.answers().iter().map(|answer| answer.refused).collect();
        assert_eq!(refused, [Some(RefusalCode::InvalidArguments); TURNS as usize]);
        assert_eq!(self.rest.reason, Some(Reason::LimitTurns));
        assert_eq!(fs::read_dir(self.project()).unwrap().count(), 0);
    }
}

/// Arguments that are cut off while the server reports success.
#[test]
fn a_cut_call_is_never_executed() {
    let model = at_most(forced(endpoint(llama(), "endless"), "fs_write"), 24);
    Played::by(model.clone()).check_nothing_was_done();
    Played::by(whole(model)).check_nothing_was_done();
    let model = at_most(forced(endpoint(litellm(), "llama/endless"), "fs_write"), 24);
    Played::by(model).check_nothing_was_done();
}

/// Its path is complete and allowed; a repair of the rest would write half a file.
#[test]
fn a_cut_call_is_not_mended() {
    Played::by(whole(endpoint(litellm(), "cut-write"))).check_nothing_was_done();
}

#[test]
fn a_whole_call_is_executed() {
    let played = Played::by(whole(endpoint(litellm(), "write")));
    assert_eq!(played.answers()[0].refused, None);
    let written = fs::read_to_string(played.project().join("notes.md")).unwrap();
    assert_eq!(written, "A whole file: 世界\n");
}

/// Noise as arguments: the calls are refused, the model gets the refusals, and the conversation continues.
#[test]
fn a_refused_call_does_not_end_the_conversation() {
    let played = Played::by(forced(endpoint(llama(), "caller"), "fs_read"));
    assert_eq!(played.answers().len(), TURNS as usize);
    assert!(played.answers().iter().all(|answer| answer.refused.is_some()));
    assert_eq!(played.rest.reason, Some(Reason::LimitTurns));
}

#[test]
fn words_alone_are_a_stop_point() {
    for model in [endpoint(litellm(), "plain"), at_most(endpoint(llama(), "endless"), 20)] {
        assert_eq!(Played::by(model).rest.reason, Some(Reason::StopPoint));
    }
}
