//! Parts that tests of several crates share: the repository's packages, findings as lines, fixed property cases.

use std::path::{Path, PathBuf};

use crewagent_format::package::{Checked, check};
use proptest::test_runner::{Config as ProptestConfig, RngSeed};

use crate::package::MemoryFiles;

/// Returns the folder of the repository.
pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// Reads an example of the package format.
///
/// # Panics
/// If there is no example of this name.
pub fn example(name: &str) -> MemoryFiles {
    let folder = repository().join("spec/examples").join(name);
    MemoryFiles::from_folder(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
}

/// Checks a package as runtime 0.1.0 does.
pub fn checked(files: &MemoryFiles) -> Checked {
    check(files, &semver::Version::new(0, 1, 0))
}

/// Returns the findings as lines `CODE file:line:column message`.
pub fn lines(checked: &Checked) -> Vec<String> {
    let line = |found: &crewagent_format::diagnostic::Diagnostic| {
        let at = found
            .place
            .position
            .map(|at| format!(":{}:{}", at.line, at.column))
            .unwrap_or_default();
        format!(
            "{} {}{at} {} / {}",
            found.code.as_str(),
            found.place.file,
            found.message,
            found.help.as_deref().unwrap_or("-")
        )
    };
    checked.findings.iter().map(line).collect()
}

/// Returns a configuration with the same cases on every machine and every day. `PROPTEST_CASES` and `PROPTEST_RNG_SEED`
/// ask for more and others.
pub fn cases(count: u32) -> ProptestConfig {
    let asked = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    ProptestConfig {
        cases: asked("PROPTEST_CASES").map_or(count, |cases: u64| cases as u32),
        rng_seed: RngSeed::Fixed(asked("PROPTEST_RNG_SEED").unwrap_or(1)),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
