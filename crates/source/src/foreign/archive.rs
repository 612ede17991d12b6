//! Foreign source in an archive. The gate has checked all its entries.

use std::path::Path;

use crewagent_format::package::Files;
use crewagent_format::path::PackagePath;

use super::{ForeignFiles, SourceSelection};
use crate::{ReadError, Source, SourceError};

#[derive(Debug)]
pub(super) struct ForeignArchive {
    source: Source,
    /// Folder that counts as the root: empty, or with a `/` at its end.
    root: String,
}

impl ForeignArchive {
    pub(super) fn new(source: Source) -> Self {
        Self { source, root: String::new() }
    }

    /// Iterates over the paths below the root.
    fn paths(&self) -> impl Iterator<Item = (&PackagePath, &str)> {
        let paths = self.source.sizes().keys();
        paths.filter_map(|path| Some((path, path.as_str().strip_prefix(self.root.as_str())?)))
    }

    /// Lists the names of the folders, or of the files, in a folder.
    pub(super) fn names(&self, folder: &str, is_folder: bool) -> Vec<String> {
        let start = if folder.is_empty() { String::new() } else { format!("{folder}/") };
        let mut names: Vec<String> = self
            .paths()
            .filter_map(|(_, path)| {
                let rest = path.strip_prefix(start.as_str())?;
                match rest.split_once('/') {
                    Some((name, _)) => is_folder.then(|| name.to_owned()),
                    None => (!is_folder).then(|| rest.to_owned()),
                }
            })
            .collect();
        names.dedup();
        names
    }

    pub(super) fn has_file(&self, path: &str) -> bool {
        self.source.sizes().contains_key(format!("{}{path}", self.root).as_str())
    }

    /// Makes the only folder at the root the root, if the root holds nothing else.
    pub(super) fn descend(&mut self) -> bool {
        let (folders, files) = (self.names("", true), self.names("", false));
        match (&folders[..], &files[..]) {
            ([only], []) => {
                self.root = format!("{}{only}/", self.root);
                true
            }
            (_, _) => false,
        }
    }

    pub(super) fn read(
        &self,
        selection: &dyn SourceSelection,
    ) -> Result<ForeignFiles, SourceError> {
        let mut read = ForeignFiles::default();
        for (path, name) in self.paths() {
            let is_entered = || folders_of(name).all(|folder| selection.enters(folder));
            if !selection.takes(name) || !is_entered() {
                continue;
            }
            let failed = |ReadError { path, error }: ReadError| {
                SourceError::new(Path::new(path.as_str()), error)
            };
            let content = self.source.content(path).map_err(failed)?;
            // A path without the folder in front of it is valid, too.
            if let Ok(name) = PackagePath::new(name) {
                read.files.insert(name, content);
            }
        }
        Ok(read)
    }
}

/// Iterates over the folders above a path, nearest last.
fn folders_of(path: &str) -> impl Iterator<Item = &str> {
    path.match_indices('/').map(|(at, _)| &path[..at])
}
