//! Files of a foreign source: a folder or an archive of which a selection is read, through the same gate as packages.
//!
//! Unlike in a package, links that end inside the folder are followed, and names outside of the selection are ignored.

mod archive;
mod walk;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use crewagent_format::diagnostic::Findings;
use crewagent_format::path::PackagePath;

use self::archive::ForeignArchive;
use self::walk::ForeignFolder;
use super::{OpenResult, PackageLimits, Source, SourceError};

/// SourceSelection of the files that are read.
pub trait SourceSelection {
    /// Returns true if a folder may hold files of the selection.
    fn enters(&self, folder: &str) -> bool;

    /// Returns true if a file is read.
    fn takes(&self, file: &str) -> bool;
}

/// Opened foreign source of which nothing was read yet.
#[derive(Debug)]
pub struct ForeignSource(ForeignContainer);

#[derive(Debug)]
enum ForeignContainer {
    Folder(ForeignFolder),
    Archive(ForeignArchive),
}

/// Selected files of a foreign source.
#[derive(Clone, Debug, Default)]
pub struct ForeignFiles {
    /// Contents by path.
    pub files: BTreeMap<PackagePath, Arc<[u8]>>,
    /// Links of the selection that lead out of the source, or to nothing; safe to print.
    pub links_outside: Vec<String>,
}

impl ForeignSource {
    /// Opens a folder, or a file as an archive. The inner error holds the reasons why an archive was refused.
    pub fn open(
        path: &Path,
        limits: &PackageLimits,
    ) -> Result<Result<Self, Findings>, SourceError> {
        let metadata = fs::metadata(path).map_err(|error| SourceError::new(path, error))?;
        if metadata.is_dir() {
            return Ok(Ok(Self(ForeignContainer::Folder(ForeignFolder::open(path)?))));
        }
        Ok(match Source::open(path, limits)? {
            OpenResult::Passed(source) => Ok(Self::of_archive(source)),
            OpenResult::Refused(findings) => Err(findings),
        })
    }

    /// Returns the archive that was opened as a package.
    pub fn of_archive(source: Source) -> Self {
        Self(ForeignContainer::Archive(ForeignArchive::new(source)))
    }

    /// Lists the names of the folders in a folder, sorted. The empty path is the root. A folder that cannot be listed has none.
    pub fn folders(&self, folder: &str) -> Vec<String> {
        match &self.0 {
            ForeignContainer::Folder(own) => own.names(folder, true),
            ForeignContainer::Archive(own) => own.names(folder, true),
        }
    }

    /// Lists the names of the files in a folder, sorted.
    pub fn files(&self, folder: &str) -> Vec<String> {
        match &self.0 {
            ForeignContainer::Folder(own) => own.names(folder, false),
            ForeignContainer::Archive(own) => own.names(folder, false),
        }
    }

    /// Returns true if there is a file of this path.
    pub fn has_file(&self, path: &str) -> bool {
        match &self.0 {
            ForeignContainer::Folder(own) => own.has_file(path),
            ForeignContainer::Archive(own) => own.has_file(path),
        }
    }

    /// Makes the only folder at the root of an archive the root. Returns false if the root holds anything else, and in a
    /// folder.
    pub fn descend(&mut self) -> bool {
        match &mut self.0 {
            ForeignContainer::Folder(_) => false,
            ForeignContainer::Archive(own) => own.descend(),
        }
    }

    /// Reads the selected files. The inner error holds all reasons why they were refused.
    pub fn read(
        &self,
        selection: &dyn SourceSelection,
        limits: &PackageLimits,
    ) -> Result<Result<ForeignFiles, Findings>, SourceError> {
        match &self.0 {
            ForeignContainer::Folder(own) => own.read(selection, limits),
            ForeignContainer::Archive(own) => own.read(selection).map(Ok),
        }
    }
}
