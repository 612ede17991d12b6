//! Disk access: a run uses the disk only through `engine::disk`, so that a test can hook every operation.

use super::source::RustSources;
use super::{TidyFinding, TidyRule};

/// Modules that a run consists of. Mounts open files through handles and call the disk hooks themselves.
const RUN_SOURCES: [&str; 10] = [
    "crates/engine/src/blobs",
    "crates/engine/src/control",
    "crates/engine/src/driver",
    "crates/engine/src/journal",
    "crates/engine/src/runtime",
    "crates/engine/src/step_log",
    "crates/engine/src/store/projects",
    "crates/engine/src/store/runs",
    "crates/engine/src/tools",
    "crates/scenario/src/replay",
];

/// Functions that open, change or inspect files directly; an open `File` as a value is allowed.
const DIRECT: [(&str, &[&str]); 3] = [
    (
        "fs",
        &[
            "write",
            "read",
            "read_to_string",
            "rename",
            "remove_file",
            "remove_dir",
            "remove_dir_all",
            "create_dir",
            "create_dir_all",
            "copy",
            "read_dir",
            "metadata",
            "symlink_metadata",
            "canonicalize",
            "set_permissions",
            "hard_link",
            "exists",
        ],
    ),
    ("File", &["open", "create", "create_new", "options"]),
    ("OpenOptions", &["new"]),
];

pub(super) fn check(sources: &RustSources) -> Vec<TidyFinding> {
    let mut findings = Vec::new();
    for (path, source) in sources.iter() {
        if !RUN_SOURCES.iter().any(|start| path.starts_with(start)) {
            continue;
        }
        for (parent, children) in DIRECT {
            for child in children {
                let lines = source.lines_naming(parent, child);
                for line in lines.into_iter().filter(|line| !source.is_test(*line)) {
                    let message = format!(
                        "calls `{parent}::{child}`; go through `engine::disk`, where tests can look"
                    );
                    findings.push(TidyRule::Disk.at(path, line, message));
                }
            }
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::super::assert_places;
    use super::*;
    use crate::repo::Repo;

    fn check_disk(path: &str, text: &str, expected: &[&str]) {
        let (sources, errors) = RustSources::parse(&Repo::of(&[(path, text)]));
        assert_eq!(errors, []);
        assert_places(&check(&sources), expected);
    }

    #[test]
    fn every_listed_module_exists() {
        let repo = Repo::load(&crate::shell::repo_root()).unwrap();
        let paths: Vec<_> = repo.texts_ending(".rs").map(|(path, _)| path).collect();
        for source in RUN_SOURCES {
            assert!(paths.iter().any(|path| path.starts_with(source)), "{source} has moved");
        }
    }

    #[test]
    fn a_run_that_goes_around_the_disk_is_found() {
        let path = "crates/engine/src/journal.rs";
        check_disk(path, "fn f() {\nstd::fs::write(a, b);\n}", &[&format!("{path}:2")]);
        check_disk(path, "fn f() { File::open(a); }", &[&format!("{path}:1")]);
        check_disk(path, "use std::fs::File;\nfn f(file: &File) {}", &[]);
        check_disk("crates/engine/src/pack.rs", "fn f() { std::fs::write(a, b); }", &[]);
        check_disk(path, "#[cfg(test)]\nmod t { fn f() { std::fs::write(a, b); } }", &[]);
    }
}
