//! A folder of the store: what is done in it passes the disk, under names that begin at the root of the store.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::{Deed, Disk, DiskError};

/// A folder of the store. It need not exist.
#[derive(Clone, Debug)]
pub struct Folder {
    disk: Disk,
    path: PathBuf,
    label: String,
}

/// How a file is opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    /// To read what is there.
    Read,
    /// To read and write what is there.
    Change,
    /// To write a file that is not there yet.
    New,
    /// To write, over what is left there or not.
    Fresh,
}

type Done<T> = Result<T, DiskError>;

impl Folder {
    /// The root of the store.
    pub fn root(disk: Disk, path: impl Into<PathBuf>) -> Self {
        Self { disk, path: path.into(), label: String::new() }
    }

    /// A folder in this one.
    pub fn join(&self, name: &str) -> Self {
        Self { disk: self.disk.clone(), path: self.path.join(name), label: self.label_of(name) }
    }

    /// Where it really is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The disk it is on.
    pub fn disk(&self) -> &Disk {
        &self.disk
    }

    /// Its path from the root of the store.
    pub fn label(&self) -> &str {
        &self.label
    }

    /// The path of something in it, from the root of the store.
    pub(crate) fn label_of(&self, name: &str) -> String {
        if self.label.is_empty() { name.to_owned() } else { format!("{}/{name}", self.label) }
    }

    /// For `map_err`: says what was tried on which file.
    pub(crate) fn failed(
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

    /// Whether there is such a folder.
    pub(crate) fn exists(&self) -> Done<bool> {
        let looked = self.disk.run(&self.label, Deed::Look, || fs::metadata(&self.path));
        match looked.map(|metadata| metadata.is_dir()) {
            Err(error) if is_missing(&error) => Ok(false),
            other => other.map_err(self.failed_here("look at")),
        }
    }

    /// The size of a file in it; `None` when there is none.
    pub(crate) fn size_of(&self, name: &str) -> Done<Option<u64>> {
        let found = self.look_at(name)?;
        Ok(found.filter(fs::Metadata::is_file).map(|metadata| metadata.len()))
    }

    /// When a file in it was last written; `None` when there is none.
    pub(crate) fn written(&self, name: &str) -> Done<Option<SystemTime>> {
        Ok(self.look_at(name)?.and_then(|metadata| metadata.modified().ok()))
    }

    fn look_at(&self, name: &str) -> Done<Option<fs::Metadata>> {
        let path = self.path.join(name);
        match self.disk.run(self.label_of(name), Deed::Look, || fs::metadata(path)) {
            Ok(metadata) => Ok(Some(metadata)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(self.failed("look at", name)(error)),
        }
    }

    /// The names in it, sorted. A folder that does not exist has none. Names that are not UTF-8 are not ours.
    pub(crate) fn names(&self) -> Done<Vec<String>> {
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

    /// Creates the folder, for this user alone. It is durable when the folder above is flushed.
    pub(crate) fn create(&self) -> Done<()> {
        self.disk
            .run(&self.label, Deed::CreateFolder, || private_folder(&self.path))
            .map_err(self.failed_here("create"))
    }

    /// Creates the folder and those above it as far as they are missing, durably.
    pub(crate) fn ensure(&self) -> Done<()> {
        if self.exists()? {
            return Ok(());
        }
        let above = self.above();
        if let Some(above) = &above {
            above.ensure()?;
        } else if let Some(outside) = self.path.parent() {
            // What is above the store is not ours, so it is made with the usual rights.
            fs::create_dir_all(outside).map_err(self.failed_here("create"))?;
        }
        match self.create() {
            // Another process was faster.
            Err(error) if error.error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
            Err(error) => Err(error),
            Ok(()) => above.map_or(Ok(()), |above| above.sync()),
        }
    }

    /// The folder that this one is in, within the store.
    pub(crate) fn above(&self) -> Option<Self> {
        if self.label.is_empty() {
            return None;
        }
        let label = self.label.rsplit_once('/').map_or("", |(above, _)| above).to_owned();
        Some(Self { disk: self.disk.clone(), path: self.path.parent()?.to_owned(), label })
    }

    /// Makes what happened to the names in it durable.
    pub(crate) fn sync(&self) -> Done<()> {
        self.disk
            .run(&self.label, Deed::SyncFolder, || crate::durable::sync_folder(&self.path))
            .map_err(self.failed_here("flush"))
    }

    /// Opens a file in it.
    pub(crate) fn open(&self, name: &str, opening: Opening) -> Done<File> {
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

    /// The bytes of a file that may have `limit` of them.
    pub(crate) fn read(&self, name: &str, limit: u64) -> Done<Vec<u8>> {
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

    /// Writes a file and flushes it. Its name is durable when the folder is flushed.
    pub(crate) fn write(&self, name: &str, bytes: &[u8], opening: Opening) -> Done<File> {
        let mut file = self.open(name, opening)?;
        let label = self.label_of(name);
        self.disk.write_all(&mut file, &label, bytes).map_err(self.failed("write", name))?;
        self.disk.sync_file(&file, &label).map_err(self.failed("flush", name))?;
        Ok(file)
    }

    /// Makes these bytes the content of a file: all of them or, after a failure, none.
    pub(crate) fn replace(&self, name: &str, bytes: &[u8]) -> Done<()> {
        let temp = format!(".{name}.tmp");
        let written = self.write(&temp, bytes, Opening::Fresh);
        if let Err(error) = written.and_then(|file| {
            drop(file);
            self.rename(&temp, name)
        }) {
            // What is left is written over by the next one.
            let _ = self.remove_file(&temp);
            return Err(error);
        }
        self.sync()
    }

    /// Gives a file in it another name.
    pub(crate) fn rename(&self, from: &str, to: &str) -> Done<()> {
        self.disk
            .rename(self.label_of(from), self.label_of(to), || {
                fs::rename(self.path.join(from), self.path.join(to))
            })
            .map_err(self.failed("rename", from))
    }

    /// Moves the whole folder to where another one is not.
    pub(crate) fn rename_to(&self, other: &Self) -> Done<()> {
        self.disk
            .rename(&self.label, &other.label, || fs::rename(&self.path, &other.path))
            .map_err(other.failed_here("create"))
    }

    /// Removes a file in it.
    pub(crate) fn remove_file(&self, name: &str) -> Done<()> {
        let path = self.path.join(name);
        self.disk
            .run(self.label_of(name), Deed::RemoveFile, || fs::remove_file(path))
            .map_err(self.failed("remove", name))
    }

    /// Removes the folder with all that is in it. One that is not there is no error.
    pub(crate) fn remove_tree(&self) -> Done<()> {
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
