//! Makes writes survive a power cut, on each platform.

use std::fs::{self, File};
use std::io;
use std::path::Path;

/// Makes a rename in this folder durable.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    if cfg!(unix) { File::open(folder)?.sync_all() } else { Ok(()) }
}

/// A handle on the file system, opened before the first write so that it sees every write error.
pub struct Flush {
    #[cfg(target_os = "linux")]
    folder: File,
}

impl Flush {
    /// True if each file must be flushed when it is written, because the platform cannot flush all at once.
    pub const EACH_FILE: bool = cfg!(not(target_os = "linux"));

    /// Prepares to flush what is written below this folder.
    pub fn new(folder: &Path) -> io::Result<Self> {
        #[cfg(target_os = "linux")]
        return Ok(Self { folder: File::open(folder)? });
        #[cfg(not(target_os = "linux"))]
        return fs::metadata(folder).map(|_| Self {});
    }

    /// Flushes everything below a folder that was just written.
    pub fn all(&self, tree: &Path) -> io::Result<()> {
        #[cfg(target_os = "linux")]
        {
            let _ = tree;
            Ok(rustix::fs::syncfs(&self.folder)?)
        }
        #[cfg(not(target_os = "linux"))]
        sync_folders(tree)
    }
}

#[cfg(not(target_os = "linux"))]
fn sync_folders(folder: &Path) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            sync_folders(&entry.path())?;
        }
    }
    sync_folder(folder)
}

/// Removes write permission from one file or folder.
pub fn make_read_only(path: &Path) -> io::Result<()> {
    let mut permissions = fs::metadata(path)?.permissions();
    permissions.set_readonly(true);
    fs::set_permissions(path, permissions)
}

/// Removes a folder and everything in it, including read-only files.
pub fn remove_tree(path: &Path) -> io::Result<()> {
    match fs::remove_dir_all(path) {
        Ok(()) => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(_) => {
            make_writable(path)?;
            fs::remove_dir_all(path)
        }
    }
}

fn make_writable(path: &Path) -> io::Result<()> {
    let metadata = fs::symlink_metadata(path)?;
    if metadata.is_dir() {
        add_write(path, &metadata)?;
        for entry in fs::read_dir(path)? {
            make_writable(&entry?.path())?;
        }
    } else if cfg!(windows) && metadata.is_file() {
        add_write(path, &metadata)?;
    }
    Ok(())
}

#[cfg(unix)]
fn add_write(path: &Path, metadata: &fs::Metadata) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(path, fs::Permissions::from_mode(metadata.permissions().mode() | 0o700))
}

#[cfg(not(unix))]
fn add_write(path: &Path, metadata: &fs::Metadata) -> io::Result<()> {
    let mut permissions = metadata.permissions();
    permissions.set_readonly(false);
    fs::set_permissions(path, permissions)
}
