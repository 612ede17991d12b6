//! Packages from the repository's folders, as files in memory.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crewagent_core::package::{Checked, Files, check};
use crewagent_core::path::PackagePath;
use proptest::test_runner::{Config as ProptestConfig, RngSeed};

/// A package in memory.
#[derive(Clone, Default, PartialEq)]
pub(crate) struct MemoryFiles {
    sizes: BTreeMap<PackagePath, u64>,
    contents: BTreeMap<PackagePath, Arc<[u8]>>,
}

impl MemoryFiles {
    pub(crate) fn from_folder(folder: &Path) -> Self {
        let mut files = Self::default();
        files.add_folder(folder, "");
        files
    }

    fn add_folder(&mut self, folder: &Path, prefix: &str) {
        for entry in std::fs::read_dir(folder).unwrap() {
            let entry = entry.unwrap();
            let name = format!("{prefix}{}", entry.file_name().to_str().unwrap());
            if entry.file_type().unwrap().is_dir() {
                self.add_folder(&entry.path(), &format!("{name}/"));
            } else {
                self.put(&name, std::fs::read(entry.path()).unwrap());
            }
        }
    }

    pub(crate) fn text(&self, path: &str) -> String {
        String::from_utf8(self.contents.get(path).unwrap().to_vec()).unwrap()
    }

    pub(crate) fn put(&mut self, path: &str, content: impl Into<Vec<u8>>) {
        let path = PackagePath::new(path).unwrap();
        let content: Vec<u8> = content.into();
        self.sizes.insert(path.clone(), content.len() as u64);
        self.contents.insert(path, content.into());
    }
}

impl Files for MemoryFiles {
    fn sizes(&self) -> &BTreeMap<PackagePath, u64> {
        &self.sizes
    }

    fn read(&self, path: &PackagePath) -> Result<Arc<[u8]>, String> {
        self.contents.get(path).cloned().ok_or_else(|| "not there".to_owned())
    }
}

pub(crate) fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

pub(crate) fn checked(files: &MemoryFiles) -> Checked {
    check(files, &semver::Version::new(0, 1, 0))
}

/// The findings as lines `CODE file:line:column message`.
pub(crate) fn lines(checked: &Checked) -> Vec<String> {
    let line = |found: &crewagent_core::diagnostic::Diagnostic| {
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

/// The same cases on every machine and every day. `PROPTEST_CASES` and `PROPTEST_RNG_SEED` ask for more and others.
pub(crate) fn cases(count: u32) -> ProptestConfig {
    let asked = |name: &str| std::env::var(name).ok().and_then(|text| text.parse().ok());
    ProptestConfig {
        cases: asked("PROPTEST_CASES").map_or(count, |cases: u64| cases as u32),
        rng_seed: RngSeed::Fixed(asked("PROPTEST_RNG_SEED").unwrap_or(1)),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}
