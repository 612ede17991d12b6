//! A source as it was found: its files, their texts, and where its parts lie.

use std::collections::BTreeMap;

use crate::ConvertOptions;
use crate::source_files::SourceFiles;
use crate::source_text::SourceText;

/// Files of a source with their texts and its layout.
pub(crate) struct SourceTree<'a> {
    files: &'a SourceFiles,
    texts: BTreeMap<&'a str, SourceText>,
    /// Roots as paths of folders: a folder that texts call `_bmad`.
    pub(crate) roots: Vec<String>,
    /// Folder of each module, by its code.
    pub(crate) modules: BTreeMap<String, String>,
    /// Folder of each skill, by its name.
    pub(crate) skills: BTreeMap<String, String>,
}

impl<'a> SourceTree<'a> {
    /// Looks at a source.
    pub(crate) fn new(files: &'a SourceFiles, _options: &ConvertOptions) -> Self {
        let texts = files
            .iter()
            .filter_map(|(path, bytes)| Some((path, SourceText::decode(bytes)?)))
            .collect();
        Self { files, texts, roots: Vec::new(), modules: BTreeMap::new(), skills: BTreeMap::new() }
    }

    /// Returns the files.
    pub(crate) fn files(&self) -> &'a SourceFiles {
        self.files
    }

    /// Returns the text of a file, if it is one.
    pub(crate) fn text(&self, path: &str) -> Option<&SourceText> {
        self.texts.get(path)
    }

    /// Iterates over the content files that take part in the conversion, sorted.
    pub(crate) fn content(&self) -> impl Iterator<Item = &'a str> {
        self.files.paths()
    }

    /// Returns the code of the module that a file belongs to.
    pub(crate) fn module_of(&self, path: &str) -> Option<&str> {
        self.modules
            .iter()
            .filter(|(_, folder)| is_below(path, folder))
            .max_by_key(|(_, folder)| folder.len())
            .map(|(code, _)| code.as_str())
    }

    /// Returns the path of a file in the package; `None` if it is not copied.
    pub(crate) fn package_path(&self, path: &str) -> Option<String> {
        self.files.contains(path).then(|| format!("bmad/{path}"))
    }

    /// Returns the mount path of a file, such as `@pkg/bmad/core/x.md`.
    pub(crate) fn mount_path(&self, path: &str) -> Option<String> {
        Some(format!("@pkg/{}", self.package_path(path)?))
    }
}

/// Returns true if a path lies below a folder. Everything lies below the empty folder.
pub(crate) fn is_below(path: &str, folder: &str) -> bool {
    folder.is_empty() || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'))
}

/// Returns the folder of a path; empty for a file at the root.
pub(crate) fn folder_of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// Returns the last component of a path.
pub(crate) fn name_of(path: &str) -> &str {
    path.rsplit_once('/').map_or(path, |(_, name)| name)
}
