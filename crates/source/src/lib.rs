//! Packages on disk: a folder or an archive, admitted by one gate.
//!
//! A package is opened by [`Source`], checked whole by [`inspect::inspect`] and written by [`pack::pack`].

mod archive;
pub mod author;
mod contents;
mod folder;
pub mod foreign;
mod gate;
pub mod inspect;
mod limits;
mod litter;
pub mod names;
pub mod pack;
mod parallel;

use std::collections::{BTreeMap, HashMap};
use std::convert::Infallible;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use crewagent_format::diagnostic::Findings;
use crewagent_format::integrity::{Digest, MANIFEST, package_digest};
use crewagent_format::package::Files;
use crewagent_format::path::PackagePath;
use sha2::{Digest as _, Sha256};
use thiserror::Error;

pub use self::limits::{PackageLimits, bytes};
pub use self::litter::is_litter;

use self::archive::{Archive, Scratch};
use self::contents::Contents;
use self::folder::PackageFolder;
pub use self::limits::is_suspicious;
pub use self::parallel::for_each;

/// Returns the version of this runtime, which a package may restrict.
pub fn runtime_version() -> semver::Version {
    semver::Version::parse(env!("CARGO_PKG_VERSION"))
        .unwrap_or_else(|_| semver::Version::new(0, 0, 0))
}

/// Bytes read and passed on at a time.
const CHUNK: usize = 128 * 1024;

/// Files of a package whose names, number and sizes passed the gate. Their contents are not checked here.
///
/// Reading a file twice gives the same bytes, or an error.
#[derive(Debug)]
pub struct Source {
    container: Container,
    sizes: BTreeMap<PackagePath, u64>,
    /// Index of each path in the sorted paths.
    places: HashMap<PackagePath, usize>,
    contents: Contents,
}

#[derive(Debug)]
enum Container {
    Folder(PackageFolder),
    Archive(Archive),
    /// Files that this program made, in the order of their paths.
    Memory(Vec<Arc<[u8]>>),
}

/// Result of opening a source.
#[derive(Debug)]
pub enum OpenResult {
    Passed(Source),
    /// All reasons why the container was refused.
    Refused(Findings),
}

/// Error of opening a source.
#[derive(Debug, Error)]
pub enum SourceError {
    #[error("`{}` does not exist; check the path", path.display())]
    NotFound { path: PathBuf },
    #[error("`{}` may not be read: permission denied; change its permissions, or run as a user who may", path.display())]
    Denied { path: PathBuf },
    /// Pipe, device or socket.
    #[error("`{}` is neither a file nor a folder; give a package folder, or a `.bmad` or `.zip` file", path.display())]
    NotAFile { path: PathBuf },
    #[error("`{}` cannot be read: {error}; check the disk or the network share it is on, then try again", path.display())]
    Io { path: PathBuf, error: io::Error },
}

impl SourceError {
    /// Classifies a system error by what the user can do about it.
    pub fn new(path: &Path, error: io::Error) -> Self {
        let path = path.to_owned();
        let kind = error.kind();
        if matches!(kind, io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) {
            Self::NotFound { path }
        } else if kind == io::ErrorKind::PermissionDenied {
            Self::Denied { path }
        } else {
            Self::Io { path, error }
        }
    }
}

impl Source {
    /// Opens a folder, or a file as an archive, whatever its name.
    pub fn open(path: &Path, limits: &PackageLimits) -> Result<OpenResult, SourceError> {
        let failed = |error| SourceError::new(path, error);
        let metadata = fs::metadata(path).map_err(failed)?;
        if metadata.is_dir() {
            let opened = PackageFolder::open(path, limits)
                .map_err(|walk| SourceError::new(&walk.path, walk.error))?;
            return Ok(match opened {
                Ok((folder, sizes)) => {
                    let contents = Contents::new(sizes.len());
                    OpenResult::Passed(Self::new(Container::Folder(folder), sizes, contents))
                }
                Err(findings) => OpenResult::Refused(findings),
            });
        }
        if !metadata.is_file() {
            return Err(SourceError::NotAFile { path: path.to_owned() });
        }
        let file = open_without_waiting(path).map_err(failed)?;
        if !file.metadata().map_err(failed)?.is_file() {
            return Err(SourceError::NotAFile { path: path.to_owned() });
        }
        Ok(match Archive::open(file, limits).map_err(failed)? {
            Ok(passed) => OpenResult::Passed(Self::new(
                Container::Archive(passed.archive),
                passed.sizes,
                passed.contents,
            )),
            Err(findings) => OpenResult::Refused(findings),
        })
    }

    /// Returns the package with these files, which this program made.
    pub fn of_files(files: BTreeMap<PackagePath, Arc<[u8]>>) -> Self {
        let sizes: BTreeMap<PackagePath, u64> =
            files.iter().map(|(path, content)| (path.clone(), content.len() as u64)).collect();
        let contents = Contents::new(sizes.len());
        Self::new(Container::Memory(files.into_values().collect()), sizes, contents)
    }

    fn new(container: Container, sizes: BTreeMap<PackagePath, u64>, contents: Contents) -> Self {
        let places = sizes.keys().enumerate().map(|(place, path)| (path.clone(), place)).collect();
        Self { container, sizes, places, contents }
    }

    /// Returns the total size of all files.
    pub fn unpacked_bytes(&self) -> u64 {
        self.sizes.values().sum()
    }

    /// Computes the digest of the package. Reads the files not read so far, and stores the digest of each file.
    pub fn digest(&self) -> Result<Digest, ReadError> {
        self.digest_with(&BTreeMap::new())
    }

    /// Computes the digest of the package with other content of some files.
    pub(crate) fn digest_with(
        &self,
        replaced: &BTreeMap<PackagePath, Arc<[u8]>>,
    ) -> Result<Digest, ReadError> {
        let paths: Vec<&PackagePath> = self.sizes.keys().collect();
        for_each(paths.len(), ReadBuffers::new, |reader, index| {
            self.note_digest(reader, index, paths[index])
        })?;
        let mut files: BTreeMap<PackagePath, Digest> = paths
            .iter()
            .enumerate()
            .filter_map(|(index, path)| Some(((*path).clone(), self.contents.digest(index)?)))
            .collect();
        for (path, content) in replaced {
            files.insert(path.clone(), Digest::of(content));
        }
        let manifest = match self.sizes.get_key_value(MANIFEST) {
            Some((path, _)) => match replaced.get(path) {
                Some(content) => Arc::clone(content),
                None => self.content(path)?,
            },
            None => Arc::default(),
        };
        Ok(package_digest(&manifest, &files))
    }

    fn note_digest(
        &self,
        reader: &mut ReadBuffers,
        index: usize,
        path: &PackagePath,
    ) -> Result<(), ReadError> {
        if self.contents.digest(index).is_some() {
            return Ok(());
        }
        let size = self.sizes.get(path).copied().unwrap_or_default();
        if !Contents::is_small(size) {
            return self.deliver(reader, path, &mut |_| Ok(())).map(drop);
        }
        let content = self.content(path)?;
        if self.contents.digest(index).is_none() {
            self.contents.note_digest(index, Digest::of(&content));
        }
        Ok(())
    }

    /// Passes the content of a file to `take` in chunks, a small one in a single chunk, and returns its digest.
    pub fn deliver(
        &self,
        reader: &mut ReadBuffers,
        path: &PackagePath,
        take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> Result<Digest, ReadError> {
        let failed = |error| ReadError { path: path.clone(), error };
        let index = self.place(path).map_err(failed)?;
        if let Some(content) = self.contents.cached(index) {
            take(content).map_err(failed)?;
            let digest = self.contents.digest(index).unwrap_or_else(|| Digest::of(content));
            self.contents.note_digest(index, digest);
            return Ok(digest);
        }
        let mut hasher = Sha256::new();
        let mut both = |piece: &[u8]| {
            hasher.update(piece);
            take(piece)
        };
        match &self.container {
            Container::Folder(folder) => {
                let size = self.sizes.get(path).copied().unwrap_or_default();
                folder.stream(path, size, &mut both).map_err(failed)?;
            }
            Container::Archive(archive) => {
                archive.stream(index, &mut reader.scratch, &mut both).map_err(failed)?
            }
            Container::Memory(files) => both(&files[index]).map_err(failed)?,
        }
        let digest = Digest::from_bytes(hasher.finalize().into());
        if self.contents.note_digest(index, digest) {
            Ok(digest)
        } else {
            Err(failed(folder::changed()))
        }
    }

    /// Reads the whole content of a file.
    pub fn content(&self, path: &PackagePath) -> Result<Arc<[u8]>, ReadError> {
        let failed = |error| ReadError { path: path.clone(), error };
        let index = self.place(path).map_err(failed)?;
        if let Some(content) = self.contents.cached(index) {
            return Ok(content.clone());
        }
        let size = self.sizes.get(path).copied().unwrap_or_default();
        let content = match &self.container {
            Container::Folder(folder) => folder.read(path, size),
            Container::Archive(archive) => archive.read(index),
            Container::Memory(files) => Ok(files[index].clone()),
        };
        let content = content.map_err(failed)?;
        if self.contents.digest(index).is_none() && self.contents.reserve(size) {
            return Ok(self.contents.keep(index, content).clone());
        }
        if self.contents.note_digest(index, Digest::of(&content)) {
            Ok(content)
        } else {
            Err(failed(folder::changed()))
        }
    }

    /// Lists the files that cannot be opened, with reasons. An archive that passed the gate has none.
    pub fn unreadable(&self) -> Vec<(PackagePath, String)> {
        let Container::Folder(folder) = &self.container else { return Vec::new() };
        let paths: Vec<(&PackagePath, &u64)> = self.sizes.iter().collect();
        let found: Mutex<Vec<(PackagePath, String)>> = Mutex::default();
        let look = |(): &mut (), index: usize| {
            let (path, size) = paths[index];
            // A file that was read before may be gone by now.
            let read =
                self.contents.cached(index).is_some() || self.contents.digest(index).is_some();
            if !read && let Err(error) = folder.check(path, *size) {
                let mut found = found.lock().unwrap_or_else(PoisonError::into_inner);
                found.push((path.clone(), reason(&error)));
            }
            Ok::<(), Infallible>(())
        };
        match for_each(paths.len(), || (), look) {
            Ok(()) => {}
        }
        let mut found = found.into_inner().unwrap_or_else(PoisonError::into_inner);
        found.sort();
        found
    }

    fn place(&self, path: &PackagePath) -> io::Result<usize> {
        self.places.get(path).copied().ok_or_else(|| io::ErrorKind::NotFound.into())
    }
}

/// Buffers of one thread that reads many files.
pub struct ReadBuffers {
    scratch: Scratch,
}

impl ReadBuffers {
    /// Creates empty buffers.
    #[expect(clippy::new_without_default, reason = "a thread makes one, on purpose")]
    pub fn new() -> Self {
        Self { scratch: Scratch::new() }
    }
}

/// File of a package that could not be read, or that `take` failed on.
#[derive(Debug)]
pub struct ReadError {
    pub path: PackagePath,
    pub error: io::Error,
}

impl Files for Source {
    fn sizes(&self) -> &BTreeMap<PackagePath, u64> {
        &self.sizes
    }

    fn read(&self, path: &PackagePath) -> Result<Arc<[u8]>, String> {
        self.content(path).map_err(|ReadError { error, .. }| reason(&error))
    }
}

/// Formats the reason as part of a sentence.
fn reason(error: &io::Error) -> String {
    if error.kind() == io::ErrorKind::NotFound {
        "it is gone".to_owned()
    } else {
        error.to_string()
    }
}

/// Opens a file for reading, without blocking on a pipe that may have replaced it.
fn open_without_waiting(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.custom_flags(rustix::fs::OFlags::NONBLOCK.bits() as i32);
    }
    options.open(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Tested without the disk, because root may read every file.
    #[test]
    fn a_system_error_becomes_what_the_user_can_do() {
        for (kind, expected) in [
            (io::ErrorKind::NotFound, "`pkg/x.bmad` does not exist; check the path"),
            (io::ErrorKind::NotADirectory, "does not exist"),
            (
                io::ErrorKind::PermissionDenied,
                "`pkg/x.bmad` may not be read: permission denied; change its permissions",
            ),
            (io::ErrorKind::TimedOut, "`pkg/x.bmad` cannot be read: timed out; check the disk"),
        ] {
            let text = SourceError::new(Path::new("pkg/x.bmad"), kind.into()).to_string();
            assert!(text.contains(expected), "{text:?} has no {expected:?}");
        }
    }
}
