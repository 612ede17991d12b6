//! `fs.list`: what it shows of a folder, in which order, and its limits.

use std::fs;

use crewagent_core::refusal::RefusalCode;
use crewagent_engine::tools::list::{List, list};
use crewagent_engine::tools::to_json;

use super::world::{World, check_code, vpath};
use crate::support::write;

fn listed(world: &World, path: &str, depth: usize) -> String {
    let result = list(&world.mounts, &List { path: vpath(path), depth }).unwrap();
    to_json(&result).unwrap().to_string()
}

#[test]
fn names_are_sorted_and_folders_end_in_a_slash() {
    let world = World::new();
    write(&world.project(), "b/two.md", "x");
    write(&world.project(), "b/deep/three.md", "x");
    write(&world.project(), "B.md", "x");
    write(&world.project(), ".hidden/x", "x");
    fs::create_dir(world.project().join("empty")).unwrap();
    let expected = r#"{"ok":true,"path":"@project","entries":[".hidden/","B.md","b/","empty/","inside.txt","sub/"]}"#;
    assert_eq!(listed(&world, "@project", 1), expected);
    assert_eq!(listed(&world, "@project", 0), expected);
    let expected =
        r#"{"ok":true,"path":"@project/b","entries":["deep/","deep/three.md","two.md"]}"#;
    assert_eq!(listed(&world, "@project/b", 2), expected);
    assert_eq!(
        listed(&world, "@project/empty", 9),
        r#"{"ok":true,"path":"@project/empty","entries":[]}"#
    );
    assert_eq!(listed(&world, "@pkg", 1), r#"{"ok":true,"path":"@pkg","entries":["step.md"]}"#);
}

#[test]
fn past_200_names_there_is_a_preview() {
    let world = World::new();
    for index in 0..200 {
        write(&world.project(), &format!("many/f{index:03}"), "x");
    }
    let whole = listed(&world, "@project/many", 1);
    assert!(
        whole.starts_with(r#"{"ok":true,"path":"@project/many","entries":["f000","f001","#),
        "{whole}"
    );
    assert_eq!(whole.matches("\"f").count(), 200);
    write(&world.project(), "many/e", "x");
    let preview = listed(&world, "@project/many", 1);
    assert!(
        preview.starts_with(r#"{"ok":true,"path":"@project/many","entriesPreview":["e","f000","#),
        "{preview}"
    );
    assert_eq!(preview.matches("\"f").count(), 199);
    let end = r#","truncated":true,"hint":"There are more. Use fs.search with globs to find what you need."}"#;
    assert!(preview.ends_with(end), "{preview}");
    // The names of a folder come before those of the next one.
    let deep = listed(&world, "@project", 2);
    assert!(deep.contains(r#""inside.txt","many/","many/e","many/f000""#), "{deep}");
    assert!(deep.contains("\"truncated\":true"));
}

#[test]
fn long_names_do_not_flood_the_answer() {
    let world = World::new();
    for index in 0..190 {
        write(&world.project(), &format!("long/{index:03}{}", "x".repeat(250)), "x");
    }
    let preview = listed(&world, "@project/long", 1);
    assert!(preview.len() < 40_000 && preview.contains("entriesPreview"), "{}", preview.len());
}

#[test]
fn a_file_is_not_listed() {
    let world = World::new();
    let request = |path| List { path: vpath(path), depth: 1 };
    let refused = list(&world.mounts, &request("@project/inside.txt"));
    check_code(refused, RefusalCode::InvalidArguments);
    check_code(list(&world.mounts, &request("@project/none")), RefusalCode::NotFound);
}

#[cfg(unix)]
#[test]
fn links_are_named_and_not_entered() {
    use std::os::unix::fs::symlink;
    let world = World::new();
    symlink(world.outside(), world.project().join("out")).unwrap();
    symlink("sub", world.project().join("in")).unwrap();
    symlink("inside.txt", world.project().join("link.txt")).unwrap();
    symlink(".", world.project().join("loop")).unwrap();
    symlink("../in", world.project().join("sub/up")).unwrap();
    symlink("nowhere", world.project().join("dangling")).unwrap();
    let expected = concat!(
        r#"{"ok":true,"path":"@project","entries":["dangling","in/","inside.txt","link.txt","loop/","out","#,
        r#""sub/","sub/inside.txt","sub/up/"]}"#
    );
    assert_eq!(listed(&world, "@project", 5), expected);
    assert_eq!(
        listed(&world, "@project/in", 1),
        r#"{"ok":true,"path":"@project/in","entries":["inside.txt","up/"]}"#
    );
    let refused = list(&world.mounts, &List { path: vpath("@project/out"), depth: 1 });
    check_code(refused, RefusalCode::Sandbox);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_cannot_be_said_are_listed_lossily() {
    use std::os::unix::ffi::OsStrExt;
    let world = World::new();
    let folder = world.project().join("odd");
    fs::create_dir(&folder).unwrap();
    for name in [&b"x\xff"[..], b"a\nb", "r\u{202e}txt".as_bytes(), b"con", b"c:d"] {
        fs::write(folder.join(std::ffi::OsStr::from_bytes(name)), "needle").unwrap();
    }
    let expected =
        r#"{"ok":true,"path":"@project/odd","entries":["a�b","c:d","con","r�txt","x�"]}"#;
    assert_eq!(listed(&world, "@project/odd", 1), expected);
    // None of them can be opened, so a search does not offer them either.
    assert!(world.search("needle", "@project").unwrap().unwrap().matches.is_empty());
    check_code(world.mounts.read(&vpath("@project/odd/x\u{fffd}"), 1), RefusalCode::NotFound);
}
