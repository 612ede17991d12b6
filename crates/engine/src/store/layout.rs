//! Paths in the store, and names of folders.

use std::path::{Path, PathBuf};

use crewagent_format::integrity::Digest;
use semver::Version;

/// Longest part of a folder name that comes from a package.
const MAX_PART: usize = 64;

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
}

/// Lengths of the digest in a folder name: eight digits, and more only if that name is taken.
pub(super) const DIGEST_DIGITS: [usize; 5] = [8, 12, 16, 32, 64];

/// Returns the name of a package's folder.
pub(super) fn folder_name(name: &str, version: &Version, digest: &Digest, digits: usize) -> String {
    let digest: String = digest.to_string().chars().take(digits).collect();
    format!("{}-{digest}", stem(name, version))
}

/// Returns the common prefix of a package's folder and its packed file.
pub(crate) fn stem(name: &str, version: &Version) -> String {
    format!("{}-{}", slug(name), safe_version(version))
}

/// Converts to a name that every file system accepts: lower-case letters, digits and single dashes.
pub(super) fn slug(name: &str) -> String {
    let mut slug = String::new();
    for c in name.chars().flat_map(char::to_lowercase) {
        if c.is_ascii_alphanumeric() {
            slug.push(c);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
    }
    slug.truncate(MAX_PART);
    let slug = slug.trim_end_matches('-');
    if slug.is_empty() { "package".to_owned() } else { slug.to_owned() }
}

fn safe_version(version: &Version) -> String {
    version.to_string().chars().take(MAX_PART).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check_slug(name: &str, expected: &str) {
        assert_eq!(slug(name), expected, "{name:?}");
    }

    #[test]
    fn a_slug_works_on_every_file_system() {
        check_slug("create-story-micro", "create-story-micro");
        check_slug("Create Story: Micro!", "create-story-micro");
        check_slug("../../etc/passwd", "etc-passwd");
        check_slug("日本", "package");
        check_slug("", "package");
        check_slug("...", "package");
        check_slug("Ünïcode 1", "n-code-1");
        check_slug(&"x".repeat(500), &"x".repeat(64));
    }

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
