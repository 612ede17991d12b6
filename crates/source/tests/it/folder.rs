//! A package in a folder passes through the same gate.

use std::fs::{self, File};
use std::path::Path;

use crewagent_format::diagnostic::Severity;
use crewagent_format::package::Files;
use crewagent_format::path::PackagePath;
use crewagent_source::inspect::inspect;
use crewagent_source::{OpenResult, PackageLimits, Source};

use crate::support::{describe, package, scratch, write, write_all};

fn check_folder(prepare: impl FnOnce(&Path), limits: &PackageLimits, expected: &[&str]) {
    let scratch = scratch();
    write_all(scratch.path(), package());
    prepare(scratch.path());
    match Source::open(scratch.path(), limits).unwrap() {
        OpenResult::Passed(_) => assert!(expected.is_empty(), "passed"),
        OpenResult::Refused(findings) => assert_eq!(describe(Some(&findings)), expected),
    }
}

#[test]
fn a_folder_gives_its_files_and_not_its_litter() {
    let scratch = scratch();
    write_all(scratch.path(), package());
    for litter in [".git/config", ".DS_Store", "steps/a.md~", "old.bmad", "steps/.a.md.swp"] {
        write(scratch.path(), litter, "x");
    }
    fs::create_dir(scratch.path().join("empty")).unwrap();
    let OpenResult::Passed(source) =
        Source::open(scratch.path(), &PackageLimits::default()).unwrap()
    else {
        panic!("refused")
    };
    let mut names: Vec<_> = package().into_iter().map(|(name, _)| name).collect();
    names.sort();
    assert_eq!(source.sizes().keys().map(|path| path.as_str()).collect::<Vec<_>>(), names);
    for (name, content) in package() {
        assert_eq!(&*source.read(&PackagePath::new(&name).unwrap()).unwrap(), content.as_bytes());
    }
}

#[test]
fn folder_and_archive_have_the_same_limits() {
    let default = PackageLimits::default();
    check_folder(|_| (), &PackageLimits { max_entries: 7, ..default }, &["BM109 "]);
    check_folder(|_| (), &PackageLimits { max_entries: 8, ..default }, &[]);
    check_folder(|_| (), &PackageLimits { max_unpacked_bytes: 100, ..default }, &["BM110 "]);
    let large = |folder: &Path| drop(write(folder, "assets/a", [b'x'; 5_000]));
    check_folder(large, &PackageLimits { max_file_bytes: 4_999, ..default }, &["BM111 assets/a"]);
    // A sparse file of 2 GiB, of which nothing is read.
    let huge = |folder: &Path| File::create(folder.join("huge")).unwrap().set_len(2 << 30).unwrap();
    check_folder(huge, &default, &["BM110 ", "BM111 huge"]);
}

#[cfg(unix)]
#[test]
fn links_and_pipes_are_refused() {
    use std::os::unix::fs::symlink;
    let default = PackageLimits::default();
    check_folder(
        |folder| symlink("/etc/passwd", folder.join("l")).unwrap(),
        &default,
        &["BM105 l"],
    );
    check_folder(|folder| symlink("steps", folder.join("l")).unwrap(), &default, &["BM105 l"]);
    check_folder(|folder| symlink("nowhere", folder.join("l")).unwrap(), &default, &["BM105 l"]);
    let pipe = |folder: &Path| {
        assert!(
            std::process::Command::new("mkfifo").arg(folder.join("p")).status().unwrap().success()
        );
    };
    check_folder(pipe, &default, &["BM105 p"]);
}

#[cfg(target_os = "linux")]
#[test]
fn names_that_do_not_work_everywhere_are_refused() {
    use std::os::unix::ffi::OsStrExt;
    let default = PackageLimits::default();
    let name = |name: &'static str| move |folder: &Path| drop(write(folder, name, "x"));
    check_folder(name("aux.md"), &default, &["BM104 aux.md"]);
    check_folder(name("a\\b"), &default, &["BM104 a\\b"]);
    check_folder(name("steps/x:y"), &default, &["BM104 steps/x:y"]);
    check_folder(name("a\nb"), &default, &["BM104 a\\u{a}b"]);
    let bytes =
        |folder: &Path| fs::write(folder.join(std::ffi::OsStr::from_bytes(b"x\xff")), "x").unwrap();
    check_folder(bytes, &default, &["BM104 x\u{fffd}"]);
    let twins = |folder: &Path| {
        write(folder, "assets/a.md", "x");
        write(folder, "assets/A.md", "x");
    };
    let scratch = scratch();
    twins(scratch.path());
    let OpenResult::Refused(findings) = Source::open(scratch.path(), &default).unwrap() else {
        panic!("passed")
    };
    assert_eq!(findings.iter().map(|found| found.code.as_str()).collect::<Vec<_>>(), ["BM107"]);
}

#[test]
fn a_link_to_a_package_folder_is_a_package() {
    #[cfg(unix)]
    {
        let scratch = scratch();
        write_all(&scratch.path().join("real"), package());
        std::os::unix::fs::symlink("real", scratch.path().join("link")).unwrap();
        let inspected = inspect(&scratch.path().join("link"), &PackageLimits::default()).unwrap();
        assert!(inspected.package.is_some());
    }
}

#[test]
fn a_file_that_changes_under_us_is_not_taken() {
    let scratch = scratch();
    write_all(scratch.path(), package());
    let big = write(scratch.path(), "assets/big", vec![b'x'; 3 << 20]);
    let OpenResult::Passed(source) =
        Source::open(scratch.path(), &PackageLimits::default()).unwrap()
    else {
        panic!("refused")
    };
    let (small, path) =
        (PackagePath::new("workflow.md").unwrap(), PackagePath::new("assets/big").unwrap());
    let first = source.read(&small).unwrap();
    source.read(&path).unwrap();
    write(scratch.path(), "workflow.md", "something else");
    fs::write(&big, vec![b'y'; 3 << 20]).unwrap();
    assert_eq!(source.read(&small).unwrap(), first, "what was read once stays");
    assert_eq!(source.read(&path).unwrap_err(), "it changed while it was being read");
    fs::write(&big, "shorter").unwrap();
    assert_eq!(source.read(&path).unwrap_err(), "it changed while it was being read");
    fs::remove_file(&big).unwrap();
    assert_eq!(source.read(&path).unwrap_err(), "it is gone");
}

#[test]
fn an_inspected_folder_has_the_findings_of_the_check() {
    let scratch = scratch();
    write_all(scratch.path(), package());
    fs::remove_file(scratch.path().join("agents.json")).unwrap();
    let inspected = inspect(scratch.path(), &PackageLimits::default()).unwrap();
    assert!(inspected.package.is_none() && inspected.source.is_some());
    assert_eq!(
        inspected.findings.count(Severity::Error),
        1,
        "{:?}",
        describe(Some(&inspected.findings))
    );
}
