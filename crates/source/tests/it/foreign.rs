//! A foreign source: only what is selected is read, links are followed inside, and the limits hold.

use std::fs;
use std::path::Path;

use crewagent_format::diagnostic::Findings;
use crewagent_source::PackageLimits;
use crewagent_source::foreign::{ForeignFiles, ForeignSource, SourceSelection};

use crewagent_testkit::archive::ZipArchive;

use crate::support::{describe, scratch, write};

/// Selects Markdown below one folder.
struct Below(&'static str);

impl SourceSelection for Below {
    fn enters(&self, folder: &str) -> bool {
        folder == self.0 || folder.starts_with(&format!("{}/", self.0))
    }

    fn takes(&self, file: &str) -> bool {
        self.enters(file) && file.ends_with(".md")
    }
}

fn read(path: &Path, limits: &PackageLimits) -> Result<ForeignFiles, Findings> {
    ForeignSource::open(path, limits).unwrap()?.read(&Below("own"), limits).unwrap()
}

fn check_read(prepare: impl FnOnce(&Path), files: &[&str], links: &[&str]) {
    let scratch = scratch();
    let root = scratch.path().join("root");
    fs::create_dir_all(root.join("own")).unwrap();
    prepare(&root);
    let read = read(&root, &PackageLimits::default()).unwrap();
    assert_eq!(read.files.keys().map(|path| path.as_str()).collect::<Vec<_>>(), files);
    assert_eq!(read.links_outside, links);
}

fn check_refused(prepare: impl FnOnce(&Path), limits: &PackageLimits, expected: &[&str]) {
    let scratch = scratch();
    fs::create_dir_all(scratch.path().join("own")).unwrap();
    prepare(scratch.path());
    let findings = read(scratch.path(), limits).unwrap_err();
    assert_eq!(describe(Some(&findings)), expected);
}

#[test]
fn only_the_selection_is_read() {
    check_read(
        |root| {
            for name in ["own/a.md", "own/b.txt", "own/c/d.md", "other/e.md", "own/.git/f.md"] {
                write(root, name, "x");
            }
        },
        &["own/a.md", "own/c/d.md"],
        &[],
    );
}

#[cfg(unix)]
#[test]
fn a_link_that_ends_inside_is_followed() {
    use std::os::unix::fs::symlink;
    check_read(
        |root| {
            write(root, "elsewhere/deep/a.md", "x");
            write(root, "own/b.md", "x");
            symlink("../elsewhere/deep", root.join("own/relative")).unwrap();
            symlink(root.join("elsewhere/deep/a.md"), root.join("own/absolute.md")).unwrap();
        },
        &["own/absolute.md", "own/b.md", "own/relative/a.md"],
        &[],
    );
}

#[cfg(unix)]
#[test]
fn a_link_that_leads_out_is_named_and_not_followed() {
    use std::os::unix::fs::symlink;
    check_read(
        |root| {
            write(root.parent().unwrap(), "secret/a.md", "x");
            symlink("../../secret", root.join("own/folder")).unwrap();
            symlink("/etc/passwd", root.join("own/passwd.md")).unwrap();
            symlink("nowhere", root.join("own/bro\u{7}ken.md")).unwrap();
            symlink("../../secret/a.md", root.join("unselected.md")).unwrap();
        },
        &[],
        &["own/bro\\u{7}ken.md", "own/folder", "own/passwd.md"],
    );
}

#[cfg(unix)]
#[test]
fn links_in_a_circle_end() {
    use std::os::unix::fs::symlink;
    check_read(
        |root| {
            write(root, "own/one/a.md", "x");
            write(root, "own/two/b.md", "x");
            symlink("..", root.join("own/one/up")).unwrap();
            symlink("../two", root.join("own/one/two")).unwrap();
            symlink("../one", root.join("own/two/one")).unwrap();
        },
        &["own/one/a.md", "own/one/two/b.md", "own/two/b.md", "own/two/one/a.md"],
        &[],
    );
}

#[test]
fn the_limits_of_packages_hold() {
    let default = PackageLimits::default();
    let three = |root: &Path| {
        for name in ["own/a.md", "own/b.md", "own/c.md"] {
            write(root, name, "0123456789");
        }
    };
    check_refused(three, &PackageLimits { max_entries: 3, ..default }, &["BM109 "]);
    check_refused(three, &PackageLimits { max_unpacked_bytes: 29, ..default }, &["BM110 "]);
    let expected = ["BM111 own/a.md", "BM111 own/b.md", "BM111 own/c.md"];
    check_refused(three, &PackageLimits { max_file_bytes: 9, ..default }, &expected);
}

#[test]
fn files_outside_of_the_selection_are_counted_too() {
    let many = |root: &Path| {
        for number in 0..60 {
            write(root, &format!("own/{number}.txt"), "x");
            fs::create_dir(root.join(format!("own/folder-{number}"))).unwrap();
        }
    };
    let limits = PackageLimits { max_entries: 10, ..PackageLimits::default() };
    check_refused(many, &limits, &["BM109 "]);
}

#[cfg(unix)]
#[test]
fn a_name_that_no_package_may_have_is_refused() {
    let default = PackageLimits::default();
    let bad = |root: &Path| drop(write(root, "own/a\u{1b}[2Jb.md", "x"));
    check_refused(bad, &default, &["BM104 own/a\\u{1b}[2Jb.md"]);
    let pipe = |root: &Path| {
        let made = std::process::Command::new("mkfifo").arg(root.join("own/p.md")).status();
        assert!(made.unwrap().success());
    };
    check_refused(pipe, &default, &["BM105 own/p.md"]);
    check_read(|root| drop(write(root, "own/a\u{1b}b.txt", "x")), &[], &[]);
}

#[test]
fn an_archive_is_read_like_the_folder() {
    let scratch = scratch();
    let files = ["top/own/a.md", "top/own/b.txt", "top/other/c.md"];
    let bytes = ZipArchive::of_files(files.map(|name| (name, "x"))).bytes();
    let path = write(scratch.path(), "source.zip", bytes);
    let limits = PackageLimits::default();
    let mut opened = ForeignSource::open(&path, &limits).unwrap().unwrap();
    assert_eq!(opened.folders(""), ["top"]);
    assert!(opened.descend());
    assert_eq!(opened.folders(""), ["other", "own"]);
    assert_eq!(opened.files("own"), ["a.md", "b.txt"]);
    assert!(opened.has_file("own/a.md") && !opened.has_file("own"));
    let read = opened.read(&Below("own"), &limits).unwrap().unwrap();
    assert_eq!(read.files.keys().map(|path| path.as_str()).collect::<Vec<_>>(), ["own/a.md"]);
    assert!(!opened.descend());
}
