//! Import: checks a package, writes it to a staging folder and publishes it atomically.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crewagent_format::diagnostic::{Findings, Sources};
use crewagent_format::package::{Files, Package};
use crewagent_format::path::PackagePath;
use thiserror::Error;

use super::extract::extract;
use super::record::PackageRecord;
use super::staging::PackagesLock;
use super::{FILES, Installed, Packages, PlaceState, record_path};
use crate::durable::{Flush, make_read_only};
use crate::store::StoreError;
use crewagent_source::inspect::{Inspected, Rejection, inspect};
use crewagent_source::{ReadError, Source, SourceError};

/// Effect of an import.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImportOutcome {
    New,
    /// The same content exists already; nothing was changed.
    AlreadyThere,
    /// The same package was damaged and has been replaced.
    Repaired,
}

/// Result of an import.
#[derive(Debug)]
pub struct Imported {
    pub installed: Installed,
    pub outcome: ImportOutcome,
    /// Warnings for the author.
    pub findings: Findings,
    /// Texts that the findings point into.
    pub sources: Sources,
}

/// Error of an import. The store is unchanged.
#[derive(Debug, Error)]
pub enum ImportError {
    /// The source cannot be opened.
    #[error(transparent)]
    Source(#[from] SourceError),
    #[error("the package has errors; nothing was imported")]
    Rejected(Box<Rejection>),
    #[error("`{path}` of the package cannot be read: {error}; nothing was imported")]
    Read { path: PackagePath, error: io::Error },
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ReadError> for ImportError {
    fn from(ReadError { path, error }: ReadError) -> Self {
        Self::Read { path, error }
    }
}

/// Checked package without errors, not yet written.
#[derive(Debug)]
pub struct PreparedImport<'s> {
    packages: Packages<'s>,
    origin: PathBuf,
    is_named: bool,
    source: Source,
    package: Arc<Package>,
    findings: Findings,
    sources: Sources,
}

impl<'s> Packages<'s> {
    /// Imports the folder or archive at a path. Calls `on_wait` once if it must wait for another process that changes
    /// the store.
    pub fn import(&self, path: &Path, on_wait: &mut dyn FnMut()) -> Result<Imported, ImportError> {
        self.prepare(path)?.commit(on_wait)
    }

    /// Checks the folder or archive at a path, for callers that want to see it before the import.
    pub fn prepare(&self, path: &Path) -> Result<PreparedImport<'s>, ImportError> {
        let Inspected { source, package, findings, sources, .. } =
            inspect(path, &self.store.settings.import)?;
        let (Some(source), Some(package)) = (source, package) else {
            return Err(ImportError::Rejected(Box::new(Rejection { findings, sources })));
        };
        Ok(PreparedImport {
            packages: *self,
            origin: path.to_owned(),
            is_named: false,
            source,
            package: Arc::new(package),
            findings,
            sources,
        })
    }
}

impl PreparedImport<'_> {
    /// Returns the checked package.
    pub fn package(&self) -> &Package {
        &self.package
    }

    /// Sets the name that its user knows the source by, if that is not its path.
    #[must_use]
    pub fn named(self, name: &str) -> Self {
        Self { origin: PathBuf::from(name), is_named: true, ..self }
    }

    /// Returns the warnings for the author.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Imports it. Calls `on_wait` once if it must wait for another process that changes the store.
    pub fn commit(self, on_wait: &mut dyn FnMut()) -> Result<Imported, ImportError> {
        let (installed, outcome) = self.store(on_wait)?;
        // A source never returns two contents of one file, so the checked bytes are the digested ones.
        self.packages.store.packages.insert(installed.digest, self.package);
        Ok(Imported { installed, outcome, findings: self.findings, sources: self.sources })
    }

    fn store(&self, on_wait: &mut dyn FnMut()) -> Result<(Installed, ImportOutcome), ImportError> {
        let manifest = self.package.manifest();
        let digest = self.source.digest()?;
        let spot = || self.packages.spot(&manifest.name, &manifest.version, digest);
        if let PlaceState::Taken(installed) = spot() {
            return Ok((installed, ImportOutcome::AlreadyThere));
        }
        let lock = PackagesLock::acquire(&self.packages.folder(), on_wait)?;
        // Another process may have imported it first.
        let (folder, outcome) = match spot() {
            PlaceState::Taken(installed) => return Ok((installed, ImportOutcome::AlreadyThere)),
            PlaceState::Free(folder) => (folder, ImportOutcome::New),
            PlaceState::Broken(folder) => (folder, ImportOutcome::Repaired),
            PlaceState::Newer(damaged) => return Err(StoreError::Damaged(damaged).into()),
        };
        let installed = Installed {
            name: manifest.name.clone(),
            version: manifest.version.clone(),
            digest,
            folder,
            imported: crate::clock::now(),
            origin: self.origin(),
            files: self.source.sizes().len() as u64,
            bytes: self.source.unpacked_bytes(),
        };
        self.write(&lock, &installed, outcome)?;
        Ok((installed, outcome))
    }

    fn origin(&self) -> String {
        let absolute = std::path::absolute(&self.origin).ok().filter(|_| !self.is_named);
        absolute.unwrap_or_else(|| self.origin.clone()).display().to_string()
    }

    fn write(
        &self,
        lock: &PackagesLock,
        installed: &Installed,
        outcome: ImportOutcome,
    ) -> Result<(), ImportError> {
        let staging = lock.create_staging()?;
        let flush = Flush::new(staging.path()).map_err(StoreError::io("open", staging.path()))?;
        extract(&self.source, &staging.path().join(FILES))?;
        let record = record_path(staging.path());
        PackageRecord::new(installed)
            .write(staging.path())
            .map_err(StoreError::io("write", &record))?;
        make_read_only(&record).map_err(StoreError::io("protect", &record))?;
        flush.all(staging.path()).map_err(StoreError::io("flush", staging.path()))?;
        match outcome {
            ImportOutcome::Repaired => staging.replace(&installed.folder)?,
            ImportOutcome::New | ImportOutcome::AlreadyThere => {
                staging.publish(&installed.folder)?
            }
        }
        Ok(())
    }
}
