//! Output path of a packed package, and the rules for replacing what is there: files, and nothing else.

use std::fs::{self, FileType};
use std::io;
use std::path::{Path, PathBuf};

use crewagent_format::integrity::MANIFEST;
use crewagent_format::package::Files;
use crewagent_format::package::manifest::Manifest;
use tempfile::NamedTempFile;

use super::PackError;
use crate::names::stem;
use crate::{OpenResult, PackageLimits, Source, is_litter};

/// Destination of a packed package.
#[derive(Clone, Copy, Debug)]
pub enum PackOutput<'a> {
    /// This file. An existing file is replaced, whatever it contains.
    File(&'a Path),
    /// File `NAME-VERSION.bmad` in this folder. An existing file is replaced only if it is the same package, perhaps
    /// with other content. An empty path is the current folder.
    Folder(&'a Path),
}

/// File that may be written or replaced.
pub(super) struct OutputFile {
    /// Path as the caller gave it.
    pub(super) shown: PathBuf,
    /// Path of the file itself, which differs if the caller named a link.
    pub(super) path: PathBuf,
}

impl OutputFile {
    /// Checks the file that the caller asked for.
    pub(super) fn explicit(path: &Path) -> Result<Self, PackError> {
        let refused = |what| PackError::NotAFile { path: path.to_owned(), what };
        let shown = path.to_owned();
        match fs::symlink_metadata(path) {
            Ok(metadata) if metadata.is_symlink() => {
                match path.canonicalize().and_then(|target| Ok((fs::metadata(&target)?, target))) {
                    Ok((metadata, path)) if metadata.is_file() => Ok(Self { shown, path }),
                    Ok((metadata, _)) => Err(refused(kind(metadata.file_type()))),
                    Err(error) if error.kind() == io::ErrorKind::NotFound => {
                        Err(refused("a link to something that does not exist"))
                    }
                    Err(error) => Err(PackError::Write { path: shown, error }),
                }
            }
            Ok(metadata) if metadata.is_file() => Ok(Self { path: shown.clone(), shown }),
            Ok(metadata) => Err(refused(kind(metadata.file_type()))),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                Ok(Self { path: shown.clone(), shown })
            }
            Err(error) => Err(PackError::Write { path: shown, error }),
        }
    }

    /// Chooses the file by name and version of the package.
    pub(super) fn chosen(
        folder: &Path,
        manifest: &Manifest,
        limits: &PackageLimits,
    ) -> Result<Self, PackError> {
        let name = format!("{}.bmad", stem(&manifest.name, &manifest.version));
        let target = Self::explicit(&folder.join(name))?;
        let free = target.path.symlink_metadata().is_err();
        if free || packed_name(&target.path, limits).as_ref() == Some(&manifest.name) {
            return Ok(target);
        }
        Err(PackError::Occupied { path: target.shown, name: manifest.name.clone() })
    }

    /// Refuses an output that would become part of the input.
    pub(super) fn refuse_inside(&self, input: &Path) -> Result<(), PackError> {
        let failed = |error| self.failed(error);
        let folder = self.folder().canonicalize().map_err(failed)?;
        let input = input.canonicalize().map_err(failed)?;
        let Ok(inner) = folder.strip_prefix(input) else { return Ok(()) };
        let relative = inner.join(self.path.file_name().unwrap_or_default());
        let names: Vec<_> =
            relative.components().map(|part| part.as_os_str().to_string_lossy()).collect();
        if is_litter(&names.join("/")) {
            return Ok(());
        }
        Err(PackError::Inside { path: self.shown.clone() })
    }

    pub(super) fn folder(&self) -> &Path {
        match self.path.parent() {
            Some(folder) if folder != Path::new("") => folder,
            _ => Path::new("."),
        }
    }

    pub(super) fn failed(&self, error: io::Error) -> PackError {
        PackError::Write { path: self.shown.clone(), error }
    }

    /// Creates a temporary file beside this one.
    pub(super) fn temporary(&self) -> io::Result<NamedTempFile> {
        let mut builder = tempfile::Builder::new();
        // If the process dies, the next packing ignores the leftover as litter.
        builder.prefix("._packing-");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            builder.permissions(fs::Permissions::from_mode(0o666));
        }
        builder.tempfile_in(self.folder()).map_err(without_path)
    }
}

/// Removes the name of the temporary file from an error, because it means nothing to the user.
fn without_path(error: io::Error) -> io::Error {
    let inner = error.get_ref().and_then(|inner| inner.source());
    let code = inner
        .and_then(|inner| inner.downcast_ref::<io::Error>())
        .and_then(io::Error::raw_os_error)
        .or(error.raw_os_error());
    code.map_or_else(|| error.kind().into(), io::Error::from_raw_os_error)
}

/// Reads the package name from an archive; `None` if it is not a package.
fn packed_name(path: &Path, limits: &PackageLimits) -> Option<String> {
    let Ok(OpenResult::Passed(source)) = Source::open(path, limits) else { return None };
    let (manifest, _) = source.sizes().get_key_value(MANIFEST)?;
    let text = source.read(manifest).ok()?;
    let manifest: serde_json::Value = serde_json::from_slice(&text).ok()?;
    manifest.get("name")?.as_str().map(str::to_owned)
}

#[cfg(unix)]
fn kind(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt;
    if kind.is_dir() {
        "a folder"
    } else if kind.is_fifo() {
        "a pipe"
    } else if kind.is_socket() {
        "a socket"
    } else {
        "a device"
    }
}

#[cfg(not(unix))]
fn kind(kind: FileType) -> &'static str {
    if kind.is_dir() { "a folder" } else { "no regular file" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_error_does_not_name_the_temporary_file() {
        let target = OutputFile { shown: "x".into(), path: "/nowhere/at/all/x".into() };
        let error = target.temporary().unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
        assert!(!error.to_string().contains("packing"), "{error}");
    }
}
