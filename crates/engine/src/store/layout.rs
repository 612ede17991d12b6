//! Paths in the store, and names of folders.

use std::path::{Path, PathBuf};

use crewagent_format::integrity::Digest;
use crewagent_source::names::stem;
use semver::Version;

#[derive(Clone, Debug)]
pub(super) struct StoreLayout {
    home: PathBuf,
}

impl StoreLayout {
    pub(super) fn new(home: PathBuf) -> Self {
        Self { home }
    }

    pub(super) fn home(&self) -> &Path {
        &self.home
    }

    pub(super) fn config(&self) -> PathBuf {
        self.home.join("config.toml")
    }

    pub(super) fn packages(&self) -> PathBuf {
        self.home.join("packages")
    }

    /// Returns the folder that names the packages made of foreign sources.
    pub(super) fn sources(&self) -> PathBuf {
        self.home.join("sources")
    }
}

/// Lengths of the digest in a folder name: eight digits, and more only if that name is taken.
pub(super) const DIGEST_DIGITS: [usize; 5] = [8, 12, 16, 32, 64];

/// Returns the name of a package's folder.
pub(super) fn folder_name(name: &str, version: &Version, digest: &Digest, digits: usize) -> String {
    let digest: String = digest.to_string().chars().take(digits).collect();
    format!("{}-{digest}", stem(name, version))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_name_has_name_version_and_digest() {
        let digest = Digest::of(b"");
        let version = Version::parse("1.2.3-rc.1+build").unwrap();
        assert_eq!(
            folder_name("My Flow", &version, &digest, 8),
            "my-flow-1.2.3-rc.1+build-e3b0c442"
        );
        assert_eq!(folder_name("x", &version, &digest, 64).len(), "x-1.2.3-rc.1+build-".len() + 64);
        let long = Version::parse(&format!("1.0.0-{}", "a".repeat(500))).unwrap();
        assert!(folder_name(&"n".repeat(300), &long, &digest, 64).len() < 200);
    }
}
