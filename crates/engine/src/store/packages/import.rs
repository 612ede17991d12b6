//! Import: a package is checked whole, written whole, and then there at once, or not at all.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crewagent_core::diagnostic::{Findings, Sources};
use crewagent_core::package::{Files, Package};
use crewagent_core::path::PackagePath;
use jiff::Timestamp;
use thiserror::Error;

use super::extract::extract;
use super::record::Record;
use super::staging::Lock;
use super::{FILES, Installed, Packages, Spot, record_path};
use crate::durable::{Flush, make_read_only};
use crate::inspect::{Inspected, Rejection, inspect};
use crate::source::{ReadError, Source, SourceError};
use crate::store::StoreError;

/// What an import did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The package is new in the store.
    New,
    /// The same content was there already; nothing was changed.
    AlreadyThere,
    /// The same package was there, but damaged; it was replaced.
    Repaired,
}

/// A package that is in the store now.
#[derive(Debug)]
pub struct Imported {
    /// The package.
    pub installed: Installed,
    /// What was done for it.
    pub outcome: Outcome,
    /// What its author should look at.
    pub findings: Findings,
    /// The texts that the findings point into.
    pub sources: Sources,
}

/// Why a package was not imported. The store is as it was.
#[derive(Debug, Error)]
pub enum ImportError {
    /// The package cannot be looked at.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// The package has errors.
    #[error("the package has errors; nothing was imported")]
    Rejected(Box<Rejection>),
    /// A file of the package cannot be read.
    #[error("`{path}` of the package cannot be read: {error}; nothing was imported")]
    Read {
        /// The file.
        path: PackagePath,
        /// What the system said.
        error: io::Error,
    },
    /// The store cannot take it.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<ReadError> for ImportError {
    fn from(ReadError { path, error }: ReadError) -> Self {
        Self::Read { path, error }
    }
}

/// A package that may be imported: it has no errors, and nothing was written yet.
#[derive(Debug)]
pub struct Prepared<'s> {
    packages: Packages<'s>,
    origin: PathBuf,
    source: Source,
    package: Arc<Package>,
    findings: Findings,
    sources: Sources,
}

impl<'s> Packages<'s> {
    /// Imports the folder or archive at a path.
    /// `on_wait` is called once if another process changes the store and must be waited for.
    pub fn import(&self, path: &Path, on_wait: &mut dyn FnMut()) -> Result<Imported, ImportError> {
        self.prepare(path)?.commit(on_wait)
    }

    /// Looks at the folder or archive at a path, for a caller who wants to know more before it is imported.
    pub fn prepare(&self, path: &Path) -> Result<Prepared<'s>, ImportError> {
        let Inspected { source, package, findings, sources } =
            inspect(path, &self.store.settings.import)?;
        let (Some(source), Some(package)) = (source, package) else {
            return Err(ImportError::Rejected(Box::new(Rejection { findings, sources })));
        };
        Ok(Prepared {
            packages: *self,
            origin: path.to_owned(),
            source,
            package: Arc::new(package),
            findings,
            sources,
        })
    }
}

impl Prepared<'_> {
    /// The package.
    pub fn package(&self) -> &Package {
        &self.package
    }

    /// What its author should look at.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Imports it. `on_wait` is called once if another process changes the store and must be waited for.
    pub fn commit(self, on_wait: &mut dyn FnMut()) -> Result<Imported, ImportError> {
        let (installed, outcome) = self.store(on_wait)?;
        // A source never gives two contents of one file, so what was checked is what was digested.
        self.packages.store.packages.insert(installed.digest, self.package);
        Ok(Imported { installed, outcome, findings: self.findings, sources: self.sources })
    }

    fn store(&self, on_wait: &mut dyn FnMut()) -> Result<(Installed, Outcome), ImportError> {
        let manifest = self.package.manifest();
        let digest = self.source.digest()?;
        let spot = || self.packages.spot(&manifest.name, &manifest.version, digest);
        if let Spot::Taken(installed) = spot() {
            return Ok((installed, Outcome::AlreadyThere));
        }
        let lock = Lock::acquire(&self.packages.folder(), on_wait)?;
        // Another process may have been faster.
        let (folder, outcome) = match spot() {
            Spot::Taken(installed) => return Ok((installed, Outcome::AlreadyThere)),
            Spot::Free(folder) => (folder, Outcome::New),
            Spot::Broken(folder) => (folder, Outcome::Repaired),
            Spot::Newer(damaged) => return Err(StoreError::Damaged(damaged).into()),
        };
        let installed = Installed {
            name: manifest.name.clone(),
            version: manifest.version.clone(),
            digest,
            folder,
            imported: Timestamp::now(),
            origin: std::path::absolute(&self.origin)
                .unwrap_or_else(|_| self.origin.clone())
                .display()
                .to_string(),
            files: self.source.sizes().len() as u64,
            bytes: self.source.unpacked_bytes(),
        };
        self.write(&lock, &installed, outcome)?;
        Ok((installed, outcome))
    }

    fn write(
        &self,
        lock: &Lock,
        installed: &Installed,
        outcome: Outcome,
    ) -> Result<(), ImportError> {
        let staging = lock.stage()?;
        let flush = Flush::new(staging.path()).map_err(StoreError::io("open", staging.path()))?;
        extract(&self.source, &staging.path().join(FILES))?;
        let record = record_path(staging.path());
        Record::new(installed).write(staging.path()).map_err(StoreError::io("write", &record))?;
        make_read_only(&record).map_err(StoreError::io("protect", &record))?;
        flush.all(staging.path()).map_err(StoreError::io("flush", staging.path()))?;
        match outcome {
            Outcome::Repaired => staging.replace(&installed.folder)?,
            Outcome::New | Outcome::AlreadyThere => staging.publish(&installed.folder)?,
        }
        Ok(())
    }
}
