//! `fs.list`: what it shows of a folder, in which order, and its limits.

use std::fs;

use crewagent_core::refusal::RefusalCode;
use crewagent_engine::tools::list::{List, list};
use crewagent_engine::tools::to_json;

use super::fixture::{MountsFixture, check_code, vpath};
use crate::support::write;

fn listed(fixture: &MountsFixture, path: &str, depth: usize) -> String {
    let result = list(&fixture.mounts, &List { path: vpath(path), depth }).unwrap();
    to_json(&result).unwrap().to_string()
}

#[test]
fn names_are_sorted_and_folders_end_in_a_slash() {
    let fixture = MountsFixture::new();
    write(&fixture.project(), "b/two.md", "x");
    write(&fixture.project(), "b/deep/three.md", "x");
    write(&fixture.project(), "B.md", "x");
    write(&fixture.project(), ".hidden/x", "x");
    fs::create_dir(fixture.project().join("empty")).unwrap();
    let expected = r#"{"ok":true,"path":"@project","entries":[".hidden/","B.md","b/","empty/","inside.txt","sub/"]}"#;
    assert_eq!(listed(&fixture, "@project", 1), expected);
    assert_eq!(listed(&fixture, "@project", 0), expected);
    let expected =
        r#"{"ok":true,"path":"@project/b","entries":["deep/","deep/three.md","two.md"]}"#;
    assert_eq!(listed(&fixture, "@project/b", 2), expected);
    assert_eq!(
        listed(&fixture, "@project/empty", 9),
        r#"{"ok":true,"path":"@project/empty","entries":[]}"#
    );
    assert_eq!(listed(&fixture, "@pkg", 1), r#"{"ok":true,"path":"@pkg","entries":["step.md"]}"#);
}

#[test]
fn past_200_names_there_is_a_preview() {
    let fixture = MountsFixture::new();
    for index in 0..200 {
        write(&fixture.project(), &format!("many/f{index:03}"), "x");
    }
    let whole = listed(&fixture, "@project/many", 1);
    assert!(
        whole.starts_with(r#"{"ok":true,"path":"@project/many","entries":["f000","f001","#),
        "{whole}"
    );
    assert_eq!(whole.matches("\"f").count(), 200);
    write(&fixture.project(), "many/e", "x");
    let preview = listed(&fixture, "@project/many", 1);
    assert!(
        preview.starts_with(r#"{"ok":true,"path":"@project/many","entriesPreview":["e","f000","#),
        "{preview}"
    );
    assert_eq!(preview.matches("\"f").count(), 199);
    let end = r#","truncated":true,"hint":"There are more. Use fs.search with globs to find what you need."}"#;
    assert!(preview.ends_with(end), "{preview}");
    // The names of a folder come before those of the next one.
    let deep = listed(&fixture, "@project", 2);
    assert!(deep.contains(r#""inside.txt","many/","many/e","many/f000""#), "{deep}");
    assert!(deep.contains("\"truncated\":true"));
}

#[test]
fn long_names_do_not_flood_the_answer() {
    let fixture = MountsFixture::new();
    for index in 0..190 {
        write(&fixture.project(), &format!("long/{index:03}{}", "x".repeat(250)), "x");
    }
    let preview = listed(&fixture, "@project/long", 1);
    assert!(preview.len() < 40_000 && preview.contains("entriesPreview"), "{}", preview.len());
}

#[test]
fn a_file_is_not_listed() {
    let fixture = MountsFixture::new();
    let request = |path| List { path: vpath(path), depth: 1 };
    let refused = list(&fixture.mounts, &request("@project/inside.txt"));
    check_code(refused, RefusalCode::InvalidArguments);
    check_code(list(&fixture.mounts, &request("@project/none")), RefusalCode::NotFound);
}

#[cfg(unix)]
#[test]
fn links_are_named_and_not_entered() {
    use std::os::unix::fs::symlink;
    let fixture = MountsFixture::new();
    symlink(fixture.outside(), fixture.project().join("out")).unwrap();
    symlink("sub", fixture.project().join("in")).unwrap();
    symlink("inside.txt", fixture.project().join("link.txt")).unwrap();
    symlink(".", fixture.project().join("loop")).unwrap();
    symlink("../in", fixture.project().join("sub/up")).unwrap();
    symlink("nowhere", fixture.project().join("dangling")).unwrap();
    let expected = concat!(
        r#"{"ok":true,"path":"@project","entries":["dangling","in/","inside.txt","link.txt","loop/","out","#,
        r#""sub/","sub/inside.txt","sub/up/"]}"#
    );
    assert_eq!(listed(&fixture, "@project", 5), expected);
    assert_eq!(
        listed(&fixture, "@project/in", 1),
        r#"{"ok":true,"path":"@project/in","entries":["inside.txt","up/"]}"#
    );
    let refused = list(&fixture.mounts, &List { path: vpath("@project/out"), depth: 1 });
    check_code(refused, RefusalCode::Sandbox);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_cannot_be_said_are_listed_lossily() {
    use std::os::unix::ffi::OsStrExt;
    let fixture = MountsFixture::new();
    let folder = fixture.project().join("odd");
    fs::create_dir(&folder).unwrap();
    for name in [&b"x\xff"[..], b"a\nb", "r\u{202e}txt".as_bytes(), b"con", b"c:d"] {
        fs::write(folder.join(std::ffi::OsStr::from_bytes(name)), "needle").unwrap();
    }
    let expected =
        r#"{"ok":true,"path":"@project/odd","entries":["a�b","c:d","con","r�txt","x�"]}"#;
    assert_eq!(listed(&fixture, "@project/odd", 1), expected);
    // None of them can be opened, so a search does not offer them either.
    assert!(fixture.search("needle", "@project").unwrap().unwrap().matches.is_empty());
    check_code(fixture.mounts.read(&vpath("@project/odd/x\u{fffd}"), 1), RefusalCode::NotFound);
}
