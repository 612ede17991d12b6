//! Effects of failures and power cuts: the order of flushes, full and read-only disks.
//!
//! The conditions are set up for a child process, which runs one of the tests of this file again.
#![cfg(target_os = "linux")]

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crewagent_core::refusal::RefusalCode;
use crewagent_engine::disk::DiskErrorKind;
use crewagent_engine::mounts::{Before, Mounts, Roots};

use super::fixture::{MountsFixture, check_code, writable};

/// Names the folder that a child works in.
const FOLDER: &str = "CREWAGENT_TEST_FOLDER";

/// Returns the folder of a child; `None` in the parent.
fn child_folder(test: &str) -> Option<PathBuf> {
    let (name, folder) = std::env::var(FOLDER)
        .ok()?
        .split_once('=')
        .map(|(a, b)| (a.to_owned(), PathBuf::from(b)))?;
    (name == test).then_some(folder)
}

/// Runs a test in a child, started by another command.
fn child(command: &[&str], test: &str, folder: &Path) -> Option<Output> {
    let name = format!("mounts::durable::{test}");
    Command::new(command[0])
        .args(&command[1..])
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", &name, "--nocapture", "--test-threads=1"])
        .env(FOLDER, format!("{test}={}", folder.display()))
        .output()
        .ok()
}

fn mounts(folder: &Path) -> Mounts {
    Mounts::open(&Roots { project: folder.into(), package: folder.into(), state: folder.into() })
        .unwrap()
}

fn check_child(output: &Output, marker: &str) {
    let text = format!(
        "{}{}",
        String::from_utf8_lossy(&output.stdout),
        String::from_utf8_lossy(&output.stderr)
    );
    assert!(output.status.success(), "{text}");
    assert!(text.contains(marker), "the child did nothing: {text}");
}

#[test]
fn a_write_is_flushed_before_and_after_its_rename() {
    const TEST: &str = "a_write_is_flushed_before_and_after_its_rename";
    if let Some(folder) = child_folder(TEST) {
        mounts(&folder)
            .replace(&writable("@project/new/file.txt"), b"durable bytes", Before::Anything)
            .unwrap()
            .unwrap();
        return;
    }
    let fixture = MountsFixture::new();
    let log = fixture.scratch.path().join("strace");
    let calls = "trace=openat,openat2,mkdirat,write,fsync,rename,renameat,renameat2";
    let command = ["strace", "-f", "-qq", "-s", "200", "-e", calls, "-o", log.to_str().unwrap()];
    let traced = child(&command, TEST, &fixture.project());
    let Some(traced) = traced.filter(|_| log.metadata().is_ok_and(|log| log.len() > 0)) else {
        println!("`strace` cannot be used here: the order of flushes is not checked");
        return;
    };
    assert!(traced.status.success(), "{}", String::from_utf8_lossy(&traced.stderr));
    let log = fs::read_to_string(log).unwrap();
    let lines: Vec<&str> = log.lines().collect();
    let find = |from: usize, what: &str| {
        let found = lines[from..].iter().position(|line| line.contains(what));
        from + found.unwrap_or_else(|| panic!("no `{what}` after line {from} of\n{log}"))
    };
    let descriptor = |line: usize| lines[line].rsplit("= ").next().unwrap().trim().to_owned();
    let made = find(0, "mkdirat(");
    let parent = find(made, "\".\", ");
    let parent_flush = find(parent, &format!("fsync({})", descriptor(parent)));
    let temp = find(parent_flush, ".tmp\", ");
    assert!(lines[temp..=find(temp, "O_EXCL")].len() <= 3, "{log}");
    let temp = find(temp, "O_EXCL");
    let written = find(temp, "durable bytes");
    let flushed = find(written, &format!("fsync({})", descriptor(temp)));
    let renamed = find(flushed, "\"file.txt\"");
    assert!(lines[renamed].contains("rename") && lines[renamed].contains(".tmp"), "{log}");
    let folder = find(renamed, "\".\", ");
    find(folder, &format!("fsync({})", descriptor(folder)));
}

#[test]
fn a_full_disk_keeps_the_old_bytes() {
    const TEST: &str = "a_full_disk_keeps_the_old_bytes";
    if let Some(folder) = child_folder(TEST) {
        let mounts = mounts(&folder);
        let path = writable("@project/file.txt");
        mounts.replace(&path, &[b'a'; 10_000], Before::Anything).unwrap().unwrap();
        for place in ["@project/file.txt", "@project/other.txt", "@project/new/folder/file.txt"] {
            let error = mounts
                .replace(&writable(place), &vec![b'b'; 1 << 20], Before::Anything)
                .unwrap_err();
            assert_eq!(error.kind, DiskErrorKind::Full, "{error}");
            assert!(!error.to_string().contains(folder.to_str().unwrap()), "{error}");
        }
        assert_eq!(mounts.read(path.path(), 20_000).unwrap().unwrap().bytes, [b'a'; 10_000]);
        let names: Vec<_> =
            fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        assert_eq!(names, ["file.txt"], "something was left behind");
        mounts.replace(&path, b"fits", Before::Anything).unwrap().unwrap();
        println!("the disk was full");
        return;
    }
    check_mounted("mount -t tmpfs -o size=256k tmpfs", TEST, "the disk was full");
}

#[test]
fn a_read_only_disk_is_a_typed_error() {
    const TEST: &str = "a_read_only_disk_is_a_typed_error";
    if let Some(folder) = child_folder(TEST) {
        let mounts = mounts(&folder);
        for place in ["@project/file.txt", "@project/new/file.txt"] {
            let error = mounts.replace(&writable(place), b"x", Before::Anything).unwrap_err();
            assert_eq!(error.kind, DiskErrorKind::ReadOnly, "{error}");
        }
        println!("the disk was read-only");
        return;
    }
    check_mounted("mount -t tmpfs -o ro tmpfs", TEST, "the disk was read-only");
}

/// Runs a test on a file system of its own, if this user may mount one.
fn check_mounted(mount: &str, test: &str, marker: &str) {
    let fixture = MountsFixture::new();
    let folder = fixture.scratch.path().join("disk");
    fs::create_dir(&folder).unwrap();
    let script = format!("{mount} \"$1\" || exit 0; shift; exec \"$@\"");
    let command = ["unshare", "-rm", "sh", "-c", &script, "sh", folder.to_str().unwrap()];
    let disk_hook = Command::new("unshare")
        .args(["-rm", "sh", "-c", &format!("{mount} \"$1\""), "sh"])
        .arg(&folder)
        .output();
    if !disk_hook.is_ok_and(|disk_hook| disk_hook.status.success()) {
        // This user may not mount, so there is no disk to be full or read-only.
        return;
    }
    check_child(&child(&command, test, &folder).unwrap(), marker);
}

#[test]
fn a_folder_without_rights_is_a_typed_error() {
    const TEST: &str = "a_folder_without_rights_is_a_typed_error";
    use std::os::unix::fs::PermissionsExt;
    if let Some(folder) = child_folder(TEST) {
        let mounts = mounts(&folder);
        for place in
            ["@project/closed/file.txt", "@project/closed/new/file.txt", "@project/shut/file.txt"]
        {
            let error = mounts.replace(&writable(place), b"x", Before::Anything).unwrap_err();
            assert_eq!(error.kind, DiskErrorKind::Denied, "{error}");
        }
        let error = mounts.read(writable("@project/unreadable.txt").path(), 10).unwrap_err();
        assert_eq!(error.kind, DiskErrorKind::Denied, "{error}");
        assert_eq!(
            error.to_string(),
            "cannot read `@project/unreadable.txt`: Permission denied (os error 13)"
        );
        check_code(mounts.read(writable("@project/none").path(), 10), RefusalCode::NotFound);
        println!("rights were missing");
        return;
    }
    let fixture = MountsFixture::new();
    let folder = fixture.scratch.path().join("rights");
    for (name, mode) in [("closed", 0o555), ("shut", 0o000)] {
        fs::create_dir_all(folder.join(name)).unwrap();
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(mode)).unwrap();
    }
    fs::write(folder.join("unreadable.txt"), "x").unwrap();
    fs::set_permissions(folder.join("unreadable.txt"), fs::Permissions::from_mode(0o200)).unwrap();
    fs::set_permissions(fixture.scratch.path(), fs::Permissions::from_mode(0o755)).unwrap();
    let is_root = fs::write(folder.join("closed/probe"), "x").is_ok();
    let nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env"];
    let command: &[&str] = if is_root { &nobody } else { &["env"] };
    // The user `nobody` may not even see the binary or the folder.
    let seen = Command::new(command[0])
        .args(&command[1..])
        .arg("ls")
        .arg(&folder)
        .arg(std::env::current_exe().unwrap())
        .output();
    if seen.is_ok_and(|seen| seen.status.success()) {
        let _ = fs::remove_file(folder.join("closed/probe"));
        check_child(&child(command, TEST, &folder).unwrap(), "rights were missing");
    } else {
        println!("no other user can be used here: rights are not checked");
    }
    // Any user can remove the folder now.
    for name in ["closed", "shut"] {
        fs::set_permissions(folder.join(name), fs::Permissions::from_mode(0o755)).unwrap();
    }
}
