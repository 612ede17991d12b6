//! Import: checks a package, writes it to a staging folder and publishes it atomically.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crewagent_format::diagnostic::{Code, Findings, Sources};
use crewagent_format::package::{Files, Package};
use crewagent_format::path::PackagePath;
use thiserror::Error;

use super::extract::extract;
use super::foreign::{ForeignImport, Sighted, SightedSource, SourceOptions, sight};
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
    /// Record of the conversion, if the source was foreign.
    pub foreign: Option<ForeignImport>,
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
    pub(super) packages: Packages<'s>,
    origin: PathBuf,
    is_named: bool,
    pub(super) content: PreparedContent,
    pub(super) package: Arc<Package>,
    findings: Findings,
    sources: Sources,
    foreign: Option<ForeignImport>,
}

/// Content of an import.
#[derive(Debug)]
pub(super) enum PreparedContent {
    Files(Source),
    /// The store has it already.
    Stored(Installed),
}

impl<'s> Packages<'s> {
    /// Imports the folder or archive at a path. Calls `on_wait` once if it must wait for another process that changes
    /// the store.
    pub fn import(&self, path: &Path, on_wait: &mut dyn FnMut()) -> Result<Imported, ImportError> {
        self.prepare(path)?.commit(on_wait)
    }

    /// Checks the folder or archive at a path, for callers that want to see it before the import. A foreign source is
    /// converted, unless the store has the package that was made of it.
    pub fn prepare(&self, path: &Path) -> Result<PreparedImport<'s>, ImportError> {
        self.prepare_with(path, &SourceOptions::default())
    }

    /// Checks the folder or archive at a path with these options.
    pub fn prepare_with(
        &self,
        path: &Path,
        options: &SourceOptions,
    ) -> Result<PreparedImport<'s>, ImportError> {
        let sighted = match sight(path, options, &self.store.settings.import)? {
            Sighted::Package(inspected) => return self.prepared(path, *inspected, None),
            Sighted::Foreign(sighted) => sighted,
        };
        if let Some(installed) = self.made_of(sighted.key)
            && let Ok(package) = self.load_verified(&installed)
        {
            let report = self.conversion(&installed).unwrap_or_default();
            return Ok(PreparedImport {
                packages: *self,
                origin: path.to_owned(),
                is_named: false,
                content: PreparedContent::Stored(installed),
                package,
                findings: Findings::default(),
                sources: Sources::default(),
                foreign: Some(ForeignImport { report, is_known: true, key: sighted.key }),
            });
        }
        let (inspected, foreign) = self.converted(&sighted, path)?;
        self.prepared(path, inspected, foreign)
    }

    /// Checks the folder or archive at a path, and keeps nothing. A foreign source is converted in memory.
    pub fn inspect_path(
        &self,
        path: &Path,
        options: &SourceOptions,
    ) -> Result<(Inspected, Option<ForeignImport>), SourceError> {
        Ok(match sight(path, options, &self.store.settings.import)? {
            Sighted::Package(inspected) => (*inspected, None),
            Sighted::Foreign(sighted) => self.converted(&sighted, path)?,
        })
    }

    /// Converts a source. One in which nothing was found, and which looks like a package, is checked as a package.
    fn converted(
        &self,
        sighted: &SightedSource,
        path: &Path,
    ) -> Result<(Inspected, Option<ForeignImport>), SourceError> {
        let (inspected, foreign) = sighted.convert();
        let is_nothing = || inspected.findings.iter().all(|found| found.code == Code::NothingFound);
        if inspected.package.is_none() && sighted.is_like_package && is_nothing() {
            return Ok((inspect(path, &self.store.settings.import)?, None));
        }
        Ok((inspected, Some(foreign)))
    }

    fn prepared(
        &self,
        path: &Path,
        inspected: Inspected,
        foreign: Option<ForeignImport>,
    ) -> Result<PreparedImport<'s>, ImportError> {
        let Inspected { source, package, findings, sources, .. } = inspected;
        let (Some(source), Some(package)) = (source, package) else {
            return Err(ImportError::Rejected(Box::new(Rejection { findings, sources })));
        };
        Ok(PreparedImport {
            packages: *self,
            origin: path.to_owned(),
            is_named: false,
            content: PreparedContent::Files(source),
            package: Arc::new(package),
            findings,
            sources,
            foreign,
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

    /// Returns the record of the conversion, if the source is foreign.
    pub fn foreign(&self) -> Option<&ForeignImport> {
        self.foreign.as_ref()
    }

    /// Returns the texts that the findings point into.
    pub fn sources(&self) -> &Sources {
        &self.sources
    }

    /// Returns the warnings for the author.
    pub fn findings(&self) -> &Findings {
        &self.findings
    }

    /// Imports it. Calls `on_wait` once if it must wait for another process that changes the store.
    pub fn commit(self, on_wait: &mut dyn FnMut()) -> Result<Imported, ImportError> {
        let Self { packages, findings, sources, foreign, .. } = &self;
        let (installed, outcome) = match &self.content {
            PreparedContent::Stored(installed) => (installed.clone(), ImportOutcome::AlreadyThere),
            PreparedContent::Files(source) => self.store(source, on_wait)?,
        };
        // A source never returns two contents of one file, so the checked bytes are the digested ones.
        packages.store.packages.insert(installed.digest, Arc::clone(&self.package));
        if let Some(foreign) = foreign.as_ref().filter(|foreign| !foreign.is_known) {
            packages.remember(foreign.key, &installed)?;
        }
        let (findings, sources, foreign) = (findings.clone(), sources.clone(), foreign.clone());
        Ok(Imported { installed, outcome, findings, sources, foreign })
    }

    fn store(
        &self,
        source: &Source,
        on_wait: &mut dyn FnMut(),
    ) -> Result<(Installed, ImportOutcome), ImportError> {
        let manifest = self.package.manifest();
        let digest = source.digest()?;
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
            files: source.sizes().len() as u64,
            bytes: source.unpacked_bytes(),
        };
        self.write(source, &lock, &installed, outcome)?;
        Ok((installed, outcome))
    }

    /// Returns the path that the package is imported from, as its record names it.
    pub(super) fn origin(&self) -> String {
        let absolute = std::path::absolute(&self.origin).ok().filter(|_| !self.is_named);
        absolute.unwrap_or_else(|| self.origin.clone()).display().to_string()
    }

    fn write(
        &self,
        source: &Source,
        lock: &PackagesLock,
        installed: &Installed,
        outcome: ImportOutcome,
    ) -> Result<(), ImportError> {
        let staging = lock.create_staging()?;
        let flush = Flush::new(staging.path()).map_err(StoreError::io("open", staging.path()))?;
        extract(source, &staging.path().join(FILES))?;
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
