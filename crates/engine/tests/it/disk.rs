//! The disk port: every operation of the mounts goes through it, with mount paths, and a fault there is a disk error.

use std::fs;

use crewagent_core::vpath::VPath;
use crewagent_engine::mounts::{Before, MountError, Mounts, Roots};
use tempfile::TempDir;

use crate::disk_hook::{Fault, Recorder};
use crate::mounts::fixture::{vpath, writable};
use crate::support::{scratch, snapshot, write};
use std::sync::Arc;

struct DiskFixture {
    scratch: TempDir,
    mounts: Mounts,
    recorder: Arc<Recorder>,
}

impl DiskFixture {
    fn new(fault: Fault) -> Self {
        let scratch = scratch();
        for mount in ["project", "package", "state"] {
            write(scratch.path(), &format!("{mount}/old.md"), "old\n");
        }
        let recorder = Recorder::new(fault);
        let root = |name: &str| scratch.path().join(name);
        let roots =
            Roots { project: root("project"), package: root("package"), state: root("state") };
        // The mounts are opened before the fault counts.
        let mounts =
            Mounts::open_with(&roots, recorder.disk()).unwrap_or_else(|error| panic!("{error}"));
        Self { scratch, mounts, recorder }
    }

    /// Returns the operations after the opening of the mounts.
    fn log(&self) -> Vec<String> {
        self.recorder.log()[3..].to_vec()
    }
}

fn replace(fixture: &DiskFixture, path: &str, text: &str) -> Result<(), MountError> {
    let done = fixture.mounts.replace(&writable(path), text.as_bytes(), Before::Anything)?;
    done.unwrap();
    Ok(())
}

#[test]
fn the_operations_of_a_write_are_told_in_order() {
    let fixture = DiskFixture::new(Fault::Never);
    replace(&fixture, "@project/new/deep/a.md", "hello").unwrap();
    let log = fixture.log();
    let temp = log.iter().find_map(|line| line.strip_prefix("create @project/new/deep/")).unwrap();
    assert!(temp.starts_with(".crewagent-") && temp.ends_with("-0.tmp"), "{temp}");
    let log: Vec<String> = log.iter().map(|line| line.replace(temp, "TEMP")).collect();
    assert_eq!(
        log,
        [
            "look @project/new",
            "look @project/HEAD",
            "create-folder @project/new",
            "sync-folder @project",
            "open @project/new",
            "create-folder @project/new/deep",
            "sync-folder @project/new",
            "open @project/new/deep",
            "create @project/new/deep/TEMP",
            "lock @project/new/deep/TEMP",
            "look @project/new/deep/TEMP",
            "write 5 @project/new/deep/TEMP",
            "sync-file @project/new/deep/TEMP",
            "rename @project/new/deep/TEMP -> @project/new/deep/a.md",
            "sync-folder @project/new/deep",
        ]
    );
}

#[test]
fn the_operations_of_a_replacement_and_a_read_are_told() {
    let fixture = DiskFixture::new(Fault::Never);
    replace(&fixture, "@state/old.md", "new").unwrap();
    let read = fixture.mounts.read(&vpath("@state/old.md"), 100).unwrap().unwrap();
    assert_eq!(read.bytes, b"new");
    fixture.mounts.stat(&vpath("@state/old.md")).unwrap().unwrap();
    fixture.mounts.list(&vpath("@state"), 1, 10).unwrap().unwrap();
    let log = fixture.log();
    let tail = &log[log.len() - 7..];
    assert!(tail[0].starts_with("rename @state/.crewagent-"), "{log:#?}");
    assert_eq!(
        tail[1..],
        [
            "sync-folder @state",
            "open @state/old.md",
            "read @state/old.md",
            "look @state/old.md",
            "look @state",
            "list @state"
        ]
    );
    assert!(log.iter().any(|line| line.starts_with("rights @state/.crewagent-")), "{log:#?}");
}

#[test]
fn no_operation_tells_a_real_path() {
    let fixture = DiskFixture::new(Fault::Never);
    fs::create_dir(fixture.scratch.path().join("project/inner")).unwrap();
    #[cfg(unix)]
    std::os::unix::fs::symlink("inner", fixture.scratch.path().join("project/link")).unwrap();
    #[cfg(unix)]
    replace(&fixture, "@project/link/a.md", "x").unwrap();
    replace(&fixture, "@project/inner/b.md", "x").unwrap();
    fixture.mounts.list(&vpath("@project"), 4, 100).unwrap().unwrap();
    let real = fixture.scratch.path().to_str().unwrap();
    for line in fixture.recorder.log() {
        assert!(!line.contains(real), "{line}");
        assert!(line.split_once('@').is_some(), "{line}");
    }
    #[cfg(unix)]
    assert!(fixture.log().iter().any(|line| line.ends_with("-> @project/inner/a.md")));
}

/// Returns everything in the project except temporary files and folders.
fn settled(fixture: &DiskFixture) -> Vec<(std::path::PathBuf, Vec<u8>)> {
    snapshot(&fixture.scratch.path().join("project"))
        .into_iter()
        .map(|(path, _, bytes)| (path, bytes))
        .filter(|(path, _)| !path.to_string_lossy().contains(".crewagent-"))
        .filter(|(path, _)| path.is_file())
        .collect()
}

#[test]
fn a_write_that_fails_or_dies_anywhere_leaves_the_old_bytes_or_the_new() {
    let whole = DiskFixture::new(Fault::Never);
    let before = settled(&whole);
    replace(&whole, "@project/old.md", "new\n").unwrap();
    let (count, after) = (whole.recorder.count(), settled(&whole));
    let text = |files: &[(std::path::PathBuf, Vec<u8>)]| -> Vec<Vec<u8>> {
        files.iter().map(|(_, bytes)| bytes.clone()).collect()
    };
    for at in 3..count {
        for fault in [
            Fault::Once(at, 5),
            Fault::Once(at, 24),
            Fault::Always(at, 28),
            Fault::Short(at, 2),
            Fault::Crash(at),
            Fault::Torn(at),
        ] {
            let fixture = DiskFixture::new(fault);
            let done = replace(&fixture, "@project/old.md", "new\n");
            assert!(fixture.recorder.fired() > 0, "{fault:?}");
            let now = text(&settled(&fixture));
            let (old, new) = (now == text(&before), now == text(&after));
            assert!(old || new, "{fault:?}: {now:?}");
            assert!(done.is_err() || new, "{fault:?}: it said that it was done");
            if let Err(error) = &done {
                assert!(!error.to_string().contains("/project/"), "{error}");
            }
            if let Fault::Crash(_) | Fault::Torn(_) = fault {
                assert!(done.is_err(), "{fault:?}: a dead process said something");
            }
            // The next process repeats the change and removes what was left.
            let roots = |name: &str| fixture.scratch.path().join(name);
            let roots = Roots {
                project: roots("project"),
                package: roots("package"),
                state: roots("state"),
            };
            let mounts = Mounts::open(&roots).unwrap();
            mounts
                .replace(&writable("@project/old.md"), b"new\n", Before::Anything)
                .unwrap()
                .unwrap();
            let names: Vec<_> = fs::read_dir(roots.project)
                .unwrap()
                .map(|entry| entry.unwrap().file_name())
                .collect();
            assert_eq!(names, ["old.md"], "{fault:?}");
        }
    }
}

#[test]
fn a_failed_read_is_an_error_of_the_disk() {
    let path: VPath = vpath("@project/old.md");
    for (at, errno) in [(3, 5), (4, 5), (3, 24)] {
        let fixture = DiskFixture::new(Fault::Once(at, errno));
        let error = fixture.mounts.read(&path, 10).unwrap_err();
        assert!(error.to_string().starts_with("cannot read `@project/old.md`: "), "{error}");
        assert_eq!(fixture.recorder.fired(), 1);
        assert!(fixture.mounts.read(&path, 10).unwrap().is_ok());
    }
}
