//! Whole runs with files that the user has, reads and changes beside them.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use crewagent_core::event::{Answer, Event, EventKind, NodeEntered, StateEvent, ToolEvent};
use crewagent_core::policy::rules::{RuleSet, Source};
use crewagent_core::run::machine::Rest;
use crewagent_core::settings::RunSettings;
use crewagent_engine::runtime::{Run, Runtime, SettingsChange, StartRun};
use crewagent_engine::store::{RunId, Settings, Store};
use crewagent_engine::tool_server::ToolServers;
use crewagent_scenario::scripted::Scripted;
use serde_json::Map;
use tempfile::TempDir;

use crate::golden_fixture::{Watched, drive, ticking};
use crate::support::scratch;

const STATUS: &str = "artifacts/sprint-status.yaml";
const OLD: &str = "development_status:\n  epic-1: in-progress\n  1-1-project-setup: done\n  1-2-user-authentication: backlog\n  1-3-note-crud: backlog\n";

/// A project with a sprint status, and a run of create-story-micro in it.
struct KnownFixture {
    scratch: TempDir,
    store: Store,
}

impl KnownFixture {
    fn new() -> Self {
        let scratch = scratch();
        let store = Store::open(Some(scratch.path().join("home"))).unwrap();
        let fixture = Self { scratch, store };
        fs::create_dir_all(fixture.project().join("artifacts")).unwrap();
        fixture.put(STATUS, OLD);
        fixture
    }

    fn project(&self) -> PathBuf {
        self.scratch.path().join("project")
    }

    fn put(&self, path: &str, text: &str) {
        fs::write(self.project().join(path), text).unwrap();
    }

    fn text(&self, path: &str) -> String {
        fs::read_to_string(self.project().join(path)).unwrap()
    }

    fn runtime(&self) -> Runtime<'_> {
        Runtime::new(&self.store, ToolServers::none()).by(ticking())
    }

    fn start(&self, settings: RunSettings) -> Run {
        let example = "../../spec/examples/create-story-micro";
        let source = Path::new(env!("CARGO_MANIFEST_DIR")).join(example);
        let package = self.store.packages().import(&source, &mut || ()).unwrap().installed;
        let plan = StartRun {
            package,
            workflow: None,
            agent: None,
            project: self.project(),
            variables: Map::new(),
            settings,
            user_name: "Ana".to_owned(),
            id: None,
            conversation: None,
            data: None,
            earlier: Vec::new(),
            adopt: crewagent_engine::runtime::Adopt::default(),
        };
        self.runtime().start(&plan).unwrap()
    }

    /// Plays a scenario to its first stop.
    fn play(&self, scenario: &str) -> (Vec<Event>, Rest) {
        let model = Scripted::parse("scenario.yaml", scenario).unwrap();
        let mut events = Vec::new();
        let mut run = self.start(RunSettings::default());
        let rest = drive(&mut run, &model, &mut events).unwrap();
        (events, rest)
    }
}

fn answers(events: &[Event]) -> Vec<&Answer> {
    let all = events.iter();
    all.filter_map(|event| match &event.kind {
        EventKind::Tool(ToolEvent::Finished(finished)) => Some(&finished.answer),
        _ => None,
    })
    .collect()
}

fn surveys(events: &[Event]) -> Vec<&NodeEntered> {
    let all = events.iter();
    all.filter_map(|event| match &event.kind {
        EventKind::State(StateEvent::Entered(entered)) => Some(&**entered),
        _ => None,
    })
    .collect()
}

const QUESTIONS: &str = "
scenario: two questions
nodes:
  step-01-select-story:
    - say: Which story do you want?
    - say: Is it that one?
    - say: Are you sure?
";

#[test]
fn an_input_that_changed_while_the_run_waited_is_shown_again() {
    let fixture = KnownFixture::new();
    let scripted = Scripted::parse("scenario.yaml", QUESTIONS).unwrap();
    let model = Watched { model: &scripted, requests: Mutex::default() };
    let mut events = Vec::new();
    let mut run = fixture.start(RunSettings::default());
    drive(&mut run, &model, &mut events).unwrap();
    let new = OLD.replace("1-3-note-crud: backlog", "1-3-note-crud: done");
    fixture.put(STATUS, &new);
    let id = RunId::parse(run.id()).unwrap();
    drop(run);
    let mut run = fixture.runtime().resume(&id, &SettingsChange::default()).unwrap();
    let mut say = |run: &mut Run, words: &str| {
        run.say(words, &mut |event| events.push(event.clone())).unwrap();
        drive(run, &model, &mut events).unwrap();
    };
    say(&mut run, "The next one.");
    // Another process sends the same again.
    drop(run);
    let mut run = fixture.runtime().resume(&id, &SettingsChange::default()).unwrap();
    say(&mut run, "Yes.");
    let requests = model.requests.into_inner().unwrap();
    let shown = "INPUTS\\n--- artifacts/sprint-status.yaml (125 bytes)\\n1|development_status:\\n2|  epic-1: in-progress\\n3|  1-1-project-setup: done\\n4|  1-2-user-authentication: backlog\\n5|  1-3-note-crud: done\\n\\nUSER_INPUT\\n- forNodeId: step-01-select-story\\nThe next one.";
    assert!(requests[1].contains(shown), "{}", requests[1]);
    assert_eq!(requests[2].matches("1-3-note-crud: done").count(), 1, "{}", requests[2]);
    assert!(requests[2].contains(shown), "the history stays as it was sent");
    assert!(requests[2].contains("\"USER_INPUT\\n- forNodeId: step-01-select-story\\nYes.\""));
    let surveys = surveys(&events);
    let again: Vec<(bool, usize)> =
        surveys.iter().map(|entered| (entered.again, entered.inputs.len())).collect();
    assert_eq!(again, [(false, 1), (true, 1), (true, 0)]);
}

#[test]
fn a_file_of_the_user_is_overwritten_by_the_second_call_of_a_visit() {
    let fixture = KnownFixture::new();
    fixture.put("notes.md", "mine\n");
    let write = "        - fs.write: { path: artifacts/sprint-status.yaml, content: \"new\\n\" }\n        - fs.write: { path: notes.md, content: \"new\\n\" }\n";
    let (events, _) = fixture.play(&format!(
        "scenario: twice\nnodes:\n  step-01-select-story:\n    - calls:\n{write}    - when: {{ answers: [E_PRECONDITION_FAILED, E_PRECONDITION_FAILED] }}\n      calls:\n{write}    - when: {{ answers: [ok, ok] }}\n      say: Is that right?\n"
    ));
    let answers = answers(&events);
    let told = |at: usize| answers[at].result.inline().unwrap().to_string();
    assert!(told(0).contains("artifacts/sprint-status.yaml is the user's: 5 lines, 128 bytes, and your text keeps 0 of its 5 lines. Nothing was written."), "{}", told(0));
    assert!(told(1).contains("notes.md is the user's: 1 line, 5 bytes, and you have not read it. Nothing was written."), "{}", told(1));
    assert_eq!((fixture.text(STATUS), fixture.text("notes.md")), ("new\n".into(), "new\n".into()));
}

#[test]
fn a_file_of_which_the_run_changed_one_word_is_still_the_users() {
    let fixture = KnownFixture::new();
    let (events, _) = fixture.play(
        "
scenario: a word, then all of it
nodes:
  step-01-select-story:
    - calls:
        - fs.apply_patch: { path: artifacts/sprint-status.yaml, edits: [{ old: \"note-crud: backlog\", new: \"note-crud: done\" }] }
        - fs.write: { path: artifacts/sprint-status.yaml, content: \"all: done\\n\" }
    - when: { answers: [ok, E_PRECONDITION_FAILED] }
      say: Is that right?
",
    );
    let told = answers(&events)[1].result.inline().unwrap().to_string();
    assert!(told.contains("and your text keeps 0 of its 5 lines."), "{told}");
    assert!(fixture.text(STATUS).contains("1-3-note-crud: done"));
}

#[test]
fn reading_what_is_shown_gives_a_pointer() {
    let fixture = KnownFixture::new();
    let (events, _) = fixture.play(
        "
scenario: reads everything
nodes:
  step-01-select-story:
    - calls:
        - fs.read: { path: artifacts/sprint-status.yaml }
        - fs.read: { path: \"@pkg/steps/step-01-select-story.md\" }
        - fs.read: { path: \"@pkg/steps/step-01-select-story.md\", startLine: 1, endLine: 3 }
        - fs.read: { path: \"@state/workflow.md\" }
        - fs.read: { path: \"@pkg/workflow.graph.json\" }
    - say: Which story do you want?
",
    );
    let answers = answers(&events);
    let repeats: Vec<bool> = answers.iter().map(|answer| answer.repeats).collect();
    assert_eq!(repeats, [true, true, false, false, false]);
    let told = |at: usize| answers[at].result.inline().unwrap().to_string();
    assert!(
        told(0).contains(
            "\"note\":\"artifacts/sprint-status.yaml: unchanged, shown above under INPUTS.\""
        ),
        "{}",
        told(0)
    );
    assert!(
        told(1).contains(
            "\"note\":\"@pkg/steps/step-01-select-story.md: unchanged, shown above in NODE_BRIEF.\""
        ),
        "{}",
        told(1)
    );
}

#[test]
fn an_approval_shows_the_files_of_a_completion_and_its_move() {
    let fixture = KnownFixture::new();
    let mut settings = RunSettings::default();
    let ask = vec!["fs.write".parse().unwrap()];
    settings.policy.rules = vec![RuleSet { ask, ..RuleSet::none(Source::Settings) }];
    let model = Scripted::parse(
        "scenario.yaml",
        "
scenario: completes with two files
nodes:
  step-01-select-story:
    - calls:
        - runtime.complete_node:
            variables: { storyKey: 1-2-user-authentication, epicNum: 1, storyNum: 2, storyTitle: User Authentication, sprintStatusPath: artifacts/sprint-status.yaml }
            files:
              - { path: artifacts/create-story/target.md, content: \"# Target\\n\" }
              - { path: notes.md, content: \"A note.\\n\" }
",
    )
    .unwrap();
    let mut run = fixture.start(settings);
    let rest = drive(&mut run, &model, &mut Vec::new()).unwrap();
    let question = rest.question.unwrap();
    assert_eq!(
        question.question,
        "Allow `runtime.complete_node` to change 2 files, and to go on from `step-01-select-story` to `step-02-discover-inputs`?"
    );
    let approval = question.approval.unwrap();
    let paths: Vec<&str> = approval.files.iter().map(|file| file.file.path.as_str()).collect();
    assert_eq!(paths, ["@project/artifacts/create-story/target.md", "@project/notes.md"]);
    assert_eq!(approval.moved.unwrap().to, "step-02-discover-inputs");
    assert!(!fixture.project().join("notes.md").exists());
}

/// Checks which rule of the default settings asks about a call, and that the call has no effect before the answer.
#[track_caller]
fn check_asked_by_default(call: &str, expected: Option<&str>) {
    let fixture = KnownFixture::new();
    fixture.put(".env", "KEY=1\n");
    let scenario = format!(
        "scenario: s\nnodes:\n  step-01-select-story:\n    - calls:\n        - {call}\n    - say: \"What next?\"\n"
    );
    let model = Scripted::parse("scenario.yaml", &scenario).unwrap();
    let mut run = fixture.start(Settings::default().for_runs());
    let rest = drive(&mut run, &model, &mut Vec::new()).unwrap();
    let approval = rest.question.and_then(|question| question.approval);
    let rule = approval.map(|approval| approval.rule.to_string());
    let expected = expected.map(|rule| format!("`{rule}` of the settings"));
    assert_eq!(rule, expected, "{call}");
    assert!(!fixture.project().join("Makefile").exists());
    assert_eq!(fixture.text(".env"), "KEY=1\n");
}

#[test]
fn by_default_the_user_is_asked_about_secrets_and_about_files_that_run_later() {
    let (secrets, later) = (Some("fs.*(secrets)"), Some("fs.*(runs-later)"));
    check_asked_by_default("fs.read: { path: .env }", secrets);
    check_asked_by_default("fs.move: { path: .env, to: notes.md }", secrets);
    check_asked_by_default("fs.write: { path: Makefile, content: x }", later);
    check_asked_by_default("fs.write: { path: src/makefile.md, content: x }", None);
}
