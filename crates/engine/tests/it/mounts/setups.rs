//! Hostile file systems: links of every kind, pipes, sockets, devices, hard links.

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;
use std::path::Path;
use std::process::Command;

use crewagent_core::refusal::RefusalCode::{
    self, InvalidArguments, NotFound, Precondition, Sandbox,
};
use crewagent_engine::mounts::Before;
use serde_json::json;

use super::fixture::{MountsFixture, SECRET, check_clean, check_code, vpath, writable};
use crate::support::write;
use crate::tools::fixture::refusal_code;

/// Expected result of one operation.
#[derive(Clone, Copy, Debug)]
enum Expect {
    Done,
    Refused(RefusalCode),
}

const HARD: Expect = Expect::Refused(Sandbox);
const MISSING: Expect = Expect::Refused(NotFound);

/// Prepares a project, puts a path through every operation, and checks that nothing outside was touched.
#[track_caller]
fn check_setup(prepare: impl FnOnce(&MountsFixture), path: &str, read: Expect, write: Expect) {
    let fixture = MountsFixture::new();
    prepare(&fixture);
    let before = fixture.around();
    let describe =
        |expected: Expect, refusal: Option<RefusalCode>, what: &str| match (expected, refusal) {
            (Expect::Done, None) => {}
            (Expect::Refused(expected), Some(code)) if code == expected => {}
            (expected, refusal) => {
                panic!("{what} {path}: {expected:?} was expected, not {refusal:?}")
            }
        };
    let result = fixture.mounts.read(&vpath(path), 1 << 20).unwrap();
    describe(read, result.err().map(|refusal| refusal.code), "read");
    let result =
        fixture.mounts.append(&writable(path), b"more", Before::Anything, 1 << 20).unwrap();
    describe(write, result.err().map(|refusal| refusal.code), "append");
    let result = fixture.mounts.replace(&writable(path), b"more", Before::Anything).unwrap();
    describe(write, result.err().map(|refusal| refusal.code), "replace");
    let by_tool = |name, arguments| refusal_code(&fixture.mounts, name, arguments);
    describe(read, by_tool("fs.read", json!({"path": path})), "fs.read");
    describe(write, by_tool("fs.write", json!({"path": path, "content": "x"})), "fs.write");
    let mut answers = fixture.attack(path);
    answers.extend(fixture.attack("@project"));
    check_clean(path, &answers);
    assert_eq!(fixture.around(), before, "{path}: something outside was changed");
}

fn link(target: impl AsRef<Path>, name: &str) -> impl FnOnce(&MountsFixture) {
    move |fixture| symlink(target, fixture.project().join(name)).unwrap()
}

/// Returns a setup that links to the place outside, whose path is known only at runtime.
fn link_out(target: &'static str, name: &'static str) -> impl FnOnce(&MountsFixture) {
    move |fixture| {
        symlink(fixture.scratch.path().join(target), fixture.project().join(name)).unwrap()
    }
}

#[test]
fn links_that_lead_out_are_refused() {
    check_setup(link_out("outside/secret.txt", "l"), "@project/l", HARD, HARD);
    check_setup(link("../outside/secret.txt", "l"), "@project/l", HARD, HARD);
    check_setup(link("../secret.txt", "sub/../l"), "@project/l", HARD, HARD);
    check_setup(link_out("outside", "d"), "@project/d/secret.txt", HARD, HARD);
    check_setup(link("../outside", "d"), "@project/d/secret.txt", HARD, HARD);
    check_setup(link("../outside", "d"), "@project/d/deep/secret.txt", HARD, HARD);
    check_setup(link("../project-evil", "d"), "@project/d/secret.txt", HARD, HARD);
    check_setup(link("..", "up"), "@project/up/outside/secret.txt", HARD, HARD);
    check_setup(link("../../outside/secret.txt", "sub/l"), "@project/sub/l", HARD, HARD);
    check_setup(link("sub/../../outside/secret.txt", "l"), "@project/l", HARD, HARD);
    check_setup(link("/etc/passwd", "l"), "@project/l", HARD, HARD);
    check_setup(link("/", "root"), "@project/root/etc/passwd", HARD, HARD);
}

#[test]
fn an_absolute_link_is_refused_even_when_it_leads_back() {
    check_setup(link_out("project/inside.txt", "l"), "@project/l", HARD, HARD);
    check_setup(link_out("project/sub", "d"), "@project/d/inside.txt", HARD, HARD);
    // A path out and in again counts as out.
    check_setup(link("../project/inside.txt", "l"), "@project/l", HARD, HARD);
}

#[test]
fn chains_of_links_are_followed_to_their_end() {
    let chain = |last: &'static str| {
        move |fixture: &MountsFixture| {
            symlink("b", fixture.project().join("a")).unwrap();
            symlink("sub/c", fixture.project().join("b")).unwrap();
            symlink(last, fixture.project().join("sub/c")).unwrap();
        }
    };
    check_setup(chain("../../outside/secret.txt"), "@project/a", HARD, HARD);
    check_setup(chain("../inside.txt"), "@project/a", Expect::Done, Expect::Done);
    let long = |fixture: &MountsFixture| {
        symlink("inside.txt", fixture.project().join("l0")).unwrap();
        for index in 0..50 {
            symlink(format!("l{index}"), fixture.project().join(format!("l{}", index + 1)))
                .unwrap();
        }
    };
    check_setup(long, "@project/l50", HARD, HARD);
}

#[test]
fn links_in_circles_are_refused() {
    check_setup(link("l", "l"), "@project/l", HARD, HARD);
    check_setup(link("l/l", "l"), "@project/l/x", HARD, HARD);
    let two = |fixture: &MountsFixture| {
        symlink("b", fixture.project().join("a")).unwrap();
        symlink("a", fixture.project().join("b")).unwrap();
    };
    check_setup(two, "@project/a", HARD, HARD);
    // A link to its own folder is no cycle as long as the path ends.
    let here = "@project/here/here/here/inside.txt";
    check_setup(link(".", "here"), here, Expect::Done, Expect::Done);
    check_setup(
        link(".", "here"),
        "@project/here",
        Expect::Refused(InvalidArguments),
        Expect::Refused(InvalidArguments),
    );
}

#[test]
fn nothing_is_created_through_a_dangling_link() {
    check_setup(link("nowhere", "l"), "@project/l", MISSING, HARD);
    check_setup(link("nowhere/deep", "l"), "@project/l/x", MISSING, HARD);
    check_setup(link("../outside/new.txt", "l"), "@project/l", HARD, HARD);
    check_setup(link_out("outside/new.txt", "l"), "@project/l", HARD, HARD);
    check_setup(link("../outside/new", "d"), "@project/d/x", HARD, HARD);
    check_setup(link("../new", "d"), "@project/d/x/y/z", HARD, HARD);
}

#[test]
fn links_of_the_kernel_are_refused() {
    check_setup(link("/proc/self/root", "r"), "@project/r/etc/passwd", HARD, HARD);
    check_setup(link("/proc/self/cwd", "c"), "@project/c/Cargo.toml", HARD, HARD);
    check_setup(link("/proc/self/exe", "e"), "@project/e", HARD, HARD);
    check_setup(link("/proc/self/fd/0", "f"), "@project/f", HARD, HARD);
    check_setup(link("/proc/self/environ", "v"), "@project/v", HARD, HARD);
    check_setup(link("/dev/stdin", "s"), "@project/s", HARD, HARD);
    check_setup(link("/dev/zero", "z"), "@project/z", HARD, HARD);
    // An open file of our own, outside.
    let open = |fixture: &MountsFixture| {
        use std::os::fd::AsRawFd;
        let file = fs::File::open(fixture.outside().join("secret.txt")).unwrap();
        symlink(format!("/proc/self/fd/{}", file.as_raw_fd()), fixture.project().join("f"))
            .unwrap();
        // It stays open until the process ends.
        std::mem::forget(file);
    };
    check_setup(open, "@project/f", HARD, HARD);
}

/// Checks a mount that lies in `/proc`, where links lead anywhere without saying so.
#[cfg(target_os = "linux")]
#[test]
fn a_mount_of_the_kernels_own_links_is_no_way_out() {
    use crewagent_engine::mounts::{Mounts, Roots};
    let fixture = MountsFixture::new();
    let state = fixture.scratch.path().join("state");
    let proc = Mounts::open(&Roots { project: "/proc/self".into(), package: state.clone(), state });
    let proc = proc.unwrap();
    for path in ["root/etc/passwd", "cwd/Cargo.toml", "exe", "fd/0", "root"] {
        check_code(proc.read(&vpath(&format!("@project/{path}")), 10), Sandbox);
        check_code(
            proc.replace(&writable(&format!("@project/{path}")), b"x", Before::Anything),
            Sandbox,
        );
    }
}

#[test]
fn pipes_sockets_and_devices_are_refused_without_waiting() {
    let pipe = |fixture: &MountsFixture| {
        let status = Command::new("mkfifo").arg(fixture.project().join("p")).status().unwrap();
        assert!(status.success());
    };
    check_setup(pipe, "@project/p", HARD, HARD);
    let linked = |fixture: &MountsFixture| {
        pipe(fixture);
        symlink("p", fixture.project().join("l")).unwrap();
    };
    check_setup(linked, "@project/l", HARD, HARD);
    check_setup(pipe, "@project/p/x", MISSING, Expect::Refused(InvalidArguments));
    let socket =
        |fixture: &MountsFixture| drop(UnixListener::bind(fixture.project().join("s")).unwrap());
    check_setup(socket, "@project/s", HARD, HARD);
    for (kind, major, minor) in [("c", "1", "5"), ("c", "1", "3"), ("c", "5", "0"), ("b", "7", "0")]
    {
        let name = std::cell::Cell::new(false);
        let device = |fixture: &MountsFixture| {
            let made = Command::new("mknod")
                .arg(fixture.project().join("dev"))
                .args([kind, major, minor])
                .output();
            name.set(made.is_ok_and(|made| made.status.success()));
            if !name.get() {
                // Only root can create a device; a pipe is the next best.
                pipe(fixture);
                fs::rename(fixture.project().join("p"), fixture.project().join("dev")).unwrap();
            }
        };
        check_setup(device, "@project/dev", HARD, HARD);
    }
}

#[test]
fn a_hard_link_is_not_replaced() {
    let fixture = MountsFixture::new();
    fs::hard_link(fixture.outside().join("secret.txt"), fixture.project().join("h")).unwrap();
    let before = fixture.around();
    for before in [Before::Anything, Before::Nothing] {
        let refusal =
            check_code(fixture.mounts.replace(&writable("@project/h"), b"x", before), Sandbox);
        assert!(refusal.message.contains("one of 2 names"), "{}", refusal.message);
    }
    check_code(fixture.mounts.append(&writable("@project/h"), b"x", Before::Anything, 99), Sandbox);
    assert_eq!(fixture.around(), before);
    // A hard link cannot be told from any other file when it is read; this is documented.
    let read = fixture.mounts.read(&vpath("@project/h"), 99).unwrap().unwrap();
    assert_eq!(read.bytes, SECRET.as_bytes());
}

#[test]
fn a_link_inside_the_mount_is_written_through() {
    let fixture = MountsFixture::new();
    symlink("../inside.txt", fixture.project().join("sub/l")).unwrap();
    symlink("sub", fixture.project().join("d")).unwrap();
    fixture.replace("@project/d/l", "through two").unwrap().unwrap();
    assert_eq!(fs::read(fixture.project().join("inside.txt")).unwrap(), b"through two");
    assert!(fs::symlink_metadata(fixture.project().join("sub/l")).unwrap().is_symlink());
    fixture.replace("@project/d/new/file.txt", "made").unwrap().unwrap();
    assert_eq!(fs::read(fixture.project().join("sub/new/file.txt")).unwrap(), b"made");
    check_code(
        fixture.mounts.replace(&writable("@project/d/l"), b"x", Before::Nothing),
        Precondition,
    );
}

#[test]
fn a_link_does_not_lend_rights() {
    let hooks = |fixture: &MountsFixture| {
        write(&fixture.project(), ".git/hooks/sample", "x");
        symlink(".git/hooks", fixture.project().join("hooks")).unwrap();
        symlink(".git/config", fixture.project().join("config")).unwrap();
        symlink(".git", fixture.project().join("sub/repo")).unwrap();
    };
    check_setup(hooks, "@project/hooks/sample", Expect::Done, HARD);
    check_setup(hooks, "@project/hooks/pre-commit", MISSING, HARD);
    check_setup(hooks, "@project/config", MISSING, HARD);
    let upwards = |fixture: &MountsFixture| {
        fs::create_dir_all(fixture.project().join(".git/hooks")).unwrap();
        symlink("../.git", fixture.project().join("sub/repo")).unwrap();
    };
    check_setup(upwards, "@project/sub/repo/hooks/pre-commit", MISSING, HARD);
    let logs = |fixture: &MountsFixture| {
        symlink("logs", fixture.scratch.path().join("state/l")).unwrap();
        symlink("../state/logs", fixture.project().join("l")).unwrap();
    };
    check_setup(logs, "@state/l/execution.jsonl", Expect::Done, HARD);
    check_setup(logs, "@project/l/execution.jsonl", HARD, HARD);
}

#[test]
fn a_link_in_the_place_of_the_temp_file_is_not_followed() {
    let fixture = MountsFixture::new();
    let stem = crewagent_format::integrity::Digest::of(b"new.txt").short();
    for writer in 0..3 {
        let name = format!(".crewagent-{stem}-{writer}.tmp");
        symlink("../outside/secret.txt", fixture.project().join(name)).unwrap();
    }
    let before = fixture.around();
    fixture.replace("@project/new.txt", "x").unwrap().unwrap();
    assert_eq!(fixture.around(), before);
    assert_eq!(fs::read(fixture.project().join("new.txt")).unwrap(), b"x");
}

#[test]
fn hostile_ignore_files_do_not_stop_a_search() {
    for target in ["/dev/zero", "/dev/stdin", "/dev/random", "../outside/secret.txt", ".gitignore"]
    {
        let fixture = MountsFixture::new();
        symlink(target, fixture.project().join(".gitignore")).unwrap();
        symlink(target, fixture.project().join(".ignore")).unwrap();
        let found = fixture.search("inside", "@project").unwrap().unwrap();
        assert_eq!(found.matches.len(), 2, "{target}");
    }
    let fixture = MountsFixture::new();
    for name in [".gitignore", ".ignore", "sub/.gitignore"] {
        assert!(
            Command::new("mkfifo").arg(fixture.project().join(name)).status().unwrap().success()
        );
    }
    assert_eq!(fixture.search("inside", "@project").unwrap().unwrap().matches.len(), 2);
    assert_eq!(fixture.search("inside", "@project/sub").unwrap().unwrap().matches.len(), 1);
}
