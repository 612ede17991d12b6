//! D7: the run folders of released versions. Each folder of `tests/kept` was left by a process that died in the middle
//! of a run; this version completes it. `KEEP_RUN=0.2.0` creates one with this version; do that with each release.

use std::fs;
use std::path::{Path, PathBuf};

use crewagent_engine::disk::Disk;

use super::fixture::{ProofFixture, clock};
use super::kill::Calm;
use super::record;
use super::twelve::{rest_of_three, three};
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

#[test]
fn runs_of_released_versions_can_be_taken_over() {
    if let Ok(version) = std::env::var("KEEP_RUN") {
        keep(&version);
    }
    let calm = Calm::of(&ProofFixture::new(three()));
    // The conversation begins anew at the node, whose work was announced and is not to be done twice.
    let fixture = ProofFixture::new(rest_of_three());
    let mut versions = Vec::new();
    for entry in fs::read_dir(kept_folder()).unwrap() {
        let folder = entry.unwrap().path();
        take_up(&fixture, &folder);
        let process = fixture.process(Disk::real(), &clock(1));
        if let Err(stopped) = &process.end {
            panic!("{}: {stopped:?}", folder.display());
        }
        fixture.picture().check(&calm.picture, &folder);
        versions.push(folder.file_name().unwrap().to_string_lossy().into_owned());
    }
    versions.sort();
    assert!(!versions.is_empty());
    record::proven("D7", &format!("kept: {}", versions.join(", ")));
}
