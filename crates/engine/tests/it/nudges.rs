//! Replies that bring nothing forward, from the driver's side: what is recorded, and that a later process agrees.

use std::fs;

use crewagent_core::event::{
    Event, EventKind, ModelEvent, ModelNudged, NudgeKind, Phase, Reason, ToolEvent, ToolFinished,
    UserEvent,
};
use crewagent_core::refusal::RefusalCode;
use crewagent_core::run::machine::Rest;
use crewagent_core::settings::{Mode, RunSettings};
use crewagent_engine::runtime::{Runtime, SettingsChange, StartRun};
use crewagent_engine::store::{RunId, Store};
use crewagent_engine::tool_server::ToolServers;
use crewagent_scenario::scripted::Scripted;
use serde_json::{Map, Value as Json};
use tempfile::TempDir;

use crate::golden_fixture::{drive, ticking};
use crate::support::{package, scratch, write_all};

/// Run of the generated package by a scripted model, until it rests.
struct NudgesFixture {
    /// Holds the store and the project.
    _scratch: TempDir,
    store: Store,
    model: Scripted,
    id: RunId,
    events: Vec<Event>,
    rest: Rest,
}

impl NudgesFixture {
    fn play(mode: Mode, replies: &str) -> Self {
        let scratch = scratch();
        let source = scratch.path().join("source");
        write_all(&source, package());
        let project = scratch.path().join("project");
        fs::create_dir(&project).unwrap();
        let store = Store::open(Some(scratch.path().join("home"))).unwrap();
        let installed = store.packages().import(&source, &mut || ()).unwrap().installed;
        let scenario = format!("scenario: nudges\nnodes:\n  node-00000:\n{replies}");
        let model = Scripted::parse("scenario.yaml", &scenario).unwrap();
        let plan = StartRun {
            package: installed,
            workflow: None,
            agent: None,
            project,
            variables: Map::new(),
            settings: RunSettings { mode, ..RunSettings::default() },
            user_name: "Ana".to_owned(),
            id: None,
            conversation: None,
            data: None,
            earlier: Vec::new(),
            adopt: crewagent_engine::runtime::Adopt::default(),
        };
        let mut run = Runtime::new(&store, ToolServers::none()).by(ticking()).start(&plan).unwrap();
        let mut events = Vec::new();
        let rest = drive(&mut run, &model, &mut events).unwrap();
        let id = RunId::parse(run.id()).unwrap();
        Self { _scratch: scratch, store, model, id, events, rest }
    }

    /// Takes the run over in another process, which replays its journal, and drives it until it rests.
    fn resume(&mut self) {
        let runtime = Runtime::new(&self.store, ToolServers::none()).by(ticking());
        let mut run = runtime.resume(&self.id, &SettingsChange::default()).unwrap();
        self.events.extend_from_slice(run.opening());
        self.rest = drive(&mut run, &self.model, &mut self.events).unwrap();
    }

    fn nudges(&self) -> Vec<NudgeKind> {
        let kind = |event: &Event| match &event.kind {
            EventKind::Model(ModelEvent::Nudged(ModelNudged { kind, .. })) => Some(*kind),
            _ => None,
        };
        self.events.iter().filter_map(kind).collect()
    }

    /// Returns the codes and messages of refused calls.
    fn refusals(&self) -> Vec<(RefusalCode, String)> {
        let refusal = |event: &Event| match &event.kind {
            EventKind::Tool(ToolEvent::Finished(ToolFinished { answer, .. })) => {
                let json: Json = serde_json::from_str(answer.result.inline()?).ok()?;
                Some((answer.refused?, json["error"]["message"].as_str()?.to_owned()))
            }
            _ => None,
        };
        self.events.iter().filter_map(refusal).collect()
    }

    fn questions(&self) -> usize {
        let is_asked = |event: &&Event| matches!(event.kind, EventKind::User(UserEvent::Asked(_)));
        self.events.iter().filter(is_asked).count()
    }
}

const GO_ON: &str = "Nobody confirms steps on autopilot. Go on. If the step itself demands this decision of the user, ask with ui_ask_user.";

#[test]
fn a_question_about_going_on_is_refused_once_and_then_asked() {
    let replies = r#"    - { calls: [{ ui.ask_user: { question: "Shall I continue?" } }], times: 2 }
"#;
    let played = NudgesFixture::play(Mode::Autopilot, replies);
    assert_eq!(played.rest.reason, Some(Reason::Question));
    assert_eq!(played.refusals(), [(RefusalCode::Precondition, GO_ON.to_owned())]);
    assert_eq!(played.questions(), 1);
    let played = NudgesFixture::play(Mode::Guided, replies);
    assert!(played.refusals().is_empty());
    assert_eq!(played.questions(), 1);
    // Another question is asked at once.
    let replies = r#"    - calls: [{ ui.ask_user: { question: "Which one?" } }]
"#;
    let played = NudgesFixture::play(Mode::Autopilot, replies);
    assert!(played.refusals().is_empty());
}

#[test]
fn the_second_identical_refusal_is_recorded_with_its_warning() {
    let replies = r#"    - { calls: [{ fs.read: { path: "gone.md" } }], times: 3 }
"#;
    let played = NudgesFixture::play(Mode::Autopilot, replies);
    assert_eq!((played.rest.phase, played.rest.reason), (Phase::WaitingUser, Some(Reason::Loop)));
    let warned = |(_, message): &(RefusalCode, String)| {
        message.ends_with(" This is the second time; a third identical call stops the run.")
    };
    assert_eq!(played.refusals().iter().map(warned).collect::<Vec<_>>(), [false, true, false]);
}

#[test]
fn a_run_that_stalled_is_replayed_and_asks_the_model_again() {
    let replies = "    - { say: I will now do it., times: 3 }\n    - say: What shall I do?\n";
    let mut played = NudgesFixture::play(Mode::Autopilot, replies);
    assert_eq!(played.rest.reason, Some(Reason::Stalled));
    assert_eq!(played.nudges(), [NudgeKind::NoCall, NudgeKind::Finish]);
    played.resume();
    assert_eq!(played.rest.reason, Some(Reason::StopPoint));
    assert_eq!(played.nudges(), [NudgeKind::NoCall, NudgeKind::Finish, NudgeKind::Finish]);
}
