//! Packages of the store: unpacked, their files read-only, each identified by the digest of its content.
//!
//! A package is one folder: `package/` with its files, and `import.json`, its record. Both are written into a
//! staging folder first, so that one rename publishes them. All changes happen under one lock, so any staging folder
//! found under it was left by a crash.

mod damage;
mod difference;
mod extract;
mod find;
mod foreign;
mod import;
mod load;
mod needed;
mod record;
mod staging;

use std::fs;
use std::io;
use std::path::PathBuf;

use crewagent_format::integrity::Digest;
use crewagent_format::package::Files;
use jiff::Timestamp;
use semver::Version;

pub use self::damage::{Damaged, Harm};
pub use self::difference::{PackageDifference, PartDifference};
pub use self::find::{FindError, FoundPackage};
pub use self::foreign::{
    AcceptedSource, FolderSource, ForeignImport, SourceContent, SourceOptions, scope_of,
};
use self::import::PreparedContent;
pub use self::import::{ImportError, ImportOutcome, Imported, PreparedImport};
pub(super) use self::load::PackageCache;
pub use self::needed::NeededBy;

use self::record::{PackageRecord, RECORD};
use self::staging::PackagesLock;
use super::layout::{DIGEST_DIGITS, folder_name};
use super::{Store, StoreError, is_out_of_files};
use crewagent_source::{OpenResult, PackageLimits, ReadError, Source, SourceError};

/// Subfolder with the files of a package.
const FILES: &str = "package";

/// Package in the store.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Installed {
    /// Name in its manifest.
    pub name: String,
    pub version: Version,
    /// Digest of its content, its identity.
    pub digest: Digest,
    pub folder: PathBuf,
    /// Time of the import.
    pub imported: Timestamp,
    /// Path that it was imported from.
    pub origin: String,
    /// Number of files.
    pub files: u64,
    /// Total size of the files.
    pub bytes: u64,
}

/// Packages of the store.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PackageListing {
    /// Sorted by name, version and age, the newest last.
    pub installed: Vec<Installed>,
    /// Folders that can be removed; importing the package again repairs most of them.
    pub damaged: Vec<Damaged>,
}

/// Access to the packages of a store.
#[derive(Clone, Copy, Debug)]
pub struct Packages<'s> {
    store: &'s Store,
}

/// State of the place where a package goes.
enum PlaceState {
    /// Holds the package, intact.
    Taken(Installed),
    Free(PathBuf),
    /// Holds the package, changed since its import.
    Broken(PathBuf),
    /// Holds something that this program must not replace.
    Newer(Box<Damaged>),
}

impl<'s> Packages<'s> {
    pub(super) fn new(store: &'s Store) -> Self {
        Self { store }
    }

    /// Lists all packages, and folders that look like one. Judges them only by number and sizes of their files;
    /// [`Packages::open`] verifies the content.
    pub fn list(&self) -> Result<PackageListing, StoreError> {
        let folder = self.folder();
        let entries = match fs::read_dir(&folder) {
            Ok(entries) => entries,
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Ok(PackageListing::default());
            }
            Err(error) => return Err(StoreError::io("list", &folder)(error)),
        };
        let mut listing = PackageListing::default();
        for entry in entries {
            let entry = entry.map_err(StoreError::io("list", &folder))?;
            // A name that begins with a dot is our temporary folder, or not ours.
            if entry.file_name().to_string_lossy().starts_with('.') || !entry.path().is_dir() {
                continue;
            }
            let read = PackageRecord::read(&entry.path()).map_err(StoreError::from);
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

    /// Opens the files of a package and verifies that they are as they were imported.
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

    /// Removes a package or a damaged folder atomically. Calls `on_wait` once if it must wait for another process that
    /// changes the store.
    pub fn remove(
        &self,
        found: &FoundPackage,
        on_wait: &mut dyn FnMut(),
    ) -> Result<(), StoreError> {
        PackagesLock::acquire(&self.folder(), on_wait)?.discard(found.folder())
    }

    fn folder(&self) -> PathBuf {
        self.store.layout.packages()
    }

    /// Finds a package in a folder that an earlier version of this program named.
    fn elsewhere(&self, digest: Digest) -> Option<PlaceState> {
        let entries = fs::read_dir(self.folder()).ok()?.filter_map(Result::ok);
        let hidden = |name: &std::ffi::OsStr| name.to_string_lossy().starts_with('.');
        let folders = entries.filter(|entry| !hidden(&entry.file_name()));
        let read = |entry: fs::DirEntry| PackageRecord::read(&entry.path()).ok().flatten();
        let installed = folders.filter_map(read).find(|installed| installed.digest == digest)?;
        Some(match self.open(&installed) {
            Ok(_) => PlaceState::Taken(installed),
            Err(_) => PlaceState::Broken(installed.folder),
        })
    }

    /// Finds the place of a package by name, version and digest.
    fn spot(&self, name: &str, version: &Version, digest: Digest) -> PlaceState {
        let mut last = self.folder();
        for digits in DIGEST_DIGITS {
            let folder = self.folder().join(folder_name(name, version, &digest, digits));
            if folder.symlink_metadata().is_err() {
                return self.elsewhere(digest).unwrap_or(PlaceState::Free(folder));
            }
            match PackageRecord::read(&folder) {
                Ok(Some(installed)) if installed.digest == digest => {
                    return if self.open(&installed).is_ok() {
                        PlaceState::Taken(installed)
                    } else {
                        PlaceState::Broken(folder)
                    };
                }
                // Another package with the same first digits.
                Ok(Some(_)) => last = folder,
                Err(damaged) if damaged.digest.is_some_and(|other| other != digest) => {
                    last = folder;
                }
                Err(damaged) if damaged.harm == Harm::Newer => return PlaceState::Newer(damaged),
                Ok(None) | Err(_) => return PlaceState::Broken(folder),
            }
        }
        // Two packages never share a full digest, so the record here must be wrong.
        PlaceState::Broken(last)
    }
}

/// Opens the files of a package without verifying their content.
fn files(installed: &Installed) -> Result<Source, StoreError> {
    match Source::open(&installed.folder.join(FILES), &PackageLimits::NONE) {
        Ok(OpenResult::Passed(source)) => Ok(source),
        Ok(OpenResult::Refused(findings)) => {
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

/// Returns the error for unreadable files: the package counts as changed, unless the process is out of file handles.
fn unreadable(installed: &Installed, how: &str, cause: Option<io::Error>) -> StoreError {
    match cause {
        Some(error) if is_out_of_files(&error) => StoreError::io("read", &installed.folder)(error),
        Some(_) | None => changed(installed, how).into(),
    }
}

/// Compares number and sizes of the files with the record.
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
    /// Returns the key that orders packages of the same name.
    fn age(&self) -> (&Version, Timestamp, Digest) {
        (&self.version, self.imported, self.digest)
    }

    /// Returns the folder with its files, which a run sees as `@pkg`.
    pub fn files_folder(&self) -> PathBuf {
        self.folder.join(FILES)
    }

    /// Returns `name@version`, as users write it.
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
