//! Outputs of a node in whole runs: what an earlier run or an earlier round left does not count until it is kept.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use crewagent_core::event::{Event, EventKind, Phase, StateChange, StateEvent, ToolEvent};
use crewagent_core::settings::RunSettings;
use crewagent_core::state::visit_files::OutputRule;
use crewagent_engine::clock::Clock;
use crewagent_engine::runtime::{Runtime, SettingsChange, StartRun};
use crewagent_engine::store::{Installed, Store};
use crewagent_engine::tool_server::ToolServers;
use crewagent_scenario::scripted::Scripted;
use serde_json::{Map, Value as Json, json};
use tempfile::TempDir;

use crate::golden_fixture::{drive, ticking};
use crate::support::{package, scratch, write_all};

/// A store with one package, and a project that several runs work on.
struct OutputsFixture {
    scratch: TempDir,
    installed: Installed,
    workflow: Option<&'static str>,
    settings: RunSettings,
}

impl OutputsFixture {
    /// Returns a fixture with a package of two nodes, the first of which declares these outputs.
    fn declaring(outputs: &[&str]) -> Self {
        let files = package().into_iter().map(|(name, text)| {
            if name != "workflow.graph.json" {
                return (name, text);
            }
            let mut graph: Json = serde_json::from_str(&text).unwrap();
            graph["nodes"][0]["outputs"] = json!(outputs);
            (name, graph.to_string())
        });
        let scratch = scratch();
        write_all(&scratch.path().join("source"), files);
        let source = scratch.path().join("source");
        Self::with_package(scratch, source, None)
    }

    /// Returns a fixture with the example whose draft is reviewed in rounds.
    fn in_rounds() -> Self {
        let examples = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../spec/examples");
        Self::with_package(scratch(), examples.join("multi-workflows"), Some("draft-review"))
    }

    fn with_package(scratch: TempDir, source: PathBuf, workflow: Option<&'static str>) -> Self {
        fs::create_dir_all(scratch.path().join("project/artifacts")).unwrap();
        let store = Store::open(Some(scratch.path().join("home"))).unwrap();
        let installed = store.packages().import(&source, &mut || ()).unwrap().installed;
        Self { scratch, installed, workflow, settings: RunSettings::default() }
    }

    fn project(&self) -> PathBuf {
        self.scratch.path().join("project")
    }

    /// Writes a file that is three days old for a run of [`now`].
    fn put_old(&self, path: &str, content: &str) {
        let path = self.project().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, content).unwrap();
        let then = SystemTime::now() - Duration::from_secs(3 * 24 * 60 * 60);
        File::options().write(true).open(&path).unwrap().set_modified(then).unwrap();
    }

    fn start(&self) -> StartRun {
        StartRun {
            package: self.installed.clone(),
            workflow: self.workflow.map(str::to_owned),
            agent: None,
            project: self.project(),
            variables: Map::new(),
            settings: self.settings.clone(),
            user_name: "Ana".to_owned(),
            id: None,
            conversation: None,
            data: None,
            earlier: Vec::new(),
            adopt: crewagent_engine::runtime::Adopt::default(),
        }
    }

    /// Plays a scenario to its end and returns the events.
    #[track_caller]
    fn play(&self, clock: Clock, scenario: &str) -> Vec<Event> {
        let store = Store::open(Some(self.scratch.path().join("home"))).unwrap();
        let model = Scripted::parse("scenario.yaml", scenario).unwrap();
        let runtime = Runtime::new(&store, ToolServers::none()).by(clock);
        let mut run = runtime.start(&self.start()).unwrap();
        let mut events = Vec::new();
        let rest = drive(&mut run, &model, &mut events).unwrap();
        assert_eq!(rest.phase, Phase::Completed, "{rest:?} {:?}", refusals(&events));
        events
    }
}

/// Returns a clock at the time of the test, because files have the times of the system.
fn now() -> Clock {
    Clock::stepping(jiff::Timestamp::now(), 250)
}

/// Returns the messages of all refusals.
fn refusals(events: &[Event]) -> Vec<String> {
    let message = |event: &Event| match &event.kind {
        EventKind::Tool(ToolEvent::Finished(finished)) if finished.answer.refused.is_some() => {
            let json: Json =
                serde_json::from_str(finished.answer.result.inline().unwrap()).unwrap();
            Some(json["error"]["message"].as_str().unwrap().to_owned())
        }
        _ => None,
    };
    events.iter().filter_map(message).collect()
}

/// Returns all changes of the state.
fn changes(events: &[Event]) -> Vec<StateChange> {
    let change = |event: &Event| match &event.kind {
        EventKind::State(StateEvent::Changed(change)) => Some((**change).clone()),
        _ => None,
    };
    events.iter().filter_map(change).collect()
}

const END: &str = "
  node-00001:
    - say: Done.
      calls: [{ complete_node: {} }]
";

#[test]
fn a_file_of_an_earlier_run_is_written_anew() {
    let fixture = OutputsFixture::declaring(&["artifacts/x.md"]);
    fixture.put_old("artifacts/x.md", &"old\n".repeat(300));
    let events = fixture.play(
        now(),
        &format!(
            "scenario: it only moves, then writes
nodes:
  node-00000:
    - calls: [{{ complete_node: {{}} }}]
    - when: {{ refused: E_PRECONDITION_FAILED }}
      calls: [{{ complete_node: {{ files: [{{ path: artifacts/x.md, content: \"new\\n\" }}] }} }}]
{END}"
        ),
    );
    assert_eq!(
        refusals(&events),
        [
            "`node-00000` is not done. artifacts/x.md is from an earlier run (1.2 kB, 3 days old). Write it anew, or send \"keep\": [\"artifacts/x.md\"] if it is right as it is. Nothing was changed."
        ]
    );
    // A file that was there before is an artifact of the run that changed it.
    let changes = changes(&events);
    assert_eq!(changes[0].state.artifacts, ["artifacts/x.md"]);
    assert!(changes[0].kept.is_empty());
}

#[test]
fn an_old_file_whose_text_is_sent_again_is_kept() {
    let sent = "{ complete_node: { files: [{ path: artifacts/x.md, content: \"old\\n\" }] } }";
    let written = "{ fs.read: { path: artifacts/x.md } }, { fs.write: { path: artifacts/x.md, content: \"old\\n\" } }, { complete_node: {} }";
    for calls in [sent, written] {
        let fixture = OutputsFixture::declaring(&["artifacts/x.md"]);
        fixture.put_old("artifacts/x.md", "old\n");
        let scenario = format!(
            "scenario: it sends what is there\nnodes:\n  node-00000:\n    - calls: [{calls}]\n{END}"
        );
        let events = fixture.play(now(), &scenario);
        assert!(refusals(&events).is_empty(), "{calls}: {:?}", refusals(&events));
        let changes = changes(&events);
        assert_eq!(changes[0].kept, ["artifacts/x.md"], "{calls}");
        assert!(changes[0].state.artifacts.is_empty(), "a kept file is not written by this run");
    }
}

#[test]
fn with_the_rule_exist_an_old_file_counts() {
    let mut fixture = OutputsFixture::declaring(&["artifacts/x.md"]);
    fixture.settings.outputs = OutputRule::Exist;
    fixture.put_old("artifacts/x.md", "old\n");
    let scenario = format!(
        "scenario: it only moves\nnodes:\n  node-00000:\n    - calls: [{{ complete_node: {{}} }}]\n{END}"
    );
    assert!(refusals(&fixture.play(now(), &scenario)).is_empty());
}

#[test]
fn a_name_that_the_node_itself_finds_counts_if_it_is_written_in_this_visit() {
    let fixture = OutputsFixture::declaring(&["artifacts/<key>.md"]);
    fixture.put_old("artifacts/1-2.md", "old\n");
    let events = fixture.play(
        now(),
        &format!(
            "scenario: without a key, with an old file, with the pattern as a path
nodes:
  node-00000:
    - calls: [{{ complete_node: {{}} }}]
    - when: {{ refused: E_PRECONDITION_FAILED }}
      calls: [{{ complete_node: {{ variables: {{ key: 1-2 }} }} }}]
    - when: {{ refused: E_PRECONDITION_FAILED }}
      calls: [{{ fs.write: {{ path: \"artifacts/other-{{key}}.md\", content: new }} }}]
    - when: {{ refused: E_INVALID_ARGS }}
      calls: [{{ complete_node: {{ variables: {{ key: 1-2 }}, files: [{{ path: \"artifacts/{{key}}.md\", content: new }}] }} }}]
    - when: {{ refused: E_PRECONDITION_FAILED }}
      calls: [{{ complete_node: {{ variables: {{ key: 1-2 }}, files: [{{ path: \"artifacts/{{key}}.md\", content: new }}] }} }}]
{END}"
        ),
    );
    let refusals = refusals(&events);
    assert!(refusals[0].contains("artifacts/<key>.md has no name yet: no simple value for `key`."));
    assert!(refusals[1].contains("artifacts/1-2.md is from an earlier run (4 bytes, 3 days old)."));
    assert_eq!(
        refusals[2],
        "artifacts/other-{key}.md is no name of a file: `key` has to be filled in. Nothing was written. There is no simple value for `key`: set it, or write the name itself."
    );
    assert_eq!(fs::read_to_string(fixture.project().join("artifacts/1-2.md")).unwrap(), "new");
    let files = fs::read_dir(fixture.project().join("artifacts")).unwrap();
    assert_eq!(files.count(), 1, "no stray file is made");
    // The brief could not tell its size and origin, because the node chose its name.
    assert!(
        refusals[3]
            .contains("artifacts/1-2.md is the user's: 1 line, 4 bytes, and you have not read it.")
    );
}

#[test]
fn a_second_visit_writes_its_outputs_anew_or_keeps_them() {
    let fixture = OutputsFixture::in_rounds();
    let draft = "artifacts/draft-review/draft.md";
    let review = "artifacts/draft-review/review.md";
    let events = fixture.play(
        ticking(),
        &format!(
            "scenario: the second review and the revision forget their files
nodes:
  step-01-draft:
    - calls: [{{ complete_node: {{ variables: {{ docTitle: T, revisionCount: 0 }}, files: [{{ path: {draft}, content: one }}] }} }}]
  decide-02-review:
    - calls: [{{ complete_node: {{ variables: {{ reviewVerdict: revise }}, reason: r, files: [{{ path: {review}, content: round 1 }}] }} }}]
    - calls: [{{ complete_node: {{ variables: {{ reviewVerdict: approved }}, reason: r }} }}]
    - when: {{ refused: E_PRECONDITION_FAILED }}
      calls: [{{ complete_node: {{ variables: {{ reviewVerdict: approved }}, reason: r, files: [{{ path: {review}, content: round 2 }}] }} }}]
  step-03-revise:
    - calls: [{{ complete_node: {{ variables: {{ revisionCount: 1 }}, files: [{{ path: {draft}, content: two }}] }} }}]
    - when: {{ refused: E_PRECONDITION_FAILED }}
      calls: [{{ complete_node: {{ variables: {{ revisionCount: 1 }}, files: [{{ path: {draft}, content: two }}], keep: [{review}] }} }}]
  end-99:
    - say: Done.
      calls: [{{ complete_node: {{ files: [{{ path: artifacts/draft-review/summary.md, content: sum }}] }} }}]
"
        ),
    );
    let refusals = refusals(&events);
    let rest = format!(
        "Write it anew, or send \"keep\": [\"{review}\"] if it is right as it is. Nothing was changed."
    );
    assert_eq!(
        refusals,
        [
            format!(
                "`step-03-revise` is not done. {review} is from another node (7 bytes). {rest}"
            ),
            format!(
                "`decide-02-review` is not done. {review} is from an earlier visit (7 bytes). {rest}"
            ),
        ]
    );
    let kept: Vec<Vec<String>> = changes(&events).into_iter().map(|change| change.kept).collect();
    let none = Vec::<String>::new;
    assert_eq!(kept, [none(), none(), vec![review.to_owned()], none(), none()]);
}

#[test]
fn a_run_that_resumes_in_the_middle_of_a_visit_knows_what_it_wrote() {
    let fixture = OutputsFixture::declaring(&["artifacts/x.md"]);
    fixture.put_old("artifacts/x.md", "old\n");
    let store = Store::open(Some(fixture.scratch.path().join("home"))).unwrap();
    let scenario = format!(
        "scenario: it writes, waits, and moves in another process
nodes:
  node-00000:
    - calls: [{{ fs.write: {{ path: artifacts/x.md, content: new, mode: append }} }}]
    - say: Is the new line right?
    - calls: [{{ complete_node: {{}} }}]
{END}"
    );
    let model = Scripted::parse("scenario.yaml", &scenario).unwrap();
    let runtime = Runtime::new(&store, ToolServers::none()).by(now());
    let mut run = runtime.start(&fixture.start()).unwrap();
    let id = run.record().run_id.clone();
    let mut events = Vec::new();
    let rest = drive(&mut run, &model, &mut events).unwrap();
    run.finish(&rest, &mut |_| ()).unwrap();
    drop(run);
    // The user edits the document by hand, so that the node is looked at again in the same visit.
    for is_edited in [false, true] {
        if is_edited {
            let runs = fixture.scratch.path().join("home/projects");
            let document = crate::golden_fixture::tree(&runs)
                .into_keys()
                .find(|name| name.ends_with("state/workflow.md"))
                .unwrap();
            let document = runs.join(document);
            let text = fs::read_to_string(&document).unwrap();
            fs::write(&document, text.replace("variables: {}", "variables: {mine: 1}")).unwrap();
        }
        let run = runtime.resume(&id, &SettingsChange::default()).unwrap();
        drop(run);
    }
    let mut run = runtime.resume(&id, &SettingsChange::default()).unwrap();
    run.say("yes", &mut |_| ()).unwrap();
    let mut events = Vec::new();
    let rest = drive(&mut run, &model, &mut events).unwrap();
    assert_eq!(rest.phase, Phase::Completed, "{:?}", refusals(&events));
    assert!(refusals(&events).is_empty());
}
