//! Folder of the store: runs its operations through [`Disk`] and labels files by their path from the store root.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use cap_fs_ext::MetadataExt as _;
use cap_std::fs::Metadata;

use super::{Deed, Disk, DiskError};

/// Number of concurrent writers of one file.
const MAX_WRITERS: usize = 64;

/// Folder of the store, which need not exist.
#[derive(Clone, Debug)]
pub struct Folder {
    disk: Disk,
    path: PathBuf,
    label: String,
}

/// Mode in which a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// Reads an existing file.
    Read,
    /// Reads and writes an existing file.
    Change,
    /// Writes a file that must not exist.
    New,
    /// Writes a file, truncated if it exists.
    Fresh,
}

type DiskResult<T> = Result<T, DiskError>;

impl Folder {
    /// Returns the root of the store.
    pub fn root(disk: Disk, path: impl Into<PathBuf>) -> Self {
        Self { disk, path: path.into(), label: String::new() }
    }

    /// Returns the subfolder `name`.
    pub fn join(&self, name: &str) -> Self {
        Self { disk: self.disk.clone(), path: self.path.join(name), label: self.label_of(name) }
    }

    /// Returns its real path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the disk it is on.
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Returns its path from the store root.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// Returns the path of an entry from the store root.
    pub fn label_of(&self, name: &str) -> String {
        if self.label.is_empty() { name.to_owned() } else { format!("{}/{name}", self.label) }
    }

    /// Returns a closure for `map_err` that adds action and file to an error.
    pub fn failed(
        &self,
        action: &'static str,
        name: &str,
    ) -> impl FnOnce(io::Error) -> DiskError + use<> {
        let file = self.label_of(name);
        move |error| DiskError { action, file, error }
    }

    fn failed_here(&self, action: &'static str) -> impl FnOnce(io::Error) -> DiskError + use<> {
        let file = self.label.clone();
        move |error| DiskError { action, file, error }
    }

    /// Returns true if the folder exists.
    pub fn exists(&self) -> DiskResult<bool> {
        let looked = self.disk.run(&self.label, Deed::Look, || fs::metadata(&self.path));
        match looked.map(|metadata| metadata.is_dir()) {
            Err(error) if is_missing(&error) => Ok(false),
            other => other.map_err(self.failed_here("look at")),
        }
    }

    /// Returns the size of a file in it; `None` if there is no such file.
    pub fn size_of(&self, name: &str) -> DiskResult<Option<u64>> {
        let found = self.look_at(name)?;
        Ok(found.filter(fs::Metadata::is_file).map(|metadata| metadata.len()))
    }

    /// Returns the modification time of an entry; `None` if there is none.
    pub fn written(&self, name: &str) -> DiskResult<Option<SystemTime>> {
        Ok(self.look_at(name)?.and_then(|metadata| metadata.modified().ok()))
    }

    fn look_at(&self, name: &str) -> DiskResult<Option<fs::Metadata>> {
        let path = self.path.join(name);
        match self.disk.run(self.label_of(name), Deed::Look, || fs::metadata(path)) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(self.failed("look at", name)(error)),
        }
    }

    /// Lists its names, sorted; a missing folder has none. Names that are not UTF-8 are not ours and left out.
    pub fn names(&self) -> DiskResult<Vec<String>> {
        let listed = self.disk.run(&self.label, Deed::List, || {
            let mut names = Vec::new();
            for entry in fs::read_dir(&self.path)? {
                names.extend(entry?.file_name().into_string().ok());
            }
            Ok(names)
        });
        match listed {
            Ok(mut names) => {
                names.sort_unstable();
                Ok(names)
            }
            Err(error) if is_missing(&error) => Ok(Vec::new()),
            Err(error) => Err(self.failed_here("list")(error)),
        }
    }

    /// Creates the folder with access for this user only. It is durable once the parent is flushed.
    pub fn create(&self) -> DiskResult<()> {
        self.disk
            .run(&self.label, Deed::CreateFolder, || private_folder(&self.path))
            .map_err(self.failed_here("create"))
    }

    /// Creates the folder and its missing parents, durably.
    pub fn ensure(&self) -> DiskResult<()> {
        if self.exists()? {
            return Ok(());
        }
        let above = self.above();
        if let Some(above) = &above {
            above.ensure()?;
        } else if let Some(outside) = self.path.parent() {
            // Folders above the store are not ours, so they get the default mode.
            fs::create_dir_all(outside).map_err(self.failed_here("create"))?;
        }
        match self.create() {
            // Another process created it first.
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
            Ok(()) => above.map_or(Ok(()), |above| above.sync()),
        }
    }

    /// Returns the parent folder; `None` for the store root.
    pub fn above(&self) -> Option<Self> {
        if self.label.is_empty() {
            return None;
        }
        let label = self.label.rsplit_once('/').map_or("", |(above, _)| above).to_owned();
        Some(Self { disk: self.disk.clone(), path: self.path.parent()?.to_owned(), label })
    }

    /// Flushes its entries, so that renames, creations and removals are durable.
    pub fn sync(&self) -> DiskResult<()> {
        self.disk
            .run(&self.label, Deed::SyncFolder, || crate::durable::sync_folder(&self.path))
            .map_err(self.failed_here("flush"))
    }

    /// Opens a file of the folder.
    pub fn open(&self, name: &str, opening: Opening) -> DiskResult<File> {
        let mut options = OpenOptions::new();
        options.read(true);
        let (deed, action) = match opening {
            Opening::Read => (Deed::Open, "open"),
            Opening::Change => {
                options.write(true);
                (Deed::Open, "open")
            }
            Opening::New => {
                options.write(true).create_new(true);
                (Deed::Create, "create")
            }
            Opening::Fresh => {
                options.write(true).create(true).truncate(true);
                (Deed::Create, "create")
            }
        };
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let path = self.path.join(name);
        self.disk
            .run(self.label_of(name), deed, || options.open(path))
            .map_err(self.failed(action, name))
    }

    /// Reads a file of at most `limit` bytes; fails on a larger one.
    pub fn read(&self, name: &str, limit: u64) -> DiskResult<Vec<u8>> {
        let file = self.open(name, Opening::Read)?;
        let mut bytes = Vec::new();
        self.disk
            .run(self.label_of(name), Deed::Read, || {
                file.take(limit.saturating_add(1)).read_to_end(&mut bytes)
            })
            .map_err(self.failed("read", name))?;
        if bytes.len() as u64 > limit {
            let error = io::Error::new(
                io::ErrorKind::FileTooLarge,
                format!("it has more than {limit} bytes"),
            );
            return Err(self.failed("read", name)(error));
        }
        Ok(bytes)
    }

    /// Writes a file and flushes it. Its name is durable once the folder is flushed.
    pub fn write(&self, name: &str, bytes: &[u8], opening: Opening) -> DiskResult<File> {
        let mut file = self.open(name, opening)?;
        self.fill(&mut file, name, bytes)?;
        Ok(file)
    }

    fn fill(&self, file: &mut File, name: &str, bytes: &[u8]) -> DiskResult<()> {
        let label = self.label_of(name);
        self.disk.write_all(file, &label, bytes).map_err(self.failed("write", name))?;
        self.disk.sync_file(file, &label).map_err(self.failed("flush", name))
    }

    /// Replaces the content of a file atomically. With concurrent writers the last one wins.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> DiskResult<()> {
        let (temp, mut file) = self.temp(name)?;
        let written = self.fill(&mut file, &temp, bytes).and_then(|()| self.rename(&temp, name));
        if let Err(error) = written {
            // A leftover that cannot be removed is reused by the next writer.
            let _ = self.remove_file(&temp);
            return Err(error);
        }
        self.sync()
    }

    /// Creates the empty temporary file that is renamed over `name` later. A leftover of a dead writer is reused; a
    /// lock tells it from the file of a live writer.
    fn temp(&self, name: &str) -> DiskResult<(String, File)> {
        for writer in 0..MAX_WRITERS {
            let temp = match writer {
                0 => format!(".{name}.tmp"),
                _ => format!(".{name}-{writer}.tmp"),
            };
            let is_taken = |error: &DiskError| error.error.kind() == io::ErrorKind::AlreadyExists;
            let (file, is_new) = match self.open(&temp, Opening::New) {
                Err(error) if is_taken(&error) => match self.open(&temp, Opening::Change) {
                    Err(error) if error.is_missing() => continue,
                    opened => (opened?, false),
                },
                created => (created?, true),
            };
            let lock = self.disk.run(self.label_of(&temp), Deed::Lock, || match file.try_lock() {
                Err(TryLockError::Error(error)) => Err(error),
                other => Ok(other.is_ok()),
            });
            // Where files cannot be locked, only a file that this call created is ours.
            if !lock.unwrap_or(is_new) || !self.is_at(&temp, &file)? {
                continue;
            }
            if !is_new {
                let emptied = self.disk.truncate(&file, self.label_of(&temp), 0);
                emptied.map_err(self.failed("write", &temp))?;
            }
            return Ok((temp, file));
        }
        let busy = io::Error::new(io::ErrorKind::ResourceBusy, "others are writing it as well");
        Err(self.failed("write", name)(busy))
    }

    /// Returns true if the name still refers to this open file: another writer may have renamed or removed it.
    fn is_at(&self, name: &str, file: &File) -> DiskResult<bool> {
        let path = self.path.join(name);
        let looked = self.disk.run(self.label_of(name), Deed::Look, || {
            let (named, file) = (File::open(path)?, Metadata::from_file(file)?);
            let named = Metadata::from_file(&named)?;
            Ok(named.dev() == file.dev() && named.ino() == file.ino())
        });
        match looked {
            Err(error) if is_missing(&error) => Ok(false),
            other => other.map_err(self.failed("look at", name)),
        }
    }

    /// Renames a file in it.
    pub fn rename(&self, from: &str, to: &str) -> DiskResult<()> {
        self.disk
            .rename(self.label_of(from), self.label_of(to), || {
                fs::rename(self.path.join(from), self.path.join(to))
            })
            .map_err(self.failed("rename", from))
    }

    /// Moves the folder to the path of `other`, which must be free.
    pub fn rename_to(&self, other: &Self) -> DiskResult<()> {
        self.disk
            .rename(&self.label, &other.label, || fs::rename(&self.path, &other.path))
            .map_err(other.failed_here("create"))
    }

    /// Removes a file of the folder.
    pub fn remove_file(&self, name: &str) -> DiskResult<()> {
        let path = self.path.join(name);
        self.disk
            .run(self.label_of(name), Deed::RemoveFile, || fs::remove_file(path))
            .map_err(self.failed("remove", name))
    }

    /// Removes the folder recursively; a missing one is no error.
    pub fn remove_tree(&self) -> DiskResult<()> {
        self.disk
            .run(&self.label, Deed::RemoveFolder, || crate::durable::remove_tree(&self.path))
            .map_err(self.failed_here("remove"))
    }
}

fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

fn private_folder(path: &Path) -> io::Result<()> {
    #[cfg_attr(not(unix), allow(unused_mut, reason = "only unix has modes"))]
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.create(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writers_of_one_file_do_not_mix_their_bytes_and_leave_nothing() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::root(Disk::real(), home.path());
        let texts: Vec<String> =
            (0..8).map(|writer: usize| writer.to_string().repeat(10_000 * (writer + 1))).collect();
        std::thread::scope(|scope| {
            for text in &texts {
                scope.spawn(|| {
                    for _ in 0..20 {
                        folder.replace("title", text.as_bytes()).unwrap();
                        let found = folder.read("title", u64::MAX).unwrap();
                        assert!(texts.iter().any(|text| text.as_bytes() == found));
                    }
                });
            }
        });
        assert_eq!(folder.names().unwrap(), ["title"]);
    }

    #[test]
    fn what_a_writer_left_is_used_again() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::root(Disk::real(), home.path());
        fs::write(home.path().join(".title.tmp"), "more than the next one writes").unwrap();
        folder.replace("title", b"short").unwrap();
        assert_eq!(folder.read("title", 100).unwrap(), b"short");
        assert_eq!(folder.names().unwrap(), ["title"]);
    }

    #[test]
    fn a_failure_leaves_nothing_behind() {
        let home = tempfile::tempdir().unwrap();
        let folder = Folder::root(Disk::real(), home.path());
        // A folder cannot be replaced by a file.
        folder.join("title").create().unwrap();
        assert!(folder.replace("title", b"new").is_err());
        assert_eq!(folder.names().unwrap(), ["title"]);
    }
}
