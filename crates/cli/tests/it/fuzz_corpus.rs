//! Every input of `fuzz/corpus` passes the body of its fuzz target; `cargo xtask nightly --only fuzz` looks for new ones.
//!
//! The tests are here because the program is above all crates that the bodies call.
#![allow(clippy::expect_used, reason = "a body stops at the first surprise")]

#[path = "../../../../fuzz/bodies/archive.rs"]
mod archive;
#[path = "../../../../fuzz/bodies/condition.rs"]
mod condition;
#[path = "../../../../fuzz/bodies/fault.rs"]
mod fault;
#[path = "../../../../fuzz/bodies/frontmatter.rs"]
mod frontmatter;
#[path = "../../../../fuzz/bodies/graph.rs"]
mod graph;
#[path = "../../../../fuzz/bodies/sse.rs"]
mod sse;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;

/// A target and its body.
type Target = (&'static str, fn(&[u8]));

const TARGETS: [Target; 6] = [
    ("archive", archive::run),
    ("condition", condition::run),
    ("fault", fault::run),
    ("frontmatter", frontmatter::run),
    ("graph", graph::run),
    ("sse", sse::run),
];

fn folder(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../fuzz").join(name)
}

fn check_corpus((name, run): Target) {
    let mut inputs = 0;
    for entry in fs::read_dir(folder("corpus").join(name)).unwrap() {
        let path = entry.unwrap().path();
        run(&fs::read(&path).unwrap());
        inputs += 1;
    }
    assert!(inputs > 0, "{name} has no inputs");
}

#[test]
fn every_input_of_the_corpus_passes_its_body() {
    for target in TARGETS {
        check_corpus(target);
    }
}

#[test]
fn every_fuzz_target_has_a_corpus_and_a_body_here() {
    let names = |folder_name: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(folder(folder_name)).unwrap();
        let stem =
            |entry: fs::DirEntry| entry.path().file_stem().unwrap().to_string_lossy().into_owned();
        entries.map(|entry| stem(entry.unwrap())).collect()
    };
    let known: BTreeSet<String> = TARGETS.iter().map(|(name, _)| (*name).to_owned()).collect();
    assert_eq!(names("fuzz_targets"), known);
    assert_eq!(names("bodies"), known);
    assert_eq!(names("corpus"), known);
}
