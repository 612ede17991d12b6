//! Writing: atomic, checked, and without litter after a failure.

use std::fs;

use crewagent_core::refusal::RefusalCode;
use crewagent_core::vpath::VPath;
use crewagent_engine::disk::DiskErrorKind;
use crewagent_engine::mounts::Before;
use crewagent_format::integrity::Digest;
use serde_json::json;

use super::fixture::{MountsFixture, check_code, vpath, writable};
use crate::support::{snapshot, write};

#[test]
fn a_write_replaces_the_whole_file_and_makes_folders() {
    let fixture = MountsFixture::new();
    for (path, content) in [
        ("@project/new.txt", "one"),
        ("@project/new.txt", ""),
        ("@project/a/b/c/new.txt", "two"),
        ("@project/artifacts/名前/é.md", "three"),
        ("@state/workflow.md", "four"),
        ("@state/notes/x.md", "five"),
    ] {
        fixture.replace(path, content).unwrap().unwrap();
        assert_eq!(
            fixture.mounts.read(&vpath(path), 99).unwrap().unwrap().bytes,
            content.as_bytes()
        );
    }
    assert!(!has_litter(&fixture));
}

#[test]
fn no_writes_make_a_repository_and_none_goes_into_one() {
    let make = |names: &[&str], last: &str| {
        let fixture = MountsFixture::new();
        for name in names {
            fixture.replace(name, "x").unwrap().unwrap();
        }
        let refusal = check_code(fixture.replace(last, "x"), RefusalCode::Sandbox);
        assert!(refusal.message.contains("part of a git repository"), "{}", refusal.message);
        assert!(!fixture.project().join(last.trim_start_matches("@project/")).exists());
    };
    let (head, objects) = ("@project/docs/HEAD", "@project/docs/objects/.keep");
    let (refs, config) = ("@project/docs/refs/.keep", "@project/docs/config");
    make(&[head, config, objects], refs);
    make(&[head, config, refs], objects);
    make(&[objects, config, refs], head);
    make(&[config, "@project/docs/commondir"], head);
    make(&["@project/objects/a", "@project/refs/a"], "@project/HEAD");
    let fixture = MountsFixture::new();
    for name in ["HEAD", "objects/x", "refs/x", "config"] {
        write(&fixture.project(), &format!("fixtures/bare.git/{name}"), "x");
    }
    for name in ["config", "hooks/pre-commit", "refs/heads/main"] {
        let path = format!("@project/fixtures/bare.git/{name}");
        check_code(fixture.replace(&path, "y"), RefusalCode::Sandbox);
    }
    fixture.replace("@project/fixtures/config", "y").unwrap().unwrap();
    fixture.replace("@project/fixtures/objects/a", "y").unwrap().unwrap();
}

/// Returns true if a temp file is left anywhere.
pub(super) fn has_litter(fixture: &MountsFixture) -> bool {
    snapshot(fixture.scratch.path())
        .iter()
        .any(|(path, ..)| path.to_string_lossy().contains(".tmp"))
}

#[test]
fn the_expected_digest_is_compared_first() {
    let fixture = MountsFixture::new();
    let path = writable("@project/inside.txt");
    let (old, other) = (Digest::of(b"inside\n"), Digest::of(b"other"));
    let refused = fixture.mounts.replace(&path, b"new", Before::Sha256(other));
    let refusal = check_code(refused, RefusalCode::Precondition);
    assert_eq!(refusal.details.get("actualSha256"), Some(&json!(old.to_string())));
    assert_eq!(fixture.mounts.read(path.path(), 99).unwrap().unwrap().bytes, b"inside\n");
    fixture.mounts.replace(&path, b"new", Before::Sha256(old)).unwrap().unwrap();
    assert_eq!(fixture.mounts.read(path.path(), 99).unwrap().unwrap().bytes, b"new");
    // A missing file has no digest, and its folders are not created in vain.
    let missing = writable("@project/not/yet/there.txt");
    check_code(
        fixture.mounts.replace(&missing, b"x", Before::Sha256(old)),
        RefusalCode::Precondition,
    );
    assert!(!fixture.project().join("not").exists());
}

#[test]
fn creating_does_not_overwrite() {
    let fixture = MountsFixture::new();
    let path = writable("@project/d/new.txt");
    fixture.mounts.replace(&path, b"first", Before::Nothing).unwrap().unwrap();
    check_code(
        fixture.mounts.replace(&path, b"second", Before::Nothing),
        RefusalCode::Precondition,
    );
    assert_eq!(fixture.mounts.read(path.path(), 99).unwrap().unwrap().bytes, b"first");
}

#[test]
fn only_one_of_many_creates() {
    let fixture = MountsFixture::new();
    let created = std::thread::scope(|scope| {
        let create = |index: usize| {
            let (mounts, path) = (&fixture.mounts, writable("@project/x/one.txt"));
            let content = index.to_string();
            scope.spawn(move || {
                mounts.replace(&path, content.as_bytes(), Before::Nothing).unwrap().is_ok()
            })
        };
        let threads: Vec<_> = (0..8).map(create).collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).filter(|created| *created).count()
    });
    assert_eq!(created, 1);
    assert!(!has_litter(&fixture));
}

#[test]
fn appending_is_one_replacement() {
    let fixture = MountsFixture::new();
    let path = writable("@project/log.txt");
    let append = |bytes: &[u8], before, limit| fixture.mounts.append(&path, bytes, before, limit);
    append(b"one\n", Before::Anything, 100).unwrap().unwrap();
    append(b"two\n", Before::Anything, 8).unwrap().unwrap();
    check_code(append(b"x", Before::Anything, 8), RefusalCode::WriteLimit);
    check_code(append(b"123456789", Before::Anything, 8), RefusalCode::WriteLimit);
    check_code(append(b"x", Before::Nothing, 100), RefusalCode::Precondition);
    check_code(append(b"x", Before::Sha256(Digest::of(b"")), 100), RefusalCode::Precondition);
    append(b"3", Before::Sha256(Digest::of(b"one\ntwo\n")), 100).unwrap().unwrap();
    assert_eq!(fixture.mounts.read(path.path(), 99).unwrap().unwrap().bytes, b"one\ntwo\n3");
}

fn check_refused(fixture: &MountsFixture, path: &str, code: RefusalCode) {
    let path = writable(path);
    for before in [Before::Anything, Before::Nothing, Before::Sha256(Digest::of(b""))] {
        check_code(fixture.mounts.replace(&path, b"x", before), code);
    }
    check_code(fixture.mounts.append(&path, b"x", Before::Anything, 99), code);
}

#[test]
fn what_is_no_file_is_not_replaced() {
    let fixture = MountsFixture::new();
    let before = snapshot(fixture.scratch.path());
    check_refused(&fixture, "@project/sub", RefusalCode::InvalidArguments);
    check_refused(&fixture, "@project/inside.txt/x", RefusalCode::InvalidArguments);
    check_refused(&fixture, "@project/inside.txt/x/y/z", RefusalCode::InvalidArguments);
    let deep = format!("@project/{}f", "d/".repeat(64));
    check_refused(&fixture, &deep, RefusalCode::InvalidArguments);
    assert_eq!(snapshot(fixture.scratch.path()), before);
}

#[test]
fn the_folder_of_git_is_read_but_not_written() {
    let fixture = MountsFixture::new();
    write(&fixture.project(), ".git/hooks/pre-commit", "#!/bin/sh\n");
    let before = snapshot(fixture.scratch.path());
    for path in [
        "@project/.git",
        "@project/.git/config",
        "@project/.git/hooks/pre-commit",
        "@project/.GIT/config",
        "@project/sub/.git/config",
        "@project/git~1/config",
    ] {
        check_refused(&fixture, path, RefusalCode::Sandbox);
    }
    assert_eq!(snapshot(fixture.scratch.path()), before);
    assert!(fixture.mounts.read(&vpath("@project/.git/hooks/pre-commit"), 99).unwrap().is_ok());
    fixture.replace("@project/.gitignore", "x").unwrap().unwrap();
    fixture.replace("@project/.github/x.yml", "x").unwrap().unwrap();
}

#[test]
fn a_file_marked_as_read_only_stays() {
    let fixture = MountsFixture::new();
    let real = fixture.project().join("inside.txt");
    let mut permissions = fs::metadata(&real).unwrap().permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&real, permissions).unwrap();
    let error = fixture.replace("@project/inside.txt", "x").unwrap_err();
    assert_eq!(error.kind, DiskErrorKind::Denied);
    assert_eq!(error.to_string(), "cannot write `@project/inside.txt`: it is marked as read-only");
    assert_eq!(fs::read(&real).unwrap(), b"inside\n");
}

#[cfg(unix)]
#[test]
fn mode_and_owner_are_kept() {
    use std::os::unix::fs::{MetadataExt, PermissionsExt};
    let fixture = MountsFixture::new();
    let real = write(&fixture.project(), "run.sh", "old");
    for (mode, expected) in
        [(0o755, 0o755), (0o600, 0o600), (0o666, 0o666), (0o6755, 0o755), (0o620, 0o620)]
    {
        fs::set_permissions(&real, fs::Permissions::from_mode(mode)).unwrap();
        // Only root can give files away.
        let _ = std::os::unix::fs::chown(&real, Some(1234), Some(4321));
        let old = fs::metadata(&real).unwrap();
        fixture.replace("@project/run.sh", "new").unwrap().unwrap();
        let new = fs::metadata(&real).unwrap();
        assert_eq!(new.mode() & 0o7777, expected, "{mode:o}");
        assert_eq!((new.uid(), new.gid()), (old.uid(), old.gid()));
        assert_ne!(new.ino(), old.ino(), "it was written in place");
    }
    let fresh = write(&fixture.project(), "fresh", "x");
    fixture.replace("@project/other", "x").unwrap().unwrap();
    let mode = |path| fs::metadata(path).unwrap().mode();
    assert_eq!(
        mode(fixture.project().join("other")),
        mode(fresh),
        "a new file is as the user's mask says"
    );
}

#[test]
fn what_a_crash_left_is_cleared_by_the_next_write() {
    let fixture = MountsFixture::new();
    let name = format!(".crewagent-{}-0.tmp", Digest::of(b"new.txt").short());
    let left = write(&fixture.project(), &name, "half a fi");
    fixture.replace("@project/new.txt", "whole").unwrap().unwrap();
    assert!(!left.exists());
    // A temp file that another writer has locked belongs to that writer.
    let busy = fs::File::create(&left).unwrap();
    busy.lock().unwrap();
    fixture.replace("@project/new.txt", "again").unwrap().unwrap();
    assert!(left.exists());
    assert_eq!(fs::read(fixture.project().join("new.txt")).unwrap(), b"again");
}

#[test]
fn many_writers_of_one_file_leave_one_whole_content() {
    let fixture = MountsFixture::new();
    let path = VPath::parse("@project/shared.txt").unwrap();
    let contents: Vec<String> =
        (0..8).map(|index| index.to_string().repeat(10_000 + index)).collect();
    std::thread::scope(|scope| {
        for content in &contents {
            let fixture = &fixture;
            scope.spawn(move || {
                for _ in 0..25 {
                    fixture.replace("@project/shared.txt", content).unwrap().unwrap();
                }
            });
        }
        let (fixture, path, contents) = (&fixture, &path, &contents);
        scope.spawn(move || {
            for _ in 0..2_000 {
                if let Ok(read) = fixture.mounts.read(path, 1 << 20).unwrap() {
                    let text = String::from_utf8(read.bytes).unwrap();
                    assert!(contents.contains(&text), "a torn file of {} bytes", text.len());
                }
            }
        });
    });
    let last = fs::read_to_string(fixture.project().join("shared.txt")).unwrap();
    assert!(contents.contains(&last));
    assert!(!has_litter(&fixture));
}
