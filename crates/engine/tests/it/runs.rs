//! The runs and the projects of the store.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use crewagent_core::bindings::Bindings;
use crewagent_core::event::{Event, EventKind, Phase, PhaseChanged, Reason, RunStarted, UserInput};
use crewagent_core::settings::RunSettings;
use crewagent_core::state::run_state::RunState;
use crewagent_engine::store::{
    Installed, NewRun, Of, Project, ProjectError, ProjectId, RunError, RunFolder, RunId,
    RunPackage, RunSubject, RunWorkflow, Status, Store,
};
use jiff::Timestamp;
use tempfile::TempDir;

use crate::disk_hook::{Fault, Recorder};
use crate::support::{package, scratch, snapshot, write_all};

/// Names the run that a child process opens.
const CHILD: &str = "CREWAGENT_TEST_RUN";

const DOCUMENT: &str = "---\nschemaVersion: \"1.1\"\nworkflowType: demo\ncurrentNodeId: two\nstepsCompleted:\n  - one\n---\n\nbody\n";

struct RunsFixture {
    scratch: TempDir,
    store: Store,
    installed: Installed,
}

impl RunsFixture {
    fn new() -> Self {
        let scratch = scratch();
        fs::create_dir(scratch.path().join("project")).unwrap();
        write_all(&scratch.path().join("source"), package());
        let store = open(scratch.path());
        let source = scratch.path().join("source");
        let installed = store.packages().import(&source, &mut || ()).unwrap().installed;
        Self { scratch, store, installed }
    }

    fn path(&self, name: &str) -> PathBuf {
        self.scratch.path().join(name)
    }

    fn project(&self) -> Project {
        self.store.projects().of(&self.path("project")).unwrap()
    }

    fn new_run(&self, id: &str) -> NewRun {
        let id = RunId::parse(id).unwrap();
        NewRun {
            project: self.project().id,
            subject: RunSubject::Workflow {
                package: RunPackage::of(&self.installed),
                workflow: RunWorkflow { id: Some("demo".into()), document: "workflow.md".into() },
                agent_id: "author".into(),
            },
            conversation: None,
            bindings: Bindings::default(),
            adopted: None,
            created: "2026-11-15T08:30:15Z".parse().unwrap(),
            documents: vec![(None, DOCUMENT.into())],
            events: vec![started(&id)],
            id,
        }
    }

    fn create(&self, id: &str) -> RunFolder {
        self.store.runs().create(self.new_run(id)).unwrap()
    }

    fn folder(&self, id: &str) -> PathBuf {
        self.path("home/projects").join(self.project().id.as_str()).join("runs").join(id)
    }
}

fn open(scratch: &Path) -> Store {
    Store::open(Some(scratch.join("home"))).unwrap()
}

fn id(text: &str) -> RunId {
    RunId::parse(text).unwrap()
}

fn event(seq: u64, kind: EventKind) -> Event {
    let time = format!("2026-11-15T09:00:{seq:02}.000Z");
    Event { seq, part: None, time, run_id: None, key: None, kind }
}

fn started(id: &RunId) -> Event {
    let kind = EventKind::from(RunStarted {
        package: "demo@1.0.0".into(),
        package_sha256: "0".repeat(64),
        workflow: "demo".into(),
        agent_id: "author".into(),
        project: "project".into(),
        state: RunState::default(),
        settings: RunSettings::default(),
        data: None,
        earlier: Vec::new(),
        forecast: None,
        adoption: None,
        notes: Vec::new(),
        forked_from: None,
    });
    Event { run_id: Some(id.to_string()), ..event(1, kind) }
}

fn phase(seq: u64, phase: Phase, reason: Reason) -> Event {
    event(seq, EventKind::from(PhaseChanged { phase, reason: Some(reason), message: None }))
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_run_is_a_folder_with_all_that_it_needs() {
    let fixture = RunsFixture::new();
    let run = fixture.create("20261115-083015-aaaaa");
    assert_eq!((run.epoch, run.recovered.events.len()), (1, 1));
    assert!(run.recovered.notes.is_empty());
    let folder = fixture.folder("20261115-083015-aaaaa");
    assert_eq!(names(&folder), ["blobs", "lock", "run.json", "state"]);
    assert_eq!(names(&folder.join("state")), ["logs", "workflow.md"]);
    assert_eq!(fs::read_to_string(folder.join("state/workflow.md")).unwrap(), DOCUMENT);
    let record: serde_json::Value =
        serde_json::from_slice(&fs::read(folder.join("run.json")).unwrap()).unwrap();
    assert_eq!(
        record,
        serde_json::json!({
            "schemaVersion": 1,
            "promptVersion": 2,
            "runId": "20261115-083015-aaaaa",
            "projectId": fixture.project().id,
            "package": {
                "name": fixture.installed.name,
                "version": fixture.installed.version,
                "sha256": fixture.installed.digest.to_string(),
            },
            "workflow": { "id": "demo", "document": "workflow.md" },
            "agentId": "author",
            "created": "2026-11-15T08:30:15Z",
        })
    );
    assert_eq!(names(folder.parent().unwrap()), ["20261115-083015-aaaaa"]);
    let error = fixture.store.runs().create(fixture.new_run("20261115-083015-aaaaa")).unwrap_err();
    assert_eq!(error.to_string(), "there is a run 20261115-083015-aaaaa already");
}

#[cfg(unix)]
#[test]
fn what_the_store_keeps_of_runs_is_for_its_user_alone() {
    let fixture = RunsFixture::new();
    let mut run = fixture.create("20261115-083015-aaaaa");
    run.blobs.put(b"long").unwrap();
    run.journal.append(&[phase(2, Phase::Paused, Reason::Paused)]).unwrap();
    fixture.store.projects().used(&fixture.project().id, "demo@1.0.0").unwrap();
    for (path, mode, _) in snapshot(&fixture.path("home/projects")) {
        let expected = if path.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(mode, expected, "{}", path.display());
    }
}

#[test]
fn a_run_has_one_owner() {
    let fixture = RunsFixture::new();
    let run = fixture.create("20261115-083015-aaaaa");
    let taken = fixture.store.runs().open(&id("20261115-083015-aaaaa")).unwrap_err();
    let RunError::InUse { holder, .. } = &taken else { panic!("{taken}") };
    assert_eq!(holder.pid, Some(std::process::id()));
    let expected =
        format!("20261115-083015-aaaaa is in use by process {} since ", std::process::id());
    assert!(taken.to_string().starts_with(&expected), "{taken}");
    assert!(matches!(
        fixture.store.runs().remove(&id("20261115-083015-aaaaa")),
        Err(RunError::InUse { .. })
    ));
    assert!(matches!(
        fixture.store.projects().forget(&fixture.project().id),
        Err(ProjectError::InUse { .. })
    ));
    run.close();
    let run = fixture.store.runs().open(&id("20261115-083015-aaaaa")).unwrap();
    assert_eq!(run.epoch, 2);
    drop(run);
    let mut run = fixture.store.runs().open(&id("20261115-083015-aaaaa")).unwrap();
    assert_eq!(run.epoch, 3);
    // The journal counts, even if the lock file has forgotten the epoch.
    let resumed = serde_json::json!({ "type": "run.resumed", "epoch": 7 });
    let resumed: EventKind = serde_json::from_value(resumed).unwrap();
    run.journal.append(&[event(2, resumed)]).unwrap();
    drop(run);
    fs::remove_file(fixture.folder("20261115-083015-aaaaa").join("lock")).unwrap();
    assert_eq!(fixture.store.runs().open(&id("20261115-083015-aaaaa")).unwrap().epoch, 8);
}

#[test]
fn another_process_is_told_who_has_the_run_and_gets_it_after_its_death() {
    const TEST: &str = "runs::another_process_is_told_who_has_the_run_and_gets_it_after_its_death";
    if let Ok(home) = std::env::var(CHILD) {
        let store = Store::open(Some(home.into())).unwrap();
        match store.runs().open(&id("20261115-083015-aaaaa")) {
            Ok(run) => {
                println!("epoch {}", run.epoch);
                // The child dies without releasing anything.
                std::mem::forget(run);
            }
            Err(error) => println!("refused: {error}"),
        }
        return;
    }
    let fixture = RunsFixture::new();
    let child = || {
        let output = Command::new(std::env::current_exe().unwrap())
            .args(["--exact", TEST, "--nocapture", "--test-threads=1"])
            .env(CHILD, fixture.path("home"))
            .output()
            .unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    let run = fixture.create("20261115-083015-aaaaa");
    let told = child();
    assert!(told.contains(&format!("is in use by process {} since", std::process::id())), "{told}");
    drop(run);
    assert!(child().contains("epoch 2"));
    assert!(child().contains("epoch 3"));
    assert_eq!(fixture.store.runs().open(&id("20261115-083015-aaaaa")).unwrap().epoch, 4);
}

#[test]
fn a_run_has_its_three_folders() {
    let fixture = RunsFixture::new();
    let run = fixture.create("20261115-083015-aaaaa");
    let runs = fixture.store.runs();
    let roots = runs.roots(&run.record).unwrap();
    assert_eq!(roots.project, fixture.path("project").canonicalize().unwrap());
    assert_eq!(roots.package, fixture.installed.folder.join("package"));
    assert_eq!(roots.state, fixture.folder("20261115-083015-aaaaa").join("state"));
    run.mounts(&roots).unwrap();
    // The project moves.
    fs::rename(fixture.path("project"), fixture.path("moved")).unwrap();
    let project = run.record.project_id.clone();
    let error = runs.roots(&run.record).unwrap_err().to_string();
    assert!(error.contains(&format!("`crewagent projects relink {project} FOLDER`")), "{error}");
    fixture.store.projects().relink(&project, &fixture.path("moved")).unwrap();
    assert_eq!(
        runs.roots(&run.record).unwrap().project,
        fixture.path("moved").canonicalize().unwrap()
    );
    // The package is removed.
    let found = fixture.store.packages().find_any(&fixture.installed.name).unwrap();
    fixture.store.packages().remove(&found, &mut || ()).unwrap();
    let error = runs.roots(&run.record).unwrap_err().to_string();
    assert!(error.contains("import it again with `crewagent package import`"), "{error}");
    // A package is found by its content, whatever its name.
    let source = fixture.path("source");
    let again = fixture.store.packages().import(&source, &mut || ()).unwrap().installed;
    let mut record = run.record.clone();
    let RunSubject::Workflow { package, .. } = &mut record.subject else { panic!() };
    package.name = "another name".into();
    assert_eq!(runs.package(&record).unwrap().unwrap().folder, again.folder);
}

#[test]
fn a_run_is_created_whole_or_not_at_all() {
    let whole = RunsFixture::new();
    whole.project();
    let recorder = Recorder::new(Fault::Never);
    let store = open(whole.scratch.path()).on(recorder.disk());
    drop(store.runs().create(whole.new_run("20261115-083015-aaaaa")).unwrap());
    let count = recorder.count();
    assert!(count > 30, "{:#?}", recorder.log());
    for at in 0..count {
        for fault in [Fault::Crash(at), Fault::Torn(at), Fault::Once(at, 28)] {
            let fixture = RunsFixture::new();
            let new = fixture.new_run("20261115-083015-aaaaa");
            let recorder = Recorder::new(fault);
            let store = open(fixture.scratch.path()).on(recorder.disk());
            let created = store.runs().create(new.clone());
            let is_created = created.is_ok();
            drop(created);
            assert!(recorder.fired() > 0, "{fault:?}");
            let listing = fixture.store.runs().list(Of::All).unwrap();
            assert_eq!(listing.damaged, [], "{fault:?}");
            match &listing.runs[..] {
                [] => assert!(!is_created, "{fault:?}"),
                [run] => {
                    // An error means that there is no run, unless the process died before it could remove it.
                    assert!(is_created || matches!(fault, Fault::Crash(_) | Fault::Torn(_)));
                    assert_eq!((run.status, run.steps_completed), (Status::Interrupted, 1));
                    assert_eq!(run.troubles, [""; 0]);
                    assert!(
                        fixture.store.runs().open(&run.run_id).unwrap().recovered.notes.is_empty()
                    );
                }
                _ => panic!("{fault:?}"),
            }
            // The next run removes what is left.
            fixture.create("20261115-083016-bbbbb");
            let left = names(fixture.folder("x").parent().unwrap());
            assert!(left.iter().all(|name| !name.starts_with('.')), "{fault:?}: {left:?}");
        }
    }
}

#[test]
fn the_project_of_a_folder_is_always_the_same() {
    let fixture = RunsFixture::new();
    let projects = fixture.store.projects();
    let one = projects.of(&fixture.path("project")).unwrap();
    assert_eq!(projects.of(&fixture.path("project/../project")).unwrap(), one);
    assert!(one.id.as_str().starts_with("project-"), "{}", one.id);
    assert_eq!(one.name, "project");
    fs::create_dir(fixture.path("other")).unwrap();
    let two = projects.of(&fixture.path("other")).unwrap();
    assert_ne!(two.id, one.id);
    assert_eq!(projects.list().unwrap().projects, [two.clone(), one.clone()]);
    assert_eq!(projects.find("other").unwrap(), two);
    assert_eq!(projects.find(fixture.path("project").to_str().unwrap()).unwrap(), one);
    assert!(matches!(projects.find("nothing"), Err(ProjectError::Unknown { .. })));
    let error = projects.relink(&one.id, &fixture.path("other")).unwrap_err().to_string();
    assert!(error.contains(&format!("is the folder of project `{}` already", two.id)), "{error}");
    let error = projects.of(&fixture.path("nowhere")).unwrap_err().to_string();
    assert!(error.starts_with("cannot use `") && error.contains("nowhere"), "{error}");
    projects.used(&one.id, "demo@1.0.0").unwrap();
    assert_eq!(projects.get(&one.id).unwrap().last_package.as_deref(), Some("demo@1.0.0"));
    drop(fixture.create("20261115-083015-aaaaa"));
    projects.forget(&one.id).unwrap();
    assert_eq!(projects.list().unwrap().projects, [two]);
    assert!(matches!(projects.forget(&one.id), Err(ProjectError::Unknown { .. })));
    assert!(matches!(
        fixture.store.runs().open(&id("20261115-083015-aaaaa")),
        Err(RunError::Unknown { .. })
    ));
    assert!(fixture.path("project").is_dir());
}

#[test]
fn a_project_around_or_inside_the_store_is_refused() {
    let scratch = crate::support::scratch();
    let store = Store::open(Some(scratch.path().join("home"))).unwrap();
    std::fs::create_dir_all(scratch.path().join("home/inside")).unwrap();
    for folder in [scratch.path().to_owned(), scratch.path().join("home/inside")] {
        let error = store.projects().of(&folder).unwrap_err();
        assert!(matches!(error, ProjectError::Overlap { .. }), "{error}");
    }
}

#[test]
fn a_damaged_project_is_listed_with_what_is_wrong() {
    let fixture = RunsFixture::new();
    let project = fixture.project();
    let record = fixture.path("home/projects").join(project.id.as_str()).join("project.json");
    let good = fs::read_to_string(&record).unwrap();
    for (text, expected) in [
        ("{", "`project.json` cannot be understood"),
        ("{\"schemaVersion\":9}", "newer version"),
        (&good.replace(project.id.as_str(), "else"), "is that of project `else`"),
    ] {
        fs::write(&record, text).unwrap();
        let listing = fixture.store.projects().list().unwrap();
        assert!(listing.projects.is_empty());
        assert!(listing.damaged[0].reason.contains(expected), "{:?}", listing.damaged);
    }
    fs::remove_file(&record).unwrap();
    assert_eq!(fixture.store.projects().list().unwrap().damaged.len(), 1);
}

#[test]
fn many_threads_and_one_new_project() {
    let fixture = RunsFixture::new();
    let ids: Vec<ProjectId> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..8).map(|_| scope.spawn(|| fixture.project().id)).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(ids.iter().all(|id| *id == ids[0]), "{ids:?}");
}

#[test]
fn many_threads_create_runs_in_one_project() {
    let fixture = RunsFixture::new();
    fixture.project();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let fixture = &fixture;
            scope.spawn(move || {
                for number in 0..8 {
                    drop(fixture.create(&format!("20261115-08301{thread}-a{number}")));
                }
            });
        }
    });
    assert_eq!(fixture.store.runs().list(Of::All).unwrap().runs.len(), 32);
}

#[test]
fn a_list_says_how_runs_are() {
    let fixture = RunsFixture::new();
    let runs = fixture.store.runs();
    let rest = |name: &str, events: &[Event]| {
        let mut run = fixture.create(name);
        run.journal.append(events).unwrap();
    };
    rest("20261115-083011-a", &[phase(2, Phase::WaitingUser, Reason::Question)]);
    rest("20261115-083012-a", &[phase(2, Phase::Completed, Reason::StopPoint)]);
    rest("20261115-083013-a", &[phase(2, Phase::Failed, Reason::Model)]);
    let input = EventKind::from(UserInput { text: "go".into(), for_node_id: None, call_id: None });
    rest("20261115-083014-a", &[phase(2, Phase::WaitingUser, Reason::Question), event(3, input)]);
    let held = fixture.create("20261115-083015-a");
    let describe = |of: Of<'_>| -> Vec<(String, Status, Option<Reason>)> {
        let listing = runs.list(of).unwrap();
        assert_eq!(listing.damaged, []);
        let of = listing.runs.into_iter();
        of.map(|run| (run.run_id.to_string(), run.status, run.reason)).collect()
    };
    let expected = [
        ("20261115-083015-a".to_owned(), Status::Running, None),
        ("20261115-083014-a".to_owned(), Status::Interrupted, None),
        ("20261115-083013-a".to_owned(), Status::Failed, Some(Reason::Model)),
        ("20261115-083012-a".to_owned(), Status::Completed, Some(Reason::StopPoint)),
        ("20261115-083011-a".to_owned(), Status::WaitingUser, Some(Reason::Question)),
    ];
    assert_eq!(describe(Of::All), expected);
    assert_eq!(describe(Of::Project(&fixture.project().id)), expected);
    assert_eq!(describe(Of::Project(&ProjectId::parse("nothing").unwrap())), []);
    let summary = runs.summary(&id("20261115-083011-a")).unwrap();
    assert_eq!(summary.current_node.as_deref(), Some("two"));
    assert_eq!((summary.steps_completed, summary.workflow.as_str()), (1, "demo"));
    assert_eq!(summary.updated, Some("2026-11-15T09:00:02Z".parse::<Timestamp>().unwrap()));
    drop(held);
    assert_eq!(runs.newest_unfinished(Of::All).unwrap(), Some(id("20261115-083015-a")));
    runs.remove(&id("20261115-083015-a")).unwrap();
    runs.remove(&id("20261115-083014-a")).unwrap();
    assert_eq!(runs.newest_unfinished(Of::All).unwrap(), Some(id("20261115-083013-a")));
    assert!(matches!(runs.remove(&id("20261115-083014-a")), Err(RunError::Unknown { .. })));
}

#[test]
fn what_is_wrong_with_a_run_is_said() {
    let fixture = RunsFixture::new();
    for number in 1..=6 {
        drop(fixture.create(&format!("20261115-08301{number}-a")));
    }
    let file =
        |number: u32, name: &str| fixture.folder(&format!("20261115-08301{number}-a")).join(name);
    fs::write(file(1, "run.json"), "{").unwrap();
    fs::remove_file(file(2, "run.json")).unwrap();
    fs::write(file(3, "run.json"), "{\"schemaVersion\":2}").unwrap();
    fs::write(file(4, "state/workflow.md"), "---\n: [\n---\n").unwrap();
    fs::write(file(5, "state/logs/execution.jsonl"), "garbage").unwrap();
    fs::create_dir(fixture.folder("Not An Id")).unwrap();
    let listing = fixture.store.runs().list(Of::All).unwrap();
    let damaged: Vec<&str> = listing.damaged.iter().map(|flaw| flaw.name.as_str()).collect();
    assert_eq!(
        damaged,
        ["20261115-083011-a", "20261115-083012-a", "20261115-083013-a", "Not An Id"]
    );
    assert!(listing.damaged[0].reason.contains("`run.json` cannot be understood"));
    assert!(listing.damaged[1].reason.contains("`run.json` is missing"));
    assert!(listing.damaged[2].reason.contains("newer version of this program"));
    let troubles: Vec<usize> = listing.runs.iter().map(|run| run.troubles.len()).collect();
    assert_eq!(troubles, [0, 1, 1]);
    assert_eq!(listing.runs[1].status, Status::Unknown);
    assert!(matches!(
        fixture.store.runs().open(&id("20261115-083012-a")),
        Err(RunError::Damaged { .. })
    ));
    // A damaged run can be removed, and one with a damaged journal can be opened.
    fixture.store.runs().remove(&id("20261115-083011-a")).unwrap();
    let run = fixture.store.runs().open(&id("20261115-083015-a")).unwrap();
    assert_eq!(run.recovered.notes.len(), 1);
    let view = fixture.store.runs().look(&id("20261115-083015-a")).unwrap();
    assert_eq!(view.holder.unwrap().epoch, 2);
}

#[test]
fn a_run_is_found_by_a_part_of_its_id() {
    let fixture = RunsFixture::new();
    drop(fixture.create("20261115-083015-k3f9w"));
    drop(fixture.create("20261116-083015-zzzzz"));
    let runs = fixture.store.runs();
    for part in ["20261115-083015-k3f9w", "20261115", "k3f9w", "20261115-08"] {
        assert_eq!(runs.find(part).unwrap(), id("20261115-083015-k3f9w"), "{part}");
    }
    let error = runs.find("2026").unwrap_err().to_string();
    assert!(error.contains("20261115-083015-k3f9w, 20261116-083015-zzzzz"), "{error}");
    for part in ["", "nothing", "3f9w", "../x"] {
        assert!(runs.find(part).is_err(), "{part}");
    }
}

#[test]
fn a_thousand_runs_are_listed_in_no_time() {
    let fixture = RunsFixture::new();
    let mut run = fixture.create("20261115-000000-a");
    let mut events: Vec<Event> = (2..200)
        .map(|seq| {
            let text = "words ".repeat(100).into();
            event(seq, EventKind::from(UserInput { text, for_node_id: None, call_id: None }))
        })
        .collect();
    events.push(phase(200, Phase::WaitingUser, Reason::StopPoint));
    run.journal.append(&events).unwrap();
    drop(run);
    let first = fixture.folder("20261115-000000-a");
    let record = fs::read_to_string(first.join("run.json")).unwrap();
    for number in 1..1_000 {
        let name = format!("20261115-{number:06}-a");
        let folder = fixture.folder(&name);
        fs::create_dir_all(folder.join("state/logs")).unwrap();
        fs::write(folder.join("run.json"), record.replace("20261115-000000-a", &name)).unwrap();
        for file in ["lock", "state/workflow.md", "state/logs/execution.jsonl"] {
            fs::copy(first.join(file), folder.join(file)).unwrap();
        }
    }
    let start = Instant::now();
    let listing = fixture.store.runs().list(Of::All).unwrap();
    let taken = start.elapsed();
    assert_eq!((listing.runs.len(), listing.damaged.len()), (1_000, 0));
    assert!(listing.runs.iter().all(|run| run.status == Status::WaitingUser));
    println!("1,000 runs listed: {taken:?}");
    // The goal is 300 ms, optimized and alone on the machine.
    assert!(taken.as_millis() < 10_000, "{taken:?}");
}
