//! The files of a source, as values.

use std::collections::BTreeMap;
use std::sync::Arc;

/// Files of a source by path: relative, `/` between folders, no `.` or `..`.
#[derive(Clone, Debug, Default)]
pub struct SourceFiles {
    files: BTreeMap<String, Arc<[u8]>>,
    links: Vec<String>,
}

impl SourceFiles {
    /// Adds a file. Returns false, and ignores the file, if its path is not a clean relative one.
    pub fn insert(&mut self, path: &str, content: impl Into<Arc<[u8]>>) -> bool {
        let clean = is_clean(path);
        if clean {
            self.files.insert(path.to_owned(), content.into());
        }
        clean
    }

    /// Records a link that leads out of the source or to nothing, so that the report names it.
    pub fn insert_link_outside(&mut self, path: &str) {
        self.links.push(path.to_owned());
    }

    /// Returns the links that lead out of the source, sorted.
    pub fn links_outside(&self) -> Vec<&str> {
        let mut links: Vec<&str> = self.links.iter().map(String::as_str).collect();
        links.sort_unstable();
        links
    }

    /// Returns the content of a file.
    pub fn get(&self, path: &str) -> Option<&Arc<[u8]>> {
        self.files.get(path)
    }

    /// Returns true if there is such a file.
    pub fn contains(&self, path: &str) -> bool {
        self.files.contains_key(path)
    }

    /// Iterates over the files in the order of their paths.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &Arc<[u8]>)> {
        self.files.iter().map(|(path, content)| (path.as_str(), content))
    }

    /// Iterates over the paths, sorted.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.files.keys().map(String::as_str)
    }

    /// Iterates over the paths below a folder, sorted. The empty folder is the root.
    pub fn below<'s>(&'s self, folder: &str) -> impl Iterator<Item = &'s str> + use<'s> {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        self.files
            .range(start.clone()..)
            .map(|(path, _)| path.as_str())
            .take_while(move |path| path.starts_with(&start))
    }

    /// Returns true if a file lies below the folder.
    pub fn has_folder(&self, folder: &str) -> bool {
        self.below(folder).next().is_some()
    }
}

/// Returns true if a path is relative, and neither empty nor with empty, `.` or `..` components.
fn is_clean(path: &str) -> bool {
    !path.contains(['\\', '\0'])
        && path.split('/').all(|part| !part.is_empty() && part != "." && part != "..")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_that_is_not_clean_is_ignored() {
        let mut files = SourceFiles::default();
        for bad in ["", "/a", "a/", "a//b", "./a", "a/../b", "..", "a\\b"] {
            assert!(!files.insert(bad, *b"x"), "{bad}");
        }
        assert!(files.insert("a/b.md", *b"x"));
        assert!(files.insert("a-b.md", *b"x"));
        assert_eq!(files.below("a").collect::<Vec<_>>(), ["a/b.md"]);
        assert_eq!(files.below("").count(), 2);
    }
}
