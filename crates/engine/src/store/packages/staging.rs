//! Changes to the packages, one at a time: a lock, and folders in which work is done before it is shown.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::durable::{remove_tree, sync_folder};
use crate::store::StoreError;

const LOCK: &str = ".lock";
const STAGING: &str = ".staging-";

/// Held while the packages are changed. The system takes it from a process that dies.
pub(super) struct Lock {
    /// Closing the file gives the lock back.
    _file: File,
    packages: PathBuf,
}

impl Lock {
    /// Waits for the lock, then clears away what a crash has left.
    pub(super) fn acquire(packages: &Path) -> Result<Self, StoreError> {
        fs::create_dir_all(packages).map_err(StoreError::io("create", packages))?;
        let path = packages.join(LOCK);
        let mut options = File::options();
        let file = options
            .read(true)
            .write(true)
            .create(true)
            .truncate(false)
            .open(&path)
            .map_err(StoreError::io("open", &path))?;
        file.lock().map_err(StoreError::io("lock", &path))?;
        let lock = Self { _file: file, packages: packages.to_owned() };
        lock.clear()?;
        Ok(lock)
    }

    fn clear(&self) -> Result<(), StoreError> {
        let failed = StoreError::io("list", &self.packages);
        for entry in fs::read_dir(&self.packages).map_err(failed)? {
            let entry = entry.map_err(StoreError::io("list", &self.packages))?;
            if entry.file_name().to_string_lossy().starts_with(STAGING) {
                // What cannot be removed is in nobody's way: every staging folder has a new name.
                drop(remove_tree(&entry.path()));
            }
        }
        Ok(())
    }

    /// An empty folder that nobody sees.
    pub(super) fn stage(&self) -> Result<Staging<'_>, StoreError> {
        let path = self.unused();
        fs::create_dir(&path).map_err(StoreError::io("create", &path))?;
        Ok(Staging { lock: self, path, published: false })
    }

    /// Makes a package vanish with one rename, then removes its files.
    pub(super) fn discard(&self, folder: &Path) -> Result<(), StoreError> {
        let path = self.unused();
        fs::rename(folder, &path).map_err(StoreError::io("remove", folder))?;
        sync_folder(&self.packages).map_err(StoreError::io("flush", &self.packages))?;
        remove_tree(&path).map_err(StoreError::io("remove", &path))
    }

    fn unused(&self) -> PathBuf {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        loop {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let path = self.packages.join(format!("{STAGING}{}-{number}", std::process::id()));
            if path.symlink_metadata().is_err_and(|error| error.kind() == io::ErrorKind::NotFound) {
                return path;
            }
        }
    }
}

/// A folder under work. It goes away unless it is published.
pub(super) struct Staging<'l> {
    lock: &'l Lock,
    path: PathBuf,
    published: bool,
}

impl Staging<'_> {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Shows the folder under its name. It must be flushed before.
    pub(super) fn publish(mut self, folder: &Path) -> Result<(), StoreError> {
        fs::rename(&self.path, folder).map_err(StoreError::io("create", folder))?;
        let flushed = sync_folder(&self.lock.packages);
        // What may not last is taken back, so that an error always means that nothing was imported.
        self.published = flushed.is_ok() || fs::rename(folder, &self.path).is_err();
        flushed.map_err(StoreError::io("flush", &self.lock.packages))
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        if !self.published {
            // The next one who gets the lock tries again.
            drop(remove_tree(&self.path));
        }
    }
}
