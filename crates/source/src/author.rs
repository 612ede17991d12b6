//! Writes the files of a new package into a folder of their own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crewagent_format::integrity::MANIFEST;
use crewagent_format::package::Files;
use thiserror::Error;

use crate::{ReadError, Source};

/// Reasons why a new package was not written.
#[derive(Debug, Error)]
pub enum NewError {
    /// The folder holds files that a new package could overwrite.
    #[error("`{}` already has files in it; choose a folder that is new or empty", path.display())]
    NotEmpty { path: PathBuf },
    #[error("`{}` is a file; choose a folder that is new or empty", path.display())]
    NotAFolder { path: PathBuf },
    /// The folder holds files, and not a package that may be replaced.
    #[error("`{}` already has files in it that are no converted package; choose a folder that is new or empty", path.display())]
    NotReplaceable { path: PathBuf },
    #[error("`{}` cannot be written: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

/// Files at the root of a package that was made of a foreign source.
const CONVERTED: [&str; 2] = [MANIFEST, "import.json"];

/// Checks that a new package may go into `folder`, before the user answers any question.
pub fn check_folder(folder: &Path) -> Result<(), NewError> {
    let path = || folder.to_owned();
    match fs::read_dir(folder) {
        Ok(mut entries) => {
            // A new repository counts as empty.
            let occupied =
                entries.any(|entry| entry.is_ok_and(|entry| entry.file_name() != ".git"));
            if occupied { Err(NewError::NotEmpty { path: path() }) } else { Ok(()) }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotADirectory => {
            Err(NewError::NotAFolder { path: path() })
        }
        Err(error) => Err(NewError::Io { path: path(), error }),
    }
}

/// Writes the files, and never overwrites an existing one.
pub fn write(folder: &Path, files: &[(String, String)]) -> Result<(), NewError> {
    check_folder(folder)?;
    for (name, text) in files {
        let path = folder.join(name);
        let failed = |error| NewError::Io { path: path.clone(), error };
        fs::create_dir_all(path.parent().unwrap_or(folder)).map_err(failed)?;
        let mut file =
            fs::OpenOptions::new().write(true).create_new(true).open(&path).map_err(failed)?;
        io::Write::write_all(&mut file, text.as_bytes()).map_err(failed)?;
    }
    Ok(())
}

/// Writes a package that was made of a foreign source. With `replaces` the result of an earlier conversion gives way, once
/// the new one is written.
pub fn write_converted(folder: &Path, package: &Source, replaces: bool) -> Result<(), NewError> {
    let is_converted = CONVERTED.iter().all(|name| folder.join(name).is_file());
    let replaced = match check_folder(folder) {
        Ok(()) => false,
        Err(NewError::NotEmpty { .. }) if replaces && is_converted => true,
        Err(NewError::NotEmpty { path }) if replaces => {
            return Err(NewError::NotReplaceable { path });
        }
        Err(error) => return Err(error),
    };
    let failed = |error| NewError::Io { path: folder.to_owned(), error };
    let above = folder.parent().filter(|above| !above.as_os_str().is_empty());
    let above = above.unwrap_or(Path::new("."));
    fs::create_dir_all(above).map_err(failed)?;
    let staging =
        tempfile::Builder::new().prefix(".crewagent-").tempdir_in(above).map_err(failed)?;
    let fresh = staging.path().join("new");
    for path in package.sizes().keys() {
        let content = package.content(path).map_err(|ReadError { error, .. }| failed(error))?;
        let target = fresh.join(path.as_str());
        let written = fs::create_dir_all(target.parent().unwrap_or(&fresh))
            .and_then(|()| fs::write(&target, content));
        written.map_err(|error| NewError::Io { path: folder.join(path.as_str()), error })?;
    }
    if replaced {
        fs::rename(folder, staging.path().join("old")).map_err(failed)?;
    } else if folder.exists() {
        // It is empty, or holds a repository, which stays.
        return merge(&fresh, folder).map_err(failed);
    }
    fs::rename(&fresh, folder).map_err(failed)
}

/// Moves what is in one folder into another.
fn merge(from: &Path, to: &Path) -> io::Result<()> {
    for entry in fs::read_dir(from)? {
        let entry = entry?;
        fs::rename(entry.path(), to.join(entry.file_name()))?;
    }
    Ok(())
}
