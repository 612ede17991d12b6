//! The packages of the store: unpacked, their files read-only, each known by the digest of its content.
//!
//! A package is one folder: `package/` with its files, and `import.json` with what is known about it. Both are
//! written into a staging folder first, so that one rename publishes them. All changes happen under one lock,
//! which makes every staging folder that is found there the remains of a crash.

mod damage;
mod extract;
mod find;
mod import;
mod load;
mod needed;
mod record;
mod staging;

use std::fs;
use std::io;
use std::path::PathBuf;

use crewagent_core::integrity::Digest;
use crewagent_core::package::Files;
use jiff::Timestamp;
use semver::Version;

pub use self::damage::{Damaged, Harm};
pub use self::find::{FindError, Found};
pub use self::import::{ImportError, Imported, Outcome, Prepared};
pub(super) use self::load::PackageCache;
pub use self::needed::NeededBy;

use self::record::{RECORD, Record};
use self::staging::Lock;
use super::layout::{DIGEST_DIGITS, folder_name};
use super::{Store, StoreError, is_out_of_files};
use crate::source::{Limits, Opened, ReadError, Source, SourceError};

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

/// What is in the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Listing {
    /// By name, then by version, then by age, the newest last.
    pub installed: Vec<Installed>,
    /// Folders that can be removed; most are repaired when their package is imported again.
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
    /// Something that this program must not replace.
    Newer(Box<Damaged>),
}

impl<'s> Packages<'s> {
    pub(super) fn new(store: &'s Store) -> Self {
        Self { store }
    }

    /// Every package, and what else looks like one. Whether a package is whole is only judged by the number and the
    /// sizes of its files; [`Packages::open`] looks at all of it.
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
            let read = Record::read(&entry.path()).map_err(StoreError::from);
            match read.and_then(|read| read.map(looks_whole).transpose()) {
                Ok(Some(installed)) => listing.installed.push(installed),
                Ok(None) => {}
                Err(StoreError::Damaged(damaged)) => listing.damaged.push(*damaged),
                Err(error) => return Err(error),
            }
        }
        listing.installed.sort_by(|one, other| {
            let key = |of: &Installed| (of.name.to_lowercase(), of.name.clone());
            key(one).cmp(&key(other)).then_with(|| one.age().cmp(&other.age()))
        });
        listing.damaged.sort_by(|one, other| one.folder.cmp(&other.folder));
        Ok(listing)
    }

    /// The files of a package, all of them as they were imported.
    pub fn open(&self, installed: &Installed) -> Result<Source, StoreError> {
        let source = files(installed)?;
        let digest = source.digest().map_err(|ReadError { path, error }| {
            let how = format!("`{path}` cannot be read: {error}");
            unreadable(installed, &how, Some(error))
        })?;
        if digest != installed.digest {
            return Err(changed(installed, "its content has another digest").into());
        }
        Ok(source)
    }

    /// Takes a package or a damaged folder out of the store, at once and as a whole. `on_wait` is called once
    /// if another process changes the store and must be waited for.
    pub fn remove(&self, found: &Found, on_wait: &mut dyn FnMut()) -> Result<(), StoreError> {
        Lock::acquire(&self.folder(), on_wait)?.discard(found.folder())
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
                    return if self.open(&installed).is_ok() {
                        Spot::Taken(installed)
                    } else {
                        Spot::Broken(folder)
                    };
                }
                // Another package with the same first digits.
                Ok(Some(_)) => last = folder,
                Err(damaged) if damaged.digest.is_some_and(|other| other != digest) => {
                    last = folder;
                }
                Err(damaged) if damaged.harm == Harm::Newer => return Spot::Newer(damaged),
                Ok(None) | Err(_) => return Spot::Broken(folder),
            }
        }
        // Two packages with one digest do not exist; what is there cannot be what its record says.
        Spot::Broken(last)
    }
}

/// The files of a package, whatever is in them.
fn files(installed: &Installed) -> Result<Source, StoreError> {
    match Source::open(&installed.folder.join(FILES), &Limits::NONE) {
        Ok(Opened::Passed(source)) => Ok(source),
        Ok(Opened::Refused(findings)) => {
            let first = findings
                .iter()
                .next()
                .map(|found| format!("in `{}`, {}", found.place.file, found.message));
            Err(changed(installed, &first.unwrap_or_default()).into())
        }
        Err(error) => {
            let how = error.to_string();
            let cause = if let SourceError::Io { error, .. } = error { Some(error) } else { None };
            Err(unreadable(installed, &how, cause))
        }
    }
}

/// What cannot be read was changed, unless nothing at all could be read now.
fn unreadable(installed: &Installed, how: &str, cause: Option<io::Error>) -> StoreError {
    match cause {
        Some(error) if is_out_of_files(&error) => StoreError::io("read", &installed.folder)(error),
        Some(_) | None => changed(installed, how).into(),
    }
}

/// Compares the number and the sizes of the files with the record.
fn looks_whole(installed: Installed) -> Result<Installed, StoreError> {
    let source = files(&installed)?;
    if source.sizes().len() as u64 != installed.files {
        Err(changed(&installed, "it has another number of files").into())
    } else if source.unpacked_bytes() != installed.bytes {
        Err(changed(&installed, "its files have other sizes").into())
    } else {
        Ok(installed)
    }
}

fn changed(installed: &Installed, how: &str) -> Box<Damaged> {
    let reason = format!("it was changed after it was imported: {how}");
    Box::new(Damaged::new(&installed.folder, reason, Harm::Broken).of(Some(installed)))
}

impl Installed {
    /// The order in which one package follows another of the same name.
    fn age(&self) -> (&Version, Timestamp, Digest) {
        (&self.version, self.imported, self.digest)
    }

    /// The folder with its files: what a run sees as `@pkg`.
    pub fn files_folder(&self) -> PathBuf {
        self.folder.join(FILES)
    }

    /// The package as a person writes it: `name@version`.
    pub fn reference(&self) -> String {
        format!("{}@{}", self.name, self.version)
    }
}

fn record_path(folder: &std::path::Path) -> PathBuf {
    folder.join(RECORD)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_package_that_cannot_be_read_for_want_of_files_was_not_changed() {
        let installed = Installed {
            name: "p".to_owned(),
            version: Version::new(1, 0, 0),
            digest: Digest::of(b""),
            folder: PathBuf::from("p"),
            imported: Timestamp::UNIX_EPOCH,
            origin: String::new(),
            files: 1,
            bytes: 1,
        };
        let told = |code| {
            let error = io::Error::from_raw_os_error(code);
            unreadable(&installed, "it cannot be read", Some(error)).to_string()
        };
        for code in [23, 24] {
            assert!(told(code).contains("raise the limit"), "{}", told(code));
            assert!(!told(code).contains("was changed"), "{}", told(code));
        }
        assert!(told(5).contains("was changed"), "{}", told(5));
    }
}
