//! Damaged packages of the store.

use std::fmt;
use std::path::{Path, PathBuf};

use crewagent_format::integrity::Digest;
use semver::Version;

use super::Installed;

/// Folder that should be a package and is not, or not as it was imported.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Damaged {
    pub folder: PathBuf,
    pub reason: String,
    pub harm: Harm,
    /// Package name, if the record is readable.
    pub name: Option<String>,
    /// Package version, if the record is readable.
    pub version: Option<Version>,
    /// Digest of the imported content, if the record is readable.
    pub digest: Option<Digest>,
}

/// Remedy for a damaged folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Harm {
    /// Can be removed, or repaired by importing the same package.
    Broken,
    /// Written by a newer version of this program, which can use it; an import never replaces it.
    Newer,
}

impl Damaged {
    pub(super) fn new(folder: &Path, reason: String, harm: Harm) -> Self {
        let folder = folder.to_owned();
        Self { folder, reason, harm, name: None, version: None, digest: None }
    }

    /// Adds what the record says about the package.
    pub(super) fn of(mut self, installed: Option<&Installed>) -> Self {
        self.name = installed.map(|installed| installed.name.clone());
        self.version = installed.map(|installed| installed.version.clone());
        self.digest = installed.map(|installed| installed.digest);
        self
    }

    /// Returns the name of its folder, by which it can always be found.
    pub fn folder_name(&self) -> String {
        self.folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }
}

impl std::error::Error for Damaged {}

impl fmt::Display for Damaged {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { reason, harm, .. } = self;
        let folder = self.folder_name();
        let advice = match harm {
            Harm::Broken => "import the package again",
            Harm::Newer => "update this program",
        };
        write!(
            out,
            "the package in `{}` cannot be used: {reason}; {advice}, or remove it with `crewagent package rm {folder}`",
            self.folder.display()
        )
    }
}
