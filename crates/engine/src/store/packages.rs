//! The packages of the store: unpacked, read-only, each known by the digest of its content.
//!
//! A package is one folder: `package/` with its files, and `import.json` with what is known about it. Both are
//! written into a staging folder first, so that one rename publishes them. All changes happen under one lock,
//! which makes every staging folder that is found there the remains of a crash.

mod extract;
mod find;
mod import;
mod record;
mod staging;

use std::fs;
use std::io;
use std::path::PathBuf;

use crewagent_core::integrity::Digest;
use jiff::Timestamp;
use semver::Version;

pub use self::find::FindError;
pub use self::import::{ImportError, Imported, Outcome, Prepared};

use self::record::{RECORD, Record};
use self::staging::Lock;
use super::layout::{DIGEST_DIGITS, folder_name};
use super::{Store, StoreError};
use crate::source::{Limits, Opened, Source};

/// Where the files of a package are, below its folder.
const FILES: &str = "package";

/// A package in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Its name, as its manifest has it.
    pub name: String,
    /// Its version.
    pub version: Version,
    /// The digest of its content, which tells it from every other.
    pub digest: Digest,
    /// Where it is.
    pub folder: PathBuf,
    /// When it was imported.
    pub imported: Timestamp,
    /// What it was imported from.
    pub origin: String,
    /// How many files it has.
    pub files: u64,
    /// Their size together.
    pub bytes: u64,
}

/// A folder that should be a package and is not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    /// Where it is.
    pub folder: PathBuf,
    /// What is wrong with it.
    pub reason: String,
}

/// What is in the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// By name, then by version, then by age, the newest last.
    pub installed: Vec<Installed>,
    /// Folders that can be removed, or are repaired when their package is imported again.
    pub damaged: Vec<Damaged>,
}

/// Access to the packages of a store.
#[derive(Clone, Copy, Debug)]
pub struct Packages<'s> {
    store: &'s Store,
}

/// What stands where a package would go.
enum Spot {
    /// The package itself, whole.
    Taken(Installed),
    /// Nothing.
    Free(PathBuf),
    /// The package, but not as it was imported.
    Broken(PathBuf),
}

impl<'s> Packages<'s> {
    pub(super) fn new(store: &'s Store) -> Self {
        Self { store }
    }

    /// Every package, and what else looks like one.
    pub fn list(&self) -> Result<Listing, StoreError> {
        let folder = self.folder();
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Listing::default()),
            Err(error) => return Err(StoreError::io("list", &folder)(error)),
        };
        let mut listing = Listing::default();
        for entry in entries {
            let entry = entry.map_err(StoreError::io("list", &folder))?;
            // A name that begins with a dot is ours while work is going on, or none of our business.
            if entry.file_name().to_string_lossy().starts_with('.') || !entry.path().is_dir() {
                continue;
            }
            match Record::read(&entry.path()) {
                Ok(Some(installed)) => listing.installed.push(installed),
                Ok(None) => {}
                Err(reason) => listing.damaged.push(Damaged { folder: entry.path(), reason }),
            }
        }
        listing.installed.sort_by(|one, other| {
            let key = |of: &Installed| (of.name.to_lowercase(), of.name.clone());
            key(one).cmp(&key(other)).then_with(|| one.age().cmp(&other.age()))
        });
        listing.damaged.sort_by(|one, other| one.folder.cmp(&other.folder));
        Ok(listing)
    }

    /// The files of a package, to be read again.
    pub fn open(&self, installed: &Installed) -> Result<Source, StoreError> {
        let folder = installed.folder.join(FILES);
        let damaged = |reason: String| StoreError::Io {
            action: "read",
            path: folder.clone(),
            error: io::Error::new(io::ErrorKind::InvalidData, reason),
        };
        match Source::open(&folder, &Limits::NONE) {
            Ok(Opened::Passed(source)) => Ok(source),
            Ok(Opened::Refused(_)) => Err(damaged(
                "it was changed after it was imported; import the package again".to_owned(),
            )),
            Err(error) => Err(damaged(format!("{error}; or import the package again"))),
        }
    }

    /// Takes a package out of the store, at once and as a whole.
    pub fn remove(&self, installed: &Installed) -> Result<(), StoreError> {
        self.discard(&installed.folder)
    }

    /// Takes a damaged folder out of the store.
    pub fn remove_damaged(&self, damaged: &Damaged) -> Result<(), StoreError> {
        self.discard(&damaged.folder)
    }

    fn discard(&self, folder: &std::path::Path) -> Result<(), StoreError> {
        let lock = Lock::acquire(&self.folder())?;
        lock.discard(folder)
    }

    fn folder(&self) -> PathBuf {
        self.store.layout.packages()
    }

    /// Where a package of this name, version and content is, or goes.
    fn spot(&self, name: &str, version: &Version, digest: Digest) -> Spot {
        let mut last = self.folder();
        for digits in DIGEST_DIGITS {
            let folder = self.folder().join(folder_name(name, version, &digest, digits));
            if folder.symlink_metadata().is_err() {
                return Spot::Free(folder);
            }
            match Record::read(&folder) {
                Ok(Some(installed)) if installed.digest == digest => {
                    return if self.is_whole(&installed) {
                        Spot::Taken(installed)
                    } else {
                        Spot::Broken(folder)
                    };
                }
                // Another package with the same first digits.
                Ok(Some(_)) => last = folder,
                Ok(None) | Err(_) => return Spot::Broken(folder),
            }
        }
        // Two packages with one digest do not exist; what is there cannot be what its record says.
        Spot::Broken(last)
    }

    /// Whether every file is there and has the content it was imported with.
    fn is_whole(&self, installed: &Installed) -> bool {
        let found = self.open(installed).ok().and_then(|source| source.digest().ok());
        found == Some(installed.digest)
    }
}

impl Installed {
    /// The order in which one package follows another of the same name.
    fn age(&self) -> (&Version, Timestamp, Digest) {
        (&self.version, self.imported, self.digest)
    }

    /// The package as a person writes it: `name@version`.
    pub fn reference(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

fn record_path(folder: &std::path::Path) -> PathBuf {
    folder.join(RECORD)
}
