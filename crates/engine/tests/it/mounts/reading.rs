//! Reading, looking, and refusals for missing files.

use std::fs::{self, File};

use crewagent_core::frame_id::FrameId;
use crewagent_core::refusal::RefusalCode;
use crewagent_core::vpath::{VPath, WritablePath};
use crewagent_engine::cancel::Deadline;
use crewagent_engine::disk::DiskErrorKind;
use crewagent_engine::mounts::{Before, EntryKind, Mounts, Roots};
use crewagent_engine::tools::search::{Search, search};
use crewagent_format::integrity::Digest;

use super::fixture::{MountsFixture, check_code, vpath};
use crate::support::write;

#[test]
fn a_file_is_read_up_to_the_limit_and_measured_whole() {
    let fixture = MountsFixture::new();
    let content: Vec<u8> = (0..300_000_u32).map(|index| (index % 251) as u8).collect();
    write(&fixture.project(), "big.bin", &content);
    let path = vpath("@project/big.bin");
    for limit in [0, 1, 128 * 1024, 299_999, 300_000, 400_000] {
        let read = fixture.mounts.read(&path, limit).unwrap().unwrap();
        assert_eq!(read.bytes, content[..limit.min(content.len())]);
        assert_eq!((read.size, read.sha256), (300_000, Digest::of(&content)));
        assert_eq!(read.is_whole(), limit >= 300_000);
    }
    let mut pieces = Vec::new();
    let measured =
        fixture.mounts.stream(&path, |piece| pieces.extend_from_slice(piece)).unwrap().unwrap();
    assert_eq!((measured.size, measured.sha256), (300_000, Digest::of(&pieces)));
    assert_eq!(pieces, content);
}

#[test]
fn every_mount_is_readable() {
    let fixture = MountsFixture::new();
    for (path, content) in [
        ("@project/inside.txt", "inside\n"),
        ("@pkg/step.md", "step\n"),
        ("@state/workflow.md", "state\n"),
        ("@state/logs/execution.jsonl", "{}\n"),
    ] {
        assert_eq!(
            fixture.mounts.read(&vpath(path), 100).unwrap().unwrap().bytes,
            content.as_bytes()
        );
        assert_eq!(fixture.mounts.stat(&vpath(path)).unwrap().unwrap().kind, EntryKind::File);
    }
    write(&fixture.project(), ".git/config", "[core]\n");
    assert!(fixture.mounts.read(&vpath("@project/.git/config"), 9).unwrap().is_ok());
}

fn check_missing(fixture: &MountsFixture, path: &str, hint: &str) {
    let refusal = check_code(fixture.mounts.read(&vpath(path), 10), RefusalCode::NotFound);
    assert_eq!(refusal.message, format!("There is no `{path}`."));
    assert_eq!(refusal.hint.as_deref(), Some(hint), "{path}");
    assert_eq!(fixture.mounts.exists(&vpath(path)).unwrap(), Ok(false));
}

#[test]
fn what_is_missing_is_told_with_what_is_there() {
    let fixture = MountsFixture::new();
    write(&fixture.project(), "docs/Architecture.md", "x");
    write(&fixture.project(), "docs/notes/one.md", "x");
    check_missing(
        &fixture,
        "@project/docs/architecture.md",
        "Did you mean `@project/docs/Architecture.md`?",
    );
    check_missing(
        &fixture,
        "@project/docs/architectur.md",
        "Did you mean `@project/docs/Architecture.md`?",
    );
    check_missing(&fixture, "@project/doc/notes/one.md", "Did you mean `@project/docs`?");
    let nearest = |folder: &str| {
        format!("The nearest folder that exists is `{folder}`; list it to see what is there.")
    };
    check_missing(&fixture, "@project/docs/zzz/q.md", &nearest("@project/docs"));
    check_missing(&fixture, "@pkg/nothing-like-it", &nearest("@pkg"));
    check_missing(&fixture, "@project/inside.txt/x", "Did you mean `@project/inside.txt`?");
    let long = format!("@project/docs/{}", "q".repeat(255));
    check_missing(&fixture, &long, &nearest("@project/docs"));
}

#[test]
fn a_folder_is_no_file() {
    let fixture = MountsFixture::new();
    for path in ["@project", "@project/sub", "@state"] {
        check_code(fixture.mounts.read(&vpath(path), 10), RefusalCode::InvalidArguments);
        assert_eq!(fixture.mounts.stat(&vpath(path)).unwrap().unwrap().kind, EntryKind::Folder);
    }
}

#[test]
fn a_file_too_large_to_measure_is_refused_at_once() {
    let fixture = MountsFixture::new();
    File::create(fixture.project().join("huge")).unwrap().set_len(1 << 40).unwrap();
    check_code(fixture.mounts.read(&vpath("@project/huge"), 10), RefusalCode::ReadLimit);
    // A search treats it as a binary file.
    let found = fixture.search("x", "@project").unwrap().unwrap();
    assert_eq!((found.stats.files_scanned, found.stats.matches_found), (3, 0));
}

#[test]
fn a_mount_that_is_gone_is_a_failure_of_the_world() {
    let fixture = MountsFixture::new();
    fs::remove_dir_all(fixture.project()).unwrap();
    if cfg!(unix) {
        let error = fixture.mounts.read(&vpath("@project/inside.txt"), 10).unwrap_err();
        assert_eq!(error.kind, DiskErrorKind::Gone);
        assert_eq!(
            error.to_string(),
            "cannot read `@project/inside.txt`: the folder behind @project was removed"
        );
        assert_eq!(fixture.replace("@project/x", "x").unwrap_err().kind, DiskErrorKind::Gone);
    }
}

#[test]
fn a_moved_project_keeps_its_mount() {
    let fixture = MountsFixture::new();
    fs::rename(fixture.project(), fixture.scratch.path().join("moved")).unwrap();
    if cfg!(unix) {
        assert!(fixture.mounts.read(&vpath("@project/inside.txt"), 10).unwrap().is_ok());
        fixture.replace("@project/new.txt", "x").unwrap().unwrap();
        assert!(fixture.scratch.path().join("moved/new.txt").exists());
    }
}

#[test]
fn a_folder_that_cannot_be_mounted_is_told_to_the_user() {
    let fixture = MountsFixture::new();
    let root = fixture.scratch.path().to_owned();
    let error = Mounts::open(&Roots {
        project: root.join("project"),
        package: root.join("nowhere"),
        state: root.join("state"),
    })
    .unwrap_err();
    assert!(error.to_string().contains("nowhere` as @pkg: "), "{error}");
}

/// Checks with every tool that `@state/workflow.md` is the document of the active frame.
#[test]
fn the_state_document_is_that_of_the_active_call() {
    let fixture = MountsFixture::new();
    let state = fixture.scratch.path().join("state");
    write(&state, "workflow.md", "own\n");
    write(&state, "calls/2/workflow.md", "called\n");
    let path = VPath::state_document(None);
    let of_frame = fixture.mounts.of_frame(Some(FrameId::new(2)));
    let read = |mounts: &Mounts| mounts.read(&path, 100).unwrap().unwrap().bytes;
    assert_eq!((read(&fixture.mounts), read(&of_frame)), (b"own\n".to_vec(), b"called\n".to_vec()));
    assert_eq!(of_frame.stat(&path).unwrap().unwrap().size, 7);
    let call = VPath::state_document(Some(FrameId::new(2)));
    assert_eq!(of_frame.is_same_file(&path, &call).unwrap(), Ok(true));
    assert_eq!(fixture.mounts.is_same_file(&path, &call).unwrap(), Ok(false));
    let found = of_frame.target(&WritablePath::state_document(None), 100).unwrap().unwrap();
    assert_eq!((found.path, found.old.unwrap().bytes), (path.clone(), b"called\n".to_vec()));
    of_frame
        .replace(&WritablePath::new(path.clone()).unwrap(), b"new\n", Before::Anything)
        .unwrap()
        .unwrap();
    assert_eq!(fs::read(state.join("workflow.md")).unwrap(), b"own\n");
    assert_eq!(fs::read(state.join("calls/2/workflow.md")).unwrap(), b"new\n");
    let query = Search::new("new", vpath("@state"));
    let matches = search(&of_frame, &query, &Deadline::default()).unwrap().unwrap().matches;
    let paths: Vec<String> = matches.iter().map(|found| found.path.to_string()).collect();
    assert_eq!(paths, ["@state/workflow.md", "@state/calls/2/workflow.md"]);
    // A frame without a document does not fall back to the caller's.
    assert!(fixture.mounts.of_frame(Some(FrameId::new(7))).read(&path, 100).unwrap().is_err());
}
