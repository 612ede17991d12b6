//! Bindings of whole runs: resolved from the project's configuration when a run starts, and the same ever after.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use crewagent_core::event::{Event, EventKind, Phase, RunEvent, StateEvent};
use crewagent_core::policy::rules::{RuleSet, Source};
use crewagent_core::settings::RunSettings;
use crewagent_engine::clock::Clock;
use crewagent_engine::runtime::{Adopt, Run, Runtime, SettingsChange, StartRun};
use crewagent_engine::store::{Installed, Store};
use crewagent_engine::tool_server::ToolServers;
use crewagent_scenario::scripted::Scripted;
use serde_json::{Map, Value as Json, json};
use tempfile::TempDir;

use crate::golden::compare_text;
use crate::golden_fixture::{GoldenFixture, drive, golden, ticking};
use crate::support::{scratch, write_all};

const FOLDER: &str = "020-imported-document";

/// A store with the package of the golden run, and a project.
struct BindingsFixture {
    scratch: TempDir,
    store: Store,
    installed: Installed,
}

impl BindingsFixture {
    fn with(files: &[(&str, &str)]) -> Self {
        let scratch = scratch();
        let project = scratch.path().join("shop");
        fs::create_dir_all(&project).unwrap();
        write_all(
            &project,
            files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())),
        );
        let store = Store::open(Some(scratch.path().join("home"))).unwrap();
        let source = golden().join(FOLDER).join("package");
        let installed = store.packages().import(&source, &mut || ()).unwrap().installed;
        Self { scratch, store, installed }
    }

    fn project(&self) -> PathBuf {
        self.scratch.path().join("shop").canonicalize().unwrap()
    }

    fn plan(&self, variables: &[(&str, Json)], adopt: Adopt) -> StartRun {
        let variables = variables.iter().map(|(name, value)| ((*name).to_owned(), value.clone()));
        StartRun {
            package: self.installed.clone(),
            workflow: None,
            agent: None,
            project: self.project(),
            variables: variables.collect::<Map<String, Json>>(),
            settings: RunSettings::default(),
            user_name: "Ana".to_owned(),
            id: None,
            conversation: None,
            data: None,
            earlier: Vec::new(),
            adopt,
        }
    }

    fn runtime(&self) -> Runtime<'_> {
        Runtime::new(&self.store, ToolServers::none()).by(clock())
    }

    fn start(&self, variables: &[(&str, Json)]) -> Run {
        self.runtime().start(&self.plan(variables, Adopt::No)).unwrap()
    }
}

fn clock() -> Clock {
    ticking()
}

fn bound(run: &Run) -> BTreeMap<String, String> {
    let bindings = &run.record().bindings;
    bindings.iter().map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

fn notes(run: &Run) -> String {
    let notes = run.opening().iter().find_map(|event| match &event.kind {
        EventKind::Run(RunEvent::Started(started)) => Some(started.notes.join("\n")),
        _ => None,
    });
    notes.unwrap_or_default()
}

#[track_caller]
fn check_bound(files: &[(&str, &str)], name: &str, expected: &str) {
    let fixture = BindingsFixture::with(files);
    let run = fixture.start(&[]);
    assert_eq!(bound(&run).get(name).map(String::as_str), Some(expected), "{:?}", bound(&run));
}

const CORE: &str = "_bmad/core/config.yaml";

#[test]
fn values_come_from_the_strongest_layer() {
    check_bound(&[], "output_folder", "@project/out");
    check_bound(&[], "planning_folder", "@project/out/planning");
    check_bound(&[], "user_name", "Ana");
    check_bound(&[], "project_name", "shop");
    check_bound(&[], "date", "2026-11-15");
    check_bound(&[], "project-root", "@project");
    check_bound(&[(CORE, "user_name: Bea")], "user_name", "Bea");
    check_bound(&[(CORE, "output_folder: _out")], "planning_folder", "_out/planning");
    check_bound(
        &[(CORE, "planning_folder: \"{project-root}/{output_folder}/p\"")],
        "planning_folder",
        "@project/out/p",
    );
    check_bound(&[(".bmad/core/config.yaml", "user_name: Dot")], "user_name", "Dot");
    check_bound(&[("bmad/config.toml", "[core]\nuser_name = \"Plain\"")], "user_name", "Plain");
    check_bound(&[(CORE, "date: never\nproject-root: /")], "date", "2026-11-15");
    check_bound(&[(CORE, "project-root: /")], "project-root", "@project");
    check_bound(
        &[(CORE, "output_folder: \"{project-root}/_bmad/docs/data.csv\"")],
        "output_folder",
        "@pkg/bmad/docs/data.csv",
    );
}

#[track_caller]
fn check_note(files: &[(&str, &str)], says: &str) {
    let fixture = BindingsFixture::with(files);
    let notes = notes(&fixture.start(&[]));
    assert!(notes.contains(says), "{notes}");
    assert_eq!(notes.lines().count(), 1, "{notes}");
}

#[test]
fn hostile_configuration_is_contained_and_told() {
    let root = "[core]\noutput_folder = \"/\"\nplanning_folder = \"/etc\"\nknowledge = \"{project-root}/../..\"\n";
    check_note(&[("_bmad/config.toml", root)], "BM945 knowledge leads out of the project");
    check_note(
        &[("_bmad/config.toml", root)],
        "BM945 output_folder leads out of the project: \"/\"",
    );
    check_note(&[(CORE, "knowledge: ~/x")], "BM945 knowledge");
    check_note(&[(CORE, "knowledge: C:\\x")], "BM945 knowledge");
    check_note(&[(CORE, "output_folder: \"{planning_folder}/x\"")], "BM943 ");
    let huge = format!("user_name: {}", "x".repeat(1 << 20));
    check_note(&[(CORE, &huge)], "BM943 _bmad/core/config.yaml cannot be read: it is larger");
    check_note(&[(CORE, "user_name: \"a\\u0000b\"")], "BM943 user_name of _bmad/core");
    check_note(&[(CORE, &"[".repeat(50_000))], "BM943 _bmad/core/config.yaml cannot be read");
}

#[cfg(unix)]
#[test]
fn configuration_is_never_read_through_a_link_out_of_the_project() {
    let fixture = BindingsFixture::with(&[(CORE, "knowledge: notes")]);
    let secret = fixture.scratch.path().join("secret.yaml");
    fs::write(&secret, "user_name: secret").unwrap();
    let core = fixture.project().join(CORE);
    fs::remove_file(&core).unwrap();
    std::os::unix::fs::symlink(&secret, &core).unwrap();
    let run = fixture.start(&[]);
    assert_eq!(bound(&run)["user_name"], "Ana");
    assert!(notes(&run).contains("leads out of @project"), "{}", notes(&run));
}

#[test]
fn an_absolute_path_in_the_project_is_named_by_its_mount() {
    let fixture = BindingsFixture::with(&[]);
    let inside = fixture.project().join("docs/notes");
    let core = format!("knowledge: {}", inside.display());
    fs::create_dir_all(fixture.project().join("_bmad/core")).unwrap();
    fs::write(fixture.project().join(CORE), core).unwrap();
    assert_eq!(bound(&fixture.start(&[]))["knowledge"], "@project/docs/notes");
}

#[test]
fn answers_and_variables_of_the_command_line_win() {
    let fixture = BindingsFixture::with(&[(CORE, "user_name: Bea\nknowledge: k")]);
    let project = fixture.store.projects().of(&fixture.project()).unwrap();
    fixture.store.projects().answer(&project.id, "user_name", Some("Cleo")).unwrap();
    fixture.store.projects().answer(&project.id, "knowledge", Some("kept")).unwrap();
    let given = [("knowledge", Json::from("given")), ("topic", Json::from("shop"))];
    let run = fixture.start(&given);
    assert_eq!(bound(&run)["user_name"], "Cleo");
    assert_eq!(bound(&run)["knowledge"], "given");
    assert_eq!(Json::Object(run.run_state().variables.clone()), json!({ "topic": "shop" }));
    fixture.store.projects().answer(&project.id, "user_name", None).unwrap();
    assert_eq!(bound(&fixture.start(&[]))["user_name"], "Bea");
}

#[test]
fn a_resumed_run_keeps_its_values() {
    let fixture = BindingsFixture::with(&[(CORE, "user_name: Bea")]);
    let run = fixture.start(&[]);
    let (id, before) = (run.record().run_id.clone(), bound(&run));
    drop(run);
    fs::write(fixture.project().join(CORE), "user_name: Other").unwrap();
    let again = fixture.runtime().resume(&id, &SettingsChange::default()).unwrap();
    assert_eq!(bound(&again), before);
    assert_eq!(before["user_name"], "Bea");
}

#[test]
fn prompts_of_an_imported_workflow_are_as_accepted() {
    let fixture = GoldenFixture::set(FOLDER);
    let played = fixture.play();
    let requests = played.requests.iter().map(|request| {
        let messages: Vec<Json> = serde_json::from_str(request).unwrap();
        let shown = messages.iter().map(|message| {
            let role = message["role"].as_str().unwrap_or_default();
            format!("[{role}]\n{}\n", message["content"].as_str().unwrap_or_default())
        });
        shown.collect::<String>()
    });
    let text: Vec<String> = requests.collect();
    compare_text(&golden().join(FOLDER).join("requests.txt"), &text.join("\n==========\n"));
    let document = fs::read_to_string(fixture.project().join("_out/plans/brief.md")).unwrap();
    assert_eq!(
        document,
        "---\nstepsCompleted:\n  - 1\n  - 2\ntitle: Shop  # kept\n---\n\n# Brief: shop\n"
    );
}

/// Returns the paths of the inputs of the first node.
fn inputs(files: &[(&str, &str)]) -> Vec<String> {
    let fixture = BindingsFixture::with(files);
    let mut run = fixture.start(&[]);
    let model = Scripted::parse("scenario.yaml", TO_THE_END).unwrap();
    let mut events: Vec<Event> = Vec::new();
    drive(&mut run, &model, &mut events).unwrap();
    let entered = events.iter().find_map(|event| match &event.kind {
        EventKind::State(StateEvent::Entered(entered)) => Some(entered.inputs.clone()),
        _ => None,
    });
    entered.unwrap().into_iter().map(|input| input.path).collect()
}

#[test]
fn a_pattern_names_at_most_fifty_files() {
    let names: Vec<String> = (0..60).map(|at| format!("docs/{at:02}.md")).collect();
    let mut files: Vec<(&str, &str)> = names.iter().map(|name| (name.as_str(), "text\n")).collect();
    files.extend([("docs/x.txt", "no\n"), ("docs/sub/y.md", "no\n")]);
    let inputs = inputs(&files);
    let notes: Vec<&String> = inputs.iter().filter(|path| path.contains("/docs/")).collect();
    assert_eq!(notes.len(), 51, "fifty files and the template of the package: {notes:?}");
    assert!(notes.iter().all(|path| path.ends_with(".md") && !path.contains("sub")));
}

#[test]
fn a_pattern_without_files_is_missing_and_a_folder_stands_for_its_index() {
    let files =
        [("out/planning/research/index.md", "# I\n"), ("out/planning/research/a.md", "# A\n")];
    assert_eq!(
        inputs(&files),
        [
            "@project/out/planning/research/index.md",
            "@project/out/planning/research/a.md",
            "@pkg/bmad/docs/brief-template.md",
            "@project/docs/*.md",
        ]
    );
}

const HALF_DONE: &str = "---\nstepsCompleted: [1]\n---\n\n# Brief: half\n";
const BRIEF: &str = "out/planning/brief.md";
const TO_THE_END: &str = "
scenario: a model that does what each node needs
nodes:
  step-01-begin:
    - calls:
        - runtime.complete_node: { files: [{ path: out/planning/brief.md, content: \"---\\nstepsCompleted: []\\n---\\nnew\\n\" }] }
  step-02-detail:
    - calls:
        - runtime.complete_node: {}
  step-03-end:
    - say: done
      calls:
        - runtime.complete_node: {}
";

/// Plays a run with these words of the user, and returns the nodes that it did.
fn played(fixture: &BindingsFixture, adopt: Adopt, words: &[&str]) -> (Vec<String>, String) {
    let model = Scripted::parse("scenario.yaml", TO_THE_END).unwrap();
    let mut run = fixture.runtime().start(&fixture.plan(&[], adopt)).unwrap();
    let mut events: Vec<Event> = Vec::new();
    for words in words {
        let rest = run.rest().unwrap();
        assert_eq!(rest.phase, Phase::WaitingUser, "{rest:?}");
        assert!(rest.question.is_some(), "{rest:?}");
        run.say(words, &mut |event| events.push(event.clone())).unwrap();
    }
    let rest = drive(&mut run, &model, &mut events).unwrap();
    assert_eq!(rest.phase, Phase::Completed, "{rest:?}");
    let visited = events.iter().filter_map(|event| {
        let json = serde_json::to_value(event).unwrap();
        (json["type"] == "node.entered").then(|| json["nodeId"].as_str().unwrap().to_owned())
    });
    let text = fs::read_to_string(fixture.project().join(BRIEF)).unwrap();
    (visited.collect(), text)
}

#[test]
fn a_run_goes_on_with_a_half_done_document_if_the_user_agrees() {
    for word in ["1", "yes", "go on"] {
        let fixture = BindingsFixture::with(&[(BRIEF, HALF_DONE)]);
        let (visited, text) = played(&fixture, Adopt::Ask, &[word]);
        assert_eq!(visited, ["step-02-detail", "step-03-end"], "{word}");
        assert_eq!(text, "---\nstepsCompleted: [1, 2]\n---\n\n# Brief: half\n");
    }
}

#[test]
fn a_run_begins_anew_if_the_user_says_so_or_nobody_can_be_asked() {
    let all = ["step-01-begin", "step-02-detail", "step-03-end"];
    let fixture = BindingsFixture::with(&[(BRIEF, HALF_DONE)]);
    assert_eq!(played(&fixture, Adopt::Ask, &["what?", "2"]).0, all);
    let fixture = BindingsFixture::with(&[(BRIEF, HALF_DONE)]);
    assert_eq!(played(&fixture, Adopt::No, &[]).0, all);
}

#[test]
fn a_document_that_is_whole_or_records_nothing_is_not_asked_about() {
    for text in [
        "---\nstepsCompleted: [1, 2]\n---\n",
        "---\nstepsCompleted: []\n---\n",
        "---\nstepsCompleted: [9]\n---\n",
        "# no frontmatter\n",
    ] {
        let fixture = BindingsFixture::with(&[(BRIEF, text)]);
        let run = fixture.runtime().start(&fixture.plan(&[], Adopt::Ask)).unwrap();
        assert_eq!(run.rest(), None, "{text}");
    }
}

#[test]
fn a_document_of_another_name_is_adopted_and_recorded_in() {
    let fixture = BindingsFixture::with(&[("docs/mine.md", HALF_DONE)]);
    let plan = fixture.plan(&[], Adopt::File("docs/mine.md".to_owned()));
    let mut run = fixture.runtime().start(&plan).unwrap();
    let model = Scripted::parse("scenario.yaml", TO_THE_END).unwrap();
    let rest = drive(&mut run, &model, &mut Vec::new()).unwrap();
    assert_eq!(rest.phase, Phase::Completed);
    let text = fs::read_to_string(fixture.project().join("docs/mine.md")).unwrap();
    assert_eq!(text, "---\nstepsCompleted: [1, 2]\n---\n\n# Brief: half\n");
}

#[test]
fn a_document_that_a_rule_protects_is_left_alone_and_the_run_goes_on() {
    let fixture = BindingsFixture::with(&[(BRIEF, HALF_DONE)]);
    let mut plan = fixture.plan(&[], Adopt::File(BRIEF.to_owned()));
    let deny = vec!["fs.write(@project/out)".parse().unwrap()];
    plan.settings.policy.rules.push(RuleSet { deny, ..RuleSet::none(Source::Settings) });
    let mut run = fixture.runtime().start(&plan).unwrap();
    let model = Scripted::parse("scenario.yaml", TO_THE_END).unwrap();
    let mut events = Vec::new();
    assert_eq!(drive(&mut run, &model, &mut events).unwrap().phase, Phase::Completed);
    let text = fs::read_to_string(fixture.project().join(BRIEF)).unwrap();
    assert_eq!(text, HALF_DONE);
    let warned = events.iter().any(|event| match &event.kind {
        EventKind::State(StateEvent::Changed(change)) => {
            change.warnings == ["out/planning/brief.md was not changed: the policy denies it."]
        }
        _ => false,
    });
    assert!(warned);
}

#[test]
fn a_document_that_cannot_be_adopted_is_refused_before_the_run_starts() {
    let fixture = BindingsFixture::with(&[("docs/x.md", "# x\n")]);
    for (file, says) in [
        ("docs/none.md", "there is no such file"),
        ("docs/x.md", "records none"),
        ("../x.md", "climbs"),
        ("/etc/passwd", "not in the project"),
    ] {
        let plan = fixture.plan(&[], Adopt::File(file.to_owned()));
        let error = fixture.runtime().start(&plan).err().unwrap().to_string();
        assert!(error.contains(says), "{file}: {error}");
    }
    assert!(fixture.store.runs().ids(crewagent_engine::store::Of::All).unwrap().is_empty());
}

#[test]
fn a_question_that_is_open_survives_its_process() {
    let fixture = BindingsFixture::with(&[(BRIEF, HALF_DONE)]);
    let run = fixture.runtime().start(&fixture.plan(&[], Adopt::Ask)).unwrap();
    let id = run.record().run_id.clone();
    drop(run);
    let mut again = fixture.runtime().resume(&id, &SettingsChange::default()).unwrap();
    assert!(again.rest().unwrap().question.is_some());
    again.say("1", &mut |_| ()).unwrap();
    drop(again);
    let mut third = fixture.runtime().resume(&id, &SettingsChange::default()).unwrap();
    assert_eq!(third.run_state().current_node_id, "step-02-detail");
    let model = Scripted::parse("scenario.yaml", TO_THE_END).unwrap();
    assert_eq!(drive(&mut third, &model, &mut Vec::new()).unwrap().phase, Phase::Completed);
}
