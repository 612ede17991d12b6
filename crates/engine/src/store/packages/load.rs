//! Checked packages, cached by digest, so that one process checks the same content once.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};

use crewagent_format::integrity::Digest;
use crewagent_format::package::{Package, check};

use super::{Installed, Packages};
use crate::store::StoreError;
use crewagent_source::inspect::{Inspected, examine};
use crewagent_source::runtime_version;

/// Number of packages kept in memory.
const MAX_CACHED_PACKAGES: usize = 16;

/// Checked packages of this process, the most recently used last. Clones share the entries.
#[derive(Clone, Debug, Default)]
pub(in crate::store) struct PackageCache(Arc<Mutex<VecDeque<CachedPackage>>>);

type CachedPackage = (Digest, Arc<Package>);

impl PackageCache {
    fn get(&self, digest: Digest) -> Option<Arc<Package>> {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let at = entries.iter().position(|(of, _)| *of == digest)?;
        let entry = entries.remove(at)?;
        let package = Arc::clone(&entry.1);
        entries.push_back(entry);
        Some(package)
    }

    /// Adds a package with this digest, and evicts the least recently used one if the cache is full.
    pub(super) fn insert(&self, digest: Digest, package: Arc<Package>) {
        let mut entries = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        entries.retain(|(of, _)| *of != digest);
        entries.push_back((digest, package));
        if entries.len() > MAX_CACHED_PACKAGES {
            entries.pop_front();
        }
    }
}

impl Packages<'_> {
    /// Returns a package for a view. Its files are read and verified only if it is not cached.
    pub fn load(&self, installed: &Installed) -> Result<Arc<Package>, StoreError> {
        match self.store.packages.get(installed.digest) {
            Some(package) => Ok(package),
            None => self.load_verified(installed),
        }
    }

    /// Returns a package for a run, after verifying that its files are those that were imported.
    pub fn load_verified(&self, installed: &Installed) -> Result<Arc<Package>, StoreError> {
        let source = self.open(installed)?;
        let cache = &self.store.packages;
        if let Some(package) = cache.get(installed.digest) {
            return Ok(package);
        }
        let package = check(&source, &runtime_version()).package;
        let package = package.ok_or_else(|| StoreError::Invalid(installed.reference()))?;
        let package = Arc::new(package);
        cache.insert(installed.digest, Arc::clone(&package));
        Ok(package)
    }

    /// Checks a package again, for callers that need the findings.
    pub fn inspect(&self, installed: &Installed) -> Result<Inspected, StoreError> {
        Ok(examine(self.open(installed)?))
    }
}
