//! Package in a folder, read through directory handles, so that no link leads out of it.

use std::collections::BTreeMap;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use cap_fs_ext::{DirExt, FollowSymlinks, OpenOptionsFollowExt, OpenOptionsSyncExt};
use cap_std::ambient_authority;
use cap_std::fs::{Dir, DirEntry, File, FileType, OpenOptions};
use crewagent_format::diagnostic::Findings;
use crewagent_format::path::{PackagePath, PathError};

use super::CHUNK;
use super::gate::{DeclaredKind, EntryGate, bad_name, printable, special};
use super::limits::PackageLimits;
use super::litter::is_litter;

/// Open folder of a package.
#[derive(Debug)]
pub(crate) struct PackageFolder {
    root: Dir,
}

/// I/O error with the path on which it happened.
pub(crate) struct WalkError {
    pub(crate) path: PathBuf,
    pub(crate) error: io::Error,
}

/// Folder that passed the gate, and the sizes of its files.
pub(crate) type CheckedFolder = (PackageFolder, BTreeMap<PackagePath, u64>);

impl PackageFolder {
    /// Checks a folder.
    pub(crate) fn open(
        path: &Path,
        limits: &PackageLimits,
    ) -> Result<Result<CheckedFolder, Findings>, WalkError> {
        let at = |path: &Path| {
            let path = path.to_owned();
            move |error| WalkError { path, error }
        };
        let root = Dir::open_ambient_dir(path, ambient_authority()).map_err(at(path))?;
        let mut walk = FolderWalk {
            gate: EntryGate::new(limits),
            sizes: BTreeMap::new(),
            folders: Vec::new(),
        };
        walk.list(&root, None).map_err(at(path))?;
        while let Some(folder) = walk.folders.pop() {
            if walk.gate.overflowed() {
                break;
            }
            let listed = root
                .open_dir_nofollow(folder.as_str())
                .and_then(|dir| walk.list(&dir, Some(&folder)));
            listed.map_err(at(&path.join(folder.as_str())))?;
        }
        let FolderWalk { mut gate, sizes, .. } = walk;
        gate.total();
        Ok(if gate.findings.is_empty() { Ok((Self { root }, sizes)) } else { Err(gate.findings) })
    }

    /// Opens a file that was listed with this size. Refuses it if it is no longer a regular file of that size; never
    /// blocks on a pipe.
    fn file(&self, path: &PackagePath, size: u64) -> io::Result<File> {
        let mut options = OpenOptions::new();
        options.read(true).nonblock(true).follow(FollowSymlinks::No);
        let file = self.root.open_with(path.as_str(), &options)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() || metadata.len() != size {
            return Err(changed());
        }
        Ok(file)
    }

    /// Fails if a file cannot be opened for reading.
    pub(crate) fn check(&self, path: &PackagePath, size: u64) -> io::Result<()> {
        self.file(path, size).map(drop)
    }

    /// Reads a whole file.
    pub(crate) fn read(&self, path: &PackagePath, size: u64) -> io::Result<Arc<[u8]>> {
        read_whole(self.file(path, size)?, size)
    }

    /// Passes a file to `take` in chunks.
    pub(crate) fn stream(
        &self,
        path: &PackagePath,
        size: u64,
        take: &mut dyn FnMut(&[u8]) -> io::Result<()>,
    ) -> io::Result<()> {
        let mut file = self.file(path, size)?;
        let mut buffer = vec![0; CHUNK];
        let mut left = size;
        while left > 0 {
            let piece = &mut buffer[..CHUNK.min(usize::try_from(left).unwrap_or(CHUNK))];
            file.read_exact(piece).map_err(shortened)?;
            left -= piece.len() as u64;
            take(piece)?;
        }
        if file.read(&mut [0])? != 0 {
            return Err(changed());
        }
        Ok(())
    }
}

/// Reads a file of this size to its end.
pub(crate) fn read_whole(mut file: File, size: u64) -> io::Result<Arc<[u8]>> {
    let len = usize::try_from(size).map_err(|_| io::ErrorKind::OutOfMemory)?;
    let mut content: Arc<[u8]> = std::iter::repeat_n(0, len).collect();
    if let Some(buffer) = Arc::get_mut(&mut content) {
        file.read_exact(buffer).map_err(shortened)?;
    }
    if file.read(&mut [0])? != 0 {
        return Err(changed());
    }
    Ok(content)
}

/// Returns the error for a file that is no longer what the walk saw.
pub(crate) fn changed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "it changed while it was being read")
}

fn shortened(error: io::Error) -> io::Error {
    if error.kind() == io::ErrorKind::UnexpectedEof { changed() } else { error }
}

struct FolderWalk<'a> {
    gate: EntryGate<'a>,
    sizes: BTreeMap<PackagePath, u64>,
    /// Folders still to be listed.
    folders: Vec<PackagePath>,
}

impl FolderWalk<'_> {
    fn list(&mut self, dir: &Dir, folder: Option<&PackagePath>) -> io::Result<()> {
        for entry in dir.entries()? {
            if self.gate.overflowed() {
                return Ok(());
            }
            self.entry(&entry?, folder)?;
        }
        Ok(())
    }

    fn entry(&mut self, entry: &DirEntry, folder: Option<&PackagePath>) -> io::Result<()> {
        let name = entry.file_name();
        let lossy = name.to_string_lossy();
        let text =
            folder.map_or_else(|| lossy.clone().into_owned(), |folder| format!("{folder}/{lossy}"));
        if is_litter(&text) {
            return Ok(());
        }
        let shown = printable(text.as_bytes());
        if name.to_str().is_none() {
            self.gate
                .findings
                .push(bad_name(&shown, &PathError::Name("it is not UTF-8".to_owned())));
            return Ok(());
        }
        let kind = entry.file_type()?;
        if !kind.is_dir() && !kind.is_file() {
            self.gate.findings.push(special(&shown, special_kind(kind)));
            return Ok(());
        }
        let Some(path) = self.gate.name(&shown, &text) else { return Ok(()) };
        let wanted = if kind.is_dir() { DeclaredKind::Folder } else { DeclaredKind::File };
        if !self.gate.place(&path, wanted) {
            return Ok(());
        }
        if kind.is_dir() {
            self.folders.push(path);
            return Ok(());
        }
        let size = entry.metadata()?.len();
        self.gate.size(&shown, size);
        self.sizes.insert(path, size);
        Ok(())
    }
}

#[cfg(unix)]
pub(crate) fn special_kind(kind: FileType) -> &'static str {
    use cap_std::fs::FileTypeExt;
    if kind.is_symlink() {
        "a symbolic link"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
pub(crate) fn special_kind(kind: FileType) -> &'static str {
    if kind.is_symlink() { "a link" } else { "a special file" }
}
