//! Writes the files of a new package into a folder of their own.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// Reasons why a new package was not written.
#[derive(Debug, Error)]
pub enum NewError {
    /// The folder holds files that a new package could overwrite.
    #[error("`{}` already has files in it; choose a folder that is new or empty", path.display())]
    NotEmpty { path: PathBuf },
    #[error("`{}` is a file; choose a folder that is new or empty", path.display())]
    NotAFolder { path: PathBuf },
    #[error("`{}` cannot be written: {error}", path.display())]
    Io { path: PathBuf, error: io::Error },
}

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
