//! Calls in another form than ours: carried out at once, and recorded in the right form.

use std::fs;

use crewagent_core::event::{
    AssistantMessage, Event, EventKind, ModelEvent, Phase, RepairedCall, Reply, ToolEvent,
    ToolFinished, ToolStarted,
};
use crewagent_core::payload::Payload;
use crewagent_core::refusal::RefusalCode;
use crewagent_core::settings::RunSettings;
use crewagent_engine::runtime::{Runtime, StartRun};
use crewagent_engine::store::{RunId, Store};
use crewagent_engine::tool_server::ToolServers;
use crewagent_scenario::scripted::Scripted;
use serde_json::Map;
use tempfile::TempDir;

use crate::golden_fixture::{drive, ticking};
use crate::support::{package, scratch, write_all};

/// Run of the generated package by a model that makes these calls in its first reply, and then stops.
struct RepairsFixture {
    scratch: TempDir,
    events: Vec<Event>,
    /// Events that another process reads from the journal.
    read: Vec<Event>,
}

impl RepairsFixture {
    fn play(calls: &str) -> Self {
        let scratch = scratch();
        write_all(&scratch.path().join("source"), package());
        let project = scratch.path().join("project");
        fs::create_dir(&project).unwrap();
        fs::write(project.join("x.md"), "one\ntwo\n").unwrap();
        let store = Store::open(Some(scratch.path().join("home"))).unwrap();
        let source = scratch.path().join("source");
        let installed = store.packages().import(&source, &mut || ()).unwrap().installed;
        let scenario = format!(
            "scenario: calls in another form\nnodes:\n  node-00000:\n    - calls:\n{calls}    - say: What else?\n"
        );
        let model = Scripted::parse("scenario.yaml", &scenario).unwrap();
        let plan = StartRun {
            package: installed,
            workflow: None,
            agent: None,
            project,
            variables: Map::new(),
            settings: RunSettings::default(),
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
        assert_eq!(rest.phase, Phase::WaitingUser, "{rest:?}");
        let id = RunId::parse(run.id()).unwrap();
        drop(run);
        let read = store.runs().look(&id).unwrap().recovered.events;
        Self { scratch, events, read }
    }

    fn reply(events: &[Event]) -> &Reply {
        let reply = events.iter().find_map(|event| match &event.kind {
            EventKind::Model(ModelEvent::Replied(AssistantMessage { reply, .. })) => Some(reply),
            _ => None,
        });
        reply.unwrap()
    }

    fn calls(&self) -> Vec<(&str, &str)> {
        let calls = Self::reply(&self.events).tool_calls.iter();
        calls.map(|call| (call.name.as_str(), &**call.arguments.inline().unwrap())).collect()
    }

    /// Returns the tools, repairs and refusals of the calls.
    fn outcomes(&self) -> Vec<(String, Vec<String>, Option<RefusalCode>)> {
        let mut outcomes = Vec::new();
        for event in &self.events {
            match &event.kind {
                EventKind::Tool(ToolEvent::Started(ToolStarted { tool, repaired, .. })) => {
                    outcomes.push((tool.clone(), repaired.clone(), None));
                }
                EventKind::Tool(ToolEvent::Finished(ToolFinished { answer, .. })) => {
                    outcomes.last_mut().unwrap().2 = answer.refused;
                }
                _ => {}
            }
        }
        outcomes
    }
}

#[test]
fn a_call_in_another_form_is_carried_out_and_recorded_in_ours() {
    let played = RepairsFixture::play(
        r#"        - { tool: read_file, raw: "{'file_path': 'x.md', 'start_line': 2,}" }
        - { tool: functions.fs_write, raw: "{\"arguments\":{\"path\":\"y.md\",\"text\":\"a\nb \\d\"}}" }
        - { tool: fs.list, raw: "{\"path\":\".\"}" }
"#,
    );
    assert_eq!(
        played.calls(),
        [
            ("fs.read", r#"{"file_path":"x.md","start_line":2}"#),
            ("fs.write", r#"{"path":"y.md","text":"a\nb \\d"}"#),
            ("fs.list", r#"{"path":"."}"#),
        ]
    );
    let outcome = |tool: &str, repairs: &[&str]| {
        (tool.to_owned(), repairs.iter().map(|repair| (*repair).to_owned()).collect(), None)
    };
    assert_eq!(
        played.outcomes(),
        [
            outcome("fs.read", &["trailing-comma", "single-quotes"]),
            outcome("fs.write", &["wrapper", "control-character", "unknown-escape"]),
            outcome("fs.list", &[]),
        ]
    );
    let written = fs::read_to_string(played.scratch.path().join("project/y.md")).unwrap();
    assert_eq!(written, "a\nb \\d");
    let reply = RepairsFixture::reply(&played.events);
    assert_eq!(reply.broken_calls, [] as [usize; 0]);
    let read = RepairedCall {
        index: 0,
        name: Some("read_file".into()),
        arguments: Some("{'file_path': 'x.md', 'start_line': 2,}".into()),
        repairs: vec!["trailing-comma".into(), "single-quotes".into()],
    };
    assert_eq!(reply.repaired_calls.len(), 2);
    assert_eq!(reply.repaired_calls[0], read);
    assert_eq!(RepairsFixture::reply(&played.read), reply);
}

#[test]
fn long_arguments_are_kept_once_as_written_and_once_repaired() {
    let long = "x".repeat(300_000);
    let calls = format!(
        "        - {{ tool: fs.write, raw: \"{{'path': 'y.md', 'content': '{long}'}}\" }}\n"
    );
    let played = RepairsFixture::play(&calls);
    assert_eq!(played.outcomes().len(), 1);
    let reply = RepairsFixture::reply(&played.read);
    assert!(matches!(reply.tool_calls[0].arguments, Payload::Blob { .. }));
    assert!(matches!(reply.repaired_calls[0].arguments, Some(Payload::Blob { .. })));
}

#[test]
fn what_cannot_be_repaired_is_refused_and_nothing_is_done() {
    let played = RepairsFixture::play(
        r#"        - { tool: fs.write, raw: "{'path': 'y.md', 'content': 'a" }
        - { tool: fs.write, raw: "{\"path\":\"y.md\",\"content\":\"say \"hi\"\"}" }
        - { tool: fs.write, raw: "{\"path\":\"y.md\",\"path\":\"x.md\",\"content\":\"a\"}" }
"#,
    );
    let refused = ("fs.write".to_owned(), Vec::new(), Some(RefusalCode::InvalidArguments));
    assert_eq!(played.outcomes(), [refused.clone(), refused.clone(), refused]);
    assert!(!played.scratch.path().join("project/y.md").exists());
    let reply = RepairsFixture::reply(&played.events);
    assert_eq!(reply.repaired_calls, []);
    // The third is an object all the same, for whoever reads it back.
    assert_eq!(reply.broken_calls, [0, 1]);
}
