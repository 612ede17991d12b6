//! Writes the files of a package into an empty folder, in parallel, read-only from the start. Folders stay writable,
//! so that their owner can remove them with any tool.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;

use crewagent_format::package::Files;
use crewagent_format::path::PackagePath;

use super::ImportError;
use crate::durable::{Flush, make_read_only};
use crate::store::StoreError;
use crewagent_source::{ReadBuffers, Source, for_each};

/// Writes all files below `target`, which is created. Fails if a file differs from what was digested before.
pub(super) fn extract(source: &Source, target: &Path) -> Result<(), ImportError> {
    let paths: Vec<&PackagePath> = source.sizes().keys().collect();
    // Sorted, so that a folder comes before its subfolders.
    let folders: BTreeSet<&str> = paths.iter().flat_map(|path| path.parents()).collect();
    let create = |folder: &Path| fs::create_dir(folder).map_err(StoreError::io("create", folder));
    create(target)?;
    for folder in &folders {
        create(&target.join(folder))?;
    }
    for_each(paths.len(), ReadBuffers::new, |reader, index| {
        write(source, reader, paths[index], target)
    })
}

fn write(
    source: &Source,
    reader: &mut ReadBuffers,
    path: &PackagePath,
    target: &Path,
) -> Result<(), ImportError> {
    let to = target.join(path.as_str());
    let mut file = create_read_only(&to).map_err(StoreError::io("create", &to))?;
    let mut failed = None;
    let delivered = source.deliver(reader, path, &mut |piece| {
        file.write_all(piece).map_err(|error| {
            let kind = error.kind();
            failed = Some(error);
            kind.into()
        })
    });
    if let Some(error) = failed {
        return Err(StoreError::io("write", &to)(error).into());
    }
    delivered?;
    if Flush::EACH_FILE {
        file.sync_all().map_err(StoreError::io("flush", &to))?;
    }
    protect(&to).map_err(StoreError::io("protect", &to))?;
    Ok(())
}

/// Creates the file read-only: on Unix the mode does not restrict the handle that creates the file.
#[cfg(unix)]
fn create_read_only(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    OpenOptions::new().write(true).create_new(true).mode(0o444).open(path)
}

#[cfg(not(unix))]
fn create_read_only(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().write(true).create_new(true).open(path)
}

fn protect(path: &Path) -> std::io::Result<()> {
    if cfg!(unix) { Ok(()) } else { make_read_only(path) }
}
