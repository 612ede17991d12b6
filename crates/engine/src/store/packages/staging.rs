//! Serialized changes to the packages: a lock, and staging folders that are published by a rename.

use std::fs::{self, File, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::durable::{remove_tree, sync_folder};
use crate::private;
use crate::store::StoreError;

const LOCK: &str = ".lock";
const STAGING: &str = ".staging-";
/// Name prefix of a folder that is being replaced.
const REPLACED: &str = ".replaced-";

/// Lock held while packages are changed. The system releases it if the process dies.
pub(super) struct PackagesLock {
    /// Closing the file releases the lock.
    _file: File,
    packages: PathBuf,
}

impl PackagesLock {
    /// Waits for the lock, but not without end, then removes leftovers of a crash. Calls `on_wait` once if another process holds it.
    pub(super) fn acquire(packages: &Path, on_wait: &mut dyn FnMut()) -> Result<Self, StoreError> {
        private::create_folder(packages).map_err(StoreError::io("create", packages))?;
        let path = packages.join(LOCK);
        let file = private::open_lock(&path).map_err(StoreError::io("open", &path))?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                on_wait();
                private::lock_silently(&file, &path).map_err(StoreError::io("lock", &path))?;
            }
            Err(TryLockError::Error(error)) => return Err(StoreError::io("lock", &path)(error)),
        }
        let lock = Self { _file: file, packages: packages.to_owned() };
        lock.clear()?;
        Ok(lock)
    }

    fn clear(&self) -> Result<(), StoreError> {
        let failed = StoreError::io("list", &self.packages);
        for entry in fs::read_dir(&self.packages).map_err(failed)? {
            let entry = entry.map_err(StoreError::io("list", &self.packages))?;
            let name = entry.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(STAGING) {
                // A leftover that cannot be removed does no harm: every staging folder has a new name.
                drop(remove_tree(&entry.path()));
            } else if let Some(replaced) = name.strip_prefix(REPLACED) {
                Aside { path: entry.path(), folder: self.packages.join(replaced) }.settle();
            }
        }
        Ok(())
    }

    /// Creates an empty folder that lists ignore.
    pub(super) fn create_staging(&self) -> Result<Staging<'_>, StoreError> {
        let path = self.unused();
        fs::create_dir(&path).map_err(StoreError::io("create", &path))?;
        Ok(Staging { lock: self, path, published: false })
    }

    /// Removes a package with one rename. Its files are deleted now, or by the next holder of the lock.
    pub(super) fn discard(&self, folder: &Path) -> Result<(), StoreError> {
        let path = self.unused();
        fs::rename(folder, &path).map_err(StoreError::io("remove", folder))?;
        drop(sync_folder(&self.packages));
        drop(remove_tree(&path));
        Ok(())
    }

    /// Moves a folder aside before another one replaces it.
    fn set_aside(&self, folder: &Path) -> Result<Aside, StoreError> {
        let name = folder.file_name().unwrap_or_default().to_string_lossy();
        let path = self.packages.join(format!("{REPLACED}{name}"));
        // Left by an earlier replacement that could not be cleaned up.
        if path.symlink_metadata().is_ok() {
            self.discard(&path)?;
        }
        fs::rename(folder, &path).map_err(StoreError::io("replace", folder))?;
        Ok(Aside { path, folder: folder.to_owned() })
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

/// Staging folder, removed on drop unless it was published.
pub(super) struct Staging<'l> {
    lock: &'l PackagesLock,
    path: PathBuf,
    published: bool,
}

impl Staging<'_> {
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Publishes the folder in place of another one, which is restored on failure.
    pub(super) fn replace(self, folder: &Path) -> Result<(), StoreError> {
        let old = self.lock.set_aside(folder)?;
        let published = self.publish(folder);
        old.settle();
        published
    }

    /// Renames the folder to its published name. The caller flushes it first.
    pub(super) fn publish(mut self, folder: &Path) -> Result<(), StoreError> {
        fs::rename(&self.path, folder).map_err(StoreError::io("create", folder))?;
        let flushed = sync_folder(&self.lock.packages);
        // Undo what may not be durable, so that an error always means that nothing was imported.
        self.published = flushed.is_ok() || fs::rename(folder, &self.path).is_err();
        flushed.map_err(StoreError::io("flush", &self.lock.packages))
    }
}

/// Folder that is about to be replaced.
struct Aside {
    path: PathBuf,
    /// Original path.
    folder: PathBuf,
}

impl Aside {
    /// Restores the folder if nothing replaced it, else removes it. On failure the next holder of the lock tries again.
    fn settle(self) {
        let replaced = self.folder.symlink_metadata().is_ok();
        drop(if replaced { remove_tree(&self.path) } else { fs::rename(&self.path, &self.folder) });
    }
}

impl Drop for Staging<'_> {
    fn drop(&mut self) {
        if !self.published {
            // On failure the next holder of the lock tries again.
            drop(remove_tree(&self.path));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Calls `check` with the lock of a store and the folder of its only package.
    fn with_package(check: impl FnOnce(&PackagesLock, &Path)) {
        let home = tempfile::tempdir().unwrap();
        let lock =
            PackagesLock::acquire(home.path(), &mut || panic!("nobody else has it")).unwrap();
        let package = home.path().join("demo-1.0.0-abcdef12");
        fs::create_dir(&package).unwrap();
        fs::write(package.join("old"), "old").unwrap();
        check(&lock, &package);
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_replaced_folder_is_gone_when_the_new_one_is_there() {
        with_package(|lock, package| {
            let staging = lock.create_staging().unwrap();
            fs::write(staging.path().join("new"), "new").unwrap();
            staging.replace(package).unwrap();
            assert_eq!(names(package), ["new"]);
            assert_eq!(names(&lock.packages), [LOCK, "demo-1.0.0-abcdef12"]);
        });
    }

    #[test]
    fn a_folder_comes_back_when_it_could_not_be_replaced() {
        with_package(|lock, package| {
            let staging = lock.create_staging().unwrap();
            // Publishing fails, because there is nothing to publish.
            fs::remove_dir(staging.path()).unwrap();
            assert!(staging.replace(package).is_err());
            assert_eq!(names(package), ["old"]);
            assert_eq!(names(&lock.packages), [LOCK, "demo-1.0.0-abcdef12"]);
        });
    }

    #[test]
    fn a_folder_comes_back_after_a_crash_in_the_middle_of_its_replacement() {
        with_package(|lock, package| {
            std::mem::forget(lock.set_aside(package).unwrap());
            assert!(!package.exists());
            lock.clear().unwrap();
            assert_eq!(names(package), ["old"]);
            // The crash happened right after the replacement.
            let copy = lock.packages.join(format!("{REPLACED}demo-1.0.0-abcdef12"));
            fs::create_dir(&copy).unwrap();
            lock.clear().unwrap();
            assert_eq!(names(package), ["old"]);
            assert!(!copy.exists());
        });
    }

    #[test]
    fn one_who_has_to_wait_is_told_so() {
        let home = tempfile::tempdir().unwrap();
        let (told, waits) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            let first = PackagesLock::acquire(home.path(), &mut || ()).unwrap();
            scope.spawn(|| {
                drop(PackagesLock::acquire(home.path(), &mut || told.send(()).unwrap()).unwrap())
            });
            waits.recv().unwrap();
            drop(first);
        });
    }
}
