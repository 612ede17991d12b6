//! Files of the repository: those that git tracks or would track.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::Context as _;

use crate::shell;

/// All files by their path from the root, with `/`; text files with their text.
#[derive(Default)]
pub(crate) struct Repo {
    paths: BTreeSet<String>,
    texts: BTreeMap<String, String>,
}

impl Repo {
    /// Reads the work tree: tracked files, and new ones that `.gitignore` does not name.
    pub(crate) fn load(root: &Path) -> anyhow::Result<Self> {
        let mut git = Command::new("git");
        git.current_dir(root);
        git.args(["ls-files", "-z", "--cached", "--others", "--exclude-standard"]);
        let mut repo = Self::default();
        for path in shell::capture(&mut git)?.split_terminator('\0') {
            // A tracked file may have been removed or moved meanwhile.
            if let Ok(bytes) = std::fs::read(root.join(path)) {
                repo.insert(path, bytes);
            }
        }
        Ok(repo)
    }

    fn insert(&mut self, path: &str, bytes: Vec<u8>) {
        self.paths.insert(path.to_string());
        if let Ok(text) = String::from_utf8(bytes) {
            self.texts.insert(path.to_string(), text);
        }
    }

    #[cfg(test)]
    pub(crate) fn of(files: &[(&str, &str)]) -> Self {
        let mut repo = Self::default();
        for (path, text) in files {
            repo.insert(path, text.as_bytes().to_vec());
        }
        repo
    }

    pub(crate) fn len(&self) -> usize {
        self.paths.len()
    }

    pub(crate) fn text(&self, path: &str) -> Option<&str> {
        self.texts.get(path).map(String::as_str)
    }

    pub(crate) fn require(&self, path: &str) -> anyhow::Result<&str> {
        self.text(path).with_context(|| format!("{path} is missing"))
    }

    /// Returns all text files.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, &str)> {
        self.texts.iter().map(|(path, text)| (path.as_str(), text.as_str()))
    }

    /// Returns all text files whose name has this ending.
    pub(crate) fn texts_ending(&self, end: &str) -> impl Iterator<Item = (&str, &str)> {
        self.texts().filter(move |(path, _)| path.ends_with(end))
    }

    /// Returns true if a file or a folder is at this path; the root is the empty path.
    pub(crate) fn exists(&self, path: &str) -> bool {
        let folder = format!("{path}/");
        let first_inside = self.paths.range(folder.clone()..).next();
        path.is_empty()
            || self.paths.contains(path)
            || first_inside.is_some_and(|inside| inside.starts_with(&folder))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_folders_and_the_root_exist() {
        let repo = Repo::of(&[("docs/guide/a.md", ""), ("docs/guide.md", "")]);
        for path in ["", "docs", "docs/guide", "docs/guide.md", "docs/guide/a.md"] {
            assert!(repo.exists(path), "{path}");
        }
        for path in ["doc", "docs/g", "docs/guide/b.md"] {
            assert!(!repo.exists(path), "{path}");
        }
    }

    #[test]
    fn a_file_that_is_not_utf8_exists_without_a_text() {
        let mut repo = Repo::default();
        repo.insert("logo.png", vec![0x89, 0xff]);
        assert!(repo.exists("logo.png") && repo.text("logo.png").is_none());
    }

    #[test]
    fn ignored_files_are_left_out_and_new_ones_are_not() {
        let root = tempfile::tempdir().unwrap();
        shell::capture(Command::new("git").current_dir(root.path()).args(["init", "-q"])).unwrap();
        for (name, text) in [(".gitignore", "build\n"), ("new.md", "new"), ("build", "")] {
            std::fs::write(root.path().join(name), text).unwrap();
        }
        let repo = Repo::load(root.path()).unwrap();
        assert_eq!(repo.text("new.md"), Some("new"));
        assert!(!repo.exists("build"));
        assert_eq!(repo.len(), 2);
    }
}
