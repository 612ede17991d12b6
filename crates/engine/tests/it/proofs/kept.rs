//! D7: the run folders of released versions. Each folder of `tests/kept` was left by a process of that version, in the
//! middle of a node unless its name says otherwise; this version completes it. `KEEP_RUN=0.2.0` creates one with this version; do that with each release.

use std::fs;
use std::path::{Path, PathBuf};

use crewagent_core::state::visit_files::OutputRule;
use crewagent_engine::disk::Disk;
use crewagent_engine::runtime::{Runtime, SettingsChange};
use crewagent_engine::store::Of;
use crewagent_engine::tool_server::ToolServers;

use super::fixture::{ProofFixture, clock};
use super::kill::Calm;
use super::nested::nested_of;
use super::record::{self, Scale, scale};
use super::twelve::{Piece, rest_of_three, three};
use crate::disk_hook::{Fault, Recorder};
use crate::golden_fixture::copy;

fn kept_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/kept")
}

/// Creates a folder by dying in the middle of a patch of two files: one is changed, the other is not, and only the
/// intent says so.
fn keep(version: &str) {
    let fixture = ProofFixture::new(three());
    let calm = Calm::of(&fixture);
    let is_second =
        |line: &String| line.starts_with("rename ") && line.ends_with("-> @project/README.md");
    let operation = calm.log.iter().position(is_second).unwrap();
    fixture.reset();
    let process = fixture.process(Recorder::new(Fault::Crash(operation)).disk(), &clock(0));
    assert!(process.end.is_err());
    let folder = kept_folder().join(version);
    let _ = fs::remove_dir_all(&folder);
    copy(&fixture.project(), &folder.join("project"));
    copy(&fixture.root().join("package"), &folder.join("package"));
    copy(&fixture.run_folder().unwrap(), &folder.join("run"));
}

/// Copies a kept run into the store of a fixture.
fn take_up(fixture: &ProofFixture, folder: &Path) {
    fixture.clear();
    copy(&folder.join("project"), &fixture.project());
    let store = fixture.store(Disk::real());
    store.packages().import(&folder.join("package"), &mut || {}).unwrap();
    let project = store.projects().of(&fixture.project()).unwrap().id;
    let path = folder.join("run/run.json");
    let mut record: serde_json::Value = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    record["projectId"] = project.as_str().into();
    let id = record["runId"].as_str().unwrap().to_owned();
    let run = fixture.root().join("home/projects").join(project.as_str()).join("runs").join(id);
    copy(&folder.join("run"), &run);
    fs::write(run.join("run.json"), record.to_string()).unwrap();
}

/// A kept run, and a piece for the model that resumes it.
struct KeptRun {
    name: &'static str,
    /// Piece of the whole run, played without a fault.
    whole: fn(&Path) -> Piece,
    /// Piece for the process that takes the run over.
    rest: fn(&Path) -> Piece,
    /// File of the project, with a change that was announced and not made.
    announced: Option<(&'static str, &'static str)>,
}

/// Kept runs: in the middle of a node, at a question, in the middle of a called workflow, and at the end.
const KEPT: [KeptRun; 4] = [
    KeptRun {
        name: "0.1.0",
        whole: |_| three(),
        // The conversation begins anew at the node, whose work was announced and is not to be done twice.
        rest: |_| rest_of_three(),
        announced: Some(("README.md", "# A project\n\nIt has a log.\n")),
    },
    KeptRun { name: "0.1.0-waiting", whole: |_| three(), rest: |_| three(), announced: None },
    KeptRun {
        name: "0.1.0-called",
        whole: |folder| nested_of(&folder.join("package")),
        rest: |folder| nested_of(&folder.join("package")),
        announced: Some(("artifacts/reviews/release-notes-notes.md", "blue\n")),
    },
    KeptRun { name: "0.1.0-complete", whole: |_| three(), rest: |_| three(), announced: None },
];

impl KeptRun {
    fn folder(&self) -> PathBuf {
        kept_folder().join(self.name)
    }

    fn calm(&self) -> Calm {
        Calm::of(&ProofFixture::new((self.whole)(&self.folder())))
    }

    /// Takes the run over with a disk that may fail, as often as it takes, and checks the end.
    fn check_taken_over(&self, fixture: &ProofFixture, calm: &Calm, fault: Fault) {
        take_up(fixture, &self.folder());
        let recorder = Recorder::new(fault);
        let first = fixture.process(recorder.disk(), &clock(1));
        if recorder.fired() > 0 {
            assert!(first.end.is_err(), "{}: {fault:?}", self.name);
            let second = fixture.process(Disk::real(), &clock(2));
            if let Err(stopped) = &second.end {
                panic!("{} {fault:?}: {stopped:?}", self.name);
            }
        } else if let Err(stopped) = &first.end {
            panic!("{}: {stopped:?}", self.name);
        }
        fixture.picture().check(&calm.picture, &(self.name, fault));
    }
}

#[test]
fn runs_of_released_versions_can_be_taken_over() {
    if let Ok(version) = std::env::var("KEEP_RUN") {
        keep(&version);
    }
    for kept in &KEPT {
        let fixture = ProofFixture::new((kept.rest)(&kept.folder()));
        kept.check_taken_over(&fixture, &kept.calm(), Fault::Never);
    }
    let mut names: Vec<String> = fs::read_dir(kept_folder())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    let mut taken = KEPT.map(|kept| kept.name.to_owned());
    taken.sort();
    assert_eq!(names, taken, "each folder is taken over");
    record::proven("D7", &format!("kept: {}", names.join(", ")));
}

/// Checks that a change that was announced is made before the model is asked.
#[test]
fn a_change_that_a_released_version_announced_is_made_once() {
    for kept in KEPT.iter().filter(|kept| kept.announced.is_some()) {
        let fixture = ProofFixture::new((kept.rest)(&kept.folder()));
        take_up(&fixture, &kept.folder());
        let (path, expected) = kept.announced.unwrap();
        let path = fixture.project().join(path);
        assert_ne!(fs::read_to_string(&path).unwrap_or_default(), expected, "{}", kept.name);
        let store = fixture.store(Disk::real());
        let runtime = Runtime::new(&store, ToolServers::none()).by(clock(1));
        let id = store.runs().list(Of::All).unwrap().runs[0].run_id.clone();
        let run = runtime.resume(&id, &SettingsChange::default()).unwrap();
        assert_eq!(run.settings().outputs, OutputRule::Exist, "it was started without a choice");
        assert_eq!(fs::read_to_string(&path).unwrap(), expected, "{}", kept.name);
    }
}

/// Checks D1 over the resume: the process that resumes the run dies at every operation, or a sample of them.
#[test]
fn a_process_that_dies_while_it_takes_a_run_over_loses_nothing() {
    let mut points = 0;
    for kept in &KEPT {
        let calm = kept.calm();
        let fixture = ProofFixture::new((kept.rest)(&kept.folder()));
        take_up(&fixture, &kept.folder());
        let recorder = Recorder::new(Fault::Never);
        fixture.process(recorder.disk(), &clock(1)).end.unwrap();
        let step = if scale() == Scale::Full { 1 } else { 18 };
        for operation in (0..recorder.count()).step_by(step) {
            kept.check_taken_over(&fixture, &calm, Fault::Crash(operation));
            points += 1;
        }
    }
    assert!(points > 20, "{points}");
}
